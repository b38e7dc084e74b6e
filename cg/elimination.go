package cg

import (
	"math"
	"math/rand/v2"
	"slices"
)

// elimination is a graph whose vertices are eliminated one after the other.
type elimination struct {
	unit     float64 // of the weights
	vertices []vertex
	ground   []float64 // weight of the edge to the vertex that stays
	queue    degreeQueue
	store    linkStore
	list     []link
	random   *rand.PCG
	most     int32   // copies that an edge may have
	crowded  int     // neighbours of an eliminated vertex from which on they have one
	star     []spoke // lightest first
	found    []spoke // in the order of the links
	keys     []uint64
	sums     []float64 // of the weights in star from each place on
}

// vertex is the state of a vertex, in one place for the cache.
type vertex struct {
	links  linkList
	at     int32 // −1 if eliminated, the place in found plus 1 while it is collected, 0 otherwise
	degree int32 // links to vertices that are not eliminated
	bucket int32 // see degreeQueue
}

// A spoke is the sum of the edges from the vertex that is eliminated to one of its neighbours.
type spoke struct {
	weight float64
	to     int32
	links  int32 // parallel edges
	copies int32
	change int32 // edges that the neighbour wins or loses
}

// newElimination returns the graph of a system. The order of elimination and all draws follow from
// the system and the seed.
func newElimination(s *system, copies int32, seed uint64) *elimination {
	n := s.w.Rows
	g := emptyElimination(s, n, n, rand.NewPCG(seed, drawStream))
	for i := range n {
		g.ground[i] = s.ground[i] / g.unit
		s.eachEdge(int32(i), func(j int32, weight float64) {
			g.store.add(&g.vertices[i].links, newLink(j, copies, weight/g.unit))
		})
	}
	g.begin(n)
	return g
}

// drawStream is the stream of the draws of an elimination. Parts of a graph have those that follow.
const drawStream = 0x63686f6c // "chol"

// emptyElimination returns a graph of n vertices, and room for more, without edges.
func emptyElimination(s *system, n, room int, random *rand.PCG) *elimination {
	return &elimination{unit: s.mean, vertices: make([]vertex, n, room), ground: make([]float64, n, room), random: random,
		store: newLinkStore(n), most: mostCopies, crowded: crowdedLeast + crowdedStar*s.w.NNZ()/max(s.w.Rows, 1)}
}

// eachEdge calls fn for the edges of a vertex to others.
func (s *system) eachEdge(v int32, fn func(to int32, weight float64)) {
	col, val := s.w.Row(int(v))
	for p, j := range col {
		w := 1.0
		if val != nil {
			w = val[p]
		}
		if j != v && w > 0 {
			fn(j, w)
		}
	}
}

// begin puts the first so many vertices into the queue. The others stay.
func (g *elimination) begin(eliminated int) {
	for i := range g.vertices {
		v := &g.vertices[i]
		v.degree = v.links.length
		v.bucket = -1
	}
	g.queue.fill(g.vertices, eliminated)
}

// run eliminates so many vertices, all that are in the queue, and returns their columns.
func (g *elimination) run(count int) []column {
	columns := make([]column, count)
	var room []entry
	for range count {
		v := g.queue.pop()
		total := g.collect(v)

		// Columns lie in blocks of memory, which are not copied when they grow in number.
		if len(room) < len(g.star) {
			room = make([]entry, max(min(columnBlock, 16*count), len(g.star)))
		}
		c := &columns[v]
		c.to = room[:len(g.star):len(g.star)]
		room = room[len(g.star):]
		for i, e := range g.star {
			c.to[i] = entry{e.to, float32(e.weight)}
		}
		if total > 0 {
			c.inner = 1 / total
		}
		g.replace(v, total)
	}
	return columns
}

// newLink returns a link with one copy, or two if there are more.
func newLink(to, copies int32, weight float64) link {
	if copies > 1 {
		to = ^to
	}
	return link{to, float32(max(weight, leastWeight))}
}

// collect removes v from the graph, puts its edges to the remaining vertices into star, lightest
// first, and returns the sum of their weights and of the ground.
func (g *elimination) collect(v int32) float64 {
	g.found = g.found[:0]
	list := &g.vertices[v].links
	for links := range g.store.empty(list) {
		for _, l := range links {
			to := l.to
			copies := int32(1)
			if to < 0 {
				to = ^to
				copies = g.most
			}
			end := &g.vertices[to]
			switch {
			case end.at < 0:
			case end.at > 0:
				e := &g.found[end.at-1]
				e.weight += float64(l.weight)
				e.links++
				e.copies = g.most
			default:
				g.found = append(g.found, spoke{float64(l.weight), to, 1, copies, 0})
				end.at = int32(len(g.found))
			}
		}
	}

	for i := range g.found {
		e := &g.found[i]
		e.weight = float64(float32(e.weight)) // as the factor holds it
		e.change = -e.links
		g.vertices[e.to].at = 0
	}
	g.vertices[v].at = -1
	g.sort()
	if len(g.star) > g.crowded {
		g.most = 1
	}

	// The sums begin with the heaviest, so that none is a difference.
	g.sums = slices.Grow(g.sums[:0], len(g.star))[:len(g.star)]
	sum := 0.0
	for i := len(g.star) - 1; i >= 0; i-- {
		sum += g.star[i].weight
		g.sums[i] = sum
	}
	return sum + g.ground[v]
}

// sort makes star the spokes in found by weight, and by their order where weights are equal. Positive
// floating-point numbers are in the order of their bits.
func (g *elimination) sort() {
	g.keys = g.keys[:0]
	for i, e := range g.found {
		g.keys = append(g.keys, uint64(math.Float32bits(float32(e.weight)))<<32|uint64(i))
	}
	keys := g.keys
	if len(keys) > 16 {
		slices.Sort(keys)
	} else {
		for i := 1; i < len(keys); i++ {
			k := keys[i]
			j := i
			for ; j > 0 && k < keys[j-1]; j-- {
				keys[j] = keys[j-1]
			}
			keys[j] = k
		}
	}

	g.star = g.star[:0]
	for _, k := range keys {
		g.star = append(g.star, g.found[uint32(k)])
	}
}

// replace puts edges between the neighbours of v in the place of the star of v.
func (g *elimination) replace(v int32, total float64) {
	last := len(g.star) - 1
	ground := g.ground[v] / total
	for i := range g.star {
		e := &g.star[i]
		if ground > 0 {
			g.ground[e.to] += e.weight * ground
		}
		if i == last {
			break
		}

		rest := g.sums[i+1]
		weight := e.weight * (rest / total)
		if i+1 == last {
			g.join(e, &g.star[last], e.copies, weight)
			continue
		}
		u := float64(g.random.Uint64()>>11) * 0x1p-53
		if e.copies == 1 {
			g.join(e, g.draw(i, u*rest), 1, weight)
			continue
		}
		first := g.draw(i, u*rest/2)
		second := g.draw(i, (u+1)*rest/2)
		if first == second {
			g.join(e, first, 2, weight)
		} else {
			g.join(e, first, 1, weight/2)
			g.join(e, second, 1, weight/2)
		}
	}

	for i := range g.star {
		e := &g.star[i]
		end := &g.vertices[e.to]
		g.queue.change(end, e.to, e.change)
		g.tidy(end)
	}
}

// draw returns the spoke j > i where the sum of the weights from j on passes pick.
func (g *elimination) draw(i int, pick float64) *spoke {
	lo := i + 1
	hi := len(g.sums)
	for hi-lo > 8 {
		middle := (lo + hi) / 2
		if g.sums[middle] > pick {
			lo = middle
		} else {
			hi = middle
		}
	}
	j := hi - 1
	for j > lo && !(g.sums[j] > pick) {
		j--
	}
	return &g.star[j]
}

// join adds an edge between two neighbours.
func (g *elimination) join(a, b *spoke, copies int32, weight float64) {
	g.store.add(&g.vertices[a.to].links, newLink(b.to, copies, weight))
	g.store.add(&g.vertices[b.to].links, newLink(a.to, copies, weight))
	a.change++
	b.change++
}

// tidy removes links to eliminated vertices from the list of a vertex, if they are the greater part.
func (g *elimination) tidy(v *vertex) {
	if v.links.length <= 2*v.degree+4*chunkLinks {
		return
	}
	g.list = g.store.moveTo(g.list[:0], &v.links)
	for _, l := range g.list {
		if g.vertices[max(l.to, ^l.to)].at >= 0 {
			g.store.add(&v.links, l)
		}
	}
}
