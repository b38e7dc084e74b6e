package trees

import (
	"math"

	"github.com/bigfit/bigfit/knn/internal/topk"
)

// Index finds the nearest points in a tree and among points that are kept apart.
type Index[T Real] struct {
	shape Shape
	tree  *tree[T] // nil if all points are kept apart
	apart []int32
}

// Apart is the squared distance between a point kept apart and any other point: two, as for unit
// vectors at a right angle. Zero vectors among directions are kept apart.
const Apart = 2

// New builds a tree on rows of shape.D coordinates with the given indices, and keeps the points
// with the indices apart, which ascend, out of it. Together the indices are 0 to n−1. rows has room
// for [Padded] rows. index and rows are overwritten.
func New[T Real](shape Shape, index []int32, rows []T, apart []int32) *Index[T] {
	ix := &Index[T]{shape: shape, apart: apart}
	if len(index) > 0 {
		ix.tree = newTree(shape, index, rows)
	}
	return ix
}

// Restore builds the tree with the given Order, from rows in that order.
func Restore[T Real](shape Shape, order []int32, rows []T, apart []int32) *Index[T] {
	ix := &Index[T]{shape: shape, apart: apart}
	if len(order) > 0 {
		ix.tree = orderedTree(shape, order, rows)
	}
	return ix
}

// Len returns the number of points, with the points kept apart.
func (ix *Index[T]) Len() int { return ix.inTree() + len(ix.apart) }

// Shape returns the shape with which the index was made.
func (ix *Index[T]) Shape() Shape { return ix.shape }

// Order returns the indices of the points in the tree, from the first leaf to the last. It must not
// be changed.
func (ix *Index[T]) Order() []int32 {
	if ix.tree == nil {
		return []int32{}
	}
	return ix.tree.order
}

// inTree returns the number of points in the tree.
func (ix *Index[T]) inTree() int {
	if ix.tree == nil {
		return 0
	}
	return ix.tree.n
}

// Searcher answers one query after another, for one goroutine. It looks for the k nearest points
// or, if k is 0, for all points within a radius.
type Searcher[T Real] struct {
	// Q is the query.
	Q []float64
	// Near holds the result until the next search: the k nearest points, nearest first, or all
	// points within the radius, in no order.
	Near []topk.Pair
	// Self is the index of the query, or −1.
	Self int32

	ix *Index[T]
	k  int
	// A point with a value of the norm above limit is not among the nearest. Below clear it is
	// nearer than the k-th so far. Between the two the distance decides, which may tie where
	// its square does not, and then the index.
	limit, clear float64
	radius       float64
	dist         []float64 // values of the norm for the points of one leaf
	stack        []visit   // at most one node for each level
}

// visit is a node to be searched, with its lower bound.
type visit struct {
	bound float64
	node  int
}

// NewSearcher returns a searcher of the k nearest points or, if k is 0, of the points within the
// radius.
func (ix *Index[T]) NewSearcher(k int, radius float64) *Searcher[T] {
	s := &Searcher[T]{
		ix:     ix,
		k:      k,
		radius: radius,
		Q:      make([]float64, ix.shape.D),
		Near:   make([]topk.Pair, 0, k),
	}
	if ix.tree != nil {
		s.dist = make([]float64, ix.tree.size)
		s.stack = make([]visit, 0, ix.tree.levels+1)
	}
	return s
}

// Home returns the leaf in which a search for the neighbours of Q begins.
func (s *Searcher[T]) Home() int {
	if s.ix.tree == nil {
		return 0
	}
	return s.ix.tree.home(s.Q)
}

// Query searches for the neighbours of Q, beginning in a leaf.
func (s *Searcher[T]) Query(leaf int) {
	s.start(-1, false)
	if s.ix.tree != nil {
		s.search(leaf)
	}
}

// QueryApart searches for the neighbours of a query that is itself apart from all points, such as a
// zero vector among directions.
func (s *Searcher[T]) QueryApart() { s.start(-1, true) }

// Own searches for the neighbours of point p of the index. Points are counted in the order of the
// leaves, and points kept apart come last.
func (s *Searcher[T]) Own(p int) {
	if rest := s.ix.inTree(); p >= rest {
		s.start(s.ix.apart[p-rest], true)
		return
	}
	leaf := s.ix.tree.leafOf(p)
	s.load(leaf, p)
	s.start(s.ix.tree.order[p], false)
	s.search(leaf)
}

// start begins a search for the neighbours of the query in Q, or of a query that is apart. It offers
// the points at the distance Apart: the points kept apart, or all points if the query is apart.
func (s *Searcher[T]) start(self int32, apart bool) {
	s.Self = self
	right := len(s.ix.apart)
	if apart {
		right = s.ix.Len()
	}

	s.Near = s.Near[:0]
	if s.k > 0 {
		// Until k points are known, none is ruled out.
		s.limit = math.Inf(1)
		s.clear = math.Inf(1)
		right = min(right, s.k+1) // the query itself may be one of them
	} else if s.limit = s.ix.shape.widen(s.ix.shape.square(s.radius)); Apart > s.limit {
		right = 0
	}

	for i := range int32(right) {
		if !apart {
			i = s.ix.apart[i]
		}
		s.offer(Apart, i)
	}
}

// offer takes a point with the value v of the norm, unless k nearer points are known.
func (s *Searcher[T]) offer(v float64, index int32) {
	if v > s.limit || index == s.Self {
		return
	}
	p := topk.Pair{Dist: s.ix.shape.distance(v), Index: index}
	if s.k == 0 {
		if p.Dist <= s.radius {
			s.Near = append(s.Near, p)
		}
		return
	}

	// Insertion by (distance, index).
	i := len(s.Near)
	if i < s.k {
		s.Near = append(s.Near, p)
	} else if i--; !p.Less(s.Near[i]) {
		return
	}
	for ; i > 0 && p.Less(s.Near[i-1]); i-- {
		s.Near[i] = s.Near[i-1]
	}
	s.Near[i] = p

	// The list is full, or its last point has changed: the limits follow.
	if len(s.Near) == s.k {
		v := s.ix.shape.square(s.Near[s.k-1].Dist)
		s.limit = s.ix.shape.widen(v)
		s.clear = v - (s.limit - v)
	}
}

// useless reports whether no point of a node can be among the nearest, by its lower bound.
func (s *Searcher[T]) useless(v visit) bool {
	if v.bound > s.limit {
		return true
	}
	// A node that is certainly nearer, or a list that is not full.
	if v.bound < s.clear && s.clear > 0 || s.k == 0 || len(s.Near) < s.k {
		return false
	}

	// The distance may tie with the k-th, and then a smaller index wins.
	last := s.Near[s.k-1]
	return s.ix.tree.first[v.node] > last.Index && s.ix.shape.distance(max(v.bound, 0)) >= last.Dist
}

// search visits the tree from a leaf upwards: first the leaf, then the other child of each ancestor.
func (s *Searcher[T]) search(leaf int) {
	t := s.ix.tree
	s.scan(leaf)
	for node := 1<<t.levels + leaf; node > 1; node /= 2 {
		sibling := node ^ 1
		if v := (visit{t.bounds.bound(s.Q, sibling), sibling}); !s.useless(v) {
			s.descend(v)
		}
	}
}

// descend visits the leaves below a node that may hold one of the nearest points. Of two children
// it visits the nearer one first.
func (s *Searcher[T]) descend(from visit) {
	t := s.ix.tree
	stack := append(s.stack[:0], from)
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for !s.useless(v) {
			if leaf := v.node - 1<<t.levels; leaf >= 0 {
				s.scan(leaf)
				break
			}

			left := 2 * v.node
			right := 2*v.node + 1
			near := visit{t.bounds.bound(s.Q, left), left}
			far := visit{t.bounds.bound(s.Q, right), right}
			// Of nodes at the same bound, the one with the smallest index comes first: its points
			// win ties.
			if far.bound < near.bound || far.bound == near.bound && t.first[right] < t.first[left] {
				near, far = far, near
			}
			if !s.useless(far) {
				stack = append(stack, far)
			}
			v = near
		}
	}
}

// scan measures all points of a leaf.
func (s *Searcher[T]) scan(leaf int) {
	t := s.ix.tree
	lo, hi := t.positions(leaf, t.levels)
	dist := s.dist[:hi-lo]
	t.measureLeaf(dist, s.Q, leaf)
	order := t.order[lo:hi]
	for i, v := range dist {
		if v <= s.limit {
			s.offer(v, order[i])
		}
	}
}

// measureLeaf sets dst to the values of the norm for q and the points of a leaf, with the bits of
// [Measure]. Planes and space have loops of their own, in which the sums stay in registers.
func (t *tree[T]) measureLeaf(dst, q []float64, leaf int) {
	size := t.size
	block := t.blocks[leaf*t.d*size:][:t.d*size]
	n := len(dst)

	switch {
	case t.norm == Sum:
		clear(dst)
		for c, v := range q {
			for i, x := range block[c*size:][:n] {
				dst[i] += math.Abs(v - float64(x))
			}
		}
	case t.norm == Largest:
		clear(dst)
		for c, v := range q {
			for i, x := range block[c*size:][:n] {
				dst[i] = max(dst[i], math.Abs(v-float64(x)))
			}
		}
	case len(q) == 2:
		x := block[:n]
		y := block[size:][:n]
		for i := range dst {
			a := q[0] - float64(x[i])
			b := q[1] - float64(y[i])
			s := a * a
			s += b * b
			dst[i] = s
		}
	case len(q) == 3:
		x := block[:n]
		y := block[size:][:n]
		z := block[2*size:][:n]
		q0 := q[0]
		q1 := q[1]
		q2 := q[2]
		for i := range dst {
			a := q0 - float64(x[i])
			b := q1 - float64(y[i])
			c := q2 - float64(z[i])
			s := a * a
			s += b * b
			s += c * c
			dst[i] = s
		}
	default:
		clear(dst)
		for c, v := range q {
			for i, x := range block[c*size:][:n] {
				e := v - float64(x)
				dst[i] += e * e
			}
		}
	}
}

// home goes to the nearer child at each node and returns the leaf that it reaches.
func (t *tree[T]) home(q []float64) int {
	node := 1
	for range t.levels {
		node *= 2
		if t.bounds.bound(q, node+1) < t.bounds.bound(q, node) {
			node++
		}
	}
	return node - 1<<t.levels
}

// leafOf returns the leaf that holds position p: the largest j with ⌊j·n/2^levels⌋ ≤ p.
func (t *tree[T]) leafOf(p int) int { return ((p+1)<<t.levels - 1) / t.n }

// load sets Q to the point at position p, in a leaf.
func (s *Searcher[T]) load(leaf, p int) {
	t := s.ix.tree
	lo, _ := t.positions(leaf, t.levels)
	block := t.blocks[leaf*t.d*t.size:]
	for c := range s.Q {
		s.Q[c] = float64(block[c*t.size+p-lo])
	}
}
