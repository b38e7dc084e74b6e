package knn

import (
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/par"
)

// State is what of an index is costly to find and cheap to keep: the order of
// the points in a tree, the graph and the entry tree of NN-descent. All else
// follows from the points in one pass over them. It can be written to a file, the
// fields that are not arrays as JSON, and [Restore] takes it back.
type State struct {
	Method Method `json:"method"` // KDTree, BallTree or NNDescent

	// Order is, of a kd-tree or ball tree, the points from the first leaf to
	// the last, without the zero vectors under Angle; of NN-descent all n
	// points from the first leaf of its entry tree to the last.
	Order []int32 `json:"-"`

	// The rest is of NN-descent. Point i here is point Order[i] of the set.

	// Neighbors are the lists of all points, n×Stats.Width: nearest first, and
	// −1 where a list ends early, after Stats.K at least.
	Neighbors []int32 `json:"-"`
	// Splits are the inner nodes of the entry tree, nodes×3, each before those
	// of its left and these before those of its right child: the first point of
	// the right child and the two points a and b between which the node
	// decides. The root holds all points.
	Splits []int32 `json:"-"`
	// Thresholds hold the limit of every inner node: queries with
	// ‖q−b‖² − ‖q−a‖² below it go to the left.
	Thresholds []float32 `json:"-"`
	// Leaf is the largest number of points in a leaf.
	Leaf int `json:"leaf,omitempty"`
	// Stats are those of the search.
	Stats *DescentStats `json:"stats,omitempty"`
}

// StateOf returns the state of a tree, or of NN-descent after a search, in 4n
// bytes or about 4n(k+3). It is nil of other indexes: they keep nothing that is
// costly to find. The slices may be those of the index; they must not be changed.
func StateOf(ix Index) *State {
	if s, ok := ix.(interface{ state() *State }); ok {
		return s.state()
	}
	return nil
}

// Restore returns an index of x from the state of one on the same points with
// the same settings; it gives the same answers. The state is kept and must not
// be changed.
//
// A state from a file need not be what this package wrote: one that is no
// permutation, whose lists or tree name points that are not there, or whose
// sizes do not fit x is an error that names the array, as model files do:
// index_order, index_neighbors, index_splits or index_thresholds. Any that passes gives a tree whose answers are exact,
// as its boxes or balls are computed here, and an NN-descent index whose
// neighbours are points at their true distances; only the time and the recall
// depend on what the state says.
//
// A kd-tree costs O(nd), a ball tree O(nd log n), without the selection of
// medians that takes most of the time to build them; NN-descent O(n(d+k)).
func Restore(x data.Points, st *State, s *DescentSettings) (Index, error) {
	if s == nil {
		s = &DescentSettings{}
	}
	switch st.Method {
	case KDTree:
		return newKDTree(x, &s.Settings, st)
	case BallTree:
		return newBallTree(x, &s.Settings, st)
	case NNDescent:
		return restoreDescent(x, s, st)
	}
	return nil, fmt.Errorf("knn: no state belongs to the method %v", st.Method)
}

// WithProgress returns ix with another OnProgress, nil for none. Both share all
// else.
func WithProgress(ix Index, f func(done, total int)) Index {
	if w, ok := ix.(interface {
		withProgress(func(done, total int)) Index
	}); ok {
		return w.withProgress(f)
	}
	return ix
}

func (ix *denseIndex) withProgress(f func(done, total int)) Index {
	c := *ix
	c.OnProgress = f
	return &c
}

func (ix *byteIndex) withProgress(f func(done, total int)) Index {
	c := *ix
	c.OnProgress = f
	return &c
}

func (ix *invertedIndex) withProgress(f func(done, total int)) Index {
	c := *ix
	c.OnProgress = f
	return &c
}

func (ix *exhaustive[T]) withProgress(f func(done, total int)) Index {
	c := *ix
	c.OnProgress = f
	return &c
}

func (ix *treeIndex[T]) withProgress(f func(done, total int)) Index {
	c := *ix
	c.OnProgress = f
	return &c
}

func (ix *Descent) withProgress(f func(done, total int)) Index {
	c := *ix
	c.settings.OnProgress = f
	return &c
}

func (ix *treeIndex[T]) state() *State {
	if ix.tree == nil {
		return &State{Method: BallTree, Order: []int32{}} // zero vectors under Angle
	}
	st := &State{Method: BallTree, Order: ix.tree.order}
	if _, ok := ix.tree.bounds.(*boxes[T]); ok {
		st.Method = KDTree
	}
	return st
}

// listed returns which of n points order names. It is an error if it names one
// twice or one that is not there.
func listed(order []int32, n int) ([]bool, error) {
	if len(order) > n {
		return nil, fmt.Errorf("knn: index_order names %d points of %d", len(order), n)
	}
	seen := make([]bool, n)
	for p, i := range order {
		if i < 0 || int(i) >= n {
			return nil, fmt.Errorf("knn: element %d of index_order is %d, outside [0, %d)", p, i, n)
		}
		if seen[i] {
			return nil, fmt.Errorf("knn: element %d of index_order is %d, which is there before", p, i)
		}
		seen[i] = true
	}
	return seen, nil
}

// restoreTree loads the points in the order of the leaves and encloses them.
func restoreTree[E data.Element, T real](x *data.Dense[E], s Settings, newBounds func(d, nodes int) bounds[T], order []int32) (Index, error) {
	n, d := x.Dims()
	seen, err := listed(order, n)
	if err != nil {
		return nil, err
	}
	ix := &treeIndex[T]{Settings: s, n: n, d: d}
	row := make([]float64, d)
	for i, ok := range seen {
		if ok {
			continue
		}
		if !load(row, x, i, s.Metric) {
			return nil, fmt.Errorf("knn: index_order lacks point %d", i)
		}
		ix.zeros = append(ix.zeros, int32(i))
	}
	if len(order) == 0 {
		return ix, nil
	}
	rows := make([]T, padded(len(order))*d)
	zero := make([]bool, len(order))
	par.For(len(order), 1024, func(lo, hi int) {
		row := make([]float64, d)
		for p := lo; p < hi; p++ {
			zero[p] = load(row, x, int(order[p]), s.Metric)
			for c, v := range row {
				rows[p*d+c] = T(v)
			}
		}
	})
	if p := slices.Index(zero, true); p >= 0 {
		return nil, fmt.Errorf("knn: element %d of index_order is %d, a zero vector, which makes no angle", p, order[p])
	}
	ix.tree = orderedTree(s.Metric, d, order, rows, func(nodes int) bounds[T] { return newBounds(d, nodes) })
	return ix, nil
}

func (ix *Descent) state() *State {
	ix.found.mu.Lock()
	g := ix.found.graph
	ix.found.mu.Unlock()
	if g == nil {
		return nil
	}
	st := &State{Method: NNDescent, Order: g.order, Neighbors: make([]int32, len(g.index)), Leaf: g.leaf}
	stats := g.stats
	st.Stats = &stats
	for p, v := range g.index {
		if st.Neighbors[p] = int32(v); v == number {
			st.Neighbors[p] = -1
		}
	}
	g.root.appendTo(st)
	return st
}

// appendTo appends the inner nodes of a tree to a state.
func (p *rpNode) appendTo(st *State) {
	if p.left == nil {
		return
	}
	st.Splits = append(st.Splits, int32(p.left.hi), p.a, p.b)
	st.Thresholds = append(st.Thresholds, p.threshold)
	p.left.appendTo(st)
	p.right.appendTo(st)
}

func restoreDescent(x data.Points, s *DescentSettings, st *State) (Index, error) {
	ix, err := NewDescent(x, s)
	if err != nil {
		return nil, err
	}
	if seen, err := listed(st.Order, ix.n); err != nil {
		return nil, err
	} else if i := slices.Index(seen, false); i >= 0 {
		return nil, fmt.Errorf("knn: index_order lacks point %d", i)
	}
	index, err := st.lists(ix.n)
	if err != nil {
		return nil, err
	}
	root, err := st.root(ix.n)
	if err != nil {
		return nil, err
	}
	flat := make([]float32, ix.n*ix.d)
	ix.prepare(flat, st.Order)
	g := &descentGraph{
		candidateGraph: &candidateGraph{flat: flat, n: ix.n, d: ix.d, width: st.Stats.Width, index: index},
		stats:          *st.Stats, order: st.Order, root: root, leaf: st.Leaf,
	}
	g.finish()
	ix.found.graph = g
	return ix, nil
}

// lists returns the neighbours as a candidateGraph of n points has them.
func (st *State) lists(n int) ([]uint32, error) {
	if st.Stats == nil {
		return nil, fmt.Errorf("knn: the state of an NN-descent index lacks its stats")
	}
	k, width := st.Stats.K, st.Stats.Width
	if width < 1 || width > max(1, n-1) || k < min(1, n-1) || k > min(width, n-1) {
		return nil, fmt.Errorf("knn: index_neighbors has lists of %d for %d neighbours of each of %d points", width, k, n)
	}
	if share := st.Stats.Recall.Share; share < 0 || share > 1 {
		return nil, fmt.Errorf("knn: the stats claim a recall of %v", share)
	}
	if len(st.Neighbors)%width != 0 || len(st.Neighbors)/width != n {
		return nil, fmt.Errorf("knn: index_neighbors has %d elements for %d points with %d each", len(st.Neighbors), n, width)
	}
	const grain = 1024
	index := make([]uint32, len(st.Neighbors))
	faults := make([]error, par.Chunks(n, grain))
	par.For(n, grain, func(lo, hi int) {
		sorted := make([]int32, width)
		for i := lo; i < hi && faults[lo/grain] == nil; i++ {
			list := st.Neighbors[i*width:][:width]
			length := len(list)
			for length > k && list[length-1] == -1 {
				length--
				index[i*width+length] = number
			}
			for p, j := range list[:length] {
				if j < 0 || int(j) >= n || int(j) == i {
					faults[lo/grain] = fmt.Errorf("knn: element (%d, %d) of index_neighbors is %d; it must be another point of %d", i, p, j, n)
					break
				}
				index[i*width+p] = uint32(j)
			}
			copy(sorted, list[:length])
			slices.Sort(sorted[:length])
			if len(slices.Compact(sorted[:length])) < length && faults[lo/grain] == nil {
				faults[lo/grain] = fmt.Errorf("knn: row %d of index_neighbors names a point twice", i)
			}
		}
	})
	for _, err := range faults {
		if err != nil {
			return nil, err
		}
	}
	return index, nil
}

// root returns the entry tree of n points.
func (st *State) root(n int) (*rpNode, error) {
	if len(st.Splits)%3 != 0 || len(st.Splits)/3 != len(st.Thresholds) {
		return nil, fmt.Errorf("knn: index_splits has %d elements and index_thresholds %d; there must be three of the one for one of the other", len(st.Splits), len(st.Thresholds))
	}
	if st.Leaf < 1 {
		return nil, fmt.Errorf("knn: leaves of at most %d points", st.Leaf)
	}
	root := &rpNode{hi: n}
	next := 0
	for todo := []*rpNode{root}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p.size() <= st.Leaf {
			continue
		}
		if next == len(st.Thresholds) {
			return nil, fmt.Errorf("knn: index_splits and index_thresholds end before the points %d to %d are split", p.lo, p.hi-1)
		}
		split := st.Splits[3*next:][:3]
		middle := int(split[0])
		p.a, p.b, p.threshold = split[1], split[2], st.Thresholds[next]
		if v := float64(p.threshold); math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("knn: element %d of index_thresholds is %v", next, v)
		}
		for _, i := range split[1:] {
			if int(i) < p.lo || int(i) >= p.hi {
				return nil, fmt.Errorf("knn: row %d of index_splits names point %d for the points %d to %d", next, i, p.lo, p.hi-1)
			}
		}
		// As divide leaves at least a quarter on either side, no tree is deep.
		if 4*min(middle-p.lo, p.hi-middle) < p.size() {
			return nil, fmt.Errorf("knn: row %d of index_splits parts the points %d to %d at %d; a quarter must be on either side", next, p.lo, p.hi-1, middle)
		}
		next++
		p.left, p.right = &rpNode{lo: p.lo, hi: middle}, &rpNode{lo: middle, hi: p.hi}
		todo = append(todo, p.right, p.left)
	}
	if next < len(st.Thresholds) {
		return nil, fmt.Errorf("knn: index_splits and index_thresholds have %d rows for %d inner nodes", len(st.Thresholds), next)
	}
	return root, nil
}
