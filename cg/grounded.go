package cg

import (
	"math"

	"github.com/bigfit/bigfit/sparse"
)

// Grounded makes a preconditioner for L + diag(g), g ≥ 0. With pinned, rows and columns of the
// pinned vertices are replaced by rows and columns of the identity, as harmonic functions need it.
// The shift and the power of l do not count. pinned may be nil.
//
// It is [Cholesky] where the condition of D⁻¹L behind the null vectors is estimated to be large,
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
	if !(2/math.Max(low, relative) > largeCondition) {
		return Jacobi, s.jacobi()
	}
	if m := newExact(s, false); m != nil {
		return Cholesky, m
	}
	return ApproximateCholesky, newApproximate(s, seed)
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

// quotient returns the Rayleigh quotient of D⁻¹(D − W) for cos(π(level + ½)/levels) less its mean,
// on the vertices that a search has put into queue, level after level; ends says where the levels
// end. The quotient counts weights, and is not below the smallest nonzero eigenvalue of the
// component.
func (b *breadthFirst) quotient(ends []int, value []float64) float64 {
	levels := float64(len(ends))
	at := 0
	mass := 0.0
	sum := 0.0
	for level, end := range ends {
		f := math.Cos(math.Pi * (float64(level) + 0.5) / levels)
		for ; at < end; at++ {
			i := b.queue[at]
			value[i] = f
			_, val := b.w.Row(int(i))
			d := float64(b.w.Ptr[i+1] - b.w.Ptr[i])
			if val != nil {
				d = 0
				for _, v := range val {
					d += v
				}
			}
			mass += d
			sum += d * f
		}
	}

	// xᵀ(D−W)x = Σ w_ij(x_i − x_j)²/2 over all ordered pairs, and xᵀDx less the mean.
	mean := sum / mass
	energy := 0.0
	square := 0.0
	for _, i := range b.queue {
		col, val := b.w.Row(int(i))
		for p, j := range col {
			v := 1.0
			if val != nil {
				v = val[p]
			}
			step := value[i] - value[j]
			energy += v * step * step / 2
			square += v * (value[i] - mean) * (value[i] - mean)
		}
	}

	if !(square > 0) {
		return 1
	}
	return energy / square
}
