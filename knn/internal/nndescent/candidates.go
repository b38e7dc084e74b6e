package nndescent

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// Entries of a list carry two marks. A newborn entry came in since the last exchange began. A
// fresh entry has not been used by a local join yet.
const (
	newborn = 1 << 31
	fresh   = 1 << 30
	number  = fresh - 1 // the bits of a point's number; number itself stands for no point
)

// A candidateGraph holds, for each of n points, the width nearest points found so far, ascending
// by (distance, number). The lists do not depend on the order of offers, because a pair of points
// has the same distance whenever it is measured. That makes the parallel search deterministic.
type candidateGraph struct {
	rows  Rows
	n     int
	width int
	index []uint32  // n×width
	dist  []float32 // n×width, squared
	locks [1 << 10]sync.Mutex
}

// newCandidateGraph returns a graph with empty lists.
func newCandidateGraph(rows Rows, n, width int) *candidateGraph {
	g := &candidateGraph{rows: rows, n: n}
	g.widen(width)
	return g
}

// widen makes room for longer lists. Free places hold number at an infinite distance.
func (g *candidateGraph) widen(width int) {
	index := dense.Zeros[uint32](g.n * width)
	dist := dense.Zeros[float32](g.n * width)
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

// reset makes g empty lists of n points.
func (g *candidateGraph) reset(n, width int) {
	g.n = n
	g.width = width
	g.index = slices.Grow(g.index[:0], n*width)[:n*width]
	g.dist = slices.Grow(g.dist[:0], n*width)[:n*width]
	for p := range g.index {
		g.index[p] = number
		g.dist[p] = float32(math.Inf(1))
	}
}

// merge enters list a of other into the list of point i.
func (g *candidateGraph) merge(i int32, other *candidateGraph, a int32, w *joiner) {
	index, dist := g.list(i), g.dist[int(i)*g.width:][:g.width:g.width]
	from, far := other.list(a), other.dist[int(a)*g.width:][:g.width]
	if far[0] > dist[g.width-1] {
		return
	}

	// The old list moves out of the way; both ascend by (distance, number).
	w.edges = append(w.edges[:0], index...)
	w.dist = append(w.dist[:0], dist...)
	p, q := 0, 0
	for at := range index {
		old := w.edges[p]
		new := from[q] // with the mark newborn, or number
		switch order := cmp.Or(cmp.Compare(w.dist[p], far[q]), cmp.Compare(old&number, new&number)); {
		case order <= 0:
			index[at], dist[at] = old, w.dist[p]
			p++
			if order == 0 && old&number != number {
				q++
			}
		default:
			index[at], dist[at] = new, far[q]
			q++
		}
		if p == g.width || q == g.width {
			// The rest is of one list.
			rest := at + 1
			if q == g.width {
				copy(index[rest:], w.edges[p:])
				copy(dist[rest:], w.dist[p:])
			} else {
				copy(index[rest:], from[q:])
				copy(dist[rest:], far[q:])
			}
			return
		}
	}
}

// age takes the mark newborn from all entries, which become fresh.
func (g *candidateGraph) age() {
	par.For(len(g.index), 1<<16, func(lo, hi int) {
		for p, v := range g.index[lo:hi] {
			g.index[lo+p] = v&^newborn | v&newborn>>1
		}
	})
}

// countNewborn returns the number of entries with the mark newborn.
func (g *candidateGraph) countNewborn() int64 {
	var count atomic.Int64
	par.For(len(g.index), 1<<16, func(lo, hi int) {
		var sum int64
		for _, v := range g.index[lo:hi] {
			sum += int64(v >> 31)
		}
		count.Add(sum)
	})
	return count.Load()
}

// lock locks the list of point i. Points share locks.
func (g *candidateGraph) lock(i int32) *sync.Mutex {
	m := &g.locks[int(i)%len(g.locks)]
	m.Lock()
	return m
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

// list returns the list of point i.
func (g *candidateGraph) list(i int32) []uint32 {
	return g.index[int(i)*g.width:][:g.width:g.width]
}

// worst returns the distance that an offer to point i must not exceed.
func (g *candidateGraph) worst(i int32) float32 { return g.dist[(int(i)+1)*g.width-1] }

// offer enters point j at distance d into the list of point i, unless it is there already or the
// list is full of nearer points. It returns the number of entries made, 0 or 1.
func (g *candidateGraph) offer(i, j int32, d float32) (entered int64) {
	index := g.list(i)
	dist := g.dist[int(i)*g.width:][:g.width:g.width]
	// The place of j by (distance, number), from the end: most offers are near it.
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

// offerLocked is offer for goroutines that change the lists of the same points.
func (g *candidateGraph) offerLocked(i, j int32, d float32) (entered int64) {
	m := g.lock(i)
	if d <= g.worst(i) {
		entered = g.offer(i, j, d)
	}
	m.Unlock()
	return entered
}
