package sparse

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/bigfit/bigfit/internal/enum"
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
)

var symmetries = enum.New[Symmetry]("symmetrization", "either", "both")

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
		col, val = append(col[:0], c...), append(val[:0], v...)

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
	t := &CSR{Rows: m.Cols, Cols: m.Rows, Ptr: make([]int64, m.Cols+1), Col: make([]int32, len(m.Col))}
	if m.Val != nil {
		t.Val = make([]float64, len(m.Val))
	}
	// Each of a few goroutines reads all entries and writes those of its columns, as writing
	// them takes longer.
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

// Symmetrize returns max(W, Wᵀ) for Either and min(W, Wᵀ) for Both, entry by
// entry, where an entry that is not stored counts as absent: under Both it
// removes its partner. m must be square with non-negative values.
func (m *CSR) Symmetrize(s Symmetry) *CSR {
	if s == Either {
		return m.SymmetrizeBy(s, func(a, b float64) float64 { return max(a, b) })
	}
	return m.SymmetrizeBy(s, func(a, b float64) float64 { return min(a, b) })
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

// SymmetrizeBy returns f(W, Wᵀ), entry by entry. f(a, b) = f(b, a) is asked for
// stored entries where at least one is stored for Either, the other being 0, and
// where both are for Both. A result of 0 is not stored unless an argument is a stored
// 0. Where all entries of m are 1 without being stored, so are those of the result.
func (m *CSR) SymmetrizeBy(s Symmetry, f func(a, b float64) float64) *CSR {
	return Combine(m, m.T(), s, f)
}

// Combine is [CSR.SymmetrizeBy] for some rows: m holds those of W and t those of Wᵀ.
func Combine(m, t *CSR, s Symmetry, f func(a, b float64) float64) *CSR {
	room := m.common(t)
	if s == Either {
		room = m.NNZ() + t.NNZ() - room
	}
	out := &CSR{Rows: m.Rows, Cols: m.Cols, Ptr: make([]int64, m.Rows+1), Col: make([]int32, 0, room)}
	if m.Val != nil {
		out.Val = make([]float64, 0, room)
	}
	for i := range m.Rows {
		ac, av := m.Row(i)
		bc, bv := t.Row(i)
		put := func(c int32, a, b float64) {
			if m.Val != nil {
				v := f(a, b)
				if v == 0 && a != 0 && b != 0 { // underflow
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
				if s == Either {
					put(ac[p], at(av, p), 0)
				}
				p++
			case p == len(ac) || bc[q] < ac[p]:
				if s == Either {
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

// CheckGraph returns an error unless m can be the weight matrix of an
// undirected graph: valid, square, non-negative, symmetric and with finite
// degrees. Two entries w_ij and w_ji count as equal if they differ by at most
// 1e-12·max(w_ij, w_ji).
func (m *CSR) CheckGraph() error {
	if err := m.Validate(); err != nil {
		return err
	}
	if m.Rows != m.Cols {
		return fmt.Errorf("sparse: a graph needs a square matrix, this one is %d×%d", m.Rows, m.Cols)
	}
	if err := m.pass(0, m.Rows, func(lo, hi int) error {
		return m.eachRow(lo, hi,
			m.checkWeights)
	}); err != nil || m.balanced() {
		return err
	}
	return m.pass(0, m.Rows, func(lo, hi int) error {
		defer m.Release(0, m.Rows) // partners lie anywhere
		return m.eachRow(lo, hi, m.checkPartners)
	})
}

// CheckRows returns an error unless rows lo to hi can be those of the weights of a graph, whatever
// other rows hold: offsets, columns, weights and degrees as [CSR.CheckGraph] wants them, except
// that it does not look at symmetry. It is for rows of a matrix from [Open].
func (m *CSR) CheckRows(lo, hi int) error {
	return m.pass(lo, hi, func(lo, hi int) error {
		return m.eachRow(lo, hi, func(i int) error {
			if err := m.checkRow(i); err != nil {
				return err
			}
			return m.checkWeights(i)
		})
	})
}

// checkWeights returns an error unless the weights of row i are not negative and have a sum.
func (m *CSR) checkWeights(i int) error {
	col, val := m.Row(i)
	var degree float64
	for p, v := range val {
		if v < 0 {
			return fmt.Errorf("sparse: weight (%d, %d) is %v; weights must not be negative", i, col[p], v)
		}
		if degree += v; math.IsInf(degree, 1) {
			return fmt.Errorf("sparse: the weights of vertex %d, up to %v, add up to more than the "+
				"largest float64; divide all weights by a constant, such as 1e100", i, slices.Max(val))
		}
	}

	return nil
}

// balanced reports whether the entries above the diagonal and those below it are the same
// to the last bit: by two sums of hashes, so that one pass in order is enough. The chance that
// others have equal sums is 2⁻¹²⁸.
func (m *CSR) balanced() bool {
	var total [2]uint64
	_ = m.pass(0, m.Rows, func(lo, hi int) error {
		sum := m.imbalance(lo, hi)
		total[0] += sum[0]
		total[1] += sum[1]
		return nil
	})
	return total == [2]uint64{}
}

// imbalance returns the two sums over rows from to end.
func (m *CSR) imbalance(from, end int) (total [2]uint64) {
	sums := make([][2]uint64, par.Chunks(end-from, rowGrain))
	par.For(end-from, rowGrain, func(lo, hi int) {
		var sum [2]uint64
		for i := from + lo; i < from+hi; i++ {
			col, val := m.Row(i)
			for p, j := range col {
				if int(j) == i {
					continue
				}
				weight := uint64(0)
				if val != nil {
					weight = math.Float64bits(val[p])
				}
				h := mix(uint64(min(i, int(j)))<<32|uint64(max(i, int(j)))) ^ weight
				first := mix(h + 0x9e3779b97f4a7c15)

				second := mix(h + 0x6a09e667f3bcc909)
				if int(j) < i {
					first = -first
					second = -second
				}

				sum[0] += first
				sum[1] += second
			}
		}

		sums[lo/rowGrain] = sum
	})

	for _, s := range sums {
		total[0] += s[0]
		total[1] += s[1]
	}
	return total
}

// mix maps numbers one to one to others that look random (Stafford's variant 13 of the
// finalizer of MurmurHash3).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// checkPartners returns an error unless every entry of row i has its partner.
func (m *CSR) checkPartners(i int) error {
	col, val := m.Row(i)
	for p, j := range col {
		back, weights := m.Row(int(j))
		q, stored := slices.BinarySearch(back, int32(i))
		if !stored {
			return fmt.Errorf("sparse: the graph is not symmetric: of entries (%d, %d) and (%d, %d) "+
				"only one is stored; use max(W, Wᵀ)", min(i, int(j)), max(i, int(j)), max(i, int(j)),
				min(i, int(j)))
		}
		if val != nil && math.Abs(val[p]-weights[q]) > 1e-12*max(val[p], weights[q]) {
			return fmt.Errorf("sparse: the graph is not symmetric: weight (%d, %d) is %v but (%d, %d) is %v",
				i, j, val[p], j, i, weights[q])
		}
	}

	return nil
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

// Components are the connected components of a graph.
type Components struct {
	Of    []int32 // component of each vertex
	Sizes []int   // vertices in each component
}

// Count returns the number of components.
func (c *Components) Count() int { return len(c.Sizes) }

// Isolated returns the number of components of a single vertex.
func (c *Components) Isolated() int {
	n := 0
	for _, s := range c.Sizes {
		if s == 1 {
			n++
		}
	}
	return n
}

// Describe counts edges, components and isolated vertices of a graph with the given number
// of stored entries, two for each edge.
func (c *Components) Describe(entries int) string {
	text := fmt.Sprintf("%d edges, %d components", entries/2, c.Count())
	if c.Count() == 1 {
		text = fmt.Sprintf("%d edges, 1 component", entries/2)
	}
	if isolated := c.Isolated(); isolated > 0 {
		text += fmt.Sprintf(", %d isolated points", isolated)
	}
	return text
}

// Reached tells for every vertex whether its component holds one of the given
// vertices.
func (c *Components) Reached(vertices []int) []bool {
	has := make([]bool, c.Count())
	for _, i := range vertices {
		has[c.Of[i]] = true
	}
	out := make([]bool, len(c.Of))
	for i, id := range c.Of {
		out[i] = has[id]
	}
	return out
}

// Within returns the number of vertices in the components of the given ones.
func (c *Components) Within(vertices []int) int {
	n := 0
	for _, reached := range c.Reached(vertices) {
		if reached {
			n++
		}
	}
	return n
}

// Components finds the connected components of a symmetric matrix, numbered
// by their smallest vertex, in one pass over the entries. An entry of weight
// zero joins nothing.
//
// Vertices point to smaller ones of their component; paths are halved as they
// are followed (R. E. Tarjan and J. van Leeuwen, J. ACM 31 (1984), 245–281).
func (m *CSR) Components() *Components {
	c := &Components{Of: make([]int32, m.Rows)}
	parent := c.Of
	root := func(v int32) int32 {
		for parent[v] != v {
			parent[v] = parent[parent[v]]
			v = parent[v]
		}
		return v
	}

	_ = m.pass(0, m.Rows, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			col, val := m.Row(i)
			mine := int32(i)
			parent[i] = mine
			for p, j := range col {
				if int(j) >= i {
					break // the row of j joins them
				}
				if val != nil && val[p] == 0 {
					continue
				}
				other := root(j)
				parent[max(mine, other)] = min(mine, other)
				mine = min(mine, other)
			}
		}

		return nil
	})

	for i, p := range parent {
		if int(p) == i {
			c.Of[i] = int32(len(c.Sizes))
			c.Sizes = append(c.Sizes, 0)
		} else {
			c.Of[i] = c.Of[p] // it is smaller: a number of a component already
		}
		c.Sizes[c.Of[i]]++
	}

	return c
}
