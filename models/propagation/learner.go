package propagation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// Learners are the learners of this package, in the order of their methods.
var Learners = []models.Learner{Learner{Method: Harmonic}, Learner{Method: LGC}, Learner{Method: Tikhonov},
	Learner{Method: Poisson}, ReweightedLearner{}, SizedLearner{Method: PoissonMBO}, SizedLearner{Method: Cut}}

// Learner continues targets over a graph by a method.
type Learner struct {
	Method Method
	// Solver, if not nil, solves the linear systems of [Learner.Fit]; see [Settings].
	Solver Solver
}

// Parameters by what they are for.
var (
	solverParams = models.Table[Settings]{
		{Param: models.Param{Name: "tolerance", Doc: "relative residual at which the solver stops",
			Default: models.FormatFloat(defaultTolerance), Range: models.Between(0, 1)},
			At: func(s *Settings) any { return &s.Tolerance }},
		{Param: models.Param{Name: "max-iterations", Doc: "number of iterations after which the solver gives up",
			Default: models.FormatFloat(defaultIterations), Range: models.AtLeast(1)},
			At: func(s *Settings) any { return &s.MaxIterations }},
	}
	massParams = models.Table[Settings]{
		{Param: models.Param{Name: "class-mass",
			Doc: "scale each class to its share of the points: class mass normalization", Default: "false"},
			At: func(s *Settings) any { return &s.MassNormalization }},
	}
	alphaParams = models.Table[Settings]{
		{Param: models.Param{Name: "alpha", Doc: "weight α of the neighbours beside that of the given labels",
			Default: models.FormatFloat(DefaultAlpha), Range: models.Between(0, 1), Axis: true,
			Grid: []string{"0.5", "0.9", "0.99", "0.999"}},
			At: func(s *Settings) any { return &s.Alpha }},
	}
	normParams = models.Part(regularizer.Params,
		func(s *Settings) *regularizer.Regularizer { return &s.Regularizer })
)

// tables holds the parameters of each method.
var tables = [...]models.Table[Settings]{
	Harmonic: join(massParams, shareParams.Change("priors", func(p *models.Param) {
		p.Doc += "; with class-mass their masses get them"
	}), solverParams),
	LGC:      join(alphaParams, shareParams, solverParams),
	Tikhonov: join(positiveNorms(normParams), shareParams, solverParams),
	Poisson:  join(shareParams, solverParams),
}

// join returns a table of all parameters.
func join(tables ...models.Table[Settings]) models.Table[Settings] {
	var out models.Table[Settings]
	for _, t := range tables {
		out = append(out, t...)
	}
	return out
}

// positiveNorms are parameters of a regularizer with a positive γ_I.
func positiveNorms(t models.Table[Settings]) models.Table[Settings] {
	for _, f := range t {
		t = t.Change(f.Name, func(p *models.Param) { p.Only = nil })
	}
	return t.Change("gamma-i", func(p *models.Param) {
		p.Doc = "weight γ_I of the intrinsic norm fᵀLᵖf"
		p.Range = models.Positive()
	})
}

// params are the parameters of a method.
func params(m Method) models.Table[Settings] { return tables[m] }

// Settings returns the settings of the method with the given values.
func (l Learner) Settings(v models.Values) (Settings, error) {
	s, err := params(l.Method).Decode(v)
	s.Method = l.Method
	return s, errors.Join(err, s.checkNorm())
}

// Check implements [models.Checker].
func (l Learner) Check(v models.Values) error {
	_, err := l.Settings(v)
	return err
}

// Info describes the learner.
func (l Learner) Info() models.Info {
	i := models.Info{Name: l.Method.String(), Needs: models.NeedsGraph,
		Learns: models.LearnsClasses | models.LearnsShares | models.LearnsWeights}
	switch l.Method {
	case Harmonic:
		i.Scores = "probability that a random walk first meets a label of the class, 0 out of reach " +
			"of labels; or the value"
		i.Help = "harmonic functions, label propagation (Zhu et al. 2003)"
		i.Formula = "f = y at the labels, (Lf)_i = 0 at all other points, L = D − W"
		i.Source = "Zhu, Ghahramani & Lafferty 2003, equations 2 to 5; class mass normalization: section 4"
		i.Learns = models.LearnsClasses | models.LearnsShares | models.LearnsValues
	case LGC:
		i.Scores = "F = (1 − α)(I − αS)⁻¹Y, label mass of the class at the point, to be compared " +
			"within a point; 0 out of reach"
		i.Help = "local and global consistency, label spreading (Zhou et al. 2003)"
		i.Formula = "F = (1 − α)(I − αS)⁻¹ Y, S = D^-½ W D^-½"
		i.Source = "Zhou, Bousquet, Lal, Weston & Schölkopf 2003"
	case Tikhonov:
		i.Scores = "least-squares estimate f of 1 for the class and −1 for the others; 0 where no " +
			"label is reached; or the value"
		i.Help = "least squares with both norms on the graph alone"
		i.Formula = "min over f  1/l Σ (f_i − y_i)² + γ_A ‖f‖² + γ_I fᵀLᵖf,  f a value for each point"
		i.Source = "Belkin, Matveeva & Niyogi 2004; Belkin, Niyogi & Sindhwani 2006, Table 2"
		i.Learns |= models.LearnsValues
		i.ShrinksToZero = true
	case Poisson:
		i.Scores = "potential u of sources at the labels of the class, its size that of the graph; 0 " +
			"out of reach of labels"
		i.Help = "Poisson learning, for very few labels (Calder et al. 2020)"
		i.Formula = "Lu = Σ over labels j of (y_j − ȳ) δ_j,  L = D − W, ȳ the mean of the labels"
		i.Source = "Calder, Cook, Thorpe & Slepčev 2020, equations 2.1 and 2.4"
	}

	return i
}

// Params lists the parameters of the method.
func (l Learner) Params() []models.Param { return params(l.Method).Params() }

// Cost returns the cost of the linear system, the reordered graph and the answers for all
// points.
func (l Learner) Cost(in *models.Input) (stage.Cost, error) {
	s, err := l.Settings(in.Values)
	if err != nil {
		return stage.Cost{}, err
	}
	s.Solver = l.Solver
	problem, fit, err := bytes(in, &s)
	if err != nil {
		return stage.Cost{}, err
	}
	return stage.Cost{Bytes: problem + fit, Operations: operations(in),
		Remedy: fmt.Sprintf("make a graph of fewer %s", param.Name("neighbors"))}, nil
}

// columns returns the number of right-hand sides: one a class, or one a value.
func columns(t *models.Targets) int { return max(len(t.Classes), t.Y.RawMatrix().Cols) }

// bytes returns about what a [Problem] holds, and what a fit takes.
func bytes(in *models.Input, s *Settings) (problem, fit int64, err error) {
	n := int64(in.Len())
	c := int64(columns(in.Targets))
	edges := int64(in.EdgeCount())
	solver, err := cg.Bytes(in.Len(), int(c),
		&cg.Settings{Tolerance: s.Tolerance, MaxIterations: s.MaxIterations})
	if err != nil {
		return 0, 0, err
	}
	weights := 8 * edges
	if in.Graph != nil && in.Graph.W != nil && in.Graph.W.Val == nil {
		weights = 0 // all are one
	}
	problem = 4*edges + weights + 40*n // the graph in another order
	if s.Method == LGC || s.Method == Poisson ||
		s.Method == Tikhonov && s.Regularizer.Laplacian != sparse.Combinatorial {
		problem += weights + 24*n // the normalized Laplacian
	}
	fit = solver + 8*n*(2*c+2) + 4*n
	switch {
	case s.Solver != nil:
		// The matrix and the packed columns are written for the other program.
		return stage.HeapBytes(problem), stage.HeapBytes(fit+4*edges+8*edges+8*n+16*n*c) +
			stage.RuntimeBytes, nil
	case s.Method != LGC && s.Method != Poisson && s.Regularizer.Degree() > 1:
		fit += 8 * n * c
	}

	// The preconditioner.
	method := s.method(in.Start != nil, in.Len()*int(c))
	switch {
	case method == cg.Chebyshev:
		fit += cg.PolynomialBytes(in.Len(), in.EdgeCount())
	case s.Method == LGC || s.Method == Poisson:
		fit += 4*edges + weights + 24*n + 16*n*c
	}
	if method == cg.Auto {
		fit += factors(in, n, edges)
	}
	return stage.HeapBytes(problem), stage.HeapBytes(fit) + stage.RuntimeBytes, nil
}

// factors bounds the memory of the factors that are in use at a time: the factor of the graph, or
// the factors of some components; 0 where the graph is not hard or not there yet.
func factors(in *models.Input, n, edges int64) int64 {
	if in.Graph == nil || in.Graph.W == nil || in.Graph.Components == nil || n == 0 ||
		!in.Graph.Hard() {
		return 0
	}
	// Components are factored side by side, each as large as the largest at most.
	sizes := in.Graph.Components.Sizes
	most := int64(min(int(n), slices.Max(sizes)+leastPart))
	return int64(par.Workers(len(sizes), 1)) * cg.FactorBytes(int(most), int(edges*most/n))
}

// operations guesses a hundred iterations.
func operations(in *models.Input) float64 {
	const steps = 100
	return steps * float64(columns(in.Targets)) * (10*float64(in.EdgeCount()) + 14*float64(in.Len()))
}

var errNoGraph = errors.New("propagation: there is no graph")

// Fit is the function [Fit] on the graph and the targets of in.
func (l Learner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	s, err := l.Settings(in.Values)
	if err != nil {
		return nil, err
	}
	if err := in.Check(); err != nil {
		return nil, err
	}
	if in.Graph == nil || in.Graph.W == nil {
		return nil, errNoGraph
	}

	// One class alone has nothing to separate; a regression needs one value.
	info := l.Info()
	if err := info.CheckTargets(in.Targets); err != nil {
		return nil, err
	}

	s.OnIteration = func(state cg.State) error {
		in.Report(float64(state.Converged), float64(state.Columns), state.String())
		return nil
	}
	s.Start = in.Start
	s.Solver = l.Solver
	g, err := Fit(ctx, in.Graph.W, in.Graph.Components, in.Targets, &s)
	if g == nil || !models.Usable(err) {
		return nil, err
	}
	g.round()
	return &Model{Solution: g, Neighborhood: in.Graph.Keep(), Given: models.GivenOf(in.Targets)}, err
}

// FitGrid prepares every graph once for all settings and folds.
func (l Learner) FitGrid(ctx context.Context, g *models.Grid) error {
	return g.EachGraph(func(graph *models.Graph, same []int) error {
		problem, err := NewProblem(graph.W, graph.Components)
		if err != nil {
			return err
		}
		// Settings that moments serve need no fit in each fold.
		served, terms := l.byMoments(g, same)
		if len(served) > 0 {
			if err := l.fitByMoments(ctx, g, problem, graph.W, served, terms); err != nil {
				return err
			}
		}

		for _, setting := range same {
			if served[setting] != nil {
				continue
			}
			s, err := l.Settings(g.Settings[setting])
			if err != nil {
				return err
			}

			err = g.Run(ctx, []int{setting}, func(split *models.Split) []models.Answer {
				f, err := problem.Fit(ctx, split.Train, &s)
				if f == nil {
					return []models.Answer{{Err: err}}
				}
				return []models.Answer{models.AnswerAt(f.answers(true), split.Points, err)}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// GridCost returns the cost of the largest graph and of a fit in each fold.
func (l Learner) GridCost(g *models.Grid) (models.GridCost, error) {
	served, terms := l.byMoments(g, g.All())
	out := models.GridCost{Operations: momentCost(g, terms), Remedy: fmt.Sprintf("make graphs of fewer %s", param.Name("neighbors"))}
	labels := int64(len(g.Targets.Labeled))
	n := int64(g.Len())
	for i, v := range g.Settings {
		s, err := l.Settings(v)
		if err != nil {
			return models.GridCost{}, err
		}
		problem, fit, err := bytes(&g.Input, &s)
		if err != nil {
			return models.GridCost{}, err
		}
		// The matrix of the graph and its copy in the order of the problem.
		graph := 12*int64(g.EdgeCount()) + 12*n

		if served[i] != nil {
			fit = stage.HeapBytes(24*labels*labels) + stage.RuntimeBytes
			problem += stage.HeapBytes(16*n*momentColumns + 4*labels*labels*int64(terms))
		} else {
			out.Operations += float64(len(g.Splits)) * operations(&g.Input)
		}

		out.Shared = max(out.Shared, graph+problem)
		out.Fold = max(out.Fold, fit)
	}

	return out, nil
}
