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
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// LabelGram is a kernel matrix H among l points, on which machines are fitted, in the form
//
//	Z = (H⁻¹ + τI)⁻¹.
//
// The entries of Z are at most 1/τ. H may have very large entries: where γ_A is next to nothing,
// functions that vary slowly along a graph have a norm fᵀH⁻¹f next to nothing beside their loss.
// Smaller entries of H are then lost in rounding, but entries of Z are not. A machine on H with
// coefficients β has f = Hβ = Zg with g = β + τf. With τ = 0 it is H itself.
type LabelGram struct {
	Z     *mat.Dense
	Shift float64 // τ
}

var errLostGram = errors.New("solvers: the warped kernel is lost in rounding: γ_A is next to nothing " +
	"beside γ_I; raise it, or lower the power of the Laplacian")

// Values returns H, which is Z if τ = 0. H too large beside its smaller parts is an error.
func (k LabelGram) Values(ctx context.Context) (*mat.Dense, error) {
	if k.Shift == 0 {
		return k.Z, nil
	}
	l, _ := k.Z.Dims()
	x, least, err := k.unshift(ctx, data.Range(0, l), data.Range(0, l))
	if err != nil {
		return nil, err
	}

	// H = Z(I/τ − Z)⁻¹/τ. Z has some 12 digits, and a pivot of 1e-8 leaves four of them.
	dense.Multiply(x, 1/k.Shift)
	if e := dense.Symmetrize(x); !(e <= 1e-4 && least >= 1e-8) {
		return nil, errLostGram
	}
	return x, nil
}

// unshift returns (I/τ − Z_rr)⁻¹Z_rc for points r and c, and the least pivot of I − τZ_rr.
func (k LabelGram) unshift(ctx context.Context, r, c []int) (x *mat.Dense, least float64, err error) {
	a := dense.Part(k.Z, r, r)
	a.Scale(-1, a)
	for i := range r {
		a.Set(i, i, a.At(i, i)+1/k.Shift)
	}
	if err := dense.Cholesky(ctx, a); ctx.Err() != nil {
		return nil, 0, ctx.Err()
	} else if err != nil {
		return nil, 0, errLostGram
	}

	// A small pivot tells how many digits the difference has lost.
	least = 1
	for i := range r {
		least = min(least, k.Shift*a.At(i, i)*a.At(i, i))
	}
	x = dense.Part(k.Z, r, c)
	dense.SolveLower(dense.NoTrans, a, x)
	dense.SolveLower(dense.Transposed, a, x)
	return x, least, nil
}

// Among returns the kernel among the points kept, ascending, without the others. It also returns
// the matrix that computes f at the points asked, some of the others, from g of the points kept;
// nil if there are no others. It costs a Cholesky factorization in the number of others, or nothing
// if τ = 0.
func (k LabelGram) Among(ctx context.Context, kept, asked []int) (LabelGram, *mat.Dense, error) {
	l, _ := k.Z.Dims()
	if len(kept) == l {
		return k, nil, nil
	}
	among := dense.Part(k.Z, kept, kept)
	across := dense.Part(k.Z, asked, kept)
	if k.Shift == 0 {
		return LabelGram{Z: among}, across, nil
	}

	// β is 0 at the rest, so g is τf there.
	rest := data.Without(l, kept)
	x, _, err := k.unshift(ctx, rest, kept)
	if err != nil {
		return LabelGram{}, nil, err
	}
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, dense.Part(k.Z, kept, rest), x, 1, among)
	dense.Symmetrize(among)
	for i, point := range asked {
		at, _ := slices.BinarySearch(rest, point)
		to := across.RawRowView(i)
		for j, v := range x.RawRowView(at) {
			to[j] = v / k.Shift
		}
	}

	return LabelGram{among, k.Shift}, across, nil
}

// LeastSquares returns g of the minimum of Σ s_i(y_i − f_i − b)² + γfᵀH⁻¹f over f and b for the
// columns of y, with shares s of the labels in the loss, nil for 1/l each: with S = diag(s),
//
//	(γS⁻¹(I − τZ) + Z)g = y − b.
//
// Either b = 0, or, with intercept, b is such that the columns of β sum to zero, which is the
// stationarity of the squared loss in b. It costs l³/3 operations; 2l³/3 with shares and τ > 0,
// where the matrix is not symmetric.
func (k LabelGram) LeastSquares(ctx context.Context, y *mat.Dense, gamma float64, shares []float64,
	intercept bool) (*mat.Dense, []float64, error) {
	l, c := y.Dims()
	a := mat.DenseCopyOf(k.Z)
	for i := range l {
		ridge := gamma * float64(l)
		if shares != nil {
			ridge = gamma / shares[i]
		}
		if row := a.RawRowView(i); k.Shift > 0 {
			floats.Scale(1-ridge*k.Shift, row)
		}
		a.Set(i, i, a.At(i, i)+ridge)
	}

	// Solve for the targets and for a column of ones; b combines both.
	b := mat.NewDense(l, c+1, nil)
	b.Slice(0, l, 0, c).(*mat.Dense).Copy(y)
	for i := range l {
		b.Set(i, c, 1)
	}
	if err := solveRidged(ctx, a, b, shares == nil || k.Shift == 0); ctx.Err() != nil {
		return nil, nil, ctx.Err()
	} else if err != nil {
		return nil, nil, fmt.Errorf("solvers: K + γ_A l I: the kernel is not positive definite, or "+
			"γ_A is too small: %w", err)
	}
	g := mat.DenseCopyOf(b.Slice(0, l, 0, c))
	intercepts := make([]float64, c)
	if !intercept {
		return g, intercepts, nil
	}

	sums := k.betaSums(b)
	for j := range c {
		if !(math.Abs(sums[c]) > 1e-15*mat.Norm(b.ColView(c), 1)) {
			break // the constants of f have no norm: b is one of them
		}
		intercepts[j] = sums[j] / sums[c]
		for i := range l {
			g.Set(i, j, g.At(i, j)-intercepts[j]*b.At(i, c))
		}
	}

	return g, intercepts, nil
}

// solveRidged solves for b in place, by Cholesky factorization of a symmetric a or by LU. It overwrites a.
func solveRidged(ctx context.Context, a, b *mat.Dense, symmetric bool) error {
	if !symmetric {
		f, err := dense.FactorLU(ctx, a)
		if err == nil {
			f.Solve(ctx, b)
		}
		return err
	}
	if err := dense.Cholesky(ctx, a); err != nil {
		return err
	}
	dense.SolveLower(dense.NoTrans, a, b)
	dense.SolveLower(dense.Transposed, a, b)
	return nil
}

// betaSums returns the sums of β = g − τZg.
func (k LabelGram) betaSums(g *mat.Dense) []float64 {
	l, c := g.Dims()
	beta := g
	if k.Shift > 0 {
		beta = mat.DenseCopyOf(g)
		dense.Gemm(dense.NoTrans, dense.NoTrans, -k.Shift, k.Z, g, 1, beta)
	}

	sums := make([]float64, c)
	for j := range c {
		for i := range l {
			sums[j] += beta.At(i, j)
		}
	}
	return sums
}

// SMO minimizes q with H in the place of its rows, which are rows of Z: V of the result is g, and
// Product is f. For τ > 0 it takes steps of the proximal point method,
//
//	f ← argmin of q's objective as a function of f, plus τ/2 ‖f − before‖².
//
// Each step is a program with the linear term q + τZf and the solution before as its start. The
// steps end when no f changes by more than the tolerance. A change moves v away from its bounds by
// τ times as much: where that is within the tolerance, 50 steps in which the changes do not become
// half as large end the steps too.
//
// R. T. Rockafellar, Monotone operators and the proximal point algorithm, SIAM J. Control Optim. 14
// (1976), 877–898.
func (k LabelGram) SMO(ctx context.Context, q *QP, s *SMOSettings) (*SMOResult, error) {
	if k.Shift == 0 {
		return SMO(ctx, q, s)
	}
	// most ends programs with proximal steps that creep; some tens of steps are usual.
	const most, patience = 1000, 50
	l := len(q.Linear)
	inner := *q
	pull := make([]float64, l)
	f := mat.NewDense(l, 1, nil)
	product := mat.NewDense(l, 1, nil)

	least := math.Inf(1)
	since := 0
	for round := 1; ; round++ {
		// The proximal term adds τZf to the linear term.
		dense.Gemm(dense.NoTrans, dense.NoTrans, k.Shift, k.Z, f, 0, product)
		inner.Linear = make([]float64, l)
		for i := range l {
			pull[i] = product.At(i, 0)
			inner.Linear[i] = q.Linear[i] + pull[i]
		}

		r, err := SMO(ctx, &inner, s)
		if r == nil {
			return nil, err
		}
		// The next program starts here; the result is in terms of g and f.
		inner.Start = slices.Clone(r.V)
		change := 0.0
		for i := range l {
			r.V[i] += k.Shift * f.At(i, 0)
			r.Product[i] += pull[i]
			change = max(change, math.Abs(r.Product[i]-f.At(i, 0)))
		}

		near := k.Shift*change <= s.Tolerance*max(slices.Max(q.Upper), -slices.Min(q.Lower))
		if since++; change <= least/2 {
			least = change
			since = 0
		}

		if change <= s.Tolerance || near && since >= patience || err != nil {
			return r, err
		}
		if round == most {
			return r, fmt.Errorf("%w: outputs change by %.3g after %d rounds, %.3g is allowed", ErrNotConverged,
				change, round, s.Tolerance)
		}
		for i, v := range r.Product {
			f.Set(i, 0, v)
		}
	}
}

// NullLoss returns the largest |uᵀx_j − u_j|/u_j over the columns x_j of x, one for each of the
// given points, for the sum u of the null vectors of all components of l.
func NullLoss(l *sparse.Laplacian, x *mat.Dense, points []int) float64 {
	n, c := x.Dims()
	u := make([]float64, n)
	for i, d := range l.Degrees() {
		if u[i] = 1; d > 0 && l.Kind() == sparse.Normalized {
			u[i] = math.Sqrt(d)
		}
	}

	sums := mat.NewDense(1, c, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, mat.NewDense(1, n, u), x, 0, sums)
	var worst float64
	for j, i := range points {
		worst = math.Max(worst, math.Abs(sums.At(0, j)-u[i])/u[i])
	}
	return worst
}

// Residual returns ‖K(Eβ − α − γMKα)‖/‖KEβ‖ for the coefficients α on all points, n×c, that follow
// from g at the labeled points of b, l×c. gram is K, and γM belongs to b.
func (k LabelGram) Residual(gram *mat.Dense, b *PointNorm, alpha, g *mat.Dense) float64 {
	n, c := alpha.Dims()
	f := mat.NewDense(n, c, nil)
	e := mat.NewDense(n, c, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, gram, alpha, 0, f)
	b.M.MulTo(e, f)
	dense.AddScaled(e, -b.Gamma, -1, alpha)
	// Both sides are multiplied with K in one pass over it.
	both := mat.NewDense(n, 2*c, nil)
	products := mat.NewDense(n, 2*c, nil)
	for q, i := range b.Labeled {
		for j, v := range g.RawRowView(q) {
			beta := v - k.Shift*f.At(i, j)
			e.Set(i, j, e.At(i, j)+beta)
			both.Set(i, c+j, beta)
		}
	}

	both.Slice(0, n, 0, c).(*mat.Dense).Copy(e)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, gram, both, 0, products)
	size := mat.Norm(products.Slice(0, n, c, 2*c), 2)
	if size == 0 {
		return 0
	}
	return mat.Norm(products.Slice(0, n, 0, c), 2) / size
}
