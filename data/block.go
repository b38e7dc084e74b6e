package data

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// BlockRows is the number of dense points converted to float64 at a time.
const BlockRows = 2048

// Block returns rows lo to hi and columns from to to of dense points as float64. The block lies in
// buffer, which is grown if need be and returned, unless x holds float64 already.
func Block(x Points, buffer []float64, lo, hi, from, to int) (*mat.Dense, []float64) {
	if x, ok := x.(*Dense[float64]); ok {
		return mat.NewDense(x.Rows, x.Cols, x.Data).Slice(lo, hi, from, to).(*mat.Dense), buffer
	}
	// Points of other types are converted into the buffer.
	size := (hi - lo) * (to - from)
	if cap(buffer) < size {
		buffer = make([]float64, size)
	}
	block := mat.NewDense(hi-lo, to-from, buffer[:size])
	switch x := x.(type) {
	case *Dense[uint8]:
		convertBlock(block, x, lo, from)
	case *Dense[float32]:
		convertBlock(block, x, lo, from)
	case *Stored:
		x.block(block, lo, from)
	}

	return block, buffer
}

// block sets dst to rows from lo on and columns from from on.
func (s *Stored) block(dst *mat.Dense, lo, from int) {
	rows, cols := dst.Dims()
	par.For(rows, 128, func(a, b int) {
		for i := a; i < b; i++ {
			size := s.kind.Size()
			widen64(dst.RawRowView(i), s.kind, s.row(lo + i)[from*size:(from+cols)*size])
		}
	})
}

func convertBlock[T Element](dst *mat.Dense, x *Dense[T], lo, from int) {
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

// Columns copies the given columns of x.
func Columns(x Points, columns []int) *Dense[float64] {
	n, d := x.Dims()
	out := NewDense[float64](n, len(columns))
	if m, ok := x.(*sparse.CSR); ok {
		for i := range n {
			for p, j := range columns {
				out.Row(i)[p] = m.At(i, j)
			}
		}
		return out
	}

	// A whole row is converted at once, as points lie by rows.
	row := make([]float64, d)
	for i := range n {
		RowTo(row, x, i)
		for p, j := range columns {
			out.Row(i)[p] = row[j]
		}
	}

	return out
}

// Range returns lo, lo+1, …, hi−1.
func Range(lo, hi int) []int {
	rows := make([]int, hi-lo)
	for i := range rows {
		rows[i] = lo + i
	}
	return rows
}

// Without returns the numbers below n that are not in the ascending list.
func Without(n int, list []int) []int {
	var rest []int
	for i := range n {
		if len(list) > 0 && list[0] == i {
			list = list[1:]
			continue
		}
		rest = append(rest, i)
	}
	return rest
}
