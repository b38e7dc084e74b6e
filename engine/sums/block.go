package sums

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/mapped"
	"github.com/bigfit/bigfit/internal/numbers"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/internal/simd"
	"github.com/bigfit/bigfit/sparse"
)

// blockBytes bounds the rows and neighbours in float64 that a part holds at a time, unless a row
// has more neighbours than that.
var blockBytes = 96 << 20 // only tests change it

// blocks cuts rows lo to hi where a block would hold more than blockBytes of points, its rows
// twice and their neighbours once.
func (r *Run) blocks(lo, hi int) []int {
	most := blockBytes / (8 * r.d)
	cuts := []int{lo}
	held := 0
	for i := lo; i < hi; i++ {
		rows := 2 + int(r.w.Ptr[i+1]-r.w.Ptr[i])
		if held > 0 && held+rows > most {
			cuts = append(cuts, i)
			held = 0
		}
		held += rows
	}
	return append(cuts, hi)
}

// norm returns the part of XᵀLᵖX of rows lo to hi and the sum of their degrees: Σ xᵢ(LX)ᵢ for
// p = 1, which is symmetric in the sum over all parts only, and Σ (LX)ᵢᵀ(LX)ᵢ for p = 2.
func (r *Run) norm(ctx context.Context, lo, hi int) (m *mat.Dense, volume float64, err error) {
	m = mat.NewDense(r.d, r.d, nil)
	cuts := r.blocks(lo, hi)
	var b block
	for k, from := range cuts[:len(cuts)-1] {
		r.report(float64(from-lo), float64(hi-lo), "rows of XᵀLᵖX")
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		to := cuts[k+1]
		if err := r.checkRows(from, to); err != nil {
			return nil, 0, err
		}
		own, lx := b.product(r, from, to)
		if r.settings.Regularizer.Power == 2 {
			dense.Syrk(dense.Transposed, 1, lx, 1, m)
		} else {
			dense.Gemm(dense.Transposed, dense.NoTrans, 1, own, lx, 1, m)
		}
		for _, v := range b.degree {
			volume += v
		}
		r.release(from, to)
	}
	return m, volume, nil
}

// checkRows returns an error for weights of rows lo to hi that no graph has.
func (r *Run) checkRows(lo, hi int) error {
	for i := lo; i < hi; i++ {
		col, val := r.w.Row(i)
		for p, v := range val {
			if !(v >= 0) || math.IsInf(v, 0) {
				return fmt.Errorf("sums: weight (%d, %d) of the graph is %v; weights must be finite and not negative", i, col[p], v)
			}
		}
	}
	return nil
}

// release gives back mapped pages: those of all points, as neighbours lie anywhere, and those of
// the entries of rows lo to hi.
func (r *Run) release(lo, hi int) {
	data.Release(r.x, 0, r.n)
	a, b := r.w.Ptr[lo], r.w.Ptr[hi]
	mapped.Drop(numbers.Bytes(r.w.Col[a:b]))
	if r.w.Val != nil {
		mapped.Drop(numbers.Bytes(r.w.Val[a:b]))
	}
}

// block holds rows of points with all their neighbours. Its slices are used again.
type block struct {
	others []int32   // neighbours outside the rows, ascending
	from   []float64 // the rows, then the others
	to     []float64 // L times the points, in the rows
	col    []int32
	val    []float64
	degree []float64 // of the rows
}

// product returns rows lo to hi of the points and of L times them. Both are valid until the next
// call.
func (b *block) product(r *Run, lo, hi int) (own, lx *mat.Dense) {
	rows, first, end := hi-lo, r.w.Ptr[lo], r.w.Ptr[hi]
	b.others = b.others[:0]
	for _, c := range r.w.Col[first:end] {
		if int(c) < lo || int(c) >= hi {
			b.others = append(b.others, c)
		}
	}
	slices.Sort(b.others)
	b.others = slices.Compact(b.others)
	b.from = resized(b.from, (rows+len(b.others))*r.d)
	b.to = resized(b.to, rows*r.d)
	b.col = resized(b.col, int(end-first))
	b.val = resized(b.val, int(end-first))
	b.degree = resized(b.degree, rows)
	row := func(at, i int) { data.RowTo(b.from[at*r.d:(at+1)*r.d], r.x, i) }
	par.For(rows, 128, func(from, to int) {
		for i := from; i < to; i++ {
			row(i, lo+i)
		}
	})
	par.For(len(b.others), 128, func(from, to int) {
		for p := from; p < to; p++ {
			row(rows+p, int(b.others[p]))
		}
	})
	diagonal := b.weights(r, lo, hi)
	ptr := make([]int64, rows+1)
	for i := range ptr {
		ptr[i] = r.w.Ptr[lo+i] - first
	}
	g := simd.Graph{Ptr: ptr, Col: b.col, Val: b.val, Diag: diagonal}
	x, y := simd.Block{Data: b.from, Cols: r.d, LD: r.d}, simd.Block{Data: b.to, Cols: r.d, LD: r.d}
	par.For(rows, 128, func(from, to int) { g.Combine(y, x, simd.Block{}, from, to, -1, 1, 0, 0) })
	return mat.NewDense(rows, r.d, b.from[:rows*r.d]), mat.NewDense(rows, r.d, b.to)
}

// weights sets the columns, weights and degrees of the rows lo to hi in the block and returns the
// diagonal of L there.
func (b *block) weights(r *Run, lo, hi int) (diagonal []float64) {
	rows, first := hi-lo, r.w.Ptr[lo]
	diagonal = b.degree
	if r.scale != nil {
		diagonal = make([]float64, rows)
	}
	par.For(rows, 128, func(from, to int) {
		for i := lo + from; i < lo+to; i++ {
			col, val := r.w.Row(i)
			at := r.w.Ptr[i] - first
			var degree float64
			for p, c := range col {
				v := 1.0
				if val != nil {
					v = val[p]
				}
				degree += v
				if r.scale != nil { // in this order for (i, j) and (j, i): see sparse.Laplacian
					v = r.scale[min(i, int(c))] * v * r.scale[max(i, int(c))]
				}
				b.val[at+int64(p)] = v
				if lo <= int(c) && int(c) < hi {
					b.col[at+int64(p)] = c - int32(lo)
					continue
				}
				other, _ := slices.BinarySearch(b.others, c)
				b.col[at+int64(p)] = int32(rows + other)
			}
			b.degree[i-lo] = degree
			if r.scale != nil && degree > 0 {
				diagonal[i-lo] = 1
			}
		}
	})
	return diagonal
}

// resized returns a slice of n elements, s if that is long enough.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// scaleOf returns D^-½ of all points, 0 for degree zero, in one pass over the graph.
func scaleOf(w *sparse.CSR) []float64 {
	out := make([]float64, w.Rows)
	const rows = 1 << 18
	for lo := 0; lo < w.Rows; lo += rows {
		hi := min(lo+rows, w.Rows)
		par.For(hi-lo, 4096, func(from, to int) {
			for i := lo + from; i < lo+to; i++ {
				col, val := w.Row(i)
				degree := float64(len(col))
				if val != nil {
					degree = 0
					for _, v := range val {
						degree += v
					}
				}
				if degree > 0 {
					out[i] = 1 / math.Sqrt(degree)
				}
			}
		})
		if w.Val != nil {
			mapped.Drop(numbers.Bytes(w.Val[w.Ptr[lo]:w.Ptr[hi]]))
		}
	}
	return out
}
