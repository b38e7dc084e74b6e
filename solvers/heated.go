package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// HeatProblem holds the equation (ρI + BK)α = g of a [Heated], with B = J + γe^{tL}.
type HeatProblem struct {
	Gram      *mat.Dense // K, symmetric positive semidefinite, n×n
	Laplacian *sparse.Laplacian
	T         float64      // t, positive
	Heat      *sparse.Heat // e^{−tL}
	Gamma     float64      // γ, positive
	Ridge     float64      // ρ, positive
	Labeled   []int        // ascending
	Loss      bool         // J = E(I − C)Eᵀ/l as in [PointNorm]; else J = 0
	Centred   bool         // C is the mean over the labeled points
}

// Heated solves (ρI + BK)α = g where e^{tL} is large: its values lie between 1 and e^{tλ} for the
// largest eigenvalue λ of L, and a matrix that holds both loses the small ones in rounding.
//
// It works in the eigenvectors V of L, ordered by falling eigenvalues. With m_i = γe^{tλ_i} and the
// Cholesky factor of VᵀKV = RRᵀ, f = VRw turns the equation into
//
//	Nw = (VR)ᵀg,  N = ρI + (VR)ᵀJVR + Rᵀdiag(m)R.
//
// R is lower triangular, so column j of R has no part in an eigenvector with a weight above m_j. N
// is graded then: with a diagonal Δ that makes the diagonal of ΔNΔ ones, the Cholesky factorization
// loses no more than the condition of ΔNΔ, whatever the range of the weights. As e^{tL} ≥ I, an
// error of f is at most an error of w in the norm of N, over √γ.
//
// Each solution is corrected by its residual, which comes from the equation multiplied by e^{−tL},
//
//	e^{−tL}(g − ρα − JKα) − γKα,
//
// with K itself and a [sparse.Heat], which knows nothing of the eigenvectors. One more correction
// tells how good the solution is. The factorization takes 12n³ operations, about 5n³ of them for
// the eigenvectors, and at most 7n² values beside K, of which it keeps 3n².
type Heated struct {
	*HeatProblem
	basis  *mat.Dense // V
	weight []float64  // √m_i
	root   *mat.Dense // diag(weight)·R·Δ
	scale  []float64  // Δ
	factor *mat.Dense // Cholesky factor of ΔNΔ
	tell   func(part float64, note string)
}

// ErrLostHeat says that rounding leaves nothing of the solution of a [Heated].
var ErrLostHeat = errors.New("solvers: e^{tL} is too large beside the digits of the kernel matrix")

// heatedExponent bounds tλ in the weights: functions with a weight of γe²⁰⁰ are zero beside others.
const heatedExponent = 200

// NewHeated factors N. tell is told how far it is, as a part of 1.
func NewHeated(ctx context.Context, p *HeatProblem, tell func(part float64, note string)) (*Heated, error) {
	h := &Heated{HeatProblem: p, tell: tell}
	tell(0, "eigenvectors of the Laplacian")
	if err := h.decompose(ctx); err != nil {
		return nil, err
	}

	tell(0.5, "factorization")
	if err := h.factorGram(ctx); err != nil {
		return nil, err
	}
	return h, h.factorSystem(ctx)
}

// decompose sets the eigenvectors and the weights.
func (h *Heated) decompose(ctx context.Context) error {
	n, _ := h.Gram.Dims()
	identity := dense.New(n, n)
	l := dense.New(n, n)
	for i := range n {
		identity.Set(i, i, 1)
	}
	h.Laplacian.With(1, 0).MulTo(l, identity)
	identity = nil // to be collected

	values, basis, err := dense.EigenSym(ctx, l)
	if err != nil {
		return err
	}
	// The largest weights come first.
	slices.Reverse(values)
	par.For(n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			slices.Reverse(basis.RawRowView(i))
		}
	})

	h.basis = basis
	h.weight = make([]float64, n)
	for i, v := range values {
		exponent := min(h.T*max(v, 0), heatedExponent)
		h.weight[i] = math.Sqrt(h.Gamma) * math.Exp(exponent/2)
	}
	return nil
}

// factorGram sets root to R. Where rounding leaves VᵀKV indefinite, a multiple of the identity of
// the size of rounding is added. Corrections take K as it is.
func (h *Heated) factorGram(ctx context.Context) error {
	const least, most = 1e-16, 1e-12 // relative to the trace of K
	n, _ := h.Gram.Dims()
	product := dense.New(n, n)
	gram := dense.New(n, n)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, h.Gram, h.basis, 0, product)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, h.basis, product, 0, gram)
	dense.Symmetrize(gram)

	h.root = product
	trace := mat.Trace(gram)
	if trace == 0 {
		return errors.New("solvers: the kernel is zero at all points")
	}
	for added := 0.0; ; added = max(2*added, least*trace) {
		h.root.Copy(gram)
		for i := range n {
			h.root.Set(i, i, gram.At(i, i)+added)
		}
		err := dense.Cholesky(ctx, h.root)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			return nil
		case !(added <= most*trace):
			return fmt.Errorf("solvers: the kernel is not positive semidefinite: %w", err)
		}
	}
}

// factorSystem sets Δ and factors ΔNΔ.
func (h *Heated) factorSystem(ctx context.Context) error {
	n, _ := h.Gram.Dims()
	labels := h.labelRows()
	diagonal := make([]float64, n)
	for i := range n {
		for j, v := range h.root.RawRowView(i)[:i+1] {
			v *= h.weight[i]
			diagonal[j] += v * v
		}
	}
	if labels != nil {
		for i := range len(h.Labeled) {
			for j, v := range labels.RawRowView(i) {
				diagonal[j] += v * v
			}
		}
	}
	h.scale = make([]float64, n)
	for j, v := range diagonal {
		h.scale[j] = 1 / math.Sqrt(v+h.Ridge)
	}

	dense.ScaleRows(h.root, h.weight)
	dense.ScaleColumns(h.root, h.scale)
	h.factor = dense.New(n, n)
	dense.SyrkLower(dense.Transposed, 1, h.root, 0, h.factor)
	if labels != nil {
		dense.ScaleColumns(labels, h.scale)
		dense.SyrkLower(dense.Transposed, 1, labels, 1, h.factor)
	}
	for i, s := range h.scale {
		h.factor.Set(i, i, h.factor.At(i, i)+h.Ridge*s*s)
	}

	err := dense.Cholesky(ctx, h.factor)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLostHeat, err)
	}
	return nil
}

// labelRows returns a matrix X with XᵀX = (VR)ᵀJVR, l×n; nil if J = 0.
func (h *Heated) labelRows() *mat.Dense {
	if !h.Loss {
		return nil
	}
	n, _ := h.root.Dims()
	l := len(h.Labeled)
	v := dense.Gather(mat.NewDense(l, n, nil), h.basis, h.Labeled)
	x := mat.NewDense(l, n, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1/math.Sqrt(float64(l)), v, h.root, 0, x)
	if h.Centred {
		mean := dense.ColumnMeans(x)
		for j := range mean {
			mean[j] = -mean[j]
		}
		dense.AddRow(x, mean)
	}
	return x
}

// apply returns α and f = Kα, as VRw, for Δ(VR)ᵀg in x, which it overwrites.
func (h *Heated) apply(x *mat.Dense) (alpha, f *mat.Dense) {
	n, c := x.Dims()
	dense.SolveLower(dense.NoTrans, h.factor, x)
	dense.SolveLower(dense.Transposed, h.factor, x)
	part := mat.NewDense(n, c, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, h.root, x, 0, part)
	h.unweigh(part)
	f = mat.NewDense(n, c, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, h.basis, part, 0, f)

	// α = V·R⁻ᵀw, with R in the scales of root.
	dense.ScaleRows(x, h.scale)
	dense.ScaleRows(x, h.scale)
	dense.SolveLower(dense.Transposed, h.root, x)
	dense.ScaleRows(x, h.weight)
	alpha = mat.NewDense(n, c, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, h.basis, x, 0, alpha)
	return alpha, f
}

// unweigh divides the rows of x by the weights.
func (h *Heated) unweigh(x *mat.Dense) {
	for i, w := range h.weight {
		row := x.RawRowView(i)
		for j := range row {
			row[j] /= w
		}
	}
}

// first returns the solution for g by the factors alone.
func (h *Heated) first(g *mat.Dense) (alpha *mat.Dense) {
	n, c := g.Dims()
	part := mat.NewDense(n, c, nil)
	x := mat.NewDense(n, c, nil)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, h.basis, g, 0, part)
	h.unweigh(part)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, h.root, part, 0, x)
	alpha, _ = h.apply(x)
	return alpha
}

// correction returns the correction of α for g, the change of f by it, f = Kα, and the residual of
// the equation multiplied by e^{−tL}.
func (h *Heated) correction(alpha, g *mat.Dense) (step, change, f, residual *mat.Dense) {
	n, c := g.Dims()
	f = mat.NewDense(n, c, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, h.Gram, alpha, 0, f)
	rest := mat.NewDense(n, c, nil)
	if h.Loss {
		b := &PointNorm{Points: n, Labeled: h.Labeled, Centred: h.Centred}
		b.MulTo(rest, f)
	}
	dense.AddScaled(rest, 1, h.Ridge, alpha)
	rest.Sub(g, rest)
	residual = mat.NewDense(n, c, nil)
	h.Heat.MulTo(residual, rest)
	dense.AddScaled(residual, 1, -h.Gamma, f)

	// The right-hand side of a correction is the residual times e^{tL} = diag(m)/γ in V.
	dense.Gemm(dense.Transposed, dense.NoTrans, 1/h.Gamma, h.basis, residual, 0, rest)
	dense.ScaleRows(rest, h.weight)
	x := mat.NewDense(n, c, nil)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, h.root, rest, 0, x)
	step, change = h.apply(x)
	return step, change, f, residual
}

// heated is a solution of a [Heated].
type heated struct {
	alpha, f, residual *mat.Dense
	loss               float64 // about the largest error of f, plus its intercept
}

// lossMargin is how much larger than the last change of f its error may be: up to 3 was seen beside
// numbers of 300 bits, on kernels from well conditioned to singular.
const lossMargin = 4

// solve returns the solution for g, corrected once.
func (h *Heated) solve(ctx context.Context, g *mat.Dense) (*heated, error) {
	alpha := h.first(g)
	step, before, _, _ := h.correction(alpha, g)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	alpha.Add(alpha, step)
	_, change, f, residual := h.correction(alpha, g)
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	// With an intercept constants of f do not matter. The first correction may have been small by
	// luck, and the second too, but not both.
	if h.Centred {
		h.centre(before)
		h.centre(change)
	}
	loss := lossMargin * max(largest(change), largest(before)/100)
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return nil, ErrLostHeat
	}
	return &heated{alpha, f, residual, loss}, nil
}

// centre subtracts from f its mean over the labeled points.
func (h *Heated) centre(f *mat.Dense) {
	mean := (&PointNorm{Labeled: h.Labeled}).mean(f)
	for j := range mean {
		mean[j] = -mean[j]
	}
	dense.AddRow(f, mean)
}

// largest returns max |x_ij|, NaN if an entry is NaN.
func largest(x *mat.Dense) float64 {
	rows, _ := x.Dims()
	var top float64
	for i := range rows {
		for _, v := range x.RawRowView(i) {
			top = max(top, math.Abs(v))
		}
	}
	return top
}

// Fit solves for g = Ey/l with targets y of the labeled points, l×c, as [Representer.Fit]: Loss of
// the problem must be true. Residual of the result is ‖e^{−tL}(g − ρα − JKα) − γKα‖/‖g‖: the norm of
// e^{−tL} is 1.
func (h *Heated) Fit(ctx context.Context, y *mat.Dense) (*Represented, error) {
	n, _ := h.Gram.Dims()
	l, c := y.Dims()
	out := &Represented{Intercepts: make([]float64, c)}
	if h.Centred {
		out.Intercepts = dense.ColumnMeans(y)
	}
	g := mat.NewDense(n, c, nil)
	for q, i := range h.Labeled {
		for j, v := range y.RawRowView(q) {
			g.Set(i, j, (v-out.Intercepts[j])/float64(l))
		}
	}

	s, err := h.solve(ctx, g)
	if err != nil {
		return nil, err
	}
	out.Alpha = s.alpha
	if size := mat.Norm(g, 2); size > 0 {
		out.Residual = mat.Norm(s.residual, 2) / size
	}

	if h.Centred {
		b := &PointNorm{Points: n, Labeled: h.Labeled}
		for j, v := range b.mean(s.f) {
			out.Intercepts[j] -= v
		}
		dense.AddRow(s.f, out.Intercepts)
	}
	if s.loss > 0 {
		out.Loss = s.loss / largest(s.f)
	}
	return out, nil
}

// LabelGram returns Z = ρE_lᵀK(ρI + BK)⁻¹E_l and ρ(ρI + BK)⁻¹E_l as [Representer.LabelGram]. With
// J = 0 the shift of Z is 0, and Z is K warped by γ/ρ·e^{tL}. loss is about the largest error of an
// entry of ρK(ρI + BK)⁻¹E_l.
func (h *Heated) LabelGram(ctx context.Context) (z LabelGram, expand *mat.Dense, loss float64, err error) {
	const columns = 128
	n, _ := h.Gram.Dims()
	l := len(h.Labeled)
	z.Z = mat.NewDense(l, l, nil)
	expand = mat.NewDense(n, l, nil)

	// Solve for the labeled columns of ρI, some at a time.
	for lo := 0; lo < l; lo += columns {
		h.tell((2+float64(lo)/float64(l))/3, "solution")
		hi := min(lo+columns, l)
		g := mat.NewDense(n, hi-lo, nil)
		for j := range hi - lo {
			g.Set(h.Labeled[lo+j], j, h.Ridge)
		}
		s, err := h.solve(ctx, g)
		if err != nil {
			return LabelGram{}, nil, 0, err
		}
		expand.Slice(0, n, lo, hi).(*mat.Dense).Copy(s.alpha)
		dense.Gather(z.Z.Slice(0, l, lo, hi).(*mat.Dense), s.f, h.Labeled)
		loss = max(loss, s.loss)
	}

	// In exact arithmetic Z is symmetric, so a difference is an error too. Machines on Z round it.
	difference := dense.Symmetrize(z.Z)
	loss = max(loss, largest(z.Z)*max(difference, 0x1p-52))
	if h.Loss {
		z.Shift = 1 / (float64(l) * h.Ridge)
	}
	return z, expand, loss, nil
}

// HeatResidual returns ‖e^{−tL}(Eβ − α) − rKα‖/‖Eβ‖ for coefficients β = g − τf, l×c, at the given
// points and α on all of them, n×c: the residual of (I + re^{tL}K)α = Eβ, the equation of a machine
// on a warped kernel, multiplied by e^{−tL}, whose norm is 1. gram is K.
func (k LabelGram) HeatResidual(gram *mat.Dense, heat *sparse.Heat, r float64, points []int,
	alpha, g *mat.Dense) float64 {
	n, c := alpha.Dims()
	f := mat.NewDense(n, c, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, gram, alpha, 0, f)
	rest := mat.NewDense(n, c, nil)
	rest.Scale(-1, alpha)
	var squares float64
	for q, i := range points {
		for j, v := range g.RawRowView(q) {
			beta := v - k.Shift*f.At(i, j)
			rest.Set(i, j, rest.At(i, j)+beta)
			squares += beta * beta
		}
	}

	if squares == 0 {
		return 0
	}
	residual := mat.NewDense(n, c, nil)
	heat.MulTo(residual, rest)
	dense.AddScaled(residual, 1, -r, f)
	return mat.Norm(residual, 2) / math.Sqrt(squares)
}
