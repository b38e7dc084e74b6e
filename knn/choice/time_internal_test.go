package choice

import (
	"math"
	"testing"
)

// Times of b·n·(n + c) give that of any n, and those that noise made impossible
// one in proportion to a possible one.
func TestAllPairs(t *testing.T) {
	for _, c := range []float64{2_000, 10_000, 60_000} {
		at := func(n float64) float64 { return 3e-9 * n * (n + c) }
		for _, n := range []float64{8192, 50_000, 1e6} {
			if got := allPairs(n, at(2048), at(8192), 8192); !(math.Abs(got/at(n)-1) <= 1e-9) {
				t.Errorf("c = %v, n = %v: %v, want %v", c, n, got, at(n))
			}
		}
	}
	for _, quarter := range []float64{0, 0.001, 0.25, 1, 100} {
		if got := allPairs(1e6, quarter, 1, 8192); !(got > 1000 && got < 16_000) {
			t.Errorf("of 1 s after %v s: %v", quarter, got)
		}
	}
}
