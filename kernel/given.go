package kernel

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// Given is a set of n points for which only the kernel values are given. It is immutable
// and safe for concurrent use.
type Given struct {
	values data.Points
	n      int
}

// NewGiven returns the set with the given Gram matrix, n×n and dense. The matrix is kept and must
// not change.
func NewGiven(values data.Points) (*Given, error) {
	n, _ := values.Dims()
	return &Given{values, n}, checkGiven(values)
}

// Dim returns the number n of points.
func (g *Given) Dim() int { return g.n }

// rows copies rows lo, lo+1, … of the values x to dst, as many as dst has.
func rows(dst *mat.Dense, x data.Points, lo int) {
	count, _ := dst.Dims()
	par.For(count, 64, func(a, b int) {
		for i := a; i < b; i++ {
			data.RowTo(dst.RawRowView(i), x, lo+i)
		}
	})
}

// Gram returns the matrix. It is an error if the matrix is not symmetric up to the rounding of
// float32 values.
func (g *Given) Gram(ctx context.Context) (*mat.Dense, error) {
	out := dense.New(g.n, g.n)
	rows(out, g.values, 0)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, symmetrize(out)
}

// symmetrize makes g exactly symmetric, or returns an error if it is not symmetric up to the rounding
// of float32 values.
func symmetrize(g *mat.Dense) error {
	n, _ := g.Dims()
	var top float64

	// The bound is relative to the largest entry: float32 has 2⁻²⁴ of it, and 10⁻⁶ leaves room for
	// a few roundings.
	for i := range n {
		for _, v := range g.RawRowView(i) {
			top = max(top, v, -v)
		}
	}

	for i := range n {
		for j := range i {
			a := g.At(i, j)
			b := g.At(j, i)
			if !(max(a-b, b-a) <= 1e-6*top) {
				return fmt.Errorf("kernel: the precomputed Gram matrix is not symmetric: "+
					"entry (%d, %d) is %v, entry (%d, %d) is %v", i, j, a, j, i, b)
			}
			g.Set(i, j, a/2+b/2)
			g.Set(j, i, a/2+b/2)
		}
	}

	return nil
}

// ProductTo implements [Set], where a row of x holds the n values of a point. It holds 256·n
// values.
func (g *Given) ProductTo(dst *mat.Dense, x data.Points, lo, hi int, a *mat.Dense) error {
	if _, d := x.Dims(); d != g.n {
		return fmt.Errorf("kernel: %d kernel values a point, but there are %d training points", d, g.n)
	}
	if lo == hi {
		return nil
	}
	fill := func(k *mat.Dense, i int) { rows(k, x, lo+i) }
	return productTo(context.Background(), dst, hi-lo, g.n, a, fill)
}

// MulTo sets dst to the product of the matrix with a, n×b blocks that must not
// overlap.
func (g *Given) MulTo(dst, a *mat.Dense) { g.mulUntil(context.Background(), dst, a) }

func (g *Given) mulUntil(ctx context.Context, dst, a *mat.Dense) {
	fill := func(k *mat.Dense, i int) { rows(k, g.values, i) }
	if err := productTo(ctx, dst, g.n, g.n, a, fill); err != nil {
		panic(err) // only a shape can be wrong
	}
}

// Until implements [Operator].
func (g *Given) Until(ctx context.Context) sparse.Operator { return until{g, ctx} }

// DiagonalTo sets dst[j] = k(z_j, z_j).
func (g *Given) DiagonalTo(dst []float64) {
	row := make([]float64, g.n)
	for j := range dst {
		data.RowTo(row, g.values, j)
		dst[j] = row[j]
	}
}

// RowTo sets dst[j] = k(z_i, z_j).
func (g *Given) RowTo(dst []float64, i int) { data.RowTo(dst, g.values, i) }

// ColumnsTo sets dst to the columns j of the matrix.
func (g *Given) ColumnsTo(dst *mat.Dense, j []int) {
	par.For(g.n, 64, func(lo, hi int) {
		row := make([]float64, g.n)
		for i := lo; i < hi; i++ {
			data.RowTo(row, g.values, i)
			to := dst.RawRowView(i)
			for p, c := range j {
				to[p] = row[c]
			}
		}
	})
}
