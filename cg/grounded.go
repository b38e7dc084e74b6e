package cg

import (
	"math"

	"github.com/bigfit/bigfit/sparse"
)

// Grounded makes a preconditioner for L + diag(g), g ≥ 0. With pinned, rows and columns of the
// pinned vertices are replaced by rows and columns of the identity, as harmonic functions need it.
// The shift and the power of l do not count. pinned may be nil. With pinned, [Solve] goes by the Schur
// complement of the vertices with many neighbours, as [Laplacian] does.
//
// It is [Cholesky] where the condition of D⁻¹L behind the null vectors is estimated to be large, and
// [ApproximateCholesky] where that would not fit,
// and [Jacobi] elsewhere: labels leave a few small eigenvalues, which cost conjugate gradients a
// few steps only.
func Grounded(l *sparse.Laplacian, g []float64, pinned []bool, seed uint64) (Method, Preconditioner) {
	s := newSystem(l.With(1, 0))
	for i, v := range g {
		s.ground[i] = v * s.outer[i] * s.outer[i]
		s.diagonal[i] = l.Degrees()[i] + s.ground[i]
		if s.diagonal[i] == 0 {
			s.diagonal[i] = 1
		}
	}

	// The smaller of both estimates of the smallest eigenvalue: a preconditioner that is too good
	// costs less than one that is too weak.
	low, bound := s.spread()
	low = math.Min(low, bound)
	if pinned != nil {
		s.pin(pinned)
	}
	relative := 1.0
	for i, v := range s.ground {
		relative = math.Min(relative, v/s.diagonal[i]) // NaN stays
	}
	if !(2/math.Max(low, relative) > largeCondition) && !s.paired() {
		return Jacobi, s.jacobi()
	}
	made := form{copies: mostCopies, seed: seed}
	if pinned != nil {
		if c := newCore(s, s.divide()); c != nil {
			method, rest := made.factor(&c.system, Cholesky, exactMost)
			return method, &reduced{c, rest}
		}
	}
	return made.factor(s, Cholesky, exactMost)
}

// pin isolates the pinned vertices; edges to them become edges to the ground.
func (s *system) pin(pinned []bool) {
	w := &sparse.CSR{Rows: s.w.Rows, Cols: s.w.Cols, Ptr: make([]int64, 1, s.w.Rows+1)}
	for i := range s.w.Rows {
		if pinned[i] {
			s.ground[i] = 1
			s.diagonal[i] = 1
			s.outer[i] = 1
			w.Ptr = append(w.Ptr, int64(len(w.Col)))
			continue
		}

		col, val := s.w.Row(i)
		for p, j := range col {
			v := 1.0
			if val != nil {
				v = val[p]
			}
			// An edge to a pinned vertex keeps its weight on the diagonal.
			if pinned[j] {
				s.ground[i] += v
				continue
			}
			w.Col = append(w.Col, j)
			if val != nil {
				w.Val = append(w.Val, v)
			}
		}

		w.Ptr = append(w.Ptr, int64(len(w.Col)))
	}

	s.w = w
}
