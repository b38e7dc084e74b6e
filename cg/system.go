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
	// narrowest is the size of the narrowest level of a breadth-first search, of the component where it is
	// the largest; 0 if not known. See [narrowest].
	narrowest int
	// visited and levelEnds are the vertices in the order of breadth-first searches and where their levels end, nil if not
	// known; parts are slabs.
	visited   []int32
	levelEnds []int
	parts     *slabs
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

// shadowed reports whether rounding hides the ground everywhere beside the degrees.
func (s *system) shadowed() bool {
	for i, g := range s.ground {
		if g > 1e-12*s.diagonal[i] {
			return false
		}
	}
	return true
}
