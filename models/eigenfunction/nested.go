package eigenfunction

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
)

// nestedFit is least squares on the first 1, 2, … columns of a matrix X at once: X = QR, and
// z = QᵀY. The coefficients on the first s columns are R_s⁻¹z_s. A column that depends on the
// columns before it gets the coefficient 0.
type nestedFit struct{ r, z *mat.Dense }

// newNestedFit factors x, l×b with b ≤ l, and overwrites it. It takes 4lb² operations.
func newNestedFit(x, y *mat.Dense) (*nestedFit, error) {
	_, b := x.Dims()
	_, c := y.Dims()
	r, _, err := dense.CholQR(x)
	if err != nil {
		return nil, err
	}
	f := &nestedFit{r, mat.NewDense(b, c, nil)}
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, x, y, 0, f.z)
	for j := range b {
		if r.At(j, j) == 0 { // the column of Q is zero, and so is the row of z
			r.Set(j, j, 1)
		}
	}
	return f, nil
}

// coefficients returns the coefficients on the first s columns.
func (f *nestedFit) coefficients(s int) *mat.Dense {
	_, c := f.z.Dims()
	a := mat.DenseCopyOf(f.z.Slice(0, s, 0, c))
	dense.SolveUpper(dense.NoTrans, f.r.Slice(0, s, 0, s).(*mat.Dense), a)
	return a
}

// risks returns the sum of squared errors at rows x with targets y, for the fits on the first
// 1, 2, …, b columns.
func (f *nestedFit) risks(x, y *mat.Dense) []float64 {
	l, b := x.Dims()
	_, c := y.Dims()
	t := mat.DenseCopyOf(x.T()) // b×l; R⁻ᵀXᵀ holds the rows of XR⁻¹
	dense.SolveUpper(dense.Transposed, f.r, t)

	// Each further column of Q takes its part from the residuals of the fit before.
	rest := mat.DenseCopyOf(y)
	out := make([]float64, b)
	for s := range b {
		for i := range l {
			row := rest.RawRowView(i)
			for j := range c {
				row[j] -= t.At(s, i) * f.z.At(s, j)
				out[s] += row[j] * row[j]
			}
		}
	}

	return out
}
