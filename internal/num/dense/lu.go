package dense

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
)

// An LU is the factorization P·A = L·U of a square matrix with partial pivoting.
// It is safe for concurrent use.
type LU struct {
	n     int
	a     []float64 // U, and below it L without its unit diagonal
	lda   int
	pivot []int // row i was exchanged with row pivot[i] ≥ i, in order of i
}

// FactorLU factors the n×n matrix A and takes over its memory. A pivot that is zero or not finite
// is an error, and so is a cancelled ctx. It costs 2n³/3 operations, nearly all in matrix products.
// The recursion follows Toledo, SIAM J. Matrix Anal. Appl. 18 (1997), 1065–1081.
func FactorLU(ctx context.Context, a *mat.Dense) (*LU, error) {
	r := a.RawMatrix()
	if r.Rows != r.Cols {
		panic(mat.ErrShape)
	}
	f := &LU{n: r.Rows, a: r.Data, lda: r.Stride, pivot: make([]int, r.Rows)}
	err := f.factor(ctx, 0, f.n)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// factor factors columns c0 ≤ c < c1 from row c0 on and leaves all
// other columns alone.
func (f *LU) factor(ctx context.Context, c0, c1 int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if c1-c0 <= 16 {
		return f.panel(c0, c1)
	}
	mid := c0 + half(c1-c0)
	if err := f.factor(ctx, c0, mid); err != nil {
		return err
	}

	// The left columns are factored. Apply their exchanges and L⁻¹ to the right ones, and subtract
	// the product from the rows below.
	f.exchange(f.a, f.lda, c0, mid, mid, c1)
	right := f.a[c0*f.lda+mid:]
	f.lower(ctx, f.a[c0*f.lda+c0:]).solve(mid-c0, c1-mid, right, f.lda)
	gemmUntil(ctx, NoTrans, NoTrans, f.n-mid, c1-mid, mid-c0, -1, f.a[mid*f.lda+c0:], f.lda, right, f.lda, 1,
		f.a[mid*f.lda+mid:], f.lda)
	if err := f.factor(ctx, mid, c1); err != nil {
		return err
	}
	f.exchange(f.a, f.lda, mid, c1, c0, mid)
	return nil
}

// panel is factor for a few columns, one at a time.
func (f *LU) panel(c0, c1 int) error {
	for c := c0; c < c1; c++ {
		p, top := c, -1.0
		for i := c; i < f.n; i++ {
			if v := math.Abs(f.a[i*f.lda+c]); v > top {
				p = i
				top = v
			}
		}

		// The largest element of the column is the pivot.
		f.pivot[c] = p
		if !(top > 0) || math.IsInf(top, 0) {
			return fmt.Errorf("dense: matrix is singular or not finite: pivot %d is %g", c, f.a[p*f.lda+c])
		}
		f.exchange(f.a, f.lda, c, c+1, c0, c1)
		from := f.a[c*f.lda+c:][:c1-c]
		par.For(f.n-c-1, 4096, func(lo, hi int) {
			for i := c + 1 + lo; i < c+1+hi; i++ {
				row := f.a[i*f.lda+c:][:len(from)]
				s := row[0] / from[0]
				row[0] = s
				for j := 1; j < len(row); j++ {
					row[j] -= s * from[j]
				}
			}
		})
	}

	return nil
}

// exchange does the exchanges of rows i0 ≤ i < i1 in columns c0 ≤ c < c1 of b.
func (f *LU) exchange(b []float64, ldb, i0, i1, c0, c1 int) {
	const columns = 256
	par.For(c1-c0, columns, func(lo, hi int) {
		for i := i0; i < i1; i++ {
			p := f.pivot[i]
			if p == i {
				continue
			}
			x := b[i*ldb+c0+lo : i*ldb+c0+hi]
			y := b[p*ldb+c0+lo : p*ldb+c0+hi]
			for j, v := range x {
				x[j] = y[j]
				y[j] = v
			}
		}
	})
}

// lower returns the part of L that begins at a.
func (f *LU) lower(ctx context.Context, a []float64) *triangle {
	return &triangle{ctx, a, f.lda, NoTrans, true, true}
}

// Solve computes B ← A⁻¹·B for the n×m matrix B in 2n²m operations. If ctx is cancelled
// meanwhile, B is not defined.
func (f *LU) Solve(ctx context.Context, b *mat.Dense) {
	r := b.RawMatrix()
	if r.Rows != f.n {
		panic(mat.ErrShape)
	}
	f.exchange(r.Data, r.Stride, 0, f.n, 0, r.Cols)
	f.lower(ctx, f.a).solve(f.n, r.Cols, r.Data, r.Stride)
	u := triangle{ctx, f.a, f.lda, NoTrans, false, false}
	u.solve(f.n, r.Cols, r.Data, r.Stride)
}
