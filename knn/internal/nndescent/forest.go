package nndescent

import (
	"math/rand/v2"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
)

// An rpNode is a node of a random projection tree: it holds the points order[lo:hi]. An inner
// node sends a point x to the left if D(x,b) − D(x,a), the difference of the squared distances of
// x from b and from a, is below the threshold. Between rows of numbers this is ‖x−b‖² − ‖x−a‖²,
// an affine function of x along a−b.
type rpNode struct {
	lo, hi      int
	a, b        int32
	threshold   float32
	left, right *rpNode // nil in a leaf
}

func (p *rpNode) size() int { return p.hi - p.lo }

// appendLeaves appends the leaves below p, from left to right.
func (p *rpNode) appendLeaves(leaves []*rpNode) []*rpNode {
	if p.left == nil {
		return append(leaves, p)
	}
	return p.right.appendLeaves(p.left.appendLeaves(leaves))
}

// leafOf returns the leaf below p into which the point of m falls.
func (p *rpNode) leafOf(m Meter) *rpNode {
	for p.left != nil {
		var d [2]float32
		m.Measure(d[:], []int32{p.a, p.b})
		if d[1]-d[0] < p.threshold {
			p = p.left
		} else {
			p = p.right
		}
	}
	return p
}

// rename replaces the points a and b of all nodes below p.
func (p *rpNode) rename(to []int32) {
	if p.left != nil {
		p.a = to[p.a]
		p.b = to[p.b]
		p.left.rename(to)
		p.right.rename(to)
	}
}

// An rpForest grows random projection trees (Dasgupta & Freund, STOC 2008) on rows, one at a
// time. A split is along the direction between two points of the node. The threshold is a random
// quantile near the median, so that trees differ even where all directions are the same.
type rpForest struct {
	rows         Rows
	meters       []group // one for each goroutine
	n            int
	leaf         int    // largest number of points in a leaf
	seed         uint64 // seed and a tree's number determine the tree
	order, spare []int32
	side         []float32 // D(x,b) − D(x,a) of the points order, in their node
}

func newForest(rows Rows, n, leaf int, seed uint64) *rpForest {
	return &rpForest{
		rows: rows, n: n, leaf: leaf, seed: seed,
		order: make([]int32, n), spare: make([]int32, n), side: make([]float32, n),
	}
}

// grow grows the tree with a number, puts the points into the order of its leaves, and returns
// its root. A leaf holds at least a quarter of f.leaf points if the set does.
//
// Tree 0 numbers the rows and begins queries.
func (f *rpForest) grow(tree int) *rpNode {
	for i := range f.order {
		f.order[i] = int32(i)
	}
	for len(f.meters) < par.Workers(f.n, 1) {
		f.meters = append(f.meters, groupOf(f.rows.Meter()))
	}

	root := &rpNode{hi: f.n}
	level := []*rpNode{root}

	// Large nodes are projected by all goroutines together, one level at a time.
	for large := []*rpNode{root}; ; {
		large = large[:0]
		for _, p := range level {
			if p.size() > max(f.leaf, 1<<15) {
				large = append(large, p)
			}
		}
		if len(large) == 0 {
			break
		}

		for _, p := range large {
			f.aim(f.meters[0], p, tree)
			par.ForWorker(p.size(), 1<<12, func(worker, lo, hi int) {
				f.project(f.meters[worker], p, p.lo+lo, p.lo+hi)
			})
		}
		par.For(len(large), 1, func(lo, _ int) { f.divide(large[lo], tree) })

		next := level[:0:0]
		for _, p := range level {
			if p.left != nil {
				next = append(next, p.left, p.right)
			} else {
				next = append(next, p)
			}
		}
		level = next
	}

	// Smaller nodes are split down to leaves by one goroutine each.
	par.ForWorker(len(level), 1, func(worker, lo, hi int) {
		for _, p := range level[lo:hi] {
			f.split(f.meters[worker], p, tree)
		}
	})
	return root
}

// split divides p until all parts are leaves.
func (f *rpForest) split(m group, p *rpNode, tree int) {
	if p.size() <= f.leaf {
		return
	}
	f.aim(m, p, tree)
	f.project(m, p, p.lo, p.hi)
	f.divide(p, tree)
	f.split(m, p.left, tree)
	f.split(m, p.right, tree)
}

// arrange numbers rows and tree anew by the order, which it returns. It sets spare to the new
// number of every point of the set.
func (f *rpForest) arrange(root *rpNode) []int32 {
	order := slices.Clone(f.order)
	for i, v := range order {
		f.spare[v] = int32(i)
	}
	root.rename(f.spare)
	f.rows.Arrange(order)
	return order
}

// random returns the generator of node p of a tree for its first use, 0, or its second.
func (f *rpForest) random(p *rpNode, tree, use int) *rand.Rand {
	return rand.New(rand.NewPCG(f.seed+uint64(2*tree+use)<<32, uint64(p.lo)<<32|uint64(p.hi)))
}

// aim chooses the direction of a split: the farthest of three random pairs of points, because a
// wide direction seldom parts neighbours.
func (f *rpForest) aim(m Meter, p *rpNode, tree int) {
	const pairs = 3
	r := f.random(p, tree, 0)
	far := float32(-1)
	for range pairs {
		var d [1]float32
		a := f.order[p.lo+r.IntN(p.size())]
		b := f.order[p.lo+r.IntN(p.size())]
		m.At(a)
		m.Measure(d[:], []int32{b})
		if d[0] > far {
			far = d[0]
			p.a = a
			p.b = b
		}
	}
}

// project computes side for the points order[lo:hi] of node p.
func (f *rpForest) project(m group, p *rpNode, lo, hi int) {
	const block = 32 // its rows stay in the nearest caches
	var ids [2 + block]int32
	var toA, toB [1 + block]float32
	ids[0] = p.b
	ids[1] = p.a

	// The first two gathered rows are b and a: distances of later rows from them come in two calls.
	for ; lo < hi; lo += block {
		end := min(lo+block, hi)
		count := copy(ids[2:], f.order[lo:end])
		m.Gather(ids[:2+count])
		m.Among(toB[:1+count], 0)
		m.Among(toA[:count], 1)
		for i, v := range toA[:count] {
			f.side[lo+i] = toB[1+i] - v
		}
	}
}

// divide splits a node with projected points and keeps their order on either side. Where ties would
// leave less than a quarter of the points on one side, the first half goes left.
func (f *rpForest) divide(p *rpNode, tree int) {
	const (
		sample = 127
		jitter = 0.15 // the threshold lies between these quantiles around 1/2
	)

	// The threshold is a quantile of a sample.
	r := f.random(p, tree, 1)
	var drawn [sample]float32
	side := f.side[p.lo:p.hi]
	for i := range drawn {
		drawn[i] = side[r.IntN(len(side))]
	}
	slices.Sort(drawn[:])
	p.threshold = drawn[int(sample*(0.5+jitter*(2*r.Float64()-1)))]

	order := f.order[p.lo:p.hi]
	spare := f.spare[p.lo:p.hi]
	left, right := 0, 0
	for i, v := range order {
		// Both are written, so that no branch depends on the data.
		order[left] = v
		spare[right] = v
		if side[i] < p.threshold {
			left++
		} else {
			right++
		}
	}

	copy(order[left:], spare[:right])
	if 4*min(left, right) < len(order) {
		left = len(order) / 2
	}
	p.left = &rpNode{lo: p.lo, hi: p.lo + left}
	p.right = &rpNode{lo: p.lo + left, hi: p.hi}
}
