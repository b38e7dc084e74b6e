package knn

import (
	"context"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/sparse"
)

// exhaustive measures every query against every point. It serves the metrics that no matrix product
// computes.
type exhaustive struct {
	x        data.Points
	newMeter func() meter
}

// each calls answer with every row number of x and a meter that has the row loaded, in parallel.
func (ix *exhaustive) each(ctx context.Context, x data.Points, p progress,
	answer func(m meter, i int)) error {
	n, _ := x.Dims()
	return inStripes(ctx, n, 64, p, func() func(lo, hi int) {
		m := ix.newMeter()
		return func(lo, hi int) {
			for i := lo; i < hi; i++ {
				m.load(x, i)
				answer(m, i)
			}
		}
	})
}

// search finds the k nearest points of every row of x. With self, x holds the points themselves.
func (ix *exhaustive) search(ctx context.Context, x data.Points, k int, self bool, p progress) (
	*Neighbors, error) {
	queries, _ := x.Dims()
	n, _ := ix.x.Dims()
	out := newNeighbors(queries, k)
	err := ix.each(ctx, x, p, func(m meter, i int) {
		set := topk.New(k)
		for j := range n {
			if !self || j != i {
				set.Add(topk.Pair{Dist: m.distance(j), Index: int32(j)})
			}
		}
		out.set(i, set.Take())
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (ix *exhaustive) query(ctx context.Context, x data.Points, k int, p progress) (*Neighbors, error) {
	return ix.search(ctx, x, k, false, p)
}

func (ix *exhaustive) self(ctx context.Context, k int, p progress) (*Neighbors, error) {
	return ix.search(ctx, ix.x, k, true, p)
}

func (ix *exhaustive) within(ctx context.Context, radius float64, budget *pairBudget, p progress) (*sparse.CSR, error) {
	n, _ := ix.x.Dims()
	rows := make([][]topk.Pair, n)
	err := ix.each(ctx, ix.x, p, func(m meter, i int) {
		for j := range n {
			if d := m.distance(j); j != i && d <= radius && budget.take(1) {
				rows[i] = append(rows[i], topk.Pair{Dist: d, Index: int32(j)})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return fromRows(rows), nil
}
