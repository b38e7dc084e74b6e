package knn

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// An engine finds neighbours for an [index], which has checked the arguments.
type engine interface {
	query(ctx context.Context, x data.Points, k int, p progress) (*Neighbors, error)
	self(ctx context.Context, k int, p progress) (*Neighbors, error)
	// within stops as soon as the budget refuses pairs, which index reports.
	within(ctx context.Context, radius float64, budget *pairBudget, p progress) (*sparse.CSR, error)
}

// index implements [Index] by an engine. Copies with another progress hook share the engine.
type index struct {
	engine   engine
	n, d     int
	metric   Metric
	maxPairs int64
	progress progress
}

// newIndex returns the index of the points x with an engine.
func newIndex(e engine, x data.Points, s *Settings) *index {
	n, d := x.Dims()
	return &index{e, n, d, s.Metric, s.MaxPairs, s.OnProgress}
}

// Dims returns the number of indexed points and their dimension.
func (ix *index) Dims() (n, d int) { return ix.n, ix.d }

// Metric returns the distance in use.
func (ix *index) Metric() Metric { return ix.metric }

// Query returns the k nearest indexed points of every row of x.
func (ix *index) Query(ctx context.Context, x data.Points, k int) (*Neighbors, error) {
	if err := checkQuery(x, ix.d); err != nil {
		return nil, err
	}
	if err := checkK(k, ix.n); err != nil {
		return nil, err
	}
	if ix.metric.ofSets() {
		if err := checkBits(x, ix.metric); err != nil {
			return nil, fmt.Errorf("%w (in the query points)", err)
		}
	}

	return ix.engine.query(ctx, x, k, ix.progress.ordered())
}

// Self returns the k nearest other points of every indexed point.
func (ix *index) Self(ctx context.Context, k int) (*Neighbors, error) {
	if err := checkK(k, ix.n-1); err != nil {
		return nil, err
	}
	return ix.engine.self(ctx, k, ix.progress.ordered())
}

// Within returns the distances of all pairs of different indexed points at most
// radius apart.
func (ix *index) Within(ctx context.Context, radius float64) (*sparse.CSR, error) {
	if err := ix.metric.CheckEdges(&GraphSettings{Radius: radius}); err != nil {
		return nil, err
	}
	// The budget ends ctx when too many pairs are found.
	ctx, budget := newBudget(ctx, ix.maxPairs)
	m, err := ix.engine.within(ctx, radius, budget, ix.progress.ordered())
	if err := budget.finish(err, radius); err != nil {
		return nil, err
	}
	return m, nil
}

func (ix *index) state() *State {
	if e, ok := ix.engine.(interface{ state() *State }); ok {
		return e.state()
	}
	return nil
}

func (ix *index) withProgress(p progress) Index {
	c := *ix
	c.progress = p
	return &c
}

// WithProgress returns ix with another OnProgress, nil for none. The two share everything else.
func WithProgress(ix Index, f func(done, total int)) Index {
	if w, ok := ix.(interface{ withProgress(progress) Index }); ok {
		return w.withProgress(f)
	}
	return ix
}

// progress is Settings.OnProgress.
type progress func(done, total int)

// ordered returns p for one search. Its calls do not overlap, and late calls with smaller numbers
// are left out. A search that first makes its graph counts points of the index and then queries;
// the count begins anew with another total.
func (p progress) ordered() progress {
	if p == nil {
		return nil
	}
	var mu sync.Mutex
	most, last := -1, -1
	return func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if done > most || total != last {
			most = done
			last = total
			p(done, total)
		}
	}
}

// report calls p unless it is nil.
func (p progress) report(done, total int) {
	if p != nil {
		p(done, total)
	}
}

// share reports a share of the work as a number of queries below n.
func (p progress) share(share float64, n int) {
	p.report(max(1, min(n-1, int(share*float64(n)))), n)
}

// shareOf returns share for n queries.
func (p progress) shareOf(n int) func(share float64) {
	return func(share float64) { p.share(share, n) }
}

// inStripes calls answer(lo, hi) for stripes of [0, n) in parallel and reports the number of
// queries answered. Each goroutine uses an answer of its own, made by newWorker. The error is the
// error of ctx.
func inStripes(ctx context.Context, n, stripe int, p progress,
	newWorker func() (answer func(lo, hi int))) error {
	workers := make([]func(lo, hi int), par.Workers(n, stripe))
	var done atomic.Int64
	par.ForWorker(n, stripe, func(worker, lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		if workers[worker] == nil {
			workers[worker] = newWorker()
		}
		workers[worker](lo, hi)
		p.report(int(done.Add(int64(hi-lo))), n)
	})
	return ctx.Err()
}

// checkK returns an error unless k neighbours can be found among available points.
func checkK(k, available int) error {
	if k < 1 || k > available {
		return fmt.Errorf("knn: %d neighbours asked of %d points; the number must be between 1 and %d",
			k, available, available)
	}
	return nil
}

// checkQuery returns an error unless the rows of x have d coordinates.
func checkQuery(x data.Points, d int) error {
	if _, xd := x.Dims(); xd != d {
		return fmt.Errorf("knn: the query points have %d dimensions, the indexed points %d", xd, d)
	}
	return nil
}
