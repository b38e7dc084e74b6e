package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/par"
)

// Representer solves (γI + BK)α = g for a kernel matrix K of n points: equation (8)
// of Belkin, Niyogi & Sindhwani (2006), of least squares in the space of a kernel.
//
// An LU factorization of γI + BK loses as many digits as ‖B‖‖K‖/γ has. With a square
// root of K = RRᵀ and α = R⁻ᵀw the equation is
//
//	(γI + RᵀBR)w = Rᵀg,
//
// symmetric, and how small γ is matters no more. The solution is corrected once
// by its residual, for which B is applied as an operator that keeps the null vectors of
// a Laplacian. It takes n³ operations where K is positive definite, and up to 3n³ with R
// of a lower rank where K is singular in rounding; α is zero then for points
// whose rows of K depend on those of others.
type Representer struct {
	gram   *mat.Dense
	norm   *PointNorm
	ridge  float64
	root   *mat.Dense // R, n×r with rows in the given order, lower triangular
	order  []int      // nil for that of the points
	factor *mat.Dense // L with LLᵀ = γI + RᵀBR
	tell   func(part float64, note string)
}

// NewRepresenter factors for a positive γ. gram is shared. It holds 2n² more values,
// and 1024n meanwhile. tell is told how far it is, as a part of 1.
func NewRepresenter(ctx context.Context, gram *mat.Dense, b *PointNorm, gamma float64, tell func(part float64, note string)) (*Representer, error) {
	s := &Representer{gram: gram, norm: b, ridge: gamma, tell: tell}
	tell(0, "square root of the Gram matrix")
	if err := s.factorGram(ctx); err != nil {
		return nil, err
	}
	a, err := s.system(ctx)
	if err != nil {
		return nil, err
	}
	tell(2./3, "factorization")
	if err := dense.Cholesky(ctx, a); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		return nil, fmt.Errorf("solvers: γ = %g is too small beside the norm of the points, or the kernel is not positive semidefinite: %w", gamma, err)
	}
	s.factor = a
	return s, nil
}

// factorGram sets the root: by Cholesky factorization or, where that breaks down, by
// one with pivots that leaves out what is zero in rounding.
func (s *Representer) factorGram(ctx context.Context) error {
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
	s.order = append(append([]int{}, y.Pivots...), data.Without(n, slices.Sorted(slices.Values(y.Pivots)))...)
	s.root = dense.Gather(dense.New(n, len(y.Pivots)), y.Factor, s.order)
	return nil
}

// system returns the lower triangle of γI + RᵀBR, made by stripes of columns.
func (s *Representer) system(ctx context.Context) (*mat.Dense, error) {
	const stripe, block = 512, 128
	n, r := s.root.Dims()
	a := dense.New(r, r)
	for lo := 0; lo < r; lo += stripe {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.tell((1+float64(lo)/float64(r))/3, "system")
		hi := min(lo+stripe, r)
		x, y := dense.New(n, hi-lo), dense.New(n, hi-lo)
		s.scatter(x, s.root.Slice(0, n, lo, hi).(*mat.Dense))
		s.norm.MulTo(y, x)
		s.gather(x, y)
		for i := lo; i < r; i += block { // R is zero above row i, and what is above the diagonal is not needed
			end := min(i+block, r)
			width := min(hi, end) - lo
			dense.Gemm(dense.Transposed, dense.NoTrans, 1, s.root.Slice(i, n, i, end).(*mat.Dense), x.Slice(i, n, 0, width).(*mat.Dense), 0, a.Slice(i, end, lo, lo+width).(*mat.Dense))
		}
	}
	for i := range r {
		a.Set(i, i, a.At(i, i)+s.ridge)
	}
	return a, nil
}

// at returns the point of row i of the root.
func (s *Representer) at(i int) int {
	if s.order == nil {
		return i
	}
	return s.order[i]
}

// scatter copies rows in the order of the root to those of the points.
func (s *Representer) scatter(dst, src *mat.Dense) {
	rows, _ := src.Dims()
	for i := range rows {
		copy(dst.RawRowView(s.at(i)), src.RawRowView(i))
	}
}

// gather is the inverse of scatter.
func (s *Representer) gather(dst, src *mat.Dense) {
	rows, _ := dst.Dims()
	for i := range rows {
		copy(dst.RawRowView(i), src.RawRowView(s.at(i)))
	}
}

// Represented is a solution of a [Representer].
type Represented struct {
	Alpha      *mat.Dense // n×c
	Intercepts []float64  // zeros unless the norm is centred
	// Residual is ‖K(g − γα − BKα)‖/‖Kg‖, recomputed: K times the equation is what a
	// minimum asks, and all that is left of it where K is singular.
	Residual float64
}

// Fit solves for g = Ey/l with targets y of the labeled points, l×c: f = Kα has the
// least 1/l Σ(f(x_i) − y_i)² + γ‖f‖² + the rest of B. With a centred norm that
// is f plus its intercept, the mean of y − f. It costs 18n²c operations.
func (s *Representer) Fit(ctx context.Context, y *mat.Dense) (*Represented, error) {
	n, _ := s.gram.Dims()
	l, c := y.Dims()
	out := &Represented{Alpha: mat.NewDense(n, c, nil), Intercepts: make([]float64, c)}
	if s.norm.Centred {
		out.Intercepts = dense.ColumnMeans(y)
	}
	g, f, step := mat.NewDense(n, c, nil), mat.NewDense(n, c, nil), mat.NewDense(n, c, nil)
	for q, i := range s.norm.Labeled {
		for j, v := range y.RawRowView(q) {
			g.Set(i, j, (v-out.Intercepts[j])/float64(l))
		}
	}
	e := mat.DenseCopyOf(g)
	for range 2 {
		s.approximate(ctx, step, e)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out.Alpha.Add(out.Alpha, step)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, s.gram, out.Alpha, 0, f)
		s.norm.MulTo(e, f)
		dense.AddScaled(e, 1, s.ridge, out.Alpha)
		e.Sub(g, e)
	}
	both, products := mat.NewDense(n, 2*c, nil), mat.NewDense(n, 2*c, nil)
	both.Augment(e, g)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, s.gram, both, 0, products)
	out.Residual = mat.Norm(products.Slice(0, n, 0, c), 2)
	if size := mat.Norm(products.Slice(0, n, c, 2*c), 2); size > 0 {
		out.Residual /= size
	}
	if math.IsNaN(out.Residual) || math.IsInf(out.Residual, 0) {
		return nil, fmt.Errorf("solvers: the solution of (γI + BK)α = g for γ = %g is not finite", s.ridge)
	}
	if s.norm.Centred {
		for j, v := range s.norm.mean(f) {
			out.Intercepts[j] -= v
		}
	}
	return out, nil
}

// approximate sets dst to the solution for e from the factors.
func (s *Representer) approximate(ctx context.Context, dst, e *mat.Dense) {
	n, c := e.Dims()
	_, r := s.root.Dims()
	ordered, w := mat.NewDense(n, c, nil), mat.NewDense(r, c, nil)
	s.gather(ordered, e)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, s.root, ordered, 0, w)
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

// gramColumns are the columns of a matrix in memory.
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
