package knn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn/internal/prepared"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/knn/internal/trees"
	"github.com/bigfit/bigfit/sparse"
)

// treeIndex searches a kd-tree or a ball tree. Coordinates are float64 for float64 points and for
// unit vectors, and float32, which holds every uint8, for other points. Zero vectors under Angle
// and Cosine are kept apart.
type treeIndex[T trees.Real] struct {
	metric Metric
	*trees.Index[T]
}

// newTreeIndex loads the points and builds the tree, or restores it from a state.
func newTreeIndex(x data.Points, s *Settings, st *State, v trees.Volume) (Index, error) {
	n, d := x.Dims()
	if n < 1 || d < 1 {
		return nil, fmt.Errorf("knn: a set of %d points in %d dimensions has no neighbours", n, d)
	}
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("knn: %d points; an index holds at most %d", n, math.MaxInt32)
	}
	if err := checkFinite(x, "point"); err != nil {
		return nil, err
	}

	// float32 holds bytes and float32 points exactly, and halves the memory that a search reads.
	var e engine
	var err error
	if elementBytes(x, s.Metric) == 4 {
		e, err = loadTree[float32](x, s.Metric, st, v)
	} else {
		e, err = loadTree[float64](x, s.Metric, st, v)
	}
	if err != nil {
		return nil, err
	}
	return newIndex(e, x, s), nil
}

// treeShape describes a tree of points of d coordinates for the metric.
func treeShape(v trees.Volume, m Metric, d int) trees.Shape {
	s := trees.Shape{Volume: v, Norm: m.norm(), D: d}
	if m.angular() {
		s.Scale = &trees.Scale{Distance: m.distance, Square: m.square, Widen: m.widen}
	}
	return s
}

// loadTree loads the points and builds or restores the tree.
func loadTree[T trees.Real](x data.Points, m Metric, st *State, v trees.Volume) (engine, error) {
	if st != nil {
		return restoreTree[T](x, m, v, st.Order)
	}
	n, d := x.Dims()
	// Rows have room for the tree's padding, so that it can sort in place.
	rows := make([]T, trees.Padded(n)*d)
	zero := make([]bool, n)
	par.For(n, 1024, func(lo, hi int) {
		row := make([]float64, d)
		for i := lo; i < hi; i++ {
			zero[i] = load(row, x, i, m)
			for c, v := range row {
				rows[i*d+c] = T(v)
			}
		}
	})

	// Zero vectors leave the rows, and the others close up.
	index := make([]int32, 0, n)
	var zeros []int32
	for i := range n {
		if zero[i] {
			zeros = append(zeros, int32(i))
			continue
		}
		if len(index) < i {
			copy(rows[len(index)*d:], rows[i*d:(i+1)*d])
		}
		index = append(index, int32(i))
	}
	rows = rows[:trees.Padded(len(index))*d]
	return &treeIndex[T]{m, trees.New(treeShape(v, m, d), index, rows, zeros)}, nil
}

// restoreTree loads the points in the order of the leaves and computes the volumes of the nodes.
func restoreTree[T trees.Real](x data.Points, m Metric, v trees.Volume, order []int32) (engine, error) {
	n, d := x.Dims()
	seen, err := listed(order, n)
	if err != nil {
		return nil, err
	}

	// Points that the order does not name must be zero vectors among directions.
	var zeros []int32
	row := make([]float64, d)
	for i, ok := range seen {
		if ok {
			continue
		}
		if !load(row, x, i, m) {
			return nil, fmt.Errorf("knn: index_order lacks point %d", i)
		}
		zeros = append(zeros, int32(i))
	}

	// The rows lie in the order of the leaves, as the tree that was saved had them.
	rows := make([]T, trees.Padded(len(order))*d)
	zero := make([]bool, len(order))
	par.For(len(order), 1024, func(lo, hi int) {
		row := make([]float64, d)
		for p := lo; p < hi; p++ {
			zero[p] = load(row, x, int(order[p]), m)
			for c, v := range row {
				rows[p*d+c] = T(v)
			}
		}
	})
	if p := slices.Index(zero, true); p >= 0 {
		return nil, fmt.Errorf("knn: element %d of index_order is %d, a zero vector, which makes no angle",
			p, order[p])
	}

	return &treeIndex[T]{m, trees.Restore(treeShape(v, m, d), order, rows, zeros)}, nil
}

func (ix *treeIndex[T]) state() *State {
	st := &State{Method: BallTree, Order: ix.Order()}
	if ix.Shape().Volume == trees.Boxes {
		st.Method = KDTree
	}
	return st
}

// load sets row to point i of x, scaled to norm one under Angle and Cosine. It reports whether the
// point is a zero vector under these metrics.
func load(row []float64, x data.Points, i int, m Metric) (zero bool) {
	data.RowTo(row, x, i)
	if !m.angular() {
		return false
	}
	prepared.ToUnit(row)
	for _, v := range row {
		if v != 0 {
			return false
		}
	}
	return true
}

// elementBytes returns the size of a coordinate in a tree on x.
func elementBytes(x data.Points, m Metric) int64 {
	if m.angular() || data.Precise(x) {
		return 8
	}
	return 4
}

// treeBytes returns the largest memory that building a tree on x and finding the k nearest
// neighbours of all its points take, beside x.
func treeBytes(x data.Points, v trees.Volume, m Metric, k int) int64 {
	n, d := x.Dims()
	s := treeShape(v, m, d)
	return s.Bytes(n, elementBytes(x, m), k)
}

// checkFinite returns an error with the first entry of x that is not finite.
func checkFinite(x data.Points, what string) error {
	n, d := x.Dims()
	const grain = 4096
	faults := make([]error, par.Chunks(n, grain))
	par.For(n, grain, func(lo, hi int) {
		row := make([]float64, d)
		for i := lo; i < hi && faults[lo/grain] == nil; i++ {
			data.RowTo(row, x, i)
			for j, v := range row {
				if v-v != 0 {
					faults[lo/grain] = fmt.Errorf("knn: %s %d, coordinate %d is %v", what, i, j, v)
					break
				}
			}
		}
	})

	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}

// selfGrain is the number of indexed points in one chunk of a search for their neighbours.
const selfGrain = 512

// eachSelf searches for the neighbours of every point, in chunks of selfGrain, and hands the
// searcher with the result to take.
func (ix *treeIndex[T]) eachSelf(ctx context.Context, k int, radius float64, p progress,
	take func(chunk int, s *trees.Searcher[T])) error {
	return inStripes(ctx, ix.Len(), selfGrain, p, func() func(lo, hi int) {
		s := ix.NewSearcher(k, radius)
		return func(lo, hi int) {
			for i := lo; i < hi; i++ {
				s.Own(i)
				take(lo/selfGrain, s)
			}
		}
	})
}

func (ix *treeIndex[T]) self(ctx context.Context, k int, p progress) (*Neighbors, error) {
	out := newNeighbors(ix.Len(), k)
	err := ix.eachSelf(ctx, k, 0, p, func(_ int, s *trees.Searcher[T]) { out.set(int(s.Self), s.Near) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (ix *treeIndex[T]) query(ctx context.Context, x data.Points, k int, p progress) (*Neighbors, error) {
	if err := checkFinite(x, "query"); err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	out := newNeighbors(n, k)
	err := inStripes(ctx, n, min(max(n/64, 64), 1<<14), p, func() func(lo, hi int) {
		s := ix.NewSearcher(k, 0)
		return func(lo, hi int) {
			// Queries are answered in the order of their leaves, so that a query finds the nodes
			// that the query before it has read in the cache.
			order := make([]at, hi-lo)
			for i := range order {
				order[i].query = lo + i
				if zero := load(s.Q, x, lo+i, ix.metric); !zero {
					order[i].leaf = s.Home()
				}
			}
			slices.SortFunc(order, func(a, b at) int { return a.leaf - b.leaf })

			for _, a := range order {
				if zero := load(s.Q, x, a.query, ix.metric); zero {
					s.QueryApart()
				} else {
					s.Query(a.leaf)
				}
				out.set(a.query, s.Near)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// at is a query and the leaf in which its search begins.
type at struct{ leaf, query int }

func (ix *treeIndex[T]) within(ctx context.Context, radius float64, budget *pairBudget, p progress) (
	*sparse.CSR, error) {
	// The pairs that one chunk of queries found, one query after the other.
	type answers struct {
		query []int32
		pairs []topk.Pair
	}

	n := ix.Len()
	chunks := make([]answers, par.Chunks(n, selfGrain))
	out := &sparse.CSR{Rows: n, Cols: n, Ptr: make([]int64, n+1)}
	err := ix.eachSelf(ctx, 0, radius, p, func(chunk int, s *trees.Searcher[T]) {
		if !budget.take(len(s.Near)) {
			return
		}
		// Rows of the result ascend by index.
		slices.SortFunc(s.Near, func(a, b topk.Pair) int { return int(a.Index) - int(b.Index) })
		c := &chunks[chunk]
		c.query = append(c.query, s.Self)
		c.pairs = append(c.pairs, s.Near...)
		out.Ptr[s.Self+1] = int64(len(s.Near))
	})
	if err != nil {
		return nil, err
	}

	// The counts of the rows become their offsets.
	for i := range n {
		out.Ptr[i+1] += out.Ptr[i]
	}
	out.Col = make([]int32, out.Ptr[n])
	out.Val = make([]float64, out.Ptr[n])

	par.For(len(chunks), 1, func(c, _ int) {
		pairs := chunks[c].pairs
		for _, i := range chunks[c].query {
			lo := out.Ptr[i]
			hi := out.Ptr[i+1]
			for p := lo; p < hi; p++ {
				out.Col[p] = pairs[p-lo].Index
				out.Val[p] = pairs[p-lo].Dist
			}
			pairs = pairs[hi-lo:]
		}
		chunks[c] = answers{}
	})
	return out, nil
}
