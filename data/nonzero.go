package data

import (
	"slices"

	"github.com/bigfit/bigfit/sparse"
)

// ToSparse returns the non-zero coordinates of x.
func ToSparse(x Points) *sparse.CSR {
	if m, ok := x.(*sparse.CSR); ok {
		return m
	}
	n, d := x.Dims()
	m := &sparse.CSR{Rows: n, Cols: d, Ptr: make([]int64, n+1), Val: []float64{}}

	// Nothing is known of the number of entries, so the slices grow.
	row := make([]float64, d)
	for i := range n {
		RowTo(row, x, i)
		for j, v := range row {
			if v != 0 {
				m.Col = append(m.Col, int32(j))
				m.Val = append(m.Val, v)
			}
		}
		m.Ptr[i+1] = int64(len(m.Col))
	}

	return m
}

// Nonzero returns the numbers of the points that have a coordinate other than
// zero, ascending.
func Nonzero(x Points) []int {
	n, d := x.Dims()
	var rows []int
	// Rows are widened one at a time, so that no copy of the points is made.
	row := make([]float64, d)
	for i := range n {
		RowTo(row, x, i)
		if slices.ContainsFunc(row, func(v float64) bool { return v != 0 }) {
			rows = append(rows, i)
		}
	}
	return rows
}
