package nndescent

import (
	"math"
	"slices"

	"github.com/bigfit/bigfit/knn/internal/topk"
)

// A Searcher is the working memory of one goroutine that answers queries.
type Searcher struct {
	// Meter holds the point whose neighbours Append finds.
	Meter

	graph    *Graph
	k        int
	widening float64  // (1+ε)²
	visited  []uint32 // the number of the last query that met a point
	query    uint32
	found    *topk.Set
	frontier *topk.Set // of negative distances, so that the nearest is the root
	ids      []int32
	dist     []float32
}

// NewSearcher returns a searcher for kept candidates of k ≤ kept neighbours of the point
// that m, a meter of the rows of g, is at. It takes 4n bytes.
func (g *Graph) NewSearcher(m Meter, k, kept int, widening float64) *Searcher {
	if g.n <= LeafSize {
		kept = g.n
	}
	return &Searcher{
		Meter:    m,
		graph:    g,
		k:        k,
		widening: (1 + widening) * (1 + widening),
		visited:  make([]uint32, g.n),
		found:    topk.New(min(kept, g.n)),
		frontier: &topk.Set{Limit: math.MaxInt},
	}
}

// Append appends to dst, in no order, the numbers in the set of at least k points
// near the point: of all points if there are no more than LeafSize.
//
// The search starts in a leaf of the first tree and goes on from the nearest
// point not yet gone on from, along the links of the graph and against them, until
// that is 1+widening times as far away as the last of the candidates. For more
// than an eighth of the points, and where the graph leads to too few, the point is
// compared with every point.
func (s *Searcher) Append(dst []int32) []int32 {
	g := s.graph
	s.found.Heap, s.frontier.Heap = s.found.Heap[:0], s.frontier.Heap[:0]
	if s.query++; s.query == 0 { // after 2³² queries
		clear(s.visited)
		s.query = 1
	}

	if s.k <= g.n/8 {
		s.walk()
	}
	if len(s.found.Heap) < s.k {
		s.found.Heap = s.found.Heap[:0]
		for lo := 0; lo < g.n; lo += 1024 {
			s.ids = s.ids[:0]
			for i := lo; i < min(lo+1024, g.n); i++ {
				s.ids = append(s.ids, int32(i))
			}
			s.look()
		}
	}

	for _, c := range s.found.Heap {
		dst = append(dst, g.order[c.Index])
	}
	return dst
}

// walk is the best-first search.
func (s *Searcher) walk() {
	back := s.graph.links()
	leaf := s.graph.root.leafOf(s.Meter)
	for i := leaf.lo; i < leaf.hi; i++ {
		s.meet(int32(i))
	}
	s.look()
	for len(s.frontier.Heap) > 0 {
		c := s.frontier.Heap[0]
		if -c.Dist > s.reach() {
			return
		}
		s.frontier.DropRoot()
		for _, v := range s.graph.list(c.Index) {
			if v&number != number {
				s.meet(int32(v & number))
			}
		}

		links := back.row(int(c.Index))
		for _, v := range links[:min(len(links), 2*s.graph.width)] {
			s.meet(int32(v & number))
		}
		s.look()
	}
}

// reach returns the distance up to which points are gone on from.
func (s *Searcher) reach() float64 {
	if !s.found.Full() {
		return math.Inf(1)
	}
	return s.widening * s.found.Heap[0].Dist
}

// meet puts point i on the list for look, unless this query has met it.
func (s *Searcher) meet(i int32) {
	if s.visited[i] != s.query {
		s.visited[i] = s.query
		s.ids = append(s.ids, i)
	}
}

// look measures the points on the list and empties it.
func (s *Searcher) look() {
	s.dist = slices.Grow(s.dist[:0], len(s.ids))[:len(s.ids)]
	s.Measure(s.dist, s.ids)
	for p, i := range s.ids {
		d := float64(s.dist[p])
		if d <= s.reach() {
			s.frontier.Add(topk.Pair{Dist: -d, Index: i})
		}
		s.found.Add(topk.Pair{Dist: d, Index: i})
	}
	s.ids = s.ids[:0]
}
