package pool

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Labels as certain as the other points are not harder, whatever the draw; labels among the least certain points are,
// unless there are few of a class. Many labels that are less certain by next to nothing are not.
func TestHarder(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	for _, c := range []struct {
		labels, classes int
		shift           float64 // of the doubt of the labels
		want            bool
	}{{100, 2, 0, false}, {100, 2, 0.2, true}, {30, 2, 0.3, true}, {9, 2, 0.4, false}, {30, 10, 0.3, false}, {3000, 2, 0.03, false}} {
		for range 20 {
			row := func(shift float64) []float64 {
				out := make([]float64, c.classes)
				out[1] = 0.5 + (0.5-shift)*rng.Float64()
				out[0] = 1 - out[1]
				return out
			}
			n := max(2000, 20*c.labels)
			points := mat.NewDense(n, c.classes, nil)
			var labeled []int
			for i := range n {
				points.SetRow(i, row(0))
				if i < c.labels {
					labeled = append(labeled, 20*i)
				}
			}
			held := mat.NewDense(c.labels, c.classes, nil)
			for i := range c.labels {
				held.SetRow(i, row(c.shift))
			}
			if got := harder(held, points, labeled); got != c.want {
				t.Errorf("%d labels of %d classes, their doubt more by %v: harder is %t", c.labels, c.classes, c.shift, got)
			}
		}
	}
}
