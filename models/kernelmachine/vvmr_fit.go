package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
)

// FitVVMR fits one function, exactly or by the approximation a: [NewVVMRProblem]
// and Fit in one call. o may be nil if γ_O is 0 or s says how to make the graph of
// outputs.
func FitVVMR(ctx context.Context, d *Data, t *models.Targets, o *solvers.Outputs, s *VVMRSettings,
	a *ApproximationSettings) (*VVMR, error) {
	if s == nil {
		s = &VVMRSettings{} // the check names the fault
	}
	filled, err := s.fill()
	if err != nil {
		return nil, err
	}

	// The graph of the outputs follows from the targets where the settings ask for it.
	if o == nil && s.GammaO > 0 && s.OutputNeighbors > 0 {
		if o, err = outputsOf(ctx, t, s.OutputNeighbors); err != nil {
			return nil, err
		}
	}
	if s.Loss == HingeLoss {
		if err := checkHinge(t, o, &filled, a); err != nil {
			return nil, err
		}
		return fitHinges(ctx, d, t, o, filled)
	}

	p, err := NewVVMRProblem(ctx, d.plain(&filled.Regularizer), filled.Regularizer, a)
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, t, o, &filled)
}

// outputsOf returns the outputs of t with a graph of their k nearest.
func outputsOf(ctx context.Context, t *models.Targets, k int) (*solvers.Outputs, error) {
	w, err := multilabel.OutputGraph(t, k)
	if err != nil {
		return nil, err
	}
	return solvers.NewOutputs(ctx, w)
}

// Fit minimizes over functions of n outputs in the space of the kernel
// K(x, z) = k(x, z)Q, Q = γ_O L_out† + (1 − γ_O) I,
//
//	1/l Σ_i ‖f(x_i) − y_i‖² + γ_A ‖f‖² + γ_I s Σ_c f_cᵀr(L)f_c
//
// or, with a penalty of the outputs ([solvers.Outputs.WithPenalty]), γ_I s Σ_p tr(B_p FᵀLᵖF) for the last term, F
// being the values at the points: M = Σ_p Lᵖ ⊗ B_p in equations (11) to (15) of the paper.
//
// (The norm that the paper prints below (16) for γ_O = 1, ½ Σ W_ij‖f_i − f_j‖²/√(d_i d_j) + Σ‖f_i‖², belongs
// to Q = (I + D′ − W′)⁻¹ with W′_ij = W_ij/√(d_i d_j) and not to L_out†; here (16) holds, and an output kernel gives the other.)
//
// whose coefficients A, N×n, satisfy the Sylvester equation (17) of Minh &
// Sindhwani (2011),
//
//	−(JG + lγ_I s r(L)G)AQ/(lγ_A) − A + Y/(lγ_A) = 0.
//
// t are values, or labels of ±1, with NaN for entries that are missing: their squares are left out
// of the first sum, which stays divided by the number l of points with any entry. o is nil for
// independent outputs, and γ_O must be 0 then. Then every output is a LapRLS function by itself
// (RLS if γ_I = 0).
//
// With B = J/l + γ_I s r(L) = SSᵀ the equation is A = Sh,
//
//	SᵀGSh·Q + γ_A h = [Y/√l; 0],
//
// symmetric and positive definite. In the eigenvectors of Q each column is a
// system of its own, all with the large matrix SᵀGS, which one factorization on the
// features of the problem solves for all eigenvalues: l²r + l³/3 operations each,
// or 5r³ for all of them, whichever is less, and 5r³ in the first fit with γ_I > 0.
// Conjugate gradients in the entries of h, with that as preconditioner, then take
// the residual to the tolerance: one or two steps, of 4Nr·n operations or a product
// with G, unless entries are missing or G is not what the features make.
//
// With [cg.ErrNotConverged] the function is usable; Residual is recomputed in any
// case.
func (p *VVMRProblem) Fit(ctx context.Context, t *models.Targets, o *solvers.Outputs,
	s *VVMRSettings) (*VVMR, error) {
	if s == nil {
		s = &VVMRSettings{}
	}
	filled, err := s.fill()
	if err != nil {
		return nil, err
	}
	if err := p.checkFit(t, o, filled); err != nil {
		return nil, err
	}

	l, n := t.Y.Dims()
	if o == nil {
		o = solvers.IndependentOutputs(n)
	}
	// Q has the eigenvectors of the graph of outputs and the eigenvalues θ.
	theta := o.Scaled(filled.GammaO)
	direct, err := p.inverse(ctx, t, o, theta, filled.Regularizer)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	e := solvers.NewSylvester(p.outputRoot(t.Labeled, filled.Regularizer, o), p.until(ctx), o.Matrix(theta), t.Y,
		filled.GammaA)
	res, err := cg.Solve(ctx, e, e.RightSide(t.Y),
		&cg.Settings{Tolerance: filled.Tolerance, MaxIterations: filled.MaxIterations,
			Preconditioner: solvers.SylvesterPreconditioner{System: e, Direct: direct, Phi: p.phi,
				Vectors: o.Vectors}, OnIteration: p.data.reportCG})
	if ctx.Err() != nil { // which products do not tell
		return nil, ctx.Err()
	}
	// Where conjugate gradients break down or stall on an exact kernel, the outputs are
	// represented in the root of the Gram matrix instead.
	var a, aq *mat.Dense
	g, exact := p.operator.(kernel.Matrix)
	if lost := new(cg.BreakdownError); exact && !e.Incomplete() && o.Penalty == nil &&
		(errors.As(err, &lost) || errors.Is(err, cg.ErrNotConverged)) {
		res = &cg.Result{}
		a, aq, err = solvers.RepresentOutputs(ctx, g.Values, t.Y, p.pointNorm(t, &filled.Regularizer), o,
			solvers.VectorNorm{Gamma: filled.GammaA, Theta: theta,
				Tell: func(part float64, note string) { p.data.report(part, 1, note) }})
	} else if res != nil {
		a, aq = e.Coefficients(res.X.RawMatrix().Data)
	}

	if res == nil || err != nil && !errors.Is(err, cg.ErrNotConverged) {
		return nil, err
	}
	m := &VVMR{Settings: filled, OutputNorm: o.Penalty, Expansion: p.data.expansion(&models.Targets{}), Labeled: l, Labels: t.Labels,
		Iterations: res.MaxIterations()}
	if p.settings.Landmarks > 0 {
		by := p.settings
		m.Approximation = &by
		m.KernelError = p.report.KernelError
	}

	// f = GAQ at the training points, and the residual from the definition.
	m.Values = mat.NewDense(t.Len, n, nil)
	p.until(ctx).MulTo(m.Values, aq)
	m.Residual = p.equation17(m.Values, a, t, o, filled)
	p.finish(m, aq)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return m, err
}

// inverse factors what conjugate gradients are preconditioned with, θ being the
// eigenvalues of Q.
func (p *VVMRProblem) inverse(ctx context.Context, t *models.Targets, o *solvers.Outputs, theta []float64,
	r regularizer.Regularizer) (solvers.Inverse, error) {
	n, d := p.phi.Dims()
	rows := dense.Gather(mat.NewDense(len(t.Labeled), d, nil), p.phi, t.Labeled)
	weight := r.Intrinsic(n, p.data.Laplacian)
	if o.Penalty == nil {
		p.data.report(0, 1, "factors for the eigenvalues of Q")
		return solvers.NewShifted(ctx, &solvers.ShiftedProblem{Rows: rows, Theta: theta, Ridge: r.GammaA,
			Weight: weight, Norm: p.linear.Norm, Eigen: p.linear.Eigen})
	}

	// The norm of every power with a matrix of the outputs.
	norms := make([]*mat.Dense, len(o.Penalty))
	for q, b := range o.Penalty {
		if mat.Norm(b, 1) == 0 {
			continue
		}
		p.data.report(float64(q), float64(len(norms)+1), "norms of the powers of L")
		coefficients := make([]float64, q+1)
		coefficients[q] = 1
		one, err := p.linear.WithNorm(ctx, p.data.Laplacian, regularizer.Regularizer{Coefficients: coefficients})
		if err != nil {
			return nil, err
		}
		norms[q] = one.Norm
	}
	p.data.report(float64(len(norms)), float64(len(norms)+1), "factors of the outputs")
	return solvers.NewCoupled(ctx, &solvers.CoupledProblem{Rows: rows, Norms: norms, Outputs: o, Theta: theta,
		Ridge: r.GammaA, Weight: weight})
}

// outputRoot returns S with SSᵀ = EEᵀ/l ⊗ I + γ_I s M.
func (p *VVMRProblem) outputRoot(labeled []int, r regularizer.Regularizer, o *solvers.Outputs) *solvers.NormRoot {
	if o.Penalty == nil {
		return p.normRoot(labeled, r)
	}
	n, _ := p.phi.Dims()
	return solvers.NewOutputNormRoot(n, labeled, p.data.Laplacian, r.Intrinsic(n, p.data.Laplacian), o)
}

// checkFit returns an error unless the problem has a function for t, o and s.
func (p *VVMRProblem) checkFit(t *models.Targets, o *solvers.Outputs, s VVMRSettings) error {
	points, _ := p.data.Source().Rows().Dims()
	switch {
	case t.Len != points:
		return fmt.Errorf("kernelmachine: targets for %d points, there are %d", t.Len, points)
	case len(t.Labeled) == 0:
		return errors.New("kernelmachine: no point has a target")
	case s.Loss == HingeLoss:
		return errors.New("kernelmachine: the hinge has quadratic programs in place of equation (17); take FitVVMR")
	case o == nil && s.GammaO > 0:
		return errors.New("kernelmachine: γ_O is positive, but there is no graph of outputs")
	case o != nil && o.Penalty != nil && s.GammaI == 0:
		return errors.New("kernelmachine: matrices of the outputs for M are given, and γ_I is 0, which leaves M out")
	case o != nil && o.Penalty != nil && (s.Power > 1 || s.Coefficients != nil):
		return fmt.Errorf("kernelmachine: matrices of the outputs for the powers of L and %s; give one of them",
			s.DescribeNorm())
	case o != nil && len(o.Values) != t.Y.RawMatrix().Cols:
		return fmt.Errorf("kernelmachine: a graph of %d outputs for %d columns of targets", len(o.Values),
			t.Y.RawMatrix().Cols)
	case s.GammaI > 0 && p.data.Laplacian == nil:
		return errors.New("kernelmachine: γ_I is positive, but there is no graph")
	}

	return p.linear.CheckNorm(s.Regularizer)
}

// equation17 returns the relative residual of equation (17), or (13) and (14), for f = GAQ.
func (p *VVMRProblem) equation17(f, a *mat.Dense, t *models.Targets, o *solvers.Outputs, s VVMRSettings) float64 {
	points, n := f.Dims()
	l := float64(len(t.Labeled))
	e := mat.NewDense(points, n, nil)
	if s.GammaI > 0 {
		if o.Penalty == nil {
			p.linear.Intrinsic().MulTo(e, f)
		} else {
			o.PenaltyTo(e, p.data.Laplacian, f)
		}
		dense.Multiply(e, -l*s.Intrinsic(points, p.data.Laplacian))
	}

	dense.AddScaled(e, 1, -l*s.GammaA, a)
	var size float64
	// J has a zero for a missing entry, whose difference is left out.
	for q, i := range t.Labeled {
		to := e.RawRowView(i)
		from := f.RawRowView(i)
		for j, v := range t.Y.RawRowView(q) {
			if !math.IsNaN(v) {
				to[j] += v - from[j]
				size += v * v
			}
		}
	}

	if size == 0 {
		return 0
	}
	return mat.Norm(e, 2) / math.Sqrt(size)
}

// finish sets the coefficients of f = GAQ, and the points they belong to.
func (p *VVMRProblem) finish(m *VVMR, aq *mat.Dense) {
	_, n := aq.Dims()
	// The expansion is over landmarks, over all points, or in the features themselves.
	switch {
	case p.expansion != nil:
		m.Coefficients, m.Points = p.expansion.Coefficients(aq), p.expansion.Landmarks()
	case p.gram:
		m.Coefficients, m.Points = aq, p.data.Points
	default:
		_, r := p.phi.Dims()
		w := mat.NewDense(r, n, nil)
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, p.phi, aq, 0, w)
		if p.pivots == nil {
			m.Coefficients = w
			return
		}
		machine := &Approximate{}
		p.expand(machine, w)
		m.Coefficients, m.Points = machine.Coefficients, machine.Points
	}
}
