package cg

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// dissection is an order of elimination by nested dissection (George, SIAM J. Numer. Anal. 10,
// 1973). A separator cuts a part of the graph in two, and its vertices follow all vertices of both.
// The vertices of a separator, or of a part that is not cut any further, are eliminated together,
// as a front.
type dissection struct {
	order   []int32 // the vertex at each place
	fronts  []front // in the order of elimination
	entries int     // numbers in the factor
}

// front is eliminated as a dense block.
type front struct {
	lo, hi   int     // places of its vertices
	border   []int32 // places from hi on that elimination joins with it, ascending
	children []int32 // fronts with the first place of their border in this one
}

// size returns the number of vertices of the front itself and of its border.
func (f *front) size() (own, border int) { return f.hi - f.lo, len(f.border) }

// frontShare is the largest part of the operations that eachFront gives to one thread at a time.
const frontShare = 1.0 / 16

// eachFront eliminates all fronts, children before their parents, until a front cannot be eliminated: then it returns
// false. worker returns the elimination of a front by one thread. Small subtrees are eliminated by several threads, each
// subtree by one; the fronts above them, of which there are few, by one.
func (d *dissection) eachFront(worker func() func(t int) bool) bool {
	subtrees, rest := d.subtrees()
	eliminate := make([]func(t int) bool, max(1, par.Workers(len(subtrees), 1)))
	for i := range eliminate {
		eliminate[i] = worker()
	}

	var failed atomic.Bool
	par.ForWorker(len(subtrees), 1, func(i, lo, hi int) {
		for _, fronts := range subtrees[lo:hi] {
			for _, t := range fronts {
				if failed.Load() || !eliminate[i](int(t)) {
					failed.Store(true)
					return
				}
			}
		}
	})

	for _, t := range rest {
		if failed.Load() || !eliminate[0](int(t)) {
			return false
		}
	}
	return !failed.Load()
}

// subtrees returns the fronts of subtrees of at most [frontShare] of the operations, each with its children before their
// parents, and the fronts above all subtrees.
func (d *dissection) subtrees() (subtrees [][]int32, rest []int32) {
	const none = -1
	below := make([]float64, len(d.fronts)) // operations of a front and of all below it
	parent := slices.Repeat([]int32{none}, len(d.fronts))
	total := 0.0
	for t := range d.fronts {
		f := &d.fronts[t]
		for _, c := range f.children {
			parent[c] = int32(t)
			below[t] += below[c]
		}
		operations := f.operations()
		total += operations
		below[t] += operations
	}

	// Parents come first here.
	of := slices.Repeat([]int32{none}, len(d.fronts)) // the subtree of a front
	for t := len(d.fronts) - 1; t >= 0; t-- {
		switch p := parent[t]; {
		case p != none && of[p] != none:
			of[t] = of[p]
		case below[t] <= frontShare*total:
			of[t] = int32(len(subtrees))
			subtrees = append(subtrees, nil)
		}
	}
	for t, i := range of {
		if i == none {
			rest = append(rest, int32(t))
		} else {
			subtrees[i] = append(subtrees[i], int32(t))
		}
	}
	return subtrees, rest
}

const (
	// frontLeaf is the number of vertices of a part that is not cut: a dense block of this size
	// costs less than the passes that look for a cut.
	frontLeaf = 48
	// frontBalance is the share of a part that each side of a cut should have: a smaller share
	// counts as a proportionally larger separator.
	frontBalance = 0.4
	// frontLeast is the share that each side must have.
	frontLeast = 0.1
	// cutsPerPotential is how many nested cuts reuse one set of potentials. Making them costs four
	// breadth-first searches, and after three cuts the ends of a part have moved.
	cutsPerPotential = 3
)

// dissect orders the graph w, or returns nil where the factor would have more than limit
// numbers. It costs about five passes over the edges for each halving of the graph.
func dissect(w *sparse.CSR, limit int) *dissection {
	n := w.Rows
	d := &dissector{w: w, limit: limit, region: make([]int32, n), potential: make([][4]int32, n)}
	d.order = make([]int32, 0, n)
	for i := range d.dist {
		d.dist[i] = make([]int32, n)
	}
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	d.dissectSet(all, 0)
	if d.entries > limit || !d.borders() {
		return nil
	}
	return &d.dissection
}

// dissector is a dissection that is being made.
type dissector struct {
	dissection
	w         *sparse.CSR
	limit     int
	region    []int32    // the number of the part that a vertex is in
	regions   int32      // regions so far
	potential [][4]int32 // distance-difference potentials, see makePotentials
	dist      [4][]int32
	queue     []int32
}

// dissectSet dissects a set of vertices, each component of the graph between them on its own, and
// returns the last front of each. It reorders the set. depth counts the cuts since the potentials
// were made, which may be used again.
func (d *dissector) dissectSet(set []int32, depth int) []int32 {
	if len(set) == 0 || d.entries > d.limit {
		return nil
	}
	d.newRegion(set)
	for _, v := range set {
		d.dist[0][v] = -1
	}

	// Breadth-first searches put the components one after the other, each ending at a far vertex.
	queue := make([]int32, 0, len(set))
	ends := []int(nil)
	for _, v := range set {
		if d.dist[0][v] < 0 {
			queue = d.search(v, d.dist[0], queue)
			ends = append(ends, len(queue))
		}
	}

	copy(set, queue)
	var roots []int32
	from := 0
	for _, to := range ends {
		roots = append(roots, d.dissectConnected(set[from:to], depth))
		from = to
	}
	return roots
}

// hopeless reports whether the factor of a graph of n vertices with a first separator of the given size
// will be beyond the limit, if the separators of its parts are smaller as in the plane. The factor has
// 3.3 to 5 times size²·log₂ n numbers for grids and neighbours of points on surfaces, 1.7 times for a
// torus, whose first cut is double. Only in large graphs a cut costs so much that the likely counts.
func hopeless(n, size, limit int) bool {
	entries := size * size * bits.Len(uint(n))
	if limit >= exactMost {
		entries *= 3
	}
	return entries > limit
}

// newRegion gives a set of vertices a region number of its own.
func (d *dissector) newRegion(set []int32) {
	d.regions++
	for _, v := range set {
		d.region[v] = d.regions
	}
}

// search appends to queue the vertices that can be reached from root within its region, root first,
// and writes their distances. Distances of vertices not yet reached are −1.
func (d *dissector) search(root int32, dist, queue []int32) []int32 {
	head := len(queue)
	region := d.region[root]
	queue = append(queue, root)
	dist[root] = 0
	for ; head < len(queue); head++ {
		v := queue[head]
		next := dist[v] + 1
		for _, j := range d.w.Col[d.w.Ptr[v]:d.w.Ptr[v+1]] {
			if d.region[j] == region && dist[j] < 0 {
				dist[j] = next
				queue = append(queue, j)
			}
		}
	}

	return queue
}

// distances writes the distances of a connected set from root to dist, and returns the vertex that
// is reached last.
func (d *dissector) distances(set []int32, root int32, dist []int32) int32 {
	for _, v := range set {
		dist[v] = -1
	}
	d.queue = d.search(root, dist, d.queue[:0])
	return d.queue[len(d.queue)-1]
}

// dissectConnected dissects a connected set and returns its last front. The last vertex of the set
// lies at its rim.
func (d *dissector) dissectConnected(set []int32, depth int) int32 {
	if len(set) <= frontLeaf {
		return d.appendFront(set, nil)
	}
	whole := depth == 0
	d.newRegion(set)
	if depth%cutsPerPotential == 0 {
		d.makePotentials(set)
	}

	// Old potentials may offer no balanced cut of this part; new ones may.
	c := d.cut(set)
	if math.IsInf(c.score, 1) && depth%cutsPerPotential != 0 {
		depth = 0
		d.makePotentials(set)
		c = d.cut(set)
	}

	if math.IsInf(c.score, 1) {
		return d.appendFront(set, nil)
	}
	left, right, separator := d.separate(set, c)

	// A graph without small separators is given up early: by its first cut, and on the way.
	d.entries += len(separator) * len(separator)
	if whole && hopeless(len(set), len(separator), d.limit) {
		d.entries = d.limit + 1
	}
	return d.appendFront(separator, d.dissectSides(left, right, depth+1))
}

// forkFrom is the number of vertices from which both sides of a cut are dissected at a time.
const forkFrom = 1 << 14

// dissectSides dissects both sides of a cut, between which there is no edge, and returns their last fronts. What is
// known of a vertex is read and written on its own side only.
func (d *dissector) dissectSides(left, right []int32, depth int) []int32 {
	if len(left)+len(right) < forkFrom {
		return append(d.dissectSet(left, depth), d.dissectSet(right, depth)...)
	}

	// A side takes at most four regions for a vertex.
	sides := [2]dissector{*d, *d}
	sides[1].regions += int32(4 * len(left))
	sets := [2][]int32{left, right}
	var roots [2][]int32
	par.For(2, 1, func(lo, _ int) {
		s := &sides[lo]
		s.order = make([]int32, 0, len(sets[lo]))
		s.fronts, s.queue = nil, nil
		roots[lo] = s.dissectSet(sets[lo], depth)
	})

	// The fronts of the right side follow those of the left one.
	before := d.entries
	var last []int32
	for i, s := range sides {
		places, fronts := len(d.order), int32(len(d.fronts))
		for _, f := range s.fronts {
			f.lo += places
			f.hi += places
			for k := range f.children {
				f.children[k] += fronts
			}
			d.fronts = append(d.fronts, f)
		}
		for _, t := range roots[i] {
			last = append(last, t+fronts)
		}
		d.order = append(d.order, s.order...)
		d.entries += s.entries - before
		d.regions = max(d.regions, s.regions)
	}
	return last
}

// makePotentials finds four functions on a connected set that grow from one end of it to another:
// the difference of the distances from two far vertices, the same from two more that are far from
// these, and the sum and the difference of both. On points of a surface they grow along four
// directions, and the sets where they are constant are short.
func (d *dissector) makePotentials(set []int32) {
	a := set[len(set)-1]
	b := d.distances(set, a, d.dist[0])
	d.distances(set, b, d.dist[1])
	// The third end is as far as possible from both first ones.
	c := a
	most := int32(-1)
	for _, v := range set {
		if m := min(d.dist[0][v], d.dist[1][v]); m > most {
			c = v
			most = m
		}
	}

	e := d.distances(set, c, d.dist[2])
	d.distances(set, e, d.dist[3])
	for _, v := range set {
		x := d.dist[0][v] - d.dist[1][v]
		y := d.dist[2][v] - d.dist[3][v]
		d.potential[v] = [4]int32{x, y, x + y, x - y}
	}
}

// A cut divides a set: vertices with a potential of at most at lie to the left of it.
type cut struct {
	potential int // the number of the potential
	at        int32
	left      bool // the separator consists of vertices to the left
	score     float64
}

// cut returns the best cut of a set by a potential: the one with the fewest vertices on one side
// that have neighbours on the other, where small sides are penalized. The score is +Inf if there is
// none.
func (d *dissector) cut(set []int32) cut {
	low := d.potential[set[0]]
	high := d.potential[set[0]]
	for _, v := range set {
		for i, k := range d.potential[v] {
			low[i] = min(low[i], k)
			high[i] = max(high[i], k)
		}
	}

	// For each potential, by its value: the vertices there, and the changes from the cut
	// before of the separators on the left and on the right.
	var below, left, right [4][]int32
	for i := range low {
		width := int(high[i]-low[i]) + 1
		count := make([]int32, 3*width)
		below[i] = count[:width]
		left[i] = count[width : 2*width]
		right[i] = count[2*width:]
	}

	// A vertex belongs to the left separator of all cuts between its own potential and the largest
	// of its neighbours, and to the right one of all cuts from the smallest of its neighbours on to
	// its own.
	region := d.region[set[0]]
	for _, v := range set {
		own := d.potential[v]
		least, most := own, own
		for _, j := range d.w.Col[d.w.Ptr[v]:d.w.Ptr[v+1]] {
			if d.region[j] == region {
				k := &d.potential[j]
				least[0] = min(least[0], k[0])
				most[0] = max(most[0], k[0])
				least[1] = min(least[1], k[1])
				most[1] = max(most[1], k[1])
				least[2] = min(least[2], k[2])
				most[2] = max(most[2], k[2])
				least[3] = min(least[3], k[3])
				most[3] = max(most[3], k[3])
			}
		}

		for i, k := range own {
			below[i][k-low[i]]++
			left[i][k-low[i]]++
			left[i][most[i]-low[i]]--
			right[i][least[i]-low[i]]++
			right[i][k-low[i]]--
		}
	}

	// Running sums of the changes are the sizes of the separators.
	best := cut{score: math.Inf(1)}
	n := float64(len(set))
	for i := range below {
		var before, l, r int32
		for at := range below[i] {
			before += below[i][at]
			l += left[i][at]
			r += right[i][at]
			share := min(float64(before)/n, 1-float64(before)/n)
			if share < frontLeast {
				continue
			}
			score := float64(min(l, r)) * max(1, frontBalance/share)
			if score < best.score {
				best = cut{i, low[i] + int32(at), l <= r, score}
			}
		}
	}

	return best
}

// separate divides the set that got the last region number by a cut. A vertex of the separator
// without a neighbour on its own side moves over to the other side.
func (d *dissector) separate(set []int32, c cut) (left, right, separator []int32) {
	leftOf := func(v int32) bool { return d.potential[v][c.potential] <= c.at }
	region := d.regions
	near := region + 1 // region of the vertices on the separator's side that are not in it
	d.regions++
	for _, v := range set {
		// The separator lies on one side only: vertices there with a neighbour on the other side.
		if leftOf(v) != c.left {
			right = append(right, v)
			continue
		}
		col := d.w.Col[d.w.Ptr[v]:d.w.Ptr[v+1]]
		if slices.ContainsFunc(col, func(j int32) bool {
			return d.region[j] >= region && leftOf(j) != c.left
		}) {
			separator = append(separator, v)
		} else {
			left = append(left, v)
			d.region[v] = near
		}
	}

	// All neighbours of the others lie in the separator or beyond it, so they may lie beyond it
	// too.
	kept := separator[:0]
	for _, v := range separator {
		col, _ := d.w.Row(int(v))
		if slices.ContainsFunc(col, func(j int32) bool { return d.region[j] == near }) {
			kept = append(kept, v)
		} else {
			right = append(right, v)
		}
	}

	return left, right, kept
}

// appendFront puts vertices at the next places, as a front.
func (d *dissector) appendFront(own, children []int32) int32 {
	lo := len(d.order)
	d.order = append(d.order, own...)
	d.fronts = append(d.fronts, front{lo: lo, hi: len(d.order), children: children})
	return int32(len(d.fronts) - 1)
}

// borders finds the border of every front and counts the numbers of the factor. It returns false if
// the factor would be beyond the limit.
func (d *dissector) borders() bool {
	n := len(d.order)
	place := make([]int32, n)
	seen := make([]int32, n)
	for p, v := range d.order {
		place[v] = int32(p)
		seen[p] = -1
	}

	d.entries = 0
	for t := range d.fronts {
		f := &d.fronts[t]
		add := func(p int32) {
			if int(p) >= f.hi && seen[p] != int32(t) {
				seen[p] = int32(t)
				f.border = append(f.border, p)
			}
		}
		for _, v := range d.order[f.lo:f.hi] {
			col, _ := d.w.Row(int(v))
			for _, j := range col {
				add(place[j])
			}
		}

		// The vertices that a child joins are joined with this front when it is eliminated.
		for _, c := range f.children {
			for _, p := range d.fronts[c].border {
				add(p)
			}
		}

		// A front is a dense matrix while it is eliminated, which must respect the limit too.
		slices.Sort(f.border)
		s, m := f.size()
		if d.entries += s * (s + m); d.entries > d.limit || (s+m)*(s+m) > d.limit {
			return false
		}
	}

	return true
}
