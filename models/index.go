package models

import (
	"context"
	"sync"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
)

// LazyIndex is an index of training points, made when it is first needed.
type LazyIndex struct {
	mu sync.Mutex
	Ix knn.Index
}

// Nearest finds the k nearest training points of every point of x, to which p, if
// not nil, is applied first. The recall is that of a Prediction.
func Nearest(ctx context.Context, ix knn.Index, p *data.PCA, x data.Points, k int, onProgress func(done, total int)) (*knn.Neighbors, *knn.Recall, error) {
	if n, _ := x.Dims(); n == 0 {
		return nil, nil, ErrNoQuery
	}
	if p != nil {
		var err error
		if x, err = p.Apply(x); err != nil {
			return nil, nil, err
		}
	}
	nb, err := knn.WithProgress(ix, onProgress).Query(ctx, x, k)
	if err != nil {
		return nil, nil, err
	}
	if d, ok := ix.(*knn.Descent); ok {
		if r := d.Stats().Recall; r.Sample > 0 {
			return nb, &r, nil
		}
	}
	return nb, nil, nil
}
