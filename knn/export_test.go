package knn

import (
	"context"

	"github.com/bigfit/bigfit/data"
)

// NewPruned returns an index that compares all pairs in so many principal coordinates and
// measures those that are left, whether that takes less time or not.
func NewPruned(x data.Points, m Metric, columns int) Index {
	return newIndex(&prunedIndex{x: x, metric: m, columns: columns}, x, &Settings{Metric: m})
}

// Unpruned returns an index that compares all pairs.
func Unpruned(x data.Points, m Metric) (Index, error) {
	e, err := allPairsEngine(x, m)
	return newIndex(e, x, &Settings{Metric: m}), err
}

// RecallOf estimates the recall of lists of neighbours that the points of x have
// among each other, as [NewDescent] does for its own.
func RecallOf(ctx context.Context, x data.Points, m Metric, nb *Neighbors, sample int, seed uint64) (Recall, error) {
	s, err := NewRecallSample(ctx, x, m, nb.K, sample, seed)
	if err != nil {
		return Recall{}, err
	}
	return s.Estimate(func(i int) []float64 {
		_, dist := nb.Row(i)
		return dist
	}), nil
}

// Pruned reports whether an index of NewPruned or NewBrute answered by package pruned.
func Pruned(ix Index) bool {
	e, ok := ix.(*index).engine.(*prunedIndex)
	return ok && e.index != nil
}
