package choice_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// rates are estimates as a machine of so many operations a second gives them.
func rates(w choice.Work, rate float64) func(knn.Method) (float64, error) {
	return func(m knn.Method) (float64, error) { return w.Operations(m) / rate, nil }
}

// scattered are sparse points of so many entries each, of which no column has many more
// than another.
func scattered(n, columns, entries int) *sparse.CSR {
	x := &sparse.CSR{Rows: n, Cols: columns, Ptr: make([]int64, n+1), Col: make([]int32, 0, n*entries)}
	for i := range n {
		for j := range entries {
			x.Col = append(x.Col, int32(j*(columns/entries)+i%(columns/entries)))
		}
		x.Ptr[i+1] = int64(len(x.Col))
	}
	return x
}

func TestChoose(t *testing.T) {
	dense := func(n, d int) data.Points { return &data.Dense[float32]{Rows: n, Cols: d} }
	sparsePoints := &sparse.CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 0, 0}}
	manySets, fewSets := scattered(200_000, 30_000, 40), scattered(3_000, 30_000, 40)
	for _, c := range []struct {
		x        data.Points
		metric   knn.Metric
		patience float64
		rate     float64
		want     knn.Method
		timed    bool
		why      string
	}{
		{dense(60_000, 784), knn.Euclidean, 60, 1e11, knn.Brute, false, "in 784 dimensions all pairs"},
		{dense(60_000, 784), knn.Euclidean, 60, 1e9, knn.NNDescent, true, "brute, the fastest exact method, would take about 24 min, longer than patience 60 s"},
		{dense(60_000, 784), knn.Euclidean, 3000, 1e9, knn.Brute, false, "all pairs"},
		{dense(60_000, 784), knn.Euclidean, 1, 1e11, knn.NNDescent, true, "method brute is exact"},
		{dense(1_000, 784), knn.Euclidean, 0.001, 1e11, knn.Brute, true, "but so does nn-descent"},
		{dense(1_000_000, 3), knn.Euclidean, 60, 1e11, knn.KDTree, false, "in 3 dimensions a tree"},
		{dense(1_000_000, 3), knn.Angle, 60, 1e11, knn.BallTree, false, "in 3 dimensions a tree"},
		{dense(100_000, 3), knn.Manhattan, 60, 1e11, knn.KDTree, false, "in 3 dimensions a tree"},
		{dense(2_000_000, 64), knn.Euclidean, 60, 1e11, knn.NNDescent, true, "longer than patience 60 s"},
		{dense(2_000_000, 64), knn.Chebyshev, 60, 1e11, knn.Brute, true, "nn-descent does not know chebyshev"},
		{dense(20_000, 64), knn.Chebyshev, 60, 1e11, knn.Brute, false, "all pairs"},
		{dense(20_000, 2), knn.InnerProduct, 60, 1e11, knn.Brute, false, "no tree knows inner-product"},
		{sparsePoints, knn.Angle, 60, 1e11, knn.Brute, false, "no tree knows sparse points"},
		{manySets, knn.Jaccard, 60, 3e10, knn.NNDescent, true, "method brute is exact"},
		{manySets, knn.Hamming, 60, 3e10, knn.NNDescent, true, "method brute is exact"},
		{manySets, knn.Cosine, 60, 3e10, knn.NNDescent, true, "method brute is exact"},
		{manySets, knn.Euclidean, 60, 3e10, knn.NNDescent, true, "method brute is exact"},
		{manySets, knn.InnerProduct, 60, 3e10, knn.Brute, true, "nn-descent does not know inner-product"},
		{fewSets, knn.Jaccard, 60, 3e10, knn.Brute, false, "no tree knows sparse points"},
		{fewSets, knn.Jaccard, 0.001, 3e10, knn.Brute, true, "but so does nn-descent"},
		{dense(200_000, 512), knn.Hamming, 60, 3e10, knn.NNDescent, true, "method brute is exact"},
		{dense(200_000, 512), knn.Jaccard, 60, 3e10, knn.NNDescent, true, "method brute is exact"},
		{dense(200_000, 512), knn.Jaccard, 6000, 3e10, knn.Brute, false, "no tree knows jaccard"},
	} {
		w := choice.Work{X: c.x, Metric: c.metric, K: 10}
		got, err := w.Choose(c.patience, rates(w, c.rate))
		if err != nil || got.Method != c.want || got.Timed != c.timed || !strings.Contains(param.Plain(got.Why), c.why) {
			n, d := c.x.Dims()
			t.Errorf("%d×%d, %s: %+v, %v; want %s", n, d, c.metric, got, err, c.want)
		}
		if exact, _ := w.Exact(); !exact.Exact() || c.want.Exact() && exact != c.want {
			t.Errorf("the exact method is %s", exact)
		}
	}
	w := choice.Work{X: dense(100, 5), K: 10}
	fault := errors.New("interrupted")
	if _, err := w.Choose(60, func(knn.Method) (float64, error) { return 0, fault }); err != fault {
		t.Error(err)
	}
	few := choice.Work{X: dense(100_000, 5), K: 10, Queries: 10}
	for _, m := range []knn.Method{knn.Brute, knn.KDTree} {
		if many := (choice.Work{X: few.X, K: 10}); !(few.Operations(m)*1000 < many.Operations(m)) {
			t.Errorf("%s: 10 queries take %v operations, all points %v", m, few.Operations(m), many.Operations(m))
		}
	}
}

// Estimates are positive and finite, of whole sets and of parts.
func TestTime(t *testing.T) {
	small, _ := synthetic.TwoMoons(300, 0.1, 1)
	large, _ := synthetic.TwoMoons(20_000, 0.1, 1)
	for _, x := range []data.Points{small, large} {
		for _, m := range []knn.Method{knn.Brute, knn.KDTree, knn.BallTree, knn.NNDescent} {
			for _, queries := range []int{0, 5} {
				s, err := choice.Work{X: x, K: 5, Queries: queries}.Time(t.Context(), m)
				if err != nil || !(s > 0) || math.IsInf(s, 0) {
					t.Errorf("%s: %v s, %v", m, s, err)
				}
			}
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (choice.Work{X: large, K: 5}).Time(cancelled, knn.Brute); err != context.Canceled {
		t.Errorf("of a cancelled context: %v", err)
	}
}

func TestDuration(t *testing.T) {
	for s, want := range map[float64]string{0.2: "1 s", 99: "99 s", 100: "2 min", 5300: "88 min", 7200: "2.0 h"} {
		if got := choice.Duration(s); got != want {
			t.Errorf("%v: %s, want %s", s, got, want)
		}
	}
}
