package dense

import "github.com/bigfit/bigfit/internal/num/simd"

// A Packed32 is a float32 matrix, rows×k, laid out as one side of many products
// A·Bᵀ by single-threaded callers. Once set it is safe for concurrent use.
type Packed32 struct {
	rows, k, kc, panel int
	data               []float32 // blocks of kc inner indices, each in panels of panel rows
}

// A Scratch is the working memory of one goroutine. Its zero value is ready.
type Scratch struct{ s scratch[float32] }

// NewPackedA32 returns a zero matrix as the left side of products.
func NewPackedA32(rows, k int) *Packed32 { return newPacked32(simd.Gemm32().MR, rows, k) }

// NewPackedB32 is [NewPackedA32] for the right side.
func NewPackedB32(rows, k int) *Packed32 { return newPacked32(simd.Gemm32().NR, rows, k) }

func newPacked32(panel, rows, k int) *Packed32 {
	p := &Packed32{rows: rows, k: k, kc: balance(max(k, 1), blockK), panel: panel}
	p.data = make([]float32, p.padded()*k)
	return p
}

// Set copies x, its rows ld elements apart, to rows lo to hi; lo is a multiple of
// the panel, and so is hi unless it is the number of rows. Disjoint ranges can be
// set concurrently.
func (p *Packed32) Set(lo, hi int, x []float32, ld int) {
	checkRange(lo, hi, p.rows, p.panel)
	checkMatrix(hi-lo, p.k, len(x), ld)
	if hi < p.rows && hi%p.panel != 0 {
		panic("dense: not a range of panels")
	}
	o := operand[float32]{x, ld, false}
	for q0 := 0; q0 < p.k; q0 += p.kc {
		q1 := min(q0+p.kc, p.k)
		o.pack(p.data[q0*p.padded()+lo*(q1-q0):], p.panel, 0, hi-lo, q0, q1)
	}
}

// Panel returns the number of rows that lie together: ranges of rows start at
// a multiple of it.
func (p *Packed32) Panel() int { return p.panel }

func (p *Packed32) padded() int { return roundUp(p.rows, p.panel) }

// Mul32 computes C = A[i0:i1]·B[j0:j1]ᵀ with rows ldc elements apart, on the
// calling goroutine. i0 and j0 are multiples of the panels of A and B; the old
// contents of C do not matter. The bits of an element depend on its row of A and
// its row of B only.
func Mul32(a *Packed32, i0, i1 int, b *Packed32, j0, j1 int, c []float32, ldc int, scratch *Scratch) {
	tile := simd.Gemm32()
	if a.k != b.k || a.panel != tile.MR || b.panel != tile.NR {
		panic("dense: packed matrices do not fit together")
	}
	checkRange(i0, i1, a.rows, a.panel)
	checkRange(j0, j1, b.rows, b.panel)
	m := i1 - i0
	n := j1 - j0
	checkMatrix(m, n, len(c), ldc)
	if a.k == 0 {
		for i := range m {
			clear(c[i*ldc:][:n])
		}
		return
	}

	// Blocks of inner indices are added in order.
	for q0 := 0; q0 < a.k; q0 += a.kc {
		k := min(a.kc, a.k-q0)
		left := a.data[q0*a.padded()+i0*k:]
		pa := panels[float32]{data: left, start: k, row: 1, step: tile.MR, last: left[m/tile.MR*tile.MR*k:]}
		multiply(&tile, m, n, k, pa, b.data[q0*b.padded()+j0*k:], c, ldc, q0 > 0, n, &scratch.s)
	}
}

func checkRange(lo, hi, rows, panel int) {
	if lo < 0 || lo%panel != 0 || hi < lo || hi > rows {
		panic("dense: not a range of panels")
	}
}
