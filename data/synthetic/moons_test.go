package synthetic

import (
	"fmt"
	"math"
	"testing"

	"github.com/bigfit/bigfit/data"
)

func TestTwoMoonsDeterministic(t *testing.T) {
	sameAtAnyThreadCount(t, 5000, func(n int, seed uint64) (*data.Dense[float64], *data.Labels) {
		return TwoMoons(n, 0.1, seed)
	})
	mustPanic(t, "n = 0", func() { TwoMoons(0, 0.1, 1) })
	for _, noise := range []float64{-1, math.Inf(1), math.NaN()} {
		mustPanic(t, fmt.Sprint("noise ", noise), func() { TwoMoons(10, noise, 1) })
	}
}

// moonDistance returns the distance of a point from the half circle of its class.
func moonDistance(p []float64, class int32) float64 {
	x, y := p[0], p[1]
	if class == 1 {
		x, y = 1-x, 0.5-y
	}
	if y < 0 {
		return math.Hypot(math.Abs(x)-1, y)
	}
	return math.Abs(math.Hypot(x, y) - 1)
}

func TestTwoMoonsGeometry(t *testing.T) {
	const n, noise = 4001, 0.05
	clean, y := TwoMoons(n, 0, 1)
	noisy, _ := TwoMoons(n, noise, 1)
	var count [2]int
	var moved, mean float64
	for i := range n {
		class := y.Index[i]
		count[class]++
		if d := moonDistance(clean.Row(i), class); !(d <= 1e-12) {
			t.Fatalf("point %d is %g off its half circle", i, d)
		}
		dx, dy := noisy.Row(i)[0]-clean.Row(i)[0], noisy.Row(i)[1]-clean.Row(i)[1]
		moved += dx*dx + dy*dy
		if class == 0 {
			mean += clean.Row(i)[1]
		}
	}
	if count[0] != 2001 || count[1] != 2000 {
		t.Errorf("classes of %v points", count)
	}
	if sd := math.Sqrt(moved / (2 * n)); !(math.Abs(sd-noise) <= 0.05*noise) {
		t.Errorf("noise of standard deviation %g, want %g", sd, noise)
	}
	// The mean of sin t over [0, π] is 2/π.
	if mean /= float64(count[0]); !(math.Abs(mean-2/math.Pi) <= 0.03) {
		t.Errorf("mean height of the upper moon %g, want %g", mean, 2/math.Pi)
	}
}

func ExampleTwoMoons() {
	x, y := TwoMoons(4, 0, 1)
	for i := range 4 {
		fmt.Printf("class %d, %.3f from its half circle\n", y.Classes[y.Index[i]], moonDistance(x.Row(i), y.Index[i]))
	}
	// Output:
	// class 0, 0.000 from its half circle
	// class 1, 0.000 from its half circle
	// class 0, 0.000 from its half circle
	// class 1, 0.000 from its half circle
}
