package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
)

// TSVMName is the name of [TSVMLearner] and its models.
const TSVMName = "tsvm"

// TSVMSettings of [FitTSVM].
type TSVMSettings struct {
	regularizer.Regularizer
	linear.Transduction
	// Tolerance of solvers.SMO. Default 1e-3.
	Tolerance float64
	// MaxIterations of solvers.SMO in a round. Default: the default of solvers.SMO.
	MaxIterations int
}

// fill returns s with its defaults for targets t, and the settings of the machine.
func (s TSVMSettings) fill(t *models.Targets) (TSVMSettings, Settings, error) {
	if s.Tolerance == 0 {
		s.Tolerance = 1e-3
	}
	var fault error
	s.Transduction, fault = s.Transduction.Fill(t)
	machine, err := s.machine().fill()
	s.Regularizer = machine.Regularizer
	return s, machine, errors.Join(fault, err)
}

// machine are the settings of the support vector machine of a round.
func (s *TSVMSettings) machine() Settings {
	return Settings{Method: SVM, Regularizer: s.Regularizer, Tolerance: s.Tolerance,
		MaxIterations: s.MaxIterations}
}

// TSVM is a fitted transductive support vector machine: a kernel machine and the record of its fit.
// It is immutable.
type TSVM struct {
	*Machine
	Settings TSVMSettings
	linear.Transduced
}

// FitTSVM is [Warped.FitTSVM] on the kernel among all points of d. It holds the n×n
// matrix of its values.
func FitTSVM(ctx context.Context, d *Data, t *models.Targets, s *TSVMSettings) (*TSVM, error) {
	n, d, err := d.check()
	if err != nil {
		return nil, err
	}
	if n != t.Len {
		return nil, fmt.Errorf("kernelmachine: targets for %d points, there are %d", t.Len, n)
	}
	if s == nil {
		s = &TSVMSettings{} // the check names the fault
	}
	if _, _, err := s.fill(t); err != nil {
		return nil, err
	}

	p, err := NewProblem(ctx, d)
	if err != nil {
		return nil, err
	}
	w, err := p.Warp(ctx, s.Regularizer, data.Range(0, n))
	if err != nil {
		return nil, err
	}
	return w.FitTSVM(ctx, t, s)
}

// FitTSVM fits a support vector machine to targets t and, for the other points
// of w, to targets y* that it finds. For each output it looks for a minimum of
//
//	1/l Σ_labeled V(y_i f(x_i)) + Weight/l Σ_unlabeled V(y*_j f(x_j)) + γ_A ‖f‖²
//
// over f and y* with V the hinge, a given share of y* being positive. It begins with a machine of
// the labeled points; the unlabeled points with its largest outputs get the positive targets. Then
// the weight of the unlabeled points grows from Weight/10⁵ by factors of 10. At each weight, pairs
// of a positive and a negative point with losses ξ > 0 and ξ' > 0, ξ + ξ' > 2, trade places, the
// worst with the worst, all at once, and the machine is trained again from where it was, until
// there are none: each trade lowers the objective and keeps the share.
//
// A round is a quadratic program in as many variables as w has points. With
// solvers.ErrNotConverged the machine is usable.
//
// T. Joachims, Transductive inference for text classification using support
// vector machines, ICML 1999; V. Sindhwani and S. S. Keerthi, Large scale
// semi-supervised linear SVMs, SIGIR 2006, section 3.
func (w *Warped) FitTSVM(ctx context.Context, t *models.Targets, s *TSVMSettings) (*TSVM, error) {
	if s == nil {
		s = &TSVMSettings{}
	}
	filled, machine, err := s.fill(t)
	if err != nil {
		return nil, err
	}
	labeled, err := w.among(t, &machine)
	if err != nil {
		return nil, err
	}

	gram, err := w.Values(ctx)
	if err != nil {
		return nil, err
	}
	m := &TSVM{Settings: filled, Machine: newMachine(&machine, w.problem.data, t)}
	unlabeled := data.Without(len(w.points), labeled) // positions in w
	if len(unlabeled) == 0 {
		return nil, linear.ErrNoUnlabeled
	}

	for _, p := range unlabeled {
		m.Unlabeled = append(m.Unlabeled, w.points[p])
	}
	_, c := t.Y.Dims()
	runs := make([]*tsvm, c)
	faults := make([]error, c)
	progress := newProgramProgress(w.problem.data, c*len(linear.Annealing))
	par.For(c, 1, func(j, _ int) {
		runs[j] = newTSVM(gram, mat.Col(nil, j, t.Y), labeled, unlabeled, &filled, filled.Positive[j])
		runs[j].progress = progress
		runs[j].solver.OnIteration = progress.tell
		faults[j] = runs[j].run(ctx)
	})

	beta := mat.NewDense(len(w.points), c, nil)
	m.Assigned = mat.NewDense(len(unlabeled), c, nil)
	for j, r := range runs {
		if faults[j] != nil && !errors.Is(faults[j], solvers.ErrNotConverged) {
			return nil, faults[j]
		}
		beta.SetCol(j, r.at.V)
		m.Intercepts = append(m.Intercepts, -r.at.Multiplier)
		m.Gap = max(m.Gap, r.at.Gap/math.Max(math.Abs(r.at.Objective), math.SmallestNonzeroFloat64))
		m.Objective, m.Start = append(m.Objective, r.objective()), append(m.Start, r.start)
		m.Rounds = max(m.Rounds, r.rounds)
		for p, i := range unlabeled {
			m.Assigned.Set(p, j, r.y[i])
		}
	}

	// Rounding may lose the solution on a warped kernel, which is no machine then.
	if err := w.expansion(m.Machine, beta, data.Range(0, len(w.points))); err != nil {
		return nil, err
	}
	return m, errors.Join(faults...)
}

// tsvm is a run for one output. In its units the objective is divided by 2γ_A.
type tsvm struct {
	gram               *mat.Dense
	y                  []float64 // given or assigned; 0 before
	labeled, unlabeled []int
	share              float64 // of positive ones
	gammaA             float64
	c, most            float64 // bounds of labeled and, at the end, unlabeled points
	solver             solvers.SMOSettings
	progress           *programProgress

	at     *solvers.SMOResult
	f      []float64 // outputs, with the bias
	start  float64
	rounds int
}

func newTSVM(gram *mat.Dense, y []float64, labeled, unlabeled []int, s *TSVMSettings, share float64) *tsvm {
	c := 1 / (2 * s.GammaA * float64(len(labeled)))
	n, _ := gram.Dims()
	r := &tsvm{gram: gram, y: make([]float64, n), labeled: labeled, unlabeled: unlabeled, share: share,
		gammaA: s.GammaA, c: c, most: s.Weight * c, f: make([]float64, n),
		solver: solvers.SMOSettings{Tolerance: s.Tolerance, MaxIterations: s.MaxIterations}}
	for p, i := range labeled {
		r.y[i] = y[p]
	}
	return r
}

func (r *tsvm) run(ctx context.Context) error {
	v := make([]float64, len(r.y))
	unconverged := r.train(ctx, 0, v)
	if r.at == nil {
		return unconverged
	}
	// The machine of the labeled points assigns the first targets; then their weight grows.
	linear.Assign(r.y, r.f, r.unlabeled, r.share)
	r.start = r.objective()
	for _, part := range linear.Annealing {
		for round := 0; ; round++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			unconverged = r.train(ctx, part*r.most, r.at.V)
			if unconverged != nil && !errors.Is(unconverged, solvers.ErrNotConverged) {
				return unconverged
			}
			if round == linear.MaxRounds {
				return linear.ErrStillTrading
			}
			if !r.trade() {
				break
			}
		}

		r.progress.finish()
	}

	return unconverged
}

// train solves the program with bound upper for unlabeled points, from v.
func (r *tsvm) train(ctx context.Context, upper float64, v []float64) error {
	n := len(r.y)
	q := &solvers.QP{Rows: solvers.DenseRows(r.gram), Linear: make([]float64, n), Lower: make([]float64, n),
		Upper: make([]float64, n), Start: v}
	// The variable of a point lies between 0 and y·C, C being smaller for unlabeled points.
	bound := func(points []int, c float64) {
		for _, i := range points {
			q.Linear[i] = -r.y[i]
			q.Lower[i], q.Upper[i] = min(0, c*r.y[i]), max(0, c*r.y[i])
		}
	}

	bound(r.labeled, r.c)
	bound(r.unlabeled, upper)
	found, err := solvers.SMO(ctx, q, &r.solver)
	if found == nil {
		return err
	}
	r.at = found
	r.rounds++
	for i, v := range found.Product {
		r.f[i] = v - found.Multiplier
	}
	return err
}

// trade swaps the targets of all pairs that lower the objective by more than the
// tolerance and tells whether there were any. A pair's variables keep their sum.
func (r *tsvm) trade() bool {
	// Pairs are taken in the order of their losses, so the first pair that gains nothing ends the
	// round.
	plus, minus := linear.WorstFirst(r.y, r.f, r.unlabeled)
	traded := false
	for p := range min(len(plus), len(minus)) {
		i := plus[p]
		j := minus[p]
		if xi, xj := 1-r.f[i], 1+r.f[j]; !(min(xi, xj) > r.solver.Tolerance && xi+xj > 2+r.solver.Tolerance) {
			break
		}
		traded = true
		r.y[i] = -1
		r.y[j] = 1
		sum := r.at.V[i] + r.at.V[j]
		r.at.V[i] = min(0, sum)
		r.at.V[j] = max(0, sum)
	}

	return traded
}

// objective returns the objective of f with all targets at the full weight, times 2γ_A.
func (r *tsvm) objective() float64 {
	var norm, loss float64
	for i, v := range r.at.V {
		norm += v * r.at.Product[i]
	}
	// The norm is βᵀK̃β; the hinge counts at the full weight of both kinds of points.
	add := func(points []int, c float64) {
		for _, i := range points {
			loss += c * max(0, 1-r.y[i]*r.f[i])
		}
	}

	add(r.labeled, r.c)
	add(r.unlabeled, r.most)
	return 2 * r.gammaA * (norm/2 + loss)
}
