package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/par"
)

// SylvesterResult is a solution of [Sylvester] or [Stein].
type SylvesterResult struct {
	X *mat.Dense // N×n
	// Residual is ‖C − AX − XB‖/‖C‖, or ‖C − AXB + X‖/‖C‖, in Frobenius norms,
	// recomputed from the definition; 0 for C = 0.
	Residual float64
	// Separation is the smallest pivot over all shifted systems, relative to the
	// norm of its matrix: about the distance to the nearest singular equation.
	Separation float64
}

// SylvesterError says that an equation has no unique solution to working
// precision: αA + βI is singular for (α, β) = (1, θ) of [Sylvester] or (θ, −1) of
// [Stein], θ an eigenvalue of the symmetric one of the matrices.
type SylvesterError struct {
	Eigenvalue float64 // θ
	Pivot      float64 // what the system for θ would have to be divided by
	Norm       float64 // of that system's matrix
}

func (e *SylvesterError) Error() string {
	return fmt.Sprintf("solvers: the Sylvester equation is singular to working precision: for the eigenvalue %g the pivot is %g in a matrix of norm %g", e.Eigenvalue, e.Pivot, e.Norm)
}

// ErrSylvesterResidual means that the solution of a nearly singular equation does
// not satisfy it; the result comes with it.
var ErrSylvesterResidual = errors.New("solvers: the solution of the Sylvester equation is inaccurate")

// Sylvester solves
//
//	AX + XB = C
//
// for A of N×N, B of n×n and C of N×n, of which none is modified. A or B must be
// symmetric, exactly.
//
// Say B = UΘUᵀ is. The columns of XU are solutions of (A + θI)x = CUe. If A is
// symmetric too, one eigendecomposition each makes that a division: 5N³ + 5n³ +
// 4N²n + 4Nn² operations. If not, one reduction A = QHQᵀ to Hessenberg form,
// 10N³/3 operations, serves all θ, and each costs 4N² operations: R of H + θI =
// RG is used as it comes, G a product of rotations, and never held (Henry, The
// shifted Hessenberg system solve computation, Cornell 1994). With Golub, Nash &
// Van Loan (1979) that is the Hessenberg–Schur method for a symmetric B. Memory:
// three N×N matrices.
//
// An equation that is singular to working precision gives a [*SylvesterError];
// a residual above 1e-6, [ErrSylvesterResidual] and the result.
func Sylvester(ctx context.Context, a, b, c *mat.Dense) (*SylvesterResult, error) {
	return sylvester(ctx, a, b, c, func(theta float64) (float64, float64) { return 1, theta }, func(e, ax, x *mat.Dense) {
		e.Sub(e, ax)
		dense.Gemm(dense.NoTrans, dense.NoTrans, -1, x, b, 1, e)
	})
}

// Stein solves
//
//	AXB − X = C,
//
// the discrete Sylvester equation; all else is as in [Sylvester].
func Stein(ctx context.Context, a, b, c *mat.Dense) (*SylvesterResult, error) {
	return sylvester(ctx, a, b, c, func(theta float64) (float64, float64) { return theta, -1 }, func(e, ax, x *mat.Dense) {
		e.Add(e, x)
		dense.Gemm(dense.NoTrans, dense.NoTrans, -1, ax, b, 1, e)
	})
}

// sylvester solves (αA + βI)x = Ce for the eigenpairs (θ, e) of B with α and β
// from shift. subtract takes from e what the equation makes of X and AX.
func sylvester(ctx context.Context, a, b, c *mat.Dense, shift func(theta float64) (alpha, beta float64), subtract func(e, ax, x *mat.Dense)) (*SylvesterResult, error) {
	rows, cols := c.Dims()
	p, q := a.Dims()
	r, s := b.Dims()
	if p != q || r != s || p != rows || r != cols {
		return nil, fmt.Errorf("solvers: a Sylvester equation of A %d×%d, B %d×%d and C %d×%d", p, q, r, s, rows, cols)
	}
	for k, m := range []*mat.Dense{a, b, c} {
		n, _ := m.Dims()
		for i := range n {
			for j, v := range m.RawRowView(i) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return nil, fmt.Errorf("solvers: row %d, column %d of %c of a Sylvester equation is %v", i, j, "ABC"[k], v)
				}
			}
		}
	}
	out := &SylvesterResult{Separation: math.Inf(1)}
	var err error
	switch {
	case symmetric(b):
		out.X, err = out.shifted(ctx, a, b, c, shift)
	case symmetric(a):
		if out.X, err = out.shifted(ctx, mat.DenseCopyOf(b.T()), a, mat.DenseCopyOf(c.T()), shift); err == nil {
			out.X = mat.DenseCopyOf(out.X.T())
		}
	default:
		return nil, errors.New("solvers: neither A nor B of a Sylvester equation is symmetric; one must be, exactly")
	}
	if err != nil {
		return nil, err
	}
	e, ax := mat.DenseCopyOf(c), mat.NewDense(rows, cols, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, a, out.X, 0, ax)
	subtract(e, ax, out.X)
	if size := mat.Norm(c, 2); size > 0 {
		out.Residual = mat.Norm(e, 2) / size
	}
	if !(out.Residual <= 1e-6) {
		return out, fmt.Errorf("%w: its residual is %.1e, the smallest relative pivot %.1e", ErrSylvesterResidual, out.Residual, out.Separation)
	}
	return out, nil
}

// symmetric tells whether a is, exactly.
func symmetric(a *mat.Dense) bool {
	n, _ := a.Dims()
	for i := range n {
		for j, v := range a.RawRowView(i)[:i] {
			if v != a.At(j, i) {
				return false
			}
		}
	}
	return true
}

// shifted solves for a symmetric B.
func (out *SylvesterResult) shifted(ctx context.Context, a, b, c *mat.Dense, shift func(theta float64) (alpha, beta float64)) (*mat.Dense, error) {
	rows, cols := c.Dims()
	theta, u, err := dense.EigenSym(b)
	if err != nil {
		return nil, fmt.Errorf("solvers: eigenvectors of a symmetric matrix: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x, cu := mat.NewDense(rows, cols, nil), mat.NewDense(rows, cols, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, c, u, 0, cu)
	if symmetric(a) {
		err = out.diagonal(a, theta, cu, shift)
	} else {
		err = out.hessenberg(ctx, a, theta, cu, shift)
	}
	if err == nil {
		dense.Gemm(dense.NoTrans, dense.Transposed, 1, cu, u, 0, x)
	}
	return x, err
}

// pivot records v, a pivot of the system of norm size for θ, or returns an error.
func (out *SylvesterResult) pivot(theta, v, size float64, n int) error {
	out.Separation = math.Min(out.Separation, math.Abs(v)/size)
	if !(math.Abs(v) > float64(n)*0x1p-53*size) {
		return &SylvesterError{theta, v, size}
	}
	return nil
}

// diagonal overwrites the columns of c by solutions, for a symmetric A.
func (out *SylvesterResult) diagonal(a *mat.Dense, theta []float64, c *mat.Dense, shift func(theta float64) (alpha, beta float64)) error {
	lambda, v, err := dense.EigenSym(a)
	if err != nil {
		return fmt.Errorf("solvers: eigenvectors of a symmetric matrix: %w", err)
	}
	y := mat.NewDense(len(lambda), len(theta), nil)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, v, c, 0, y)
	norm := max(math.Abs(lambda[0]), math.Abs(lambda[len(lambda)-1]))
	for j, t := range theta {
		alpha, beta := shift(t)
		for i, l := range lambda {
			d := alpha*l + beta
			if err := out.pivot(t, d, math.Abs(alpha)*norm+math.Abs(beta), len(lambda)); err != nil {
				return err
			}
			y.Set(i, j, y.At(i, j)/d)
		}
	}
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, v, y, 0, c)
	return nil
}

// shifts is the number of systems that read the Hessenberg matrix together.
const shifts = 4

// hessenberg overwrites the columns of c by solutions.
func (out *SylvesterResult) hessenberg(ctx context.Context, a *mat.Dense, theta []float64, c *mat.Dense, shift func(theta float64) (alpha, beta float64)) error {
	n, cols := c.Dims()
	h := mat.DenseCopyOf(a)
	q := hessenberg(h)
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, part := range q {
		part.applyTo(c, 0, dense.Transposed)
	}
	columns := make([]float64, n*n) // of H, one after the other
	mat.NewDense(n, n, columns).Copy(h.T())
	norm := 0.0 // largest sum of a column
	for j := range n {
		var sum float64
		for _, v := range columns[j*n : (j+1)*n] {
			sum += math.Abs(v)
		}
		norm = math.Max(norm, sum)
	}
	systems := make([]*shiftedHessenberg, cols)
	for j, t := range theta {
		s := &shiftedHessenberg{rhs: mat.Col(nil, j, c)}
		s.alpha, s.beta = shift(t)
		systems[j] = s
	}
	par.For(cols, shifts, func(lo, hi int) { solveHessenberg(columns, systems[lo:hi]) })
	for j, s := range systems {
		for _, v := range s.pivots {
			if err := out.pivot(theta[j], v, math.Abs(s.alpha)*norm+math.Abs(s.beta), n); err != nil {
				return err
			}
		}
		for i, v := range s.rhs {
			c.Set(i, j, v)
		}
	}
	for _, part := range slices.Backward(q) {
		part.applyTo(c, 0, dense.NoTrans)
	}
	return nil
}

// shiftedHessenberg is the system (αH + βI)x = rhs.
type shiftedHessenberg struct {
	alpha, beta float64
	rhs         []float64    // becomes x
	pivots      []float64    // the diagonal of R
	turns       [][2]float64 // cosine and sine of the rotation of columns k−1 and k
	column      []float64    // k of (αH + βI)·G_{n−1}⋯G_{k+1}
}

// solveHessenberg solves systems with the same H of n×n, given by columns. Column
// k of R is made by rotating columns k−1 and k so that the element of row k in the
// first is zero; row k of the solution of Ry = rhs is then known, and its share
// subtracted, before the next column. A zero pivot gives Inf.
func solveHessenberg(columns []float64, systems []*shiftedHessenberg) {
	n := len(systems[0].rhs)
	for _, s := range systems {
		s.pivots, s.turns, s.column = make([]float64, n), make([][2]float64, n), make([]float64, n)
		for i, v := range columns[(n-1)*n:] {
			s.column[i] = s.alpha * v
		}
		s.column[n-1] += s.beta
	}
	for k := n - 1; k > 0; k-- {
		next := columns[(k-1)*n:][:k+1]
		for _, s := range systems {
			column, rhs, alpha := s.column[:k], s.rhs[:k], s.alpha
			below, diagonal := alpha*next[k], s.column[k]
			r := math.Hypot(below, diagonal)
			cos, sin := 1.0, 0.0
			if r > 0 {
				cos, sin = diagonal/r, below/r
			}
			s.turns[k], s.pivots[k] = [2]float64{cos, sin}, r
			s.rhs[k] /= r
			y := s.rhs[k]
			last := column[k-1]
			for i, v := range next[:k] { // R's column is cos·column + sin·next
				v *= alpha
				w := column[i]
				rhs[i] -= y * (cos*w + sin*v)
				column[i] = cos*v - sin*w
			}
			rhs[k-1] -= y * sin * s.beta
			column[k-1] = cos*(alpha*next[k-1]+s.beta) - sin*last
		}
	}
	for _, s := range systems {
		s.pivots[0] = s.column[0]
		s.rhs[0] /= s.column[0]
		for k := 1; k < n; k++ { // x = G_{n−1}⋯G_1·y
			cos, sin := s.turns[k][0], s.turns[k][1]
			a, b := s.rhs[k-1], s.rhs[k]
			s.rhs[k-1], s.rhs[k] = cos*a+sin*b, cos*b-sin*a
		}
	}
}
