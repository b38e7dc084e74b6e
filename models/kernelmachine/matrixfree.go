package kernelmachine

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
)

// addLandmarks adds landmarks, drawn with equal chances, to the landmarks of the preconditioner, up
// to the number that was asked for.
func (p *ApproximateProblem) addLandmarks(ctx context.Context, set kernel.Set) error {
	side, ok := set.(*kernel.Side)
	if !ok {
		return errors.New("kernelmachine: too many landmarks for a precomputed kernel; use fewer, or " +
			"the exact machine")
	}
	n, _ := p.data.Points.Dims()
	rng := rand.New(rand.NewPCG(p.settings.Seed, 0x6d6f7265)) // "more"
	chosen := make([]bool, n)
	rows := append([]int{}, p.pivots...)
	for _, i := range rows {
		chosen[i] = true
	}

	// The landmarks of the preconditioner stay the first ones.
	for _, i := range rng.Perm(n) {
		if len(rows) < p.settings.Landmarks && !chosen[i] {
			rows = append(rows, i)
		}
	}

	// The Gram matrix of all landmarks is factored with pivots, which leaves out landmarks that
	// add nothing.
	z := data.Select(p.data.Points, rows)
	among, err := kernel.New(p.data.Kernel, z)
	if err != nil {
		return err
	}
	y, err := solvers.NewNystrom(ctx, among,
		&solvers.NystromSettings{Rank: len(rows), Sampling: solvers.Uniform, Seed: p.settings.Seed,
			OnBlock: func(done, rank int) { p.data.report(float64(done), float64(rank), "all landmarks") }})
	if err != nil {
		return err
	}
	if p.expansion, err = kernel.NewNystrom(side, data.Select(z, y.Pivots), y.Root()); err != nil {
		return err
	}

	p.products = p.expansion
	p.report.Landmarks = len(y.Pivots)
	p.report.KernelError = p.expansion.TraceError(p.settings.Seed)
	return nil
}

// conjugateGradients solves equation (8) of Belkin, Niyogi & Sindhwani (2006),
//
//	(γ_A I + BK)α = Jy/l,  B = SSᵀ = J/l + γ_I s r(L),
//
// which is not symmetric, as α = S·h with
//
//	(γ_A I + SᵀKS)h = [y/√l; 0],
//
// which is, and positive definite with the square root of the condition of the
// normal equations. An iteration costs one product with K. K̂ = ΦΦᵀ of the
// landmarks in place of K is the preconditioner.
func (p *ApproximateProblem) conjugateGradients(ctx context.Context, w *linear.Labeled,
	m *Approximate) error {
	s := m.Settings
	n, r := p.phi.Dims()
	root := p.normRoot(w.Targets.Labeled, s.Regularizer).WithShares(w.Targets.LossShares())
	h, _, err := p.leading(ctx, w, s.Regularizer, r, 1)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := regularizer.SolvePositive(ctx, h, mat.NewDense(r, 1, nil), s.Regularizer); err != nil {
		return err
	}

	// The right-hand side has y/√l at the labeled points and zeros for the graph.
	_, q := root.Dims()
	_, c := w.Centred.Dims()
	b := mat.NewDense(q, c, nil)
	for i := range w.Rows {
		for j, v := range w.Centred.RawRowView(i) {
			b.Set(i, j, v/math.Sqrt(float64(w.Rows)))
		}
	}

	products := p.products.Until(ctx)
	res, err := cg.Solve(ctx, solvers.DualOperator{Root: root, Kernel: products, Ridge: s.GammaA}, b,
		&cg.Settings{
			Tolerance: s.Tolerance, MaxIterations: s.MaxIterations, Block: c,
			Preconditioner: solvers.DualPreconditioner{Root: root, Phi: p.phi, Factor: h, Ridge: s.GammaA},
			OnIteration:    p.data.reportCG,
		})
	if ctx.Err() != nil { // which products do not tell
		return ctx.Err()
	}
	if res == nil {
		return err
	}

	// α = Sh; the residual is that of (8) itself, recomputed.
	alpha := mat.NewDense(n, c, nil)
	root.MulTo(alpha, res.X)
	m.Intercepts = make([]float64, c)
	m.Report.Iterations = res.MaxIterations()
	m.Report.Residual = solvers.DualOperator{Root: root, Kernel: products, Ridge: s.GammaA}.Residual(alpha, b)
	if o := p.expansion; o != nil {
		m.Coefficients, m.Points = o.Coefficients(alpha), o.Landmarks()
	} else {
		m.Coefficients, m.Points = alpha, p.data.Points
	}

	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// normRoot returns S with SSᵀ = EEᵀ/l + γ_I s r(L).
func (p *ApproximateProblem) normRoot(labeled []int, r regularizer.Regularizer) *solvers.NormRoot {
	n, _ := p.data.Source().Rows().Dims()
	if r.GammaI == 0 {
		return solvers.NewNormRoot(n, labeled, nil, nil)
	}
	weights := slices.Clone(r.Weights())
	floats.Scale(r.Intrinsic(n, p.data.Laplacian), weights)
	return solvers.NewNormRoot(n, labeled, p.data.Laplacian, weights)
}
