package solvers

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// DenseDesign is a [Design] of points that are multiplied as they are. Points of other types are
// converted to float64 a block of rows at a time.
type DenseDesign struct{ data.Points }

// SparseDesign is a [Design] of a sparse matrix and its transpose, each for one of the two
// products.
type SparseDesign struct{ X, Transposed *sparse.CSR }

// NewDesign returns x as a [Design]. A sparse matrix is transposed once.
func NewDesign(x data.Points) Design {
	if m, ok := x.(*sparse.CSR); ok {
		return SparseDesign{m, m.T()}
	}
	return DenseDesign{x}
}

// AddSquares adds Σ_i weight(i)·x_ij² to out[j].
func AddSquares(out []float64, x Design, weight func(i int) float64) {
	if s, ok := x.(SparseDesign); ok {
		for i := range s.X.Rows {
			col, val := s.X.Row(i)
			v := weight(i)
			for p, j := range col {
				if val == nil {
					out[j] += v
				} else {
					out[j] += v * val[p] * val[p]
				}
			}
		}
		return
	}

	// Dense points are converted row by row.
	points := x.(DenseDesign).Points
	n, d := points.Dims()
	row := make([]float64, d)
	for i := range n {
		data.RowTo(row, points, i)
		v := weight(i)
		for j, e := range row {
			out[j] += v * e * e
		}
	}
}

// MulTo sets dst = X·w. Dense points are converted a block of rows at a time.
func (x DenseDesign) MulTo(dst, w *mat.Dense) {
	if m, ok := x.Points.(*sparse.CSR); ok {
		m.MulTo(dst, w)
		return
	}
	n, d := x.Dims()
	_, m := w.Dims()
	var buffer []float64
	for lo := 0; lo < n; lo += data.BlockRows {
		hi := min(lo+data.BlockRows, n)
		var block *mat.Dense
		block, buffer = data.Block(x.Points, buffer, lo, hi, 0, d)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, block, w, 0, dst.Slice(lo, hi, 0, m).(*mat.Dense))
	}
}

// MulTransTo sets dst = Xᵀ·r, for dense points.
func (x DenseDesign) MulTransTo(dst, r *mat.Dense) {
	n, d := x.Dims()
	_, m := r.Dims()
	var buffer []float64
	beta := 0.0
	for lo := 0; lo < n; lo += data.BlockRows {
		hi := min(lo+data.BlockRows, n)
		var block *mat.Dense
		block, buffer = data.Block(x.Points, buffer, lo, hi, 0, d)
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, block, r.Slice(lo, hi, 0, m).(*mat.Dense), beta, dst)
		beta = 1
	}
}

func (s SparseDesign) Dims() (l, d int) { return s.X.Dims() }

func (s SparseDesign) MulTo(dst, w *mat.Dense) { s.X.MulTo(dst, w) }

func (s SparseDesign) MulTransTo(dst, r *mat.Dense) { s.Transposed.MulTo(dst, r) }
