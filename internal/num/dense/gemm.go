package dense

import (
	"context"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// Trans says whether a matrix enters a product as it is or transposed.
type Trans bool

// The two ways of a matrix into a product.
const (
	NoTrans    Trans = false
	Transposed Trans = true
)

// Gemm computes C = alpha·op(A)·op(B) + beta·C, where op(A) is m×k, op(B) k×n
// and C m×n. With beta = 0 the old contents of C, NaN included, do not matter;
// with alpha = 0 the contents of A and B do not. C must not overlap A or B. It costs
// 2mnk operations and a few MiB of pooled buffers.
//
// The blocking follows Goto and van de Geijn, ACM Trans. Math. Softw. 34 (2008),
// article 12.
func Gemm(tA, tB Trans, alpha float64, a, b *mat.Dense, beta float64, c *mat.Dense) {
	ra := a.RawMatrix()
	rb := b.RawMatrix()
	rc := c.RawMatrix()
	m := ra.Rows
	k := ra.Cols
	if tA {
		m, k = k, m
	}
	kb := rb.Rows
	n := rb.Cols
	if tB {
		kb, n = n, kb
	}
	if kb != k || rc.Rows != m || rc.Cols != n {
		panic(mat.ErrShape)
	}
	Gemm64(tA, tB, m, n, k, alpha, ra.Data, ra.Stride, rb.Data, rb.Stride, beta, rc.Data, rc.Stride)
}

// Gemm64 is [Gemm] on slices: rows are lda, ldb, ldc elements apart.
func Gemm64(tA, tB Trans, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int,
	beta float64, c []float64, ldc int) {
	gemm(context.Background(), simd.Gemm64(), tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// gemmUntil is [Gemm64] that stops when ctx is cancelled: then C is undefined.
func gemmUntil(ctx context.Context, tA, tB Trans, m, n, k int, alpha float64, a []float64, lda int,
	b []float64, ldb int, beta float64, c []float64, ldc int) {
	gemm(ctx, simd.Gemm64(), tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Gemm32 is [Gemm64] for float32.
func Gemm32(tA, tB Trans, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int,
	beta float32, c []float32, ldc int) {
	gemm(context.Background(), simd.Gemm32(), tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Syrk computes the symmetric C = alpha·A·Aᵀ + beta·C, or with tA = Transposed
// C = alpha·Aᵀ·A + beta·C. Only the lower triangle of C is read; both are
// written, exactly equal. It costs n²k operations for the n×n matrix C and sums
// of k terms, half of what [Gemm] needs. C must not overlap A.
func Syrk(tA Trans, alpha float64, a *mat.Dense, beta float64, c *mat.Dense) {
	SyrkLower(tA, alpha, a, beta, c)
	Mirror(c)
}

// SyrkLower is [Syrk] without the upper triangle of C, which is undefined afterwards.
func SyrkLower(tA Trans, alpha float64, a *mat.Dense, beta float64, c *mat.Dense) {
	ra := a.RawMatrix()
	rc := c.RawMatrix()
	n := ra.Rows
	k := ra.Cols
	if tA {
		n, k = k, n
	}
	if rc.Rows != n || rc.Cols != n {
		panic(mat.ErrShape)
	}

	p := product[float64]{
		ctx: context.Background(), tile: simd.Gemm64(), m: n, n: n, k: k, lower: true,
		a: operand[float64]{ra.Data, ra.Stride, bool(tA)}, b: operand[float64]{ra.Data, ra.Stride, bool(tA)},
		alpha: alpha, beta: beta, c: rc.Data, ldc: rc.Stride,
	}
	p.run()
}

// Mirror copies the lower triangle of the square matrix C to the upper one.
func Mirror(m *mat.Dense) {
	const block = 32
	raw := m.RawMatrix()
	if raw.Rows != raw.Cols {
		panic(mat.ErrShape)
	}
	c := raw.Data
	ldc := raw.Stride
	par.For(raw.Rows, block, func(lo, hi int) {
		for j0 := 0; j0 < hi; j0 += block {
			for i := lo; i < hi; i++ {
				for j := j0; j < min(j0+block, i); j++ {
					c[j*ldc+i] = c[i*ldc+j]
				}
			}
		}
	})
}

func gemm[T simd.Float](ctx context.Context, tile simd.Gemm[T], tA, tB Trans, m, n, k int, alpha T, a []T,
	lda int, b []T, ldb int, beta T, c []T, ldc int) {
	if tA {
		checkMatrix(k, m, len(a), lda)
	} else {
		checkMatrix(m, k, len(a), lda)
	}

	if tB {
		checkMatrix(n, k, len(b), ldb)
	} else {
		checkMatrix(k, n, len(b), ldb)
	}

	checkMatrix(m, n, len(c), ldc)
	p := product[T]{
		ctx: ctx, tile: tile, m: m, n: n, k: k,
		a: operand[T]{a, lda, bool(tA)}, b: operand[T]{b, ldb, !bool(tB)},
		alpha: alpha, beta: beta, c: c, ldc: ldc,
	}
	p.run()
}

// checkMatrix panics unless rows×cols elements, ld apart, fit into length.
func checkMatrix(rows, cols, length, ld int) {
	if rows < 0 || cols < 0 || rows > 0 && cols > 0 && (ld < cols || length < (rows-1)*ld+cols) {
		panic(mat.ErrShape)
	}
}

// An operand is a row-major matrix read along two indices: the outer one, i,
// runs over rows or columns of C, the inner one, p < k, is summed over.
type operand[T simd.Float] struct {
	data []T
	ld   int
	flat bool // element (i, p) is data[p·ld+i], otherwise data[i·ld+p]
}

// pack writes elements i0 ≤ i < i1, p0 ≤ p < p1 into dst as panels of width
// indices i: panel after panel, in a panel width values for each p. The last
// panel is filled up with zeros.
func (o *operand[T]) pack(dst []T, width, i0, i1, p0, p1 int) {
	k := p1 - p0
	for ; i0 < i1; i0 += width {
		n := min(width, i1-i0)
		panel := dst[:k*width]
		dst = dst[k*width:]
		if n < width {
			clear(panel)
		}
		if o.flat {
			for p := range k {
				copy(panel[p*width:(p+1)*width], o.data[(p0+p)*o.ld+i0:][:n])
			}
			continue
		}

		// Four rows at a time fill a cache line of the panel together.
		i := 0
		for ; i+4 <= n; i += 4 {
			row := o.data[(i0+i)*o.ld+p0:]
			r0 := row[:k]
			r1 := row[o.ld:][:k]
			r2 := row[2*o.ld:][:k]
			r3 := row[3*o.ld:][:k]
			for p := range r0 {
				d := panel[p*width+i:][:4]
				d[0] = r0[p]
				d[1] = r1[p]
				d[2] = r2[p]
				d[3] = r3[p]
			}
		}

		for ; i < n; i++ {
			for p, v := range o.data[(i0+i)*o.ld+p0:][:k] {
				panel[p*width+i] = v
			}
		}
	}
}

// Block sizes, in elements. A block of A (blockM rows by at most blockK) stays in
// the second-level cache, a panel of B (NR by blockK) in the first, the packed
// part of B in the third.
const (
	blockM        = 112
	blockK        = 256
	blockN        = 4096
	sharedB       = 1 << 20 // packed elements of B shared by all workers
	privateB      = 1 << 17 // packed elements of B in a single-threaded product
	rowsK         = 24      // rows of a transposed A that are read from end to end
	directPanels  = 8       // with at most this number of panels of B, A is not packed
	splitK        = 2048    // inner sizes from here on are split when C is small
	splitC        = 1 << 17 // largest such C
	maxSlices     = 16
	serialProduct = 1 << 17 // m·n·k up to which starting threads takes longer than it saves
)

// A product is C = alpha·op(A)·op(B) + beta·C in all its parts.
type product[T simd.Float] struct {
	ctx         context.Context // ends the work: C is not defined then
	tile        simd.Gemm[T]
	m, n, k     int
	a, b        operand[T]
	alpha, beta T
	c           []T
	ldc         int
	lower       bool // only tiles that touch the lower triangle are computed
}

// A loop calls body(i) for all i < n.
type loop func(n int, body func(i int))

func serially(n int, body func(i int)) {
	for i := range n {
		body(i)
	}
}

func concurrently(n int, body func(i int)) {
	par.For(n, 1, func(i, _ int) { body(i) })
}

func (p *product[T]) run() {
	switch {
	case p.m == 0 || p.n == 0:
	case p.k == 0 || p.alpha == 0:
		for i := range p.m {
			scale(p.beta, p.c[i*p.ldc:][:p.n])
		}
	case p.k >= splitK && p.m*p.n <= splitC:
		p.runSlices()
	case p.m*p.n*p.k <= serialProduct:
		p.runBlocks(serially, privateB)
	default:
		p.runBlocks(concurrently, sharedB)
	}
}

// runSlices cuts k into slices that are computed independently and added in
// order: for large k and small C.
func (p *product[T]) runSlices() {
	slices := min(maxSlices, p.k/(splitK/2))
	length := ceilDiv(p.k, slices)
	slices = ceilDiv(p.k, length)
	size := p.m * p.n
	s := getScratch[T]()
	defer putScratch(s)

	parts := s.grow(&s.b, slices*size)
	concurrently(slices, func(i int) {
		q := *p
		k0 := i * length
		q.k = min(length, p.k-k0)
		q.a.data = q.a.from(k0)
		q.b.data = q.b.from(k0)
		q.beta = 0
		q.c = parts[i*size : (i+1)*size]
		q.ldc = p.n
		if p.a.flat && !p.lower && p.n <= directPanels*p.tile.NR {
			q.runRows()
		} else {
			q.runBlocks(serially, privateB)
		}
	})

	// Add the slices in order, so that the bits do not depend on the threads.
	par.For(p.m, max(1, 1<<12/p.n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			width := p.n
			if p.lower {
				width = i + 1
			}
			row := p.c[i*p.ldc:][:width]
			scale(p.beta, row)
			for s := range slices {
				for j, v := range parts[s*size+i*p.n:][:width] {
					row[j] += v
				}
			}
		}
	})
}

// runRows is [product.runBlocks] on one thread for a transposed A and few columns of C, which starts at zero.
//
// A tile needs MR adjacent numbers of each row of A in memory: a cache line or two. Over the hundreds of rows of a block
// each line is waited for, because the processor prefetches some tens of streams and no more. So rowsK rows are read from
// end to end, tile after tile, and each tile asks for its numbers in the rowsK rows that follow.
func (p *product[T]) runRows() {
	mr := p.tile.MR
	s := getScratch[T]()
	defer putScratch(s)
	width := roundUp(p.n, p.tile.NR)
	packed := s.grow(&s.b, width*rowsK)
	next := make([]int32, rowsK)
	for i := range next {
		next[i] = int32(i)
	}

	for q0 := 0; q0 < p.k && p.ctx.Err() == nil; q0 += rowsK {
		q1 := min(q0+rowsK, p.k)
		p.b.pack(packed, p.tile.NR, 0, p.n, q0, q1)
		scale(p.alpha, packed[:width*(q1-q0)])
		a := p.a.direct(s, mr, 0, p.m, q0, q1)
		for i := 0; i < p.m; i += mr {
			m := min(mr, p.m-i)
			if q1+rowsK <= p.k {
				simd.PrefetchRows(p.a.data[q1*p.a.ld+i:], p.a.ld, next, m)
			}
			strip := a
			strip.data = a.data[i:]
			multiply(&p.tile, m, p.n, q1-q0, strip, packed, p.c[i*p.ldc:], p.ldc, q0 > 0, p.n, s)
		}
	}
}

// from returns the operand's data from inner index p on.
func (o *operand[T]) from(p int) []T {
	if o.flat {
		return o.data[p*o.ld:]
	}
	return o.data[p:]
}

// runBlocks packs as much of B as limit allows, multiplies all of A with it,
// and goes on to the next part. The blocks of k are added to an element of C in
// order, by one call of the loop's body for each part.
func (p *product[T]) runBlocks(each loop, limit int) {
	mr := p.tile.MR
	nr := p.tile.NR
	mc := blockM / mr * mr
	kc := balance(p.k, blockK)
	s := getScratch[T]()
	defer putScratch(s)

	for j0 := 0; j0 < p.n; j0 += blockN {
		j1 := min(j0+blockN, p.n)
		width := roundUp(j1-j0, nr)
		group := max(1, limit/(width*kc)) * kc
		packed := s.grow(&s.b, width*min(group, p.k))

		// A task is a block of rows by stripe columns.
		rows := ceilDiv(p.m, mc)
		stripe := width
		if rows < 8 {
			stripe = min(width, roundUp(max(64, ceilDiv(width*rows, 8)), nr))
		}
		stripes := ceilDiv(width, stripe)

		for k0 := 0; k0 < p.k; k0 += group {
			k1 := min(k0+group, p.k)
			each(ceilDiv(k1-k0, kc)*stripes, func(t int) {
				if p.ctx.Err() != nil {
					return
				}
				q0 := k0 + t/stripes*kc
				jt := t % stripes * stripe
				q1 := min(q0+kc, k1)
				dst := packed[(q0-k0)*width+jt*(q1-q0):]
				j2 := min(j0+jt+stripe, j1)
				p.b.pack(dst, nr, j0+jt, j2, q0, q1)
				scale(p.alpha, dst[:roundUp(j2-j0-jt, nr)*(q1-q0)])
			})

			// Multiply. In the triangle the long rows come first, so that the threads end together.
			each(rows*stripes, func(t int) {
				if p.ctx.Err() != nil {
					return
				}
				i0 := (rows - 1 - t/stripes) * mc
				jt := t % stripes * stripe
				b := block{i0, min(i0+mc, p.m), j0 + jt, min(j0+jt+stripe, j1)}
				if p.lower {
					b.j1 = min(b.j1, b.i1)
				}
				if b.j0 >= b.j1 {
					return
				}

				for q0 := k0; q0 < k1; q0 += kc {
					q1 := min(q0+kc, k1)
					p.add(b, q0, q1, packed[(q0-k0)*width+jt*(q1-q0):])
				}
			})
		}
	}
}

// A block is rows i0 ≤ i < i1 and columns j0 ≤ j < j1 of C.
type block struct{ i0, i1, j0, j1 int }

// add does the terms q0 ≤ p < q1 of one block of C. packed holds alpha times B's
// columns from b.j0 on.
func (p *product[T]) add(b block, q0, q1 int, packed []T) {
	s := getScratch[T]()
	defer putScratch(s)
	m := b.i1 - b.i0
	n := b.j1 - b.j0
	var a panels[T]
	if n <= directPanels*p.tile.NR {
		a = p.a.direct(s, p.tile.MR, b.i0, b.i1, q0, q1)
	} else {
		a = p.a.packed(s, p.tile.MR, b.i0, b.i1, q0, q1)
	}

	// The first terms find C scaled by beta, and later ones add to it.
	c := p.c[b.i0*p.ldc+b.j0:]
	if q0 == 0 && p.beta != 0 {
		for i := range m {
			scale(p.beta, c[i*p.ldc:][:n])
		}
	}

	diag := n
	if p.lower {
		diag = b.i0 - b.j0
	}
	multiply(&p.tile, m, n, q1-q0, a, packed, c, p.ldc, q0 > 0 || p.beta != 0, diag, s)
}

// panels are some rows of A for the tile product: the one that begins with row i,
// a multiple of MR, is at data[i·start] with the given strides. The last one, if
// it is not full, is at last, packed and filled up with zeros.
type panels[T simd.Float] struct {
	data             []T
	start, row, step int
	last             []T
}

// packed returns indices i0 ≤ i < i1, p0 ≤ p < p1 of o as packed panels.
func (o *operand[T]) packed(s *scratch[T], mr, i0, i1, p0, p1 int) panels[T] {
	m := i1 - i0
	k := p1 - p0
	data := s.grow(&s.a, roundUp(m, mr)*k)
	o.pack(data, mr, i0, i1, p0, p1)
	return panels[T]{data: data, start: k, row: 1, step: mr, last: data[m/mr*mr*k:]}
}

// direct returns the same panels without packing them, except for the last. This saves time if
// every panel is used a few times only.
func (o *operand[T]) direct(s *scratch[T], mr, i0, i1, p0, p1 int) panels[T] {
	full := i0 + (i1-i0)/mr*mr
	last := s.grow(&s.a, mr*(p1-p0))
	o.pack(last, mr, full, i1, p0, p1)
	if o.flat {
		return panels[T]{data: o.data[p0*o.ld+i0:], start: 1, row: 1, step: o.ld, last: last}
	}
	return panels[T]{data: o.data[i0*o.ld+p0:], start: o.ld, row: o.ld, step: 1, last: last}
}

// multiply adds (or without acc, stores) the product of A and packed B to C, except in tiles with j
// > i+diag everywhere.
func multiply[T simd.Float](tile *simd.Gemm[T], m, n, k int, pa panels[T], pb, c []T, ldc int, acc bool,
	diag int, s *scratch[T]) {
	mr := tile.MR
	nr := tile.NR
	edge := s.grow(&s.edge, mr*nr)
	for j := 0; j < n; j += nr {
		b := pb[j*k:]
		for i := 0; i < m; i += mr {
			if j > i+mr-1+diag {
				continue
			}
			full := i+mr <= m
			if full && j+nr <= n {
				tile.Tile(k, pa.data[i*pa.start:], pa.row, pa.step, b, c[i*ldc+j:], ldc, acc)
				continue
			}

			// A tile over the edge of C is computed beside it, and copied as far as C goes.
			if full {
				tile.Tile(k, pa.data[i*pa.start:], pa.row, pa.step, b, edge, nr, false)
			} else {
				tile.Tile(k, pa.last, 1, mr, b, edge, nr, false)
			}

			for r := range min(mr, m-i) {
				dst := c[(i+r)*ldc+j:][:min(nr, n-j)]
				if !acc {
					copy(dst, edge[r*nr:])
					continue
				}
				for t, v := range edge[r*nr:][:len(dst)] {
					dst[t] += v
				}
			}
		}
	}
}

// scale multiplies x by f; a zero f overwrites NaN.
func scale[T simd.Float](f T, x []T) {
	switch f {
	case 0:
		clear(x)
	case 1:
	default:
		for i := range x {
			x[i] *= f
		}
	}
}

func ceilDiv(n, d int) int { return (n + d - 1) / d }

func roundUp(n, unit int) int { return ceilDiv(n, unit) * unit }

// balance returns a block length of at most limit, a multiple of 4, that cuts n
// into nearly equal blocks. limit is a multiple of 4.
func balance(n, limit int) int {
	return roundUp(ceilDiv(n, ceilDiv(n, limit)), 4)
}

// scratch is the working memory of one goroutine.
type scratch[T simd.Float] struct{ a, b, edge []T }

// grow returns n elements of *buf, which it first makes longer if need be.
// Their contents are undefined.
func (*scratch[T]) grow(buf *[]T, n int) []T {
	if cap(*buf) < n {
		*buf = Zeros[T](n)
	}
	return (*buf)[:n]
}

var scratch64, scratch32 sync.Pool

func scratchPool[T simd.Float]() *sync.Pool {
	if any(T(0)) == any(float64(0)) {
		return &scratch64
	}
	return &scratch32
}

func getScratch[T simd.Float]() *scratch[T] {
	if s, ok := scratchPool[T]().Get().(*scratch[T]); ok {
		return s
	}
	return new(scratch[T])
}

func putScratch[T simd.Float](s *scratch[T]) { scratchPool[T]().Put(s) }
