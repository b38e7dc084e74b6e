package knn

import (
	"context"
	"math"
	"runtime"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn/internal/blocks"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/sparse"
)

// chunkSize is the number of points that are prepared at a time.
const chunkSize = 1 << 14

// chunked compares queries with all points as [NewBrute] does, but prepares chunkSize points at a
// time. Copies of no more points are held beside the points, which may stay in files.
type chunked struct {
	x      data.Points
	metric Metric
}

// inChunks reports whether all pairs are compared in chunks. Stored points are: copies of all of
// them could be larger than memory.
func inChunks(x data.Points, m Metric) bool {
	s, ok := x.(*data.Stored)
	return ok && s.Rows > chunkSize && (m.multiplies())
}

func (e *chunked) query(ctx context.Context, x data.Points, k int, p progress) (*Neighbors, error) {
	return e.search(ctx, x, k, func(int) int { return -1 }, p)
}

func (e *chunked) self(ctx context.Context, k int, p progress) (*Neighbors, error) {
	return e.search(ctx, e.x, k, func(i int) int { return i }, p)
}

func (e *chunked) within(ctx context.Context, radius float64, budget *pairBudget, p progress) (*sparse.CSR, error) {
	return newDense(e.x, e.metric).within(ctx, radius, budget, p)
}

// search finds the k nearest points of every row of x. Point own(i) is left out of list i.
func (e *chunked) search(ctx context.Context, x data.Points, k int, own func(i int) int, p progress) (
	*Neighbors, error) {
	n, _ := e.x.Dims()
	queries, _ := x.Dims()
	out := newNeighbors(queries, k)
	for i := range out.Index {
		out.Index[i] = math.MaxInt32
		out.Distance[i] = math.Inf(1)
	}

	err := data.Each(e.x, chunkSize, func(lo, hi int) error {
		// The collector waits until garbage is as large as all live memory. Forced after every
		// fourth chunk, it keeps the garbage to the copies of four chunks.
		if n > 8*chunkSize && lo%(4*chunkSize) == 0 {
			runtime.GC()
		}
		ix, err := bruteEngine(data.Slice(e.x, lo, hi), e.metric)
		if err != nil {
			return err
		}
		if err := out.join(ctx, ix, x, blocks.Span{Lo: lo, Hi: hi}, own); err != nil {
			return err
		}
		if hi < n {
			p.share(float64(hi)/float64(n), queries)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p.report(queries, queries)
	return out, nil
}

// join enters some of the points, which ix indexes, into the lists of x where they are nearer than what is there.
func (nb *Neighbors) join(ctx context.Context, ix engine, x data.Points, points blocks.Span, own func(i int) int) error {
	queries, _ := x.Dims()
	// Complete lists say how near a point must be, and all others are passed over by their distance in float32.
	if d, ok := ix.(*denseIndex); ok && points.Lo > nb.K {
		return d.nearer(ctx, x, nb, points.Lo, own)
	}

	// One more than K, as a point may find itself.
	more, err := ix.query(ctx, x, min(nb.K+1, points.Hi-points.Lo), nil)
	if err != nil {
		return err
	}
	par.For(queries, 1024, func(a, b int) {
		list := make([]topk.Pair, 0, nb.K)
		for i := a; i < b; i++ {
			list = nb.merge(list[:0], i, more, points.Lo, own(i))
		}
	})
	return nil
}

// nearer enters the points that are nearer to a row of x than the last point of its list, which is complete, into the
// list. Points are numbered from first on, and all in the lists come before.
func (ix *denseIndex) nearer(ctx context.Context, x data.Points, lists *Neighbors, first int, own func(i int) int) error {
	return ix.compareStripes(ctx, x, nil, func(c *comparison, lo, hi int) {
		limits := make([]float32, hi-lo)
		best := make([]*topk.Set, hi-lo)
		for i := range limits {
			best[i] = topk.New(lists.K)
			index, dist := lists.Row(lo + i)
			for p, d := range dist {
				best[i].Add(topk.Pair{Dist: d, Index: index[p]})
			}
			limits[i] = ix.limit(c.queries.sq[i], ix.metric.square(dist[lists.K-1]))
		}

		c.nearby(0, hi-lo, limits, func(i, j int, distance float64) {
			if j += first; j != own(lo+i) {
				best[i].Add(topk.Pair{Dist: distance, Index: int32(j)})
			}
		})
		for i, set := range best {
			lists.set(lo+i, set.Take())
		}
	})
}

// merge sets list i to the nearest points of list i and of list i of more, without point own. Points
// of more are numbered from first on. list is scratch memory, which it returns.
func (nb *Neighbors) merge(list []topk.Pair, i int, more *Neighbors, first, own int) []topk.Pair {
	index, dist := nb.Row(i)
	also, alsoDist := more.Row(i)
	for a, b := 0, 0; len(list) < nb.K; {
		for b < len(also) && first+int(also[b]) == own {
			b++
		}

		// Points of later chunks have larger numbers, so earlier points win ties.
		if b == len(also) || dist[a] <= alsoDist[b] {
			list = append(list, topk.Pair{Dist: dist[a], Index: index[a]})
			a++
			continue
		}
		list = append(list, topk.Pair{Dist: alsoDist[b], Index: int32(first) + also[b]})
		b++
	}
	nb.set(i, list)
	return list
}
