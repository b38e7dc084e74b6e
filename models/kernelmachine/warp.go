package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/hessian"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// Problem holds what all exact kernel machines on n points share: the Gram
// matrix K, n² values, and the graph Laplacian. It is immutable and safe for
// concurrent use.
type Problem struct {
	data *Data // with the defaults of the kernel
	gram *mat.Dense
}

// NewProblem evaluates the Gram matrix. The limit of d holds here and in Warp.
func NewProblem(ctx context.Context, d *Data) (*Problem, error) {
	n, d, err := d.check()
	if err != nil {
		return nil, err
	}
	// Fits to other targets and weights share this matrix.
	p := &Problem{data: d}
	p.gram, err = gramOf(ctx, d, d.Source(), n)
	return p, err
}

// gramOf returns the Gram matrix of the n points of s, within the limit of d.
func gramOf(ctx context.Context, d *Data, s kernel.Source, n int) (*mat.Dense, error) {
	if err := kernel.GramFits(n, d.Limit); err != nil {
		return nil, err
	}
	set, err := s.Set()
	if err != nil {
		return nil, err
	}
	d.report(0, 1, "Gram matrix")
	return set.Gram(ctx)
}

// withNorm returns the problem on the same Gram matrix with the Laplacian l.
func (p *Problem) withNorm(l *sparse.Laplacian) *Problem {
	d := *p.data
	d.Laplacian = l
	return &Problem{&d, p.gram}
}

// Warped is a kernel among l points of a problem that knows the geometry
// of all n (Sindhwani, Niyogi & Belkin 2005):
//
//	k̃(x, z) = k(x, z) − k_xᵀ (I + MK)⁻¹ M k_z,  M = (γ_I s/γ_A) r(L)
//
// with Lᵖ, a polynomial or exp(tL) for r(L), as the settings say.
//
// A machine on it with the norm γ_A‖f‖² alone is the manifold-regularized one: it
// finds β with f = Σ β_j k̃(·, x_j) = Σ_i α_i k(·, x_i) and α = (I + MK)⁻¹Eβ, E
// being the columns of the identity for the l points, which is equation (8) of
// 2006 for β = (K̃ + γ_A l I)⁻¹y and equation (10) for β of the quadratic program
// (11). It serves all classes, all γ_A of one ratio γ_I/γ_A, and all subsets of
// the points. It is immutable and safe for concurrent use.
type Warped struct {
	problem *Problem
	reg     regularizer.Regularizer // with defaults; of the two weights only the ratio matters
	heat    float64                 // of [Settings]
	points  []int
	gram    solvers.LabelGram // K̃, l×l
	m       sparse.Operator   // r(L) or exp(tL); nil if γ_I = 0, and where smooth is set
	expand  *mat.Dense        // α for g of gram, n×l; nil if γ_I = 0, where α is g
	smooth  *sparse.Heat      // exp(−tL) where exp(tL) is strong; else nil
	sharp   *mat.Dense        // K_s where a sharp kernel has the intrinsic norm; else nil
	sigma   float64           // IntrinsicSigma of [Settings]
	hessian int               // Hessian of [Settings]
	loss    float64           // about the largest error of an entry of gram; 0 where not measured
}

// maxLoss is how far K̃ may be from symmetric, relative to its largest entry, and
// uᵀ(I + MK)⁻¹ from uᵀ for the null vector u of L.
const maxLoss = 1e-9

// Warp computes the kernel among the given points, ascending: those that have a
// label in any draw or fold. With γ_I = 0 it is a part of K. Otherwise it costs a
// factorization of I + MK, 2n³/3 operations, one pass over the graph per power and
// column, and 2n²l for the solution; n² + nl more values are held meanwhile and
// nl + l² kept. Where the solution is lost in rounding, because ‖M‖‖K‖ is too large, which
// shows in an asymmetric K̃ or in uᵀ(I + MK)⁻¹ ≠ uᵀ for uᵀL = 0, it is made anew with
// the loss in M: [solvers.Representer.LabelGram]. With exp(tL) beyond e⁷ in place of Lᵖ a
// [solvers.Heated] makes it, at 12n³ operations and 7n² values.
func (p *Problem) Warp(ctx context.Context, r regularizer.Regularizer, points []int) (*Warped, error) {
	return p.warpFor(ctx, &Settings{Regularizer: r}, points)
}

// norm returns r(L), the Hessian energy or exp(tL), as the settings say; nil where exp(tL) is strong: see strongHeat.
func (p *Problem) norm(ctx context.Context, s *Settings) (sparse.Operator, error) {
	l := p.data.Laplacian
	switch {
	case l == nil:
		return nil, errors.New("kernelmachine: γ_I is positive, but there is no graph")
	case l.Kind() != s.Laplacian:
		return nil, fmt.Errorf("kernelmachine: a %v Laplacian is given, the settings ask for a %v one",
			l.Kind(), s.Laplacian)
	case s.Hessian > 0 && p.data.Points == nil:
		return nil, errors.New("kernelmachine: the Hessian energy needs points, and values of the kernel are given")
	case s.Hessian > 0:
		p.data.report(0, 1, "Hessians")
		return hessian.New(ctx, p.data.Points, l.Graph(), s.Hessian)
	case s.Heat == 0:
		return s.Norm(l)
	}

	if s.strongHeat(l) {
		return nil, nil
	}
	// exp(tL) is a Chebyshev series in L, which is applied and never formed.
	return sparse.NewHeat(l, -s.Heat)
}

// warpFor is Warp, or warps by exp(tL), as the settings say.
func (p *Problem) warpFor(ctx context.Context, s *Settings, points []int) (*Warped, error) {
	w := &Warped{problem: p, points: points}
	var err error
	if w.reg, err = s.Regularizer.Fill(); err != nil {
		return nil, err
	}
	n, _ := p.gram.Dims()
	l := len(points)
	if l == 0 || points[0] < 0 || points[l-1] >= n || !slices.IsSorted(points) ||
		len(slices.Compact(slices.Clone(points))) != l {
		return nil, fmt.Errorf("kernelmachine: the points of a kernel must be numbers below %d in "+
			"ascending order", n)
	}

	// Without the intrinsic norm the kernel is K itself.
	if w.reg.GammaI == 0 {
		w.gram.Z = p.gram
		if l < n {
			w.gram.Z = dense.Part(p.gram, points, points)
		}
		return w, nil
	}

	if s.IntrinsicSigma > 0 {
		w.sigma = s.IntrinsicSigma
		if need := 8 * (3*int64(n)*int64(n) + int64(n)*int64(l) + int64(l)*int64(l)); p.data.Limit > 0 && need > p.data.Limit {
			return nil, tooLarge(n, need, p.data.Limit)
		}
		return w, w.bySharpKernel(ctx, s)
	}

	// The direct way comes first, as it costs less; it tells whether rounding spoilt it.
	if w.m, err = p.norm(ctx, s); err != nil {
		return nil, err
	}
	if need := 8 * (2*int64(n)*int64(n) + int64(n)*int64(l) + int64(l)*int64(l)); p.data.Limit > 0 &&
		need > p.data.Limit {
		return nil, tooLarge(n, need, p.data.Limit)
	}
	w.heat = s.Heat
	w.hessian = s.Hessian
	if w.m == nil {
		return w, w.byHeat(ctx, s)
	}
	if lost, err := w.direct(ctx); err != nil || !lost {
		return w, err
	}

	w.expand = nil // to be collected
	ridge, weight := w.proximal(s)

	// The loss joins the norm, so that the system stays well conditioned; the machine takes the
	// loss out again.
	b := &solvers.PointNorm{Points: n, Labeled: points, Gamma: weight, M: w.m}
	r, err := solvers.NewRepresenter(ctx, p.gram, b, ridge,
		func(part float64, note string) { p.data.report(part, 1, note) })
	if err != nil {
		return nil, err
	}
	w.gram, w.expand, err = r.LabelGram(ctx)
	return w, err
}

// proximal returns γ_A and γ_I s for a norm that the loss joins.
func (w *Warped) proximal(s *Settings) (ridge, weight float64) {
	n, _ := w.problem.gram.Dims()
	ridge = proximity * w.reg.GammaA
	weight = proximity * w.reg.Intrinsic(n, w.problem.data.Laplacian)
	if s.Method == OneClass { // its loss does not depend on γ_A
		return proximity, weight / w.reg.GammaA
	}
	return ridge, weight
}

// proximity is the factor between the loss of a machine and a loss in the norm: the smaller, the
// fewer steps [solvers.LabelGram] takes to remove it, and the fewer digits are left.
const proximity = 1e4

func tooLarge(n int, need, limit int64) error {
	return fmt.Errorf("kernelmachine: the exact solution for %d points takes %d bytes, %d are "+
		"allowed; use fewer points or landmarks, or allow more memory", n, need, limit)
}

// direct sets K̃ and the expansion by a factorization of I + MK, and tells whether
// they are lost in rounding.
func (w *Warped) direct(ctx context.Context) (lost bool, err error) {
	p := w.problem
	n, _ := p.gram.Dims()
	a, err := p.system(ctx, w.m, w.reg)
	if err != nil {
		return false, err
	}
	f, err := dense.FactorLU(ctx, a)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		return true, nil
	}

	p.data.report(2, 3, "solution")
	// (I + MK)⁻¹E needs the columns of the labeled points only.
	l := len(w.points)
	w.expand = mat.NewDense(n, l, nil)
	for j, i := range w.points {
		w.expand.Set(i, j, 1)
	}
	f.Solve(ctx, w.expand)
	if err := ctx.Err(); err != nil {
		return false, err
	}

	// K̃ = EᵀK(I + MK)⁻¹E. In exact arithmetic it is symmetric, and (I + MK)⁻¹ keeps the null
	// vector of L; both show what rounding lost.
	rows := mat.NewDense(l, n, nil)
	dense.Gather(rows, p.gram, w.points)
	w.gram = solvers.LabelGram{Z: mat.NewDense(l, l, nil)}
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, rows, w.expand, 0, w.gram.Z)
	return !(dense.Symmetrize(w.gram.Z) <= maxLoss &&
		(w.heat > 0 || w.reg.Weights()[0] > 0 || solvers.NullLoss(p.data.Laplacian, w.expand, w.points) <= maxLoss)), nil
}

// Values returns K̃, l×l, which must not be changed. It is an error if parts of K̃ are lost in
// rounding beside others, even where machines on it can be fitted.
func (w *Warped) Values(ctx context.Context) (*mat.Dense, error) { return w.gram.Values(ctx) }

// system returns I + MK for M = (γ_I s/γ_A) m, made by stripes of columns.
func (p *Problem) system(ctx context.Context, m sparse.Operator,
	r regularizer.Regularizer) (*mat.Dense, error) {
	const columns = 256
	n, _ := p.gram.Dims()
	ratio := r.Intrinsic(n, p.data.Laplacian) / r.GammaA
	// Stripes of columns bound the scratch of the operator.
	a := dense.New(n, n)
	for lo := 0; lo < n; lo += columns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.data.report(float64(lo)/float64(n), 3, "system")
		hi := min(lo+columns, n)
		m.MulTo(a.Slice(0, n, lo, hi).(*mat.Dense), p.gram.Slice(0, n, lo, hi).(*mat.Dense))
	}

	dense.Multiply(a, ratio)
	for i := range n {
		a.Set(i, i, a.At(i, i)+1)
	}
	p.data.report(1, 3, "factorization")
	return a, ctx.Err()
}

// Outputs returns f at all n points of the problem, n×c, from the Gram matrix;
// m was fitted on a kernel of this problem.
func (p *Problem) Outputs(m *Machine) *mat.Dense {
	n, _ := p.gram.Dims()
	size, c := m.Coefficients.Dims()
	f := mat.NewDense(n, c, nil)
	// Points whose coefficients are zero were left out of the expansion.
	if m.rows == nil {
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, p.gram, m.Coefficients, 0, f)
	} else {
		rows := mat.NewDense(size, n, nil)
		dense.Gather(rows, p.gram, m.rows)
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, rows, m.Coefficients, 0, f)
	}

	dense.AddRow(f, m.Intercepts)
	return f
}
