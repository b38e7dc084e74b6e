package kernel

import (
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/sparse"
)

// DiagonalTo sets dst[j] = k(z_j, z_j).
func (s *Side) DiagonalTo(dst []float64) {
	for j := range dst {
		if s.kernel.Kind.HasWidth() {
			dst[j] = 1
			continue
		}
		dst[j] = s.sq[j]
		s.finish(dst[j:j+1], s.sq[j], s.z, j, j)
	}
}

// finish turns inner products into values of the kernel. t holds the inner products of point i of
// x, which has the squared norm sq, with the points of s from number first on.
func (s *Side) finish(t []float64, sq float64, x data.Points, i, first int) {
	k := &s.kernel
	norms := s.sq[first:][:len(t)]

	// An inner product is the value of the linear kernel.
	switch k.Kind {
	case Polynomial:
		for j, v := range t {
			// Powers by squaring have the same bits everywhere.
			t[j] = power(k.Scale*v+k.Offset, k.Degree)
		}
	case Cosine:
		for j, v := range t {
			switch n := math.Sqrt(sq) * math.Sqrt(norms[j]); {
			case n > 0:
				t[j] = max(-1, min(1, v/n))
			default:
				t[j] = 0
			}
		}
	case Gaussian:
		c := -1 / (2 * k.Sigma * k.Sigma)
		for j, v := range t {
			sum := sq + norms[j]
			d2 := max(0, sum-2*v)
			if s.limit.square(sum, d2) {
				d2 = s.exact(x, i, first+j)
			}
			t[j] = c * d2
		}
		negExp(t)
	case Laplace:
		c := -1 / k.Sigma
		for j, v := range t {
			sum := sq + norms[j]
			d := math.Sqrt(max(0, sum-2*v))
			if s.limit.root(sum, d) {
				d = math.Sqrt(s.exact(x, i, first+j))
			}
			t[j] = c * d
		}
		negExp(t)
	}
}

// power returns v^p for p ≥ 1 by repeated squaring.
func power(v float64, p int) float64 {
	out := 1.0
	for ; p > 0; p /= 2 {
		if p%2 == 1 {
			out *= v
		}
		v *= v
	}
	return out
}

// exactnessRule decides which distances are measured again. ‖x−z‖², computed as ‖x‖² + ‖z‖² − 2xᵀz,
// has an error of about 2⁻⁵⁰·(‖x‖² + ‖z‖²). The error must not change the exponent by more than
// 1e-13, unless the value underflows anyway: exp(−710) is below the smallest normal number.
type exactnessRule struct{ sum, reach float64 }

// newExactnessRule returns the rule for the width of k.
func newExactnessRule(k *Kernel) exactnessRule {
	const allowed, rounding, underflow = 1e-13, 0x1p-50, 710
	if k.Kind == Laplace {
		return exactnessRule{2 * allowed * k.Sigma / rounding, underflow * k.Sigma}
	}
	return exactnessRule{2 * allowed * k.Sigma * k.Sigma / rounding, 2 * underflow * k.Sigma * k.Sigma}
}

// square reports whether a distance is measured again for an exponent proportional to d2 = ‖x−z‖².
// sum is ‖x‖² + ‖z‖².
func (r *exactnessRule) square(sum, d2 float64) bool { return sum > r.sum && d2 < r.reach }

// root reports whether a distance is measured again for an exponent proportional to d = ‖x−z‖.
func (r *exactnessRule) root(sum, d float64) bool { return sum > r.sum*d && d < r.reach }

// pair is memory for two points.
type pair struct{ a, b []float64 }

// exact returns ‖x_i − z_j‖² from the points as given, neither centred nor multiplied out.
func (s *Side) exact(x data.Points, i, j int) float64 {
	if a, ok := x.(*sparse.CSR); ok {
		if b, ok := s.z.(*sparse.CSR); ok {
			return sparse.SquaredDistance(a, i, 1, b, j, 1)
		}
	}
	p, ok := s.pairs.Get().(*pair)
	if !ok {
		p = &pair{make([]float64, s.d), make([]float64, s.d)}
	}
	defer s.pairs.Put(p)
	data.RowTo(p.a, x, i)
	data.RowTo(p.b, s.z, j)
	return squaredDistance(p.a, p.b)
}

// squaredDistance returns ‖a − b‖².
func squaredDistance(a, b []float64) float64 {
	var sum float64
	for j, v := range a {
		e := v - b[j]
		sum += e * e
	}
	return sum
}
