// Package data holds point sets and labels: dense and sparse points as they
// are stored on disk, and the readers for every accepted file format.
//
// # Five types of points
//
// Points are dense points of three element types, [Stored] and [sparse.CSR], and the packages
// above switch over these five types. The interface is sealed by a method with a parameter of
// an internal type, because an unexported method cannot be implemented in two packages: the
// compiler refuses a sixth type, so no switch can miss one.
package data

import (
	"fmt"

	"github.com/bigfit/bigfit/internal/sealed"
	"github.com/bigfit/bigfit/sparse"
)

// Element is a type in which dense points are stored.
type Element interface {
	uint8 | float32 | float64
}

// Points is a set of n points in d dimensions: one of *Dense[uint8],
// *Dense[float32], *Dense[float64], *Stored or *sparse.CSR, and nothing else.
type Points interface {
	// Dims returns the number of points and their dimension.
	Dims() (n, d int)
	// SealPoints does nothing; no other module can implement it.
	SealPoints(sealed.Points)
}

var (
	_ Points = (*Dense[uint8])(nil)
	_ Points = (*Dense[float32])(nil)
	_ Points = (*Dense[float64])(nil)
	_ Points = (*Stored)(nil)
	_ Points = (*sparse.CSR)(nil)
)

// Dense is a set of Rows points in Cols dimensions, row-major without gaps:
// point i is Data[i*Cols : (i+1)*Cols].
type Dense[T Element] struct {
	Rows, Cols int
	Data       []T
}

// NewDense returns a zero set of the given size.
func NewDense[T Element](rows, cols int) *Dense[T] {
	return &Dense[T]{Rows: rows, Cols: cols, Data: make([]T, rows*cols)}
}

// Dims returns the number of points and their dimension.
func (d *Dense[T]) Dims() (n, dim int) { return d.Rows, d.Cols }

// SealPoints marks a type of [Points].
func (d *Dense[T]) SealPoints(sealed.Points) {}

// Row returns point i; it aliases d.
func (d *Dense[T]) Row(i int) []T { return d.Data[i*d.Cols : (i+1)*d.Cols : (i+1)*d.Cols] }

// Select returns the rows with the given numbers as a new set of the same
// type, in the given order.
func Select(x Points, rows []int) Points {
	switch x := x.(type) {
	case *Dense[uint8]:
		return selectDense(x, rows)
	case *Dense[float32]:
		return selectDense(x, rows)
	case *Dense[float64]:
		return selectDense(x, rows)
	case *Stored:
		return selectStored(x, rows)
	case *sparse.CSR:
		return x.Select(rows)
	}

	panic(fmt.Sprintf("data: unknown point set %T", x))
}

// Slice returns points lo to hi of x. Dense and stored points are not copied: the result aliases x.
func Slice(x Points, lo, hi int) Points {
	switch x := x.(type) {
	case *Dense[uint8]:
		return sliceDense(x, lo, hi)
	case *Dense[float32]:
		return sliceDense(x, lo, hi)
	case *Dense[float64]:
		return sliceDense(x, lo, hi)
	case *Stored:
		return x.Slice(lo, hi)
	}

	// Rows of a sparse matrix are copied: its offsets count from the first row.
	return Select(x, Range(lo, hi))
}

func sliceDense[T Element](x *Dense[T], lo, hi int) *Dense[T] {
	return &Dense[T]{hi - lo, x.Cols, x.Data[lo*x.Cols : hi*x.Cols]}
}

func selectDense[T Element](x *Dense[T], rows []int) *Dense[T] {
	out := NewDense[T](len(rows), x.Cols)
	inSteps(x, rows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(out.Row(i), x.Row(rows[i]))
		}
	})
	return out
}

// RowTo writes point i of x to dst, which has the length of the dimension.
func RowTo(dst []float64, x Points, i int) {
	switch x := x.(type) {
	case *Dense[uint8]:
		convert(dst, x.Row(i))
	case *Dense[float32]:
		convert(dst, x.Row(i))
	case *Dense[float64]:
		copy(dst, x.Row(i))
	case *Stored:
		widen64(dst, x.kind, x.row(i))
	case *sparse.CSR:
		// A row of a sparse matrix names its non-zero coordinates only.
		clear(dst)
		col, val := x.Row(i)
		for p, c := range col {
			if val == nil {
				dst[c] = 1
			} else {
				dst[c] = val[p]
			}
		}
	default:
		panic(fmt.Sprintf("data: unknown point set %T", x))
	}
}

func convert[T Element](dst []float64, src []T) {
	for j, v := range src {
		dst[j] = float64(v)
	}
}
