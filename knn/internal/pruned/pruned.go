// Package pruned finds the exact nearest neighbours of dense points and measures few pairs.
//
// Points x are turned into their principal components z = Q(x − c), which leaves distances
// as they are, and rounded to bytes. The first m coordinates and the length of what they
// leave out, r = ‖x − c − Qᵀz‖, bound a distance from below,
//
//	‖x − y‖² ≥ ‖z_x − z_y‖² + (r_x − r_y)²,
//
// so pairs whose bound is above the distance of the k-th neighbour that is known are not
// looked at again. The bound is an inner product of m+1 bytes and exact in integers, so that
// blocks of pairs are compared as fast as package blocks compares bytes; what rounding
// changes is known for each point and added to the limit ([frame]). The pairs that are left
// meet the same bound with all coordinates that were kept, then a [Meter], which measures.
//
// For n points in d dimensions it takes n²·(m+1) operations on bytes, 2·128 and up to 2d for
// each pair that is left, 2·n·128·d for the coordinates, and for the components those of
// [pca.New] on a sample of at most 8192 points.
//
// # Levels of the filter
//
// The comparison of all pairs of dense points is bound by its 2n²d operations, so this package
// compares m principal coordinates and the length of the rest, a lower bound of the distance,
// as bytes in exact integers. Rounding to bytes changes the length of a vector by an error
// that is summed as the bytes are made, so the bound needs no estimate of rounding, and
// coordinates that are cut off at the ends of the range only bring points closer. Pairs that
// pass are checked again in 128 coordinates of 12 bits, then in float32 or in the bytes
// themselves, and last by the function that measures all pairs, so lists have the same bits as
// a full search. The product of bytes keeps one bit a pair (dense.NearU8). Bytes are rotated
// by exact products with components rounded to 16 bits: a Q of norm at most one leaves a rest
// of length √(‖v‖² − ‖Qv‖²), which bounds distances without an error of rounding. The first
// thresholds are the distances of neighbours in nearby blocks. Where a sample shows that these
// leave too many pairs, one pass by bytes over all pairs gives better ones. A sample of 112
// queries also decides m, by counts of operations and not by time. Where the spectrum is flat,
// or pruning would take more memory, all pairs are compared in full. Points in files are
// compared in parts without pruning, because their codes would have to be held in memory.
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

// ErrNothing says that pruning would not take less time than comparing all pairs, or that
// nothing is known of its rounding errors.
var ErrNothing = errors.New("pruning saves nothing")

// A Space is points whose distance grows with that of vectors.
type Space struct {
	X data.Points
	// Unit says that the vectors are the points divided by their norms.
	Unit bool
	// Square returns a bound of the squared distances of vectors, computed in float64, for
	// points whose distance is t.
	Square func(t float64) float64
	// Widen returns a bound of those for points whose distance is that which belongs to d.
	Widen func(d float64) float64
}

// row sets dst to the vector of point i of x.
func (s *Space) row(dst []float64, x data.Points, i int) {
	data.RowTo(dst, x, i)
	if s.Unit {
		prepared.ToUnit(dst)
	}
}

// A Meter measures distances as they are to be reported; for one goroutine.
type Meter interface {
	// Measure sets dst[p] to the distance of points i and idx[p], or to infinity
	// if the square of that of their vectors is above limits[p].
	Measure(dst []float64, i int, idx []int32, limits []float64)
	// Ask asks the memory for points that will be measured.
	Ask(idx []int32)
	// Bound sets dst[p] to a number that the square of the distance between the vectors of
	// points i and idx[p] does not exceed, as it is computed in float64.
	Bound(dst []float64, i int, idx []int32)
}

// Settings of an index.
type Settings struct {
	// K is the number of neighbours for which the number of coordinates is chosen.
	K int
	// Plain is the time that comparing a pair takes otherwise, in that of a column of a
	// product of bytes.
	Plain float64
	// Refined is the time that measuring a pair takes, in the same unit.
	Refined float64
	// Columns, if positive, is the number of coordinates that all pairs are compared in,
	// and no sample decides.
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

	left, right *dense.PackedU8 // these columns
	short, long []int32         // squared norms of these columns, and of all
	boxes       []box
	bytes       *bytesSide // the points to be measured, if they are bytes
	floats      *floats    // and if not
}

// Bytes returns the memory of an index of n points of d elements and of finding k neighbours
// of each, beside the points and the lists; copied says that the points are not float32
// or bytes to be compared as they are.
func Bytes(n, d, k int, copied bool) int64 {
	m := min(d, maxColumns)
	const packed, other = 4, 90 // bytes of a coordinate on both sides; of a point's order and limits
	each := int64(2*stride(m) + 2*len(cutsBelow) + packed*(min(m, mostCompared)+1) + other +
		max(16*k, 8*(k+spare)))
	if copied {
		each += 4 * int64(d)
	}
	return int64(n)*each + 8*int64(maxRows)*int64(d+m)
}

// SampleBytes returns the memory of the components besides; bytes says what the points are.
func SampleBytes(n, d int, bytes bool) int64 {
	const matrices = 5 // of the eigenvalue problem
	held := int64(matrices * d)
	if !bytes {
		held += int64(SampleSize(n, d) + 4096) // also those that pca.New turns to float64 at a time
	}
	return 8 * held * int64(d)
}

// New returns an index. newExact makes what measures the points among each other, one for
// each goroutine. The error is that of ctx, or [ErrNothing] with the reason.
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

// meters returns what makes meters of the rows of x and the points, bytes if these are.
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
			q: make([]float32, d), rows: make([]float32, d), at: []int32{0}}
	}
}

// arrange puts the points in an order in which near ones come together, and packs them.
func (ix *Index) arrange() {
	n := ix.codes.n
	proto := blocks.NewInts(simd.Bytes().MR, simd.Bytes().NR)
	ix.order = ix.codes.order(proto.Block)
	ix.codes.arrange(ix.order)
	width := ix.frame.cuts[ix.cut] + 1
	flat := ix.codes.columns(ix.frame.cuts, ix.cut, nil)
	ix.left = dense.PackAU8(dense.NoTrans, flat, n, width, width)
	ix.right = dense.PackBU8(dense.NoTrans, flat, n, width, width)
	ix.short, ix.long = squares(flat, n, width), ix.codes.squares(nil)
	ix.boxes = boxes(flat, width, proto.Block)
}

// A comparison compares the bytes of queries, to the left, with those of points.
type comparison struct {
	*blocks.Blocks[int32]
	left, right *dense.PackedU8
}

// bitRow returns the bytes that hold a bit for each point of a block.
func (c *comparison) bitRow() int { return (c.Block + 63) / 64 * 8 }

// compare returns the comparison of some points, packed and with squared norms, with all.
func (ix *Index) compare(left *dense.PackedU8, short []int32) *comparison {
	return compare(left, ix.right, short, ix.short)
}

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

// squares returns the squared norms of the fine codes of the points rows, or of all if it is nil.
func (c *codes) squares(rows []int32) []int32 {
	n := c.n
	if rows != nil {
		n = len(rows)
	}
	out := make([]int32, n)
	par.For(n, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if rows == nil {
				out[i] = c.square(int32(i))
			} else {
				out[i] = c.square(rows[i])
			}
		}
	})

	return out
}

// square returns the squared norm of the fine codes of point i.
func (c *codes) square(i int32) int32 {
	var out [1]int32
	simd.WordProducts(out[:], c.row(int(i)), c.data, c.ld, []int32{i})
	return out[0]
}
