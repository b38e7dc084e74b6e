package knn

import (
	"context"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/simd"
)

// Query returns k neighbours of every row of x. A search starts in the leaf of
// the first tree and goes on from the nearest point not yet gone on from, along
// the links of the graph and against them, until that is 1+Widening times as
// far away as the last of the neighbours found. Without an earlier call of Self
// the graph is one of 10 neighbours. For more than an eighth of the points, and
// where the graph leads to too few, a query is compared with every point.
func (ix *Descent) Query(ctx context.Context, x data.Points, k int) (*Neighbors, error) {
	if err := checkQuery(x, ix.d); err != nil {
		return nil, err
	}
	if err := checkK(k, ix.n); err != nil {
		return nil, err
	}
	g, err := ix.search(ctx, 0)
	if err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	out := newNeighbors(n, k)
	err = inStripes(ctx, n, 64, ix.settings.OnProgress, func() func(lo, hi int) {
		s := newGraphSearch(g, k, ix.settings.Widening)
		m := ix.newListMeasurer()
		return func(lo, hi int) {
			for i := lo; i < hi; i++ {
				ix.prepareRow(s.q, x, i, m.row)
				s.run(k)
				m.load(x, i)
				m.best = m.best[:0]
				for _, c := range s.found.heap {
					m.add(g.order[c.index])
				}
				sortPairs(m.best)
				out.set(i, m.best[:k])
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// A graphSearch is the working memory of one goroutine that answers queries.
type graphSearch struct {
	*descentGraph
	widening float64 // (1+ε)²
	q        []float32
	visited  []uint32 // the number of the last query that met a point
	query    uint32
	found    *nearest
	frontier *nearest // of negative distances, so that the nearest is the root
	ids      []int32
	dist     []float32
}

func newGraphSearch(g *descentGraph, k int, widening float64) *graphSearch {
	kept := min(k+slack, g.n)
	if g.n <= leafSize {
		kept = g.n // all are measured in float64
	}
	return &graphSearch{
		descentGraph: g,
		widening:     (1 + widening) * (1 + widening),
		q:            make([]float32, g.d),
		visited:      make([]uint32, g.n),
		found:        newNearest(kept),
		frontier:     &nearest{limit: math.MaxInt},
	}
}

// run leaves at least k points near q in found.
func (s *graphSearch) run(k int) {
	s.found.heap, s.frontier.heap = s.found.heap[:0], s.frontier.heap[:0]
	if s.query++; s.query == 0 { // after 2³² queries
		clear(s.visited)
		s.query = 1
	}
	if k <= s.n/8 {
		s.walk()
	}
	if len(s.found.heap) < k {
		s.found.heap = s.found.heap[:0]
		for lo := 0; lo < s.n; lo += 1024 {
			s.ids = s.ids[:0]
			for i := lo; i < min(lo+1024, s.n); i++ {
				s.ids = append(s.ids, int32(i))
			}
			s.look()
		}
	}
}

// walk is the best-first search.
func (s *graphSearch) walk() {
	back := s.links()
	leaf := s.leaf()
	for i := leaf.lo; i < leaf.hi; i++ {
		s.meet(int32(i))
	}
	s.look()
	for len(s.frontier.heap) > 0 {
		c := s.frontier.heap[0]
		if -c.dist > s.reach() {
			return
		}
		s.frontier.dropRoot()
		for _, v := range s.list(c.index) {
			if v&number != number {
				s.meet(int32(v & number))
			}
		}
		links := back.row(int(c.index))
		for _, v := range links[:min(len(links), 2*s.width)] {
			s.meet(int32(v & number))
		}
		s.look()
	}
}

// reach returns the distance up to which points are gone on from.
func (s *graphSearch) reach() float64 {
	if !s.found.full() {
		return math.Inf(1)
	}
	return s.widening * s.found.heap[0].dist
}

// leaf returns the leaf of the first tree that q falls into.
func (s *graphSearch) leaf() *rpNode {
	p := s.root
	for p.left != nil {
		var d [2]float32
		simd.SquaredDistances32(d[:], s.q, s.flat, s.d, []int32{p.a, p.b})
		if d[1]-d[0] < p.threshold {
			p = p.left
		} else {
			p = p.right
		}
	}
	return p
}

// meet puts point i on the list for look, unless this query has met it.
func (s *graphSearch) meet(i int32) {
	if s.visited[i] != s.query {
		s.visited[i] = s.query
		s.ids = append(s.ids, i)
	}
}

// look measures the points on the list and empties it.
func (s *graphSearch) look() {
	s.dist = slices.Grow(s.dist[:0], len(s.ids))[:len(s.ids)]
	simd.SquaredDistances32(s.dist, s.q, s.flat, s.d, s.ids)
	for p, i := range s.ids {
		d := float64(s.dist[p])
		if d <= s.reach() {
			s.frontier.add(pair{-d, i})
		}
		s.found.add(pair{d, i})
	}
	s.ids = s.ids[:0]
}

// dropRoot removes the largest pair.
func (h *nearest) dropRoot() {
	last := len(h.heap) - 1
	h.heap[0] = h.heap[last]
	h.heap = h.heap[:last]
	h.down()
}
