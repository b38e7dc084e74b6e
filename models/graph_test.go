package models

import (
	"slices"
	"sync"
	"testing"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
)

// The index of a neighbourhood that is kept is made once, whoever asks first.
func TestIndexMadeOnce(t *testing.T) {
	x, _ := synthetic.TwoMoons(400, 0.1, 1)
	given := Neighborhood{Points: x, Method: knn.NNDescent, Edges: knn.GraphSettings{K: 5}}
	h, other := given.Keep(), given.Keep()
	var all [4]knn.Index
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			var err error
			if all[i], err = h.index(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, ix := range all {
		if _, ok := ix.(*knn.Descent); !ok || ix != all[0] {
			t.Errorf("call %d has another index, a %T", i, ix)
		}
	}
	if ix, err := other.index(); err != nil || ix == all[0] {
		t.Errorf("two neighbourhoods share an index: %v", err)
	}
}

// Weights of new points are those of their own lists; for Jaccard those of the
// training points are searched for, whichever the index.
func TestNeighborhoodWeights(t *testing.T) {
	x, _ := synthetic.TwoMoons(300, 0.1, 1)
	for i := range 20 { // six points at one place, more than neighbours
		copy(x.Row(i), x.Row(i/6*6))
	}
	q, _ := synthetic.TwoMoons(70, 0.1, 2)
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := ix.Self(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []knn.Method{knn.Auto, knn.KDTree} {
		for w := knn.One; w <= knn.Shared; w++ {
			h := (&Neighborhood{Points: x, Method: method, Edges: knn.GraphSettings{K: 5, Weights: w, T: 1}}).Keep()
			nb, _, err := h.Nearest(t.Context(), q, 7, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := h.Weights(t.Context(), nb)
			if err != nil || len(got) != 70*7 {
				t.Fatalf("%d weights: %v", len(got), err)
			}
			positive := 0
			for i := range nb.Len() {
				index, dist := nb.Row(i)
				for p, j := range index {
					v := got[7*i+p]
					if v > 0 {
						positive++
					}
					if w != knn.Shared {
						if want := h.Edges.EdgeWeights(dist)[p]; v != want {
							t.Fatalf("%v: %v, want %v", w, v, want)
						}
						continue
					}
					other, _ := lists.Row(int(j))
					shared := 0.0
					for _, o := range other {
						if slices.Contains(index, o) {
							shared++
						}
					}
					if want := shared / (12 - shared); v != want {
						t.Fatalf("%v: point %d and its neighbour %d: %v, want %v", method, i, j, v, want)
					}
				}
			}
			if positive < 300 {
				t.Errorf("%v: only %d weights are positive", w, positive)
			}
		}
	}
}

// Neighbours that were found already are taken in place of a search, if they are enough.
func TestNearestFound(t *testing.T) {
	x, _ := synthetic.TwoMoons(50, 0.1, 1)
	q, _ := synthetic.TwoMoons(5, 0.1, 2)
	h := (&Neighborhood{Points: x}).Keep()
	want, _, err := h.Nearest(t.Context(), q, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	given := &knn.Neighbors{K: want.K, Index: slices.Clone(want.Index), Distance: slices.Clone(want.Distance)}
	given.Index[0] = 49 // as no search would find it
	for k, first := range map[int]int32{3: 49, 4: 49, 5: want.Index[0]} {
		nb, _, err := h.Nearest(t.Context(), q, k, &PredictSettings{Found: given})
		if err != nil || nb.K != k || nb.Index[0] != first {
			t.Errorf("k = %d: the first of %d is %d, want %d; %v", k, nb.K, nb.Index[0], first, err)
		}
	}
}
