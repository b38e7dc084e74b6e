package sparse

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// rowGrain is the number of rows in one parallel chunk of a row-wise pass.
const rowGrain = 512

// Symmetry says when two points are joined in a neighbour graph.
type Symmetry int

const (
	// Either joins i and j if i is a neighbour of j or j of i:
	// max(W, Wᵀ). This is the rule of Belkin & Niyogi (2004), step 1.
	Either Symmetry = iota
	// Both joins i and j only if each is a neighbour of the other: min(W, Wᵀ).
	Both
	// Sum joins the points that Either joins and adds the weights of both directions: W + Wᵀ. With
	// weights one, an edge that both ends name counts twice.
	Sum
)

var symmetries = enum.New[Symmetry]("symmetrization", "either", "both", "sum")

// String returns the name used on the command line and in manifests.
func (s Symmetry) String() string { return symmetries.String(s) }

// MarshalText returns the name.
func (s Symmetry) MarshalText() ([]byte, error) { return symmetries.Marshal(s) }

// UnmarshalText is the inverse of MarshalText.
func (s *Symmetry) UnmarshalText(text []byte) error { return symmetries.Unmarshal(s, text) }

// FromTriplets builds a rows×cols matrix from entries (i[p], j[p], v[p]) in
// any order; entries at the same place are added in the order given. It costs
// O(nnz log nnz of a row) and returns an error for an index outside the shape,
// or a shape outside [0, 2³¹).
func FromTriplets(rows, cols int, i, j []int32, v []float64) (*CSR, error) {
	if len(i) != len(j) || len(i) != len(v) {
		return nil, fmt.Errorf("sparse: %d row indices, %d column indices and %d values", len(i),
			len(j), len(v))
	}
	if err := checkShape(rows, cols); err != nil {
		return nil, err
	}
	ptr := make([]int64, rows+1)
	for p := range i {
		if i[p] < 0 || int(i[p]) >= rows || j[p] < 0 || int(j[p]) >= cols {
			return nil, fmt.Errorf("sparse: entry %d is at (%d, %d), outside %d×%d", p, i[p], j[p],
				rows, cols)
		}
		ptr[i[p]+1]++
	}

	// A counting sort by rows keeps the given order within a row.
	for r := range rows {
		ptr[r+1] += ptr[r]
	}
	m := &CSR{Rows: rows, Cols: cols, Ptr: ptr, Col: make([]int32, len(i)), Val: make([]float64, len(i))}
	next := slices.Clone(ptr[:rows])
	for p, r := range i {
		m.Col[next[r]] = j[p]
		m.Val[next[r]] = v[p]
		next[r]++
	}
	return sortAndSum(m), nil
}

// sortAndSum puts the columns of every row of m in ascending order and adds
// entries at the same place. m is consumed.
func sortAndSum(m *CSR) *CSR {
	out := int64(0)
	var order []int32
	var col []int32
	var val []float64
	lo := m.Ptr[0]
	for i := range m.Rows {
		hi := m.Ptr[i+1]
		c := m.Col[lo:hi]
		v := m.Val[lo:hi]
		order = order[:0]
		for p := range c {
			order = append(order, int32(p))
		}
		slices.SortStableFunc(order, func(a, b int32) int { return int(c[a]) - int(c[b]) })
		col = append(col[:0], c...)
		val = append(val[:0], v...)

		// Equal columns stand side by side in the order given, and are added up.
		start := out
		for _, p := range order {
			if out > start && m.Col[out-1] == col[p] {
				m.Val[out-1] += val[p]
				continue
			}
			m.Col[out] = col[p]
			m.Val[out] = val[p]
			out++
		}

		lo = hi
		m.Ptr[i+1] = out
	}

	m.Col = m.Col[:out:out]
	m.Val = m.Val[:out:out]
	return m
}

// T returns the transpose, in O(nnz + rows + cols).
func (m *CSR) T() *CSR {
	t := &CSR{Rows: m.Cols, Cols: m.Rows, Ptr: make([]int64, m.Cols+1), Col: dense.Zeros[int32](len(m.Col))}
	if m.Val != nil {
		t.Val = dense.Zeros[float64](len(m.Val))
	}
	// A few goroutines each read all entries and write a range of columns, because writing takes
	// longer than reading.
	columns := max(m.Cols, 1)
	if len(m.Col) >= 1<<18 {
		columns = (m.Cols-1)/min(runtime.GOMAXPROCS(0), 8) + 1
	}

	par.For(m.Cols, columns, func(lo, hi int) {
		for _, c := range m.Col {
			if int(c) >= lo && int(c) < hi {
				t.Ptr[c+1]++
			}
		}
	})

	for c := range m.Cols {
		t.Ptr[c+1] += t.Ptr[c]
	}
	next := slices.Clone(t.Ptr[:m.Cols])
	par.For(m.Cols, columns, func(lo, hi int) {
		for i := range m.Rows {
			for p := m.Ptr[i]; p < m.Ptr[i+1]; p++ {
				c := m.Col[p]
				if int(c) < lo || int(c) >= hi {
					continue
				}
				q := next[c]
				next[c]++
				t.Col[q] = int32(i)
				if m.Val != nil {
					t.Val[q] = m.Val[p]
				}
			}
		}
	})

	return t
}

// Symmetrize returns max(W, Wᵀ) for Either, min(W, Wᵀ) for Both and W + Wᵀ for Sum, entry by
// entry, where an entry that is not stored counts as absent: under Both it
// removes its partner. m must be square with non-negative values.
func (m *CSR) Symmetrize(s Symmetry) *CSR {
	switch s {
	case Both:
		return m.SymmetrizeBy(s, func(a, b float64) float64 { return min(a, b) })
	case Sum:
		return m.SymmetrizeBy(s, func(a, b float64) float64 { return a + b })
	}
	return m.SymmetrizeBy(s, func(a, b float64) float64 { return max(a, b) })
}

// common returns the number of places where both m and t have an entry.
func (m *CSR) common(t *CSR) int {
	const grain = 4096
	parts := make([]int, par.Chunks(m.Rows, grain))
	par.For(m.Rows, grain, func(lo, hi int) {
		count := 0
		for i := lo; i < hi; i++ {
			a := m.Col[m.Ptr[i]:m.Ptr[i+1]]
			b := t.Col[t.Ptr[i]:t.Ptr[i+1]]
			for p, q := 0, 0; p < len(a) && q < len(b); {
				switch d := a[p] - b[q]; {
				case d < 0:
					p++
				case d > 0:
					q++
				default:
					count += 1
					p += 1
					q += 1
				}
			}
		}

		parts[lo/grain] = count
	})

	total := 0
	for _, count := range parts {
		total += count
	}
	return total
}

// SymmetrizeBy returns f(W, Wᵀ), entry by entry. It calls f(a, b) = f(b, a) for stored entries:
// where at least one is stored for Either and Sum, with 0 for the other, and where both are stored
// for Both. A result of 0 is not stored unless an argument is a stored 0. Where m has no values, all
// of them being 1, neither has the result of Either and Both, which does not call f then.
func (m *CSR) SymmetrizeBy(s Symmetry, f func(a, b float64) float64) *CSR {
	return Combine(m, m.T(), s, f)
}

// Combine is [CSR.SymmetrizeBy] for some rows: m holds the rows of W, and t the same rows of Wᵀ.
func Combine(m, t *CSR, s Symmetry, f func(a, b float64) float64) *CSR {
	room := m.common(t)
	if s != Both {
		room = m.NNZ() + t.NNZ() - room
	}
	weighted := m.Val != nil || s == Sum
	out := &CSR{Rows: m.Rows, Cols: m.Cols, Ptr: make([]int64, m.Rows+1), Col: dense.Zeros[int32](room)[:0]}
	if weighted {
		out.Val = dense.Zeros[float64](room)[:0]
	}

	// Merge the rows of both.
	for i := range m.Rows {
		ac, av := m.Row(i)
		bc, bv := t.Row(i)
		put := func(c int32, a, b float64) {
			if weighted {
				v := f(a, b)
				// An underflow is no edge.
				if v == 0 && a != 0 && b != 0 {
					return
				}
				out.Val = append(out.Val, v)
			}
			out.Col = append(out.Col, c)
		}

		at := func(v []float64, p int) float64 {
			if v == nil {
				return 1
			}
			return v[p]
		}
		for p, q := 0, 0; p < len(ac) || q < len(bc); {
			switch {
			case q == len(bc) || p < len(ac) && ac[p] < bc[q]:
				if s != Both {
					put(ac[p], at(av, p), 0)
				}
				p++
			case p == len(ac) || bc[q] < ac[p]:
				if s != Both {
					put(bc[q], 0, at(bv, q))
				}
				q++
			default:
				put(ac[p], at(av, p), at(bv, q))
				p++
				q++
			}
		}

		out.Ptr[i+1] = int64(len(out.Col))
	}

	return out
}

// Degrees returns the row sums d_i = Σ_j w_ij.
func (m *CSR) Degrees() []float64 {
	d := make([]float64, m.Rows)
	_ = m.pass(0, m.Rows, func(first, end int) error {
		par.For(end-first, rowGrain, func(lo, hi int) {
			for i := first + lo; i < first+hi; i++ {
				d[i] = m.Degree(i)
			}
		})
		return nil
	})
	return d
}

// Degree returns the sum of row i.
func (m *CSR) Degree(i int) (sum float64) {
	col, val := m.Row(i)
	if val == nil {
		return float64(len(col))
	}
	for _, v := range val {
		sum += v
	}
	return sum
}

// DensityNormalized returns the weights W_ij/(q_i q_j)^α of a graph with the degrees q, and q (Coifman &
// Lafon, Appl. Comput. Harmon. Anal. 21, 2006, section 3.1): α = 0 leaves the density of the points in the
// operator, 1 takes it out, ½ gives the Fokker–Planck operator. The pattern is shared.
func (m *CSR) DensityNormalized(alpha float64) (w *CSR, q []float64) {
	q = m.Degrees()
	factor := make([]float64, len(q))
	for i, d := range q {
		if d > 0 {
			factor[i] = math.Pow(d, -alpha)
		}
	}

	w = &CSR{Rows: m.Rows, Cols: m.Cols, Ptr: m.Ptr, Col: m.Col, Val: make([]float64, len(m.Col))}
	for i := range m.Rows {
		for p := m.Ptr[i]; p < m.Ptr[i+1]; p++ {
			v := 1.0
			if m.Val != nil {
				v = m.Val[p]
			}
			// One product for both ends, so that the matrix stays symmetric to the last bit.
			w.Val[p] = v * (factor[i] * factor[m.Col[p]])
		}
	}
	return w, q
}
