package solvers

import (
	"github.com/bigfit/bigfit/data"
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
