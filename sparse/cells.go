package sparse

import (
	"cmp"
	"math"
	"slices"
)

// Cells returns for each vertex the number of the seed to which the fewest edges lead, and −1 for a vertex that no seed
// is joined with. Of seeds that are equally far the one counts that a breadth-first search from all of them, in their
// order, comes from. It costs O(nnz).
func (m *CSR) Cells(seeds []int32) []int32 {
	cell := make([]int32, m.Rows)
	for i := range cell {
		cell[i] = -1
	}
	queue := make([]int32, 0, m.Rows)
	for c, v := range seeds {
		if cell[v] < 0 {
			cell[v] = int32(c)
			queue = append(queue, v)
		}
	}
	for head := 0; head < len(queue); head++ {
		v := queue[head]
		col, _ := m.Row(int(v))
		for _, j := range col {
			if cell[j] < 0 {
				cell[j] = cell[v]
				queue = append(queue, j)
			}
		}
	}
	return cell
}

// Merge returns the graph whose vertices are the count cells of a symmetric graph. Two cells a and b are joined by
//
//	s_ab / √(d_a d_b),  s_ab the sum of the weights between their vertices, d_a = Σ_b s_ab
//
// where this is among the most largest such numbers of a or of b. Edges within a cell and vertices of cell −1 are left
// out. It costs O(nnz) and the sort of the neighbours of each cell, and holds most entries for a cell.
func (m *CSR) Merge(cell []int32, count, most int) *CSR {
	degree := make([]float64, count)
	m.between(cell, func(a, _ int32, w float64) { degree[a] += w })

	// The vertices of cell c are members[first[c]:first[c+1]].
	first := make([]int, count+1)
	for _, c := range cell {
		if c >= 0 {
			first[c+1]++
		}
	}
	for c := range count {
		first[c+1] += first[c]
	}
	members := make([]int32, first[count])
	next := slices.Clone(first)
	for i, c := range cell {
		if c >= 0 {
			members[next[c]] = int32(i)
			next[c]++
		}
	}

	out := &CSR{Rows: count, Cols: count, Ptr: make([]int64, count+1)}
	sum := make([]float64, count)
	var near []int32
	for a := range count {
		near = near[:0]
		for _, i := range members[first[a]:first[a+1]] {
			m.leaving(i, cell, func(_, b int32, w float64) {
				if sum[b] == 0 {
					near = append(near, b)
				}
				sum[b] += w / math.Sqrt(degree[a]*degree[b])
			})
		}

		// The heaviest, of equal ones the first, in the order of their numbers.
		slices.SortFunc(near, func(b, c int32) int { return cmp.Or(cmp.Compare(sum[c], sum[b]), cmp.Compare(b, c)) })
		kept := near[:min(most, len(near))]
		slices.Sort(kept)
		for _, b := range kept {
			out.Col = append(out.Col, b)
			out.Val = append(out.Val, sum[b])
		}
		for _, b := range near {
			sum[b] = 0
		}
		out.Ptr[a+1] = int64(len(out.Col))
	}
	return out.Symmetrize(Either)
}

// between calls f for the edges between different cells, each from both sides.
func (m *CSR) between(cell []int32, f func(a, b int32, w float64)) {
	for i := range m.Rows {
		if cell[i] >= 0 {
			m.leaving(int32(i), cell, f)
		}
	}
}

// leaving calls f for the edges of vertex i that lead from its cell a to another cell b.
func (m *CSR) leaving(i int32, cell []int32, f func(a, b int32, w float64)) {
	a := cell[i]
	col, val := m.Row(int(i))
	for p, j := range col {
		b := cell[j]
		if b < 0 || b == a {
			continue
		}
		w := 1.0
		if val != nil {
			w = val[p]
		}
		f(a, b, w)
	}
}
