package knn

import (
	"context"

	"github.com/bigfit/bigfit/data"
)

// RecallOf estimates the recall of lists of neighbours that the points of x have
// among each other, as [NewDescent] does for its own.
func RecallOf(ctx context.Context, x data.Points, m Metric, nb *Neighbors, sample int, seed uint64) (Recall, error) {
	s, err := newRecallSample(ctx, x, m, nb.K, sample, seed)
	if err != nil {
		return Recall{}, err
	}
	return s.estimate(func(i int) []float64 {
		_, dist := nb.Row(i)
		return dist
	}), nil
}
