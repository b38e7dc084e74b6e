package knn_test

import (
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
)

func TestNewIndexMethods(t *testing.T) {
	x, _ := synthetic.TwoMoons(300, 0.05, 1)
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
