package metrics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
)

func TestPaired(t *testing.T) {
	nan := math.NaN()
	p2 := metrics.Number(1 - math.Sqrt(0.75/2.75)) // with 2 degrees P is 1 − |t|/√(2+t²)
	for _, c := range []struct {
		a, b   []float64
		larger bool
		want   metrics.Paired
	}{
		// d = 1, −1, 3: mean 1, deviation 2, t = √3/2 with 2 degrees of freedom.
		{[]float64{2, 3, 8}, []float64{1, 4, 5}, false, metrics.Paired{Pairs: 3, Mean: 1, StdErr: metrics.Number(2 / math.Sqrt(3)), Wins: 1, Losses: 2, P: p2}},
		{[]float64{2, 3, 8}, []float64{1, 4, 5}, true, metrics.Paired{Pairs: 3, Mean: 1, StdErr: metrics.Number(2 / math.Sqrt(3)), Wins: 2, Losses: 1, P: p2}},
		{[]float64{2, nan, 3, 7, 8}, []float64{1, 9, 4, nan, 5}, false, metrics.Paired{Pairs: 3, Mean: 1, StdErr: metrics.Number(2 / math.Sqrt(3)), Wins: 1, Losses: 2, P: p2}},
		{[]float64{1, 2}, []float64{1, 2}, false, metrics.Paired{Pairs: 2, Ties: 2, P: metrics.Number(nan)}},
		{[]float64{2, 3}, []float64{1, 2}, false, metrics.Paired{Pairs: 2, Mean: 1, Losses: 2}},
		{[]float64{2}, []float64{1}, false, metrics.Paired{Pairs: 1, Mean: 1, StdErr: metrics.Number(nan), Losses: 1, P: metrics.Number(nan)}},
		{[]float64{nan}, []float64{1}, false, metrics.Paired{Mean: metrics.Number(nan), StdErr: metrics.Number(nan), P: metrics.Number(nan)}},
	} {
		got := metrics.NewPaired(c.a, c.b, c.larger)
		near := func(a, b metrics.Number) bool { return modeltest.Near(float64(a), float64(b), 1e-9) }
		if got.Pairs != c.want.Pairs || got.Wins != c.want.Wins || got.Ties != c.want.Ties || got.Losses != c.want.Losses ||
			!near(got.Mean, c.want.Mean) || !near(got.StdErr, c.want.StdErr) || !near(got.P, c.want.P) {
			t.Errorf("%v beside %v: %+v, want %+v", c.a, c.b, got, c.want)
		}
	}
}

// Mean, standard error and P are those of SciPy.
func TestPairedBesideSciPy(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	dir, names := t.TempDir(), map[string]any{}
	var all []metrics.Paired
	for i, n := range []int{2, 5, 10, 30} {
		a, b := make([]float64, n), make([]float64, n)
		for j := range a {
			a[j], b[j] = 10+rng.NormFloat64(), 10.3+rng.NormFloat64()
		}
		all = append(all, metrics.NewPaired(a, b, false))
		names[string(rune('a'+i))], names[string(rune('p'+i))] = a, b
	}
	modeltest.WriteArrays(t, dir, names)
	var want [][3]float64
	modeltest.Sklearn(t, dir, `
from scipy import stats
out = []
for a, b in zip("abcd", "pqrs"):
    a, b = np.load(a + ".npy"), np.load(b + ".npy")
    d = a - b
    out.append([d.mean(), stats.sem(d), stats.ttest_rel(a, b).pvalue])
print(json.dumps(out))`, &want)
	for i, p := range all {
		for j, v := range []metrics.Number{p.Mean, p.StdErr, p.P} {
			if !modeltest.Near(float64(v), want[i][j], 1e-9) {
				t.Errorf("case %d, number %d: %v, SciPy %v", i, j, v, want[i][j])
			}
		}
	}
}
