package nndescent

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bigfit/bigfit/internal/num/par"
)

// Entries of a list carry two marks: one that entered since the last exchange
// began is newborn; one that no join has used yet is fresh.
const (
	newborn = 1 << 31
	fresh   = 1 << 30
	number  = fresh - 1 // the point's bits; this number itself is no point
)

// A candidateGraph holds, for each of n points, the width nearest points met so
// far, ascending by (distance, number). An offer improves a list or not, in any
// order of offers with the same outcome, because a pair of points has one
// distance, however it is met. That makes the parallel search deterministic.
type candidateGraph struct {
	rows  Rows
	n     int
	width int
	index []uint32  // n×width
	dist  []float32 // n×width, squared
	locks [1 << 10]sync.Mutex
}

func newCandidateGraph(rows Rows, n, width int) *candidateGraph {
	g := &candidateGraph{rows: rows, n: n}
	g.widen(width)
	return g
}

// widen makes room for longer lists.
func (g *candidateGraph) widen(width int) {
	index := make([]uint32, g.n*width)
	dist := make([]float32, g.n*width)
	par.For(g.n, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			have := copy(index[i*width:][:width], g.index[i*g.width:][:g.width])
			copy(dist[i*width:][:width], g.dist[i*g.width:][:g.width])
			for p := i*width + have; p < (i+1)*width; p++ {
				index[p] = number
				dist[p] = float32(math.Inf(1))
			}
		}
	})
	g.width = width
	g.index = index
	g.dist = dist
}

// renew marks all entries as newborn.
func (g *candidateGraph) renew() {
	par.For(len(g.index), 1<<16, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			if g.index[p] != number {
				g.index[p] = g.index[p]&number | newborn
			}
		}
	})
}

func (g *candidateGraph) list(i int32) []uint32 {
	return g.index[int(i)*g.width:][:g.width:g.width]
}

// worst returns the distance that an offer to point i must not exceed.
func (g *candidateGraph) worst(i int32) float32 { return g.dist[(int(i)+1)*g.width-1] }

// offer enters point j at distance d into the list of point i, unless it is
// there already or the list is full of nearer ones. It returns the number of entries made.
func (g *candidateGraph) offer(i, j int32, d float32) (entered int64) {
	index := g.list(i)
	dist := g.dist[int(i)*g.width:][:g.width:g.width]
	p := g.width
	for p > 0 && (dist[p-1] > d || dist[p-1] == d && index[p-1]&number > uint32(j)) {
		p--
	}
	if p == g.width || p > 0 && index[p-1]&number == uint32(j) {
		return 0
	}
	copy(index[p+1:], index[p:])
	copy(dist[p+1:], dist[p:])
	index[p] = uint32(j) | newborn
	dist[p] = d
	return 1
}

// A joiner is the working memory of one goroutine.
type joiner struct {
	group
	dist    []float32
	limit   []float32
	members []int32
	edges   []uint32
	seen    [512]int32 // hash table of members, 1 + number
	pairs   int64      // distances computed
	entered int64      // entries made in lists
}

// joinLeaves compares all points of every leaf below root, a tree with the given
// order, and returns the numbers of distances computed and of entries made in lists.
func (g *candidateGraph) joinLeaves(ctx context.Context, order []int32, root *rpNode) (pairs, entered int64) {
	leaves := root.appendLeaves(nil)
	workers := g.joiners(par.Workers(len(leaves), 1))
	par.ForWorker(len(leaves), 1, func(worker, lo, _ int) {
		if ctx.Err() == nil {
			g.joinLeaf(order[leaves[lo].lo:leaves[lo].hi], &workers[worker])
		}
	})
	for i := range workers {
		entered += workers[i].entered
	}
	return pairsOf(workers), entered
}

// joiners returns the working memory of so many goroutines.
func (g *candidateGraph) joiners(count int) []joiner {
	workers := make([]joiner, count)
	for i := range workers {
		workers[i].group = groupOf(g.rows.Meter())
	}
	return workers
}

func pairsOf(workers []joiner) (pairs int64) {
	for i := range workers {
		pairs += workers[i].pairs
	}
	return pairs
}

// joinLeaf compares all points of a leaf with each other. No other goroutine
// may use their lists.
func (g *candidateGraph) joinLeaf(ids []int32, w *joiner) {
	w.dist = slices.Grow(w.dist[:0], len(ids))[:len(ids)]
	w.limit = w.limit[:0]
	for _, i := range ids {
		w.limit = append(w.limit, g.worst(i))
	}
	w.Gather(ids)
	for a, i := range ids {
		rest := ids[a+1:]
		dist := w.dist[:len(rest)]
		limit := w.limit[a+1:][:len(rest)]
		w.Among(dist, a)
		own := w.limit[a]
		for b, d := range dist {
			if d < own {
				w.entered += g.offer(i, rest[b], d)
				own = g.worst(i)
			}
			if d < limit[b] {
				w.entered += g.offer(rest[b], i, d)
				limit[b] = g.worst(rest[b])
			}
		}
		w.pairs += int64(len(rest))
	}
}

// An exchange lets every point introduce its neighbours to each other: those it
// lists and those that list it, of either at most sample fresh and sample used
// ones, where at least one of a pair is fresh.
type exchange struct {
	*candidateGraph
	sample int
	back   *backlinks
	limit  []float32 // of each point, the distance that offers must stay below
	own    []uint32  // lists of one block of points
}

const exchangeBlock = 1 << 14 // points whose lists are read before the next are changed

func newExchange(g *candidateGraph) *exchange {
	return &exchange{
		candidateGraph: g,
		back:           newBacklinks(g.n, g.width),
		limit:          make([]float32, g.n),
		own:            make([]uint32, min(exchangeBlock, g.n)*g.width),
	}
}

// run makes one exchange. It returns the number of entries that are new in
// the end and the number of distances computed.
func (x *exchange) run(ctx context.Context, seed uint64) (entered, pairs int64) {
	const grain = 64
	par.For(x.n, 4096, func(lo, hi int) {
		for p, v := range x.index[lo*x.width : hi*x.width] {
			x.index[lo*x.width+p] = v&^newborn | v&newborn>>1
		}
		for i := lo; i < hi; i++ {
			x.limit[i] = x.worst(int32(i))
		}
	})
	x.back.fill(x.candidateGraph)
	workers := x.joiners(par.Workers(exchangeBlock, grain))
	for from := 0; from < x.n && ctx.Err() == nil; from += exchangeBlock {
		to := min(from+exchangeBlock, x.n)
		copy(x.own, x.index[from*x.width:to*x.width])
		par.For(to-from, 1024, func(lo, hi int) {
			for i := from + lo; i < from+hi; i++ {
				markUsed(x.list(int32(i)), x.sample)
			}
		})
		par.ForWorker(to-from, grain, func(worker, lo, hi int) {
			for i := lo; i < hi; i++ {
				x.join(&workers[worker], x.own[i*x.width:][:x.width], from+i, seed)
			}
		})
	}
	var count atomic.Int64
	par.For(len(x.index), 1<<16, func(lo, hi int) {
		var sum int64
		for _, v := range x.index[lo:hi] {
			sum += int64(v >> 31)
		}
		count.Add(sum)
	})
	return count.Load(), pairsOf(workers)
}

// markUsed takes the mark from the first fresh entries of a list.
func markUsed(list []uint32, sample int) {
	for p, v := range list {
		if v&fresh != 0 {
			if sample--; sample < 0 {
				return
			}
			list[p] &^= fresh
		}
	}
}

// join introduces the neighbours of point i, which lists own, to each other.
// Offers must be below the limits of before the exchange, so that ties never
// push each other out for nothing.
func (x *exchange) join(w *joiner, own []uint32, i int, seed uint64) {
	clear(w.seen[:])
	w.members = w.members[:0]
	w.limit = w.limit[:0]
	var r rand.PCG
	r.Seed(seed, uint64(i))
	back := x.back.row(i)
	w.take(own, fresh, x.sample)
	w.draw(back, fresh, x.sample, &r)
	used := len(w.members)
	if used == 0 {
		return
	}
	w.take(own, 0, x.sample)
	w.draw(back, 0, x.sample, &r)
	for _, i := range w.members {
		w.limit = append(w.limit, x.limit[i])
	}
	w.dist = slices.Grow(w.dist[:0], len(w.members))[:len(w.members)]
	w.Gather(w.members)
	for a, i := range w.members[:used] {
		rest := w.members[a+1:]
		dist := w.dist[:len(rest)]
		limit := w.limit[a+1:][:len(rest)]
		w.Among(dist, a)
		own := w.limit[a]
		for b, d := range dist {
			if d < own {
				x.offerLocked(i, rest[b], d)
			}
			if d < limit[b] {
				x.offerLocked(rest[b], i, d)
			}
		}
		w.pairs += int64(len(rest))
	}
}

func (g *candidateGraph) offerLocked(i, j int32, d float32) (entered int64) {
	m := &g.locks[int(i)%len(g.locks)]
	m.Lock()
	if d <= g.worst(i) {
		entered = g.offer(i, j, d)
	}
	m.Unlock()
	return entered
}

// take adds to the members the first entries of a list with the given mark.
func (w *joiner) take(list []uint32, mark uint32, sample int) {
	for _, v := range list {
		if v&^number == mark && v&number != number {
			if sample--; sample < 0 {
				return
			}
			w.add(int32(v & number))
		}
	}
}

// draw adds to the members a random choice of the links with the given mark,
// which does not depend on their order.
func (w *joiner) draw(links []uint32, mark uint32, sample int, r *rand.PCG) {
	w.edges = w.edges[:0]
	for _, v := range links {
		if v&^number == mark {
			w.edges = append(w.edges, v&number)
		}
	}
	slices.Sort(w.edges)
	for k := range min(sample, len(w.edges)) {
		left := w.edges[k:]
		if len(w.edges) > sample {
			p := int(r.Uint64() % uint64(len(left)))
			left[0], left[p] = left[p], left[0]
		}
		w.add(int32(left[0]))
	}
}

// add makes point i a member unless it is one.
func (w *joiner) add(i int32) {
	h := uint32(i) * 2654435769 >> (32 - 9)
	for ; w.seen[h] != 0; h = (h + 1) % uint32(len(w.seen)) {
		if w.seen[h] == i+1 {
			return
		}
	}
	w.seen[h] = i + 1
	w.members = append(w.members, i)
}

// backlinks are the lists of a candidateGraph turned round: row j holds the
// points that list j, with the mark of j in their list, in no certain order.
type backlinks struct {
	ptr  []int64
	from []uint32
}

func newBacklinks(n, width int) *backlinks {
	return &backlinks{ptr: make([]int64, n), from: make([]uint32, n*width)}
}

func (b *backlinks) row(i int) []uint32 {
	var lo int64
	if i > 0 {
		lo = b.ptr[i-1]
	}
	return b.from[lo:b.ptr[i]]
}

// eachLink calls visit with every entry v of every list, that of point i, in
// parallel.
func (g *candidateGraph) eachLink(visit func(i int, v uint32)) {
	par.For(g.n, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for _, v := range g.list(int32(i)) {
				if v&number != number {
					visit(i, v)
				}
			}
		}
	})
}

// fill inverts the lists of g: row j holds the points that list j.
func (b *backlinks) fill(g *candidateGraph) {
	clear(b.ptr)
	g.eachLink(func(_ int, v uint32) { atomic.AddInt64(&b.ptr[v&number], 1) })
	var sum int64
	for i, count := range b.ptr {
		b.ptr[i] = sum
		sum += count
	}
	// Each row's pointer moves from its beginning to its end.
	g.eachLink(func(i int, v uint32) {
		at := atomic.AddInt64(&b.ptr[v&number], 1) - 1
		b.from[at] = uint32(i) | v&^number
	})
}

// sort orders the rows.
func (b *backlinks) sort() {
	par.For(len(b.ptr), 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			slices.Sort(b.row(i))
		}
	})
}
