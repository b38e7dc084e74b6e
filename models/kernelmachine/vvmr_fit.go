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
		w, err := multilabel.OutputGraph(t, s.OutputNeighbors)
		if err != nil {
			return nil, err
		}
		if o, err = solvers.NewOutputs(ctx, w); err != nil {
			return nil, err
		}
	}

	p, err := NewVVMRProblem(ctx, d.plain(&filled.Regularizer), filled.Regularizer, a)
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, t, o, &filled)
}

// Fit minimizes over functions of n outputs in the space of the kernel
// K(x, z) = k(x, z)Q, Q = γ_O L_out† + (1 − γ_O) I,
//
//	1/l Σ_i ‖f(x_i) − y_i‖² + γ_A ‖f‖² + γ_I s Σ_c f_cᵀr(L)f_c
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
	direct, err := p.shifted(ctx, t, theta, filled.Regularizer)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	e := solvers.NewSylvester(p.normRoot(t.Labeled, filled.Regularizer), p.until(ctx), o.Matrix(theta), t.Y,
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
	if lost := new(cg.BreakdownError); exact && !e.Incomplete() &&
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
	m := &VVMR{Settings: filled, Expansion: p.data.expansion(&models.Targets{}), Labeled: l, Labels: t.Labels,
		Iterations: res.MaxIterations()}
	if p.settings.Landmarks > 0 {
		by := p.settings
		m.Approximation = &by
		m.KernelError = p.report.KernelError
	}

	// f = GAQ at the training points, and the residual from the definition.
	m.Values = mat.NewDense(t.Len, n, nil)
	p.until(ctx).MulTo(m.Values, aq)
	m.Residual = p.equation17(m.Values, a, t, filled)
	p.finish(m, aq)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return m, err
}

// shifted factors what conjugate gradients are preconditioned with, θ being the
// eigenvalues of Q.
func (p *VVMRProblem) shifted(ctx context.Context, t *models.Targets, theta []float64,
	r regularizer.Regularizer) (*solvers.Shifted, error) {
	n, d := p.phi.Dims()
	q := &solvers.ShiftedProblem{Rows: mat.NewDense(len(t.Labeled), d, nil), Theta: theta, Ridge: r.GammaA,
		Weight: r.Intrinsic(n, p.data.Laplacian), Norm: p.linear.Norm, Eigen: p.linear.Eigen}
	dense.Gather(q.Rows, p.phi, t.Labeled)
	p.data.report(0, 1, "factors for the eigenvalues of Q")
	return solvers.NewShifted(ctx, q)
}

// checkFit returns an error unless the problem has a function for t, o and s.
func (p *VVMRProblem) checkFit(t *models.Targets, o *solvers.Outputs, s VVMRSettings) error {
	points, _ := p.data.Source().Rows().Dims()
	switch {
	case t.Len != points:
		return fmt.Errorf("kernelmachine: targets for %d points, there are %d", t.Len, points)
	case len(t.Labeled) == 0:
		return errors.New("kernelmachine: no point has a target")
	case o == nil && s.GammaO > 0:
		return errors.New("kernelmachine: γ_O is positive, but there is no graph of outputs")
	case o != nil && len(o.Values) != t.Y.RawMatrix().Cols:
		return fmt.Errorf("kernelmachine: a graph of %d outputs for %d columns of targets", len(o.Values),
			t.Y.RawMatrix().Cols)
	case s.GammaI > 0 && p.data.Laplacian == nil:
		return errors.New("kernelmachine: γ_I is positive, but there is no graph")
	}

	return p.linear.CheckNorm(s.Regularizer)
}

// equation17 returns the relative residual of equation (17) for f = GAQ.
func (p *VVMRProblem) equation17(f, a *mat.Dense, t *models.Targets, s VVMRSettings) float64 {
	points, n := f.Dims()
	l := float64(len(t.Labeled))
	e := mat.NewDense(points, n, nil)
	if s.GammaI > 0 {
		p.linear.Intrinsic().MulTo(e, f)
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
