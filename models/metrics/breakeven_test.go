package metrics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bigfit/bigfit/models/metrics"
)

// reach counts the scores that reach a threshold.
func reach(scores []float64, threshold float64) (count int) {
	for _, v := range scores {
		if v >= threshold {
			count++
		}
	}
	return count
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		scores []float64
		r      int
		want   float64
	}{
		{[]float64{3, 1, 2}, 1, 2.5},
		{[]float64{3, 1, 2}, 3, 1},
		{[]float64{3, 1, 2}, 0, math.Nextafter(3, 4)},
		{[]float64{1, 1, 1, 0}, 1, math.Nextafter(1, 2)}, // none of the three is nearer to 1 than all
		{[]float64{1, 1, 1, 0}, 2, 0.5},
		{[]float64{2, 1, 1, 0}, 2, 0.5}, // one or three: the lower threshold
		{[]float64{1, math.Nextafter(1, 2)}, 1, math.Nextafter(1, 2)},
		{[]float64{-math.MaxFloat64, math.MaxFloat64}, 1, 0},
	} {
		if got := metrics.Cut(c.scores, c.r); got != c.want {
			t.Errorf("%v, %d: %v, want %v", c.scores, c.r, got, c.want)
		}
	}
}

// Of scores that differ the cut at the break-even point has precision, recall and error of
// the definition; of scores with ties no threshold comes nearer to the number asked for.
func TestBreakEven(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for round := range 300 {
		n := 2 + rng.IntN(30)
		scores, positive, r := make([]float64, n), make([]bool, n), 0
		for i := range scores {
			if scores[i] = rng.NormFloat64(); round%2 == 1 {
				scores[i] = float64(rng.IntN(5))
			}
			if positive[i] = rng.IntN(3) == 0 || i == 0; positive[i] {
				r++
			}
		}
		b, err := metrics.BreakEven(scores, positive)
		if err != nil {
			t.Fatal(err)
		}
		got := reach(scores, b.Threshold)
		if round%2 == 1 {
			for _, v := range append(scores, math.Inf(1)) {
				if other := reach(scores, v); math.Abs(float64(other-r)) < math.Abs(float64(got-r)) {
					t.Fatalf("%v: %d reach %v and %d reach %v; %d are wanted", scores, got, b.Threshold, other, v, r)
				}
			}
			continue
		}
		hit, wrong := 0, 0
		for i, v := range scores {
			above := v >= b.Threshold
			if above && positive[i] {
				hit++
			}
			if above != positive[i] {
				wrong++
			}
		}
		if p := float64(hit) / float64(r); got != r || !(math.Abs(p-b.PRBEP) <= 1e-12) || !(math.Abs(float64(wrong)/float64(n)-b.Error) <= 1e-12) {
			t.Fatalf("%+v: %d of %d positive found, %d wrong of %d", b, hit, r, wrong, n)
		}
	}
}
