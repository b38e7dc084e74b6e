package lanczos

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// mildExponent bounds the binary exponent of ‖L‖ up to which no square of a norm
// overflows, nor underflows where it matters.
const mildExponent = 200

// rescale returns l, or where its weights are so large or so small that norms of vectors overflow
// or underflow, l with its weights times 2^-e, and e. An eigenvalue of l of power p is 2^{ep} times
// the eigenvalue of the result, in every bit. Eigenvalues beyond float64 are an error.
func rescale(l *sparse.Laplacian) (*sparse.Laplacian, int, error) {
	if l.Kind() != sparse.Combinatorial {
		return l, 0, nil
	}
	var top float64
	for _, d := range l.Degrees() {
		top = max(top, d)
	}
	// The largest degree d satisfies 2^(e−1) ≤ d < 2ᵉ.
	_, e := math.Frexp(top)
	if top == 0 || max(e, -e)*l.Power() <= mildExponent {
		return l, 0, nil
	}

	// d_max ≤ ‖L‖ ≤ 2·d_max. Below the least normal number an eigenvalue has no
	// digits left.
	const most, least = 1022, -1020
	if (e+1)*l.Power() > most || e*l.Power() < least {
		digits := float64(e) * float64(l.Power()) * math.Log10(2)
		i, j, w := heaviest(l.Graph())
		return nil, 0, fmt.Errorf("lanczos: the largest weight, (%d, %d), is %v: eigenvalues of the "+
			"combinatorial Laplacian to the power %d of about 1e%+.0f are beyond float64; divide all "+
			"weights by %.0e, which divides the eigenvalues by its power %d, or take the normalized "+
			"Laplacian, which does not depend on the scale",
			i, j, w, l.Power(), digits, w, l.Power())
	}

	return l.Scaled(-e), e, nil
}

// heaviest returns the place and the value of the largest weight.
func heaviest(w *sparse.CSR) (i, j int, most float64) {
	for r := range w.Rows {
		col, val := w.Row(r)
		for p, v := range val {
			if v > most {
				i = r
				j = int(col[p])
				most = v
			}
		}
	}

	if w.Val == nil {
		most = 1
	}
	return i, j, most
}

// scale multiplies all fields that have the unit of an eigenvalue by 2ᵉ.
func (r *Result) scale(e int) {
	if e == 0 {
		return
	}
	for _, x := range [][]float64{r.Values, r.Residuals} {
		for j, v := range x {
			x[j] = math.Ldexp(v, e)
		}
	}
	r.Norm = math.Ldexp(r.Norm, e)
	r.Certificate.Next = math.Ldexp(r.Certificate.Next, e)
}

// clampNegative puts 0 in the place of values below it. A Laplacian has no negative eigenvalue, so
// 0 is nearer to the true value than a Rayleigh quotient that is negative by rounding. A Rayleigh
// quotient λ makes its residual r orthogonal to the vector, so the residual of 0 is √(‖r‖² + λ²).
func (r *Result) clampNegative() {
	for j, v := range r.Values {
		if v <= 0 { // −0 too
			r.Values[j] = 0
			r.Residuals[j] = math.Hypot(r.Residuals[j], v)
		}
	}
	if r.Certificate.Next < 0 && !math.IsInf(r.Certificate.Next, 0) {
		r.Certificate.Next = 0
	}
}

// roundingOrder bounds, relative to the largest value, the amount by which a value
// may fall below the one before it by rounding.
const roundingOrder = 1e-14

// straighten checks that finite values ascend (or descend, if largest). A fall of
// at most [roundingOrder]·max|λ|, as files of other programs and of earlier builds
// have it among multiple eigenvalues, is made up for by the value before it. It
// returns the place of the first value that is out of order, or −1.
func straighten(values []float64, largest bool) int {
	sign := 1.0
	if largest {
		sign = -1
	}
	var top float64
	for _, v := range values {
		top = math.Max(top, math.Abs(v))
	}
	for j := 1; j < len(values); j++ {
		fall := sign * (values[j-1] - values[j])
		if !(fall <= roundingOrder*top) {
			return j
		}
		if fall > 0 {
			values[j] = values[j-1]
		}
	}

	return -1
}

// checkFinite returns an error that names an element of x that is NaN or Inf.
func checkFinite(name string, x []float64) error {
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("element %d of %s is %v", i, name, v)
		}
	}
	return nil
}

// LongestEntry bounds the entries of eigenvectors that can be worked with: their
// squares are summed.
const LongestEntry = 1e100

// CheckVectors returns an error that names an entry of v beyond [LongestEntry].
func CheckVectors(v *mat.Dense) error {
	n, _ := v.Dims()
	for i := range n {
		for j, x := range v.RawRowView(i) {
			if math.Abs(x) > LongestEntry {
				return fmt.Errorf("row %d, column %d of vectors is %v; eigenvectors are of length 1, "+
					"or at least not beyond %g", i, j, x, float64(LongestEntry))
			}
		}
	}
	return nil
}
