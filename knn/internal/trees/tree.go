package trees

import (
	"math"
	"math/bits"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
)

// Real is a type in which trees hold coordinates.
type Real interface{ float32 | float64 }

// tree is a balanced binary tree of points. A node with m points gives its first ⌊m/2⌋ points in
// the order of (coordinate, index) to the left child and the others to the right child, along the
// coordinate of widest spread (Friedman, Bentley & Finkel, ACM Trans. Math. Software 3 (1977),
// 209–226). As the halves are taken by position, neither duplicates nor constant coordinates
// unbalance the tree.
//
// Nodes are numbered as in a heap: the root is 1, the children of i are 2i and
// 2i+1, and level l is [2^l, 2^(l+1)). All leaves are on the last level, and
// leaf j holds positions [j·n/2^l, (j+1)·n/2^l) of the leaf order, rounded
// down: every leaf has size or size−1 points.
type tree[T Real] struct {
	norm   Norm
	n, d   int
	levels int     // levels of splits; there are 2^levels leaves
	size   int     // points of the largest leaf
	order  []int32 // the indices of the points in leaf order
	first  []int32 // the smallest index in each node
	// blocks holds the leaves by coordinate, so that a leaf is scanned along
	// the points: coordinate c of point i of leaf j is blocks[(j·d+c)·size+i].
	blocks []T
	bounds bounds[T]
}

// bounds holds the volumes that enclose the points of each node.
type bounds[T Real] interface {
	// enclose computes the volume of a node from its points, row-major, and
	// from their smallest and largest coordinates.
	enclose(node int, rows, lo, hi []T)
	// bound returns a value not above what measure returns for q and any point
	// of the node, rounding included. It may be negative.
	bound(q []float64, node int) float64
}

// leafPoints is the largest size of a leaf. Larger leaves cost more distances, smaller ones more
// nodes.
const leafPoints = 16

// levelsOf returns the number of levels of splits of a tree on n points and the size of its largest
// leaf.
func levelsOf(n int) (levels, size int) {
	size = n
	for size > leafPoints {
		levels++
		size = (n-1)>>levels + 1
	}
	return levels, size
}

// positions returns the range in leaf order of node i of a level, counted from 0.
func (t *tree[T]) positions(i, level int) (lo, hi int) {
	return i * t.n >> level, (i + 1) * t.n >> level
}

// sorter holds the memory that only building a tree needs. When the levels above level are done,
// the points are in rows[level&1], row-major, in the order of their nodes.
type sorter[T Real] struct {
	*tree[T]
	rows  [2][]T
	order [2][]int32
	keys  []key[T]
}

// newTree builds a tree on n rows with the given indices. rows has room for Padded(n)·d elements.
// Both slices are overwritten.
//
// Each of the log₂(n/16) levels reads and moves all points once and selects a
// median among n keys in about 2n comparisons: O(nd log n).
func newTree[T Real](shape Shape, index []int32, rows []T) *tree[T] {
	t := emptyTree[T](shape, len(index))
	s := &sorter[T]{tree: t, keys: make([]key[T], t.n)}
	s.rows = [2][]T{rows, make([]T, len(rows))}
	s.order = [2][]int32{index, make([]int32, t.n)}

	// The top of the tree is built level by level, then its 64 subtrees independently.
	const top = 6
	for level := range min(top, t.levels) {
		par.For(1<<level, 1, func(i, _ int) { s.split(i, level) })
	}
	if t.levels > top {
		// One goroutine sorts a subtree as a whole, while its points are in the cache.
		par.For(1<<top, 1, func(i, _ int) {
			for level := top; level < t.levels; level++ {
				below := level - top
				for j := i << below; j < (i+1)<<below; j++ {
					s.split(j, level)
				}
			}
		})
	}

	// The points in leaf order end in one of the two buffers, and the leaves take the other.
	t.order = s.order[t.levels&1]
	t.blocks = s.rows[1-t.levels&1]
	t.fill(s.rows[t.levels&1], nil)
	return t
}

// orderedTree returns a tree on rows with the given indices that are in leaf order already. It only
// computes the volumes of the nodes. rows has Padded(n)·d elements.
func orderedTree[T Real](shape Shape, order []int32, rows []T) *tree[T] {
	t := emptyTree[T](shape, len(order))
	d := shape.D
	t.order = order
	t.blocks = make([]T, len(rows))

	// The extents of a level follow from the extents of the level below.
	extents := make([]T, 2*d<<t.levels)
	t.fill(rows, extents)
	for level := t.levels - 1; level >= 0; level-- {
		below := extents
		extents = make([]T, 2*d<<level)
		par.For(1<<level, max(1, 1<<level/64), func(from, to int) {
			for i := from; i < to; i++ {
				children := below[4*d*i:][:4*d]
				low := extents[2*d*i:][:d]
				high := extents[2*d*i+d:][:d]
				for c := range d {
					low[c] = min(children[c], children[2*d+c])
					high[c] = max(children[d+c], children[3*d+c])
				}
				lo, hi := t.positions(i, level)
				t.bounds.enclose(1<<level+i, rows[lo*d:hi*d], low, high)
			}
		})
	}
	return t
}

// emptyTree returns a tree without order and blocks.
func emptyTree[T Real](shape Shape, n int) *tree[T] {
	t := &tree[T]{norm: shape.Norm, n: n, d: shape.D}
	t.levels, t.size = levelsOf(n)
	if nodes := 2 << t.levels; shape.Volume == Balls {
		t.bounds = newBalls[T](shape.Norm, shape.D, nodes)
	} else {
		t.bounds = newBoxes[T](shape.Norm, shape.D, nodes)
	}
	t.first = make([]int32, 2<<t.levels)
	return t
}

// fill stores and encloses the leaves, with rows in leaf order, and sets first. If extents is not
// nil, it is set to the extents of the leaves, 2d values each.
func (t *tree[T]) fill(rows, extents []T) {
	leaves := 1 << t.levels
	par.For(leaves, 64, func(lo, hi int) {
		both := make([]T, 2*t.d)
		for j := lo; j < hi; j++ {
			if extents != nil {
				both = extents[2*t.d*j:][:2*t.d]
			}
			t.leaf(j, rows, both)
		}
	})

	for node := leaves - 1; node > 0; node-- {
		t.first[node] = min(t.first[2*node], t.first[2*node+1])
	}
}

// Padded returns the number of rows that a tree on n points needs room for.
func Padded(n int) int {
	levels, size := levelsOf(n)
	return size << levels
}

// split encloses node i of a level and orders its points for its children.
func (s *sorter[T]) split(i, level int) {
	d := s.d
	lo, hi := s.positions(i, level)
	rows := s.rows[level&1][lo*d : hi*d]
	order := s.order[level&1][lo:hi]
	// The extent gives the volume of the node and the widest coordinate.
	low, high := extentTo(make([]T, 2*d), rows)
	s.bounds.enclose(1<<level+i, rows, low, high)

	// The median along the widest coordinate divides the points.
	widest := 0
	for c := range d {
		if high[c]-low[c] > high[widest]-low[widest] {
			widest = c
		}
	}
	keys := s.keys[lo:hi]
	for p := range keys {
		keys[p] = key[T]{rows[p*d+widest], order[p], int32(p)}
	}
	_, middle := s.positions(2*i, level+1)
	selectKeys(keys, middle-lo)

	nextRows := s.rows[1-level&1][lo*d : hi*d]
	nextOrder := s.order[1-level&1][lo:hi]
	for p, k := range keys {
		nextOrder[p] = k.index
		copy(nextRows[p*d:(p+1)*d], rows[int(k.row)*d:])
	}
}

// leaf encloses leaf j, stores its block, and sets both to its extent. rows are in leaf order.
func (t *tree[T]) leaf(j int, rows, both []T) {
	d := t.d
	lo, hi := t.positions(j, t.levels)
	rows = rows[lo*d : hi*d]
	low, high := extentTo(both, rows)
	node := 1<<t.levels + j
	t.bounds.enclose(node, rows, low, high)
	t.first[node] = slices.Min(t.order[lo:hi])

	block := t.blocks[j*d*t.size:][:d*t.size]
	for i := range hi - lo {
		for c, v := range rows[i*d : (i+1)*d] {
			block[c*t.size+i] = v
		}
	}
}

// extentTo sets both, 2d values, to the smallest and the largest values of the coordinates, and
// returns its halves.
func extentTo[T Real](both, rows []T) (lo, hi []T) {
	d := len(both) / 2
	lo = both[:d]
	hi = both[d:]
	copy(lo, rows)
	copy(hi, rows)
	for ; len(rows) > 0; rows = rows[d:] {
		for c, v := range rows[:len(lo)] {
			if v < lo[c] {
				lo[c] = v
			}
			if v > hi[c] {
				hi[c] = v
			}
		}
	}
	return lo, hi
}

// A key orders a point within its node and holds the number of its row.
type key[T Real] struct {
	v          T
	index, row int32
}

func (a key[T]) less(b key[T]) bool {
	return a.v < b.v || a.v == b.v && a.index < b.index
}

// selectKeys reorders keys so that the m smallest come first, by the algorithm of Floyd & Rivest
// (CACM 18 (1975), 165–173, algorithm 489): the pivot is selected from a sample, so that two
// passes bring the ends of the range close to m. If they do not close in, the rest is sorted.
func selectKeys[T Real](keys []key[T], m int) {
	lo := 0
	hi := len(keys) - 1
	for rounds := 4 + 2*bits.Len(uint(len(keys))); lo < hi; rounds-- {
		// Too many rounds: many keys are equal, or the samples were bad.
		if rounds == 0 {
			slices.SortFunc(keys[lo:hi+1], func(a, b key[T]) int {
				if a.less(b) {
					return -1
				}
				return 1
			})
			return
		}

		// The sample and its size, as in the paper.
		if hi-lo > 600 {
			n := float64(hi - lo + 1)
			i := float64(m - lo + 1)
			z := math.Log(n)
			s := 0.5 * math.Exp(2*z/3)
			shift := math.Copysign(0.5*math.Sqrt(z*s*(n-s)/n), i-n/2)
			from := max(lo, m-int(i*s/n-shift))
			to := min(hi, m+int((n-i)*s/n+shift))
			selectKeys(keys[from:to+1], m-from)
		}

		// Hoare's partition.
		pivot := keys[m]
		i, j := lo, hi
		for i <= j {
			for keys[i].less(pivot) {
				i++
			}
			for pivot.less(keys[j]) {
				j--
			}
			if i <= j {
				keys[i], keys[j] = keys[j], keys[i]
				i++
				j--
			}
		}

		switch {
		case m <= j:
			hi = j
		case m >= i:
			lo = i
		default:
			return
		}
	}
}
