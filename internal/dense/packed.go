package dense

import "github.com/bigfit/bigfit/internal/simd"

// A Packed32 is a float32 matrix B, rows×k, laid out for many products A·Bᵀ by
// single-threaded callers. It is immutable and safe for concurrent use.
type Packed32 struct {
	rows, k, kc int
	data        []float32 // blocks of kc inner indices, each in panels of Panel rows
}

// A Scratch is the working memory of one goroutine. Its zero value is ready.
type Scratch struct{ s scratch[float32] }

// PackB32 copies b, rows×k with rows ldb elements apart, into a Packed32. It is
// single-threaded.
func PackB32(b []float32, rows, k, ldb int) *Packed32 {
	checkMatrix(rows, k, len(b), ldb)
	p := &Packed32{rows: rows, k: k, kc: balance(max(k, 1), blockK)}
	p.data = make([]float32, p.padded()*k)
	o := operand[float32]{b, ldb, false}
	for q0 := 0; q0 < k; q0 += p.kc {
		o.pack(p.data[q0*p.padded():], p.Panel(), 0, rows, q0, min(q0+p.kc, k))
	}
	return p
}

// Panel returns the number of rows that lie together: ranges given to MulRange
// start at a multiple of it.
func (p *Packed32) Panel() int {
	tile := simd.Gemm32()
	return tile.NR
}

// Rows returns the number of rows of B.
func (p *Packed32) Rows() int { return p.rows }

func (p *Packed32) padded() int { return roundUp(p.rows, p.Panel()) }

// MulRange computes C = A·B[lo:hi]ᵀ, that is c[i·ldc+j] = Σ_p a[i·lda+p]·B[lo+j, p]
// for i < m and j < hi−lo, on the calling goroutine. A is m×k; lo must be a
// multiple of Panel; the old contents of C do not matter. The bits of an element
// depend on its row of A and its row of B only.
func (p *Packed32) MulRange(a []float32, m, lda int, lo, hi int, c []float32, ldc int, scratch *Scratch) {
	n := hi - lo
	if lo%p.Panel() != 0 || lo < 0 || hi > p.rows {
		panic("dense: row range not on a panel")
	}
	checkMatrix(m, p.k, len(a), lda)
	checkMatrix(m, n, len(c), ldc)
	if m == 0 || n <= 0 {
		return
	}
	if p.k == 0 {
		for i := range m {
			clear(c[i*ldc:][:n])
		}
		return
	}
	tile := simd.Gemm32()
	s := &scratch.s
	o := operand[float32]{a, lda, false}
	mc := blockM / tile.MR * tile.MR
	for i0 := 0; i0 < m; i0 += mc {
		i1 := min(i0+mc, m)
		for q0 := 0; q0 < p.k; q0 += p.kc {
			q1 := min(q0+p.kc, p.k)
			pa := o.packed(s, tile.MR, i0, i1, q0, q1)
			multiply(&tile, i1-i0, n, q1-q0, pa, p.data[q0*p.padded()+lo*(q1-q0):], c[i0*ldc:], ldc, q0 > 0, n, s)
		}
	}
}
