package knn

import (
	"context"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn/internal/blocks"
)

// Ranks finds the nearest points by Euclidean distance and their order, in float32. It returns no
// distances and says where rounding leaves the order uncertain. Votes by rank need no more: most
// queries of a sample are decided without a distance in float64.
type Ranks struct {
	d       int
	flat    []float32       // the points, minus their mean
	sq      []float32       // ‖x‖² of these points
	largest float64         // the largest ‖x‖
	packed  *dense.Packed32 // flat as the left side of products, once most points are queries
}

// NewRanks copies the points x (n×d) minus their mean. A point takes 4(d+1) bytes, and 4d more once [Ranks.Nearest] is
// asked for most of them at a time.
func NewRanks(x *data.Dense[float32]) *Ranks {
	mean := data.Mean(x)
	r := &Ranks{d: x.Cols, flat: make([]float32, x.Rows*x.Cols), sq: make([]float32, x.Rows)}
	par.For(x.Rows, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			var sum float64
			for j, v := range x.Row(i) {
				// Points near the origin lose the least in float32.
				f := float32(float64(v) - mean[j])
				r.flat[i*r.d+j] = f
				sum += float64(f) * float64(f)
			}
			r.sq[i] = float32(sum)
		}
	})
	r.largest = math.Sqrt(float64(slices.Max(r.sq)))
	return r
}

// rounding bounds the part of the difference of two values ‖y‖² − 2xᵀy + ‖x‖² in float32 that
// rounding makes: twice the error of one value. The inputs, a sum of d products in any order
// (Higham 2002, section 3.1) and the last sums are off by u times the value each or, where that
// underflows, by the smallest float32.
func (r *Ranks) rounding(norm float64) float64 {
	const u, tiny = 1.0 / (1 << 24), 0x1p-149
	d := float64(r.d)
	most := max(norm, r.largest)
	return 4 * (u*(norm*most*(d+8)+4*most*most) + tiny*(d+8))
}

// Nearest calls answer(q, near) for every point queries[q], with the indices of its k nearest
// among points, the nearest first, or with nil where float32 leaves their order uncertain. points
// and queries name rows of the points that r was made from; no query is named twice. Calls come from several goroutines,
// but Nearest itself is for one. It takes 2·len(points)·len(queries)·d operations.
func (r *Ranks) Nearest(ctx context.Context, points, queries []int, k int,
	answer func(q int, near []int)) error {
	if !(r.largest < reach) { // squares might overflow
		for q := range queries {
			answer(q, nil)
		}
		return nil
	}

	right := dense.NewPackedB32(len(points), r.d)
	col := make([]float32, len(points))
	right.Set(0, len(points), r.gather(points), r.d)
	for p, i := range points {
		col[p] = r.sq[i]
	}

	// Most of the points are compared as all of them, which are packed once and for all. at tells the place of a point
	// among the queries.
	n := len(r.sq)
	count := len(queries)
	var at []int
	if 2*count > n {
		count = n
		at = slices.Repeat([]int{-1}, n)
		for q, i := range queries {
			at[i] = q
		}
		r.pack()
	}

	stripe := r.compare(nil, right, nil, col).Stripe
	workspaces := make([]*blocks.Workspace[float32], par.Workers(count, stripe))
	par.ForWorker(count, stripe, func(worker, lo, hi int) {
		if ctx.Err() != nil {
			return
		}

		left, row, first := r.packed, r.sq, lo
		if at == nil {
			left, row = r.packRows(queries[lo:hi])
			first = 0
		}
		b := r.compare(left, right, row, col)
		if workspaces[worker] == nil {
			workspaces[worker] = b.NewWorkspace()
		}

		// One more than k shows whether the k-th place is certain.
		found := b.Search(workspaces[worker], first, first+hi-lo, k+1, nil)
		near := make([]int, k)
		for i := range hi - lo {
			q := lo + i
			if at != nil {
				q = at[lo+i]
			}
			switch {
			case q < 0:
			case r.order(near, found.Of(i), row[first+i]):
				for p, j := range near {
					near[p] = points[j]
				}
				answer(q, near)
			default:
				answer(q, nil)
			}
		}
	})
	return ctx.Err()
}

// pack sets packed.
func (r *Ranks) pack() {
	if r.packed != nil {
		return
	}
	r.packed = dense.NewPackedA32(len(r.sq), r.d)
	grain := 16 * r.packed.Panel()
	par.For(len(r.sq), grain, func(lo, hi int) { r.packed.Set(lo, hi, r.flat[lo*r.d:hi*r.d], r.d) })
}

// packRows returns some rows as the left side of products, and their squared norms.
func (r *Ranks) packRows(rows []int) (left *dense.Packed32, sq []float32) {
	left = dense.NewPackedA32(len(rows), r.d)
	left.Set(0, len(rows), r.gather(rows), r.d)
	sq = make([]float32, len(rows))
	for q, i := range rows {
		sq[q] = r.sq[i]
	}
	return left, sq
}

// gather returns some rows of flat.
func (r *Ranks) gather(rows []int) []float32 {
	out := make([]float32, 0, len(rows)*r.d)
	for _, i := range rows {
		out = append(out, r.flat[i*r.d:][:r.d]...)
	}
	return out
}

// compare returns the comparison of rows to the left with rows to the right.
func (r *Ranks) compare(left, right *dense.Packed32, row, col []float32) *blocks.Blocks[float32] {
	b := blocks.NewFloats(dense.NewPackedA32(0, 0).Panel(), right.Panel())
	b.Row = row
	b.Col = col
	b.Multiply = func(w *blocks.Workspace[float32], i0, i1, j0, j1 int) {
		dense.Mul32(left, i0, i1, right, j0, j1, w.C, b.Block, &w.Scratch)
	}
	return b
}

// order sets near to the points of all hits but the farthest, the nearest first. It reports whether
// their order is certain: no two can have changed places by rounding, nor by roots that are equal.
func (r *Ranks) order(near []int, hits []blocks.Hit, sq float32) bool {
	slices.Sort(hits)
	apart := r.rounding(math.Sqrt(float64(sq)))
	for p := range near {
		if hits[p+1] == blocks.NoHit {
			return false
		}
		this := float64(blocks.DistanceOf[float32](hits[p]))
		next := float64(blocks.DistanceOf[float32](hits[p+1]))
		if !(next-this > apart+next*0x1p-40) {
			return false
		}
		near[p] = hits[p].Index()
	}

	return true
}
