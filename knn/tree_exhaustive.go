package knn

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/sparse"
)

// exhaustive measures every query against every dense point in float64; it
// serves the metrics that no matrix product helps with.
type exhaustive[T data.Element] struct {
	Settings
	x *data.Dense[T]
}

func newExhaustive(x data.Points, s Settings) (Index, error) {
	switch x := x.(type) {
	case *data.Dense[uint8]:
		return &exhaustive[uint8]{s, x}, nil
	case *data.Dense[float32]:
		return &exhaustive[float32]{s, x}, nil
	case *data.Dense[float64]:
		return &exhaustive[float64]{s, x}, nil
	}
	return nil, fmt.Errorf("knn: %v distance needs dense points; sparse ones have euclidean distance and angle", s.Metric)
}

func (ix *exhaustive[T]) Dims() (n, d int) { return ix.x.Dims() }

func (ix *exhaustive[T]) Metric() Metric { return ix.Settings.Metric }

// each hands every row of x and its number to answer, in parallel.
func (ix *exhaustive[T]) each(ctx context.Context, x data.Points, answer func(q []float64, i int)) error {
	n, d := x.Dims()
	var done atomic.Int64
	par.For(n, 64, func(lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		q := make([]float64, d)
		for i := lo; i < hi; i++ {
			data.RowTo(q, x, i)
			answer(q, i)
		}
		if ix.OnProgress != nil {
			ix.OnProgress(int(done.Add(int64(hi-lo))), n)
		}
	})
	return ctx.Err()
}

func (ix *exhaustive[T]) search(ctx context.Context, x data.Points, k int, self bool) (*Neighbors, error) {
	n, _ := x.Dims()
	out := &Neighbors{K: k, Index: make([]int32, n*k), Distance: make([]float64, n*k)}
	err := ix.each(ctx, x, func(q []float64, i int) {
		set := newNearest(k)
		for j := range ix.x.Rows {
			if !self || j != i {
				set.add(pair{measure(ix.Settings.Metric, q, ix.x.Row(j)), int32(j)})
			}
		}
		index, distance := out.Row(i)
		for p, b := range set.take() {
			index[p], distance[p] = b.index, b.dist
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (ix *exhaustive[T]) Query(ctx context.Context, x data.Points, k int) (*Neighbors, error) {
	if err := checkQuery(x, ix.x.Cols); err != nil {
		return nil, err
	}
	if err := checkK(k, ix.x.Rows); err != nil {
		return nil, err
	}
	return ix.search(ctx, x, k, false)
}

func (ix *exhaustive[T]) Self(ctx context.Context, k int) (*Neighbors, error) {
	if err := checkK(k, ix.x.Rows-1); err != nil {
		return nil, err
	}
	return ix.search(ctx, ix.x, k, true)
}

func (ix *exhaustive[T]) Within(ctx context.Context, radius float64) (*sparse.CSR, error) {
	rows := make([][]pair, ix.x.Rows)
	ctx, budget := ix.Settings.newBudget(ctx)
	err := ix.each(ctx, ix.x, func(q []float64, i int) {
		for j := range ix.x.Rows {
			if d := measure(ix.Settings.Metric, q, ix.x.Row(j)); j != i && d <= radius && budget.take(1) {
				rows[i] = append(rows[i], pair{d, int32(j)})
			}
		}
	})
	if err = budget.finish(err, radius); err != nil {
		return nil, err
	}
	return fromRows(rows), nil
}
