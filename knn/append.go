package knn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/knn/internal/blocks"
	"github.com/bigfit/bigfit/knn/internal/nndescent"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/sparse"
)

// Append returns the nb.K nearest other points of every point of x, whose first
// nb.Len() points are those of nb and were searched by method m, and an index of all
// points. st is the state of the index of the first, which only NN-descent needs.
//
// An exact method finds what it would find for all points anew, in the same bits. A
// new point is searched among all; of the new points the nearest of every old one are
// merged with its list, by (distance, index). For n old and m new points of d
// coordinates that is 2nmd operations by [Brute], where one pass is enough, and O(d(m log n + n log m)) by a
// tree in few dimensions, beside the O(nd log n) of the tree itself.
//
// By NN-descent a few thousand new points are compared with all, as by [Brute]: what is new
// in the lists is then exact, and the recall that was estimated for the old ones stands for
// all. They join the index by [nndescent.Insert]. More are searched along the old links,
// the lists they enter are mended, and exchanges go on around them: [nndescent.Append]; the
// recall is estimated anew, and with [ErrRecall] come neighbours whose recall is below
// s.Recall.
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
	old := nb.Len()
	k := nb.K
	ix, err := NewIndex(x, m, s)
	if err != nil || old == total {
		return nb, ix, err
	}
	found, nearer, err := meet(ctx, ix, x, nb, m, s)
	if err != nil {
		return nil, nil, err
	}
	out := newNeighbors(total, k)
	list := make([]topk.Pair, 0, 2*k)
	for i := range old {
		index, dist := nb.Row(i)
		mine := 0
		theirs := nearer[i]
		topk.Sort(theirs)
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

// meet returns for every point of x behind those of nb its k+1 nearest points of ix, the
// index of x, itself included; and for every point of nb at least those of the new ones,
// numbered from 0, that are nearer than the last in its list.
func meet(ctx context.Context, ix Index, x data.Points, nb *Neighbors, m Method, s *DescentSettings) (found *Neighbors, nearer [][]topk.Pair, err error) {
	total, _ := ix.Dims()
	k := nb.K
	old := nb.Len()
	fresh := data.Slice(x, old, total)
	if own, ok := ix.(*index); ok {
		if e, ok := own.engine.(joiner); ok {
			if found, nearer, err = e.join(ctx, fresh, k+1, nb, own.progress.ordered()); found != nil || err != nil {
				return found, nearer, err
			}
		}
	}
	if found, err = WithProgress(ix, s.part(0, total)).Query(ctx, fresh, k+1); err != nil {
		return nil, nil, err
	}
	small, err := NewIndex(fresh, m, &DescentSettings{Settings: Settings{Metric: s.Metric, OnProgress: s.part(total-old, total)}})
	if err != nil {
		return nil, nil, err
	}
	back, err := small.Query(ctx, data.Slice(x, 0, old), min(k, total-old))
	if err != nil {
		return nil, nil, err
	}
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

// last returns the distance of the last neighbour of point i.
func (nb *Neighbors) last(i int) float64 { return nb.Distance[(i+1)*nb.K-1] }

// A joiner does what [meet] does in one pass over the pairs. It returns nothing where it
// cannot.
type joiner interface {
	join(ctx context.Context, fresh data.Points, k int, nb *Neighbors, p progress) (*Neighbors, [][]topk.Pair, error)
}

// meetings are the pairs that the stripes of a search came across, by stripe, so that
// their order is that of one goroutine.
type meetings struct {
	stripe int
	met    [][]meeting
}

// A meeting is a query, its distance from a point, and the point.
type meeting struct {
	topk.Pair
	point int32
}

func newMeetings(queries, stripe int) *meetings {
	return &meetings{stripe, make([][]meeting, (queries-1)/stripe+1)}
}

// add notes that query i of the stripe from lo on is at distance d of point j.
func (m *meetings) add(lo, i, j int, d float64) {
	list := &m.met[lo/m.stripe]
	*list = append(*list, meeting{topk.Pair{Dist: d, Index: int32(lo + i)}, int32(j)})
}

// rows returns the queries that each of n points met.
func (m *meetings) rows(n int) [][]topk.Pair {
	out := make([][]topk.Pair, n)
	for _, list := range m.met {
		for _, e := range list {
			out[e.point] = append(out[e.point], e.Pair)
		}
	}
	return out
}

func (ix *denseIndex) join(ctx context.Context, fresh data.Points, k int, nb *Neighbors, p progress) (*Neighbors, [][]topk.Pair, error) {
	limits := slices.Repeat([]float32{blocks.Nothing[float32]()}, ix.n)
	for i := range nb.Len() {
		limits[i] = ix.limit(ix.own.sq[i], ix.metric.square(nb.last(i)))
		if math.IsInf(float64(limits[i]), 1) {
			return nil, nil, nil // float32 is too coarse
		}
	}
	n, _ := fresh.Dims()
	m := newMeetings(n, ix.compare(ix.own).Stripe)
	found, err := ix.search(ctx, fresh, k, func(c *comparison, lo int) *blocks.Meetings[float32] {
		return &blocks.Meetings[float32]{Limits: limits, Met: func(i, j int, _ float32) {
			c.loadOnce(c.queries, i)
			if d := c.distance(j); d < nb.last(j) { // of a tie the old point has the smaller number
				m.add(lo, i, j, d)
			}
		}}
	}, p)
	return found, m.rows(nb.Len()), err
}

func (ix *byteIndex) join(ctx context.Context, fresh data.Points, k int, nb *Neighbors, p progress) (*Neighbors, [][]topk.Pair, error) {
	q, ok := fresh.(*data.Dense[uint8])
	if !ok {
		return nil, nil, nil
	}
	limits := slices.Repeat([]int32{blocks.Nothing[int32]()}, ix.x.Rows)
	for i := range nb.Len() {
		limits[i] = int32(math.Round(nb.last(i) * nb.last(i)))
	}
	m := newMeetings(q.Rows, ix.compare(ix.left, ix.sq).Stripe)
	found, err := ix.search(ctx, q, k, func(lo int) *blocks.Meetings[int32] {
		return &blocks.Meetings[int32]{Limits: limits, Met: func(i, j int, d int32) { m.add(lo, i, j, math.Sqrt(float64(d))) }}
	}, p)
	return found, m.rows(nb.Len()), err
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
	if nb.K == st.Stats.K && insertable(ix.x, nb.Len(), s.Metric) {
		return insertDescent(ctx, out, nb, st, s)
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
		sample, err := NewRecallSample(ctx, x, s.Metric, nb.K, ix.settings.Sample, s.Seed)
		if err != nil {
			return nil, nil, err
		}
		stats.Recall = ix.recall(g, sample)
	}
	ix.graph = &descentGraph{g, rows, stats}
	all, err := out.Self(ctx, nb.K)
	return all, out, err
}

// fewNew is the number of new points up to which comparing them with all takes less time
// than a search: a pass over the lists that a search begins with measures each point some
// hundred times, in no order.
const fewNew = 4000

// insertable reports whether points join old ones, the first of x, by [insertDescent]. Sets
// and sparse rows are compared too slowly, and of the few points of one leaf the lists are
// exact already.
func insertable(x data.Points, old int, metric Metric) bool {
	n, _ := x.Dims()
	_, isSparse := x.(*sparse.CSR)
	return !isSparse && metric != Hamming && metric != Jaccard && n-old <= fewNew && old > nndescent.LeafSize
}

// insertDescent is Append for few new points; out is an index of all without a graph.
func insertDescent(ctx context.Context, out *Descent, nb *Neighbors, st *State, s *DescentSettings) (*Neighbors, Index, error) {
	ix := out.descent
	all, _, err := appendExact(ctx, ix.x, nb, Brute, s)
	if err != nil {
		return nil, nil, err
	}
	lists := make([][]int32, ix.n) // those that are new or have changed
	for i := range lists {
		list, _ := all.Row(i)
		if i < nb.Len() {
			if before, _ := nb.Row(i); slices.Equal(list, before) {
				continue
			}
		}
		lists[i] = list
	}
	rows := ix.rows()
	g, err := nndescent.Insert(ix.set(rows), st.descent(), lists, s.Seed)
	if err != nil {
		return nil, nil, fmt.Errorf("knn: %w", err)
	}
	ix.graph = &descentGraph{g, rows, *st.Stats}
	return all, out, ix.enough(st.Stats.Recall)
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
		least = math.Inf(-1)
		kind = "finite"
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
	if m == NNDescent && insertable(x, old, metric) {
		bytes += IndexBytes(x, Brute, metric, k) + 24*int64(n) // lists that change
	}
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
	return 2 * BruteOperations(x) / float64(n) * float64(n-old)
}
