package propagation

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// heatTolerance bounds the error of a polynomial, relative to its largest value.
const heatTolerance = 1e-4

// heat takes explicit steps u ← u − Δt (Lu − b) of the heat equation with sources, m at a time:
//
//	u ← (I − ΔtL)ᵐ u + Δt Σ_{j<m} (I − ΔtL)ʲ b
//
// Both polynomials of L are sums of Chebyshev polynomials on [0, λ], with λ a bound of the
// eigenvalues. Some √m terms are enough in place of m (Sachdeva & Vishnoi 2014, section 3).
type heat struct {
	l      *sparse.Laplacian
	top    float64 // λ
	decay  []float64
	supply []float64
	a, b   *mat.Dense // scratch: wide blocks, see [sparse.Wide]
	c      int        // columns of them that count
}

// newHeat prepares m steps of length 1/max d for blocks of c columns.
func newHeat(l *sparse.Laplacian, m, c int) *heat {
	longest := 0.0
	for _, d := range l.Degrees() {
		longest = max(longest, d)
	}
	h := &heat{l: l, top: l.UpperBound(), c: c}
	h.a, _ = sparse.Wide(l.Dim(), c)
	h.b, _ = sparse.Wide(l.Dim(), c)
	if longest == 0 {
		h.top = 1 // no edges: L is zero
		longest = 1
	}

	dt := 1 / longest
	power := float64(m)
	h.decay = chebyshev(h.top, m, func(x float64) float64 { return math.Pow(1-dt*x, power) })
	h.supply = chebyshev(h.top, m, func(x float64) float64 {
		if dt*x < 1e-9 {
			return power * dt
		}
		return (1 - math.Pow(1-dt*x, power)) / x
	})
	return h
}

// chebyshev returns the coefficients of f on [0, top] as a sum of Chebyshev polynomials of degree
// up to degree, without a tail that is small. The first coefficient is halved already.
func chebyshev(top float64, degree int, f func(x float64) float64) []float64 {
	// Interpolation at the roots of the polynomial of degree `points` is exact for f of the degree.
	points := degree + 1
	values := make([]float64, points)
	largest := 0.0
	for j := range values {
		values[j] = f(top / 2 * (1 + math.Cos(math.Pi*(float64(j)+0.5)/float64(points))))
		largest = max(largest, math.Abs(values[j]))
	}

	out := make([]float64, points)
	for k := range out {
		for j, v := range values {
			out[k] += v * math.Cos(math.Pi*float64(k)*(float64(j)+0.5)/float64(points))
		}
		out[k] *= 2 / float64(points)
	}
	out[0] /= 2

	// Polynomials are at most one, so the sum of what is left out bounds the error.
	var tail float64
	for len(out) > 2 {
		tail += math.Abs(out[len(out)-1])
		if tail > heatTolerance*largest {
			break
		}
		out = out[:len(out)-1]
	}
	return out
}

// apply returns Σ_k c_k T_k(2L/λ − I) x by Clenshaw's recurrence, for x that add adds times a
// factor to a wide block. The result is scratch of h: the next call overwrites it. Every term costs
// one pass over the graph.
func (h *heat) apply(coefficients []float64, add func(to *mat.Dense, factor float64)) *mat.Dense {
	next := h.a
	prior := h.b
	next.Zero()
	prior.Zero()
	add(next, coefficients[len(coefficients)-1])

	// b_k = c_k x + 2t(L) b_{k+1} − b_{k+2}; the last step has t(L) in place of 2t(L).
	for k := len(coefficients) - 2; k >= 0; k-- {
		times := 2.0
		if k == 0 {
			times = 1
		}
		h.l.RecurTo(prior, times*2/h.top, next, -times, -1, prior)
		add(prior, coefficients[k])
		next, prior = prior, next
	}
	return next
}

// sources returns what m steps make of the sources b alone, a new wide block.
func (h *heat) sources(b *mat.Dense) *mat.Dense {
	return mat.DenseCopyOf(h.apply(h.supply, func(to *mat.Dense, factor float64) {
		for i := range h.l.Dim() {
			row := to.RawRowView(i)
			for k, v := range b.RawRowView(i) {
				row[k] += factor * v
			}
		}
	}))
}

// step returns m steps from the unit vectors of the labels, with sources that [heat.sources]
// made. Points that do not count stay zero. The block is scratch of h.
func (h *heat) step(labels []int32, live []bool, sources *mat.Dense) *mat.Dense {
	columns := h.a.RawMatrix().Cols
	u := h.apply(h.decay, func(to *mat.Dense, factor float64) {
		t := to.RawMatrix().Data
		for i, c := range labels {
			if live == nil || live[i] {
				t[i*columns+int(c)] += factor
			}
		}
	})
	t, from := u.RawMatrix().Data, sources.RawMatrix().Data
	for i, v := range from {
		t[i] += v
	}
	return u.Slice(0, h.l.Dim(), 0, h.c).(*mat.Dense)
}
