package active

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// field is the Gaussian field after some labels: C = V A Vᵀ with the p×p matrix
//
//	A = (Λ + δI + V_lᵀV_l/σ²)⁻¹
//
// where V_l are the rows of V at the labels. It holds the rows of VA and, as VᵀV = I,
//
//	C_ii = v_i·Av_i,  ‖C_{·i}‖² = ‖Av_i‖²,  Σ_j C_ji = (Vᵀ1)·Av_i.
type field struct {
	vectors  *mat.Dense // V, n×p
	products *mat.Dense // VA, n×p
	sums     []float64  // Vᵀ1
	noise    float64    // σ²

	variance  []float64 // C_ii
	reduction []float64 // ‖C_{·i}‖²
	total     []float64 // Σ_j C_ji
}

// grain is the number of points in a chunk of work: some 10⁵ operations at 200 eigenpairs.
const grain = 512

// newField conditions the field on the labels of p.
func newField(ctx context.Context, p *Pool, s *Settings) (*field, error) {
	n, k := p.Vectors.Dims()
	f := &field{vectors: p.Vectors, products: mat.NewDense(n, k, nil), sums: dense.ColumnMeans(p.Vectors),
		variance: make([]float64, n), reduction: make([]float64, n), total: make([]float64, n)}
	floats.Scale(float64(n), f.sums)
	for _, v := range p.Values {
		f.noise += s.Noise / (v + s.Delta) / float64(n)
	}

	// The inverse covariance of the coefficients, Λ + δI + V_lᵀV_l/σ².
	precision := mat.NewDense(k, k, nil)
	if l := len(p.Labeled); l > 0 {
		rows := dense.Gather(mat.NewDense(l, k, nil), p.Vectors, p.Labeled)
		dense.Syrk(dense.Transposed, 1/f.noise, rows, 0, precision)
	}

	for j, v := range p.Values {
		precision.Set(j, j, precision.At(j, j)+v+s.Delta)
	}
	if err := dense.Cholesky(ctx, precision); err != nil {
		return nil, fmt.Errorf("active: the covariance after %d labels: %w", len(p.Labeled), err)
	}

	// A itself is needed, for VA; p is small beside n.
	covariance := mat.NewDense(k, k, nil) // A
	for j := range k {
		covariance.Set(j, j, 1)
	}
	dense.SolveLower(dense.NoTrans, precision, covariance)
	dense.SolveLower(dense.Transposed, precision, covariance)
	dense.Symmetrize(covariance)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, p.Vectors, covariance, 0, f.products)

	par.For(n, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f.measure(i)
		}
	})
	return f, ctx.Err()
}

// measure computes the three numbers of point i that the rules use, from row i of VA.
func (f *field) measure(i int) {
	row := f.products.RawRowView(i)
	f.variance[i] = max(floats.Dot(f.vectors.RawRowView(i), row), 0)
	f.reduction[i] = floats.Dot(row, row)
	f.total[i] = floats.Dot(f.sums, row)
}

// observe conditions the field on a label at point i: with a = Av_i the rows of VA
// change by −(v_j·a)/(C_ii + σ²) aᵀ.
func (f *field) observe(i int) {
	// A copy, because the loop changes row i too.
	a := mat.Row(nil, i, f.products)
	scale := 1 / (f.variance[i] + f.noise)
	n, _ := f.vectors.Dims()
	par.For(n, grain, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			covariance := floats.Dot(f.vectors.RawRowView(j), a)
			floats.AddScaled(f.products.RawRowView(j), -scale*covariance, a)
			f.measure(j)
		}
	})
}
