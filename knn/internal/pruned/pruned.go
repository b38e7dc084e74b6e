// Package pruned finds the exact nearest neighbours of dense points without measuring all pairs:
// a lower bound of the distance filters them, and only the candidates that pass are verified.
//
// Points x are rotated into their principal components z = Q(x − c), which leaves distances
// as they are, and rounded to bytes. The first m coordinates and the length of what they
// leave out, r = ‖x − c − Qᵀz‖, bound a distance from below,
//
//	‖x − y‖² ≥ ‖z_x − z_y‖² + (r_x − r_y)²,
//
// so a pair whose bound is above the distance of the k-th neighbour found so far, the threshold,
// is dropped. The bound is an inner product of m+1 bytes and exact in integers, so blocks of pairs
// are compared as fast as package blocks compares bytes. The error of rounding to bytes is summed
// up as it is made and added to the limit ([frame]), so the bound needs no estimate of rounding.
// The pairs that are left are filtered again by the same bound in all coordinates that were kept,
// in 12 bits, and then verified by a [Meter], whose last step is the function that measures when
// all pairs are compared too: the lists have the same bits.
//
// First thresholds are the distances of neighbours in nearby blocks. Where a sample shows that
// they leave too many candidates, one pass by bytes over all pairs gives better ones. The sample,
// of at most 112 queries, also decides m, by counts of operations and not by time ([Plan]).
//
// For n points in d dimensions a search takes n²·(m+1) operations on bytes, 2·128 and up to 2d
// for each pair that is left, 2·n·128·d for the coordinates, and for the components the
// operations of [pca.New] on a sample of at most 8192 points.
package pruned

import (
	"context"
	"errors"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/knn/internal/blocks"
	"github.com/bigfit/bigfit/knn/internal/prepared"
)

// ErrNothing says that pruning would not take less time than comparing all pairs, or that the
// rounding errors of the points have no bound.
var ErrNothing = errors.New("pruning saves nothing")

// A Space holds points whose distance grows with the distance of their vectors.
type Space struct {
	X data.Points
	// Unit says that the vectors are the points divided by their norms.
	Unit bool
	// Square returns an upper bound of the squared distance of two vectors, as float64
	// computes it, for points at distance t.
	Square func(t float64) float64
	// Widen returns an upper bound of the squared distances that belong to the same distance
	// of points as the squared distance d does.
	Widen func(d float64) float64
}

// row sets dst to the vector of point i of x.
func (s *Space) row(dst []float64, x data.Points, i int) {
	data.RowTo(dst, x, i)
	if s.Unit {
		prepared.ToUnit(dst)
	}
}

// A Meter measures distances as they are to be reported. It serves one goroutine.
type Meter interface {
	// Measure sets dst[p] to the distance of points i and idx[p], or to infinity if the
	// squared distance of their vectors is above limits[p].
	Measure(dst []float64, i int, idx []int32, limits []float64)
	// Prefetch begins to load points that will be measured soon into the cache.
	Prefetch(idx []int32)
	// UpperBound sets dst[p] to an upper bound of the squared distance between the vectors of
	// points i and idx[p], as float64 computes it.
	UpperBound(dst []float64, i int, idx []int32)
}

// Settings of an index.
type Settings struct {
	// K is the number of neighbours for which the number of coordinates is chosen.
	K int
	// Plain is the time to compare a pair without pruning. The unit is the time of one
	// column of a product of bytes.
	Plain float64
	// Refined is the time to measure a pair, in the same unit.
	Refined float64
	// Columns, if positive, is the number of coordinates in which all pairs are compared.
	// Otherwise a sample decides.
	Columns int
}

// Index answers queries on a set of points.
type Index struct {
	space *Space
	frame *frame
	codes *codes  // by position
	order []int32 // the number of the point at a position
	plan  Plan
	cut   int // index in frame.cuts of the columns that all pairs are compared in

	left, right *dense.PackedU8 // the bytes of these columns, packed for either side of a product
	byteNorms   []int32         // their squared norms
	fineNorms   []int32         // squared norms of the fine codes in all columns
	boxes       []box           // of the blocks of points
	bytes       *bytesSide      // the points to be measured, if they are bytes
	floats      *floats         // the points to be measured, if they are not
}

// Bytes returns the memory of an index of n points of d elements and of a search of k neighbours
// of each, beside the points and the lists. copied says that float32 copies of the points are
// made, as they are neither float32 nor bytes that are compared as they are.
func Bytes(n, d, k int, copied bool) int64 {
	m := min(d, maxColumns)
	const packed = 4 // bytes of a coordinate, packed on both sides of a product
	const other = 90 // bytes of the order, norms, limits and thresholds of a point
	each := int64(2*stride(m) + 2*len(cutsBelow) + packed*(min(m, mostCompared)+1) + other + max(16*k, 8*(k+spare)))
	if copied {
		each += 4 * int64(d)
	}
	return int64(n)*each + 8*int64(maxRows)*int64(d+m)
}

// SampleBytes returns the memory of computing the principal components, beside [Bytes]. bytes says
// that the points are bytes.
func SampleBytes(n, d int, bytes bool) int64 {
	const matrices = 5 // d×d matrices of the eigenvalue problem
	held := int64(matrices * d)
	if !bytes {
		// The sample in float64, and 4096 rows that package pca centres at a time.
		held += int64(SampleSize(n, d) + 4096)
	}
	return 8 * held * int64(d)
}

// New returns an index. newExact makes functions that measure the points among each other, one for
// each goroutine. The error is the error of ctx, or [ErrNothing] with the reason.
func New(ctx context.Context, space *Space, newExact func() Exact, s Settings) (*Index, error) {
	f, err := newFrame(ctx, space, s.Columns)
	if err != nil {
		return nil, err
	}
	c, err := f.encode(ctx, space, space.X)
	if err != nil {
		return nil, err
	}
	ix := &Index{space: space, frame: f, codes: c}

	// Verification measures the points as they are, not their codes.
	if x, ok := space.X.(*data.Dense[uint8]); ok {
		ix.bytes = newBytesSide(space, x)
	} else {
		ix.floats = f.newFloats(space, space.X)
	}

	if ix.plan, err = ix.choose(ix.meters(space.X, newExact)(), s); err != nil {
		return nil, err
	}
	for f.cuts[ix.cut] != ix.plan.Columns {
		ix.cut++
	}
	ix.arrange()
	return ix, ctx.Err()
}

// Plan returns what was chosen.
func (ix *Index) Plan() Plan { return ix.plan }

// meters returns a function that makes meters between the rows of x and the points. x holds bytes
// if the points do.
func (ix *Index) meters(x data.Points, newExact func() Exact) func() Meter {
	if ix.bytes != nil {
		queries := ix.bytes
		if x != data.Points(ix.bytes.x) {
			queries = newBytesSide(ix.space, x.(*data.Dense[uint8]))
		}
		return func() Meter {
			m := &bytesMeter{queries: queries, points: ix.bytes}
			if ix.space.Unit {
				m.exact = newExact()
			}
			return m
		}
	}

	queries := ix.floats
	if x != ix.space.X {
		queries = ix.frame.newFloats(ix.space, x)
	}

	factor := ix.frame.factor
	if ix.space.raw() {
		factor = 1
	}
	return func() Meter {
		d := ix.floats.d
		return &floatMeter{queries: queries, points: ix.floats, factor: factor, exact: newExact(),
			query: make([]float32, d), point: make([]float32, d), at: []int32{0}}
	}
}

// arrange puts the codes in an order in which points of a block are near each other, and packs
// them.
func (ix *Index) arrange() {
	n := ix.codes.n
	proto := blocks.NewInts(simd.Bytes().MR, simd.Bytes().NR)
	ix.order = ix.codes.order(proto.Block)
	ix.codes.arrange(ix.order)

	width := ix.frame.cuts[ix.cut] + 1
	flat := ix.codes.columns(ix.frame.cuts, ix.cut, nil)
	ix.left = dense.PackAU8(dense.NoTrans, flat, n, width, width)
	ix.right = dense.PackBU8(dense.NoTrans, flat, n, width, width)
	ix.byteNorms = squares(flat, n, width)
	ix.fineNorms = ix.codes.squares(nil)
	ix.boxes = boxes(flat, width, proto.Block)
}

// A comparison compares the bytes of queries, packed to the left, with the bytes of points.
type comparison struct {
	*blocks.Blocks[int32]
	left, right *dense.PackedU8
}

// bitRow returns the number of bytes that hold one bit for each point of a block.
func (c *comparison) bitRow() int { return (c.Block + 63) / 64 * 8 }

// compare returns the comparison of queries, packed and with their squared norms, with all points.
func (ix *Index) compare(left *dense.PackedU8, norms []int32) *comparison {
	return compare(left, ix.right, norms, ix.byteNorms)
}

// compare returns the comparison of two packed sets with squared norms row and col.
func compare(left, right *dense.PackedU8, row, col []int32) *comparison {
	b := blocks.NewInts(left.Panel(), right.Panel())
	b.Row = row
	b.Col = col
	b.Multiply = func(w *blocks.Workspace[int32], i0, i1, j0, j1 int) {
		dense.MulU8(left, i0, i1, right, j0, j1, w.C, b.Block)
	}
	return &comparison{b, left, right}
}

// squares returns the squared norms of n rows of bytes.
func squares(x []uint8, n, width int) []int32 {
	out := make([]int32, n)
	par.For(n, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			simd.ByteProducts(out[i:i+1], x[i*width:][:width], x, width, []int32{int32(i)})
		}
	})
	return out
}
