package kernelmachine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// Fit fits one machine, exactly: [NewProblem], Warp and Fit in one call, for
// targets t of some of the points of d. With γ_I = 0 only the labeled points cost
// anything: the quadratic programs then read rows of K as they need them, and hold
// no Gram matrix where a single program would not need most of it or where there
// is no room. s must give γ_A.
func Fit(ctx context.Context, d *Data, t *models.Targets, s *Settings) (*Machine, error) {
	n, d, err := d.check()
	if err != nil {
		return nil, err
	}
	if n != t.Len {
		return nil, fmt.Errorf("kernelmachine: targets for %d points, there are %d", t.Len, n)
	}
	if s == nil {
		s = &Settings{} // the check names the fault
	}
	filled, err := s.fill()
	if err != nil {
		return nil, err
	}

	if d = d.plain(&filled.Regularizer); filled.IntrinsicSigma > 0 {
		d = d.plain(&regularizer.Regularizer{})
	}
	if filled.GammaI == 0 && d.Values == nil {
		d.Points = data.Select(d.Points, t.Labeled)
		inner := *t
		inner.Len, inner.Labeled = len(t.Labeled), data.Range(0, len(t.Labeled))
		t = &inner
		if filled.byRows(d.Points, t, d.Limit) {
			return fitRows(ctx, d, t, &filled)
		}
	}

	p, err := NewProblem(ctx, d)
	if err != nil {
		return nil, err
	}
	heated := filled.Heat > 0 && t.Weights != nil // whose equations have no weights of labels
	if filled.Method == RLS && filled.IntrinsicSigma == 0 && !heated && (filled.GammaI > 0 ||
		mat.Norm(p.gram, 1) > 1e7*filled.GammaA*float64(len(t.Labeled))) {
		return p.leastSquares(ctx, t, &filled)
	}
	w, err := p.warpFor(ctx, &filled, t.Labeled)
	if err != nil {
		return nil, err
	}
	return w.Fit(ctx, t, &filled)
}

// fewDimensions bounds the dimensions of points for which a single row of K costs not much more
// than a row of a Gram matrix, which is made by products of blocks.
const fewDimensions = 64

// byRows tells whether the programs of a machine without a graph are to read rows
// of K that are made when asked for.
func (s *Settings) byRows(x data.Points, t *models.Targets, limit int64) bool {
	if s.Method == RLS {
		return false
	}
	n, d := x.Dims()
	_, isSparse := x.(*sparse.CSR)
	return limit > 0 && kernel.GramBytes(n) > limit || s.columns(t) == 1 && (isSparse || d <= fewDimensions)
}

// columns is the number of functions to fit.
func (s *Settings) columns(t *models.Targets) int {
	if s.Method == OneClass {
		return 1
	}
	_, c := t.Y.Dims()
	return c
}

// fitRows fits a machine without a graph to points that all have a target. One
// set of rows, within the limit, serves one program after the other.
func fitRows(ctx context.Context, d *Data, t *models.Targets, s *Settings) (*Machine, error) {
	side, err := kernel.New(d.Kernel, d.Points)
	if err != nil {
		return nil, err
	}
	limit := d.Limit
	if limit <= 0 {
		limit = kernel.GramBytes(side.Dim())
	}
	// The programs run one after the other, because they share the cache of rows.
	m := newMachine(s, d, t)
	beta, err := m.programs(ctx, solvers.CachedRows(side, limit), solvers.LabelGram{}, s.columns(t), t, d)
	if beta == nil {
		return nil, err
	}

	m.rows = m.keep(d.Points, beta)
	return m, err
}

func newMachine(s *Settings, d *Data, t *models.Targets) *Machine {
	m := &Machine{Settings: *s, Expansion: d.expansion(t), Labeled: len(t.Labeled)}
	if s.Method == OneClass {
		m.Classes = []int64{-1, 1}
		m.Fallback = 1 // f = 0 is the edge of the inside
	}
	return m
}

// Fit fits a machine on points of w, for all columns of t. The ratio γ_I/γ_A, the
// power, and the scaling in s must be those that w was made for. RLS costs
// a Cholesky factorization of order l, the others a quadratic program in l
// variables a column; the expansion costs 2nl operations a
// column. With solvers.ErrNotConverged the machine is usable.
func (w *Warped) Fit(ctx context.Context, t *models.Targets, s *Settings) (*Machine, error) {
	if s == nil {
		s = &Settings{}
	}
	filled, err := s.fill()
	if err != nil {
		return nil, err
	}
	positions, err := w.among(t, &filled)
	if err != nil {
		return nil, err
	}

	rest := data.Without(len(w.points), positions)
	gram, across, err := w.gram.Among(ctx, positions, rest)
	if err != nil {
		return nil, err
	}
	m := newMachine(&filled, w.problem.data, t)
	g, err := m.solve(ctx, gram, t, w.problem.data)
	if g == nil {
		return nil, err
	}

	padded := mat.NewDense(len(w.points), columnsOf(g), nil)
	for i, p := range positions {
		copy(padded.RawRowView(p), g.RawRowView(i))
	}
	if w.gram.Shift > 0 && len(rest) > 0 { // where β is 0, g is τf
		f := mat.NewDense(len(rest), columnsOf(g), nil)
		dense.Gemm(dense.NoTrans, dense.NoTrans, w.gram.Shift, across, g, 0, f)
		for i, p := range rest {
			copy(padded.RawRowView(p), f.RawRowView(i))
		}
	}

	if lost := w.expansion(m, padded, positions); lost != nil {
		return nil, lost
	}
	if fault := m.share(t, func() (*mat.Dense, error) { return w.problem.Outputs(m), nil }); fault != nil {
		return nil, fault
	}
	return m, err
}

func columnsOf(a *mat.Dense) int { _, c := a.Dims(); return c }

// HeldOut is a part of the points of a [Warped], with some of the others held out. It is
// immutable.
type HeldOut struct {
	whole  *Warped
	gram   solvers.LabelGram
	across *mat.Dense
}

// HoldOut keeps some positions among the points of w, and holds out others.
func (w *Warped) HoldOut(ctx context.Context, kept, held []int) (*HeldOut, error) {
	gram, across, err := w.gram.Among(ctx, kept, held)
	return &HeldOut{w, gram, across}, err
}

// Fit fits a machine to targets of all points that are kept, and returns f at the points that are
// held out. With solvers.ErrNotConverged f is usable. The norms of s must be the norms of w.
func (h *HeldOut) Fit(ctx context.Context, t *models.Targets, s *Settings) (*mat.Dense, error) {
	filled, err := s.fill()
	if err != nil {
		return nil, err
	}
	m := &Machine{Settings: filled}
	g, err := m.solve(ctx, h.gram, t, nil)
	if g == nil {
		return nil, err
	}

	held, _ := h.across.Dims()
	f := mat.NewDense(held, columnsOf(g), nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, h.across, g, 0, f)
	dense.AddRow(f, m.Intercepts)
	if h.whole.smooth != nil {
		kept := mat.DenseCopyOf(g)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, h.gram.Z, g, 0, kept)
		dense.AddRow(kept, m.Intercepts)
		if lost := h.whole.lostScores(mostHeldOutLoss, g, f, kept); lost != nil {
			return nil, lost
		}
	}
	return f, err
}

// among returns the positions of the labeled points of t in w.
func (w *Warped) among(t *models.Targets, s *Settings) ([]int, error) {
	n, _ := w.problem.gram.Dims()
	graph := w.problem.data.Laplacian
	ours, theirs := w.reg.Intrinsic(n, graph)/w.reg.GammaA, s.Intrinsic(n, graph)/s.GammaA
	switch {
	case t.Len != n:
		return nil, fmt.Errorf("kernelmachine: targets for %d points, there are %d", t.Len, n)
	case s.IntrinsicSigma != w.sigma:
		return nil, fmt.Errorf("kernelmachine: the kernel was warped by a sharp kernel with σ = %v, the settings say %v",
			w.sigma, s.IntrinsicSigma)
	case s.Hessian != w.hessian:
		return nil, fmt.Errorf("kernelmachine: the kernel was warped by the Hessian energy in %d dimensions, the settings say %d",
			w.hessian, s.Hessian)
	case s.Heat != w.heat:
		return nil, fmt.Errorf("kernelmachine: the kernel was warped with t = %v of exp(tL), the "+
			"settings say %v", w.heat, s.Heat)
	case !(math.Abs(ours-theirs) <= 1e-12*ours) || ours > 0 && !s.SameNorm(w.reg):
		return nil, fmt.Errorf("kernelmachine: the kernel was warped with γ_I/γ_A = %v and %s; the settings say %v "+
			"and %s", ours, w.reg.DescribeNorm(), theirs, s.DescribeNorm())
	}

	// Points of w ascend, so positions are found by halving.
	positions := make([]int, len(t.Labeled))
	for p, i := range t.Labeled {
		q, ok := slices.BinarySearch(w.points, i)
		if !ok {
			return nil, fmt.Errorf("kernelmachine: point %d is labeled but was not among those the "+
				"kernel was made for", i)
		}
		positions[p] = q
	}

	return positions, nil
}

// solve returns g for the kernel among the labeled points and sets Intercepts and
// Gap; d is told how far that is, and may be nil.
func (m *Machine) solve(ctx context.Context, gram solvers.LabelGram, t *models.Targets,
	d *Data) (g *mat.Dense, err error) {
	if m.Settings.Method != RLS {
		return m.programs(ctx, solvers.DenseRows(gram.Z), gram, 1, t, d)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g, m.Intercepts, err = gram.LeastSquares(ctx, t.Y, m.Settings.GammaA, t.LossShares(), m.Settings.Intercept)
	return g, err
}

var errWeights = errors.New("kernelmachine: support vector machines have no weights of labels; least squares have")

// programs solves the quadratic program of every column, with rows of gram or, if its τ is 0, of
// any kernel, and sets Intercepts and Gap. It solves together columns one after the other in each
// goroutine. C is 1/(2γ_A l): the objective of regularizer.Regularizer over 2γ_A. d is told how far
// they are.
func (m *Machine) programs(ctx context.Context, rows solvers.Rows, gram solvers.LabelGram, together int,
	t *models.Targets, d *Data) (*mat.Dense, error) {
	s := &m.Settings
	if s.Method == SVM && t.Classes == nil {
		return nil, errors.New("kernelmachine: a support vector machine separates classes; for values use svr")
	}
	if t.Weights != nil {
		return nil, errWeights
	}
	l := rows.Dim()
	c := s.columns(t)
	upper := 1 / (2 * s.GammaA * float64(l))
	results := make([]*solvers.SMOResult, c)
	faults := make([]error, c)

	// One program a column; together of them run in one goroutine.
	progress := newProgramProgress(d, c)
	par.For(c, together, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			var q *solvers.QP
			switch y := mat.Col(nil, j, t.Y); s.Method {
			case SVM:
				q = solvers.ClassificationQP(rows, y, upper)
			case SVR:
				q = solvers.RegressionQP(rows, y, upper, s.Epsilon)
			case OneClass:
				q = solvers.OneClassQP(rows, s.Nu)
			}
			results[j], faults[j] = gram.SMO(ctx, q, &solvers.SMOSettings{Tolerance: s.Tolerance,
				MaxIterations: s.MaxIterations, OnIteration: progress.tell})
			progress.finish()
		}
	})

	// The multiplier of the equality constraint is −b.
	beta := mat.NewDense(l, c, nil)
	m.Intercepts = make([]float64, c)
	for j, r := range results {
		if r == nil {
			return nil, faults[j]
		}
		beta.SetCol(j, r.V)
		m.Intercepts[j] = -r.Multiplier
		if r.Objective != 0 {
			m.Gap = max(m.Gap, r.Gap/math.Abs(r.Objective))
		}
	}

	return beta, m.tellPrograms(faults)
}

// tellPrograms makes one error of the faults of the quadratic programs, nil for those without, with the
// gap that was reached.
func (m *Machine) tellPrograms(faults []error) error {
	var first error
	count := 0
	for _, err := range faults {
		if err != nil {
			first = cmp.Or(first, err)
			count++
		}
	}
	if first == nil || !errors.Is(first, solvers.ErrNotConverged) {
		return errors.Join(faults...)
	}
	return fmt.Errorf("%d of %d quadratic programs: %w; the duality gap is %.1e of the objective, with a %s of %g: "+
		"where that gap is small enough, take a larger one", count, len(faults), first, m.Gap,
		param.Name("tolerance"), m.Settings.Tolerance)
}

// programProgress reports on programs that run at the same time.
type programProgress struct {
	sync.Mutex
	data       *Data
	done, full int
}

func newProgramProgress(d *Data, programs int) *programProgress {
	return &programProgress{data: d, full: programs}
}

// tell reports the state of one program.
func (p *programProgress) tell(s solvers.SMOState) error {
	p.Lock()
	defer p.Unlock()
	p.data.report(float64(p.done), float64(p.full), fmt.Sprintf("%d steps, violation %.1e", s.Iterations,
		s.Violation))
	return nil
}

// finish reports that one more is done.
func (p *programProgress) finish() {
	p.Lock()
	defer p.Unlock()
	p.done++
	p.data.report(float64(p.done), float64(p.full), "")
}

// expansion sets the coefficients that g at the points of w makes, the points they
// belong to and the residual, for labels at the given positions. It is an error if the scores at
// the points of the problem are lost in rounding.
func (w *Warped) expansion(m *Machine, g *mat.Dense, labeled []int) error {
	n, _ := w.problem.gram.Dims()
	c := columnsOf(g)
	whole := mat.NewDense(n, c, nil)
	// Without γ_I the coefficients are g itself; with it they are α = (I + MK)⁻¹Eβ.
	if w.expand == nil {
		for i, p := range w.points {
			copy(whole.RawRowView(p), g.RawRowView(i))
		}
	} else {
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, w.expand, g, 0, whole)
		ratio := w.reg.Intrinsic(n, w.problem.data.Laplacian) / w.reg.GammaA
		of := dense.Gather(mat.NewDense(len(labeled), c, nil), g, labeled)
		points := make([]int, len(labeled))
		for p, q := range labeled {
			points[p] = w.points[q]
		}
		if w.sharp != nil {
			m.Residual = w.sharpResidual(whole, of, points)
		} else if w.smooth != nil {
			m.Residual = w.gram.HeatResidual(w.problem.gram, w.smooth, ratio, points, whole, of)
		} else {
			b := &solvers.PointNorm{Points: n, Labeled: points, Gamma: ratio, M: w.m}
			m.Residual = w.gram.Residual(w.problem.gram, b, whole, of)
		}
	}

	m.rows = m.keep(w.problem.data.Points, whole)
	if w.smooth == nil {
		return nil
	}
	return w.lostScores(mostHeatLoss, g, w.problem.Outputs(m))
}
