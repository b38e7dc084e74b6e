package knn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn/internal/nndescent"
	"github.com/bigfit/bigfit/knn/internal/prepared"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/sparse"
)

// ErrRecall means that the recall asked for was not reached. The neighbours returned with it are
// usable, and [Descent.Stats] holds the recall that was reached.
var ErrRecall = errors.New("knn: the recall asked for was not reached")

// DescentSettings are the settings of [NewDescent]. The zero value is ready for use.
type DescentSettings struct {
	Settings
	// Trees is the largest number of random projection trees that give the first
	// lists. Of points that are numbers the first tree alone is one; a carving into overlapping parts counts as four. Default 8.
	Trees int
	// Candidates is the largest number of neighbours of each kind (listed and listing, fresh
	// and used) that a point brings to a local join in one exchange, at most 100. Default 16.
	Candidates int
	// Exchanges is the largest number of exchanges in one pass. Default 12.
	Exchanges int
	// Tolerance ends the trees of a pass when one of them replaces less than this share of all
	// entries, and then the pass when an exchange replaces less. Default 0.01.
	Tolerance float64
	// Recall asks for at least this recall. While the estimate is below it, the search goes on
	// with twice the trees and candidates, a quarter of the tolerance and longer lists, five
	// times at most. Default 0: one pass, whatever its recall.
	Recall float64
	// Sample is the number of points on which the recall is estimated. Default
	// 1000; −1 omits the estimate, if Recall is 0.
	Sample int
	// Widening is the ε of Query: the search goes on from points up to 1+ε times as far away
	// as the last neighbour found. Default 0.1.
	Widening float64
	// Seed determines the trees, the choice of candidates and the sample.
	Seed uint64
	// Save, if not nil, is given the state of a search after every tree and exchange. An error
	// ends the search. Resume is such a state: a search of the same points for the same number
	// of neighbours with the same settings goes on from it and finds the same neighbours.
	Save   func(DescentRound) error
	Resume *DescentRound
}

// DescentRound is the state of an unfinished search between two trees or exchanges. Its
// slices belong to the search.
type DescentRound struct {
	K         int   // neighbours per point searched for
	Width     int   // length of the lists of candidates
	Trees     int   // random projection trees grown
	Exchanges int   // exchanges made
	Distances int64 // distances computed in float32
	Effort    int   // number of times the effort was raised
	Grown     bool  `json:"grown"`    // no more trees are needed in this pass
	Exchange  int   `json:"exchange"` // exchanges made in this pass
	Settled   bool  `json:"settled"`  // the last exchange changed few lists

	// Index and Dist are the lists of candidates, n×Width.
	Index []uint32  `json:"-"`
	Dist  []float32 `json:"-"`
}

// roundOf returns the state of a search as its settings give it to a caller.
func roundOf(r nndescent.Round) DescentRound {
	return DescentRound{
		K: r.K, Width: r.Width, Trees: r.Trees, Exchanges: r.Exchanges, Distances: r.Distances,
		Effort: r.Effort,
		Grown:  r.Grown, Exchange: r.Exchange, Settled: r.Settled, Index: r.Index, Dist: r.Dist,
	}
}

// round is the inverse of roundOf; nil stays nil.
func (r *DescentRound) round() *nndescent.Round {
	if r == nil {
		return nil
	}
	stats := nndescent.Stats{K: r.K, Width: r.Width, Trees: r.Trees, Exchanges: r.Exchanges,
		Distances: r.Distances, Effort: r.Effort}
	return &nndescent.Round{Stats: stats, Grown: r.Grown, Exchange: r.Exchange, Settled: r.Settled,
		Index: r.Index, Dist: r.Dist}
}

// maxEffort is the number of times that the effort is raised for the recall.
const maxEffort = 5

// filled returns the settings with the defaults in place of zeros.
func (s DescentSettings) filled() DescentSettings {
	s.Trees = cmp.Or(s.Trees, 8)
	s.Candidates = cmp.Or(s.Candidates, 16)
	s.Exchanges = cmp.Or(s.Exchanges, 12)
	s.Tolerance = cmp.Or(s.Tolerance, 0.01)
	s.Sample = cmp.Or(s.Sample, 1000)
	s.Widening = cmp.Or(s.Widening, 0.1)
	return s
}

// validate returns all faults of the settings.
func (s *DescentSettings) validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("knn: "+format, args...))
		}
	}
	check(s.Trees > 0, "%d random projection trees; the number must be positive", s.Trees)
	check(s.Candidates > 0 && s.Candidates <= nndescent.MaxCandidates,
		"%d candidates; the number must be between 1 and %d", s.Candidates, nndescent.MaxCandidates)
	check(s.Exchanges > 0, "%d exchanges; the number must be positive", s.Exchanges)
	check(s.Tolerance > 0 && s.Tolerance < 1, "the tolerance is %v; it must lie between 0 and 1", s.Tolerance)
	check(s.Recall >= 0 && s.Recall <= 1, "the recall asked for is %v; it must lie between 0 and 1", s.Recall)
	check(s.Sample > 0 || s.Sample == -1 && s.Recall == 0,
		"a recall of %v by a sample of %d points", s.Recall, s.Sample)
	check(s.Widening >= 0 && !math.IsInf(s.Widening, 1),
		"the widening of queries is %v; it must be finite and not negative", s.Widening)
	return errors.Join(faults...)
}

// DescentStats describes a search.
type DescentStats struct {
	K         int    `json:"k"`         // neighbours per point searched for
	Width     int    `json:"width"`     // length of the lists kept in the search
	Trees     int    `json:"trees"`     // random projection trees grown
	Exchanges int    `json:"exchanges"` // exchanges made
	Distances int64  `json:"distances"` // distances computed in float32
	Effort    int    `json:"effort"`    // number of times the effort was raised for the recall
	Recall    Recall `json:"recall"`    // has Sample 0 if it was not estimated
}

// Descent is an approximate index: it misses some nearest neighbours, but all points that it finds
// are at their true distances. It is safe for concurrent use.
//
// Lists of candidates start from the leaves of random projection trees (Dasgupta & Freund, STOC
// 2008) or, for points that are numbers, of carvings into overlapping parts (PiPNN, arXiv 2602.21247): all pairs of a leaf are
// compared. NN-descent then compares the neighbours of every point
// with each other, until few lists change (Dong, Moses & Li, WWW 2011, the full algorithm of
// section 2.4). The search measures float32 copies of the points near the origin, and the final
// lists are measured again in float64, as [NewBrute] does. The search does not see differences
// below 1e-7 of the largest coordinate. That costs recall on small clusters far apart, which the
// estimate of the recall shows.
//
// Query starts a best-first search in a leaf of the first tree. It goes on from the nearest point
// that it has not gone on from, along the links of the graph and against them, until that point is
// 1+Widening times as far away as the last neighbour found. Without an earlier call of Self the
// graph has 10 neighbours of each point. Where k is more than an eighth of the points, or the graph
// leads to too few points, a query is compared with every point.
//
// Self may return [ErrRecall] with the neighbours that it found. Its progress is counted in points,
// at the average pace. Within returns an error, as the graph does not hold all pairs.
type Descent struct {
	*index
	descent *descent
}

// descent is the engine of a Descent.
type descent struct {
	settings DescentSettings
	x        data.Points
	n        int
	rows     func() prepared.Rows // makes the rows that a search reads
	newMeter func() meter

	mu    sync.Mutex
	graph *descentGraph // nil before the first search
}

// A descentGraph is the result of a search for stats.K neighbours.
type descentGraph struct {
	*nndescent.Graph
	rows  prepared.Rows
	stats DescentStats
}

// NewDescent returns an approximate index. [Method.Supports] lists its metrics. The first call of
// Self or Query searches, and a call of Self for more neighbours searches again.
//
// A search for k neighbours holds, for each point, about 12(k+3) + 30 bytes, and 36 more for numbers, or, in their place, the
// result. Beside that it holds the points as it measures them: a float32 copy of dense points, up
// to 128 bytes for a float16 point, which is read where it is, the values of sparse points in
// float32, and a bit for each coordinate of sets. Its time grows a little faster than n.
func NewDescent(x data.Points, s *DescentSettings) (*Descent, error) {
	if s == nil {
		s = &DescentSettings{}
	}
	ix := &descent{settings: s.filled()}
	n, d := x.Dims()
	ix.n = n
	if n < 1 || d < 1 || n > nndescent.MaxPoints {
		return nil, fmt.Errorf("knn: NN-descent on a set of %d points in %d dimensions; "+
			"there must be some, and fewer than %d points", n, d, nndescent.MaxPoints+1)
	}
	if err := errors.Join(NNDescent.Supports(ix.settings.Metric, x), ix.settings.validate()); err != nil {
		return nil, err
	}

	m := ix.settings.Metric
	if z, ok := x.(*sparse.CSR); ok {
		// The search and the measurement see sets of sparse points as ones.
		if err := checkBits(x, m); err != nil {
			return nil, err
		}
		x = m.entries(z)
	}
	ix.x = x

	// Candidates are measured in float32 by the rows, and final lists in float64 by the meter.
	var err error
	if ix.newMeter, err = meters(x, m); err != nil {
		return nil, err
	}
	if ix.rows, err = prepared.NewRows(x, m.form()); err != nil {
		return nil, fmt.Errorf("knn: %w", err)
	}

	return &Descent{newIndex(ix, x, &s.Settings), ix}, nil
}

// Stats describes the last search. It is the zero value before the first.
func (ix *Descent) Stats() DescentStats {
	ix.descent.mu.Lock()
	defer ix.descent.mu.Unlock()
	if ix.descent.graph == nil {
		return DescentStats{}
	}
	return ix.descent.graph.stats
}

func (ix *Descent) withProgress(p progress) Index {
	c := *ix.index
	c.progress = p
	return &Descent{&c, ix.descent}
}

// Prepare makes the graph that the first Query would make, unless there is one already. Progress is
// counted in points of the index.
func (ix *Descent) Prepare(ctx context.Context) error {
	_, err := ix.descent.search(ctx, 0, ix.progress.ordered())
	return err
}

func (ix *descent) query(ctx context.Context, x data.Points, k int, p progress) (*Neighbors, error) {
	g, err := ix.search(ctx, 0, p)
	if err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	if _, ok := ix.x.(*sparse.CSR); ok {
		x = ix.settings.Metric.entries(data.ToSparse(x))
	}

	out := newNeighbors(n, k)
	err = inStripes(ctx, n, 64, p, func() func(lo, hi int) {
		// Candidates are found in float32 and measured again in float64.
		query := g.rows.Loader()
		s := g.NewSearcher(query.Meter, k, k+slack, ix.settings.Widening)
		m := ix.newListMeasurer()
		return func(lo, hi int) {
			for i := lo; i < hi; i++ {
				query.Load(x, i)
				m.rows = s.Append(m.rows[:0])
				m.load(x, i)
				out.set(i, m.sorted()[:k])
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (ix *descent) within(context.Context, float64, *pairBudget, progress) (*sparse.CSR, error) {
	return nil, errors.New("knn: NN-descent cannot find all pairs within a radius; " +
		"use an exact index: NewBrute, NewKDTree or NewBallTree")
}

func (ix *descent) self(ctx context.Context, k int, p progress) (*Neighbors, error) {
	g, err := ix.search(ctx, k, p)
	if err != nil {
		return nil, err
	}

	// The lists of the search are measured again in float64.
	out := newNeighbors(ix.n, k)
	lists := func(dst []int32, i int) (int, []int32) {
		return int(g.Order()[i]), g.AppendList(dst, int32(i))
	}
	err = measureLists(ctx, ix.x, ix.newMeter, lists, func(point int, list []topk.Pair) {
		topk.Sort(list)
		out.set(point, list[:k])
	})
	if err != nil {
		return nil, err
	}
	p.report(ix.n, ix.n)
	return out, ix.enough(g.stats.Recall)
}

// enough returns [ErrRecall] if the recall is below the recall asked for.
func (ix *descent) enough(r Recall) error {
	if want := ix.settings.Recall; r.Share < want {
		return fmt.Errorf("%w: %v instead of %v", ErrRecall, r, want)
	}
	return nil
}

// search returns a graph with lists of at least k neighbours. For k = 0 it returns the present graph
// or, if there is none, searches for 10 neighbours.
func (ix *descent) search(ctx context.Context, k int, p progress) (*descentGraph, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// Queries take any graph.
	if ix.graph != nil && k == 0 {
		return ix.graph, nil
	}

	if k == 0 {
		k = min(10, ix.n-1)
	}
	if ix.n <= nndescent.LeafSize {
		k = ix.n - 1 // lists of all points, to be measured in float64
	}
	if ix.graph == nil || ix.graph.stats.K < k {
		ix.graph = nil // the next search may take its memory
		g, err := ix.descend(ctx, k, p)
		if err != nil {
			return nil, err
		}
		ix.graph = g
	}

	return ix.graph, nil
}

// descend searches for k neighbours of every point.
func (ix *descent) descend(ctx context.Context, k int, p progress) (*descentGraph, error) {
	s := ix.settings
	out := &descentGraph{rows: ix.rows()}
	var sample *RecallSample
	search := nndescent.Settings{
		K:          k,
		Trees:      s.Trees,
		Candidates: s.Candidates,
		Exchanges:  s.Exchanges,
		Tolerance:  s.Tolerance,
		Seed:       s.Seed,
		Resume:     s.Resume.round(),

		// The true neighbours of the sample are found once, after the first pass.
		Enough: func(g *nndescent.Graph) (enough bool, err error) {
			if s.Sample < 0 || k == 0 {
				return true, nil
			}
			if sample == nil {
				if sample, err = NewRecallSample(ctx, ix.x, s.Metric, k, s.Sample, s.Seed); err != nil {
					return false, err
				}
			}
			out.stats.Recall = ix.recall(g, sample)
			return out.stats.Recall.Share >= s.Recall, nil
		},
	}
	set := ix.set(out.rows)
	search.Step = ix.reporter(p, nndescent.UsualSteps(set.Rows, search))
	if s.Save != nil {
		search.Save = func(r nndescent.Round) error { return s.Save(roundOf(r)) }
	}
	if s.Recall > 0 {
		search.Efforts = maxEffort
	}
	if s.Resume != nil && s.Resume.K != k {
		return nil, fmt.Errorf("knn: the unfinished search is one for %d neighbours, not %d", s.Resume.K, k)
	}

	g, err := nndescent.Search(ctx, set, search)
	if err != nil {
		return nil, err
	}
	t := g.Stats()
	out.Graph = g
	out.stats = DescentStats{
		K:         t.K,
		Width:     t.Width,
		Trees:     t.Trees,
		Exchanges: t.Exchanges,
		Distances: t.Distances,
		Effort:    t.Effort,
		Recall:    out.stats.Recall,
	}

	return out, nil
}

// recall estimates the recall of the graph on a sample.
func (ix *descent) recall(g *nndescent.Graph, s *RecallSample) Recall {

	// The places of the sample's points in the graph.
	place := make(map[int32]int, len(s.Rows))
	for _, r := range s.Rows {
		place[int32(r)] = 0
	}
	for i, v := range g.Order() {
		if _, ok := place[v]; ok {
			place[v] = i
		}
	}

	m := ix.newListMeasurer()
	dist := make([]float64, s.K)
	return s.Estimate(func(i int) []float64 {
		for p, c := range m.list(g, place[int32(i)])[:s.K] {
			dist[p] = c.Dist
		}
		return dist
	})
}

// reporter returns a function that counts steps and reports the progress. steps is about the number
// of steps to come; if there are more, the progress comes nearer to the end with each.
func (ix *descent) reporter(p progress, steps int) func() {
	step := 0
	return func() {
		step++
		p.report(max(1, int(float64(ix.n)*float64(step)/float64(max(steps, step)+1))), ix.n)
	}
}

// A listMeasurer measures lists in float64.
type listMeasurer struct {
	meter
	x    data.Points
	rows []int32
	best []topk.Pair
}

func (ix *descent) newListMeasurer() *listMeasurer {
	return &listMeasurer{meter: ix.newMeter(), x: ix.x}
}

// list returns the list of point i of the graph, by numbers of points in x, nearest first. It is
// valid until the next call.
func (m *listMeasurer) list(g *nndescent.Graph, i int) []topk.Pair {
	m.load(m.x, int(g.Order()[i]))
	m.rows = g.AppendList(m.rows[:0], int32(i))
	data.Prefetch(m.x, m.rows)
	return m.sorted()
}

// sorted measures the points in rows and returns them nearest first.
func (m *listMeasurer) sorted() []topk.Pair {
	topk.Sort(m.measure())
	return m.best
}

// measure measures the points in rows and returns them in their order.
func (m *listMeasurer) measure() []topk.Pair {
	m.best = m.best[:0]
	for _, j := range m.rows {
		m.best = append(m.best, topk.Pair{Dist: m.distance(int(j)), Index: j})
	}
	return m.best
}

// set returns the rows with their number, as package nndescent takes them.
func (ix *descent) set(rows prepared.Rows) nndescent.Set {
	return nndescent.Set{N: ix.n, Rows: rows.All()}
}

// descentBytes returns the memory that NN-descent takes for k neighbours of all points of x, beside
// x: lists and trees, the rows, and one chunk of the exact search that estimates the recall.
func descentBytes(x data.Points, m Metric, k int) int64 {
	n, d := x.Dims()
	rows := 4 * int64(n) * int64(d)
	chunk := 8 * int64(min(n, chunkSize)) * int64(d)
	switch z := x.(type) {
	case *sparse.CSR:
		columns := min(int64(d), int64(z.NNZ())) // columns of the dense point that a goroutine holds
		rows = 4*int64(z.NNZ()) + 16*int64(n) + 8*columns*int64(runtime.GOMAXPROCS(0)+2)
		chunk = 16*int64(z.NNZ())*int64(min(n, chunkSize))/int64(n) + 16*columns
	// float16 rows are read where they are; a sketch of each takes the place of copies.
	case *data.Stored:
		if z.Kind() == data.Float16 && !m.ofSets() {
			rows = 4 * int64(n)
			if nndescent.Sketched(d) {
				rows += 4 * int64(n) * nndescent.SketchColumns
			}
		}
	}
	if _, ok := x.(*sparse.CSR); m.ofSets() && !ok {
		rows = int64(n)*int64(d)/8 + 8*int64(n)
		chunk = int64(min(n, chunkSize)) * int64(d) / 8
	}

	points := int64(12*(k+3) + 30)
	if _, ok := x.(*sparse.CSR); !ok && !m.ofSets() {
		points += 36 // leaves that overlap, of rows of numbers
	}
	return int64(n)*points + rows + chunk
}
