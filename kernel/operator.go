package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

var _ sparse.Operator = (*Side)(nil)

// Dim returns the number n of points: as an operator a Side is its Gram matrix.
func (s *Side) Dim() int { return s.n }

// MulTo sets dst = K·a for the Gram matrix K of the points and n×b blocks that
// must not overlap. It never holds K: see [Side.ProductTo] for the cost.
func (s *Side) MulTo(dst, a *mat.Dense) {
	if err := s.ProductTo(dst, s.z, 0, s.n, a); err != nil {
		panic(err) // points fit themselves
	}
}

// ProductTo sets row i−lo of dst to Σ_j k(x_i, z_j)·a_j for the rows lo ≤ i < hi
// of x: dst is (hi−lo)×b, a is n×b, and they must not overlap. It holds 256·n
// values and costs 2(d+b) operations for each of (hi−lo)·n pairs. The bits of a
// row of dst depend on x_i alone.
func (s *Side) ProductTo(dst *mat.Dense, x data.Points, lo, hi int, a *mat.Dense) error {
	if m, _ := dst.Dims(); m != hi-lo && lo != hi {
		panic(mat.ErrShape)
	}
	if lo == hi {
		return s.check(x)
	}
	return s.productTo(context.Background(), dst, x, lo, a)
}

// productTo is ProductTo for as many rows as dst has, until ctx is cancelled: then
// the rest of dst is zero.
func (s *Side) productTo(ctx context.Context, dst *mat.Dense, x data.Points, lo int, a *mat.Dense) error {
	if err := s.check(x); err != nil {
		return err
	}
	count, _ := dst.Dims()
	return productTo(ctx, dst, count, s.n, a, func(k *mat.Dense, i int) {
		rows, _ := k.Dims()
		s.block(k, x, lo+i, lo+i+rows, s.n)
	})
}

// productTo sets the count rows of dst to those of a kernel with n points times a,
// tile by tile: fill writes the values of rows i, i+1, …, as many as its matrix has.
// When ctx is cancelled, the rest of dst is zero.
func productTo(ctx context.Context, dst *mat.Dense, count, n int, a *mat.Dense,
	fill func(k *mat.Dense, i int)) error {
	have, c := dst.Dims()
	rows, b := a.Dims()
	if have != count || c != b || rows != n {
		panic(mat.ErrShape)
	}
	tile := mat.NewDense(min(tileRows, count), n, nil)
	r := a.RawMatrix()
	for i := 0; i < count; i += tileRows {
		if ctx.Err() != nil {
			dst.Slice(i, count, 0, b).(*mat.Dense).Zero()
			break
		}
		m := min(tileRows, count-i)
		fill(tile.Slice(0, m, 0, n).(*mat.Dense), i)
		out := dst.Slice(i, i+m, 0, b).(*mat.Dense).RawMatrix()
		for p := 0; p < n; p += depth {
			beta := 1.0
			if p == 0 {
				beta = 0
			}
			dense.Gemm64(dense.NoTrans, dense.NoTrans, m, b, min(depth, n-p), 1, tile.RawMatrix().Data[p:], n,
				r.Data[p*r.Stride:], r.Stride, beta, out.Data, out.Stride)
		}
	}

	return nil
}
