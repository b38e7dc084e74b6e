// Package blocks finds nearest neighbours by blocks of inner products, in exact integers or in
// float32. It knows no metric and no types of points: its caller gives squared norms and a
// function that multiplies a block of queries by a block of points. Neighbours found in float32
// are candidates, which the caller measures again.
package blocks

import (
	"context"
	"math"
	"slices"
	"unsafe"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// Value is a type in which distances of a block are computed: exact integers or float32.
type Value interface{ float32 | int32 }

// Sizes of the blocks of inner products, rounded down to whole tiles of a kernel. A stripe of a
// block is computed and searched at a time: its 200 KB stay in the second-level cache.
const (
	blockSize  = 448
	stripeSize = 112
)

// Blocks compares queries with points, a block of both at a time, by the squared distance D =
// (Col[j] − 2·⟨query i, point j⟩) + Row[i], where Row and Col hold squared norms.
type Blocks[T Value] struct {
	Row, Col []T // Row has an element for every query, Col for every point
	// Stripe is the number of queries and Block the number of points that are compared
	// at a time. Stripe divides Block; both sides can be cut at its multiples.
	Stripe, Block int
	// Multiply writes the inner products of queries i0 to i1 with points j0 to
	// j1 to w.C, its rows Block apart.
	Multiply func(w *Workspace[T], i0, i1, j0, j1 int)
	scan     func(hits []int32, c, col, limits []T, row, limit T) []int32
	unit     int // points can be cut at its multiples too
}

// tiles sets Stripe and Block to multiples of the tiles' sizes mr and nr.
func (b *Blocks[T]) tiles(mr, nr int) {
	b.Stripe = stripeSize / mr * mr
	b.Block = b.Stripe
	b.unit = nr

	// The largest size up to blockSize that is a multiple of the stripe and of nr, or the first one
	// beyond.
	for size := b.Stripe; size <= blockSize || b.Block%nr != 0; size += b.Stripe {
		if size%nr == 0 {
			b.Block = size
		}
	}
}

// NewFloats returns blocks of float32 for products by tiles of mr×nr. Row, Col and Multiply
// are still to be set.
func NewFloats(mr, nr int) *Blocks[float32] {
	b := &Blocks[float32]{scan: simd.ScanFloats}
	b.tiles(mr, nr)
	return b
}

// NewInts returns blocks of int32 for products by tiles of mr×nr. Row, Col and Multiply
// are still to be set.
func NewInts(mr, nr int) *Blocks[int32] {
	b := &Blocks[int32]{scan: simd.ScanInts}
	b.tiles(mr, nr)
	return b
}

// Workspace is the memory of one goroutine.
type Workspace[T Value] struct {
	C       []T           // inner products
	Ints    []int32       // for Multiply
	Scratch dense.Scratch // for Multiply
	hits    []int32
	none    []T // limits of points that no distance is below
}

// NewWorkspace returns the memory that one goroutine needs.
func (b *Blocks[T]) NewWorkspace() *Workspace[T] {
	return &Workspace[T]{
		C:    make([]T, b.Stripe*b.Block),
		hits: make([]int32, b.Block),
		none: slices.Repeat([]T{Nothing[T]()}, b.Block),
	}
}

// Span is the range from Lo to Hi, without Hi.
type Span struct{ Lo, Hi int }

// Visit calls near(i, j, D) for the queries i and points j of two ranges with
// D < max(limits[i−i0], ownLimits[j−j0]), where the limits have their values from the beginning of
// row i. i0 and j0 begin the ranges, which are at most a stripe and a block long. If ownLimits is
// nil, the limits of the queries decide alone.
func (b *Blocks[T]) Visit(w *Workspace[T], queries, points Span, limits, ownLimits []T,
	near func(i, j int, d T)) {
	b.Multiply(w, queries.Lo, queries.Hi, points.Lo, points.Hi)
	col := b.Col[points.Lo:points.Hi]
	if ownLimits == nil {
		ownLimits = w.none[:len(col)]
	}

	// A kernel scans a row for the places of pairs below a limit, which are few.
	for i := queries.Lo; i < queries.Hi; i++ {
		c := w.C[(i-queries.Lo)*b.Block:][:len(col)]
		row := b.Row[i]
		for _, h := range b.scan(w.hits, c, col, ownLimits, row, limits[i-queries.Lo]) {
			near(i, points.Lo+int(h), (col[h]-2*c[h])+row)
		}
	}
}

// exact reports whether distances are integers.
func exact[T Value]() bool { return T(3)/2 == 1 }

// everything returns a limit above every distance that can be found.
func everything[T Value]() T {
	if exact[T]() {
		return T(int64(math.MaxInt32))
	}
	return T(math.Inf(1))
}

// Nothing returns a limit that no distance is below.
func Nothing[T Value]() T {
	if exact[T]() {
		return T(int64(math.MinInt32))
	}
	return T(math.Inf(-1))
}

// A Hit is a distance and an index in one number, ordered by both. Negative distances, which are
// due to rounding, count as zero. Bits of positive float32 have the order of their values.
type Hit uint64

// NoHit stands for a neighbour not yet found.
const NoHit Hit = math.MaxUint64

// NewHit returns the hit of a point with that index at distance d.
func NewHit[T Value](d T, index int) Hit {
	if !(d > 0) {
		return Hit(index)
	}
	return Hit(*(*uint32)(unsafe.Pointer(&d)))<<32 | Hit(index)
}

// Index returns the index of the point.
func (k Hit) Index() int { return int(uint32(k)) }

// DistanceOf returns the distance of the point.
func DistanceOf[T Value](k Hit) T {
	bits := uint32(k >> 32)
	return *(*T)(unsafe.Pointer(&bits))
}

// limitOf returns a limit above the distance of every point that comes before k and has an index
// of at least from. Integers are exact, so a point at the same distance comes before k if its
// index is smaller. Distances in float32 are not, and ties are not looked for.
func limitOf[T Value](k Hit, from int) T {
	if k == NoHit {
		return everything[T]()
	}
	v := DistanceOf[T](k)
	if exact[T]() && k.Index() > from {
		v++
	}
	return v
}

// Candidates holds, for each of some queries, a max-heap of the nearest hits so far, and the limit
// that follows from the farthest of them.
type Candidates[T Value] struct {
	kept   int
	keys   []Hit
	limits []T
}

// newCandidates returns empty heaps of kept hits for n queries.
func newCandidates[T Value](n, kept int) *Candidates[T] {
	return &Candidates[T]{kept, slices.Repeat([]Hit{NoHit}, n*kept), slices.Repeat([]T{everything[T]()}, n)}
}

// Of returns the hits of query i, the farthest first. Free places hold NoHit.
func (c *Candidates[T]) Of(i int) []Hit { return c.keys[i*c.kept:][:c.kept] }

// offer adds point j at distance d to the heap of query i, if it is nearer than the farthest there.
// The indices of points to come are at least from.
func (c *Candidates[T]) offer(i, j int, d T, from int) {
	heap := c.Of(i)
	if k := NewHit(d, j); k < heap[0] {
		replaceLargest(heap, k)
		c.limits[i] = limitOf[T](heap[0], from)
	}
}

// setLimits sets the limits of queries lo to hi for points with indices of at least from.
func (c *Candidates[T]) setLimits(lo, hi, from int) {
	for i := lo; i < hi; i++ {
		c.limits[i] = limitOf[T](c.keys[i*c.kept], from)
	}
}

// replaceLargest replaces the root of a max-heap by k.
func replaceLargest(heap []Hit, k Hit) {
	p := 0
	for {
		c := 2*p + 1
		if c+1 < len(heap) && heap[c+1] > heap[c] {
			c++
		}
		if c >= len(heap) || heap[c] <= k {
			break
		}
		heap[p] = heap[c]
		p = c
	}
	heap[p] = k
}

// Self finds the kept nearest other points of every point. Each pair of blocks is computed once,
// for its rows and its columns, in [Rounds], so that the candidates do not depend on the number
// of threads.
func (b *Blocks[T]) Self(ctx context.Context, kept int, report func(share float64)) (*Candidates[T], error) {
	n := len(b.Col)
	found := newCandidates[T](n, kept)
	teams := (n-1)/b.Block + 1
	scratch := make([]*Workspace[T], par.Workers(teams, 1))
	err := Rounds(ctx, teams, report, func(worker, p, q int) {
		if scratch[worker] == nil {
			scratch[worker] = b.NewWorkspace()
		}
		b.comparePair(scratch[worker], found, p*b.Block, q*b.Block)
	})
	return found, err
}

// Rounds calls meet for every pair p ≤ q of teams. No team is in two calls at a time: the pairs are
// scheduled as the rounds of a tournament in which everyone meets everyone (the circle method).
// worker, below [par.Workers](teams, 1), names the calling goroutine. report is given the share
// of the work that is done, below 1.
func Rounds(ctx context.Context, teams int, report func(share float64), meet func(worker, p, q int)) error {
	odd := teams % 2
	pairs := (teams + odd) / 2
	pair := func(worker, p, q int) {
		if q < teams && ctx.Err() == nil {
			meet(worker, p, q)
		}
	}

	par.ForWorker(teams, 1, func(worker, p, _ int) { pair(worker, p, p) })

	// In round r the places r+t and r−t of a circle meet; one team stands in the middle. An odd
	// number is filled up by a team that no one meets.
	rounds := teams + odd - 1
	for r := range rounds {
		par.ForWorker(pairs, 1, func(worker, t, _ int) {
			p := (r + t) % rounds
			q := (r - t + rounds) % rounds
			if t == 0 {
				q = rounds
			}
			pair(worker, min(p, q), max(p, q))
		})
		if ctx.Err() != nil {
			break
		}
		report(float64(r+1) / float64(rounds+1))
	}

	return ctx.Err()
}

// comparePair compares the blocks that begin at p and at q ≥ p, and offers the points of either to
// the points of the other.
func (b *Blocks[T]) comparePair(w *Workspace[T], found *Candidates[T], p, q int) {
	n := len(b.Col)
	pEnd := min(p+b.Block, n)
	qEnd := min(q+b.Block, n)
	// Limits depend on the indices that are compared next, because of ties.
	found.setLimits(p, pEnd, q)

	var own []T
	// A block with itself has every pair twice, once for either end.
	near := func(i, j int, d T) {
		if d < found.limits[i] && i != j {
			found.offer(i, j, d, q)
		}
	}
	if p < q {
		found.setLimits(q, qEnd, p)
		own = found.limits[q:qEnd]
		near = func(i, j int, d T) {
			if d < found.limits[i] {
				found.offer(i, j, d, q)
			}
			if d < found.limits[j] {
				found.offer(j, i, d, p)
			}
		}
	}

	for i := p; i < pEnd; i += b.Stripe {
		end := min(i+b.Stripe, pEnd)
		b.Visit(w, Span{i, end}, Span{q, qEnd}, found.limits[i:end], own, near)
	}
}

// Search finds the kept nearest of all points for queries lo to hi, at most a stripe. m, if not
// nil, is told of the pairs that it asks for on the way.
func (b *Blocks[T]) Search(w *Workspace[T], lo, hi, kept int, m *Reverse[T]) *Candidates[T] {
	found := newCandidates[T](hi-lo, kept)
	for j := 0; j < len(b.Col); j += b.Block {
		b.search(w, found, Span{lo, hi}, j, m)
	}
	return found
}

// SearchIn is Search among the points of some blocks, by their numbers from 0.
func (b *Blocks[T]) SearchIn(w *Workspace[T], queries Span, kept int, numbers []int) *Candidates[T] {
	found := newCandidates[T](queries.Hi-queries.Lo, kept)
	for _, p := range numbers {
		b.search(w, found, queries, p*b.Block, nil)
	}
	return found
}

// search offers the points of the block that begins at j to the queries.
func (b *Blocks[T]) search(w *Workspace[T], found *Candidates[T], queries Span, j int, m *Reverse[T]) {
	lo := queries.Lo
	offer := func(i, j int, d T) {
		if d < found.limits[i-lo] {
			found.offer(i-lo, j, d, j)
		}
		if m != nil && d < m.Limits[j] {
			m.Found(i, j, d)
		}
	}

	// Queries that have found nothing yet are offered every point of a range. So the first range is short, and each one
	// three times as long as all before it.
	block := Span{j, min(j+b.Block, len(b.Col))}
	step := b.Block
	if found.Of(0)[0] == NoHit {
		step = ((2*found.kept-1)/b.unit + 1) * b.unit
	}
	for block.Lo < block.Hi {
		points := Span{block.Lo, min(block.Lo+step, block.Hi)}
		found.setLimits(0, queries.Hi-lo, points.Lo)
		var own []T
		if m != nil {
			own = m.Limits[points.Lo:points.Hi]
		}
		b.Visit(w, queries, points, found.limits, own, offer)
		block.Lo = points.Hi
		step = 3 * (points.Hi - j)
	}
}

// Reverse asks for the pairs of query i and point j with D below the limit of the point. Found is
// called for each such pair, with queries in ascending order for each block of points.
type Reverse[T Value] struct {
	Limits []T // one for every point
	Found  func(i, j int, d T)
}
