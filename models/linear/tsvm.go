package linear

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/solvers"
)

// TSVMName is the name of the learner and of [TSVM].
const TSVMName = "tsvm-linear"

// TSVMSettings of [FitTSVM].
type TSVMSettings struct {
	// Settings of a machine without an intrinsic norm. Loss defaults to SquaredHinge and Tolerance,
	// of the last rounds, to 1e-5.
	Settings
	Transduction
}

// fill returns s with its defaults for targets t, or all faults at once.
func (s TSVMSettings) fill(t *models.Targets) (TSVMSettings, error) {
	if s.Loss == LeastSquares {
		s.Loss = SquaredHinge
	}
	if s.Tolerance == 0 {
		s.Tolerance = 1e-5
	}
	var faults [2]error
	s.Settings, faults[0] = s.Settings.fill()
	s.Transduction, faults[1] = s.Transduction.Fill(t)
	if s.Regularizer.GammaI != 0 {
		return s, errors.Join(faults[0], faults[1],
			fmt.Errorf("linear: γ_I is %v; a linear transductive machine has no intrinsic norm",
				s.Regularizer.GammaI))
	}
	return s, errors.Join(faults[:]...)
}

// TSVM is a fitted linear transductive support vector machine: a linear model and
// the course of its fit. It is immutable.
type TSVM struct {
	*Model
	Settings TSVMSettings
	Transduced
}

// While targets still change, Newton's method ends at this tolerance, or after this number of steps
// with this number of inner steps each.
const (
	roundTolerance = 1e-3
	roundSteps     = 10
	roundInner     = 50
)

// FitTSVM looks for a linear function f(x) = wᵀx + b and targets y* of the
// points without a label that minimize, for each output,
//
//	1/l Σ_labeled V(y_i f(x_i)) + Weight/l Σ_unlabeled V(y*_j f(x_j)) + γ_A ‖w‖²
//
// with V the squared or the Huberized hinge, a given share of y* being positive.
// As in [kernelmachine.Warped.FitTSVM] the machine of the labeled points assigns the
// first targets, and the weight of the unlabeled ones grows from Weight/10⁵ by
// factors of 10. At each weight a positive and a negative point trade places if
// that lowers their losses by more than the tolerance, which is where the
// negative one has the larger output, the worst with the worst, all at once;
// then Newton's method goes on from where it was, inexactly until the last rounds.
// Each trade lowers the objective and keeps the share, so that the rounds end. The
// mean of the points is taken out of them meanwhile, and put into the intercepts.
//
// x is n×d, dense or sparse. All outputs go on together: a step of conjugate
// gradients costs a product of X and of Xᵀ with a block of m outputs, 4·nnz·m
// operations, for X of nnz stored elements. It holds about eight n×m and eight
// d×m blocks, and sparse points a second time, transposed. With
// [solvers.ErrNotConverged] the machine is usable. progress may be nil.
//
// V. Sindhwani and S. S. Keerthi, Large scale semi-supervised linear SVMs, SIGIR
// 2006, section 3, where S, the number of pairs that trade at once, is unbounded
// and Weight·u/l is λ'/λ.
func FitTSVM(ctx context.Context, x data.Points, t *models.Targets, s *TSVMSettings,
	progress Progress) (*TSVM, error) {
	if s == nil {
		s = &TSVMSettings{}
	}
	n, d := x.Dims()
	if n != t.Len {
		return nil, fmt.Errorf("linear: targets for %d points, there are %d", t.Len, n)
	}
	filled, err := s.fill(t)
	if err != nil {
		return nil, err
	}

	unlabeled := data.Without(n, t.Labeled)
	if len(unlabeled) == 0 {
		return nil, ErrNoUnlabeled
	}
	// Points without a label count as negative until they are assigned.
	_, c := t.Y.Dims()
	design := solvers.NewDesign(x)
	mean := meanOf(design)
	r := &linearTSVM{
		s: &filled, points: design, x: inBasis{x: design, mean: mean}, labeled: t.Labeled,
		unlabeled: unlabeled, weights: make([]float64, n), progress: progress,
		y: mat.NewDense(n, c, nil), w: mat.NewDense(d, c, nil), b: make([]float64, c),
	}
	for i := range n {
		for j := range c {
			r.y.Set(i, j, -1)
		}
	}

	for p, i := range t.Labeled {
		r.y.SetRow(i, t.Y.RawRowView(p))
		r.weights[i] = 1
	}
	err = r.run(ctx)
	if err != nil && !errors.Is(err, solvers.ErrNotConverged) {
		return nil, err
	}
	for j, v := range MeanProduct(mean, r.w) {
		r.b[j] -= v // of the points as they are
	}
	// The model, and the course of its fit.
	m := &TSVM{Settings: filled, Model: &Model{Settings: filled.Settings, Classes: t.Classes,
		Coefficients: r.w, Intercepts: r.b,
		Labeled: len(t.Labeled), Iterations: r.iterations}}
	m.Transduced = Transduced{Unlabeled: unlabeled, Assigned: mat.NewDense(len(unlabeled), c, nil),
		Objective: r.objective(), Start: r.start, Rounds: r.rounds}
	dense.Gather(m.Assigned, r.y, unlabeled)
	return m, err
}

// meanOf returns the mean of the rows of x.
func meanOf(x solvers.Design) []float64 {
	n, d := x.Dims()
	mean := mat.NewDense(d, 1, nil)
	ones := mat.NewDense(n, 1, nil)
	for i := range n {
		ones.Set(i, 0, 1/float64(n))
	}
	x.MulTransTo(mean, ones)
	return mean.RawMatrix().Data
}

// linearTSVM is a run for all outputs.
type linearTSVM struct {
	s                  *TSVMSettings
	points             solvers.Design
	x                  solvers.Design // the points less their mean, wherever they lie
	labeled, unlabeled []int
	weights            []float64  // of the losses, times 1/l
	y                  *mat.Dense // given or assigned, n×c

	w                  *mat.Dense // d×c
	b                  []float64
	f                  *mat.Dense // outputs, n×c
	start              []float64
	rounds, iterations int

	progress Progress
	stage    int // of so many as there are parts in Annealing, and the first and the last
}

func (r *linearTSVM) run(ctx context.Context) error {
	if err := r.train(ctx, false); err != nil && !errors.Is(err, solvers.ErrNotConverged) {
		return err
	}
	r.eachOutput(func(j int, y, f []float64) bool {
		Assign(y, f, r.unlabeled, r.s.Positive[j])
		return true
	})
	// The weight of the unlabeled points grows in steps, each from the solution before.
	r.start = r.objective()
	for _, part := range Annealing {
		r.stage++
		for _, i := range r.unlabeled {
			r.weights[i] = part * r.s.Weight
		}
		if err := r.settle(ctx, false); err != nil && !errors.Is(err, solvers.ErrNotConverged) {
			return err
		}
	}

	r.stage++
	return r.settle(ctx, true)
}

// settle trains and trades until there is nothing to trade.
func (r *linearTSVM) settle(ctx context.Context, last bool) error {
	for range MaxRounds {
		err := r.train(ctx, last)
		if err != nil && !errors.Is(err, solvers.ErrNotConverged) {
			return err
		}
		if !r.eachOutput(r.trade) {
			return err
		}
	}
	return ErrStillTrading
}

// train minimizes over w and b from where they are, at last to the tolerance of
// the settings, and sets f.
func (r *linearTSVM) train(ctx context.Context, last bool) error {
	p := &solvers.NewtonProblem{X: r.x, Y: r.y, Ridge: 2 * r.s.Regularizer.GammaA,
		C: 1 / float64(len(r.labeled)), Weights: r.weights, Width: r.s.Width}
	if r.s.Loss == HuberizedHinge {
		p.Loss = solvers.HuberizedHinge
	}
	p.Diagonal = r.diagonal()
	newton := &solvers.NewtonSettings{Tolerance: r.s.Tolerance, MaxIterations: r.s.MaxIterations, StartW: r.w,
		StartB: r.b, OnIteration: r.report}
	// While targets still change, an exact solution would be thrown away.
	if !last {
		newton.Tolerance = max(newton.Tolerance, roundTolerance)
		newton.MaxIterations = min(newton.MaxIterations, roundSteps)
		newton.MaxInner = roundInner
	}

	found, err := solvers.Newton(ctx, p, newton)
	if found == nil {
		return err
	}
	r.w = found.W
	r.b = found.B
	r.rounds++
	r.iterations += found.Iterations
	if r.f == nil {
		r.f = mat.DenseCopyOf(r.y)
	}
	r.x.MulTo(r.f, r.w)
	dense.AddRow(r.f, r.b)
	return err
}

// report tells the progress of a round.
func (r *linearTSVM) report(at solvers.NewtonState) error {
	if r.progress != nil {
		r.progress(float64(r.stage), float64(len(Annealing)+2), fmt.Sprintf("round %d, %v", r.rounds+1, at))
	}
	return nil
}

// diagonal approximates the diagonal of the Hessian, the sum of 2γ_A I and the points less their
// mean, all weighted as if they were on the curved part of the loss.
func (r *linearTSVM) diagonal() []float64 {
	n, d := r.x.Dims()
	curve := 2.0 // V'' of the squared hinge
	if r.s.Loss == HuberizedHinge {
		curve = 1 / (2 * r.s.Width)
	}
	// The second derivative of the loss, over the number of labeled points.
	curve /= float64(len(r.labeled))
	total := floats.Sum(r.weights)
	mean := mat.NewDense(d, 1, nil)
	r.points.MulTransTo(mean, mat.NewDense(n, 1, r.weights))
	out := make([]float64, d)
	solvers.AddSquares(out, r.points, func(i int) float64 { return curve * r.weights[i] })
	for j, v := range mean.RawMatrix().Data {
		out[j] = max(0, out[j]-curve*v*v/total) + 2*r.s.Regularizer.GammaA
	}
	return out
}

// trade swaps the targets of all pairs that lower the objective of an output by
// more than the tolerance and tells whether there were any.
func (r *linearTSVM) trade(_ int, y, f []float64) bool {
	plus, minus := WorstFirst(y, f, r.unlabeled)
	traded := false
	for p := range min(len(plus), len(minus)) {
		i := plus[p]
		j := minus[p]
		if now, then := r.s.loss(1, f[i])+r.s.loss(-1, f[j]), r.s.loss(-1, f[i])+
			r.s.loss(1, f[j]); !(now-then > roundTolerance) {
			break
		}
		traded = true
		y[i] = -1
		y[j] = 1
	}

	return traded
}

// eachOutput calls change with targets and outputs of each column and tells
// whether one of them says that it changed the targets.
func (r *linearTSVM) eachOutput(change func(j int, y, f []float64) bool) bool {
	_, c := r.y.Dims()
	changed := make([]bool, c)
	columns := make([][]float64, c)
	par.For(c, 1, func(j, _ int) {
		columns[j] = mat.Col(nil, j, r.y)
		changed[j] = change(j, columns[j], mat.Col(nil, j, r.f))
	})
	// Columns are written back after the parallel part.
	any := false
	for j, ok := range changed {
		if ok {
			r.y.SetCol(j, columns[j])
			any = true
		}
	}

	return any
}

// objective returns the objective of every output with all targets at the full weight.
func (r *linearTSVM) objective() []float64 {
	_, c := r.y.Dims()
	out := make([]float64, c)
	add := func(points []int, weight float64) {
		for _, i := range points {
			for j, f := range r.f.RawRowView(i) {
				out[j] += weight / float64(len(r.labeled)) * r.s.loss(r.y.At(i, j), f)
			}
		}
	}

	// Unlabeled points count at the full weight, whatever it is now.
	add(r.labeled, 1)
	add(r.unlabeled, r.s.Weight)
	for j := range out {
		out[j] += r.s.Regularizer.GammaA * math.Pow(mat.Norm(r.w.ColView(j), 2), 2)
	}
	return out
}
