package sums

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
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
		// A row is held with the points of all its neighbours, and its product.
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
	b := r.newBlock(cuts)
	for k, from := range cuts[:len(cuts)-1] {
		r.report(float64(from-lo), float64(hi-lo), "rows of XᵀLᵖX")
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		to := cuts[k+1]
		// LX of the rows needs the rows and their neighbours alone.
		own, lx, err := b.product(r, from, to)
		if err != nil {
			return nil, 0, err
		}

		// XᵀL²X = (LX)ᵀ(LX); for p = 1 the product is with the rows themselves.
		if r.settings.Regularizer.Power == 2 {
			dense.Syrk(dense.Transposed, 1, lx, 1, m)
		} else {
			dense.Gemm(dense.Transposed, dense.NoTrans, 1, own, lx, 1, m)
		}

		for _, v := range b.degree {
			volume += v
		}
		r.release()
	}

	return m, volume, nil
}

// release gives back the pages of all points and of the whole graph: neighbours lie anywhere.
func (r *Run) release() {
	data.Release(r.x, 0, r.n)
	r.w.Release(0, r.n)
}

// block holds rows of points with all their neighbours. Its slices are long enough for any block of
// a part and are used again.
type block struct {
	others []int32   // neighbours outside the rows, ascending
	from   []float64 // the rows, then the others
	to     []float64 // L times the points, in the rows
	col    []int32
	val    []float64
	degree []float64 // of the rows
	scale  []float64 // D^-½ of the rows, then of the others; of the normalized Laplacian alone
}

// newBlock returns a block for the rows between any two of the cuts. Every entry of these rows may
// be another neighbour.
func (r *Run) newBlock(cuts []int) *block {
	var rows, entries, held int
	for k, lo := range cuts[:len(cuts)-1] {
		own := cuts[k+1] - lo
		more := int(r.w.Ptr[cuts[k+1]] - r.w.Ptr[lo])
		rows = max(rows, own)
		entries = max(entries, more)
		held = max(held, own+more)
	}

	b := &block{others: make([]int32, 0, entries), from: make([]float64, held*r.d),
		to:  make([]float64, rows*r.d),
		col: make([]int32, entries), val: make([]float64, entries), degree: make([]float64, rows)}
	if r.normalized() {
		b.scale = make([]float64, held)
	}
	return b
}

// product returns rows lo to hi of the points and of L times them. Both are valid until the next
// call.
func (b *block) product(r *Run, lo, hi int) (own, lx *mat.Dense, err error) {
	rows := hi - lo
	first := r.w.Ptr[lo]
	end := r.w.Ptr[hi]
	b.others = b.others[:0]
	for _, c := range r.w.Col[first:end] {
		if int(c) < lo || int(c) >= hi {
			b.others = append(b.others, c)
		}
	}

	// Ascending numbers read a mapped file in one direction.
	slices.Sort(b.others)
	b.others = slices.Compact(b.others)
	b.degree = b.degree[:rows]
	par.For(rows, 128, func(from, to int) {
		for i := from; i < to; i++ {
			data.RowTo(b.from[i*r.d:(i+1)*r.d], r.x, lo+i)
		}
	})

	data.GatherTo(b.from[rows*r.d:(rows+len(b.others))*r.d], r.x, b.others)
	if r.normalized() {
		if err := b.scales(r, lo, hi); err != nil {
			return nil, nil, err
		}
	}

	// Columns of the graph become places in the block.
	diagonal := b.weights(r, lo, hi)
	ptr := make([]int64, rows+1)
	for i := range ptr {
		ptr[i] = r.w.Ptr[lo+i] - first
	}
	own = mat.NewDense(rows, r.d, b.from[:rows*r.d])
	lx = mat.NewDense(rows, r.d, b.to[:rows*r.d])
	g := simd.Graph{Ptr: ptr, Col: b.col[:end-first], Val: b.val[:end-first], Diag: diagonal}
	x := simd.Block{Data: b.from[:(rows+len(b.others))*r.d], Cols: r.d, LD: r.d}
	y := simd.Block{Data: b.to[:rows*r.d], Cols: r.d, LD: r.d}
	par.For(rows, 128, func(from, to int) { g.Combine(y, x, simd.Block{}, from, to, -1, 1, 0, 0) })
	return own, lx, nil
}

// scales sets D^-½ of the rows lo to hi and of the others, 0 for degree zero. It checks the rows of
// the others, which belong to other parts.
func (b *block) scales(r *Run, lo, hi int) error {
	rows := hi - lo
	set := func(at, i int) {
		b.scale[at] = 0
		if degree := r.w.Degree(i); degree > 0 {
			b.scale[at] = 1 / math.Sqrt(degree)
		}
	}
	par.For(rows, 128, func(from, to int) {
		for i := from; i < to; i++ {
			set(i, lo+i)
		}
	})

	// Neighbours lie in other parts, so their rows were not checked by this one.
	const grain, step = 128, 1 << 11 // rows before pages are given back
	for first := 0; first < len(b.others); first += step {
		list := b.others[first:min(first+step, len(b.others))]
		faults := make([]error, par.Chunks(len(list), grain))
		par.For(len(list), grain, func(from, to int) {
			for p := from; p < to && faults[from/grain] == nil; p++ {
				i := int(list[p])
				if faults[from/grain] = r.checkRows(i, i+1); faults[from/grain] == nil {
					set(rows+first+p, i)
				}
			}
		})
		if err := cmp.Or(faults...); err != nil {
			return err
		}
		r.w.Release(0, r.n)
	}

	return nil
}

// weights sets the columns, weights and degrees of the rows lo to hi in the block and returns the
// diagonal of L there.
func (b *block) weights(r *Run, lo, hi int) (diagonal []float64) {
	rows := hi - lo
	first := r.w.Ptr[lo]
	diagonal = b.degree
	normalized := r.normalized()
	if normalized {
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
				here := int(c) - lo
				if here < 0 || here >= rows {
					other, _ := slices.BinarySearch(b.others, c)
					here = rows + other
				}

				if normalized { // in this order for (i, j) and (j, i): see sparse.Laplacian
					first := i - lo
					second := here
					if int(c) < i {
						first, second = second, first
					}
					v = b.scale[first] * v * b.scale[second]
				}

				b.val[at+int64(p)] = v
				b.col[at+int64(p)] = int32(here)
			}

			// A vertex without edges has a diagonal of zero.
			b.degree[i-lo] = degree
			if normalized && degree > 0 {
				diagonal[i-lo] = 1
			}
		}
	})

	return diagonal
}
