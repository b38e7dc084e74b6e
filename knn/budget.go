package knn

import (
	"fmt"
	"math"
	"sync/atomic"
)

// pairBudget counts the pairs that a call of Within collects.
type pairBudget struct {
	limit int64
	left  atomic.Int64
}

func (s *Settings) newBudget() *pairBudget {
	b := &pairBudget{limit: s.MaxPairs}
	if b.limit <= 0 {
		b.limit = math.MaxInt64
	}
	b.left.Store(b.limit)
	return b
}

// take tells whether n more pairs may be collected.
func (b *pairBudget) take(n int) bool { return b.left.Add(-int64(n)) >= 0 }

// check returns an error if pairs were refused.
func (b *pairBudget) check(radius float64) error {
	if b.left.Load() < 0 {
		return fmt.Errorf("knn: more than %d pairs of points are within %g of each other; choose a smaller radius, or allow more memory", b.limit, radius)
	}
	return nil
}
