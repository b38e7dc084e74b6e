package data

import (
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/sparse"
)

// Join returns the points of x followed by the points of y, which must have the same number of
// columns. [Stored] points and dense points of their element type are not copied. Dense points of
// two types become points of the wider one, float64, float32 or uint8, which holds every element of
// the other. Dense and sparse points cannot be joined.
func Join(x, y Points) (Points, error) {
	_, d := x.Dims()
	if _, other := y.Dims(); other != d {
		return nil, fmt.Errorf("points of %d columns cannot follow points of %d", other, d)
	}
	a, sparseX := x.(*sparse.CSR)
	b, sparseY := y.(*sparse.CSR)
	switch {
	case sparseX && sparseY:
		return sparse.Stack(a, b), nil
	case sparseX != sparseY:
		return nil, fmt.Errorf("dense and sparse points cannot be joined; give both as sparse or " +
			"both as dense ones")
	}

	// Stored points take dense points of their type as they are; other pairs are copied to the
	// wider type.
	s := AsStored("", x)
	z := AsStored("", y)
	_, keptX := x.(*Stored)
	_, keptY := y.(*Stored)
	switch size := max(s.kind.Size(), z.kind.Size()); {
	case s.kind == z.kind && (keptX || keptY):
		return s.followedBy(z), nil
	case size == 1:
		return joinDense[uint8](x, y), nil
	case size <= 4:
		return joinDense[float32](x, y), nil
	}

	return joinDense[float64](x, y), nil
}

// followedBy returns the rows of s and then the rows of z, which has the same element type. Nothing
// is copied.
func (s *Stored) followedBy(z *Stored) *Stored {
	out := &Stored{Rows: s.Rows + z.Rows, Cols: s.Cols, kind: s.kind, parts: slices.Clone(s.parts)}
	for _, p := range z.parts {
		p.First += s.Rows
		out.parts = append(out.parts, p)
	}
	return out
}

func joinDense[T Element](x, y Points) *Dense[T] {
	n, d := x.Dims()
	m, _ := y.Dims()
	// Both sets are widened to one type, which holds the elements of each exactly.
	out := NewDense[T](n+m, d)
	appendTo(out.Data[:n*d], x)
	appendTo(out.Data[n*d:], y)
	return out
}

// appendTo writes the elements of dense points to dst.
func appendTo[T Element](dst []T, x Points) {
	switch x := x.(type) {
	case *Dense[T]:
		copy(dst, x.Data)
	case *Dense[uint8]:
		widen(dst, x.Data)
	case *Dense[float32]:
		widen(dst, x.Data)
	default:
		n, d := x.Dims()
		row := make([]float64, d)
		for i := range n {
			RowTo(row, x, i)
			widen(dst[i*d:(i+1)*d], row)
		}
	}
}

func widen[T, S Element](dst []T, src []S) {
	for i, v := range src {
		dst[i] = T(v)
	}
}
