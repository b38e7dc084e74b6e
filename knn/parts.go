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

// partSize is the number of points that parts prepares at a time.
const partSize = 1 << 14

// parts compares queries with all points as [NewBrute] does, but with partSize of them at
// a time, so that it holds copies of no more beside the points, which may be files.
type parts struct {
	x      data.Points
	metric Metric
}

// inParts reports whether all pairs are compared in parts: those of points that stay as
// they are stored, as copies of all of them could be larger than memory.
func inParts(x data.Points, m Metric) bool {
	s, ok := x.(*data.Stored)
	return ok && s.Rows > partSize && (m == Euclidean || m == InnerProduct || m.angular())
}

func (e *parts) query(ctx context.Context, x data.Points, k int, p progress) (*Neighbors, error) {
	return e.search(ctx, x, k, func(int) int { return -1 }, p)
}

func (e *parts) self(ctx context.Context, k int, p progress) (*Neighbors, error) {
	return e.search(ctx, e.x, k, func(i int) int { return i }, p)
}

func (e *parts) within(ctx context.Context, radius float64, budget *pairBudget, p progress) (*sparse.CSR, error) {
	return newDense(e.x, e.metric).within(ctx, radius, budget, p)
}

// search finds the k nearest points of every row of x but for the point that own names.
func (e *parts) search(ctx context.Context, x data.Points, k int, own func(i int) int, p progress) (*Neighbors, error) {
	n, _ := e.x.Dims()
	queries, _ := x.Dims()
	out := newNeighbors(queries, k)
	for i := range out.Index {
		out.Index[i] = math.MaxInt32
		out.Distance[i] = math.Inf(1)
	}
	for lo := 0; lo < n; lo += partSize {
		if n > 8*partSize && lo%(4*partSize) == 0 {
			runtime.GC() // or the parts' memory would grow as large as all that lives
		}
		hi := min(lo+partSize, n)
		ix, err := bruteEngine(data.Slice(e.x, lo, hi), e.metric)
		if err != nil {
			return nil, err
		}
		nb, err := ix.query(ctx, x, min(k+1, hi-lo), nil)
		if err != nil {
			return nil, err
		}
		data.Release(e.x, lo, hi)
		par.For(queries, 1024, func(a, b int) {
			list := make([]topk.Pair, 0, k)
			for i := a; i < b; i++ {
				list = out.merge(list[:0], i, nb, lo, own(i))
			}
		})
		if hi < n {
			p.share(float64(hi)/float64(n), queries)
		}
	}
	p.report(queries, queries)
	return out, nil
}

// merge takes the nearest of list i and of list i of more, whose points are numbered from
// first on, without point own. list is scratch memory, which it returns.
func (nb *Neighbors) merge(list []topk.Pair, i int, more *Neighbors, first, own int) []topk.Pair {
	index, dist := nb.Row(i)
	also, alsoDist := more.Row(i)
	for a, b := 0, 0; len(list) < nb.K; {
		for b < len(also) && first+int(also[b]) == own {
			b++
		}
		// The numbers of points to come are the larger ones.
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
