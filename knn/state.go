package knn

import (
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn/internal/nndescent"
)

// State holds the parts of an index that are costly to find and cheap to keep: the order of the
// points in a tree, or the graph and the entry tree of NN-descent. Boxes, balls and copies of the
// points are computed from the points at loading. [Restore] makes an index from a state.
//
// In files of graphs and models the arrays are members, and the other fields are JSON in the
// manifest. Of a tree there is index_order alone, of NN-descent (with Width w and s inner nodes) all:
//
//	index_order       int32   (m)     points from the first leaf to the last; m = n, or fewer under
//	                                  Angle and Cosine, where a tree has no zero vectors
//	index_neighbors   int32   (n, w)  places in index_order, nearest first; −1 where a list ends
//	index_splits      int32   (s, 3)  inner nodes in preorder: first place of the right child, places
//	                                  of the points a and b
//	index_thresholds  float32 (s)     limits of ‖q−b‖² − ‖q−a‖²: below, a query goes to the left
type State struct {
	Method Method `json:"method"` // KDTree, BallTree or NNDescent

	// Order lists the points from the first leaf of the tree, or of the entry tree of
	// NN-descent, to the last. Trees leave out the zero vectors under Angle and Cosine.
	Order []int32 `json:"-"`

	// The other fields belong to NN-descent. Point i here is point Order[i] of the set.

	// Neighbors holds the lists of all points, n×Stats.Width: nearest first, and −1 where a
	// list ends early, after at least Stats.K.
	Neighbors []int32 `json:"-"`
	// Splits holds the inner nodes of the entry tree, nodes×3, in preorder: a node, its left
	// subtree, its right subtree. The three numbers are the first point of the right child and
	// the points a and b between which the node decides. The root holds all points.
	Splits []int32 `json:"-"`
	// Thresholds holds the limit of every inner node: queries with
	// ‖q−b‖² − ‖q−a‖² below it go to the left.
	Thresholds []float32 `json:"-"`
	// Leaf is the largest number of points in a leaf.
	Leaf int `json:"leaf,omitempty"`
	// Stats describes the search.
	Stats *DescentStats `json:"stats,omitempty"`
}

// Entries returns the arrays of the state as files hold them. A nil state has none.
func (s *State) Entries() []archive.Array {
	if s == nil {
		return nil
	}
	out := []archive.Array{{Name: "index_order", Data: s.Order}}
	if s.Stats == nil {
		return out
	}
	return append(out,
		archive.Array{Name: "index_neighbors", Shape: []int{len(s.Order), s.Stats.Width}, Data: s.Neighbors},
		archive.Array{Name: "index_splits", Shape: []int{len(s.Thresholds), 3}, Data: s.Splits},
		archive.Array{Name: "index_thresholds", Data: s.Thresholds})
}

// StateOf returns the state of a tree, or of NN-descent after a search, in 4n bytes or about
// 4n(k+3). Other indexes keep nothing that is costly to find, and it returns nil. The state may
// share slices with the index, so they must not be changed.
func StateOf(ix Index) *State {
	if s, ok := ix.(interface{ state() *State }); ok {
		return s.state()
	}
	return nil
}

// Restore returns an index of x from the state of an index on the same points with the same
// settings. It gives the same neighbours. The state is kept and must not be changed.
//
// A state from a file may be damaged. If its order is no permutation, its lists or tree name points
// that do not exist, or its sizes do not fit x, the error names the array as model files do:
// index_order, index_neighbors, index_splits or index_thresholds. A damaged state that passes
// costs time or recall only: boxes and balls are computed here, so a tree is exact, and NN-descent
// returns points at their true distances.
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

// listed reports, for each of n points, whether order names it. It is an error if order names a
// point twice, or a point that does not exist.
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

func (ix *descent) state() *State {
	ix.mu.Lock()
	g := ix.graph
	ix.mu.Unlock()
	if g == nil {
		return nil
	}
	// A graph does not change once it is there.
	s := g.State()
	stats := g.stats
	return &State{
		Method: NNDescent, Order: s.Order, Neighbors: s.Neighbors,
		Splits: s.Splits, Thresholds: s.Thresholds, Leaf: s.Leaf, Stats: &stats,
	}
}

func restoreDescent(x data.Points, s *DescentSettings, st *State) (Index, error) {
	out, err := NewDescent(x, s)
	if err != nil {
		return nil, err
	}
	ix := out.descent
	if err := st.complete(ix.n); err != nil {
		return nil, err
	}
	// Rows are prepared anew and put in the order of the graph.
	rows := ix.rows()
	g, err := nndescent.Restore(ix.set(rows), st.descent())
	if err != nil {
		return nil, fmt.Errorf("knn: %w", err)
	}
	ix.graph = &descentGraph{g, rows, *st.Stats}
	return out, nil
}

// Same reports whether two states share the same arrays, or are both nil.
func (s *State) Same(t *State) bool {
	if s == nil || t == nil {
		return s == t
	}
	// Arrays are the same if they share memory; equal copies do not count.
	same := func(a, b []int32) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
	return s.Method == t.Method && s.Leaf == t.Leaf &&
		same(s.Order, t.Order) && same(s.Neighbors, t.Neighbors) && same(s.Splits, t.Splits)
}

// Check returns an error unless the state can belong to an index of n points. It checks what can be
// checked without the points; [Restore] checks the rest.
func (s *State) Check(n int) error {
	if s.Method != NNDescent {
		_, err := listed(s.Order, n)
		return err
	}
	if err := s.complete(n); err != nil {
		return err
	}
	if err := s.descent().Check(n); err != nil {
		return fmt.Errorf("knn: %w", err)
	}
	return nil
}

// complete returns an error unless the state of an NN-descent index has stats and orders all n
// points.
func (s *State) complete(n int) error {
	if seen, err := listed(s.Order, n); err != nil {
		return err
	} else if i := slices.Index(seen, false); i >= 0 {
		return fmt.Errorf("knn: index_order lacks point %d", i)
	}
	if s.Stats == nil {
		return fmt.Errorf("knn: the state of an NN-descent index lacks its stats")
	}
	if share := s.Stats.Recall.Share; share < 0 || share > 1 {
		return fmt.Errorf("knn: the stats claim a recall of %v", share)
	}

	return nil
}

// descent returns the state in the form of package nndescent.
func (s *State) descent() *nndescent.State {
	return &nndescent.State{
		K: s.Stats.K, Width: s.Stats.Width, Order: s.Order, Neighbors: s.Neighbors,
		Splits: s.Splits, Thresholds: s.Thresholds, Leaf: s.Leaf,
	}
}
