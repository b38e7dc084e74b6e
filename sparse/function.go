package sparse

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// Function is r(L) = Σ r(λ_i)v_i v_iᵀ for a Laplacian L with eigenpairs (λ_i, v_i),
// an [Operator] that is never formed: a Chebyshev series on the interval that
// holds the spectrum. It is immutable and safe for concurrent use.
type Function struct {
	l    *Laplacian
	half float64   // half the interval [0, 2·half]
	c    []float64 // of T_j(λ/half − 1)
}

// Limits of a [Function]: a smooth r takes some tens of terms, and an r that takes 4096 has a step
// or a kink.
const (
	functionDegree   = 4096
	functionAccuracy = 1e-12
)

// NewFunction returns r(L) for a smooth r on [0, l.UpperBound()]: exp(tλ) − 1 and 1 − exp(−tλ) of
// the heat equation, λ/(1 + tλ), any polynomial. The power and the shift of l do not matter. The
// series ends where coefficients have fallen to 1e-12 of the largest |r|, so values of r far below
// the largest are lost; for exp(−tλ) and exp(tλ) themselves take [NewHeat]. It is an error if r takes
// more than 4096 terms, as with a step, or is not finite, or if l is the random-walk Laplacian,
// which is not symmetric.
func NewFunction(l *Laplacian, r func(lambda float64) float64) (*Function, error) {
	if l.Kind() == RandomWalk {
		return nil, errors.New("sparse: a function of the random-walk Laplacian, which is not " +
			"symmetric; take the normalized one, which has the same eigenvalues")
	}
	l = l.With(1, 0)
	f := &Function{l: l, half: l.UpperBound() / 2}
	if f.half == 0 {
		f.half = 1 // a graph without edges: L = 0
	}
	for terms := 32; terms <= functionDegree; terms *= 2 {
		// Values at the Chebyshev points give the coefficients.
		values := make([]float64, terms)
		top := 0.0
		for k := range values {
			lambda := f.half * (1 + math.Cos(math.Pi*(float64(k)+0.5)/float64(terms)))
			if values[k] = r(lambda); math.IsNaN(values[k]) || math.IsInf(values[k], 0) {
				return nil, fmt.Errorf("sparse: the function of the Laplacian is %v at λ = %g; it "+
					"must be finite up to %g", values[k], lambda, 2*f.half)
			}
			top = math.Max(top, math.Abs(values[k]))
		}

		// The discrete cosine transform of the values. The series is resolved when the second half
		// of its coefficients is negligible.
		c := make([]float64, terms)
		last := 0
		for j := range c {
			for k, v := range values {
				c[j] += v * math.Cos(math.Pi*float64(j)*(float64(k)+0.5)/float64(terms)) * 2 / float64(terms)
			}
			if math.Abs(c[j]) > functionAccuracy*top {
				last = j
			}
		}

		c[0] /= 2
		if last < terms/2 {
			f.c = c[:last+1]
			return f, nil
		}
	}

	return nil, fmt.Errorf("sparse: a polynomial of degree %d does not reach the function of the "+
		"Laplacian; take a smoother one", functionDegree/2)
}

// Dim returns the number of vertices.
func (f *Function) Dim() int { return f.l.Dim() }

// Degree returns the degree of the polynomial: the products with L that one with
// f takes.
func (f *Function) Degree() int { return len(f.c) - 1 }

// MulTo sets dst = r(L)·x for n×b blocks that must not overlap. It holds three
// n×b blocks of scratch and costs Degree passes over the graph.
func (f *Function) MulTo(dst, x *mat.Dense) {
	n, b := x.Dims()
	prev := mat.DenseCopyOf(x)
	cur := dense.New(n, b)
	next := dense.New(n, b)
	f.add(dst, 0, f.c[0], prev)
	if len(f.c) == 1 {
		return
	}

	// T_1 = (L/h − 1)x, T_{j+1} = 2(L/h − 1)T_j − T_{j−1}.
	f.l.RecurTo(cur, 1/f.half, prev, -1, 0, nil)
	f.add(dst, 1, f.c[1], cur)
	for _, c := range f.c[2:] {
		f.l.RecurTo(next, 2/f.half, cur, -2, -1, prev)
		f.add(dst, 1, c, next)
		prev, cur, next = cur, next, prev
	}
}

// add sets dst = keep·dst + c·t. A zero keep ignores the contents of dst.
func (f *Function) add(dst *mat.Dense, keep, c float64, t *mat.Dense) {
	n, _ := t.Dims()
	par.For(n, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d := dst.RawRowView(i)
			for j, v := range t.RawRowView(i) {
				if keep == 0 {
					d[j] = c * v
				} else {
					d[j] += c * v
				}
			}
		}
	})
}
