package synthetic

import (
	"math"
	"slices"
	"testing"
)

func TestClimate(t *testing.T) {
	const rows, columns = 12, 20
	x, july := Climate(rows, columns, 7, 0, 1)
	_, january := Climate(rows, columns, 1, 0, 1)
	_, noisy := Climate(rows, columns, 7, 0.5, 1)
	if _, again := Climate(rows, columns, 7, 0.5, 1); !slices.Equal(noisy, again) {
		t.Error("the same seed gives other values")
	}
	if _, other := Climate(rows, columns, 7, 0.5, 2); slices.Equal(noisy, other) {
		t.Error("the seed does not matter")
	}
	var square float64
	for i, v := range july {
		p := x.Row(i)
		if size := math.Hypot(math.Hypot(p[0], p[1]), p[2]); !(math.Abs(size-1) < 1e-12) {
			t.Fatalf("point %d is %v from the centre", i, size)
		}
		// Between July and January only the seasonal term changes its sign.
		if d := v - january[i] - 28*p[2]; !(math.Abs(d) < 1e-12) {
			t.Fatalf("point %d: the seasons are off by %v", i, d)
		}
		square += (noisy[i] - v) * (noisy[i] - v) / float64(len(july))
	}
	if !(square > 0.15 && square < 0.35) {
		t.Errorf("noise of variance %v, want 0.25", square)
	}
}
