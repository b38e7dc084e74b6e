package cg

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/sparse"
)

// NewIncompleteCholesky returns M = L·Lᵀ with the sparsity of the lower triangle
// of a, which is symmetric with a positive diagonal; only its lower triangle is
// read. Where a pivot is not positive the factorization is done again for
// D^-½AD^-½ + αI, with D the diagonal of A and α = 0.001, 0.002, 0.004, … until it
// succeeds (Manteuffel, Math. Comp. 34, 1980).
//
// M takes 24 bytes for an entry of the triangle; one application costs 4 operations
// for each, by one processor for every 8 columns.
func NewIncompleteCholesky(a *sparse.CSR) (Preconditioner, error) {
	m, err := newIncomplete(a)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func newIncomplete(a *sparse.CSR) (*factors, error) {
	if a.Rows != a.Cols {
		return nil, fmt.Errorf("cg: incomplete Cholesky of a %d×%d matrix; it must be square", a.Rows, a.Cols)
	}
	n := a.Rows
	m := &factors{order: make([]int32, n), outer: make([]float64, n), inner: make([]float64, n)}
	for i := range n {
		d := a.At(i, i)
		if !(d > 0) || math.IsInf(d, 1) {
			return nil, fmt.Errorf("cg: element %d of the diagonal is %v; it must be positive", i, d)
		}
		m.order[i], m.outer[i] = int32(i), 1/math.Sqrt(d)
	}
	lower := &sparse.CSR{Rows: n, Cols: n, Ptr: make([]int64, n+1)}
	for i := range n {
		col, val := a.Row(i)
		for p, j := range col {
			if int(j) >= i {
				break
			}
			v := 1.0
			if val != nil {
				v = val[p]
			}
			v *= m.outer[i] * m.outer[j]
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("cg: entry (%d, %d) is %v after scaling by the diagonal", i, j, v)
			}
			lower.Col, lower.Val = append(lower.Col, j), append(lower.Val, v)
		}
		lower.Ptr[i+1] = int64(len(lower.Col))
	}
	pivots := make([]float64, n)
	values := make([]float64, len(lower.Val))
	for shift := 0.0; !incomplete(lower, 1+shift, values, pivots); shift = max(2*shift, 1e-3) {
	}
	for p, v := range values {
		values[p] = -v
	}
	lower.Val = values
	m.lower, m.upper = lower, lower.T()
	for i, d := range pivots {
		m.inner[i] = 1 / d
	}
	return m, nil
}

// incomplete factors the matrix with the given strictly lower triangle and
// constant diagonal as (I+N)·diag(pivots)·(I+N)ᵀ and returns false at a pivot that
// is too small.
func incomplete(lower *sparse.CSR, diagonal float64, values, pivots []float64) bool {
	const least = 1e-4
	row := make([]float64, lower.Rows) // of N·diag(pivots), at the columns of row i
	for i := range lower.Rows {
		lo, hi := lower.Ptr[i], lower.Ptr[i+1]
		for p := lo; p < hi; p++ {
			row[lower.Col[p]] = lower.Val[p]
		}
		d := diagonal
		for p := lo; p < hi; p++ {
			j := lower.Col[p]
			v := row[j]
			// What column j takes from the later columns of row i is found in
			// their rows, since the rest of column j is not at hand.
			for q := lower.Ptr[j]; q < lower.Ptr[j+1]; q++ {
				v -= values[q] * row[lower.Col[q]]
			}
			row[j] = v
			values[p] = v / pivots[j]
			d -= v * values[p]
		}
		for p := lo; p < hi; p++ {
			row[lower.Col[p]] = 0
		}
		if !(d > least) {
			return false
		}
		pivots[i] = d
	}
	return true
}
