package knn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn/internal/blocks"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/sparse"
)

// Append returns the nb.K nearest other points of every point of x, and an index of x. nb holds the
// lists of the first nb.Len() points of x, the old ones, found by method m. st is the state of
// their index, which only NN-descent needs.
//
// An exact method returns the bits of a search of all points. It searches the neighbours of every
// new point among all points, and merges the new points nearest to an old point with its list, by
// (distance, index). For n old and m new points of d coordinates that takes 2nmd operations by
// [Brute], where one pass is enough, and O(d(m log n + n log m)) by a tree in few dimensions,
// beside O(nd log n) for the tree itself.
//
// By NN-descent, up to 4000 new points are compared with all points, as by [Brute]. New entries of
// the lists are then exact, and the recall that was estimated for the old lists stands for all. The
// points join the index by [nndescent.Insert]. More new points join it by [nndescent.Append], a
// search along the old links with exchanges around the new points. The recall is then estimated
// anew, and neighbours with a recall below s.Recall come with [ErrRecall].
func Append(ctx context.Context, x data.Points, nb *Neighbors, m Method, st *State, s *DescentSettings) (
	*Neighbors, Index, error) {
	if s == nil {
		s = &DescentSettings{}
	}
	total, _ := x.Dims()
	if old := nb.Len(); old > total || nb.K < 1 || nb.K >= total {
		return nil, nil, fmt.Errorf("knn: lists of %d neighbours of %d points for %d points", nb.K, old, total)
	}
	if m == NNDescent {
		return appendDescent(ctx, x, nb, st, s)
	}

	return appendExact(ctx, x, nb, m, s)
}

// appendExact is Append by an exact method.
func appendExact(ctx context.Context, x data.Points, nb *Neighbors, m Method, s *DescentSettings) (
	*Neighbors, Index, error) {
	total, _ := x.Dims()
	old := nb.Len()
	k := nb.K
	ix, err := NewIndex(x, m, s)
	if err != nil || old == total {
		return nb, ix, err
	}
	found, nearer, err := searchJoined(ctx, ix, x, nb, m, s)
	if err != nil {
		return nil, nil, err
	}

	// Lists of old points are merged with the new points near to them.
	out := newNeighbors(total, k)
	list := make([]topk.Pair, 0, 2*k)
	for i := range old {
		index, dist := nb.Row(i)
		mine := 0
		theirs := nearer[i]
		topk.Sort(theirs)
		for list = list[:0]; len(list) < k; {
			// New points have larger numbers, so an old one wins a tie.
			if len(theirs) == 0 || mine < k && dist[mine] <= theirs[0].Dist {
				list = append(list, topk.Pair{Dist: dist[mine], Index: index[mine]})
				mine++
				continue
			}
			list = append(list, topk.Pair{Dist: theirs[0].Dist, Index: int32(old) + theirs[0].Index})
			theirs = theirs[1:]
		}
		out.set(i, list)
	}

	// A new point finds itself too, so its search was for one neighbour more.
	for i := old; i < total; i++ {
		out.setOthers(i, found, i-old)
	}
	return out, ix, nil
}

// searchJoined searches for both sides of a join. found holds the nb.K+1 nearest points of every
// new point of x, itself included, by ix, the index of x. nearer holds, for every old point, all
// new points that are nearer than the last one in its list, and perhaps others. New points are
// numbered from 0 there.
func searchJoined(ctx context.Context, ix Index, x data.Points, nb *Neighbors, m Method, s *DescentSettings) (
	found *Neighbors, nearer [][]topk.Pair, err error) {
	total, _ := ix.Dims()
	k := nb.K
	old := nb.Len()
	fresh := data.Slice(x, old, total)

	// Some engines need one pass over the pairs of new and old points.
	if own, ok := ix.(*index); ok {
		if e, ok := own.engine.(joiner); ok {
			found, nearer, err = e.join(ctx, fresh, k+1, nb, own.progress.ordered())
			if found != nil || err != nil {
				return found, nearer, err
			}
		}
	}

	// Others search twice: new points among all, and old points among the new ones.
	if found, err = WithProgress(ix, s.part(0, total)).Query(ctx, fresh, k+1); err != nil {
		return nil, nil, err
	}
	ofFresh := &DescentSettings{Settings: Settings{Metric: s.Metric, OnProgress: s.part(total-old, total)}}
	small, err := NewIndex(fresh, m, ofFresh)
	if err != nil {
		return nil, nil, err
	}
	back, err := small.Query(ctx, data.Slice(x, 0, old), min(k, total-old))
	if err != nil {
		return nil, nil, err
	}

	// The lists of back ascend, so the first point that is not nearer ends them. At a tie the old
	// point stays.
	nearer = make([][]topk.Pair, old)
	for i := range nearer {
		index, dist := back.Row(i)
		for p, j := range index {
			if dist[p] >= nb.last(i) {
				break
			}
			nearer[i] = append(nearer[i], topk.Pair{Dist: dist[p], Index: j})
		}
	}

	return found, nearer, nil
}

// A joiner is an engine that does the work of [searchJoined] in one pass over the pairs. It returns
// nil lists where it cannot.
type joiner interface {
	join(ctx context.Context, fresh data.Points, k int, nb *Neighbors, p progress) (
		*Neighbors, [][]topk.Pair, error)
}

// reversePairs collects pairs that a search reports, by stripe, so that they have the order in which
// one goroutine would find them.
type reversePairs struct {
	stripe int
	pairs  [][]reversePair
}

// A reversePair is a point, and a query near to it with its distance.
type reversePair struct {
	topk.Pair
	point int32
}

// newReversePairs returns an empty collection for a number of queries.
func newReversePairs(queries, stripe int) *reversePairs {
	return &reversePairs{stripe, make([][]reversePair, (queries-1)/stripe+1)}
}

// add records that query i of the stripe that begins at query lo is at distance d of point j.
func (m *reversePairs) add(lo, i, j int, d float64) {
	list := &m.pairs[lo/m.stripe]
	*list = append(*list, reversePair{topk.Pair{Dist: d, Index: int32(lo + i)}, int32(j)})
}

// rows returns, for each of n points, the queries recorded for it.
func (m *reversePairs) rows(n int) [][]topk.Pair {
	out := make([][]topk.Pair, n)
	for _, list := range m.pairs {
		for _, e := range list {
			out[e.point] = append(out[e.point], e.Pair)
		}
	}
	return out
}

func (ix *denseIndex) join(ctx context.Context, fresh data.Points, k int, nb *Neighbors, p progress) (
	*Neighbors, [][]topk.Pair, error) {
	// Only old points ask for pairs, up to the last distance in their lists.
	limits := slices.Repeat([]float32{blocks.Nothing[float32]()}, ix.n)
	for i := range nb.Len() {
		limits[i] = ix.limit(ix.own.sq[i], ix.metric.square(nb.last(i)))
		if math.IsInf(float64(limits[i]), 1) {
			return nil, nil, nil // float32 is too coarse
		}
	}

	n, _ := fresh.Dims()
	m := newReversePairs(n, ix.compare(ix.own).Stripe)
	found, err := ix.search(ctx, fresh, k, func(c *comparison, lo int) *blocks.Reverse[float32] {
		return &blocks.Reverse[float32]{Limits: limits, Found: func(i, j int, _ float32) {
			c.loadOnce(c.queries, i)
			if d := c.distance(j); d < nb.last(j) { // at a tie the old point, with the smaller number, stays
				m.add(lo, i, j, d)
			}
		}}
	}, p)
	return found, m.rows(nb.Len()), err
}

func (ix *byteIndex) join(ctx context.Context, fresh data.Points, k int, nb *Neighbors, p progress) (
	*Neighbors, [][]topk.Pair, error) {
	q, ok := fresh.(*data.Dense[uint8])
	if !ok {
		return nil, nil, nil
	}

	limits := slices.Repeat([]int32{blocks.Nothing[int32]()}, ix.x.Rows)
	for i := range nb.Len() {
		// The squared distance is a whole number again.
		limits[i] = int32(math.Round(nb.last(i) * nb.last(i)))
	}

	m := newReversePairs(q.Rows, ix.compare(ix.left, ix.sq).Stripe)
	found, err := ix.search(ctx, q, k, func(lo int) *blocks.Reverse[int32] {
		return &blocks.Reverse[int32]{Limits: limits, Found: func(i, j int, d int32) {
			m.add(lo, i, j, math.Sqrt(float64(d)))
		}}
	}, p)
	return found, m.rows(nb.Len()), err
}

// part returns OnProgress for a search that begins after done of total queries are answered.
func (s *Settings) part(done, total int) func(int, int) {
	if s.OnProgress == nil {
		return nil
	}
	return func(more, _ int) { s.OnProgress(min(done+more, total), total) }
}

// AppendBytes returns the memory that [Append] takes beside x, for k neighbours. The
// first old points of x have lists.
func AppendBytes(x data.Points, old, k int, m Method, metric Metric) int64 {
	n, _ := x.Dims()
	bytes := IndexBytes(x, m, metric, k)
	if m == NNDescent && insertable(x, old, metric) {
		bytes += IndexBytes(x, Brute, metric, k) + 24*int64(n) // headers of the lists that change
	}
	if m != NNDescent {
		bytes += 12 * int64(n) * int64(k)
	}
	if s, ok := x.(*sparse.CSR); ok {
		bytes += 12 * int64(s.NNZ()) // copies of old and new points
	}

	return bytes
}

// AppendOperations returns the floating-point operations of [Append] to the first old points of x,
// if the method compares all pairs, and 0 for other methods.
func AppendOperations(x data.Points, old int, m Method) float64 {
	n, _ := x.Dims()
	if m != Brute || n == 0 {
		return 0
	}
	return 2 * BruteOperations(x) / float64(n) * float64(n-old)
}
