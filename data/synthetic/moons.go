package synthetic

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
)

// TwoMoons draws n points of two interleaving half circles in the plane. With t
// uniform in [0, π] a point is
//
//	class 0:  (cos t, sin t)
//	class 1:  (1 − cos t, ½ − sin t)
//
// plus, in each coordinate, normal noise of the given standard deviation. The
// classes alternate, 0 first, so that each holds half of the points; the labels
// are full and list both classes even for one point.
//
// Point i depends on seed and i alone: a smaller set is a prefix of a larger
// one, and noise moves points without redrawing t. TwoMoons panics if n < 1, or
// if noise is negative, infinite or NaN.
func TwoMoons(n int, noise float64, seed uint64) (*data.Dense[float64], *data.Labels) {
	if n < 1 || !validNoise(noise) {
		panic(fmt.Sprintf("synthetic: TwoMoons of %d points with noise %v", n, noise))
	}
	x := data.NewDense[float64](n, 2)
	y := &data.Labels{Classes: []int64{0, 1}, Index: make([]int32, n)}
	par.For(n, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			rng := pointRand(seed, streamMoons, i)
			row := x.Row(i)
			row[1], row[0] = math.Sincos(math.Pi * rng.Float64())
			if i%2 == 1 {
				row[0] = 1 - row[0]
				row[1] = 0.5 - row[1]
				y.Index[i] = 1
			}
			// Noise is drawn after t, so that it moves points and changes no t.
			row[0] += noise * rng.NormFloat64()
			row[1] += noise * rng.NormFloat64()
		}
	})

	return x, y
}

// validNoise reports whether a standard deviation is finite and not negative.
func validNoise(noise float64) bool { return noise >= 0 && !math.IsInf(noise, 1) }
