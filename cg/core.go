package cg

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
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
	system            // of C, in ascending order
	kept   []int32    // C
	peeled [][]peeled // F: of each slab in the order of elimination
	whole  []float64  // R^½ of all vertices
}

// peeled is a vertex that was eliminated, with its edges to vertices that were not yet.
type peeled struct {
	vertex int32
	count  int32
	to     [coreDegree]int32
	weight [coreDegree]float64
	inner  float64 // 1 over the sum of the weights and the ground
}

// newCore returns the core of a system, or nil if too few vertices have few neighbours. The vertices of the slabs d are
// eliminated by several processors; d may be nil. It costs some passes over the edges. While the core is made it
// takes 32 bytes for each vertex, 256 more for each with few neighbours, and the graph that is left.
func newCore(s *system, d *slabs) *core {
	few := 0
	for i := range s.w.Rows {
		if d := s.w.Ptr[i+1] - s.w.Ptr[i]; 0 < d && d <= coreDegree {
			few++
		}
	}
	// An elimination adds at most 12 edges, which int32 must count.
	const most = math.MaxInt32 / (coreDegree * (coreDegree - 1))
	if few <= s.w.Rows/coreShare || s.w.Rows > most {
		return nil
	}

	g := newPeeling(s, d)
	c := &core{whole: s.outer}
	par.For(len(g.peelers), 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			g.peelers[k].run()
		}
	})
	for _, p := range g.peelers {
		c.peeled = append(c.peeled, p.peeled)
	}
	g.assemble(c)
	return c
}

// peeling is a graph whose vertices with few neighbours are eliminated.
type peeling struct {
	*system
	slabs    *slabs
	vertices []vertex // at is −1 for an eliminated one; the degree counts parallel edges
	ground   []float64
	peelers  []peeler
}

// peeler eliminates vertices of a slab, or of the whole graph. No other peeler changes what the peeling holds of these.
type peeler struct {
	*peeling
	own    []int32 // the vertices of the slab
	queue  degreeQueue
	added  []added
	peeled []peeled
	star   []edge // of the vertex at hand
	// For each vertex between slabs: what the slab adds to its ground, and its last edge in added, or −1.
	borderGround []float64
	borderFirst  []int32
}

// edge is an edge seen from one of its ends.
type edge struct {
	to     int32
	weight float64
}

// added is an edge that an elimination made, seen from one of its ends. The links of a vertex begin with the last one.
type added struct {
	weight float64
	to     int32
	next   int32 // the one before at the same vertex, or −1
}

// newPeeling returns the graph of a system with a peeler for each slab.
func newPeeling(s *system, d *slabs) *peeling {
	n := s.w.Rows
	g := &peeling{system: s, slabs: d, vertices: make([]vertex, n), ground: slices.Clone(s.ground)}
	par.For(n, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			v := &g.vertices[i]
			v.bucket = -1
			v.links.first = -1
			s.eachEdge(int32(i), func(int32, float64) { v.degree++ })
		}
	})

	if d == nil {
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		g.peelers = []peeler{{peeling: g, own: all}}
		return g
	}
	for _, own := range d.parts {
		g.peelers = append(g.peelers, peeler{peeling: g, own: own, borderGround: make([]float64, len(d.between)),
			borderFirst: slices.Repeat([]int32{-1}, len(d.between))})
	}
	return g
}

// run eliminates vertices of at most coreDegree edges until there are none.
func (p *peeler) run() {
	few := 0
	edges := 0
	p.queue.vertices = p.vertices
	for _, v := range slices.Backward(p.own) {
		if d := int(p.vertices[v].degree); d <= coreDegree {
			few++
			edges += d * (d - 1)
		}
		p.queue.add(v)
	}
	// A neighbour of an eliminated vertex often has too many edges then: half of them will do on grids.
	p.added = make([]added, 0, edges/2)
	p.peeled = make([]peeled, 0, few/2)

	for range p.own {
		v := p.queue.pop()
		degree := p.vertices[v].degree
		if degree > coreDegree {
			break
		}
		// The last vertex of a component stays, for its null vector.
		if degree > 0 {
			p.peeled = append(p.peeled, p.eliminate(v))
		}
	}
}

// outside reports whether a neighbour of the slab lies between slabs, which no queue holds.
func (p *peeler) outside(v int32) bool { return p.vertices[v].bucket < 0 }

// edges appends to dst the edges from v to vertices that are not eliminated: those of the graph, then the added
// ones, the last one first.
func (p *peeler) edges(dst []edge, v int32) []edge {
	dst = p.given(dst, v)
	return p.chain(dst, p.vertices[v].links.first)
}

// given appends the edges of the graph to vertices that are not eliminated.
func (g *peeling) given(dst []edge, v int32) []edge {
	g.eachEdge(v, func(to int32, weight float64) {
		if g.vertices[to].at >= 0 {
			dst = append(dst, edge{to, weight})
		}
	})
	return dst
}

// chain appends added edges to vertices that are not eliminated, from the given one on.
func (p *peeler) chain(dst []edge, first int32) []edge {
	for k := first; k >= 0; k = p.added[k].next {
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
		ground := &p.ground[a]
		if p.outside(a) {
			ground = &p.borderGround[-1-p.slabs.number[a]]
		}
		*ground += star.weight[i] * (p.ground[v] / total)
		for j, b := range star.to[:i] {
			w := max(star.weight[i]*(star.weight[j]/total), math.SmallestNonzeroFloat64)
			p.add(a, b, w)
			p.add(b, a, w)
		}
	}
	for i, a := range star.to[:star.count] {
		if !p.outside(a) {
			p.queue.change(&p.vertices[a], a, star.count-1-parallel[i])
		}
	}
	return star
}

// add adds an edge, seen from one of its ends.
func (p *peeler) add(from, to int32, weight float64) {
	first := &p.vertices[from].links.first
	if p.outside(from) {
		first = &p.borderFirst[-1-p.slabs.number[from]]
	}
	p.added = append(p.added, added{weight, to, *first})
	*first = int32(len(p.added) - 1)
}

// assemble makes the system of the vertices that are left.
func (g *peeling) assemble(c *core) {
	number := make([]int32, len(g.vertices))
	for v := range g.vertices {
		if g.vertices[v].at >= 0 {
			number[v] = int32(len(c.kept))
			c.kept = append(c.kept, int32(v))
		}
	}

	n := len(c.kept)
	c.system = system{mean: g.mean, narrowest: g.narrowest, ground: make([]float64, n), diagonal: make([]float64, n),
		outer: make([]float64, n), parts: g.slabs.of(c.kept)}
	chunks := par.Chunks(n, assembleGrain)
	rows := make([]coreRows, chunks)
	room := 0
	for k := range rows {
		rows[k] = coreRows{lo: k * assembleGrain, hi: min((k+1)*assembleGrain, n), at: room}
		room += g.bound(c.kept[rows[k].lo:rows[k].hi])
	}

	// Parallel edges leave gaps between the rows of two chunks.
	w := &sparse.CSR{Rows: n, Cols: n, Ptr: make([]int64, n+1), Col: make([]int32, room), Val: make([]float64, room)}
	c.w = w
	par.For(chunks, 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			g.rows(c, number, &rows[k])
		}
	})
	end := 0
	for _, r := range rows {
		copy(w.Col[end:], w.Col[r.at:r.at+r.size])
		copy(w.Val[end:], w.Val[r.at:r.at+r.size])
		for i := r.lo; i < r.hi; i++ {
			w.Ptr[i+1] += int64(end)
		}
		end += r.size
	}
	w.Col = w.Col[:end]
	w.Val = w.Val[:end]
}

// assembleGrain is the number of rows of a core that one processor makes.
const assembleGrain = 1 << 14

// coreRows are rows lo to hi of a core, which begin at a place in its arrays and have so many entries.
type coreRows struct{ lo, hi, at, size int }

// bound returns how many entries the rows of vertices have with each of their parallel edges.
func (g *peeling) bound(vertices []int32) int {
	size := 0
	var ground float64
	var star []edge
	for _, v := range vertices {
		if g.slabs != nil && g.slabs.number[v] < 0 {
			star = g.left(star[:0], v, &ground)
			size += len(star)
			continue
		}
		size += int(g.vertices[v].degree)
	}
	return size
}

// rows makes rows of the core, from their place in its arrays on. Their Ptr are counted from the first of them.
func (g *peeling) rows(c *core, number []int32, r *coreRows) {
	col := c.w.Col[r.at:r.at]
	val := c.w.Val[r.at:r.at]
	var star []edge
	for i := r.lo; i < r.hi; i++ {
		v := c.kept[i]
		c.ground[i] = g.ground[v]
		star = g.left(star[:0], v, &c.ground[i])
		sortEdges(star)
		c.outer[i] = g.outer[v]
		c.diagonal[i] = c.ground[i]
		for k, e := range star {
			c.diagonal[i] += e.weight
			if k > 0 && star[k-1].to == e.to {
				val[len(val)-1] += e.weight
				continue
			}
			col = append(col, number[e.to])
			val = append(val, e.weight)
		}
		c.w.Ptr[i+1] = int64(len(col))
	}
	r.size = len(col)
}

// left appends to dst the edges of a vertex that is left, and adds to its ground what the slabs beside it have.
func (g *peeling) left(dst []edge, v int32, ground *float64) []edge {
	dst = g.given(dst, v)
	if g.slabs == nil {
		return g.peelers[0].chain(dst, g.vertices[v].links.first)
	}
	if k := g.slabs.slab[v]; k >= 0 {
		return g.peelers[k].chain(dst, g.vertices[v].links.first)
	}
	place := -1 - g.slabs.number[v]
	for k := range g.peelers {
		p := &g.peelers[k]
		dst = p.chain(dst, p.borderFirst[place])
		*ground += p.borderGround[place]
	}
	return dst
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
	for _, of := range c.peeled {
		for k := range of {
			p := &of[k]
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
}

// unfold takes solutions in the rows of C and what [core.fold] has left in the others, which become
// solutions.
func (c *core) unfold(y *mat.Dense) {
	par.For(len(c.peeled), 1, func(lo, hi int) {
		for _, of := range c.peeled[lo:hi] {
			for k := len(of) - 1; k >= 0; k-- {
				p := &of[k]
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
	})
}
