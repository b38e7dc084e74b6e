package dense

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// half returns where recursive algorithms cut n > 16: a multiple of 16.
func half(n int) int { return max(16, n/2/16*16) }

// divideRight computes X ← X·L⁻ᵀ for the m×n matrix x and the lower triangular
// n×n matrix l, each row of X on its own: row-wise backward stable.
func divideRight(ctx context.Context, m, n int, x []float64, ldx int, l []float64, ldl int) {
	const rows = 256
	par.Until(ctx, m, rows, func(lo, hi int) { divideRows(ctx, hi-lo, n, x[lo*ldx:], ldx, l, ldl) })
}

// divideRows is divideRight for one worker.
func divideRows(ctx context.Context, m, n int, x []float64, ldx int, l []float64, ldl int) {
	const small = 16
	if n > small {
		h := half(n)
		divideRows(ctx, m, h, x, ldx, l, ldl)
		p := product[float64]{
			ctx: ctx, tile: simd.Gemm64(), m: m, n: n - h, k: h,
			a: operand[float64]{x, ldx, false}, b: operand[float64]{l[h*ldl:], ldl, false},
			alpha: -1, beta: 1, c: x[h:], ldc: ldx,
		}
		p.runBlocks(serially, privateB)
		divideRows(ctx, m, n-h, x[h:], ldx, l[h*ldl+h:], ldl)
		return
	}

	// A small triangle is divided by its diagonal first, so that the inner loops multiply only.
	var u [small][small]float64 // Lᵀ, each row divided by its diagonal
	var inverse [small]float64  // of the diagonal
	for i := range n {
		inverse[i] = 1 / l[i*ldl+i]
		for j := range i {
			u[j][i] = l[i*ldl+j] * inverse[j]
		}
	}

	for i := range m {
		row := x[i*ldx:][:n]
		for p, v := range row {
			rest := row[p+1:]
			up := u[p][p+1:]
			for j := 0; j < len(rest) && j < len(up); j++ {
				rest[j] -= v * up[j]
			}
		}
		for p := range row {
			row[p] *= inverse[p]
		}
	}
}

// SolveLower computes B ← op(L)⁻¹·B for the lower triangular n×n matrix L and the
// n×m matrix B. The upper triangle is not read. A zero on the
// diagonal gives Inf or NaN. It costs n²m operations.
func SolveLower(tL Trans, l, b *mat.Dense) { solve(true, tL, l, b) }

// SolveUpper is [SolveLower] for an upper triangular matrix. The lower triangle is not read.
func SolveUpper(tU Trans, u, b *mat.Dense) { solve(false, tU, u, b) }

func solve(lower bool, trans Trans, a, b *mat.Dense) {
	ra := a.RawMatrix()
	rb := b.RawMatrix()
	if ra.Rows != ra.Cols || ra.Rows != rb.Rows {
		panic(mat.ErrShape)
	}
	t := triangle{context.Background(), ra.Data, ra.Stride, trans, lower != bool(trans), false}
	t.solve(ra.Rows, rb.Cols, rb.Data, rb.Stride)
}

// A triangle is op(A) for a triangular matrix A.
type triangle struct {
	ctx   context.Context // when it is cancelled, the solution is undefined
	data  []float64
	ld    int
	trans Trans
	lower bool // op(A) is lower triangular
	unit  bool // its diagonal is not read: it is one
}

// at returns op(A) from element (i, j) on.
func (t *triangle) at(i, j int) []float64 {
	if t.trans {
		i, j = j, i
	}
	return t.data[i*t.ld+j:]
}

// solve computes B ← op(A)⁻¹·B for the leading n×n part.
func (t *triangle) solve(n, m int, b []float64, ldb int) {
	if n <= 32 {
		const columns = 512
		par.Until(t.ctx, m, columns, func(lo, hi int) {
			for s := range n {
				i, step := s, 1
				if !t.lower {
					i = n - 1 - s
					step = -1
				}

				// Rows that are solved already lie behind, in the order of the substitution.
				row := b[i*ldb:][lo:hi]
				for j := i - s*step; j != i; j += step {
					simd.CombineRow(row, row, 1, b[j*ldb:][lo:hi], -t.at(i, j)[0])
				}
				if t.unit {
					continue
				}
				d := t.at(i, i)[0]
				for q := range row {
					row[q] /= d
				}
			}
		})

		return
	}

	// Solve one half, subtract its share from the other by a matrix product, and solve that.
	h := half(n)
	last := triangle{t.ctx, t.at(h, h), t.ld, t.trans, t.lower, t.unit}
	b1 := b
	b2 := b[h*ldb:]
	if t.lower {
		t.solve(h, m, b1, ldb)
		gemmUntil(t.ctx, t.trans, NoTrans, n-h, m, h, -1, t.at(h, 0), t.ld, b1, ldb, 1, b2, ldb)
		last.solve(n-h, m, b2, ldb)
		return
	}

	last.solve(n-h, m, b2, ldb)
	gemmUntil(t.ctx, t.trans, NoTrans, h, m, n-h, -1, t.at(0, h), t.ld, b2, ldb, 1, b1, ldb)
	t.solve(h, m, b1, ldb)
}
