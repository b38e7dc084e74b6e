package knn

import (
	"context"
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/internal/simd"
)

// blockValue is the type in which blocks of distances are computed: exact integers
// or float32.
type blockValue interface{ float32 | int32 }

// Sizes of the blocks of inner products, of which a stripe is computed and
// searched at a time: it stays in the second-level cache. They are rounded down
// to whole tiles.
const (
	blockSize  = 448
	stripeSize = 112
)

// blocks compares queries with points, a block of both at a time, through
// D = (col[j] − 2·⟨query i, point j⟩) + row[i], with squared norms in row and col.
type blocks[T blockValue] struct {
	row, col      []T // one for every query, one for every point
	stripe, block int // stripe divides block; both sides can be cut at its multiples
	// multiply writes the inner products of queries i0 to i1 with points j0 to
	// j1 to w.c, its rows block apart.
	multiply func(w *workspace[T], i0, i1, j0, j1 int)
	scan     func(hits []int32, c, col, limits []T, row, limit T) []int32
}

// tiles sets the sizes for tiles of mr×nr.
func (b *blocks[T]) tiles(mr, nr int) {
	b.stripe = stripeSize / mr * mr
	b.block = b.stripe
	for size := b.stripe; size <= blockSize || b.block%nr != 0; size += b.stripe {
		if size%nr == 0 {
			b.block = size
		}
	}
}

func newFloatBlocks(mr, nr int) blocks[float32] {
	b := blocks[float32]{scan: simd.ScanFloats}
	b.tiles(mr, nr)
	return b
}

func newIntBlocks(mr, nr int) blocks[int32] {
	b := blocks[int32]{scan: simd.ScanInts}
	b.tiles(mr, nr)
	return b
}

// workspace is the memory of one goroutine.
type workspace[T blockValue] struct {
	c       []T // inner products
	hits    []int32
	none    []T // limits that no distance is below
	ints    []int32
	scratch dense.Scratch
}

func (b *blocks[T]) newWorkspace() *workspace[T] {
	return &workspace[T]{c: make([]T, b.stripe*b.block), hits: make([]int32, b.block), none: slices.Repeat([]T{nothing[T]()}, b.block)}
}

// span is the range from lo to hi, without hi.
type span struct{ lo, hi int }

// visit calls near(i, j, D) for the queries i and points j of two ranges with D <
// max(limits[i−i0], ownLimits[j−j0]), both as they are when row i begins. i0 and j0
// begin the ranges, which are at most a stripe and a block.
func (b *blocks[T]) visit(w *workspace[T], queries, points span, limits, ownLimits []T, near func(i, j int, d T)) {
	b.multiply(w, queries.lo, queries.hi, points.lo, points.hi)
	col := b.col[points.lo:points.hi]
	for i := queries.lo; i < queries.hi; i++ {
		c := w.c[(i-queries.lo)*b.block:][:len(col)]
		row := b.row[i]
		for _, h := range b.scan(w.hits, c, col, ownLimits, row, limits[i-queries.lo]) {
			near(i, points.lo+int(h), (col[h]-2*c[h])+row)
		}
	}
}

// everything is above, nothing at or below every distance that is found.
func everything[T blockValue]() T { return limitOf[T](noHit, 0) }

func nothing[T blockValue]() T {
	var v T
	switch p := any(&v).(type) {
	case *float32:
		*p = float32(math.Inf(-1))
	case *int32:
		*p = math.MinInt32
	}
	return v
}

// A hit orders pairs of a distance and an index; negative distances, which are
// due to rounding, count as zero.
type hit uint64

// noHit stands for a neighbour not yet found.
const noHit hit = math.MaxUint64

func newHit[T blockValue](d T, index int) hit {
	if !(d > 0) {
		return hit(index)
	}
	var bits uint32
	switch d := any(d).(type) {
	case float32:
		bits = math.Float32bits(d)
	case int32:
		bits = uint32(d)
	}
	return hit(bits)<<32 | hit(index)
}

func (k hit) index() int { return int(uint32(k)) }

func distanceOf[T blockValue](k hit) T {
	var v T
	switch p := any(&v).(type) {
	case *float32:
		*p = math.Float32frombits(uint32(k >> 32))
	case *int32:
		*p = int32(k >> 32)
	}
	return v
}

// limitOf returns the limit below which lies the distance of every point that,
// with an index of at least from, comes before k. Float distances are not exact:
// for them ties do not count.
func limitOf[T blockValue](k hit, from int) T {
	v := distanceOf[T](k)
	switch p := any(&v).(type) {
	case *float32:
		if k == noHit {
			*p = float32(math.Inf(1))
		}
	case *int32:
		if k == noHit {
			*p = math.MaxInt32
		} else if k.index() > from {
			*p++
		}
	}
	return v
}

// candidates holds the smallest keys of each of some queries as max-heaps, and
// the limits that follow from the largest.
type candidates[T blockValue] struct {
	kept   int
	keys   []hit
	limits []T
}

func newCandidates[T blockValue](n, kept int) *candidates[T] {
	return &candidates[T]{kept, slices.Repeat([]hit{noHit}, n*kept), slices.Repeat([]T{everything[T]()}, n)}
}

// of returns the keys of query i, the largest first.
func (c *candidates[T]) of(i int) []hit { return c.keys[i*c.kept:][:c.kept] }

// offer adds a point to those of query i if it is nearer than one of them. The
// indices of points to come are at least from.
func (c *candidates[T]) offer(i, j int, d T, from int) {
	heap := c.of(i)
	if k := newHit(d, j); k < heap[0] {
		replaceLargest(heap, k)
		c.limits[i] = limitOf[T](heap[0], from)
	}
}

// expect sets the limits of queries lo to hi for points with indices of at least
// from.
func (c *candidates[T]) expect(lo, hi, from int) {
	for i := lo; i < hi; i++ {
		c.limits[i] = limitOf[T](c.keys[i*c.kept], from)
	}
}

// replaceLargest puts k in the place of the root of a max-heap.
func replaceLargest(heap []hit, k hit) {
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

// self finds the kept smallest distances of every point to other points. Each
// pair of blocks is computed once, for the rows and for the columns. Within a
// round no block occurs twice: the rounds are those of a tournament in which
// everyone meets everyone (the circle method), so that the candidates depend on
// no order of execution. Progress is reported as if queries were answered.
func (b *blocks[T]) self(ctx context.Context, kept int, report progress) (*candidates[T], error) {
	n := len(b.col)
	found := newCandidates[T](n, kept)
	teams := (n-1)/b.block + 1
	odd := teams % 2
	pairs := (teams + odd) / 2
	scratch := make([]*workspace[T], par.Workers(teams, 1))
	meet := func(worker, p, q int) {
		if q >= teams || ctx.Err() != nil {
			return
		}
		if scratch[worker] == nil {
			scratch[worker] = b.newWorkspace()
		}
		b.meet(scratch[worker], found, p*b.block, q*b.block)
	}
	par.ForWorker(teams, 1, func(worker, p, _ int) { meet(worker, p, p) })
	rounds := teams + odd - 1
	for r := range rounds {
		par.ForWorker(pairs, 1, func(worker, t, _ int) {
			p, q := (r+t)%rounds, (r-t+rounds)%rounds
			if t == 0 {
				q = rounds
			}
			meet(worker, min(p, q), max(p, q))
		})
		if ctx.Err() != nil {
			break
		}
		report.share(float64(r+1)/float64(rounds+1), n)
	}
	return found, ctx.Err()
}

// meet offers the points of the blocks that begin at p and at q ≥ p to each other.
func (b *blocks[T]) meet(w *workspace[T], found *candidates[T], p, q int) {
	n := len(b.col)
	pEnd, qEnd := min(p+b.block, n), min(q+b.block, n)
	found.expect(p, pEnd, q)
	own := w.none[:qEnd-q]
	near := func(i, j int, d T) {
		if d < found.limits[i] && i != j {
			found.offer(i, j, d, q)
		}
	}
	if p < q {
		found.expect(q, qEnd, p)
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
	for i := p; i < pEnd; i += b.stripe {
		end := min(i+b.stripe, pEnd)
		b.visit(w, span{i, end}, span{q, qEnd}, found.limits[i:end], own, near)
	}
}

// search finds the kept smallest distances of queries lo to hi, at most a stripe,
// to all points.
func (b *blocks[T]) search(w *workspace[T], lo, hi, kept int) *candidates[T] {
	found := newCandidates[T](hi-lo, kept)
	for j := 0; j < len(b.col); j += b.block {
		found.expect(0, hi-lo, j)
		end := min(j+b.block, len(b.col))
		b.visit(w, span{lo, hi}, span{j, end}, found.limits, w.none[:end-j], func(i, j int, d T) {
			if d < found.limits[i-lo] {
				found.offer(i-lo, j, d, j)
			}
		})
	}
	return found
}
