package knn_test

import (
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn"
)

// TestMaxPairs: a radius that joins too much is an error, one that does not is
// not, with every exact index.
func TestMaxPairs(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "a search like others, within other bounds")
	moons, _ := synthetic.TwoMoons(400, 0.05, 1)
	bytes, _ := synthetic.Digits(300, 1)
	for _, c := range []struct {
		x      data.Points
		build  func(data.Points, *knn.Settings) (knn.Index, error)
		metric knn.Metric
		large  float64
	}{
		{moons, knn.NewBrute, knn.Euclidean, 10},
		{moons, knn.NewKDTree, knn.Euclidean, 10},
		{moons, knn.NewBallTree, knn.Euclidean, 10},
		{moons, knn.NewBrute, knn.Manhattan, 20},
		{bytes, knn.NewBrute, knn.Euclidean, 1e5},
		{data.ToSparse(moons), knn.NewBrute, knn.Euclidean, 10},
	} {
		n, _ := c.x.Dims()
		ix, err := c.build(c.x, &knn.Settings{Metric: c.metric, MaxPairs: int64(n*(n-1)) - 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ix.Within(t.Context(), c.large); err == nil || !strings.Contains(err.Error(), "smaller radius") {
			t.Errorf("%T, %s: error %v, want one about the radius", ix, c.metric, err)
		}
		if _, err := ix.Within(t.Context(), 0); err != nil {
			t.Errorf("%T, %s: radius 0: %v", ix, c.metric, err)
		}
		if ix, err = c.build(c.x, &knn.Settings{Metric: c.metric, MaxPairs: int64(n * (n - 1))}); err != nil {
			t.Fatal(err)
		}
		if w, err := ix.Within(t.Context(), c.large); err != nil || w.NNZ() != n*(n-1) {
			t.Errorf("%T, %s: all pairs fit: %v", ix, c.metric, err)
		}
	}
}
