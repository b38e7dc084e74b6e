package lanczos

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// filter is the polynomial T_degree((lo + hi − 2λ)/(hi − lo)), with T the Chebyshev polynomial:
// between −1 and 1 on [lo, hi], and growing without bound and monotonically as λ falls below lo.
// With degree 0 it is the inverse (hi + σ)/(λ + σ), at least 1 on the whole spectrum, which inverse
// applies.
type filter struct {
	degree  int
	lo, hi  float64
	sigma   float64
	inverse *inverter
}

// inverts reports whether the filter is an inverse.
func (f filter) inverts() bool { return f.degree == 0 }

// valid reports whether the numbers of a stored filter make a filter.
func (f filter) valid() bool {
	return f.hi > f.lo && (f.degree > 0 || f.inverts() && f.sigma > 0 && f.hi < math.Inf(1))
}

// selects reports whether the filter is at most 1 in magnitude beyond lo.
func (f filter) selects() bool { return f.degree > 1 }

// newFilter chooses the degree so that the polynomial at low, the smallest
// eigenvalue, is about e^growth/2.
func newFilter(low, cut, high, growth float64) filter {
	f := filter{lo: cut, hi: high}
	// T_d(x) = cosh(d·acosh x) ≈ e^(d·acosh x)/2 for x > 1.
	span := math.Acosh(math.Max(1, f.map1(low)))
	f.degree = 1
	if span > 0 {
		f.degree = min(max(1, int(math.Round(growth/span))), maxDegree)
	}
	return f
}

const maxDegree = 600

// linearFilter is the polynomial of degree 1 that exceeds 1 on all of
// [low, high]: with it the process is plain Lanczos.
func linearFilter(low, high float64) filter {
	span := high - low
	return filter{degree: 1, lo: high + span/4, hi: high + 5*span/4}
}

// map1 maps [lo, hi] to [1, −1].
func (f filter) map1(lambda float64) float64 {
	return (f.lo + f.hi - 2*lambda) / (f.hi - f.lo)
}

// value returns the filter at lambda, for a polynomial of a higher degree at lambda ≤ lo.
func (f filter) value(lambda float64) float64 {
	if f.inverts() {
		return (f.hi + f.sigma) / (lambda + f.sigma)
	}
	return math.Cosh(float64(f.degree) * math.Acosh(math.Max(1, f.map1(lambda))))
}

// lambda is the inverse of value: θ ≥ 1 gives λ ≤ lo.
func (f filter) lambda(theta float64) float64 {
	switch f.degree {
	case 0:
		return (f.hi+f.sigma)/theta - f.sigma
	case 1:
		return (f.lo + f.hi - theta*(f.hi-f.lo)) / 2
	}
	x := math.Cosh(math.Acosh(math.Max(1, theta)) / float64(f.degree))
	return (f.lo + f.hi - x*(f.hi-f.lo)) / 2
}

// amplification bounds ‖Au − λu‖ by ‖p(A)u − θu‖ times the returned factor, for
// an approximate eigenvector u with θ = p(λ) > 1. A component of u at an
// eigenvalue μ counts |μ−λ| on the left and |p(μ)−θ| on the right; p is convex
// and decreasing up to lo, so the quotient is at most 1/|p'(λ)| for μ < λ and at
// most (hi−λ)/(θ−1) for μ > λ. For a polynomial of degree 1 it is constant; for the
// inverse (μ+σ)/θ.
func (f filter) amplification(lambda, theta float64) float64 {
	switch f.degree {
	case 0:
		return (f.hi + f.sigma) / theta
	case 1:
		return (f.hi - f.lo) / 2
	}

	if theta <= 1 {
		return math.Inf(1)
	}
	x := f.map1(lambda)
	n := float64(f.degree)
	slope := 2 / (f.hi - f.lo) * n * n // |p'| at lo
	if x > 1 {
		slope = 2 / (f.hi - f.lo) * n * math.Sinh(n*math.Acosh(x)) / math.Sqrt(x*x-1)
	}
	return math.Max((f.hi-lambda)/(theta-1), 1/slope)
}

// steps returns the number of steps of a block Krylov process after which a missing direction must
// have appeared: an eigenvector with an eigenvalue of at most last. A random block in n dimensions
// holds about 1/√n of the direction, and every step amplifies it over eigenvectors with somewhat
// larger eigenvalues.
func (f filter) steps(last float64, n int) int {
	// The factor 20 makes up for a random block that holds a twentieth of the expected share: for a
	// normal number that has a probability of four per cent, and a block has several columns.
	share := 20 * math.Sqrt(float64(n))
	amplified := f.value(last)
	switch {
	case f.inverts():
		// By T_s(2q − 1) for the quotient q of the values at last and at lo, or a quarter
		// beyond last.
		q := (math.Max(f.lo, last+last/4) + f.sigma) / (last + f.sigma)
		return max(3, int(math.Ceil(math.Log(2*share)/math.Acosh(2*q-1))))
	case f.selects() && amplified > 1:
		// By T_s(θ) ≈ (2θ)ˢ/2.
		return max(3, int(math.Ceil(math.Log(share)/math.Log(2*amplified))))
	}

	return math.MaxInt
}

// linear returns c and shift of the polynomial shift − cλ, which maps [lo, hi] to [1, −1].
func (f filter) linear() (c, shift float64) { return 2 / (f.hi - f.lo), (f.lo + f.hi) / (f.hi - f.lo) }

// apply overwrites x with p(A)x and uses the blocks t0 and t1 of the same size
// as scratch. It returns the number of products with single vectors. The filter is a
// polynomial.
func (f filter) apply(a sparse.Operator, x, t0, t1 *mat.Dense) int {
	_, b := x.Dims()
	// The three-term recurrence of the Chebyshev polynomials, in three blocks that change places.
	r := recurrer(a)
	c, shift := f.linear()
	// t_{j+1} = 2(shift − cA) t_j − t_{j−1}
	r.RecurTo(t0, -c, x, shift, 0, x)
	prev := x
	cur := t0
	next := t1
	for range f.degree - 1 {
		r.RecurTo(next, -2*c, cur, 2*shift, -1, prev)
		prev, cur, next = cur, next, prev
	}

	if cur != x {
		copyBlock(x, cur)
	}
	return f.degree * b
}

// applySingle is apply in single precision: it returns p(L)x in one of the blocks x and t, and the other one. m is
// shift − cL for the numbers of [filter.linear].
func (f filter) applySingle(m *sparse.Single, x, t []float32, width int) (other, result []float32) {
	clear(t)
	m.HalfStep(t, x, width)
	for range f.degree - 1 {
		m.Step(x, t, width) // x = 2(shift − cL)t − x
		x, t = t, x
	}
	return x, t
}

// recurrer returns a if it can do a recurrence in one pass, and else makes the recurrence of its
// products.
func recurrer(a sparse.Operator) sparse.Recurrer {
	if r, ok := a.(sparse.Recurrer); ok {
		return r
	}
	return byProduct{a}
}

// byProduct computes a recurrence from a product, in a second pass.
type byProduct struct{ sparse.Operator }

// RecurTo sets dst = αAx + βx + γy.
func (a byProduct) RecurTo(dst *mat.Dense, alpha float64, x *mat.Dense, beta, gamma float64, y *mat.Dense) {
	a.MulTo(dst, x)
	n, _ := x.Dims()
	par.For(n, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d := dst.RawRowView(i)
			xr := x.RawRowView(i)
			yr := y.RawRowView(i)
			for j := range d {
				d[j] = alpha*d[j] + beta*xr[j] + gamma*yr[j]
			}
		}
	})
}
