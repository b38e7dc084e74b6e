package models

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// blockRows is the number of dense points converted to float64 at a time.
const blockRows = 2048

// pointRows are points as a matrix that blocks are multiplied with; see
// [solvers.Design]. Dense ones are converted to float64 a block at a time.
type pointRows struct{ data.Points }

// MulTo sets dst = X·w.
func (x pointRows) MulTo(dst, w *mat.Dense) {
	if m, ok := x.Points.(*sparse.CSR); ok {
		m.MulTo(dst, w)
		return
	}
	n, d := x.Dims()
	_, m := w.Dims()
	var buffer []float64
	for lo := 0; lo < n; lo += blockRows {
		hi := min(lo+blockRows, n)
		var block *mat.Dense
		block, buffer = pointBlock(x.Points, buffer, lo, hi, 0, d)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, block, w, 0, dst.Slice(lo, hi, 0, m).(*mat.Dense))
	}
}

// MulTransTo sets dst = Xᵀ·r, for dense points.
func (x pointRows) MulTransTo(dst, r *mat.Dense) {
	n, d := x.Dims()
	_, m := r.Dims()
	var buffer []float64
	beta := 0.0
	for lo := 0; lo < n; lo += blockRows {
		hi := min(lo+blockRows, n)
		var block *mat.Dense
		block, buffer = pointBlock(x.Points, buffer, lo, hi, 0, d)
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, block, r.Slice(lo, hi, 0, m).(*mat.Dense), beta, dst)
		beta = 1
	}
}

// pointBlock returns rows lo to hi and columns from to to of dense points. It
// lies in buffer, grown if it has to be and returned, unless x holds it already.
func pointBlock(x data.Points, buffer []float64, lo, hi, from, to int) (*mat.Dense, []float64) {
	if x, ok := x.(*data.Dense[float64]); ok {
		return mat.NewDense(x.Rows, x.Cols, x.Data).Slice(lo, hi, from, to).(*mat.Dense), buffer
	}
	size := (hi - lo) * (to - from)
	if cap(buffer) < size {
		buffer = make([]float64, size)
	}
	block := mat.NewDense(hi-lo, to-from, buffer[:size])
	switch x := x.(type) {
	case *data.Dense[uint8]:
		convertBlock(block, x, lo, from)
	case *data.Dense[float32]:
		convertBlock(block, x, lo, from)
	}
	return block, buffer
}

func convertBlock[T data.Element](dst *mat.Dense, x *data.Dense[T], lo, from int) {
	rows, cols := dst.Dims()
	par.For(rows, 128, func(a, b int) {
		for i := a; i < b; i++ {
			to := dst.RawRowView(i)
			for j, v := range x.Row(lo + i)[from : from+cols] {
				to[j] = float64(v)
			}
		}
	})
}

// withTranspose is a matrix with its transpose for the products of both.
type withTranspose struct{ x, t *sparse.CSR }

func (s withTranspose) Dims() (l, d int)             { return s.x.Dims() }
func (s withTranspose) MulTo(dst, w *mat.Dense)      { s.x.MulTo(dst, w) }
func (s withTranspose) MulTransTo(dst, r *mat.Dense) { s.t.MulTo(dst, r) }

// newDesign returns x with products both ways.
func newDesign(x data.Points) solvers.Design {
	if m, ok := x.(*sparse.CSR); ok {
		return withTranspose{m, m.T()}
	}
	return pointRows{x}
}

// inBasis is the design (X − 1·meanᵀ)·U·diag(scale). A nil U is the identity,
// and a nil mean zero.
type inBasis struct {
	x     solvers.Design
	mean  []float64
	u     *mat.Dense
	scale []float64
}

func (b inBasis) Dims() (l, d int) { return b.x.Dims() }

// expand returns U·diag(scale)·w.
func (b inBasis) expand(w *mat.Dense) *mat.Dense {
	v := mat.DenseCopyOf(w)
	scaleRows(v, b.scale)
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
		shift := meanProduct(b.mean, v)
		for j := range shift {
			shift[j] = -shift[j]
		}
		addRow(dst, shift)
	}
}

// MulTransTo sets dst to the product of the transpose with r.
func (b inBasis) MulTransTo(dst, r *mat.Dense) {
	v := dst
	if b.u != nil {
		v = mat.NewDense(len(b.scale), r.RawMatrix().Cols, nil)
	}
	b.x.MulTransTo(v, r)
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
	scaleRows(dst, b.scale)
}

// meanProduct returns meanᵀ·w.
func meanProduct(mean []float64, w *mat.Dense) []float64 {
	out := make([]float64, w.RawMatrix().Cols)
	for i, m := range mean {
		for j, v := range w.RawRowView(i) {
			out[j] += m * v
		}
	}
	return out
}
