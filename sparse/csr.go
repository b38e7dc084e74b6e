// Package sparse holds the graph side of bigfit: compressed sparse row
// matrices, their symmetrization and connected components, graph Laplacians as
// operators that are applied and never formed, and SciPy's .npz form of a
// sparse matrix.
package sparse

import (
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/sealed"
)

// CSR is a Rows×Cols matrix in compressed sparse row form. The entries of row
// i are Col[Ptr[i]:Ptr[i+1]], strictly ascending, with the values Val at the
// same places. A nil Val means that every stored entry is 1: an unweighted
// graph needs no stored values.
//
// A CSR is immutable by convention: functions of this package never modify
// their receiver and may share its slices.
type CSR struct {
	Rows, Cols int
	Ptr        []int64 // len Rows+1, Ptr[0] = 0
	Col        []int32
	Val        []float64 // len(Col), or nil for all ones
}

// Dims returns the number of rows and columns.
func (m *CSR) Dims() (r, c int) { return m.Rows, m.Cols }

// SealPoints lets a matrix, row by row, be data.Points.
func (m *CSR) SealPoints(sealed.Points) {}

// NNZ returns the number of stored entries.
func (m *CSR) NNZ() int { return len(m.Col) }

// Row returns the columns and values of row i; val is nil when every entry is
// 1. Both alias m.
func (m *CSR) Row(i int) (col []int32, val []float64) {
	lo := m.Ptr[i]
	hi := m.Ptr[i+1]
	if m.Val != nil {
		val = m.Val[lo:hi]
	}
	return m.Col[lo:hi], val
}

// At returns entry (i, j) in O(log of the row's length).
func (m *CSR) At(i, j int) float64 {
	col, val := m.Row(i)
	p, ok := slices.BinarySearch(col, int32(j))
	switch {
	case !ok:
		return 0
	case val == nil:
		return 1
	}
	return val[p]
}

// Validate checks every invariant of the type and that all values are finite.
// It costs one pass over the entries and returns the first fault with its
// place.
func (m *CSR) Validate() error {
	if err := m.checkArrays(); err != nil {
		return err
	}
	return m.pass(0, m.Rows, func(lo, hi int) error { return m.eachRow(lo, hi, m.checkRow) })
}

// checkArrays returns an error unless the shape and the lengths of the arrays agree.
func (m *CSR) checkArrays() error {
	if err := checkShape(m.Rows, m.Cols); err != nil {
		return err
	}
	if len(m.Ptr) != m.Rows+1 || m.Ptr[0] != 0 {
		return fmt.Errorf("sparse: %d row pointers for %d rows, want %d beginning with 0", len(m.Ptr),
			m.Rows, m.Rows+1)
	}
	if m.Val != nil && len(m.Val) != len(m.Col) {
		return fmt.Errorf("sparse: %d values for %d column indices", len(m.Val), len(m.Col))
	}
	if m.Ptr[m.Rows] != int64(len(m.Col)) {
		return fmt.Errorf("sparse: the last row pointer is %d, but there are %d entries", m.Ptr[m.Rows],
			len(m.Col))
	}
	return nil
}

// checkRow returns an error unless row i lies within the entries, its columns ascend within
// the matrix and its values are finite. Other rows may be wrong.
func (m *CSR) checkRow(i int) error {
	lo := m.Ptr[i]
	hi := m.Ptr[i+1]
	if lo < 0 || lo > hi || hi > int64(len(m.Col)) {
		return fmt.Errorf("sparse: row %d spans entries %d to %d of %d", i, lo, hi, len(m.Col))
	}

	// Binary search and merging rely on ascending columns.
	last := int32(-1)
	for p := lo; p < hi; p++ {
		c := m.Col[p]
		if c < 0 || int(c) >= m.Cols {
			return fmt.Errorf("sparse: row %d has column %d, outside [0, %d)", i, c, m.Cols)
		}
		if c <= last {
			return fmt.Errorf("sparse: row %d has column %d after column %d; columns must ascend "+
				"without repetition", i, c, last)
		}
		last = c
		if m.Val != nil && (math.IsNaN(m.Val[p]) || math.IsInf(m.Val[p], 0)) {
			return fmt.Errorf("sparse: entry (%d, %d) is %v", i, c, m.Val[p])
		}
	}

	return nil
}

// checkShape returns an error unless row and column numbers fit int32.
func checkShape(rows, cols int) error {
	if rows < 0 || cols < 0 || rows > math.MaxInt32 || cols > math.MaxInt32 {
		return fmt.Errorf("sparse: shape %d×%d is outside [0, 2³¹)", rows, cols)
	}
	return nil
}
