package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// Dim returns the number n of points: as an operator a Side is its Gram matrix.
func (s *Side) Dim() int { return s.n }

// MulTo sets dst = K·a for the Gram matrix K of the points and n×b blocks that
// must not overlap. It never holds K: see [Side.ProductTo] for the cost.
func (s *Side) MulTo(dst, a *mat.Dense) {
	if err := s.ProductTo(dst, s.z, 0, s.n, a); err != nil {
		panic(err) // points fit themselves
	}
}

// ProductTo sets row i−lo of dst to Σ_j k(x_i, z_j)·a_j for the rows lo ≤ i < hi of x. dst is
// (hi−lo)×b, a is n×b, and they must not overlap. ProductTo holds 256·n values and costs 2(d+b)
// operations for each of (hi−lo)·n pairs. The bits of a row of dst depend on x_i alone.
func (s *Side) ProductTo(dst *mat.Dense, x data.Points, lo, hi int, a *mat.Dense) error {
	if m, _ := dst.Dims(); m != hi-lo && lo != hi {
		panic(mat.ErrShape)
	}
	if lo == hi {
		return s.check(x)
	}
	return s.productTo(context.Background(), dst, x, lo, a)
}

// productTo is ProductTo for the rows of x from lo on, as many as dst has. When ctx is cancelled, the
// rest of dst is set to zero.
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

// productTo sets dst to K·a for a count×n matrix K of kernel values, tile by tile: fill writes the
// rows i, i+1, … of K to its matrix. When ctx is cancelled, the rest of dst is set to zero.
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
			// The terms of a sum are added in pieces of depth, so that their order never changes.
			beta := 1.0
			if p == 0 {
				beta = 0
			}
			dense.Gemm64(dense.NoTrans, dense.NoTrans, m, b, min(depth, n-p), 1,
				tile.RawMatrix().Data[p:], n, r.Data[p*r.Stride:], r.Stride, beta, out.Data, out.Stride)
		}
	}

	return nil
}

// Operator is a kernel with products that can be interrupted, as they take long.
type Operator interface {
	sparse.Operator
	// Until returns the operator for products until ctx is cancelled. A product that is
	// interrupted sets the rows that it has not computed to zero.
	Until(ctx context.Context) sparse.Operator
}

var _, _ Operator = (*Side)(nil), (*Nystrom)(nil)

// interruptible is a kernel with products that end when ctx is cancelled.
type interruptible interface {
	sparse.Operator
	mulUntil(ctx context.Context, dst, v *mat.Dense)
}

// until is an operator that stops when ctx is cancelled.
type until struct {
	interruptible
	ctx context.Context
}

// MulTo sets dst to the product with v; rows that a cancelled ctx leaves out are zero.
func (o until) MulTo(dst, v *mat.Dense) { o.mulUntil(o.ctx, dst, v) }

// Until implements [Operator].
func (s *Side) Until(ctx context.Context) sparse.Operator { return until{s, ctx} }

func (s *Side) mulUntil(ctx context.Context, dst, v *mat.Dense) {
	if err := s.productTo(ctx, dst, s.z, 0, v); err != nil {
		panic(err) // points fit themselves
	}
}
