package cg

import (
	"math"

	"github.com/bigfit/bigfit/sparse"
)

// system is L + cI in the parts that preconditioners are made of:
//
//	L + cI = R^-½·(D − W + G)·R^-½
//
// with R = I and G = cI if L = D − W, and R = D and G = cD if L is normalized, so
// that both are the Laplacian of a graph in which every vertex has an edge to the
// ground. A vertex of degree zero counts as one of degree 1 in R.
type system struct {
	w        *sparse.CSR
	ground   []float64 // G
	diagonal []float64 // D + G; the mean in the place of a zero
	outer    []float64 // R^½
	mean     float64   // of the diagonal without zeros, 1 if there is nothing else
}

func newSystem(l *sparse.Laplacian) *system {
	n := l.Dim()
	s := &system{w: l.Graph(), ground: make([]float64, n), diagonal: make([]float64, n), outer: make([]float64, n)}
	count := 0
	for i, d := range l.Degrees() {
		r := 1.0
		if l.Kind() != sparse.Combinatorial && d > 0 {
			r = d
		}
		s.ground[i], s.outer[i] = l.Shift()*r, math.Sqrt(r)
		s.diagonal[i] = d + s.ground[i]
		if s.diagonal[i] > 0 {
			s.mean += s.diagonal[i]
			count++
		}
	}
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

// incomplete returns the incomplete Cholesky factorization of L + cI.
func (s *system) incomplete() (Preconditioner, error) {
	w := s.w
	a := &sparse.CSR{Rows: w.Rows, Cols: w.Cols, Ptr: make([]int64, w.Rows+1),
		Col: make([]int32, 0, len(w.Col)+w.Rows), Val: make([]float64, 0, len(w.Col)+w.Rows)}
	// Only the lower triangle is read.
	for i := range w.Rows {
		col, val := w.Row(i)
		d := s.diagonal[i]
		for p, j := range col {
			v := 1.0
			if val != nil {
				v = val[p]
			}
			if int(j) < i {
				a.Col, a.Val = append(a.Col, j), append(a.Val, -v)
			} else if int(j) == i && v < d {
				d -= v
			}
		}
		a.Col, a.Val = append(a.Col, int32(i)), append(a.Val, d)
		a.Ptr[i+1] = int64(len(a.Col))
	}
	m, err := newIncomplete(a)
	if err != nil {
		return nil, err
	}
	for i, f := range s.outer {
		m.outer[i] *= f
	}
	return m, nil
}

// spread estimates the smallest eigenvalue of D⁻¹(D − W) behind the null vectors
// as 8/h², a little less than that of a path, where h is the number of steps from
// one rim of the graph to another, found by two breadth-first searches. It knows
// nothing of weights.
func (s *system) spread() float64 {
	n := s.w.Rows
	seen := make([]int32, n)
	var queue []int32
	// search returns the last vertex reached, and in how many steps.
	search := func(root, mark int32) (last int32, steps int) {
		queue = append(queue[:0], root)
		seen[root] = mark
		for head, level := 0, 1; head < len(queue); {
			for level = len(queue); head < level; head++ {
				last = queue[head]
				col, _ := s.w.Row(int(last))
				for _, j := range col {
					if seen[j] != mark {
						seen[j] = mark
						queue = append(queue, j)
					}
				}
			}
			steps++
		}
		return last, steps
	}
	steps := 1
	for root := range n {
		if seen[root] != 0 || s.w.Ptr[root] == s.w.Ptr[root+1] {
			continue
		}
		rim, _ := search(int32(root), 1)
		_, h := search(rim, 2)
		steps = max(steps, h)
	}
	return min(1, 8/float64(steps*steps))
}
