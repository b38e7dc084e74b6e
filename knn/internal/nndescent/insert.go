package nndescent

import (
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
)

// Insert returns the graph of a set that begins with the len(st.Order) points of st, without a
// search. lists[i] names the nearest other points of point i of the set, nearest first, by their
// numbers in the set: at least st.K points. For a point of st it may be nil, and its list
// stays; if it is not, the points of the old list follow.
//
// A new point joins the leaf of the entry tree into which it falls. Nodes that become too large
// for a leaf, or too uneven, are divided anew. Insert costs O(n·Width), and for each new point the
// way down the tree.
func Insert(set Set, st *State, lists [][]int32, seed uint64) (*Graph, error) {
	old := len(st.Order)
	kept, err := st.lists(old)
	if err != nil {
		return nil, err
	}
	root, err := st.root(old)
	if err != nil {
		return nil, err
	}

	// The entry tree names points of the set while points are inserted.
	forest := newForest(set.Rows, set.N, st.Leaf, seed)
	root.rename(st.Order)
	forest.insert(st.Order, root)
	order := forest.arrange(root)
	g := &Graph{
		candidateGraph: &candidateGraph{
			rows:  set.Rows,
			n:     set.N,
			width: st.Width,
			index: make([]uint32, set.N*st.Width),
		},
		stats: Stats{K: st.K, Width: st.Width},
		order: order,
		root:  root,
		leaf:  st.Leaf,
	}

	// Points of the set stand at place in the new graph, and stood at at in the old one.
	place := forest.spare
	at := make([]int32, set.N)
	for i, v := range st.Order {
		at[v] = int32(i)
	}

	par.For(set.N, 1024, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			list := g.index[int(place[v])*st.Width:][:0:st.Width]
			for _, j := range lists[v] {
				if len(list) < st.Width {
					list = append(list, uint32(place[j]))
				}
			}

			// The old list follows, without points that are in the list already.
			known := len(list)
			if v < old {
				for _, j := range kept[int(at[v])*st.Width:][:st.Width] {
					if j == number || len(list) == st.Width {
						break
					}
					if to := uint32(place[st.Order[j]]); !slices.Contains(list[:known], to) {
						list = append(list, to)
					}
				}
			}

			for len(list) < st.Width {
				list = append(list, number)
			}
		}
	})
	g.finish()
	return g, nil
}

// insert puts f.order into the order of the leaves of root: in each leaf its points in old, then
// the new points that fall into it. The tree names points by their numbers in the set.
func (f *rpForest) insert(old []int32, root *rpNode) {
	m := groupOf(f.rows.Meter())
	joined := map[*rpNode][]int32{}
	for i := len(old); i < f.n; i++ {
		m.At(int32(i))
		leaf := root.leafOf(m)
		joined[leaf] = append(joined[leaf], int32(i))
	}

	// All nodes move to their new ranges, leaves from left to right.
	at := 0
	var move func(p *rpNode)
	move = func(p *rpNode) {
		lo := at
		if p.left == nil {
			at += copy(f.order[at:], old[p.lo:p.hi])
			at += copy(f.order[at:], joined[p])
		} else {
			move(p.left)
			move(p.right)
		}
		p.lo = lo
		p.hi = at
	}

	move(root)
	f.repair(m, root)
}

// repair divides the nodes below p anew that [State.Check] would refuse.
func (f *rpForest) repair(m group, p *rpNode) {
	switch {
	case p.size() <= f.leaf:
	case p.left != nil && 4*min(p.left.size(), p.right.size()) >= p.size():
		f.repair(m, p.left)
		f.repair(m, p.right)
	default:
		f.split(m, p, 0)
	}
}
