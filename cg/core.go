package cg

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// Grids, roads and trees have many vertices with few neighbours. [Laplacian] eliminates these exactly, in
// double precision, before it makes a factor. Of a grid this leaves half of the vertices, with about as many
// edges as before, and of roads and trees a ninth to a seventh. So a factor and the vectors of conjugate
// gradients are smaller.

const (
	// coreDegree is the number of neighbours up to which a vertex is eliminated exactly. A star of four
	// edges becomes six edges between its ends, some of which neighbouring stars make too.
	coreDegree = 4
	// coreShare is the share of the vertices, one in so many, that must have so few neighbours for a core to
	// be worth its copy of the graph.
	coreShare = 4
)

// core is a system D − W + G after the exact elimination of some vertices F. Of the others, C, it has the
// Schur complement
//
//	S = A_CC − A_CF·A_FF⁻¹·A_FC, A = D − W + G,
//
// which is a graph with edges to the ground as well.
type core struct {
	system           // of C, in ascending order
	kept   []int32   // C
	peeled []peeled  // F, in the order of elimination
	whole  []float64 // R^½ of all vertices
}

// peeled is a vertex that was eliminated, with its edges to vertices that were not yet.
type peeled struct {
	vertex int32
	count  int32
	to     [coreDegree]int32
	weight [coreDegree]float64
	inner  float64 // 1 over the sum of the weights and the ground
}

// newCore returns the core of a system, or nil if too few vertices have few neighbours. It costs some
// passes over the edges. While it is made it takes 36 bytes for each vertex, 256 more for each with few
// neighbours, and the graph that is left.
func newCore(s *system) *core {
	few := 0
	edges := 0
	for i := range s.w.Rows {
		if d := int(s.w.Ptr[i+1] - s.w.Ptr[i]); 0 < d && d <= coreDegree {
			few++
			edges += d * (d - 1)
		}
	}
	// An elimination adds at most 12 edges, which int32 must count.
	const most = math.MaxInt32 / (coreDegree * (coreDegree - 1))
	if few <= s.w.Rows/coreShare || s.w.Rows > most {
		return nil
	}

	p := newPeeler(s, edges)
	c := &core{whole: s.outer, peeled: make([]peeled, 0, few)}
	for range s.w.Rows {
		v := p.queue.pop()
		degree := p.vertices[v].degree
		if degree > coreDegree {
			break
		}
		// The last vertex of a component stays, for its null vector.
		if degree > 0 {
			c.peeled = append(c.peeled, p.eliminate(v))
		}
	}
	p.assemble(c)
	return c
}

// peeler is a graph whose vertices with few neighbours are eliminated.
type peeler struct {
	*system
	vertices []vertex // at is −1 for an eliminated one; the degree counts parallel edges
	queue    degreeQueue
	ground   []float64
	first    []int32 // of a vertex: its last edge in added, or −1
	added    []added
	star     []edge // of the vertex at hand
}

// edge is an edge seen from one of its ends.
type edge struct {
	to     int32
	weight float64
}

// added is an edge that an elimination made, seen from one of its ends.
type added struct {
	weight float64
	to     int32
	next   int32 // the one before at the same vertex, or −1
}

// newPeeler returns the graph of a system, with room for so many more edges.
func newPeeler(s *system, edges int) *peeler {
	n := s.w.Rows
	p := &peeler{system: s, vertices: make([]vertex, n), ground: slices.Clone(s.ground),
		first: slices.Repeat([]int32{-1}, n), added: make([]added, 0, edges)}
	for i := range n {
		p.star = p.edges(p.star[:0], int32(i))
		p.vertices[i].degree = int32(len(p.star))
	}
	p.queue.fill(p.vertices, n)
	return p
}

// edges appends to dst the edges from v to vertices that are not eliminated: those of the graph, then the added
// ones, the last one first.
func (p *peeler) edges(dst []edge, v int32) []edge {
	col, val := p.w.Row(int(v))
	for k, j := range col {
		w := 1.0
		if val != nil {
			w = val[k]
		}
		if j != v && w > 0 && p.vertices[j].at >= 0 {
			dst = append(dst, edge{j, w})
		}
	}
	for k := p.first[v]; k >= 0; k = p.added[k].next {
		if e := &p.added[k]; p.vertices[e.to].at >= 0 {
			dst = append(dst, edge{e.to, e.weight})
		}
	}
	return dst
}

// eliminate removes a vertex of at most coreDegree edges.
func (p *peeler) eliminate(v int32) peeled {
	star := peeled{vertex: v}
	var parallel [coreDegree]int32
	total := p.ground[v]
	p.star = p.edges(p.star[:0], v)
	for _, e := range p.star {
		total += e.weight
		at := slices.Index(star.to[:star.count], e.to)
		if at < 0 {
			at = int(star.count)
			star.count++
			star.to[at] = e.to
		}
		star.weight[at] += e.weight
		parallel[at]++
	}

	star.inner = 1 / total
	p.vertices[v].at = -1
	for i, a := range star.to[:star.count] {
		p.ground[a] += star.weight[i] * (p.ground[v] / total)
		for j, b := range star.to[:i] {
			w := max(star.weight[i]*(star.weight[j]/total), math.SmallestNonzeroFloat64)
			p.add(a, b, w)
			p.add(b, a, w)
		}
	}
	for i, a := range star.to[:star.count] {
		p.queue.change(&p.vertices[a], a, star.count-1-parallel[i])
	}
	return star
}

// add adds an edge, seen from one of its ends.
func (p *peeler) add(from, to int32, weight float64) {
	p.added = append(p.added, added{weight, to, p.first[from]})
	p.first[from] = int32(len(p.added) - 1)
}

// assemble makes the system of the vertices that are left.
func (p *peeler) assemble(c *core) {
	number := make([]int32, len(p.vertices))
	size := 0
	for v := range p.vertices {
		if p.vertices[v].at >= 0 {
			number[v] = int32(len(c.kept))
			c.kept = append(c.kept, int32(v))
			size += int(p.vertices[v].degree)
		}
	}

	n := len(c.kept)
	w := &sparse.CSR{Rows: n, Cols: n, Ptr: make([]int64, 1, n+1),
		Col: make([]int32, 0, size), Val: make([]float64, 0, size)}
	c.system = system{w: w, mean: p.mean, narrowest: p.narrowest, ground: make([]float64, n), diagonal: make([]float64, n),
		outer: make([]float64, n)}
	for i, v := range c.kept {
		p.star = p.edges(p.star[:0], v)
		sortEdges(p.star)
		c.ground[i] = p.ground[v]
		c.outer[i] = p.outer[v]
		c.diagonal[i] = p.ground[v]
		for k, e := range p.star {
			c.diagonal[i] += e.weight
			if k > 0 && p.star[k-1].to == e.to {
				w.Val[len(w.Val)-1] += e.weight
				continue
			}
			w.Col = append(w.Col, number[e.to])
			w.Val = append(w.Val, e.weight)
		}
		w.Ptr = append(w.Ptr, int64(len(w.Col)))
	}
}

// sortEdges sorts edges by their ends. Parallel ones stay in their order, which is the same at both of their ends,
// so that their sum is the same too.
func sortEdges(e []edge) {
	if len(e) > 24 {
		slices.SortStableFunc(e, func(a, b edge) int { return cmp.Compare(a.to, b.to) })
		return
	}
	for i := 1; i < len(e); i++ {
		x := e[i]
		j := i
		for ; j > 0 && x.to < e[j-1].to; j-- {
			e[j] = e[j-1]
		}
		e[j] = x
	}
}

// fold makes right-hand sides f of the whole system those of S, in the rows of C: f_C − A_CF·A_FF⁻¹·f_F.
func (c *core) fold(f *mat.Dense) {
	for k := range c.peeled {
		p := &c.peeled[k]
		own := f.RawRowView(int(p.vertex))
		for i, to := range p.to[:p.count] {
			s := p.weight[i] * p.inner
			row := f.RawRowView(int(to))
			for j, v := range own {
				row[j] += s * v
			}
		}
	}
}

// unfold takes solutions in the rows of C and what [core.fold] has left in the others, which become
// solutions.
func (c *core) unfold(y *mat.Dense) {
	for k := len(c.peeled) - 1; k >= 0; k-- {
		p := &c.peeled[k]
		own := y.RawRowView(int(p.vertex))
		for i, to := range p.to[:p.count] {
			row := y.RawRowView(int(to))
			for j, v := range row {
				own[j] += p.weight[i] * v
			}
		}
		for j := range own {
			own[j] *= p.inner
		}
	}
}
