// Package propagation holds methods that continue labels over the points of a graph:
// harmonic functions, local and global consistency, graph regularization and Poisson
// learning. Each solves one sparse linear system by conjugate gradients, with a column
// for each class; reweighted harmonic functions solve another one first.
//
// Zhu, Ghahramani & Lafferty, ICML 2003; Zhou, Bousquet, Lal, Weston & Schölkopf,
// NIPS 2003; Belkin, Matveeva & Niyogi, COLT 2004; Calder, Cook, Thorpe & Slepčev,
// ICML 2020; Calder & Slepčev 2020 and Miller & Calder 2023: see [FitReweighted].
package propagation

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// Method is a way to continue labels over the points of a graph.
type Method int

const (
	// Harmonic keeps the given labels and makes every other value the mean of
	// its neighbours', weighted by the edges: label propagation (Zhu, Ghahramani
	// & Lafferty 2003, equations 2 to 5),
	//
	//	L_uu f_u = W_ul y_l,   f_l = y_l
	//
	// with L = D − W, l the labeled and u the other points. The distribution of a soft label is
	// kept like a hard one; weights have no place here.
	Harmonic Method = iota
	// LGC is local and global consistency, or label spreading (Zhou et al. 2003),
	//
	//	(I − αS)F = (1 − α)Y,   S = D^-½WD^-½
	//
	// with Y one for the class of a labeled point and zero elsewhere; the row of a soft label of
	// weight w is w times its distribution.
	LGC
	// Tikhonov is graph regularization, as models with a kernel have it on the
	// points of the graph alone (Belkin, Matveeva & Niyogi 2004; the limit of
	// Laplacian regularized least squares in Table 2 of Belkin, Niyogi &
	// Sindhwani 2006),
	//
	//	(J/l + γ_A I + γ_I s r(L)) f = Jy/l
	//
	// with J the diagonal matrix that is one at the l labeled points, s of
	// [regularizer.Scaling], and Lᵖ or a polynomial for r(L). With weights of labels J has them, and l is their sum; y of a soft
	// label is 2p − 1 for its distribution p.
	Tikhonov
	// Poisson is Poisson learning, for very few labels (Calder, Cook, Thorpe &
	// Slepčev 2020, equation 2.1),
	//
	//	L u = Σ_j (y_j − ȳ) δ_j,   Σ_i d_i u_i = 0
	//
	// with L = D − W, j the labeled points and ȳ the mean of their y_j. Soft labels have their
	// distributions for y_j; with weights w_j the source is w_j(y_j − ȳ), and ȳ is the weighted mean.
	// Where all labels of a component have one most probable class, its points have the scores ȳ.
	Poisson
)

var methods = enum.New[Method]("graph regularization", "harmonic", "lgc", "tikhonov", "poisson")

// String returns the name used on the command line and in manifests.
func (m Method) String() string { return methods.String(m) }

// MarshalText returns the name.
func (m Method) MarshalText() ([]byte, error) { return methods.Marshal(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *Method) UnmarshalText(text []byte) error { return methods.Unmarshal(m, text) }

// Settings of [Fit]. The zero value is harmonic functions.
type Settings struct {
	Method Method
	// Alpha is the α of LGC, in (0, 1). Default 0.99, the paper's.
	Alpha float64
	// Regularizer of Tikhonov, which needs it: γ_A and γ_I positive.
	Regularizer regularizer.Regularizer
	// MassNormalization scales each class of a harmonic function to the share of the mass that
	// Priors give it: class mass normalization (Zhu et al. 2003, section 4).
	MassNormalization bool
	// Priors are the shares of the classes in all points, up to a factor, in the order of the classes. The answers
	// get these shares: see [Shared]. With MassNormalization, which scales masses to them, the default are the
	// labeled points of each class and one more.
	Priors []float64
	// ClassShares says which shares the answers get without Priors. Default: as the scores have them.
	ClassShares ClassShares
	// Tolerance bounds the relative residuals; see [cg.Settings]. Default 1e-8. Residuals of
	// Tikhonov are relative to Jy/l: with γ_I far below 1/l, take less.
	Tolerance float64
	// MaxIterations bounds the iterations. Default 10,000.
	MaxIterations int
	// Start, if not nil, is n×c and near the Scores, for example the Scores of a graph with fewer
	// points or labels. The solver begins with it.
	Start *mat.Dense
	// OnIteration, if not nil, is told how far the solver is; an error stops it.
	OnIteration func(cg.State) error
	// Solver, if not nil, solves the linear system in place of package cg, which computes
	// its residuals. It has no powers above 1, and solves all components at once.
	Solver Solver
}

// DefaultAlpha is the α of [LGC] where none is given.
const DefaultAlpha = 0.99

const (
	defaultTolerance  = 1e-8
	defaultIterations = 10000
)

// fill returns s with its defaults for y, or all faults at once.
func (s Settings) fill(y *models.Targets) (Settings, error) {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("propagation: "+format,
			args...))
	}
	// The parameters of the method bound its settings, so a range stands once.
	table := solverParams
	if methods.Valid(s.Method) {
		table = params(s.Method)
	} else {
		fault("graph regularization %v", s.Method)
	}
	if y.Classes == nil && (s.Method == LGC || s.Method == Poisson) {
		fault("%v is for classes; for a regression take %v or %v", s.Method, Harmonic, Tikhonov)
	}

	// The parameters of the method give the ranges; parameters of other methods are not checked.
	if err := table.Check(&s); err != nil {
		faults = append(faults, err)
	}
	if s.Alpha != 0 && s.Method != LGC {
		fault("α is %v; it belongs to %v, not %v", s.Alpha, LGC, s.Method)
	}
	if s.Method != Tikhonov && !reflect.ValueOf(s.Regularizer).IsZero() {
		fault("γ_A, γ_I and powers belong to %v, not %v", Tikhonov, s.Method)
	}
	if s.MassNormalization && s.Method != Harmonic {
		fault("class mass normalization belongs to %v", Harmonic)
	} else if s.MassNormalization && y.Classes == nil {
		faults = append(faults, models.Faultf("%s is for classes, not for values",
			param.Name("class-mass")))
	}
	faults = append(faults, s.checkNorm())
	if degree := s.Regularizer.Degree(); s.Solver != nil && degree > 1 {
		name := "power"
		if s.Regularizer.Coefficients != nil {
			name = "penalty-coefficients"
		}
		faults = append(faults, models.Faultf("%s asks for the power %d of the Laplacian; another program solves "+
			"systems of power 1 only", param.Name(name), degree))
	}
	if y.Weights != nil && s.Method == Harmonic {
		fault("harmonic functions keep the labels as they are, and have no weights of them; take %v", Tikhonov)
	}
	if !s.MassNormalization || s.Priors != nil {
		faults = append(faults, CheckShares(s.Priors, s.ClassShares, y))
	}

	// Defaults come after the checks, which must see what was given.
	if s.Alpha == 0 && s.Method == LGC {
		s.Alpha = DefaultAlpha
	}
	if s.Method == Tikhonov {
		s.Regularizer, _ = s.Regularizer.Fill() // its faults are among those above
	}
	if s.Tolerance == 0 {
		s.Tolerance = defaultTolerance
	}
	if s.MaxIterations == 0 {
		s.MaxIterations = defaultIterations
	}
	return s, errors.Join(faults...)
}

// checkNorm returns the faults of r(L) that no single parameter shows.
func (s *Settings) checkNorm() error {
	r := s.Regularizer
	err := r.CheckNorm()
	if err == nil && s.Method == Tikhonov && r.Degree() == 0 {
		err = &models.ParamError{Name: "penalty-coefficients", Value: models.FormatFloats(r.Coefficients),
			Must: "numbers of which one behind the first is positive: a constant r(L) leaves the graph out"}
	}
	return err
}

// Solution holds the values of graph regularization at the n points of a graph. It is
// immutable.
type Solution struct {
	Settings Settings
	Classes  []int64 // nil for a regression
	// Scores are n×c, a column a class, or the n×m values of a regression: of
	// Harmonic the probabilities of the classes (scaled by class mass
	// normalization), of LGC and Poisson F and u, of Tikhonov f for each class
	// against the others, which are −1. In components without a label they are
	// zero; values of a regression are the mean of the labeled ones there.
	Scores *mat.Dense
	// Labels are the classes of all points as positions in Classes: the given
	// one where there is a hard one, Fallback in components without a label, else that
	// of the largest score. Nil for a regression.
	Labels []int32
	// Residuals ‖b_j − Ax_j‖/‖b_j‖ of the linear system, a column each, recomputed from the
	// definition, and the number of iterations. Of a graph in parts, which are solved apart, they
	// are the largest of any part.
	Residuals  []float64
	Iterations int
	Labeled    int // number of labeled points
	// Unreached is the number of points in components without a label.
	Unreached int
	Fallback  int32 // the most frequent class among the labels, 0 for a regression
	// Shared says which shares the classes got; nil where none were asked for.
	Shared *Shared
}

// Fit continues the targets y of some points to all n points of the graph
// with weights w and components c (nil to find them): [NewProblem] and
// [Problem.Fit].
func Fit(ctx context.Context, w *sparse.CSR, c *sparse.Components, y *models.Targets,
	s *Settings) (*Solution, error) {
	// The order for products takes as long as some ten of them, more than a good start leaves to do.
	prepare := NewProblem
	if s != nil && s.Start != nil && s.Tolerance >= fewDigits {
		prepare = func(w *sparse.CSR, c *sparse.Components) (*Problem, error) { return newProblem(w, c, together) }
	}
	p, err := prepare(w, c)
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, y, s)
}

// Fit continues the targets y to all points. A nil s means the defaults.
//
// Every component is a problem of its own. In one without a label nothing is known: see [Solution].
// In a component with labels of one class only, Poisson learning has no source; its points get that
// class.
//
// It costs an iteration of cg.Solve, a pass over the graph for all classes at
// once, times their number, and holds seven n×c blocks. Components of 5000 points and more
// are solved one after the other, each with the columns that differ there. With cg.ErrNotConverged
// and a cancelled ctx the Solution holds what was reached.
func (p *Problem) Fit(ctx context.Context, y *models.Targets, s *Settings) (*Solution, error) {
	if s == nil {
		s = &Settings{}
	}
	if y.Len != p.Len() {
		return nil, fmt.Errorf("propagation: targets of %d points for a graph of %d", y.Len, p.Len())
	}
	filled, err := s.fill(y)
	if err != nil {
		return nil, err
	}

	d := p.newDraw(y, filled)
	if filled.Start != nil {
		rows, cols := filled.Start.Dims()
		if _, c := d.y.Dims(); rows != p.Len() || cols != c {
			return nil, fmt.Errorf("propagation: a start of %d×%d for %d points and %d columns", rows, cols,
				p.Len(), c)
		}
		d.start = p.there(filled.Start)
	}

	r, err := d.solution(ctx)
	if r == nil {
		return nil, err
	}
	g := &Solution{Settings: filled, Classes: y.Classes, Residuals: r.Residuals,
		Iterations: r.MaxIterations(), Labeled: len(y.Labeled)}
	g.Settings.OnIteration = nil
	g.Settings.Start = nil
	g.Settings.Solver = nil
	g.Shared = d.share(r.X)
	g.Scores = p.back(r.X)
	g.settle(d, y)
	return g, err
}

// solution solves the equations of the method and makes its values of their solution.
func (d *draw) solution(ctx context.Context) (*cg.Result, error) {
	r, err := d.byComponent(ctx)
	if r == nil {
		return nil, err
	}

	switch d.settings.Method {
	case Harmonic:
		d.finishHarmonic(r.X)
	case Poisson:
		d.finishPoisson(r.X)
	}

	return r, err
}

// equations solves the linear equations of the method.
func (d *draw) equations(ctx context.Context) (*cg.Result, error) {
	switch d.settings.Method {
	case Harmonic:
		return d.harmonic(ctx)
	case Tikhonov:
		return d.tikhonov(ctx)
	case Poisson:
		return d.poisson(ctx)
	}
	return d.lgc(ctx)
}

// settle decides all classes and fills in what no label reaches.
func (g *Solution) settle(d *draw, y *models.Targets) {
	var mean []float64
	if g.Classes == nil {
		mean = dense.ColumnMeans(d.y)
	} else {
		g.Labels = models.Decide(g.Scores)
		g.Fallback = d.mostFrequent()
	}

	// A component without a label tells nothing of its points.
	for i, at := range d.problem.place {
		if d.reached[d.problem.components.Of[at]] {
			continue
		}
		g.Unreached++
		if mean != nil {
			copy(g.Scores.RawRowView(i), mean)
		} else {
			g.Labels[i] = g.Fallback
		}
	}

	// A hard label is kept; what a distribution says is decided by the scores, as for other points.
	if g.Classes != nil && !d.soft {
		for q, i := range y.Labeled {
			g.Labels[i] = d.class(q)
		}
	}
}

// draw is a graph with labels, in the order of the problem.
type draw struct {
	problem   *Problem
	settings  Settings
	classes   bool       // or a regression
	soft      bool       // some label is a distribution
	at        []int32    // places of the labeled points
	y         *mat.Dense // their targets, l×c; of classes the distributions, one and zero of hard labels
	weights   []float64  // of the labels; nil for ones
	reached   []bool     // components with a label
	start     *mat.Dense // of the solver; nil for zero
	intrinsic float64    // γ_I s of Tikhonov, for the whole graph
	labels    float64    // the sum of the weights of all labels, their number without any
}

func (p *Problem) newDraw(t *models.Targets, s Settings) *draw {
	d := &draw{problem: p, settings: s, classes: t.Classes != nil, soft: t.Soft, y: coded(t),
		reached: make([]bool, p.components.Count()), weights: t.Weights, labels: t.TotalWeight()}
	if s.Method == Tikhonov {
		d.intrinsic = s.Regularizer.Intrinsic(p.Len(), p.laplacian(s.Regularizer.Laplacian))
	}
	// A component is reached by its first label.
	for _, i := range t.Labeled {
		d.at = append(d.at, p.place[i])
		d.reached[p.components.Of[p.place[i]]] = true
	}
	return d
}

// coded returns the targets, l×c: of classes their distributions.
func coded(t *models.Targets) *mat.Dense {
	if t.Classes == nil {
		return t.Y
	}
	return t.Shares()
}

// class returns the class of the hard label q.
func (d *draw) class(q int) int32 { return int32(slices.Index(d.y.RawRowView(q), 1)) }

// weight returns the weight of label q.
func (d *draw) weight(q int) float64 {
	if d.weights == nil {
		return 1
	}
	return d.weights[q]
}

// counts returns the mass of the labels of every class, Σ_q w_q y_qc: their number, if they are hard
// and have no weights.
func (d *draw) counts() []float64 {
	_, classes := d.y.Dims()
	counts := make([]float64, classes)
	for q := range d.at {
		for c, v := range d.y.RawRowView(q) {
			counts[c] += d.weight(q) * v
		}
	}
	return counts
}

// massed returns y with every row multiplied by the weight of its label; y itself without weights.
func (d *draw) massed(y *mat.Dense) *mat.Dense {
	if d.weights == nil {
		return y
	}
	out := mat.DenseCopyOf(y)
	dense.ScaleRows(out, d.weights)
	return out
}

// mostFrequent returns the most frequent class, the first of equals.
func (d *draw) mostFrequent() int32 {
	counts := d.counts()
	return int32(slices.Index(counts, slices.Max(counts)))
}

// sources returns an n×c block that is y at the labeled points and zero
// elsewhere.
func (d *draw) sources(y *mat.Dense) *mat.Dense {
	_, c := y.Dims()
	b := dense.New(d.problem.Len(), c)
	for q, i := range d.at {
		copy(b.RawRowView(int(i)), y.RawRowView(q))
	}
	return b
}

// solver are the settings of the solver.
func (d *draw) solver() cg.Settings {
	return cg.Settings{Tolerance: d.settings.Tolerance, MaxIterations: d.settings.MaxIterations,
		OnIteration: d.settings.OnIteration}
}

// fewDigits is a tolerance from which on plain steps may take less time than a preconditioner.
const fewDigits = 1e-3

// method returns the preconditioner of a Laplacian: where a start leaves errors near what
// is new, and few digits are asked for, a handful of plain steps does.
func (d *draw) method() cg.Method {
	_, columns := d.y.Dims()
	return d.settings.method(d.start != nil, d.problem.Len()*columns)
}

// manyValues is the number of values, points times columns, from which label spreading to few digits is
// solved by one polynomial in single precision. Plain steps read the graph in double precision and multiply
// blocks with themselves: 150,000 points and 50 columns took 3.4 times as long by them.
const manyValues = 1 << 22

// method is draw.method for so many values, started or not.
func (s *Settings) method(started bool, values int) cg.Method {
	// To few digits label spreading, whose condition is at most (1+α)/(1−α), takes some dozen plain steps,
	// whatever the start, and less time than the factors of a preconditioner.
	spreads := s.Method == LGC && (1+s.Alpha)/(1-s.Alpha) <= 200
	switch {
	case !(s.Tolerance >= fewDigits) || !started && !spreads:
		return cg.Auto
	case !started && values >= manyValues:
		return cg.Chebyshev
	}
	return cg.Jacobi
}

// solve solves AX = B with the preconditioner m, or where another program does with the matrix
// that form makes.
func (d *draw) solve(ctx context.Context, a sparse.Operator, b *mat.Dense, m cg.Preconditioner,
	form func() *sparse.CSR) (*cg.Result, error) {
	s := d.solver()
	s.Preconditioner = m
	s.Start = d.start
	d.outside(&s, nil, form)
	return cg.Solve(ctx, a, b, &s)
}
