package pool

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// No other weights have a larger value of the function that stackedWeights maximizes.
func TestStackedWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for _, rows := range []int{1, 6, 60, 600} {
		const members = 4
		p := mat.NewDense(rows, members, nil)
		a := make([]float64, rows)
		for i := range rows {
			a[i] = rng.Float64()
			for m := range members {
				p.Set(i, m, math.Pow(rng.Float64(), float64(m+1)))
			}
		}
		prior := []float64{1, 3, 1, 2}
		value := func(w []float64) float64 {
			var sum float64
			for i := range rows {
				var mean float64
				for m, v := range w {
					mean += v * p.At(i, m)
				}
				sum += a[i] * math.Log(mean)
			}
			for m, v := range w {
				sum += priorLabels * prior[m] / 7 * math.Log(v)
			}
			return sum
		}

		w := stackedWeights(p, a, prior)
		if sum := w[0] + w[1] + w[2] + w[3]; !(math.Abs(sum-1) < 1e-12) {
			t.Errorf("%d labels: the weights %v have the sum %v", rows, w, sum)
		}
		best := value(w)
		for try := range 2000 {
			other := make([]float64, members)
			var sum float64
			for m := range other {
				other[m] = rng.ExpFloat64()
				if try%2 == 0 {
					other[m] = w[m] * (1 + 0.01*rng.NormFloat64())
				}
				sum += other[m]
			}
			for m := range other {
				other[m] /= sum
			}
			if v := value(other); v > best+1e-6 {
				t.Fatalf("%d labels: %v has the value %v, and %v has %v", rows, w, best, other, v)
			}
		}
	}
}

// A label of weight two counts as two labels, and a distribution as a label of each class with its share.
func TestLikelihoods(t *testing.T) {
	held := []*mat.Dense{mat.NewDense(2, 2, []float64{0.9, 0.1, 0, 1}), mat.NewDense(2, 2, []float64{0.6, 0.4, 0.5, 0.5})}
	hard := &aims{class: []int{1, 0}, weights: []float64{2, 1}}
	if got, want := hard.likelihoods(held), mat.NewDense(2, 2, []float64{0.1, 0.4, 1e-9, 0.5}); !mat.Equal(got, want) {
		t.Errorf("likelihoods\n%v", mat.Formatted(got))
	}
	if got := hard.amounts(2); !slices.Equal(got, []float64{1, 0.5}) {
		t.Errorf("amounts %v", got)
	}
	soft := &aims{class: []int{0, 0}, shares: mat.NewDense(2, 2, []float64{0.75, 0.25, 1, 0})}
	if got := soft.amounts(1); !slices.Equal(got, []float64{0.75, 0.25, 1}) {
		t.Errorf("amounts of distributions %v", got)
	}
	if r, _ := soft.likelihoods(held).Dims(); r != 3 {
		t.Errorf("%d rows for two distributions of three classes", r)
	}
}
