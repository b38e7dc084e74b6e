package knn

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
)

// pairBudget counts the pairs that a call of Within collects.
type pairBudget struct {
	limit int64
	left  atomic.Int64
	stop  context.CancelFunc
}

// newBudget returns a budget of limit pairs, unlimited if limit is not positive, and a context that
// ends when the budget is spent.
func newBudget(ctx context.Context, limit int64) (context.Context, *pairBudget) {
	b := &pairBudget{limit: limit}
	if b.limit <= 0 {
		b.limit = math.MaxInt64
	}
	b.left.Store(b.limit)
	ctx, b.stop = context.WithCancel(ctx)
	return ctx, b
}

// take reports whether n more pairs may be collected.
func (b *pairBudget) take(n int) bool {
	if b.left.Add(-int64(n)) >= 0 {
		return true
	}
	b.stop()
	return false
}

// finish ends the search. It returns an error if pairs were refused, and otherwise err, the error
// of the search.
func (b *pairBudget) finish(err error, radius float64) error {
	b.stop()
	if b.left.Load() < 0 {
		return fmt.Errorf("knn: more than %d pairs of points are within %g of each other; "+
			"choose a smaller radius, or allow more memory", b.limit, radius)
	}
	return err
}
