package knn

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn/internal/blocks"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/sparse"
)

// byteIndex finds Euclidean neighbours of bytes in exact integers, so that no distance is measured
// twice. Queries that are not bytes go to a denseIndex, which is built for the first of them.
type byteIndex struct {
	x      *data.Dense[uint8]
	sq     []int32 // ‖y‖²
	left   *dense.PackedU8
	right  *dense.PackedU8
	floats func() *denseIndex
}

// newBytes returns the engine for bytes.
func newBytes(x *data.Dense[uint8], m Metric) engine {
	switch {
	case x.Cols > dense.MaxInnerU8, m.Space() == Products: // sums may exceed an int32
		return newDense(x, m)
	case m.angular():
		return newByteAngles(x, m)
	}
	return &byteIndex{
		x: x, sq: byteNorms(x, 0, x.Rows),
		left:   dense.PackAU8(dense.NoTrans, x.Data, x.Rows, x.Cols, x.Cols),
		right:  dense.PackBU8(dense.NoTrans, x.Data, x.Rows, x.Cols, x.Cols),
		floats: sync.OnceValue(func() *denseIndex { return newDense(x, Euclidean) }),
	}
}

// byteNorms returns the squared norms of points lo to hi.
func byteNorms(x *data.Dense[uint8], lo, hi int) []int32 {
	sq := make([]int32, hi-lo)
	par.For(hi-lo, 1024, func(a, b int) {
		for i := a; i < b; i++ {
			for _, v := range x.Row(lo + i) {
				sq[i] += int32(v) * int32(v)
			}
		}
	})
	return sq
}

// compare returns the comparison of queries, packed and with their squared norms, with all points.
func (ix *byteIndex) compare(left *dense.PackedU8, sq []int32) *blocks.Blocks[int32] {
	b := blocks.NewInts(left.Panel(), ix.right.Panel())
	b.Row = sq
	b.Col = ix.sq
	b.Multiply = func(w *blocks.Workspace[int32], i0, i1, j0, j1 int) {
		dense.MulU8(left, i0, i1, ix.right, j0, j1, w.C, b.Block)
	}
	return b
}

func (ix *byteIndex) query(ctx context.Context, x data.Points, k int, p progress) (*Neighbors, error) {
	q, ok := x.(*data.Dense[uint8])
	if !ok {
		return ix.floats().query(ctx, x, k, p)
	}
	return ix.search(ctx, q, k, nil, p)
}

// search finds the neighbours of the points of q. join, if not nil, returns the pairs to report for
// the stripe that begins at query lo.
func (ix *byteIndex) search(ctx context.Context, q *data.Dense[uint8], k int,
	join func(lo int) *blocks.Reverse[int32], p progress) (*Neighbors, error) {
	out := newNeighbors(q.Rows, k)
	stripe := ix.compare(ix.left, ix.sq).Stripe
	err := inStripes(ctx, q.Rows, stripe, p, func() func(lo, hi int) {
		var w *blocks.Workspace[int32]
		return func(lo, hi int) {
			left := dense.PackAU8(dense.NoTrans, q.Data[lo*q.Cols:hi*q.Cols], hi-lo, q.Cols, q.Cols)
			b := ix.compare(left, byteNorms(q, lo, hi))
			if w == nil {
				w = b.NewWorkspace()
			}

			var reverse *blocks.Reverse[int32]
			if join != nil {
				reverse = join(lo)
			}
			found := b.Search(w, 0, hi-lo, k, reverse)
			for i := range hi - lo {
				out.setExact(lo+i, found.Of(i))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// setExact writes the list of query i from exact hits, in any order.
func (nb *Neighbors) setExact(i int, keys []blocks.Hit) {
	slices.Sort(keys)
	index, distance := nb.Row(i)
	for p, c := range keys {
		index[p] = int32(c.Index())
		distance[p] = math.Sqrt(float64(blocks.DistanceOf[int32](c)))
	}
}

func (ix *byteIndex) self(ctx context.Context, k int, p progress) (*Neighbors, error) {
	n := ix.x.Rows
	found, err := ix.compare(ix.left, ix.sq).Self(ctx, k, p.shareOf(n))
	if err != nil {
		return nil, err
	}
	out := newNeighbors(n, k)
	for i := range n {
		out.setExact(i, found.Of(i))
	}
	p.report(n, n)
	return out, nil
}

func (ix *byteIndex) within(ctx context.Context, radius float64, budget *pairBudget, p progress) (*sparse.CSR, error) {
	n := ix.x.Rows
	rows := make([][]topk.Pair, n)
	b := ix.compare(ix.left, ix.sq)

	// The limit lets every pair within the radius through, and the roots decide.
	limit := int32(min(math.MaxInt32, math.Floor(radius*radius)+2))
	limits := slices.Repeat([]int32{limit}, b.Stripe)
	near := func(i, j int, d int32) {
		if root := math.Sqrt(float64(d)); i != j && root <= radius && budget.take(1) {
			rows[i] = append(rows[i], topk.Pair{Dist: root, Index: int32(j)})
		}
	}

	err := inStripes(ctx, n, b.Stripe, p, func() func(lo, hi int) {
		w := b.NewWorkspace()
		return func(lo, hi int) {
			for j := 0; j < n; j += b.Block {
				end := min(j+b.Block, n)
				b.Visit(w, blocks.Span{Lo: lo, Hi: hi}, blocks.Span{Lo: j, Hi: end}, limits, nil, near)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return fromRows(rows), nil
}
