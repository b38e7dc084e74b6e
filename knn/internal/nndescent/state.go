package nndescent

import (
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
)

// State holds the parts of a [Graph] that are costly to find, as model files keep them. Point i
// here is point Order[i] of the set.
//
//	index_order      int32   (n)        number in the set of every point of the graph
//	index_neighbors  int32   (n, Width) lists, nearest first; −1 where one ends early, after K
//	index_splits     int32   (s, 3)     inner nodes of the entry tree: first point of the right
//	                                    child, points a and b
//	index_thresholds float32 (s)        limit of ‖q−b‖² − ‖q−a‖² of every inner node
//
// Distances and copies of the rows are not kept: they are computed from the points at loading, so
// a damaged file is an error or costs recall, and never gives a wrong distance.
type State struct {
	K, Width int
	Order    []int32
	// Neighbors holds the lists of all points, n×Width: nearest first, and −1
	// where a list ends early, after K at least.
	Neighbors []int32
	// Splits holds the inner nodes of the entry tree, nodes×3, in preorder: a node, its left
	// subtree, its right subtree. The three numbers are the first point of the right child and
	// the points a and b between which the node decides. The root holds all points.
	Splits []int32
	// Thresholds holds the limit of every inner node: queries with
	// ‖q−b‖² − ‖q−a‖² below it go to the left.
	Thresholds []float32
	// Leaf is the largest number of points in a leaf.
	Leaf int
}

// State returns the state of the graph. It shares Order with the graph, so Order must not be
// changed.
func (g *Graph) State() *State {
	st := &State{
		K:         g.stats.K,
		Width:     g.width,
		Order:     g.order,
		Neighbors: make([]int32, len(g.index)),
		Leaf:      g.leaf,
	}
	for p, v := range g.index {
		if st.Neighbors[p] = int32(v); v == number {
			st.Neighbors[p] = -1
		}
	}
	g.root.appendTo(st)
	return st
}

// appendTo appends the inner nodes of a tree to a state, in preorder.
func (p *rpNode) appendTo(st *State) {
	if p.left == nil {
		return
	}
	st.Splits = append(st.Splits, int32(p.left.hi), p.a, p.b)
	st.Thresholds = append(st.Thresholds, p.threshold)
	p.left.appendTo(st)
	p.right.appendTo(st)
}

// Restore returns the graph with the given state on the same set, in O(n(d+k)). st.Order must be
// a permutation, and the graph keeps it. If another array cannot belong to a graph of n points, the
// error names it as model files do: index_neighbors, index_splits or index_thresholds.
func Restore(set Set, st *State) (*Graph, error) {
	index, err := st.lists(set.N)
	if err != nil {
		return nil, err
	}
	root, err := st.root(set.N)
	if err != nil {
		return nil, err
	}

	// Neighbours are not checked against the points: a wrong list costs recall only.
	set.Rows.Arrange(st.Order)
	g := &Graph{
		candidateGraph: &candidateGraph{rows: set.Rows, n: set.N, width: st.Width, index: index},
		stats:          Stats{K: st.K, Width: st.Width}, order: st.Order, root: root, leaf: st.Leaf,
	}
	g.finish()
	return g, nil
}

// Check returns an error unless lists and tree can belong to a graph of n points.
func (st *State) Check(n int) error {
	if _, err := st.lists(n); err != nil {
		return err
	}
	_, err := st.root(n)
	return err
}

// lists returns the neighbours in the form of a candidateGraph of n points.
func (st *State) lists(n int) ([]uint32, error) {
	k := st.K
	width := st.Width
	if width < 1 || width > max(1, n-1) || k < min(1, n-1) || k > min(width, n-1) {
		return nil, fmt.Errorf("index_neighbors has lists of %d for %d neighbours of each of %d points",
			width, k, n)
	}
	if len(st.Neighbors)%width != 0 || len(st.Neighbors)/width != n {
		return nil, fmt.Errorf("index_neighbors has %d elements for %d points with %d each",
			len(st.Neighbors), n, width)
	}

	const grain = 1024
	index := make([]uint32, len(st.Neighbors))
	faults := make([]error, par.Chunks(n, grain))
	par.For(n, grain, func(lo, hi int) {
		// A list must not name a point twice, or it would have fewer neighbours than k.
		sorted := make([]int32, width)
		for i := lo; i < hi && faults[lo/grain] == nil; i++ {
			list := st.Neighbors[i*width:][:width]
			// A list may end early, but not before k.
			length := len(list)
			for length > k && list[length-1] == -1 {
				length--
				index[i*width+length] = number
			}
			for p, j := range list[:length] {
				if j < 0 || int(j) >= n || int(j) == i {
					faults[lo/grain] = fmt.Errorf(
						"element (%d, %d) of index_neighbors is %d; it must be another point of %d", i, p, j, n)
					break
				}
				index[i*width+p] = uint32(j)
			}

			copy(sorted, list[:length])
			slices.Sort(sorted[:length])
			if len(slices.Compact(sorted[:length])) < length && faults[lo/grain] == nil {
				faults[lo/grain] = fmt.Errorf("row %d of index_neighbors names a point twice", i)
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
		return nil, fmt.Errorf(
			"index_splits has %d elements and index_thresholds %d; there must be three of the one for one of the other",
			len(st.Splits), len(st.Thresholds))
	}
	if st.Leaf < 1 {
		return nil, fmt.Errorf("leaves of at most %d points", st.Leaf)
	}

	// Nodes are read in preorder: the left child is on top of the stack.
	root := &rpNode{hi: n}
	next := 0
	for todo := []*rpNode{root}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p.size() <= st.Leaf {
			continue
		}
		if next == len(st.Thresholds) {
			return nil, fmt.Errorf("index_splits and index_thresholds end before the points %d to %d are split",
				p.lo, p.hi-1)
		}

		split := st.Splits[3*next:][:3]
		middle := int(split[0])
		p.a = split[1]
		p.b = split[2]
		p.threshold = st.Thresholds[next]
		if v := float64(p.threshold); math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("element %d of index_thresholds is %v", next, v)
		}
		for _, i := range split[1:] {
			if int(i) < p.lo || int(i) >= p.hi {
				return nil, fmt.Errorf("row %d of index_splits names point %d for the points %d to %d",
					next, i, p.lo, p.hi-1)
			}
		}

		// As divide leaves at least a quarter on either side, no tree is deep.
		if 4*min(middle-p.lo, p.hi-middle) < p.size() {
			return nil, fmt.Errorf(
				"row %d of index_splits parts the points %d to %d at %d; a quarter must be on either side",
				next, p.lo, p.hi-1, middle)
		}

		next++
		p.left = &rpNode{lo: p.lo, hi: middle}
		p.right = &rpNode{lo: middle, hi: p.hi}
		todo = append(todo, p.right, p.left)
	}
	if next < len(st.Thresholds) {
		return nil, fmt.Errorf("index_splits and index_thresholds have %d rows for %d inner nodes",
			len(st.Thresholds), next)
	}
	return root, nil
}
