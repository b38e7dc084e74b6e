package knn

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/topk"
	"github.com/bigfit/bigfit/sparse"
)

// exhaustive measures every query against every dense point in float64; it
// serves the metrics that no matrix product helps with.
type exhaustive[T data.Element] struct {
	metric Metric
	x      *data.Dense[T]
}

func newExhaustive(x data.Points, m Metric) (engine, error) {
	switch x := x.(type) {
	case *data.Dense[uint8]:
		return &exhaustive[uint8]{m, x}, nil
	case *data.Dense[float32]:
		return &exhaustive[float32]{m, x}, nil
	case *data.Dense[float64]:
		return &exhaustive[float64]{m, x}, nil
	case *data.Stored:
		return newExhaustive(x.Dense(), m)
	}
	return nil, fmt.Errorf("knn: %v distance needs dense points; sparse ones have euclidean distance and angle", m)
}

// each hands every row of x and its number to answer, in parallel.
func (ix *exhaustive[T]) each(ctx context.Context, x data.Points, p progress, answer func(q []float64, i int)) error {
	n, d := x.Dims()
	return inStripes(ctx, n, 64, p, func() func(lo, hi int) {
		q := make([]float64, d)
		return func(lo, hi int) {
			for i := lo; i < hi; i++ {
				data.RowTo(q, x, i)
				answer(q, i)
			}
		}
	})
}

func (ix *exhaustive[T]) search(ctx context.Context, x data.Points, k int, self bool, p progress) (*Neighbors, error) {
	n, _ := x.Dims()
	out := newNeighbors(n, k)
	err := ix.each(ctx, x, p, func(q []float64, i int) {
		set := topk.New(k)
		for j := range ix.x.Rows {
			if !self || j != i {
				set.Add(topk.Pair{Dist: measure(ix.metric, q, ix.x.Row(j)), Index: int32(j)})
			}
		}
		out.set(i, set.Take())
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (ix *exhaustive[T]) query(ctx context.Context, x data.Points, k int, p progress) (*Neighbors, error) {
	return ix.search(ctx, x, k, false, p)
}

func (ix *exhaustive[T]) self(ctx context.Context, k int, p progress) (*Neighbors, error) {
	return ix.search(ctx, ix.x, k, true, p)
}

func (ix *exhaustive[T]) within(ctx context.Context, radius float64, budget *pairBudget, p progress) (*sparse.CSR, error) {
	rows := make([][]topk.Pair, ix.x.Rows)
	err := ix.each(ctx, ix.x, p, func(q []float64, i int) {
		for j := range ix.x.Rows {
			if d := measure(ix.metric, q, ix.x.Row(j)); j != i && d <= radius && budget.take(1) {
				rows[i] = append(rows[i], topk.Pair{Dist: d, Index: int32(j)})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return fromRows(rows), nil
}
