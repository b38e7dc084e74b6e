package pool

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Labels as certain as the other points are not harder, whatever the draw; labels among the least certain points are.
func TestHarder(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	for _, c := range []struct {
		labels int
		shift  float64 // of the doubt of the labels
		want   bool
	}{{100, 0, false}, {100, 0.2, true}, {30, 0.3, true}, {9, 0.4, false}} {
		for range 20 {
			row := func(shift float64) []float64 {
				p := 0.5 + (0.5-shift)*rng.Float64()
				return []float64{1 - p, p}
			}
			points := mat.NewDense(2000, 2, nil)
			var labeled []int
			for i := range 2000 {
				points.SetRow(i, row(0))
				if i < c.labels {
					labeled = append(labeled, 20*i)
				}
			}
			held := mat.NewDense(c.labels, 2, nil)
			for i := range c.labels {
				held.SetRow(i, row(c.shift))
			}
			if got := harder(held, points, labeled); got != c.want {
				t.Errorf("%d labels, their doubt more by %v: harder is %t", c.labels, c.shift, got)
			}
		}
	}
}
