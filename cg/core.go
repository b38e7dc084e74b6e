package cg

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/sparse"
)

// Grids, roads and trees have many vertices with few neighbours. [Laplacian] eliminates these first, exactly
// and in double precision, before the approximate factor: this leaves a graph with half of the vertices and
// no more edges than before. Conjugate gradients on it have vectors of half the length.

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
// passes over the edges, and for each vertex with few neighbours at most 264 bytes while it is made.
func newCore(s *system) *core {
	few := 0
	edges := 0
	for i := range s.w.Rows {
		if d := int(s.w.Ptr[i+1] - s.w.Ptr[i]); 0 < d && d <= coreDegree {
			few++
			edges += d * (d - 1)
		}
	}
	if few <= s.w.Rows/coreShare {
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
	p.queue.fill(p.vertices)
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

// coreOperator is R^-½·S·R^-½.
type coreOperator struct {
	graph simd.Graph
	n     int
}

func (c *core) operator() coreOperator {
	g := simd.Graph{Ptr: c.w.Ptr, Col: c.w.Col, Val: c.w.Val, Diag: c.diagonal}
	if slices.ContainsFunc(c.outer, func(r float64) bool { return r != 1 }) {
		g.Val = slices.Clone(g.Val)
		g.Diag = slices.Clone(g.Diag)
		for i, r := range c.outer {
			g.Diag[i] /= r * r
			for p := g.Ptr[i]; p < g.Ptr[i+1]; p++ {
				g.Val[p] /= r * c.outer[g.Col[p]]
			}
		}
	}
	return coreOperator{g, len(c.kept)}
}

func (o coreOperator) Dim() int { return o.n }

func (o coreOperator) MulTo(dst, x *mat.Dense) {
	block := func(x *mat.Dense) simd.Block {
		r := x.RawMatrix()
		return simd.Block{Data: r.Data, Cols: r.Cols, LD: r.Stride}
	}
	par.For(o.n, rowGrain, func(lo, hi int) {
		o.graph.Combine(block(dst), block(x), simd.Block{}, lo, hi, -1, 1, 0, 0)
	})
}

// reduced is a factor of a system whose vertices with few neighbours were eliminated exactly.
type reduced struct {
	*core
	rest Preconditioner // for the core
}

// ApplyTo sets dst = M⁻¹r. Beside the factor of the core it costs up to 17 operations for each eliminated
// vertex and column.
func (m *reduced) ApplyTo(dst, r *mat.Dense) {
	checkApply(len(m.whole), dst, r)
	m.solve(dst, r, func(x, f *mat.Dense) { m.rest.ApplyTo(x, f) })
}

// solve sets dst to the solution of the whole system for right-hand sides b, where onCore sets x to the
// solution of R^-½·S·R^-½·x = f. It may change f.
func (m *reduced) solve(dst, b *mat.Dense, onCore func(x, f *mat.Dense)) {
	_, cols := b.Dims()
	scale(dst, b, m.whole)
	m.fold(dst)
	x := mat.NewDense(len(m.kept), cols, nil)
	f := mat.NewDense(len(m.kept), cols, nil)
	for i, v := range m.kept {
		row := f.RawRowView(i)
		for j, e := range dst.RawRowView(int(v)) {
			row[j] = e / m.outer[i]
		}
	}

	onCore(x, f)
	for i, v := range m.kept {
		row := dst.RawRowView(int(v))
		for j, e := range x.RawRowView(i) {
			row[j] = e / m.outer[i]
		}
	}
	m.unfold(dst)
	scale(dst, dst, m.whole)
}

// scale sets row i of dst to factor_i times row i of x.
func scale(dst, x *mat.Dense, factor []float64) {
	par.For(len(factor), rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d := dst.RawRowView(i)
			for j, v := range x.RawRowView(i) {
				d[j] = factor[i] * v
			}
		}
	})
}

// coreTolerance is the share of the tolerance that residuals on the core must be within. Those of the whole
// system differ from them by rounding.
const coreTolerance = 0.9

// onCore solves on the core of the system, where residuals are those of the whole system but for rounding.
// The iterations go to the result.
func (r *run) onCore(ctx context.Context) error {
	p := *r.plan
	p.core = nil
	p.n = len(r.core.kept)
	p.Tolerance *= coreTolerance
	p.Norm = 0 // of the whole system
	sub := &run{plan: &p, a: r.core.operator(), m: r.core.rest, norms: r.norms, known: make([]bool, p.cols)}
	if null, ok := r.null.(*componentNull); ok {
		sub.null = null.on(r.core.kept)
	}

	var err error
	r.core.solve(r.out.X, r.b, func(x, f *mat.Dense) {
		sub.b = f
		sub.out = &Result{X: x, Residuals: make([]float64, p.cols), Iterations: r.out.Iterations}
		if sub.null != nil {
			project(f, sub.null)
		}
		err = sub.blocks(ctx)
	})
	r.out.Products += sub.out.Products
	r.out.Cycles = sub.out.Cycles
	if r.null != nil {
		project(r.out.X, r.null)
	}

	// Where this fails, the iterations go on with the whole system, which tells why.
	var breakdown *BreakdownError
	if errors.Is(err, ErrNotConverged) || errors.As(err, &breakdown) {
		return nil
	}
	return err
}

// on returns the null vectors of the core with the given vertices.
func (s *componentNull) on(kept []int32) *componentNull {
	c := &componentNull{of: make([]int32, len(kept)), count: s.count, values: make([]float64, len(kept))}
	sums := make([]float64, s.count)
	for i, v := range kept {
		c.of[i] = s.of[v]
		c.values[i] = s.values[v]
		sums[c.of[i]] += c.values[i] * c.values[i]
	}
	for i, k := range c.of {
		c.values[i] /= math.Sqrt(sums[k])
	}
	return c
}
