package dense

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/simd"
)

// A NotPositiveError says that a matrix given to [Cholesky] is not positive
// definite to working precision: the pivot of row Row came out as Pivot.
type NotPositiveError struct {
	Row   int
	Pivot float64
}

func (e *NotPositiveError) Error() string {
	return fmt.Sprintf("dense: matrix is not positive definite: pivot %d is %g", e.Row, e.Pivot)
}

// Cholesky factors the symmetric positive definite n×n matrix A = L·Lᵀ and
// overwrites it with the lower triangular L, zeros above. Only the lower
// triangle of A is read. If A is not positive definite (or not finite) it
// returns a [*NotPositiveError] and leaves A undefined, as it does with the error of
// ctx when that is cancelled. It costs n³/3 operations, nearly all in matrix products.
func Cholesky(ctx context.Context, a *mat.Dense) error {
	r := a.RawMatrix()
	if r.Rows != r.Cols {
		panic(mat.ErrShape)
	}
	err := cholesky(ctx, r.Rows, 0, r.Data, r.Stride)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}

	for i := range r.Rows {
		clear(r.Data[i*r.Stride+i+1 : i*r.Stride+r.Cols])
	}
	return nil
}

// cholesky factors the lower triangle of the n×n matrix a; row is the index of
// its first row in the whole, for the error.
func cholesky(ctx context.Context, n, row int, a []float64, lda int) error {
	if n <= 32 {
		for j := range n {
			rj := a[j*lda:][:j+1]
			d := rj[j]
			for _, v := range rj[:j] {
				d -= v * v
			}
			if !(d > 0) || math.IsInf(d, 1) {
				return &NotPositiveError{row + j, d}
			}
			rj[j] = math.Sqrt(d)
			for i := j + 1; i < n; i++ {
				ri := a[i*lda:][:j+1]
				s := ri[j]
				for p, v := range rj[:j] {
					s -= v * ri[p]
				}
				ri[j] = s / rj[j]
			}
		}

		return nil
	}

	// Factor the leading half, divide the rows below by it, and subtract their products from the
	// rest.
	h := half(n)
	if err := cholesky(ctx, h, row, a, lda); err != nil {
		return err
	}
	low := a[h*lda:]
	rest := a[h*lda+h:]
	divideRight(ctx, n-h, h, low, lda, a, lda)
	p := product[float64]{
		ctx: ctx, tile: simd.Gemm64(), m: n - h, n: n - h, k: h, lower: true,
		a: operand[float64]{low, lda, false}, b: operand[float64]{low, lda, false},
		alpha: -1, beta: 1, c: rest, ldc: lda,
	}

	p.run()
	return cholesky(ctx, n-h, row+h, rest, lda)
}
