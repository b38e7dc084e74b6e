package audit_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/bigfit/bigfit/audit"
	"github.com/bigfit/bigfit/knn"
)

// listsOf returns the k nearest of points on a line.
func listsOf(x []float64, k int) *knn.Neighbors {
	n := len(x)
	out := &knn.Neighbors{K: k, Index: make([]int32, n*k), Distance: make([]float64, n*k)}
	for i := range n {
		for p, j := range nearest(x, i)[:k] {
			out.Index[i*k+p] = int32(j)
			out.Distance[i*k+p] = math.Abs(x[i] - x[j])
		}
	}
	return out
}

// nearest orders all other points by their distance from point i.
func nearest(x []float64, i int) []int {
	var out []int
	for j := range x {
		if j == i {
			continue
		}
		p := len(out)
		for p > 0 && math.Abs(x[i]-x[out[p-1]]) > math.Abs(x[i]-x[j]) {
			p--
		}
		out = append(out[:p], append([]int{j}, out[p:]...)...)
	}
	return out
}

// bruteShapley is the Shapley value by its definition: the mean gain of a training point over all subsets.
func bruteShapley(x []float64, class []int32, k int) []float64 {
	n := len(x)
	value := make([]float64, n)
	for t := range n {
		others := nearest(x, t)
		m := len(others)
		utility := func(set uint) float64 {
			right, taken := 0, 0
			for p, j := range others {
				if set>>p&1 == 1 && taken < k {
					taken++
					if class[j] == class[t] {
						right++
					}
				}
			}
			return float64(right) / float64(k)
		}
		for p, j := range others {
			for set := range uint(1) << m {
				if set>>p&1 == 1 {
					continue
				}
				weight := math.Exp(lgamma(bits.OnesCount(set)+1) + lgamma(m-bits.OnesCount(set)) - lgamma(m+1))
				value[j] += weight * (utility(set|1<<p) - utility(set))
			}
		}
	}
	return value
}

func lgamma(n int) float64 {
	v, _ := math.Lgamma(float64(n))
	return v
}

func drawn(t *rapid.T, n int) ([]float64, []int32) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	x := make([]float64, n)
	class := make([]int32, n)
	for i := range n {
		x[i] = rng.Float64()
		class[i] = int32(rng.IntN(3))
	}
	return x, class
}

// With whole lists the values are those of the definition, and add up to the utility of all training points.
func TestShapleyExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 8).Draw(t, "n")
		k := rapid.IntRange(1, n-1).Draw(t, "k")
		x, class := drawn(t, n)
		got := audit.Shapley(listsOf(x, n-1), class, k)
		want := bruteShapley(x, class, k)
		var sum, utility float64
		for i := range n {
			if !(math.Abs(got[i]-want[i]) <= 1e-10) {
				t.Fatalf("the label of point %d has the value %v, by definition %v", i, got[i], want[i])
			}
			sum += got[i]
			for _, j := range nearest(x, i)[:k] {
				if class[j] == class[i] {
					utility += 1 / float64(k)
				}
			}
		}
		if !(math.Abs(sum-utility) <= 1e-10) {
			t.Fatalf("the values add up to %v, the utility is %v", sum, utility)
		}
	})
}

// With lists of K* the error is at most 1/K* for each test point.
func TestShapleyOfLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(4, 60).Draw(t, "n")
		short := rapid.IntRange(2, n-1).Draw(t, "K*")
		k := rapid.IntRange(1, short).Draw(t, "k")
		x, class := drawn(t, n)
		exact := audit.Shapley(listsOf(x, n-1), class, k)
		near := audit.Shapley(listsOf(x, short), class, k)
		for i := range n {
			if !(math.Abs(exact[i]-near[i]) <= float64(n-1)/float64(short)+1e-12) {
				t.Fatalf("point %d: %v by lists of %d, exactly %v", i, near[i], short, exact[i])
			}
		}
	})
}
