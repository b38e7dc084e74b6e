package nndescent

import (
	"math"
	"slices"

	"github.com/bigfit/bigfit/knn/internal/topk"
)

// A Searcher is the working memory of one goroutine that answers queries.
type Searcher struct {
	// Meter holds the query point.
	Meter

	graph    *Graph
	k        int
	widening float64  // (1+ε)²
	visited  []uint32 // the number of the last query that visited a point
	query    uint32
	found    *topk.Set // the nearest points visited
	frontier *topk.Set // points to go on from, by negative distance: the nearest is the root
	ids      []int32
	dist     []float32
}

// NewSearcher returns a searcher for k neighbours of the point of m, a meter of the rows of g. It
// keeps up to kept ≥ k candidates and takes 4n bytes. The search reaches 1+widening times as far as
// the last candidate.
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

// Append appends to dst the numbers in the set of at least k points near the query point, in no
// order: of all points if there are at most LeafSize.
//
// The search is a best-first search. It starts in a leaf of the first tree. It goes on from the
// nearest point that it has not gone on from, along the links of the graph and against them,
// until that point is 1+widening times as far away as the last candidate. Where k is more than an
// eighth of the points, or the graph leads to too few points, the query is compared with every point.
func (s *Searcher) Append(dst []int32) []int32 {
	g := s.graph
	s.found.Heap = s.found.Heap[:0]
	s.frontier.Heap = s.frontier.Heap[:0]

	// A number of its own for every query saves clearing visited. It wraps after 2³² queries.
	if s.query++; s.query == 0 {
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
			s.measureVisited()
		}
	}

	for _, c := range s.found.Heap {
		dst = append(dst, g.order[c.Index])
	}
	return dst
}

// walk makes the best-first search.
func (s *Searcher) walk() {
	back := s.graph.links()
	leaf := s.graph.root.leafOf(s.Meter)
	for i := leaf.lo; i < leaf.hi; i++ {
		s.visit(int32(i))
	}
	s.measureVisited()

	for len(s.frontier.Heap) > 0 {
		c := s.frontier.Heap[0]
		// Farther points are unlikely to lead to nearer ones.
		if -c.Dist > s.reach() {
			return
		}
		s.frontier.DropRoot()

		// Popular points have links from very many: twice the width of a list is enough.
		for _, v := range s.graph.list(c.Index) {
			if v&number != number {
				s.visit(int32(v & number))
			}
		}
		links := back.row(int(c.Index))
		for _, v := range links[:min(len(links), 2*s.graph.width)] {
			s.visit(int32(v & number))
		}
		s.measureVisited()
	}
}

// reach returns the distance up to which the search goes on from points.
func (s *Searcher) reach() float64 {
	if !s.found.Full() {
		return math.Inf(1)
	}
	return s.widening * s.found.Heap[0].Dist
}

// visit puts point i on the list to be measured, unless this query has visited it.
func (s *Searcher) visit(i int32) {
	if s.visited[i] != s.query {
		s.visited[i] = s.query
		s.ids = append(s.ids, i)
	}
}

// measureVisited measures the points on the list and empties it.
func (s *Searcher) measureVisited() {
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
