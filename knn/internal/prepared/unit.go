package prepared

import (
	"math"

	"github.com/bigfit/bigfit/sparse"
)

// ToUnit divides x by its norm, unless the norm is zero.
func ToUnit(x []float64) {
	s := SquaredNorm(x)

	// Where squares overflow or vanish, x is multiplied by a power of two first.
	if !(s > 1e-280 && s < 1e300) {
		var largest float64
		for _, v := range x {
			largest = max(largest, math.Abs(v))
		}
		if largest == 0 {
			return
		}
		_, exp := math.Frexp(largest)
		for j, v := range x {
			x[j] = math.Ldexp(v, -exp)
		}
		s = SquaredNorm(x)
	}

	s = math.Sqrt(s)
	for j := range x {
		x[j] /= s
	}
}

// SquaredNorm returns Σ x².
func SquaredNorm(x []float64) float64 {
	var s float64
	for _, v := range x {
		s += v * v
	}
	return s
}

// Wide reports whether memory for each column would exceed the worth of x: it has more than 2²⁰
// columns, and more than 16 for each entry.
func Wide(x *sparse.CSR) bool { return x.Cols > 1<<20 && x.Cols/16 > x.NNZ() }
