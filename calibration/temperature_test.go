package calibration

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestTemperatureScales: the slope of the loss changes its sign at the temperature, whatever the scale and the
// noise of the scores.
func TestTemperatureScales(t *testing.T) {
	for _, scale := range []float64{1e-6, 1e-2, 1, 50, 1e5} {
		for _, noise := range []float64{0.01, 0.5, 2, 8} {
			t.Run(fmt.Sprintf("scale %g, noise %g", scale, noise), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(1, 2))
				var s sample
				for range 300 {
					a := Answer{Scores: make([]float64, 4), Class: rng.IntN(4)}
					for c := range a.Scores {
						a.Scores[c] = scale * noise * rng.NormFloat64()
					}
					a.Scores[a.Class] += scale
					s = append(s, a)
				}

				got := temperature(s)
				_, below := s.lossAndSlope(got * (1 - 1e-10))
				_, above := s.lossAndSlope(got * (1 + 1e-10))
				if !(got > 0 && below <= 0 && above >= 0) {
					t.Errorf("T = %g: the slope is %g below and %g above", got, below, above)
				}
			})
		}
	}
}
