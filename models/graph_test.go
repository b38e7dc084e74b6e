package models

import (
	"sync"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
)

// The index of a neighbourhood that is kept is made once, whoever asks first.
func TestIndexMadeOnce(t *testing.T) {
	x, _ := data.TwoMoons(400, 0.1, 1)
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
