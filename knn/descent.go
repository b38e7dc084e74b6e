package knn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/sparse"
)

// ErrRecall means that the recall asked for was not reached. The neighbours
// returned with it are usable; [Descent.Stats] says what was.
var ErrRecall = errors.New("knn: the recall asked for was not reached")

// DescentSettings of [NewDescent]. The zero value is ready for use.
type DescentSettings struct {
	Settings
	// Trees is the number of random projection trees that give the first
	// lists. Default 8.
	Trees int
	// Candidates is how many neighbours of each kind (listed and listing,
	// fresh and used) a point introduces to each other in one exchange, at
	// most 100. Default 12.
	Candidates int
	// Exchanges is the largest number of exchanges in one pass. Default 12.
	Exchanges int
	// Tolerance ends a pass when an exchange replaces less than this share of
	// all entries. Default 0.01.
	Tolerance float64
	// Recall asks for at least this recall: while the estimate is below, the
	// search goes on with twice the trees and candidates, a quarter of the
	// tolerance and longer lists, five times at most. Default 0: one pass,
	// whatever it reaches.
	Recall float64
	// Sample is the number of points on which the recall is estimated. Default
	// 1000; −1 omits the estimate, if Recall is 0.
	Sample int
	// Widening is the ε of Query: the search goes on from points up to 1+ε
	// times as far away as the last one found. Default 0.1.
	Widening float64
	// Seed determines the trees, the choice of candidates and the sample.
	Seed uint64
}

const (
	leafSize      = 128 // points in a leaf, or more for long lists
	maxCandidates = 100
	maxEffort     = 5 // how often the effort is raised
)

// filled returns the settings with the defaults in place of zeros.
func (s DescentSettings) filled() DescentSettings {
	s.Trees = cmp.Or(s.Trees, 8)
	s.Candidates = cmp.Or(s.Candidates, 12)
	s.Exchanges = cmp.Or(s.Exchanges, 12)
	s.Tolerance = cmp.Or(s.Tolerance, 0.01)
	s.Sample = cmp.Or(s.Sample, 1000)
	s.Widening = cmp.Or(s.Widening, 0.1)
	return s
}

func (s *DescentSettings) validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("knn: "+format, args...))
		}
	}
	check(s.Metric == Euclidean || s.Metric == Angle, "NN-descent does not know the distance %v", s.Metric)
	check(s.Trees > 0, "%d random projection trees; the number must be positive", s.Trees)
	check(s.Candidates > 0 && s.Candidates <= maxCandidates, "%d candidates; the number must be between 1 and %d", s.Candidates, maxCandidates)
	check(s.Exchanges > 0, "%d exchanges; the number must be positive", s.Exchanges)
	check(s.Tolerance > 0 && s.Tolerance < 1, "the tolerance is %v; it must lie between 0 and 1", s.Tolerance)
	check(s.Recall >= 0 && s.Recall <= 1, "the recall asked for is %v; it must lie between 0 and 1", s.Recall)
	check(s.Sample > 0 || s.Sample == -1 && s.Recall == 0, "a recall of %v by a sample of %d points", s.Recall, s.Sample)
	check(s.Widening >= 0 && !math.IsInf(s.Widening, 1), "the widening of queries is %v; it must be finite and not negative", s.Widening)
	return errors.Join(faults...)
}

// DescentStats tell what a search did.
type DescentStats struct {
	K         int    `json:"k"`         // neighbours per point searched for
	Width     int    `json:"width"`     // length of the lists kept in the search
	Trees     int    `json:"trees"`     // random projection trees grown
	Exchanges int    `json:"exchanges"` // exchanges made
	Distances int64  `json:"distances"` // distances computed in float32
	Effort    int    `json:"effort"`    // how often the effort was raised for the recall
	Recall    Recall `json:"recall"`    // has Sample 0 if it was not estimated
}

// Descent is an approximate index: most of the neighbours it finds are nearest
// ones, all are points at their true distances. It is safe for concurrent use.
//
// Lists of candidates start from the leaves of random projection trees
// (Dasgupta & Freund, STOC 2008), in each of which all pairs are compared. They
// are improved by NN-descent: neighbours of a point are introduced to each other
// until few lists change (Dong, Moses & Li, WWW 2011, the full algorithm of
// section 2.4). Distances are those of float32 points near the origin; the final
// lists are measured again in float64, as those of [NewBrute] are. Differences
// below 1e-7 of the largest coordinate's are lost on the search, which costs
// recall on sets of small clusters far apart; the estimate will tell.
type Descent struct {
	settings DescentSettings
	x        data.Points
	n, d     int
	mean     []float64 // nil for Angle
	scale    float64

	found *foundGraph
}

// A foundGraph is shared by the copies of an index that differ in OnProgress.
type foundGraph struct {
	mu    sync.Mutex
	graph *descentGraph // nil before the first search
}

// A descentGraph is the outcome of a search for k neighbours.
type descentGraph struct {
	*candidateGraph
	stats DescentStats
	order []int32           // order[i] is the number in x of point i of the search
	root  *rpNode           // a tree whose leaves are ranges of points
	leaf  int               // the largest number of points in one
	links func() *backlinks // for queries, made when needed
}

// NewDescent returns an approximate index of dense points. The work is done by
// the first call of Self or Query, and again by a call of Self for more
// neighbours than before.
//
// A search for k neighbours holds a float32 copy of x and, per point, about
// 12(k+3) + 30 bytes, or, in its place, the result. Its time grows a little
// faster than n.
func NewDescent(x data.Points, s *DescentSettings) (*Descent, error) {
	if s == nil {
		s = &DescentSettings{}
	}
	ix := &Descent{settings: s.filled(), x: x, scale: 1, found: &foundGraph{}}
	ix.n, ix.d = x.Dims()
	if _, ok := x.(*sparse.CSR); ok {
		return nil, errors.New("knn: NN-descent needs dense points; NewBrute takes sparse ones")
	}
	if ix.n < 1 || ix.d < 1 || ix.n >= number {
		return nil, fmt.Errorf("knn: NN-descent on a set of %d points in %d dimensions; there must be some, and fewer than %d points", ix.n, ix.d, number)
	}
	if err := ix.settings.validate(); err != nil {
		return nil, err
	}
	if ix.settings.Metric == Euclidean {
		ix.mean = data.Mean(x)
	}
	largest, err := ix.spread()
	if err != nil {
		return nil, err
	}
	if ix.mean != nil && largest > 0 {
		// Squares of float32 shall neither overflow nor vanish.
		_, exponent := math.Frexp(largest)
		ix.scale = math.Ldexp(1, -exponent)
	}
	return ix, nil
}

// Dims returns the number of indexed points and their dimension.
func (ix *Descent) Dims() (n, d int) { return ix.n, ix.d }

// Metric returns the distance in use.
func (ix *Descent) Metric() Metric { return ix.settings.Metric }

// Stats returns what the last search did; the zero value before the first.
func (ix *Descent) Stats() DescentStats {
	ix.found.mu.Lock()
	defer ix.found.mu.Unlock()
	if ix.found.graph == nil {
		return DescentStats{}
	}
	return ix.found.graph.stats
}

// Within is not supported: the graph does not tell which points are missing.
func (ix *Descent) Within(context.Context, float64) (*sparse.CSR, error) {
	return nil, errors.New("knn: NN-descent cannot find all pairs within a radius; use an exact index: NewBrute, NewKDTree or NewBallTree")
}

// Self returns k neighbours of every point. With [ErrRecall] the neighbours are
// those reached. Progress is counted in points, at the average pace.
func (ix *Descent) Self(ctx context.Context, k int) (*Neighbors, error) {
	if err := checkK(k, ix.n-1); err != nil {
		return nil, err
	}
	g, err := ix.search(ctx, k)
	if err != nil {
		return nil, err
	}
	out := newNeighbors(ix.n, k)
	err = inStripes(ctx, ix.n, 256, nil, func() func(lo, hi int) {
		m := ix.newListMeasurer()
		return func(lo, hi int) {
			for i := lo; i < hi; i++ {
				out.set(int(g.order[i]), m.list(g, int32(i))[:k])
			}
		}
	})
	if err != nil {
		return nil, err
	}
	if ix.settings.OnProgress != nil {
		ix.settings.OnProgress(ix.n, ix.n)
	}
	if want := ix.settings.Recall; g.stats.Recall.Share < want {
		return out, fmt.Errorf("%w: %v instead of %v", ErrRecall, g.stats.Recall, want)
	}
	return out, nil
}

// search returns a graph with lists of at least k neighbours; for k = 0 the one
// that is there, or of 10.
func (ix *Descent) search(ctx context.Context, k int) (*descentGraph, error) {
	ix.found.mu.Lock()
	defer ix.found.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if ix.found.graph != nil && k == 0 {
		return ix.found.graph, nil
	}
	if k == 0 {
		k = min(10, ix.n-1)
	}
	if ix.n <= leafSize {
		k = ix.n - 1 // all are measured in float64
	}
	if ix.found.graph == nil || ix.found.graph.stats.K < k {
		ix.found.graph = nil // its memory can serve the next
		g, err := ix.descend(ctx, k)
		if err != nil {
			return nil, err
		}
		ix.found.graph = g
	}
	return ix.found.graph, nil
}

// descend searches for k neighbours of every point.
func (ix *Descent) descend(ctx context.Context, k int) (*descentGraph, error) {
	s := ix.settings
	width := func(effort int) int { return max(1, min(k+2+k/10+effort*(k/2+2), ix.n-1)) }
	leaf := max(leafSize, 4*(width(0)+1))
	flat := make([]float32, ix.n*ix.d)
	ix.prepare(flat, nil)
	forest := newForest(flat, ix.n, ix.d, leaf, s.Seed)
	root := forest.grow(0)
	// From here on points are numbered in the order of the first tree, so that
	// neighbours lie together in memory.
	order := slices.Clone(forest.order)
	for i, v := range order {
		forest.spare[v] = int32(i)
		forest.order[i] = int32(i)
	}
	root.rename(forest.spare)
	ix.prepare(flat, order)

	g := &descentGraph{order: order, root: root, leaf: leaf, candidateGraph: newCandidateGraph(flat, ix.n, ix.d, width(0))}
	g.stats = DescentStats{K: k, Trees: 1, Distances: g.joinLeaves(ctx, forest.order, root)}
	report := ix.reporter(s.Trees + s.Exchanges + 1)
	ex := newExchange(g.candidateGraph)
	var sample *recallSample
	for effort := 0; ; effort++ {
		if leaf < ix.n { // otherwise the lists are exact
			for report(); g.stats.Trees < s.Trees<<effort; report() {
				next := forest.grow(g.stats.Trees)
				g.stats.Distances += g.joinLeaves(ctx, forest.order, next)
				g.stats.Trees++
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
			ex.sample = min(s.Candidates<<effort, maxCandidates)
			enough := int64(math.Ldexp(s.Tolerance, -2*effort) * float64(len(g.index)))
			for entered, e := enough+1, 0; entered > enough && e < s.Exchanges; e++ {
				var pairs int64
				entered, pairs = ex.run(ctx, s.Seed+uint64(g.stats.Exchanges)<<32)
				g.stats.Distances += pairs
				g.stats.Exchanges++
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				report()
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g.stats.Width, g.stats.Effort = g.width, effort
		last := s.Recall == 0 || effort == maxEffort
		if last {
			forest, ex = nil, nil
		}
		if s.Sample > 0 && k > 0 {
			if sample == nil {
				var err error
				if sample, err = newRecallSample(ctx, ix.x, s.Metric, k, s.Sample, s.Seed); err != nil {
					return nil, err
				}
			}
			g.stats.Recall = ix.recall(g, sample)
		}
		if last || k == 0 || g.stats.Recall.Share >= s.Recall {
			break
		}
		g.widen(width(effort + 1))
		g.renew()
		ex = newExchange(g.candidateGraph)
	}
	g.dist = nil
	for p := range g.index {
		g.index[p] &= number // the marks have served
	}
	g.finish()
	if len(flat) > 1<<24 {
		debug.FreeOSMemory() // what served the search, before the result needs more
	}
	return g, nil
}

// finish prepares a graph without marks for queries.
func (g *descentGraph) finish() {
	g.links = sync.OnceValue(func() *backlinks {
		back := newBacklinks(g.n, g.width)
		back.fill(g.candidateGraph)
		back.sort()
		return back
	})
}

// recall estimates the recall of the graph on a sample.
func (ix *Descent) recall(g *descentGraph, s *recallSample) Recall {
	place := make(map[int32]int32, len(s.rows))
	for _, r := range s.rows {
		place[int32(r)] = 0
	}
	for i, v := range g.order {
		if _, ok := place[v]; ok {
			place[v] = int32(i)
		}
	}
	m := ix.newListMeasurer()
	dist := make([]float64, s.k)
	return s.estimate(func(i int) []float64 {
		for p, c := range m.list(g, place[int32(i)])[:s.k] {
			dist[p] = c.dist
		}
		return dist
	})
}

// reporter returns a function that tells the progress after each of about so
// many steps.
func (ix *Descent) reporter(steps int) func() {
	step := 0
	return func() {
		if step++; step < steps && ix.settings.OnProgress != nil {
			ix.settings.OnProgress(max(1, int(float64(ix.n)*float64(step)/float64(steps))), ix.n)
		}
	}
}

// A listMeasurer measures lists in float64.
type listMeasurer struct {
	measurer
	best    []pair
	rows    []int32
	touched float64
}

func (ix *Descent) newListMeasurer() *listMeasurer {
	exact := &denseIndex{Settings: ix.settings.Settings, x: ix.x, n: ix.n, d: ix.d}
	return &listMeasurer{measurer: *exact.newMeasurer()}
}

// list returns the list of point i of the graph as numbers in x, nearest
// first. It is valid until the next call.
func (m *listMeasurer) list(g *descentGraph, i int32) []pair {
	m.load(m.ix.x, int(g.order[i]))
	m.best, m.rows = m.best[:0], m.rows[:0]
	for _, v := range g.list(i) {
		if v&number != number {
			m.rows = append(m.rows, g.order[v&number])
		}
	}
	switch x := m.ix.x.(type) {
	case *data.Dense[float32]:
		m.touched += float64(touch(x, m.rows))
	case *data.Dense[float64]:
		m.touched += touch(x, m.rows)
	}
	for _, j := range m.rows {
		m.add(j)
	}
	sortPairs(m.best)
	return m.best
}

// touch reads a little of all rows at once: they are scattered over x, and the
// processor waits for one at a time when they are measured.
func touch[T float32 | float64](x *data.Dense[T], rows []int32) (sum T) {
	for _, j := range rows {
		row := x.Row(int(j))
		for p := 0; p < min(len(row), 64); p += 16 {
			sum += row[p]
		}
	}
	return sum
}

func (m *listMeasurer) add(j int32) {
	m.best = append(m.best, pair{m.distance(int(j)), j})
}

func sortPairs(list []pair) {
	slices.SortFunc(list, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.dist, b.dist), cmp.Compare(a.index, b.index))
	})
}

// spread returns the largest difference of a coordinate from its mean, or from
// zero for Angle. It is an error if a coordinate is not finite.
func (ix *Descent) spread() (float64, error) {
	if _, ok := ix.x.(*data.Dense[uint8]); ok {
		return 255, nil
	}
	const grain = 4096
	largest := make([]float64, par.Chunks(ix.n, grain))
	par.For(ix.n, grain, func(lo, hi int) {
		row := make([]float64, ix.d)
		var most float64
		for i := lo; i < hi; i++ {
			data.RowTo(row, ix.x, i)
			for j, v := range row {
				if ix.mean != nil {
					v -= ix.mean[j]
				}
				if v = math.Abs(v); v > most || math.IsNaN(v) {
					most = v
				}
			}
		}
		largest[lo/grain] = most
	})
	for c, v := range largest {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("knn: a coordinate of one of the points %d to %d is not finite", c*grain, min((c+1)*grain, ix.n)-1)
		}
	}
	return slices.Max(largest), nil
}

// prepare writes the points of x in the given order to flat, as float32: minus
// their mean and scaled, or scaled to norm one for Angle. A nil order is that
// of x.
func (ix *Descent) prepare(flat []float32, order []int32) {
	par.For(ix.n, 1024, func(lo, hi int) {
		row := make([]float64, ix.d)
		for i := lo; i < hi; i++ {
			at := i
			if order != nil {
				at = int(order[i])
			}
			ix.prepareRow(flat[i*ix.d:][:ix.d], ix.x, at, row)
		}
	})
}

// nowhere keeps zero points, at a right angle to all, out of the lists of points
// with neighbours at less.
const nowhere = 1000

func (ix *Descent) prepareRow(dst []float32, x data.Points, i int, row []float64) {
	data.RowTo(row, x, i)
	if ix.mean != nil {
		for j, v := range row {
			dst[j] = float32((v - ix.mean[j]) * ix.scale)
		}
		return
	}
	scaleToUnit(row)
	zero := true
	for j, v := range row {
		dst[j] = float32(v)
		zero = zero && v == 0
	}
	if zero {
		dst[0] = nowhere
	}
}
