package parts

import (
	"context"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/internal/edges"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// tables are those of all parts; they have a row for each point in its nearest part.
type tables[T uint16 | uint32 | float64] struct {
	div   *division
	of    [][]T
	width int
}

func tablesOf[T uint16 | uint32 | float64](r *Run, name func(p int) string) (*tables[T], error) {
	t := &tables[T]{div: r.div, of: make([][]T, r.s.Parts)}
	var err error
	for p := range t.of {
		if t.of[p], t.width, err = load[T](r.folder, name(p)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// row returns the row of a point.
func (t *tables[T]) row(i int32) []T {
	p := t.div.of[int(i)*t.div.overlap()]
	return t.of[p][int(t.div.first[i])*t.width:][:t.width:t.width]
}

// lists gives lists of K neighbours as [lists]: the distances are infinite, which says that they
// are not known.
func (t *tables[T]) lists(words []uint32, ids []int32) error {
	stride := len(words) / max(1, len(ids))
	for at, i := range ids {
		list := words[at*stride:][:stride]
		for p := range list[:stride/2] {
			list[p] = none
			list[stride/2+p] = infinite
		}
		for p, v := range t.row(i) {
			list[p] = uint32(v)
		}
	}
	t.drop()
	return nil
}

func (t *tables[T]) drop() {
	for _, table := range t.of {
		drop(table)
	}
}

// rangeRows is the number of rows of the graph that are made at a time.
func rangeRows(n int) int { return min(n, max(1<<17, n/32)) }

// Graph is the symmetric graph of all parts.
type Graph struct {
	W          *sparse.CSR // mapped from a folder in the folder of the run
	Components *sparse.Components
	Edges      knn.GraphSettings // how the edges were weighed, the t of heat weights set
}

// Join weighs the edges of the merged lists and makes the weights symmetric.
func (r *Run) Join(ctx context.Context) (*Graph, error) {
	cost := stage.Cost{Bytes: joinBytes(r.div.N, &r.s), Remedy: "free memory"}
	if err := r.observed.Announce("graph", cost); err != nil {
		return nil, err
	}
	r.observed.Begin("graph")
	if r.div.first == nil {
		r.div.number()
	}
	near, err := tablesOf[uint32](r, r.listsName)
	if err != nil {
		return nil, err
	}
	g := r.s.Graph
	weights, err := r.weigh(&g, near)
	if err != nil {
		return nil, err
	}
	path := r.folder.Path("graph")
	err = sparse.CreateFolder(path, weights != nil, func(w *sparse.FolderWriter) ([]byte, error) {
		for lo := 0; lo < r.div.N; lo += rangeRows(r.div.N) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			r.observed.Update(float64(lo), float64(r.div.N), "")
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
	m, err := sparse.ReadFolder(path, 0)
	if err != nil {
		return nil, err
	}
	out := &Graph{W: m, Components: m.Components(), Edges: g}
	r.observed.End(out.Components.Describe(m.NNZ()))
	return out, nil
}

// weigh returns tables of the weights of the edges to the neighbours in the lists, nil if all
// are 1, and sets the t of heat weights.
func (r *Run) weigh(g *knn.GraphSettings, near *tables[uint32]) (*tables[float64], error) {
	if g.Weights == knn.One {
		return nil, nil
	}
	var lengths *tables[float64]
	var err error
	if r.s.needsLengths() {
		if lengths, err = tablesOf[float64](r, r.lengthsName); err != nil {
			return nil, err
		}
	}
	if g.Weights == knn.Heat && g.T == 0 {
		var mean float64
		for i := range r.div.N {
			last := lengths.row(int32(i))[g.K-1]
			mean += last * last / float64(r.div.N)
		}
		if g.T = mean / 4; g.T == 0 {
			g.T = 1
		}
	}
	for p := range r.s.Parts {
		there, err := r.folder.has(weightsName(p))
		if err != nil {
			return nil, err
		}
		if there {
			continue
		}
		own := r.div.members(p, true)
		table := make([]float64, len(own)*g.K)
		par.For(len(own), 256, func(lo, hi int) {
			for at := lo; at < hi; at++ {
				weighList(table[at*g.K:][:g.K], own[at], g, near, lengths)
			}
		})
		if err := save(r.folder, weightsName(p), g.K, table); err != nil {
			return nil, err
		}
	}
	return tablesOf[float64](r, weightsName)
}

// weighList sets w to the weights of the edges of point i.
func weighList(w []float64, i int32, g *knn.GraphSettings, near *tables[uint32], lengths *tables[float64]) {
	switch g.Weights {
	case knn.Gauss:
		dist := lengths.row(i)
		width := edges.SquaredWidth(dist)
		for p, j := range near.row(i) {
			w[p] = edges.Gauss(dist[p], width, edges.SquaredWidth(lengths.row(int32(j))))
		}
	case knn.Shared:
		sorted := func(i int32) []int32 {
			list := make([]int32, 0, g.K)
			for _, j := range near.row(i) {
				list = append(list, int32(j))
			}
			slices.Sort(list)
			return list
		}
		own := sorted(i)
		for p, j := range near.row(i) {
			w[p] = edges.Jaccard(own, sorted(int32(j)))
		}
	default:
		copy(w, g.EdgeWeights(lengths.row(i)))
	}
}

// A joiner makes the rows lo to hi of the graph.
type joiner struct {
	near    *tables[uint32]
	weights *tables[float64] // nil if all are 1
	lo, hi  int
}

// weight returns the weight of the edge to neighbour p of point i.
func (j *joiner) weight(i int32, p int) float64 {
	if j.weights == nil {
		return 1
	}
	return j.weights.row(i)[p]
}

// own returns the rows of the weights of the lists.
func (j *joiner) own() *sparse.CSR {
	n := j.near.div.N
	k := j.near.width
	m := &sparse.CSR{Rows: j.hi - j.lo, Cols: n, Ptr: make([]int64, 1, j.hi-j.lo+1), Col: make([]int32, 0, (j.hi-j.lo)*k)}
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

// transposed returns the rows of the transpose of the weights of the lists: one pass over all
// lists.
func (j *joiner) transposed() *sparse.CSR {
	n := j.near.div.N
	rows := j.hi - j.lo
	m := &sparse.CSR{Rows: rows, Cols: n, Ptr: make([]int64, rows+1)}
	type entry struct {
		row, col int32
		weight   float64
	}
	found := make([]entry, 0, rows*j.near.width) // ascending columns
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
