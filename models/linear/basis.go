package linear

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/solvers"
)

// inBasis is the design diag(roots)·(X − 1·meanᵀ)·U·diag(scale). A nil U is the identity, a nil
// mean zero, and nil roots are ones.
type inBasis struct {
	x     solvers.Design
	mean  []float64
	u     *mat.Dense
	scale []float64
	roots []float64
}

func (b inBasis) Dims() (l, d int) { return b.x.Dims() }

// expand returns U·diag(scale)·w.
func (b inBasis) expand(w *mat.Dense) *mat.Dense {
	v := mat.DenseCopyOf(w)
	dense.ScaleRows(v, b.scale)
	if b.u == nil {
		return v
	}
	out := mat.NewDense(len(b.scale), v.RawMatrix().Cols, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, b.u, v, 0, out)
	return out
}

// MulTo sets dst to the product with w.
func (b inBasis) MulTo(dst, w *mat.Dense) {
	v := b.expand(w)
	b.x.MulTo(dst, v)
	if b.mean != nil {
		shift := MeanProduct(b.mean, v)
		for j := range shift {
			shift[j] = -shift[j]
		}
		dense.AddRow(dst, shift)
	}
	dense.ScaleRows(dst, b.roots)
}

// MulTransTo sets dst to the product of the transpose with r.
func (b inBasis) MulTransTo(dst, r *mat.Dense) {
	if b.roots != nil {
		r = mat.DenseCopyOf(r)
		dense.ScaleRows(r, b.roots)
	}
	v := dst
	if b.u != nil {
		v = mat.NewDense(len(b.scale), r.RawMatrix().Cols, nil)
	}
	b.x.MulTransTo(v, r)
	// (X − 1μᵀ)ᵀr = Xᵀr − μ·Σr.
	if b.mean != nil {
		total := make([]float64, r.RawMatrix().Cols)
		for i := range r.RawMatrix().Rows {
			for j, value := range r.RawRowView(i) {
				total[j] += value
			}
		}
		for i, mean := range b.mean {
			to := v.RawRowView(i)
			for j, value := range total {
				to[j] -= mean * value
			}
		}
	}

	if b.u != nil {
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, b.u, v, 0, dst)
	}
	dense.ScaleRows(dst, b.scale)
}

// MeanProduct returns meanᵀ·w.
func MeanProduct(mean []float64, w *mat.Dense) []float64 {
	out := make([]float64, w.RawMatrix().Cols)
	for i, m := range mean {
		for j, v := range w.RawRowView(i) {
			out[j] += m * v
		}
	}
	return out
}
