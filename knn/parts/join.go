package parts

import (
	"context"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// rangeRows returns the number of rows of the graph that are made at a time. Each range takes a
// pass over all lists, so there are at most 32 of them on large graphs.
func rangeRows(n int) int { return min(n, max(1<<17, n/32)) }

// Graph is the symmetric graph of all parts.
type Graph struct {
	W          *sparse.CSR // mapped from a folder in the folder of the run
	Components *sparse.Components
	Edges      knn.GraphSettings // how the edges were weighed; T is set for heat weights
}

// Join weighs the edges of the merged lists and makes the weights symmetric.
func (r *Run) Join(ctx context.Context) (*Graph, error) {
	cost := stage.Cost{Bytes: joinBytes(r.div.N, &r.s), Remedy: "free memory"}
	if err := r.observed.Announce("graph", cost); err != nil {
		return nil, err
	}
	r.observed.Begin("graph")

	near, err := tablesOf[uint32](r, r.listsName)
	if err != nil {
		return nil, err
	}
	g := r.s.Graph
	weights, err := r.weigh(&g, near)
	if err != nil {
		return nil, err
	}

	// Rows are made in ranges and appended to a folder, so memory holds one range.
	path := r.folder.Path("ordered")
	err = sparse.CreateFolder(path, weights != nil || g.Symmetry == sparse.Sum, func(w *sparse.FolderWriter) ([]byte, error) {
		for lo := 0; lo < r.div.N; lo += rangeRows(r.div.N) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			r.observed.Update(float64(lo), float64(r.div.N), "")
			// Workers make shares of the range, which are appended in order.
			rows := min(rangeRows(r.div.N), r.div.N-lo)
			shares := make([]*sparse.CSR, par.Workers(rows, 1))
			par.For(len(shares), 1, func(c, _ int) {
				j := joiner{near, weights, lo + c*rows/len(shares), lo + (c+1)*rows/len(shares)}
				shares[c] = g.Weights.Combine(j.own(), j.transposed(), g.Symmetry)
			})
			for _, m := range shares {
				if err := w.Append(m.Ptr, m.Col, m.Val); err != nil {
					return nil, err
				}
			}
			near.drop()
		}
		return nil, nil
	})
	if err != nil {
		return nil, err
	}

	m, err := r.inOrderOfUser(path)
	if err != nil {
		return nil, err
	}
	out := &Graph{W: m, Components: m.Components(), Edges: g}
	r.observed.End(out.Components.Describe(m.NNZ()))
	return out, nil
}

// inOrderOfUser writes the graph of the numbers in a folder as one of the points of the user.
func (r *Run) inOrderOfUser(ordered string) (*sparse.CSR, error) {
	m, err := sparse.ReadFolder(ordered, 0)
	if err != nil {
		return nil, err
	}
	path := r.folder.Path("graph")
	if err := m.PermuteFolder(path, r.div.numbers(), nil); err != nil {
		return nil, err
	}
	if err := sparse.RemoveFolder(ordered); err != nil {
		return nil, err
	}
	return sparse.ReadFolder(path, 0)
}

// A joiner makes the rows lo to hi of the graph.
type joiner struct {
	near    *tables[uint32]
	weights *tables[float64] // nil if all weights are 1
	lo, hi  int
}

// weight returns the weight of the edge to neighbour p of point i.
func (j *joiner) weight(i int32, p int) float64 {
	if j.weights == nil {
		return 1
	}
	return j.weights.row(i)[p]
}

// own returns the weights of the lists of points lo to hi as rows, with ascending columns.
func (j *joiner) own() *sparse.CSR {
	n := j.near.div.N
	k := j.near.width
	m := &sparse.CSR{
		Rows: j.hi - j.lo,
		Cols: n,
		Ptr:  make([]int64, 1, j.hi-j.lo+1),
		Col:  make([]int32, 0, (j.hi-j.lo)*k),
	}
	if j.weights != nil {
		m.Val = make([]float64, 0, (j.hi-j.lo)*k)
	}

	order := make([]int, k)
	for i := j.lo; i < j.hi; i++ {
		list := j.near.row(int32(i))
		for p := range order {
			order[p] = p
		}
		slices.SortFunc(order, func(a, b int) int { return int(list[a]) - int(list[b]) })
		for _, p := range order {
			w := j.weight(int32(i), p)
			if w == 0 {
				continue
			}
			m.Col = append(m.Col, int32(list[p]))
			if m.Val != nil {
				m.Val = append(m.Val, w)
			}
		}
		m.Ptr = append(m.Ptr, int64(len(m.Col)))
	}
	return m
}

// transposed returns rows lo to hi of the transpose of the weights of all lists. It takes one pass
// over the lists.
func (j *joiner) transposed() *sparse.CSR {
	n := j.near.div.N
	rows := j.hi - j.lo
	m := &sparse.CSR{Rows: rows, Cols: n, Ptr: make([]int64, rows+1)}
	type entry struct {
		row, col int32
		weight   float64
	}
	// Points are visited in order, so the entries of each row come with ascending columns.
	found := make([]entry, 0, rows*j.near.width)
	for i := range int32(n) {
		for p, v := range j.near.row(i) {
			if int(v) < j.lo || int(v) >= j.hi {
				continue
			}
			if w := j.weight(i, p); w != 0 {
				found = append(found, entry{int32(int(v) - j.lo), i, w})
				m.Ptr[int(v)-j.lo+1]++
			}
		}
	}

	// A counting sort by rows.
	for i := range rows {
		m.Ptr[i+1] += m.Ptr[i]
	}
	m.Col = make([]int32, m.Ptr[rows])
	if j.weights != nil {
		m.Val = make([]float64, m.Ptr[rows])
	}

	next := slices.Clone(m.Ptr)
	for _, e := range found {
		at := next[e.row]
		next[e.row]++
		m.Col[at] = e.col
		if m.Val != nil {
			m.Val[at] = e.weight
		}
	}
	return m
}
