package knn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/knn/internal/pruned"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/knn/internal/trees"
	"github.com/bigfit/bigfit/sparse"
)

// prunedIndex searches by package pruned if that takes less time than comparing all pairs, and
// otherwise by the engine that compares them. The neighbours have the same bits.
type prunedIndex struct {
	x       data.Points
	metric  Metric
	columns int // coordinates in which all pairs are compared; 0 lets a sample decide
	note    func(text string)

	mu    sync.Mutex
	index *pruned.Index
	plain engine // the engine that compares all pairs, once it is needed
}

// prunes reports whether a sample is to show if pruning takes less time: there must be enough pairs
// to make up for the sample's milliseconds and the 10·d³ operations of the principal components,
// and pruning must take no more memory for k neighbours. Points in files are not pruned, as their
// codes would be held in memory.
func prunes(x data.Points, m Metric, queries, k int) bool {
	n, d := x.Dims()
	switch x := x.(type) {
	case *sparse.CSR, *data.Stored:
		return false
	case *data.Dense[uint8]:
		if x.Cols > dense.MaxInnerU8 {
			return false
		}
	}

	pairs := float64(n) * float64(queries)
	components := float64(pruned.SampleSize(n, d)+10*d) * float64(d)
	many := n > 8192 && d >= 48 && pairs >= 32*components
	return many && m.squares() && prunedBytes(x, m, k) <= BruteBytes(x, k)
}

// prunedBytes returns the memory of pruning and of the lists, beside x.
func prunedBytes(x data.Points, m Metric, k int) int64 {
	n, d := x.Dims()
	_, bytes := x.(*data.Dense[uint8])
	_, floats := x.(*data.Dense[float32])
	copied := !bytes && !(floats && m == Euclidean)
	lists := 12 * int64(n) * int64(k)
	return lists + pruned.Bytes(n, d, k, copied) + pruned.SampleBytes(n, d, bytes && m == Euclidean)
}

// space returns the points in the form that package pruned reads.
func (e *prunedIndex) space() *pruned.Space {
	m := e.metric
	widen := func(d float64) float64 {
		if d *= 1 + trees.RootTie; m.angular() {
			return m.widen(d)
		}
		return d
	}
	square := func(t float64) float64 { return widen(m.square(t)) }
	return &pruned.Space{X: e.x, Unit: m.angular(), Widen: widen, Square: square}
}

// exact returns a function that makes functions that measure points of x from points of the index.
func (e *prunedIndex) exact(x data.Points) func() pruned.Exact {
	return func() pruned.Exact {
		m := newMeasurer(e.x, e.metric)
		// Many points are measured from one query in a row.
		loaded := -1
		return func(i, j int) float64 {
			if i != loaded {
				m.load(x, i)
				loaded = i
			}
			return m.distance(j)
		}
	}
}

// find returns the pruned index for queries of x, or the engine that compares all pairs.
func (e *prunedIndex) find(ctx context.Context, x data.Points, k int) (*pruned.Index, engine, error) {
	e.mu.Lock()
	defer e.mu.Unlock()

	// Pruned bytes take queries of bytes only.
	queries, _ := x.Dims()
	_, bytes := e.x.(*data.Dense[uint8])
	_, same := x.(*data.Dense[uint8])
	useless := e.index == nil && e.columns == 0 && !prunes(e.x, e.metric, queries, k)
	if bytes && !same || e.plain != nil || useless {
		p, err := e.all()
		return nil, p, err
	}
	if e.index != nil {
		return e.index, nil, nil
	}

	// Costs are in columns of a product of bytes.
	_, d := e.x.Dims()
	s := pruned.Settings{K: k, Columns: e.columns, Plain: pruned.Scan(), Refined: pruned.Row(d)}
	if bytes {
		s.Plain += float64(d)
	} else {
		s.Plain = s.Plain + pruned.Column()*float64(d)
		s.Refined = pruned.Row(4 * d)
	}

	index, err := pruned.New(ctx, e.space(), e.exact(e.x), s)
	if errors.Is(err, pruned.ErrNothing) {
		e.tell(fmt.Sprintf("neighbours: all pairs are compared in all %d dimensions, as %v", d, err))
		p, err := e.all()
		return nil, p, err
	}
	if err == nil {
		e.index = index
		p := index.Plan()
		e.tell(fmt.Sprintf("neighbours: all pairs are compared in %d principal coordinates of %d, "+
			"which leave %.2g %%; %.2g %% are measured", p.Columns, d, 100*p.Left, 100*p.Measured))
	}
	return e.index, nil, err
}

// tell hands text to the note, if there is one.
func (e *prunedIndex) tell(text string) {
	if e.note != nil {
		e.note(text)
	}
}

// all returns the engine that compares all pairs. e.mu is held.
func (e *prunedIndex) all() (engine, error) {
	if e.plain == nil {
		p, err := allPairsEngine(e.x, e.metric)
		if err != nil {
			return nil, err
		}
		e.plain = p
		e.index = nil // only one of the two is held
	}
	return e.plain, nil
}

func (e *prunedIndex) query(ctx context.Context, x data.Points, k int, p progress) (*Neighbors, error) {
	ix, plain, err := e.find(ctx, x, k)
	if err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	if plain != nil {
		return plain.query(ctx, x, k, p)
	}
	out := newNeighbors(n, k)
	var done atomic.Int64
	report := func(more int) { p.report(int(done.Add(int64(more))), n) }
	err = ix.Query(ctx, x, k, e.exact(x), report, func(i int, list []topk.Pair) { out.set(i, list) })

	// These queries cannot be pruned, which shows before the first of them is answered.
	if errors.Is(err, pruned.ErrNothing) {
		e.mu.Lock()
		plain, err = e.all()
		e.mu.Unlock()
		if err == nil {
			return plain.query(ctx, x, k, p)
		}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (e *prunedIndex) self(ctx context.Context, k int, p progress) (*Neighbors, error) {
	ix, plain, err := e.find(ctx, e.x, k)
	if err != nil {
		return nil, err
	}
	if plain != nil {
		return plain.self(ctx, k, p)
	}
	n, _ := e.x.Dims()
	out := newNeighbors(n, k)
	err = ix.Self(ctx, k, e.exact(e.x), p.shareOf(n), func(i int, list []topk.Pair) { out.set(i, list) })
	if err != nil {
		return nil, err
	}
	p.report(n, n)
	return out, nil
}

func (e *prunedIndex) within(ctx context.Context, radius float64, budget *pairBudget, p progress) (*sparse.CSR, error) {
	e.mu.Lock()
	plain, err := e.all()
	e.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return plain.within(ctx, radius, budget, p)
}

func (e *prunedIndex) join(ctx context.Context, fresh data.Points, k int, nb *Neighbors, p progress) (
	*Neighbors, [][]topk.Pair, error) {
	e.mu.Lock()
	plain, err := e.all()
	e.mu.Unlock()
	if j, ok := plain.(joiner); ok && err == nil {
		return j.join(ctx, fresh, k, nb, p)
	}
	return nil, nil, err
}
