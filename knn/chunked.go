package knn

import (
	"context"
	"math"
	"runtime"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
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
		// One more than k, as a point may find itself.
		nb, err := ix.query(ctx, x, min(k+1, hi-lo), nil)
		if err != nil {
			return err
		}

		par.For(queries, 1024, func(a, b int) {
			list := make([]topk.Pair, 0, k)
			for i := a; i < b; i++ {
				list = out.merge(list[:0], i, nb, lo, own(i))
			}
		})
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
