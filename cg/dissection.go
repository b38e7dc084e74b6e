package cg

import (
	"math"
	"slices"

	"github.com/bigfit/bigfit/sparse"
)

// dissection is an order of elimination by nested dissection (George, SIAM J. Numer.
// Anal. 10, 1973): the vertices that separate a part of the graph into two come behind
// those of both. The vertices of a separator, or of a part that is not cut any further,
// are eliminated together, as a front.
type dissection struct {
	order   []int32 // the vertex at each place
	fronts  []front // in the order of elimination
	entries int     // numbers in the factor
}

// front is eliminated as a dense block.
type front struct {
	lo, hi   int     // places of its vertices
	border   []int32 // places from hi on that it is joined with when it is eliminated, ascending
	children []int32 // fronts whose borders begin in it
}

// size returns the numbers of its own vertices and of those of its border.
func (f *front) size() (own, border int) { return f.hi - f.lo, len(f.border) }

const (
	// frontLeaf is the number of vertices of a part that is not cut.
	frontLeaf = 48
	// frontBalance is the least share of a part that either side of a cut has, if there
	// is such a cut, and frontLeast that of any cut.
	frontBalance = 0.4
	frontLeast   = 0.1
	// keysServe is the number of cuts, one below the other, that the same keys serve.
	keysServe = 3
)

// dissect orders the graph w, or returns nil where the factor would have more than limit
// numbers. It costs about five passes over the edges for each halving of the graph.
func dissect(w *sparse.CSR, limit int) *dissection {
	n := w.Rows
	d := &dissector{w: w, limit: limit, region: make([]int32, n), key: make([][4]int32, n)}
	d.order = make([]int32, 0, n)
	for i := range d.dist {
		d.dist[i] = make([]int32, n)
	}
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	d.parts(all, 0)
	if d.entries > limit || !d.borders() {
		return nil
	}
	return &d.dissection
}

// dissector is a dissection that is being made.
type dissector struct {
	dissection
	w      *sparse.CSR
	limit  int
	region []int32    // the number of the part that a vertex is in
	parted int32      // parts so far
	key    [][4]int32 // functions that grow from one end of a part to another
	dist   [4][]int32
	queue  []int32
}

// parts dissects a set of vertices, each component of the graph between them on its own,
// and returns their last fronts. It reorders the set. Cuts deep since the keys were made
// may use them again.
func (d *dissector) parts(set []int32, deep int) []int32 {
	if len(set) == 0 || d.entries > d.limit {
		return nil
	}
	d.enter(set)
	for _, v := range set {
		d.dist[0][v] = -1
	}
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
		roots = append(roots, d.connected(set[from:to], deep))
		from = to
	}
	return roots
}

// enter makes a set of vertices the region of its own.
func (d *dissector) enter(set []int32) {
	d.parted++
	for _, v := range set {
		d.region[v] = d.parted
	}
}

// search appends to queue the vertices that are reached from root in its region, root
// first, and notes their distances, which are −1 before.
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

// distances notes those of all vertices of a connected set from root, and returns the
// vertex that is reached last.
func (d *dissector) distances(set []int32, root int32, dist []int32) int32 {
	for _, v := range set {
		dist[v] = -1
	}
	d.queue = d.search(root, dist, d.queue[:0])
	return d.queue[len(d.queue)-1]
}

// connected dissects a connected set whose last vertex is at its rim and returns its last
// front.
func (d *dissector) connected(set []int32, deep int) int32 {
	if len(set) <= frontLeaf {
		return d.eliminate(set, nil)
	}
	d.enter(set)
	if deep%keysServe == 0 {
		d.makeKeys(set)
	}
	c := d.cut(set)
	if math.IsInf(c.score, 1) && deep%keysServe != 0 {
		deep = 0
		d.makeKeys(set)
		c = d.cut(set)
	}

	if math.IsInf(c.score, 1) {
		return d.eliminate(set, nil)
	}
	left, right, separator := d.separate(set, c)
	d.entries += len(separator) * len(separator)
	children := append(d.parts(left, deep+1), d.parts(right, deep+1)...)
	return d.eliminate(separator, children)
}

// makeKeys finds four functions on a connected set: the differences of the distances from
// two far vertices, from two more that are far from these, their sum and their difference.
func (d *dissector) makeKeys(set []int32) {
	a := set[len(set)-1]
	b := d.distances(set, a, d.dist[0])
	d.distances(set, b, d.dist[1])
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
		d.key[v] = [4]int32{x, y, x + y, x - y}
	}
}

// cut is a place to cut a set: vertices whose key is at most at lie to the left of it.
type cut struct {
	key   int
	at    int32
	left  bool // the separator is of vertices to the left
	score float64
}

// cut looks for the cut of a set by a key with the fewest vertices on one side that have
// neighbours on the other.
func (d *dissector) cut(set []int32) cut {
	low := d.key[set[0]]
	high := d.key[set[0]]
	for _, v := range set {
		for i, k := range d.key[v] {
			low[i], high[i] = min(low[i], k), max(high[i], k)
		}
	}

	var below, left, right [4][]int32 // of each key: vertices at it, and changes of the separators
	for i := range low {
		width := int(high[i]-low[i]) + 1
		count := make([]int32, 3*width)
		below[i] = count[:width]
		left[i] = count[width : 2*width]
		right[i] = count[2*width:]
	}

	region := d.region[set[0]]
	for _, v := range set {
		own := d.key[v]
		least, most := own, own
		for _, j := range d.w.Col[d.w.Ptr[v]:d.w.Ptr[v+1]] {
			if d.region[j] == region {
				k := &d.key[j]
				least[0], most[0] = min(least[0], k[0]), max(most[0], k[0])
				least[1], most[1] = min(least[1], k[1]), max(most[1], k[1])
				least[2], most[2] = min(least[2], k[2]), max(most[2], k[2])
				least[3], most[3] = min(least[3], k[3]), max(most[3], k[3])
			}
		}

		for i, k := range own {
			below[i][k-low[i]]++
			left[i][k-low[i]]++ // for cuts from k to before most
			left[i][most[i]-low[i]]--
			right[i][least[i]-low[i]]++
			right[i][k-low[i]]--
		}
	}

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

// separate divides the set that was entered last by a cut. Vertices of the separator that
// have no neighbour on their own side change over to the other.
func (d *dissector) separate(set []int32, c cut) (left, right, separator []int32) {
	leftOf := func(v int32) bool { return d.key[v][c.key] <= c.at }
	region := d.parted
	near := region + 1 // of the vertices on the separator's side that are not in it
	d.parted++
	for _, v := range set {
		if leftOf(v) != c.left {
			right = append(right, v)
			continue
		}
		col := d.w.Col[d.w.Ptr[v]:d.w.Ptr[v+1]]
		if slices.ContainsFunc(col, func(j int32) bool {
			return d.region[j] >= region &&
				leftOf(j) != c.left
		}) {
			separator = append(separator, v)
		} else {
			left = append(left, v)
			d.region[v] = near
		}
	}

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

// eliminate puts vertices at the next places, as a front.
func (d *dissector) eliminate(own, children []int32) int32 {
	lo := len(d.order)
	d.order = append(d.order, own...)
	d.fronts = append(d.fronts, front{lo: lo, hi: len(d.order), children: children})
	return int32(len(d.fronts) - 1)
}

// borders finds those of the fronts and counts the numbers of the factor. It returns
// false if these are more than the limit.
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

		for _, c := range f.children {
			for _, p := range d.fronts[c].border {
				add(p)
			}
		}

		slices.Sort(f.border)
		s, m := f.size()
		if d.entries += s * (s + m); d.entries > d.limit || (s+m)*(s+m) > d.limit {
			return false
		}
	}

	return true
}
