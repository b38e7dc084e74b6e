package knn_test

import (
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		x      data.Points
		metric knn.Metric
		want   knn.Method
	}{
		{&data.Dense[float32]{Rows: 60000, Cols: 784}, knn.Euclidean, knn.Brute},
		{&data.Dense[float32]{Rows: 1_000_000, Cols: 3}, knn.Euclidean, knn.KDTree},
		{&data.Dense[float32]{Rows: 1_000_000, Cols: 3}, knn.Angle, knn.BallTree},
		{&data.Dense[float32]{Rows: 100_000, Cols: 3}, knn.Manhattan, knn.KDTree},
		{&data.Dense[float32]{Rows: 2_000_000, Cols: 64}, knn.Euclidean, knn.NNDescent},
		{&data.Dense[float32]{Rows: 20_000, Cols: 64}, knn.Chebyshev, knn.Brute},
		{&sparse.CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 0, 0}}, knn.Angle, knn.Brute},
	} {
		got, why := knn.Choose(c.x, c.metric, 10)
		if got != c.want || why == "" {
			n, d := c.x.Dims()
			t.Errorf("%d×%d, %s: %s because %s; want %s", n, d, c.metric, got, why, c.want)
		}
	}
}

func TestNewIndexMethods(t *testing.T) {
	x, _ := data.TwoMoons(300, 0.05, 1)
	want, err := mustIndex(t, x, knn.Brute).Self(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []knn.Method{knn.KDTree, knn.BallTree, knn.NNDescent} {
		got, err := mustIndex(t, x, m).Self(t.Context(), 5)
		if err != nil {
			t.Fatal(err)
		}
		if m.Exact() && !slices.Equal(got.Index, want.Index) {
			t.Errorf("%s finds other neighbours than brute force", m)
		}
		if b := knn.IndexBytes(x, m, knn.Euclidean, 5); b < 300*16 {
			t.Errorf("%s takes %d bytes", m, b)
		}
	}
	if _, err := knn.NewIndex(x, knn.Auto, nil); err == nil {
		t.Error("an index of method auto")
	}
}

func mustIndex(t *testing.T, x data.Points, m knn.Method) knn.Index {
	t.Helper()
	ix, err := knn.NewIndex(x, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}
