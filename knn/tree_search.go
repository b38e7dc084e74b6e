package knn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/internal/topk"
	"github.com/bigfit/bigfit/sparse"
)

// treeIndex searches a kd-tree or a ball tree.
type treeIndex[T real] struct {
	metric Metric
	n, d   int
	tree   *tree[T] // of all points, or the nonzero ones for Angle
	zeros  []int32  // the zero vectors, for Angle
}

// newTreeIndex loads the points and builds the tree, or restores it if there is
// a state.
func newTreeIndex(x data.Points, s *Settings, st *State, f32 func(d, nodes int) bounds[float32], f64 func(d, nodes int) bounds[float64]) (Index, error) {
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
	var e engine
	var err error
	if elementBytes(x, s.Metric) == 4 {
		e, err = loadTree(x, s.Metric, st, f32)
	} else {
		e, err = loadTree(x, s.Metric, st, f64)
	}
	if err != nil {
		return nil, err
	}
	return newIndex(e, x, s), nil
}

func loadTree[T real](x data.Points, m Metric, st *State, newBounds func(d, nodes int) bounds[T]) (engine, error) {
	if st != nil {
		return restoreTree(x, m, newBounds, st.Order)
	}
	n, d := x.Dims()
	ix := &treeIndex[T]{metric: m, n: n, d: d}
	rows := make([]T, padded(n)*d)
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
	index := make([]int32, 0, n)
	for i := range n {
		if zero[i] {
			ix.zeros = append(ix.zeros, int32(i))
			continue
		}
		if len(index) < i {
			copy(rows[len(index)*d:], rows[i*d:(i+1)*d])
		}
		index = append(index, int32(i))
	}
	if len(index) > 0 {
		ix.tree = newTree(m, d, index, rows[:padded(len(index))*d], func(nodes int) bounds[T] { return newBounds(d, nodes) })
	}
	return ix, nil
}

// load sets row to point i of x, for Angle scaled to norm one, and reports
// whether it is a zero vector then; the tree holds none.
func load(row []float64, x data.Points, i int, m Metric) (zero bool) {
	data.RowTo(row, x, i)
	if !m.angular() {
		return false
	}
	scaleToUnit(row)
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

// treeBytes returns the memory of a tree with nodeBytes for the volume of a
// node and of k neighbours of each point, or that of building it if larger.
func treeBytes(x data.Points, m Metric, k int, nodeBytes int64) int64 {
	n, d := x.Dims()
	levels, _ := shape(n)
	element := elementBytes(x, m)
	block := int64(padded(n)) * int64(d) * element
	tree := block + 4*int64(n) + (nodeBytes+4)<<(levels+1)
	building := block + (4+element+8+1)*int64(n)
	return tree + max(building, 12*int64(n)*int64(k))
}

// searcher answers one query after another. It looks for the k nearest points,
// or, if k is 0, for all within a radius.
type searcher[T real] struct {
	ix   *treeIndex[T]
	q    []float64 // the query, scaled to norm one for Angle
	self int32     // the index of the query, or −1
	k    int
	near []topk.Pair // the nearest so far, nearest first; or all within the radius, in no order
	// A point at a distance above limit, as measure gives it, is not among the
	// nearest. Below clear it is nearer than the k-th so far. Between the two the
	// metric's distance decides, which may tie where its square does not, and then
	// the index.
	limit, clear float64
	radius       float64
	dist         []float64 // of the points of one leaf
	stack        []visit   // at most one for each level
}

// visit is a node to be searched, with its bound.
type visit struct {
	bound float64
	node  int
}

func (ix *treeIndex[T]) newSearcher(k int) *searcher[T] {
	s := &searcher[T]{ix: ix, k: k, q: make([]float64, ix.d), near: make([]topk.Pair, 0, k)}
	if ix.tree != nil {
		s.dist = make([]float64, ix.tree.size)
		s.stack = make([]visit, 0, ix.tree.levels+1)
	}
	return s
}

// start begins a search for the neighbours of the query in q, zero if it is a
// zero vector under Angle, with the points that are π/2 away from it.
func (s *searcher[T]) start(self int32, zero bool) {
	m := s.ix.metric
	s.self = self
	right := len(s.ix.zeros) // as many points are at a right angle
	if zero {
		right = s.ix.n
	}
	s.near = s.near[:0]
	if s.k > 0 {
		s.limit, s.clear = math.Inf(1), math.Inf(1)
		right = min(right, s.k+1) // the query may be one of them
	} else if s.limit = widen(m, m.square(s.radius)); 2 > s.limit {
		right = 0
	}
	for i := range int32(right) {
		if !zero {
			i = s.ix.zeros[i]
		}
		s.offer(2, i)
	}
}

// offer takes a point at a distance that measure gives as v.
func (s *searcher[T]) offer(v float64, index int32) {
	if v > s.limit || index == s.self {
		return
	}
	p := topk.Pair{Dist: s.ix.metric.distance(v), Index: index}
	if s.k == 0 {
		if p.Dist <= s.radius {
			s.near = append(s.near, p)
		}
		return
	}
	i := len(s.near)
	if i < s.k {
		s.near = append(s.near, p)
	} else if i--; !p.Less(s.near[i]) {
		return
	}
	for ; i > 0 && p.Less(s.near[i-1]); i-- {
		s.near[i] = s.near[i-1]
	}
	s.near[i] = p
	if len(s.near) == s.k {
		m := s.ix.metric
		v := m.square(s.near[s.k-1].Dist)
		s.limit = widen(m, v)
		s.clear = v - (s.limit - v)
	}
}

// useless reports whether no point of a node at that bound can be among the
// nearest.
func (s *searcher[T]) useless(v visit) bool {
	if v.bound > s.limit {
		return true
	}
	if v.bound < s.clear && s.clear > 0 || s.k == 0 || len(s.near) < s.k {
		return false
	}
	last := s.near[s.k-1]
	return s.ix.tree.first[v.node] > last.Index && s.ix.metric.distance(max(v.bound, 0)) >= last.Dist
}

// search visits the tree from a leaf upwards: the leaf, then at each ancestor
// the other child.
func (s *searcher[T]) search(leaf int) {
	t := s.ix.tree
	s.scan(leaf)
	for node := 1<<t.levels + leaf; node > 1; node /= 2 {
		sibling := node ^ 1
		if v := (visit{t.bounds.bound(s.q, sibling), sibling}); !s.useless(v) {
			s.descend(v)
		}
	}
}

// descend visits the leaves below a node that may hold one of the nearest
// points, from each node the nearer child first.
func (s *searcher[T]) descend(from visit) {
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
			left, right := 2*v.node, 2*v.node+1
			near, far := visit{t.bounds.bound(s.q, left), left}, visit{t.bounds.bound(s.q, right), right}
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
func (s *searcher[T]) scan(leaf int) {
	t := s.ix.tree
	lo, hi := t.positions(leaf, t.levels)
	dist := s.dist[:hi-lo]
	t.measureLeaf(dist, s.q, leaf)
	order := t.order[lo:hi]
	for i, v := range dist {
		if v <= s.limit {
			s.offer(v, order[i])
		}
	}
}

// measureLeaf sets dst to the distances of q from the points of a leaf, as
// measure does for one.
func (t *tree[T]) measureLeaf(dst, q []float64, leaf int) {
	size := t.size
	block := t.blocks[leaf*t.d*size:][:t.d*size]
	n := len(dst)
	switch {
	case t.metric == Manhattan:
		clear(dst)
		for c, v := range q {
			for i, x := range block[c*size:][:n] {
				dst[i] += math.Abs(v - float64(x))
			}
		}
	case t.metric == Chebyshev:
		clear(dst)
		for c, v := range q {
			for i, x := range block[c*size:][:n] {
				dst[i] = max(dst[i], math.Abs(v-float64(x)))
			}
		}
	case len(q) == 2:
		x, y := block[:n], block[size:][:n]
		for i := range dst {
			a, b := q[0]-float64(x[i]), q[1]-float64(y[i])
			s := a * a
			s += b * b
			dst[i] = s
		}
	case len(q) == 3:
		x, y, z := block[:n], block[size:][:n], block[2*size:][:n]
		q0, q1, q2 := q[0], q[1], q[2]
		for i := range dst {
			a, b, c := q0-float64(x[i]), q1-float64(y[i]), q2-float64(z[i])
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

// home returns the leaf reached by going to the nearer child at each node.
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

// selfGrain is the number of indexed points whose neighbours are searched for in
// one chunk.
const selfGrain = 512

// eachSelf answers the query of every point, in leaf order and the zero vectors
// last, in chunks of selfGrain, and hands the searcher with the answer to take.
func (ix *treeIndex[T]) eachSelf(ctx context.Context, k int, radius float64, p progress, take func(chunk int, s *searcher[T])) error {
	return inStripes(ctx, ix.n, selfGrain, p, func() func(lo, hi int) {
		s := ix.newSearcher(k)
		s.radius = radius
		return func(lo, hi int) {
			for i := lo; i < hi; i++ {
				if rest := ix.n - len(ix.zeros); i >= rest {
					s.start(ix.zeros[i-rest], true)
				} else {
					leaf := ix.tree.leafOf(i)
					s.load(leaf, i)
					s.start(ix.tree.order[i], false)
					s.search(leaf)
				}
				take(lo/selfGrain, s)
			}
		}
	})
}

// leafOf returns the leaf that holds a position: the largest j with
// ⌊j·n/2^levels⌋ ≤ p.
func (t *tree[T]) leafOf(p int) int { return ((p+1)<<t.levels - 1) / t.n }

// load reads the point at position p, in a leaf, as the query.
func (s *searcher[T]) load(leaf, p int) {
	t := s.ix.tree
	lo, _ := t.positions(leaf, t.levels)
	block := t.blocks[leaf*t.d*t.size:]
	for c := range s.q {
		s.q[c] = float64(block[c*t.size+p-lo])
	}
}

func (ix *treeIndex[T]) self(ctx context.Context, k int, p progress) (*Neighbors, error) {
	out := newNeighbors(ix.n, k)
	err := ix.eachSelf(ctx, k, 0, p, func(_ int, s *searcher[T]) { out.set(int(s.self), s.near) })
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
		s := ix.newSearcher(k)
		return func(lo, hi int) {
			// In the order of the leaves they are nearest to, so that a query finds
			// in the cache what the one before it has read.
			order := make([]at, hi-lo)
			for i := range order {
				order[i].query = lo + i
				if zero := load(s.q, x, lo+i, ix.metric); !zero && ix.tree != nil {
					order[i].leaf = ix.tree.home(s.q)
				}
			}
			slices.SortFunc(order, func(a, b at) int { return a.leaf - b.leaf })
			for _, a := range order {
				zero := load(s.q, x, a.query, ix.metric)
				s.start(-1, zero)
				if !zero && ix.tree != nil {
					s.search(a.leaf)
				}
				out.set(a.query, s.near)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// at is a query and the leaf its search begins with.
type at struct{ leaf, query int }

func (ix *treeIndex[T]) within(ctx context.Context, radius float64, budget *pairBudget, p progress) (*sparse.CSR, error) {
	// What one chunk of queries found, one query after the other.
	type answers struct {
		query []int32
		pairs []topk.Pair
	}
	chunks := make([]answers, par.Chunks(ix.n, selfGrain))
	out := &sparse.CSR{Rows: ix.n, Cols: ix.n, Ptr: make([]int64, ix.n+1)}
	err := ix.eachSelf(ctx, 0, radius, p, func(chunk int, s *searcher[T]) {
		if !budget.take(len(s.near)) {
			return
		}
		slices.SortFunc(s.near, func(a, b topk.Pair) int { return int(a.Index) - int(b.Index) })
		c := &chunks[chunk]
		c.query = append(c.query, s.self)
		c.pairs = append(c.pairs, s.near...)
		out.Ptr[s.self+1] = int64(len(s.near))
	})
	if err != nil {
		return nil, err
	}
	for i := range ix.n {
		out.Ptr[i+1] += out.Ptr[i]
	}
	out.Col, out.Val = make([]int32, out.Ptr[ix.n]), make([]float64, out.Ptr[ix.n])
	par.For(len(chunks), 1, func(c, _ int) {
		pairs := chunks[c].pairs
		for _, i := range chunks[c].query {
			lo, hi := out.Ptr[i], out.Ptr[i+1]
			for p := lo; p < hi; p++ {
				out.Col[p], out.Val[p] = pairs[p-lo].Index, pairs[p-lo].Dist
			}
			pairs = pairs[hi-lo:]
		}
		chunks[c] = answers{}
	})
	return out, nil
}
