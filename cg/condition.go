package cg

import (
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// spread estimates the smallest nonzero eigenvalue of D⁻¹(D − W) in two ways. path is 8/h², a
// little less than the eigenvalue of a path of h steps; bound is a Rayleigh quotient, which counts
// the weights and is not below the eigenvalue. h is the number of steps between two far ends of a
// component, found by two breadth-first searches in each; the largest of all counts. The search also
// finds s.narrowest, and the levels.
func (s *system) spread() (path, bound float64) {
	search := breadthFirst{w: s.w, seen: make([]int32, s.w.Rows)}
	value := slices.Repeat([]float64{unknown}, s.w.Rows)
	steps := 1
	bound = 1
	s.visited = make([]int32, 0, s.w.Rows)
	s.levelEnds = nil
	var isolated []int32
	for root := range s.w.Rows {
		if search.seen[root] == 0 && s.w.Ptr[root] < s.w.Ptr[root+1] {
			end, _ := search.from(int32(root), 1)
			_, ends := search.from(end, 2)
			for _, e := range ends {
				s.levelEnds = append(s.levelEnds, len(s.visited)+e)
			}
			s.visited = append(s.visited, search.queue...)
			steps = max(steps, len(ends))
			s.narrowest = max(s.narrowest, narrowest(ends))
			bound = min(bound, max(search.quotient(ends, value), 1e-16))
		} else if search.seen[root] == 0 {
			isolated = append(isolated, int32(root))
		}
	}
	if len(isolated) > 0 {
		s.visited = append(s.visited, isolated...)
		s.levelEnds = append(s.levelEnds, len(s.visited))
	}

	return min(1, 8/float64(steps*steps)), bound
}

// Hard reports whether the graph w is ill-conditioned: whether the condition of D⁻¹L, or of L for
// the combinatorial kind, behind the null vectors and without shift is above 2000, by the Rayleigh
// quotient of a wave along the longest path or by pairs with much heavier edges than all others. For
// such a graph a factor is worth its memory. It costs five passes over the edges.
func Hard(w *sparse.CSR, kind sparse.Kind) bool {
	s := &system{w: w}
	_, bound := s.spread()
	if s.paired() {
		return true
	}
	condition := 2 / bound

	// The eigenvalues of L spread with the degrees.
	if kind == sparse.Combinatorial {
		most, sum := 0.0, 0.0
		for _, d := range w.Degrees() {
			most = max(most, d)
			sum += d
		}
		if sum > 0 {
			condition = max(condition, 2*most/(bound*sum/float64(w.Rows)))
		}
	}

	return condition > largeCondition
}

// paired reports whether many vertices have one edge that is much heavier than all others of both its
// ends together. Such a pair stands for an eigenvalue of D⁻¹(D − W) of at most 2e-3, wherever it lies
// in the graph: weights over several decades make many of them, which no wave along a path shows.
func (s *system) paired() bool {
	const (
		conductance = 1e-3
		least       = 10 // conjugate gradients take as many more steps
		share       = 1000
	)
	if s.w.Val == nil {
		return false
	}
	n := s.w.Rows
	heaviest := make([]int32, n)
	rest := make([]float64, n) // what all other edges weigh, over the heaviest one
	par.For(n, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			col, val := s.w.Row(i)
			most := 0.0
			sum := 0.0
			heaviest[i] = -1
			for p, v := range val {
				sum += v
				if v > most {
					most = v
					heaviest[i] = col[p]
				}
			}
			if most > 0 {
				rest[i] = sum/most - 1
			}
		}
	})

	count := 0
	for i, j := range heaviest {
		if int(j) > i && int(heaviest[j]) == i && rest[i]+rest[j] > 0 && rest[i]+rest[j] < 2*conductance {
			count++
		}
	}
	return count > least+n/share
}

// narrowest returns the size of the smallest level of a breadth-first search that leaves at least a
// tenth of the vertices on both sides, or of the largest if there is none. The levels end where ends
// says.
func narrowest(ends []int) int {
	n := ends[len(ends)-1]
	least := n
	largest := 0
	for i := 1; i < len(ends); i++ {
		size := ends[i] - ends[i-1]
		largest = max(largest, size)
		if 10*ends[i-1] >= n && 10*(n-ends[i]) >= n {
			least = min(least, size)
		}
	}
	return min(least, largest)
}

// breadthFirst is the memory of breadth-first searches of a graph.
type breadthFirst struct {
	w     *sparse.CSR
	seen  []int32 // the mark of the last search that reached a vertex
	queue []int32
}

// from visits all vertices connected with root, and returns the vertex reached last and where in
// the queue each level ends. It writes mark to the vertices, a number that no earlier search has
// used.
func (b *breadthFirst) from(root, mark int32) (last int32, ends []int) {
	b.queue = append(b.queue[:0], root)
	b.seen[root] = mark
	for head := 0; head < len(b.queue); {
		level := len(b.queue)
		ends = append(ends, level)
		for ; head < level; head++ {
			last = b.queue[head]
			b.visit(last, mark)
		}
	}

	return last, ends
}

// visit appends the neighbours of a vertex that lack the mark to the queue.
func (b *breadthFirst) visit(vertex, mark int32) {
	col, _ := b.w.Row(int(vertex))
	for _, j := range col {
		if b.seen[j] != mark {
			b.seen[j] = mark
			b.queue = append(b.queue, j)
		}
	}
}

// unknown is a value that no cosine has.
const unknown = 2

// quotient returns the Rayleigh quotient of D⁻¹(D − W) for cos(π(level + ½)/levels) less its mean,
// on the vertices that a search has put into queue, level after level; ends says where the levels
// end. The quotient counts weights, and is not below the smallest nonzero eigenvalue of the
// component. value is unknown for all these vertices, and receives their cosines.
func (b *breadthFirst) quotient(ends []int, value []float64) float64 {
	// xᵀ(D−W)x = Σ w_ij(x_i − x_j)² over the edges. Each vertex adds those to the level before; edges
	// within a level add nothing.
	masses := make([]float64, len(ends)) // sums of the degrees
	cosine := func(level int) float64 { return math.Cos(math.Pi * (float64(level) + 0.5) / float64(len(ends))) }
	at := 0
	energy := 0.0
	for level, end := range ends {
		f := cosine(level)
		for ; at < end; at++ {
			i := b.queue[at]
			value[i] = f
			col, val := b.w.Row(int(i))
			for p, j := range col {
				v := 1.0
				if val != nil {
					v = val[p]
				}
				masses[level] += v
				if other := value[j]; other != unknown {
					energy += v * (f - other) * (f - other)
				}
			}
		}
	}

	// xᵀDx less the mean.
	var mass, sum, square float64
	for level, m := range masses {
		mass += m
		sum += m * cosine(level)
	}
	for level, m := range masses {
		step := cosine(level) - sum/mass
		square += m * step * step
	}
	if !(square > 0) {
		return 1
	}
	return energy / square
}
