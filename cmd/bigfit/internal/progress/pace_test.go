package progress

import (
	"math"
	"testing"
	"time"
)

// What is said to be left is within a factor of 3 of what is, whatever the stage does,
// or nothing is said; and of a steady stage something is said nearly always.
func TestTimeLeft(t *testing.T) {
	begun := time.Unix(1000, 0)
	for name, c := range map[string]struct {
		part  func(seconds float64) float64 // done after so many of 100 seconds
		least int                           // estimates of 100
	}{
		"steady":              {func(s float64) float64 { return s / 100 }, 95},
		"steady, in 20 steps": {func(s float64) float64 { return math.Floor(s/5) / 20 }, 85},
		"quick, then stuck":   {func(s float64) float64 { return math.Min(s/10, 0.8) }, 0},
		"stuck from the half": {func(s float64) float64 { return math.Min(s/50, 0.97) }, 0},
		"slow, then quick":    {func(s float64) float64 { return math.Max(s/400, (s-80)/20) }, 0},
		"square":              {func(s float64) float64 { return s * s / 1e4 }, 0},
	} {
		p := pace{begun: begun}
		said := 0
		for s := 1.0; s < 100; s++ {
			now := begun.Add(time.Duration(s * float64(time.Second)))
			p.advance(now, c.part(s))
			left, ok := p.left(now)
			if !ok {
				continue
			}
			said++
			if true := 100 - s; name[:6] == "steady" && (left > 3*true+2 || left < true/3-2) {
				t.Errorf("%s: after %v s %.1f s are said to be left, %v are", name, s, left, true)
			}
			if s > 30 && name == "quick, then stuck" || s > 85 && name == "stuck from the half" {
				t.Errorf("%s: after %v s %.1f s are said to be left", name, s, left)
			}
		}
		if said < c.least {
			t.Errorf("%s: only %d of 99 estimates", name, said)
		}
	}
}
