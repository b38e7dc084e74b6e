package knn_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn"
)

// TestRecall damages exact lists of a set that is searched in parts.
func TestRecall(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "a measure of other searches")
	ctx := context.Background()
	const n, k = 40000, 4
	x := synthetic.Manifold(n, 3, 2, 0.01, 1)
	ix, err := knn.NewKDTree(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	nb := selfOf(t, ix, k)
	r, err := knn.RecallOf(ctx, x, knn.Euclidean, nb, 500, 1)
	if err != nil || r.Share != 1 || r.High != 1 || !(r.Low > 0.99 && r.Low < 1) || r.Sample != 500 {
		t.Errorf("exact lists: %v, %v", r, err)
	}
	damaged := &knn.Neighbors{K: k, Index: slices.Clone(nb.Index), Distance: slices.Clone(nb.Distance)}
	for i := 0; i < n; i += 5 {
		damaged.Distance[i*k+k-1] *= 2 // a farther point
	}
	const want = 1 - 1./5/k
	covered := 0
	for seed := range uint64(20) {
		r, err := knn.RecallOf(ctx, x, knn.Euclidean, damaged, 500, seed)
		if err != nil || !(r.Low < r.Share && r.Share < r.High) || r.High-r.Low > 0.03 {
			t.Errorf("damaged lists: %v, %v", r, err)
		}
		if r.Low <= want && want <= r.High {
			covered++
		}
	}
	if covered < 17 {
		t.Errorf("%d of 20 intervals hold the truth", covered)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := knn.RecallOf(cancelled, x, knn.Euclidean, nb, 10, 0); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// A list with other points at the same distances misses nothing.
func TestRecallCountsTies(t *testing.T) {
	x := data.NewDense[float64](6, 1) // all equal
	nb := &knn.Neighbors{K: 2, Index: []int32{4, 5, 4, 5, 4, 5, 4, 5, 0, 5, 0, 4}, Distance: make([]float64, 12)}
	r, err := knn.RecallOf(context.Background(), x, knn.Euclidean, nb, 100, 0)
	if err != nil || r != (knn.Recall{Share: 1, Low: 1, High: 1, Sample: 6}) {
		t.Errorf("%+v, %v", r, err)
	}
}
