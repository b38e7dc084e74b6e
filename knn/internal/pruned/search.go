package pruned

import (
	"context"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn/internal/blocks"
	"github.com/bigfit/bigfit/knn/internal/topk"
)

const (
	// firstBlocks is the number of blocks near to a query in which its first threshold is found.
	firstBlocks = 4
	// spare is the number of candidates beyond k that a first threshold is made of: a point of
	// the set finds itself, and its distance to itself bounds nothing.
	spare = 1
)

// A search holds the nearest verified points of some queries and the thresholds that follow.
//
// Queries stand at positions, in the order of their codes, so that queries that are near each
// other are worked on together. A threshold is an upper bound of the squared distance of a
// query's k-th neighbour. It only falls, and the limits of both kinds of codes follow it.
type search struct {
	*Index
	k          int
	self       bool       // the queries are the points, at the same positions
	numbers    []int32    // the number of the query at a position
	lists      []topk.Set // by position
	thresholds []float64  // by position

	queryCodes *codes
	queryNorms []int32 // squared norms of the fine codes of the queries
	byteLimits []int32 // limits of squared distances of bytes, from thresholds
	fineLimits []int32 // limits of squared distances of fine codes, from thresholds
	byteError  float64 // largest rounding error of the bytes of a query and a point together
	fineError  float64 // and of their fine codes, in fine steps
}

// newSearch returns a search of k neighbours for n queries, for which nothing is known yet.
func (ix *Index) newSearch(n, k int) *search {
	s := &search{Index: ix, k: k, lists: make([]topk.Set, n), thresholds: make([]float64, n)}
	s.byteLimits = make([]int32, n)
	s.fineLimits = make([]int32, n)
	for i := range s.lists {
		s.thresholds[i] = math.Inf(1)
		s.byteLimits[i] = math.MaxInt32
		s.fineLimits[i] = math.MaxInt32
	}
	return s
}

// makeRoom allocates the lists of nearest points. It is called after the first thresholds are
// known, so that the lists do not stand in memory beside the candidates of that step.
func (s *search) makeRoom() {
	pairs := make([]topk.Pair, len(s.lists)*s.k)
	for i := range s.lists {
		s.lists[i] = topk.Set{Limit: s.k, Heap: pairs[i*s.k : i*s.k : (i+1)*s.k]}
	}
}

// query returns the number of the query at position i.
func (s *search) query(i int) int { return int(s.numbers[i]) }

// lower lowers the threshold of query i to the squared distance d, and its limits with it.
func (s *search) lower(i int, d float64) {
	if d < s.thresholds[i] {
		s.thresholds[i] = d
		s.byteLimits[i] = s.limit(d, 1, s.byteError)
		s.fineLimits[i] = s.limit(d, fine, s.fineError)
	}
}

// offer adds a verified point to the list of query i, unless k nearer ones are in it.
func (s *search) offer(i int, p topk.Pair) {
	set := &s.lists[i]
	if set.Full() && !p.Less(set.Heap[0]) {
		return
	}
	set.Add(p)
	if set.Full() {
		s.lower(i, s.space.Square(set.Heap[0].Dist))
	}
}

// Self calls set with the k nearest other points of every point, nearest first and by
// number where distances are equal. report is given the share of the work that is done.
func (ix *Index) Self(ctx context.Context, k int, newExact func() Exact, report func(share float64),
	set func(i int, list []topk.Pair)) error {
	s := ix.newSearch(ix.codes.n, k)
	s.self = true
	s.numbers = ix.order
	s.queryCodes = ix.codes
	s.queryNorms = ix.fineNorms
	s.byteError = 2 * ix.codes.err[ix.cut]
	s.fineError = 2 * ix.codes.fine

	b := ix.compare(ix.left, ix.byteNorms)
	teams := len(ix.boxes)
	newMeter := ix.meters(ix.space.X, newExact)
	workers := make([]*worker, par.Workers(teams, 1))
	get := func(i int) *worker {
		if workers[i] == nil {
			workers[i] = ix.newWorker(s, newMeter(), b)
		}
		return workers[i]
	}

	// First thresholds come from a few blocks near to each block.
	par.ForWorker(teams, 1, func(i, p, _ int) {
		if ctx.Err() == nil {
			get(i).firstThresholds(b, p)
		}
	})

	// Where they leave too many candidates, one pass over the bytes of all pairs finds better ones.
	if ctx.Err() == nil && s.tooHigh() {
		found, err := b.Self(ctx, min(k+spare, ix.codes.n-1), func(share float64) { report(share / 2) })
		if err != nil {
			return err
		}
		par.ForWorker(teams, 1, func(i, p, _ int) {
			lo := p * b.Block
			get(i).lowerAll(lo, min(lo+b.Block, ix.codes.n), found.Of)
		})
		rest := report
		report = func(share float64) { rest((1 + share) / 2) }
	}

	// Then every pair of blocks is filtered and verified once, for both ends of its pairs.
	s.makeRoom()
	err := blocks.Rounds(ctx, teams, report, func(i, p, q int) { get(i).compareBlocks(b, p, q) })
	if err != nil {
		return err
	}
	par.For(len(s.lists), 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			set(s.query(i), s.lists[i].Take())
		}
	})
	return nil
}

// tooHigh reports whether the first thresholds leave more candidates than a pass over all
// pairs for better thresholds would cost. Thresholds fall while
// pairs are verified: about two fifths of the candidates that they leave at first are left
// during the search.
func (s *search) tooHigh() bool {
	sample := sampled{}
	for i := range s.codes.sample() {
		sample.rows = append(sample.rows, i)
		sample.limits = append(sample.limits, s.thresholds[i])
	}
	c := costs()

	// A pair is a candidate for either of its ends.
	const ends, later = 2, 0.4
	return ends*later*s.share(sample, s.cut)*c.left > float64(s.frame.cuts[s.cut]+1)+c.scan
}

// Query calls set with the k nearest points of every row of x, as [Index.Self] does. newExact
// makes functions that measure rows of x from points. Where the points are bytes, so is x.
func (ix *Index) Query(ctx context.Context, x data.Points, k int, newExact func() Exact, report func(done int),
	set func(i int, list []topk.Pair)) error {
	c, err := ix.frame.encode(ctx, ix.space, x)
	if err != nil {
		return err
	}

	// Queries are put in an order in which the queries of a stripe are near each other, so
	// that a few blocks of points give first thresholds to all of them.
	stripe := ix.compare(ix.left, ix.byteNorms).Stripe
	newMeter := ix.meters(x, newExact)
	order := c.order(stripe)
	c.arrange(order)

	workers := make([]*worker, par.Workers(c.n, stripe))
	par.ForWorker(c.n, stripe, func(i, lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		if workers[i] == nil {
			workers[i] = ix.newWorker(nil, newMeter(), ix.compare(ix.left, ix.byteNorms))
		}
		workers[i].search = ix.stripe(c, order, lo, hi, k)
		workers[i].searchStripe(set)
		report(hi - lo)
	})
	return ctx.Err()
}

// stripe returns the search for the queries at positions lo to hi of c.
func (ix *Index) stripe(c *codes, order []int32, lo, hi, k int) *search {
	s := ix.newSearch(hi-lo, k)
	cuts := len(c.err)
	s.numbers = order[lo:hi]
	s.queryCodes = &codes{n: hi - lo, m: c.m, ld: c.ld, data: c.data[lo*c.ld : hi*c.ld],
		rest: c.rest[lo*cuts : hi*cuts], err: c.err}
	s.queryNorms = s.queryCodes.squares(nil)
	s.byteError = ix.codes.err[ix.cut] + c.err[ix.cut]
	s.fineError = ix.codes.fine + c.fine
	return s
}

// searchStripe finds the neighbours of a stripe of queries that are near each other: first in
// the blocks near to them, for thresholds, then among all points under these thresholds.
func (w *worker) searchStripe(set func(i int, list []topk.Pair)) {
	n := w.queryCodes.n
	width := w.frame.cuts[w.cut] + 1
	flat := w.queryCodes.columns(w.frame.cuts, w.cut, nil)
	b := w.compare(dense.PackAU8(dense.NoTrans, flat, n, width, width), squares(flat, n, width))
	points := w.codes.n
	queries := blocks.Span{Lo: 0, Hi: n}

	// The near blocks hold a few times the candidates that thresholds are made of.
	const enough = 4
	count := max(2*firstBlocks, par.Chunks(enough*(w.k+spare), b.Block))
	near := nearest(w.boxes, boxes(flat, width, n)[0], count)
	w.lowerAll(0, n, b.SearchIn(w.ws, queries, min(w.k+spare, points), near).Of)

	w.makeRoom()
	for j := 0; j < points; j += b.Block {
		block := blocks.Span{Lo: j, Hi: min(j+b.Block, points)}
		w.setPoints(b, block, nil)
		w.filter(b, queries, block, w.byteLimits)
	}
	w.verify()

	for i := range n {
		set(w.query(i), w.lists[i].Take())
	}
}
