package sparse

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Heat is the heat semigroup e^{−tL} of a Laplacian L, an [Operator] that is never formed. It is
// immutable and safe for concurrent use.
//
// A product applies e^{−tL/6} six times. Each factor is a Chebyshev series without error but for
// rounding. Rounding of one factor falls into all eigenvectors; the next factors damp it where
// e^{−tλ} is small. So a part of x that the semigroup removes leaves little noise behind, less than
// one series for e^{−tL} leaves.
type Heat struct{ step *Function }

const (
	heatSteps = 6
	// heatTerms bounds the degree of the series of one factor: |t|·λ may be up to some 10⁸.
	heatTerms = 1 << 16
	// heatAccuracy is the size of coefficients that are left out, relative to the largest value of
	// a factor.
	heatAccuracy = 1e-18
)

// NewHeat returns e^{−tL}; for t < 0 that is e^{|t|L}, whose values lie between 1 and
// e^{|t|·UpperBound}. The power and the shift of l do not matter. With z = |t|·UpperBound/12 the
// Chebyshev coefficients of a factor are 2(∓1)ʲe^{−z}I_j(z), with modified Bessel functions I_j by
// Miller's algorithm: the recurrence, run downwards, and a sum that gives the scale. Their number
// grows as 9√z. It is an error if l is the random-walk Laplacian, if more than 65536 terms are
// needed, or if values are not finite.
func NewHeat(l *Laplacian, t float64) (*Heat, error) {
	if l.Kind() == RandomWalk {
		return nil, errors.New("sparse: the heat semigroup of the random-walk Laplacian, which is not " +
			"symmetric; take the normalized one, which has the same eigenvalues")
	}
	l = l.With(1, 0)
	f := &Function{l: l, half: l.UpperBound() / 2}
	if f.half == 0 {
		f.half = 1 // a graph without edges: L = 0
	}

	z := math.Abs(t) * f.half / heatSteps
	scale := 1.0
	if t < 0 {
		scale = math.Exp(2 * z)
	}
	// e^{−z}I_j(z) falls as e^{−j²/2z} up to j = z, and faster beyond.
	terms := 40 + 11*math.Sqrt(z)
	if !(terms <= heatTerms) || math.IsInf(math.Pow(scale, heatSteps), 0) {
		return nil, fmt.Errorf("sparse: e^{−tL} for t = %g and eigenvalues up to %g is out of reach", t,
			2*f.half)
	}

	f.c = besselSeries(z, int(terms))
	for j := range f.c {
		f.c[j] *= scale
		if t > 0 && j%2 == 1 {
			f.c[j] = -f.c[j]
		}
	}
	return &Heat{f}, nil
}

// besselSeries returns e^{−z}I₀(z) and then 2e^{−z}I_j(z), up to the last one that matters, of the
// given number of terms.
func besselSeries(z float64, terms int) []float64 {
	if z == 0 {
		return []float64{1}
	}
	// I_{j−1} = I_{j+1} + (2j/z)I_j is stable downwards. Numbers that grow too large are scaled down
	// together.
	const large, shrink = 1e250, 1e-250
	c := make([]float64, terms)
	above := 0.0
	at := 1e-300
	for j := terms - 1; j >= 0; j-- {
		c[j] = at
		above, at = at, above+2*float64(j)/z*at
		if at > large {
			for k := j; k < terms; k++ {
				c[k] *= shrink
			}
			above *= shrink
			at *= shrink
		}
	}

	// I₀ + 2ΣI_j = e^z gives the scale.
	sum := c[0]
	for j := 1; j < terms; j++ {
		c[j] *= 2
		sum += c[j]
	}
	last := 0
	for j := range c {
		c[j] /= sum
		if c[j] > heatAccuracy {
			last = j
		}
	}
	return c[:last+1]
}

// Dim returns the number of vertices.
func (h *Heat) Dim() int { return h.step.Dim() }

// Degree returns how many products with L one product takes.
func (h *Heat) Degree() int { return heatSteps * h.step.Degree() }

// MulTo sets dst = e^{−tL}·x for n×b blocks that must not overlap. It holds four n×b blocks of
// scratch and costs Degree passes over the graph.
func (h *Heat) MulTo(dst, x *mat.Dense) {
	from := mat.DenseCopyOf(x)
	for range heatSteps - 1 {
		h.step.MulTo(dst, from)
		from.Copy(dst)
	}
	h.step.MulTo(dst, from)
}
