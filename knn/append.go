package knn

import (
	"context"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/nndescent"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/internal/topk"
	"github.com/bigfit/bigfit/sparse"
)

// Append returns the nb.K nearest other points of every point of x, whose first
// nb.Len() points are those of nb and were searched by method m, and an index of all
// points. st is the state of the index of the first, which only NN-descent needs.
//
// An exact method finds what it would find for all points anew, in the same bits. A
// new point is searched among all; of the new points the nearest of every old one are
// merged with its list, by (distance, index). For n old and m new points of d
// coordinates that is 4nmd operations by [Brute], and O(d(m log n + n log m)) by a
// tree in few dimensions, beside the O(nd log n) of the tree itself.
//
// By NN-descent new points are searched along the old links, the lists they enter are
// mended, and exchanges go on around them: [nndescent.Append]. The recall of all lists is
// estimated anew; with [ErrRecall] come neighbours whose recall is below s.Recall.
func Append(ctx context.Context, x data.Points, nb *Neighbors, m Method, st *State, s *DescentSettings) (*Neighbors, Index, error) {
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

func appendExact(ctx context.Context, x data.Points, nb *Neighbors, m Method, s *DescentSettings) (*Neighbors, Index, error) {
	total, _ := x.Dims()
	old, k := nb.Len(), nb.K
	ix, err := NewIndex(x, m, s)
	if err != nil || old == total {
		return nb, ix, err
	}
	fresh := data.Slice(x, old, total)
	found, err := WithProgress(ix, s.part(0, total)).Query(ctx, fresh, k+1)
	if err != nil {
		return nil, nil, err
	}
	small, err := NewIndex(fresh, m, &DescentSettings{Settings: Settings{Metric: s.Metric, OnProgress: s.part(total-old, total)}})
	if err != nil {
		return nil, nil, err
	}
	nearest, err := nearerThan(ctx, small, data.Slice(x, 0, old), nb)
	if err != nil {
		return nil, nil, err
	}
	out := newNeighbors(total, k)
	list := make([]topk.Pair, 0, 2*k)
	for i := range old {
		index, dist := nb.Row(i)
		mine, theirs := 0, nearest[i]
		for list = list[:0]; len(list) < k; {
			// The numbers of new points are the larger ones.
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
	for i := old; i < total; i++ {
		out.setOthers(i, found, i-old)
	}
	return out, ix, nil
}

// nearerThan returns for every point of x at least those points of ix, nearest first,
// that come before the last neighbour in its list; they may be all of its nearest.
func nearerThan(ctx context.Context, ix Index, x data.Points, nb *Neighbors) ([][]topk.Pair, error) {
	if own, ok := ix.(*index); ok {
		if e, ok := own.engine.(*denseIndex); ok {
			return e.nearerThan(ctx, x, nb, own.progress.ordered())
		}
	}
	m, _ := ix.Dims()
	found, err := ix.Query(ctx, x, min(nb.K, m))
	if err != nil {
		return nil, err
	}
	rows := make([][]topk.Pair, nb.Len())
	for i := range rows {
		index, dist := found.Row(i)
		for p, j := range index {
			if dist[p] >= nb.Distance[(i+1)*nb.K-1] {
				break
			}
			rows[i] = append(rows[i], topk.Pair{Dist: dist[p], Index: j})
		}
	}
	return rows, nil
}

// nearerThan looks for points within the last distance of each list only: hardly any
// is, so that it costs the products alone.
func (ix *denseIndex) nearerThan(ctx context.Context, x data.Points, nb *Neighbors, p progress) ([][]topk.Pair, error) {
	if _, ok := x.(*data.Dense[uint8]); !ok && ix.bytes != nil {
		return ix.floats().nearerThan(ctx, x, nb, p)
	}
	rows := make([][]topk.Pair, nb.Len())
	err := inStripes(ctx, nb.Len(), ix.compare(ix.own).Stripe, p, func() func(lo, hi int) {
		c := &comparison{denseIndex: ix, measurer: newMeasurer(ix.x, ix.metric)}
		return func(lo, hi int) {
			c.queries = ix.prepareSide(x, lo, hi)
			c.Blocks = ix.compare(c.queries)
			if c.Workspace == nil {
				c.Workspace = c.NewWorkspace()
			}
			limits, last := make([]float32, hi-lo), make([]float64, hi-lo)
			for i := range limits {
				last[i] = nb.Distance[(lo+i+1)*nb.K-1]
				limits[i] = ix.limit(c.queries.sq[i], ix.metric.square(last[i]))
			}
			c.nearby(0, hi-lo, limits, func(i, j int, d float64) {
				if d < last[i] { // of a tie the old point has the smaller number
					rows[lo+i] = append(rows[lo+i], topk.Pair{Dist: d, Index: int32(j)})
				}
			})
			for i := lo; i < hi; i++ {
				topk.Sort(rows[i])
			}
		}
	})
	return rows, err
}

// setOthers makes row from of found, which holds one neighbour more, the list of point i
// without i itself.
func (nb *Neighbors) setOthers(i int, found *Neighbors, from int) {
	index, dist := found.Row(from)
	list := make([]topk.Pair, 0, nb.K)
	for p, j := range index {
		if int(j) != i && len(list) < nb.K { // i may be behind as many others at no distance
			list = append(list, topk.Pair{Dist: dist[p], Index: j})
		}
	}
	nb.set(i, list)
}

// part returns OnProgress for a search that begins when done of total queries are
// answered.
func (s *Settings) part(done, total int) func(int, int) {
	if s.OnProgress == nil {
		return nil
	}
	return func(more, _ int) { s.OnProgress(min(done+more, total), total) }
}

func appendDescent(ctx context.Context, x data.Points, nb *Neighbors, st *State, s *DescentSettings) (*Neighbors, Index, error) {
	if st == nil || st.Method != NNDescent || st.Stats == nil {
		return nil, nil, fmt.Errorf("knn: points can join lists of NN-descent only with the state of its index, which is not there")
	}
	out, err := NewDescent(x, s)
	if err != nil {
		return nil, nil, err
	}
	ix := out.descent
	if err := st.complete(nb.Len()); err != nil {
		return nil, nil, err
	}
	if nb.K > st.Stats.K {
		return nil, nil, fmt.Errorf("knn: lists of %d neighbours of an index of %d", nb.K, st.Stats.K)
	}
	p := progress(s.OnProgress).ordered()
	rows := ix.rows()
	g, err := nndescent.Append(ctx, ix.set(rows), st.descent(), nndescent.Settings{
		K: st.Stats.K, Candidates: ix.settings.Candidates, Exchanges: ix.settings.Exchanges,
		Tolerance: ix.settings.Tolerance, Seed: s.Seed, Step: ix.reporter(p, 7),
	})
	if err != nil {
		return nil, nil, fmt.Errorf("knn: %w", err)
	}
	t := g.Stats()
	stats := DescentStats{K: t.K, Width: t.Width, Trees: t.Trees, Exchanges: t.Exchanges, Distances: t.Distances, Effort: st.Stats.Effort}
	if ix.settings.Sample > 0 {
		sample, err := newRecallSample(ctx, x, s.Metric, nb.K, ix.settings.Sample, s.Seed)
		if err != nil {
			return nil, nil, err
		}
		stats.Recall = ix.recall(g, sample)
	}
	ix.graph = &descentGraph{g, rows, stats}
	all, err := out.Self(ctx, nb.K)
	return all, out, err
}

// ListIndices and ListDistances are the arrays of lists in files of graphs and models.
const (
	ListIndices   = "neighbor_indices"
	ListDistances = "neighbor_distances"
)

// Entries returns the lists as files hold them, n×K each; nil has none.
func (nb *Neighbors) Entries() []npy.Entry {
	if nb == nil {
		return nil
	}
	shape := []int{nb.Len(), nb.K}
	return []npy.Entry{{Name: ListIndices, Shape: shape, Data: nb.Index}, {Name: ListDistances, Shape: shape, Data: nb.Distance}}
}

// CheckLists returns an error unless nb can be lists of n points that a file holds: n×K,
// of other points, nearest first by the metric. The arrays are named as in files,
// neighbor_indices and neighbor_distances.
func (nb *Neighbors) CheckLists(n int, m Metric) error {
	if nb.K < 1 || nb.K >= n || len(nb.Index) != n*nb.K || len(nb.Distance) != n*nb.K {
		return fmt.Errorf("knn: neighbor_indices has %d elements and neighbor_distances %d for %d neighbours of each of %d points", len(nb.Index), len(nb.Distance), nb.K, n)
	}
	least, kind := 0.0, "finite, not negative"
	if m == InnerProduct {
		least, kind = math.Inf(-1), "finite"
	}
	for i := range n {
		index, dist := nb.Row(i)
		for p, j := range index {
			if j < 0 || int(j) >= n || int(j) == i {
				return fmt.Errorf("knn: element (%d, %d) of neighbor_indices is %d; it must be another point of %d", i, p, j, n)
			}
			if d := dist[p]; !(d >= least) || d-d != 0 || p > 0 && (d < dist[p-1] || d == dist[p-1] && j == index[p-1]) {
				return fmt.Errorf("knn: element (%d, %d) of neighbor_distances is %v; %v distances must be %s and ascend, and no neighbour may be there twice", i, p, d, m, kind)
			}
		}
	}
	return nil
}

// Bytes returns the memory of the lists; of nil it is 0.
func (nb *Neighbors) Bytes() int64 {
	if nb == nil {
		return 0
	}
	return 12 * int64(len(nb.Index))
}

// AppendBytes returns the memory that [Append] takes beside x, which has old points of
// before among n, for k neighbours.
func AppendBytes(x data.Points, old, k int, m Method, metric Metric) int64 {
	n, _ := x.Dims()
	bytes := IndexBytes(x, m, metric, k)
	if m != NNDescent {
		bytes += 12 * int64(n) * int64(k)
	}
	if s, ok := x.(*sparse.CSR); ok {
		bytes += 12 * int64(s.NNZ()) // its two parts
	}
	return bytes
}

// AppendOperations returns the floating-point operations of [Append] for old points
// among those of x, with an exact method that compares all pairs; 0 of another.
func AppendOperations(x data.Points, old int, m Method) float64 {
	n, _ := x.Dims()
	if m != Brute || n == 0 {
		return 0
	}
	return 4 * BruteOperations(x) / float64(n) * float64(n-old)
}
