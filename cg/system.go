package cg

import (
	"math"

	"github.com/bigfit/bigfit/sparse"
)

// system is L + cI in the parts that preconditioners are made of:
//
//	L + cI = R^-½·(D − W + G)·R^-½
//
// with R = I and G = cI if L = D − W, and R = D and G = cD if L is normalized: in both cases the
// Laplacian of a graph in which every vertex has an edge to the ground. A vertex of degree zero
// counts as one of degree 1 in R.
type system struct {
	w        *sparse.CSR
	ground   []float64 // G
	diagonal []float64 // D + G; the mean in the place of a zero
	outer    []float64 // R^½
	mean     float64   // of the diagonal without zeros, 1 if there is nothing else
}

func newSystem(l *sparse.Laplacian) *system {
	n := l.Dim()
	s := &system{w: l.Graph(), ground: make([]float64, n), diagonal: make([]float64, n),
		outer: make([]float64, n)}
	count := 0
	for i, d := range l.Degrees() {
		r := 1.0
		if l.Kind() != sparse.Combinatorial && d > 0 {
			r = d
		}
		s.ground[i] = l.Shift() * r
		s.outer[i] = math.Sqrt(r)
		s.diagonal[i] = d + s.ground[i]
		if s.diagonal[i] > 0 {
			s.mean += s.diagonal[i]
			count++
		}
	}

	// An isolated vertex without ground gets the mean, so that its row can be divided.
	if s.mean /= float64(max(count, 1)); s.mean == 0 {
		s.mean = 1
	}
	for i, d := range s.diagonal {
		if d == 0 {
			s.diagonal[i] = s.mean
		}
	}
	return s
}

// jacobi returns the diagonal of L + cI as a preconditioner.
func (s *system) jacobi() Preconditioner {
	m := jacobi{make([]float64, len(s.diagonal))}
	for i, d := range s.diagonal {
		m.inverse[i] = s.outer[i] / d * s.outer[i]
	}
	return m
}

// spread estimates the smallest nonzero eigenvalue of D⁻¹(D − W) in two ways. path is 8/h², a
// little less than the eigenvalue of a path of h steps; bound is a Rayleigh quotient, which counts
// the weights and is not below the eigenvalue. h is the number of steps between two far ends of a
// component, found by two breadth-first searches in each; the largest of all counts.
func (s *system) spread() (path, bound float64) {
	search := breadthFirst{w: s.w, seen: make([]int32, s.w.Rows)}
	value := make([]float64, s.w.Rows)
	steps := 1
	bound = 1
	for root := range s.w.Rows {
		if search.seen[root] == 0 && s.w.Ptr[root] < s.w.Ptr[root+1] {
			end, _ := search.from(int32(root), 1)
			_, ends := search.from(end, 2)
			steps = max(steps, len(ends))
			bound = min(bound, max(search.quotient(ends, value), 1e-16))
		}
	}

	return min(1, 8/float64(steps*steps)), bound
}

// Hard reports whether the graph w is ill-conditioned: whether the condition of D⁻¹L, or of L for
// the combinatorial kind, behind the null vectors and without shift is above 2000, by the Rayleigh
// quotient of a wave along the longest path. For such a graph a factor is worth its memory. It
// costs four passes over the edges.
func Hard(w *sparse.CSR, kind sparse.Kind) bool {
	_, bound := (&system{w: w}).spread()
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
