package lanczos

import (
	"unsafe"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// narrowed applies polynomials of a Laplacian in single precision.
type narrowed struct {
	l  *sparse.Laplacian
	m  *sparse.Single // the matrix of the filter of, nil before the first one
	of filter
}

// narrowRounding is the residual that rounding leaves in a pair, relative to ‖L‖ and to the degree of a polynomial in
// single precision: 0.5 to 5.5·10⁻⁸ was measured with degrees of 5 to 33 on tori, grids, hypercubes and graphs of points.
// It is a variable for tests alone.
var narrowRounding = 5e-8

// allows reports whether pairs by the filter reach the tolerance in single precision. It is false of a nil s.
func (s *narrowed) allows(f filter, tolerance float64) bool {
	return s != nil && !f.inverts() && narrowRounding*float64(f.degree) <= tolerance
}

// apply is [filter.apply] with blocks of float32 in the memory of t.
func (s *narrowed) apply(f filter, w, t *mat.Dense) int {
	// The matrix belongs to the interval of the filter, and is changed with it.
	if s.m == nil {
		s.m = s.l.Single(f.linear())
	} else if s.of.lo != f.lo || s.of.hi != f.hi {
		c, shift := f.linear()
		s.m.Set(s.l, c, shift)
	}
	s.of = f

	n, b := w.Dims()
	memory := t.RawMatrix().Data
	halves := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(memory))), 2*n*b)
	block := func(data []float32) blas32.General { return blas32.General{Rows: n, Cols: b, Stride: b, Data: data} }
	dense.StoreSingle(block(halves[:n*b]), 0, w)
	_, result := f.applySingle(s.m, halves[:n*b], halves[n*b:], b)
	dense.Double(w, block(result), 0)
	return f.degree * b
}
