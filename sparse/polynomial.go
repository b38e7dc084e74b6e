package sparse

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
)

// Polynomial is Σ_p c_p Lᵖ for a Laplacian L, an [Operator] that is never formed: a sum of powers, with
// c₀ for the identity. It is immutable and safe for concurrent use.
type Polynomial struct {
	l *Laplacian
	c []float64
}

// NewPolynomial returns Σ_p c_p Lᵖ. The power and the shift of l do not matter. Coefficients must be finite
// and not negative, so that the operator is positive semidefinite, and one of them positive. The
// random-walk Laplacian, which is not symmetric, is an error. c is copied.
func NewPolynomial(l *Laplacian, c []float64) (*Polynomial, error) {
	if l.Kind() == RandomWalk {
		return nil, errors.New("sparse: a polynomial of the random-walk Laplacian, which is not symmetric; take " +
			"the normalized one, which has the same eigenvalues")
	}
	if err := CheckCoefficients(c); err != nil {
		return nil, err
	}
	// Powers without a weight at the end would cost passes over the graph.
	last := len(c)
	for c[last-1] == 0 {
		last--
	}
	return &Polynomial{l.With(1, 0), slices.Clone(c[:last])}, nil
}

// CheckCoefficients returns an error unless c are the coefficients of a [Polynomial].
func CheckCoefficients(c []float64) error {
	for p, v := range c {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("sparse: the coefficient of the power %d is %v; it must be finite and at least 0", p, v)
		}
	}
	if !slices.ContainsFunc(c, func(v float64) bool { return v > 0 }) {
		return errors.New("sparse: no power of the Laplacian has a positive coefficient")
	}
	return nil
}

// Dim returns the number of vertices.
func (f *Polynomial) Dim() int { return f.l.Dim() }

// Degree returns the highest power, which is the number of passes over the graph that a product takes.
func (f *Polynomial) Degree() int { return len(f.c) - 1 }

// MulTo sets dst = Σ_p c_p Lᵖ·x for n×b blocks that must not overlap, by Horner's rule. It holds an n×b
// block of scratch, two for powers above 1, and costs Degree passes over the graph.
func (f *Polynomial) MulTo(dst, x *mat.Dense) {
	n, b := x.Dims()
	top := len(f.c) - 1
	from := dense.New(n, b)
	from.Scale(f.c[top], x)
	var to *mat.Dense
	for p := top - 1; p >= 0; p-- {
		if p == 0 {
			to = dst
		} else if to == nil {
			to = dense.New(n, b)
		}
		f.l.RecurTo(to, 1, from, 0, f.c[p], x)
		from, to = to, from
	}
	if top == 0 {
		dst.Copy(from)
	}
}
