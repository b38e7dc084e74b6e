package cg

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
)

// divided is an approximate factor that eliminates the vertices of each slab of a graph, and then those between slabs.
// Each processor eliminates slabs of its own, and substitutes in them, even in a single column.
type divided struct {
	n       int
	slabs   []slabFactor
	between *factors
}

// slabFactor is the factor of a slab. Behind the places of its own vertices come those of its border: the vertices between
// slabs that its vertices have edges to.
type slabFactor struct {
	*factors
	border []int32 // the places of these in the factor of all vertices between
}

// newDivided is [newApproximate] in another order: first each slab by least degree, then the vertices between slabs.
func newDivided(s *system, d *slabs, copies int32, seed uint64) *divided {
	m := &divided{n: s.w.Rows, slabs: make([]slabFactor, len(d.parts))}
	rests := make([]slabRest, len(d.parts))
	outer := s.scaled(s.mean)
	par.For(len(d.parts), 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			g, border := d.elimination(s, k, copies, seed)
			m.slabs[k] = slabFactor{newFactors(g.run(len(d.parts[k])), d.parts[k], outer), border}
			rests[k] = g.rest(len(d.parts[k]))
		}
	})

	rest := d.rest(s, m.slabs, rests, copies, seed)
	m.between = newFactors(rest.run(len(d.between)), d.between, outer)
	place := make([]int32, len(d.between))
	for p, v := range m.between.order {
		place[-1-d.number[v]] = int32(p)
	}
	for _, slab := range m.slabs {
		for b, i := range slab.border {
			slab.border[b] = place[i]
		}
	}
	return m
}

// elimination returns the graph of a slab: its vertices, and behind them those of its border, which border gives by their
// places in d.between.
func (d *slabs) elimination(s *system, k int, copies int32, seed uint64) (g *elimination, border []int32) {
	own := d.parts[k]
	g = emptyElimination(s, len(own), len(own)+len(d.between), rand.NewPCG(seed, drawStream+1+uint64(k)))
	behind := map[int32]int32{} // places of the border
	for i, v := range own {
		g.ground[i] = s.ground[v] / g.unit
		s.eachEdge(v, func(to int32, weight float64) {
			weight /= g.unit
			place := d.number[to]
			if place < 0 {
				at, ok := behind[to]
				if !ok {
					at = int32(len(g.vertices))
					behind[to] = at
					border = append(border, -1-place)
					g.vertices = append(g.vertices, vertex{})
					g.ground = append(g.ground, 0)
				}
				place = at
				g.store.add(&g.vertices[place].links, newLink(int32(i), copies, weight))
			}
			g.store.add(&g.vertices[i].links, newLink(place, copies, weight))
		})
	}
	g.begin(len(own))
	return g, border
}

// slabRest holds what the elimination of a slab has left at its border: ground, and links between its vertices, by their
// places in the border.
type slabRest struct {
	ground []float64
	links  [][]link
	most   int32 // copies that an edge may have
}

// rest returns what the elimination of the first own vertices has left.
func (g *elimination) rest(own int) slabRest {
	r := slabRest{ground: slices.Clone(g.ground[own:]), links: make([][]link, len(g.vertices)-own), most: g.most}
	for b := range r.links {
		g.list = g.store.moveTo(g.list[:0], &g.vertices[own+b].links)
		for _, l := range g.list {
			to := max(l.to, ^l.to)
			if g.vertices[to].at < 0 {
				continue
			}
			to -= int32(own)
			if l.to < 0 {
				to = ^to
			}
			r.links[b] = append(r.links[b], link{to, l.weight})
		}
	}
	return r
}

// rest returns the graph of the vertices between slabs, with the edges that the elimination of the slabs has left.
func (d *slabs) rest(s *system, slabs []slabFactor, rests []slabRest, copies int32, seed uint64) *elimination {
	n := len(d.between)
	g := emptyElimination(s, n, n, rand.NewPCG(seed, drawStream))
	for i, v := range d.between {
		g.ground[i] = s.ground[v] / g.unit
		s.eachEdge(v, func(to int32, weight float64) {
			if place := d.number[to]; place < 0 {
				g.store.add(&g.vertices[i].links, newLink(-1-place, copies, weight/g.unit))
			}
		})
	}

	for k, r := range rests {
		border := slabs[k].border
		g.most = min(g.most, r.most)
		for b, i := range border {
			g.ground[i] += r.ground[b]
			for _, l := range r.links[b] {
				to := border[max(l.to, ^l.to)]
				if l.to < 0 {
					to = ^to
				}
				g.store.add(&g.vertices[i].links, link{to, l.weight})
			}
		}
	}
	g.begin(n)
	return g
}

// ApplyTo sets dst = M⁻¹r. It costs what [factors.ApplyTo] costs.
func (m *divided) ApplyTo(dst, r *mat.Dense) {
	_, b := r.Dims()
	checkApply(m.n, dst, r)
	columnGroups(b, func(from, to, width int) {
		blocks := make([][]float64, len(m.slabs))
		m.each(func(k int, slab *slabFactor) {
			own := len(slab.order) * width
			x := slab.take(own + len(slab.border)*width)
			slab.load(x[:own], width, r, from, to)
			clear(x[own:])
			slab.forward(x, width)
			blocks[k] = x
		})

		// What the slabs have added to the vertices between, in their order.
		y := m.between.take(len(m.between.order) * width)
		m.between.load(y, width, r, from, to)
		for k, slab := range m.slabs {
			x := blocks[k][len(slab.order)*width:]
			for b, p := range slab.border {
				own := y[int(p)*width:][:width]
				for j, v := range x[b*width:][:width] {
					own[j] += v
				}
			}
		}
		m.between.forward(y, width)
		m.between.back(y, width)
		m.between.store(dst, y, width, from, to)

		m.each(func(k int, slab *slabFactor) {
			x := blocks[k]
			own := len(slab.order) * width
			for b, p := range slab.border {
				copy(x[own+b*width:][:width], y[int(p)*width:])
			}
			slab.back(x, width)
			slab.store(dst, x[:own], width, from, to)
			slab.give(x)
		})
		m.between.give(y)
	})
}

// each calls fn for every slab, by several threads.
func (m *divided) each(fn func(k int, slab *slabFactor)) {
	par.For(len(m.slabs), 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			fn(k, &m.slabs[k])
		}
	})
}
