package solvers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// rooted is the inverse of γI + BK by a square root of K = RRᵀ: with α = R⁻ᵀw the equation of a
// [Representer] is
//
//	(γI + RᵀBR)w = Rᵀg,
//
// which is symmetric, so that a small γ does no harm. It takes n³ operations where K is positive
// definite, and up to 3n³ with R of a lower rank where K is singular in rounding. α is zero then
// for points with rows of K that depend on other rows.
type rooted struct {
	*Representer
	root   *mat.Dense // R, n×r with rows in the given order, lower triangular
	order  []int      // the point of each row of R; nil if they are in their own order
	factor *mat.Dense // L with LLᵀ = γI + RᵀBR
}

// newRooted factors K, and then γI + RᵀBR.
func newRooted(ctx context.Context, of *Representer) (*rooted, error) {
	s := &rooted{Representer: of}
	s.tell(0, "square root of the Gram matrix")
	if err := s.factorGram(ctx); err != nil {
		return nil, err
	}
	a, err := s.system(ctx)
	if err != nil {
		return nil, err
	}

	s.tell(2./3, "factorization")
	if err := dense.Cholesky(ctx, a); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		return nil, fmt.Errorf("solvers: γ = %g is too small beside the norm of the points, or the "+
			"kernel is not positive semidefinite: %w", s.ridge, err)
	}

	s.factor = a
	return s, nil
}

// factorGram sets the root: by Cholesky factorization or, where that breaks down, by a
// factorization with pivots that leaves out directions that are zero in rounding.
func (s *rooted) factorGram(ctx context.Context) error {
	n, _ := s.gram.Dims()
	s.root = dense.New(n, n)
	s.root.Copy(s.gram)
	err := dense.Cholesky(ctx, s.root)
	var notPositive *dense.NotPositiveError
	if !errors.As(err, &notPositive) {
		return err
	}
	s.root = nil // to be collected
	y, err := NewNystrom(ctx, gramColumns{s.gram}, &NystromSettings{Rank: n})
	if err != nil {
		return err
	}
	if len(y.Pivots) == 0 {
		return errors.New("solvers: the kernel is zero at all points")
	}

	// Pivots first makes the root lower triangular.
	s.order = append(append([]int{}, y.Pivots...), data.Without(n, slices.Sorted(slices.Values(y.Pivots)))...)
	s.root = dense.Gather(dense.New(n, len(y.Pivots)), y.Factor, s.order)
	return nil
}

// system returns the lower triangle of γI + RᵀBR, made by stripes of columns.
func (s *rooted) system(ctx context.Context) (*mat.Dense, error) {
	// A stripe of 256 columns bounds the memory beside the matrix, and blocks of 128 rows still
	// multiply at full speed.
	const stripe, block = 256, 128
	n, r := s.root.Dims()
	a := dense.New(r, r)
	for lo := 0; lo < r; lo += stripe {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.tell((1+float64(lo)/float64(r))/3, "system")
		hi := min(lo+stripe, r)
		x := dense.New(n, hi-lo)
		y := dense.New(n, hi-lo)
		s.scatter(x, s.root.Slice(0, n, lo, hi).(*mat.Dense))
		s.norm.MulTo(y, x)
		s.gather(x, y)

		// R is zero above row i, and the part above the diagonal is not needed.
		for i := lo; i < r; i += block {
			end := min(i+block, r)
			width := min(hi, end) - lo
			dense.Gemm(dense.Transposed, dense.NoTrans, 1, s.root.Slice(i, n, i, end).(*mat.Dense),
				x.Slice(i, n, 0, width).(*mat.Dense), 0, a.Slice(i, end, lo, lo+width).(*mat.Dense))
		}
	}

	for i := range r {
		a.Set(i, i, a.At(i, i)+s.ridge)
	}
	return a, nil
}

// at returns the point of row i of the root.
func (s *rooted) at(i int) int {
	if s.order == nil {
		return i
	}
	return s.order[i]
}

// scatter copies rows in the order of the root to rows in the order of the points.
func (s *rooted) scatter(dst, src *mat.Dense) {
	rows, _ := src.Dims()
	for i := range rows {
		copy(dst.RawRowView(s.at(i)), src.RawRowView(i))
	}
}

// gather is the inverse of scatter.
func (s *rooted) gather(dst, src *mat.Dense) {
	rows, _ := dst.Dims()
	for i := range rows {
		copy(dst.RawRowView(i), src.RawRowView(s.at(i)))
	}
}

// to sets dst to the solution for e.
func (s *rooted) to(ctx context.Context, dst, e *mat.Dense) {
	n, c := e.Dims()
	_, r := s.root.Dims()
	ordered := mat.NewDense(n, c, nil)
	w := mat.NewDense(r, c, nil)
	s.gather(ordered, e)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, s.root, ordered, 0, w)
	// w = (LLᵀ)⁻¹Rᵀe, then α = R⁻ᵀw, which is zero beyond the rank.
	divide(ctx, s.factor, w, true)
	divide(ctx, s.root.Slice(0, r, 0, r).(*mat.Dense), w, false)
	dst.Zero()
	s.scatter(dst, w)
}

// divide sets w to L⁻ᵀw, or with both to L⁻ᵀL⁻¹w, column by column in two passes
// over the rows of L: for few columns that is much faster than blocks.
func divide(ctx context.Context, l, w *mat.Dense, both bool) {
	r, c := w.Dims()
	par.Until(ctx, c, 1, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			x := mat.Col(nil, j, w)
			for i := 0; i < r && both; i++ {
				row := l.RawRowView(i)
				x[i] = (x[i] - floats.Dot(row[:i], x[:i])) / row[i]
			}
			for i := r - 1; i >= 0; i-- {
				row := l.RawRowView(i)
				x[i] /= row[i]
				floats.AddScaled(x[:i], -x[i], row[:i])
			}
			w.SetCol(j, x)
		}
	})
}

// gramColumns gives the columns of a matrix in memory to [NewNystrom].
type gramColumns struct{ gram *mat.Dense }

func (a gramColumns) Dim() int { n, _ := a.gram.Dims(); return n }

func (a gramColumns) DiagonalTo(dst []float64) {
	for i := range dst {
		dst[i] = a.gram.At(i, i)
	}
}

func (a gramColumns) ColumnsTo(dst *mat.Dense, columns []int) {
	for p, j := range columns {
		dst.SetCol(p, a.gram.RawRowView(j))
	}
}
