package knn

import (
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn/internal/nndescent"
)

// A model file holds only the part of an index that is costly to find: the order of the points
// in a tree, or the lists and the entry tree of NN-descent. Boxes, balls and copies are
// computed from the points at loading. A damaged file is therefore an error, or costs time or
// recall, and never gives a wrong neighbour of a tree or a wrong distance.

// State holds the parts of an index that are costly to find and cheap to keep: the
// order of the points in a tree, the graph and the entry tree of NN-descent. All else
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

// Entries returns the arrays of the state as files hold them; a nil state has none.
func (s *State) Entries() []archive.Array {
	if s == nil {
		return nil
	}
	out := []archive.Array{{Name: "index_order", Data: s.Order}}
	if s.Stats == nil {
		return out
	}
	return append(out, archive.Array{Name: "index_neighbors", Shape: []int{len(s.Order), s.Stats.Width},
		Data: s.Neighbors},
		archive.Array{Name: "index_splits", Shape: []int{len(s.Thresholds), 3}, Data: s.Splits},
		archive.Array{Name: "index_thresholds", Data: s.Thresholds})
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
// index_order, index_neighbors, index_splits or index_thresholds. Any that passes
// gives a tree whose answers are exact, as its boxes or balls are computed here, or
// an NN-descent index whose neighbours are points at their true distances; only the
// time and the recall
// depend on the content of the state.
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

func (ix *descent) state() *State {
	ix.mu.Lock()
	g := ix.graph
	ix.mu.Unlock()
	if g == nil {
		return nil
	}
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
	rows := ix.rows()
	g, err := nndescent.Restore(ix.set(rows), st.descent())
	if err != nil {
		return nil, fmt.Errorf("knn: %w", err)
	}

	ix.graph = &descentGraph{g, rows, *st.Stats}
	return out, nil
}

// Same reports whether two states have the same arrays, or both are nil.
func (s *State) Same(t *State) bool {
	if s == nil || t == nil {
		return s == t
	}
	same := func(a, b []int32) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }
	return s.Method == t.Method && s.Leaf == t.Leaf && same(s.Order, t.Order) &&
		same(s.Neighbors, t.Neighbors) && same(s.Splits, t.Splits)
}

// Check returns an error unless the state can be that of an index of n points, as far as
// it can be told without them; [Restore] checks the rest.
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

// complete returns an error unless the state of an NN-descent index has the order of
// all n points and stats.
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

// descent returns the state as the search has it.
func (s *State) descent() *nndescent.State {
	return &nndescent.State{
		K: s.Stats.K, Width: s.Stats.Width, Order: s.Order, Neighbors: s.Neighbors,
		Splits: s.Splits, Thresholds: s.Thresholds, Leaf: s.Leaf,
	}
}
