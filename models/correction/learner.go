package correction

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/stage"
)

// Name is the name of a [Learner] and its models.
const Name = "correct-and-smooth"

// Learner corrects and smooths the predictions of a base.
type Learner struct {
	// Bases are the learners to choose from; the first is the default. They are fitted to the points alone, have a
	// parameter gamma-a and scores of 1 for a class and −1 for the others.
	Bases []models.Learner
}

// own are the parameters of [Settings] without those of the base.
var own = models.Table[Settings]{
	{Param: models.Param{Name: "smooth-alpha", Doc: "weight α₂ of the neighbours' predictions beside a point's own",
		Range: models.Between(0, 1), Required: true, Axis: true, Grid: []string{"0.5", "0.9", "0.99"}, Few: "0.9"},
		At: func(s *Settings) any { return &s.SmoothAlpha }},
	{Param: models.Param{Name: "correction", Doc: "how errors are spread: autoscale, with the mean size of those at the " +
		"labels, or fixed, as harmonic functions times factor", Default: Autoscale.String(), Choices: scalings.All()},
		At: func(s *Settings) any { return &s.Correction }},
	{Param: models.Param{Name: "correct-alpha", Doc: "weight α₁ of the neighbours' errors beside a point's own",
		Default: models.FormatFloat(defaultAlpha), Range: models.Between(0, 1), Axis: true,
		Grid: []string{"0.5", "0.9", "0.99"}, Only: &models.Condition{Param: "correction", In: []string{Autoscale.String()}}},
		At: func(s *Settings) any { return &s.CorrectAlpha }},
	{Param: models.Param{Name: "factor", Doc: "factor s of the errors that are added",
		Default: models.FormatFloat(defaultFactor), Range: models.Positive(), Axis: true,
		Only: &models.Condition{Param: "correction", In: []string{Fixed.String()}}},
		At: func(s *Settings) any { return &s.Factor }},
	{Param: models.Param{Name: "tolerance", Doc: "relative residual at which the solver stops",
		Default: models.FormatFloat(defaultTolerance), Range: models.Between(0, 1)},
		At: func(s *Settings) any { return &s.Tolerance }},
	{Param: models.Param{Name: "max-iterations", Doc: "number of iterations after which the solver gives up",
		Default: models.FormatFloat(defaultIterations), Range: models.AtLeast(1)},
		At: func(s *Settings) any { return &s.MaxIterations }},
}

// table lists all parameters.
func (l Learner) table() models.Table[Settings] {
	names := make([]string, len(l.Bases))
	for i, b := range l.Bases {
		names[i] = b.Info().Name
	}
	return append(models.Table[Settings]{
		{Param: models.Param{Name: "gamma-a", Doc: "weight γ_A of the norm ‖f‖² of the base", Range: models.Positive(),
			Required: true, Axis: true, Grid: []string{"0.0001", "0.01", "0.1", "1", "100"}, Few: "0.01"},
			At: func(s *Settings) any { return &s.GammaA }},
		{Param: models.Param{Name: "base", Doc: "the model of the columns alone whose errors are corrected",
			Default: names[0], Kind: models.Choice, Choices: names},
			At: func(s *Settings) any { return &s.Base }},
	}, own...)
}

// settings decodes values, with the defaults of those that are missing.
func (l Learner) settings(v models.Values) (Settings, error) {
	s, err := l.table().Decode(v)
	if err != nil {
		return s, err
	}
	if s.Base == "" {
		s.Base = l.Bases[0].Info().Name
	}
	return s.fill()
}

// Info describes the learner.
func (l Learner) Info() models.Info {
	return models.Info{Name: Name,
		Help: "a model of the columns, corrected and smoothed along the graph (Huang et al. 2021)",
		Formula: "H = (1 − α₂)(I − α₂S)⁻¹ G,  S = D^-½ W D^-½,  G = Y at the labels, Z + Ê at all other points,\n" +
			"Z the base's predictions, Ê its errors at the labels, spread by (1 − α₁)(I − α₁S)⁻¹ and scaled",
		Source: "Huang, He, Singh, Lim & Benson 2021, section 2",
		Scores: "H = (1 − α₂)(I − α₂S)⁻¹G of corrected predictions G, to be compared within a point",
		Learns: models.LearnsClasses | models.LearnsShares, Needs: models.NeedsPoints | models.NeedsGraph, Keeps: true}
}

// Params lists the parameters.
func (l Learner) Params() []models.Param { return l.table().Params() }

// base returns the base of settings and the input that it is fitted to.
func (l Learner) base(in *models.Input, s *Settings) (models.Learner, *models.Input) {
	i := slices.IndexFunc(l.Bases, func(b models.Learner) bool { return b.Info().Name == s.Base })
	b := l.Bases[i]
	alone := &models.Input{Points: in.Points, Targets: in.Targets, Seed: in.Seed, Memory: in.Memory,
		Values: models.Values{"gamma-a": models.FormatFloat(s.GammaA)}}
	// The points of the graph are those that a model keeps: after principal components, if it has some.
	if g := in.Graph; g != nil && g.Points != nil {
		alone.Points = g.Points
	}
	return b, alone
}

// Cost returns the cost of the base and of two linear systems with a column a class.
func (l Learner) Cost(in *models.Input) (stage.Cost, error) {
	s, err := l.settings(in.Values)
	if err != nil {
		return stage.Cost{}, err
	}
	b, alone := l.base(in, &s)
	first, err := b.Cost(alone)
	if err != nil {
		return stage.Cost{}, err
	}
	systems, operations, err := systemCost(in, &s)
	if err != nil {
		return stage.Cost{}, err
	}
	return stage.Cost{Bytes: max(first.Bytes, systems), Operations: first.Operations + 2*operations,
		Remedy: fmt.Sprintf("make a graph of fewer %s", param.Name("neighbors"))}, nil
}

// systemCost returns the memory of predictions, errors, scores and a linear system, and the operations of one.
func systemCost(in *models.Input, s *Settings) (bytes int64, operations float64, err error) {
	n := int64(in.Len())
	c := int64(len(in.Targets.Classes))
	edges := int64(in.EdgeCount())
	solver, err := cg.Bytes(in.Len(), int(max(c, 1)), &cg.Settings{Tolerance: s.Tolerance, MaxIterations: s.MaxIterations})
	if err != nil {
		return 0, 0, err
	}
	graph := 8*edges + 40*n // the normalized Laplacian
	preconditioner := 12*edges + 24*n + 16*n*c
	if s.Correction == Fixed {
		preconditioner += 12*edges + 40*n // the graph in another order
	}
	const steps = 60
	return stage.HeapBytes(graph+preconditioner+solver+8*n*5*c) + stage.RuntimeBytes,
		steps * float64(c) * (10*float64(edges) + 14*float64(n)), nil
}

// Fit fits the base to the points, and corrects and smooths its predictions: [Problem.Apply].
func (l Learner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	s, err := l.settings(in.Values)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	info := l.Info()
	if err := info.Check(in); err != nil {
		return nil, err
	}
	b, alone := l.base(in, &s)
	base, z, short := fitBase(ctx, b, alone)
	if base == nil {
		return nil, short
	}

	p, err := NewProblem(in.Graph.W, in.Graph.Components)
	if err != nil {
		return nil, err
	}
	s.onIteration = reporter(in)
	g, err := p.Apply(ctx, z, in.Targets, &s)
	if g == nil {
		return nil, err
	}
	if short == nil {
		short = err
	}
	m := &Model{Solution: g, Settings: s, Classes: in.Targets.Classes, Neighborhood: in.Graph.Keep(),
		Given: models.GivenOf(in.Targets), learner: l, base: base}
	m.Settings.onIteration = nil
	m.decide(in.Targets)
	return m, short
}

// reporter returns a hook that reports the state of a system.
func reporter(in *models.Input) func(cg.State) error {
	return func(state cg.State) error {
		in.Report(float64(state.Converged), float64(state.Columns), state.String())
		return nil
	}
}

// fitBase fits a base and returns its predictions for all points. It returns no model where the error is not usable.
func fitBase(ctx context.Context, b models.Learner, in *models.Input) (models.Model, *mat.Dense, error) {
	if r, ok := b.(models.Resolver); ok {
		v, err := r.Resolve(in)
		if err != nil {
			return nil, nil, err
		}
		in.Values = v
	}
	m, short := b.Fit(ctx, in)
	if m == nil || !models.Usable(short) {
		return nil, nil, fmt.Errorf("correction: the base %s: %w", b.Info().Name, short)
	}
	z, err := scoresOf(ctx, m, in.Points)
	if err != nil {
		return nil, nil, err
	}
	return m, z, short
}

// scoresOf returns the predictions of a base for points.
func scoresOf(ctx context.Context, m models.Model, x data.Points) (*mat.Dense, error) {
	p, err := m.Predict(ctx, x, nil)
	if err != nil {
		return nil, err
	}
	return predictions(p.Scores), nil
}

// FitGrid fits a base once for all settings with its parameters, and corrects once for all with equal corrections.
func (l Learner) FitGrid(ctx context.Context, g *models.Grid) error {
	return g.EachGraph(func(graph *models.Graph, same []int) error {
		p, err := NewProblem(graph.W, graph.Components)
		if err != nil {
			return err
		}
		return g.Run(ctx, same, func(split *models.Split) []models.Answer {
			return l.answers(ctx, g, p, graph, split, same)
		})
	})
}

// answers fits all settings on a split, and answers for the points held out.
func (l Learner) answers(ctx context.Context, g *models.Grid, p *Problem, graph *models.Graph, split *models.Split,
	settings []int) []models.Answer {
	out := make([]models.Answer, len(settings))
	all := make([]Settings, len(settings))
	places := make([]int, 0, len(settings))
	for k, i := range settings {
		if all[k], out[k].Err = l.settings(g.Settings[i]); out[k].Err == nil {
			places = append(places, k)
		}
	}
	fail := func(group []int, err error) {
		for _, k := range group {
			out[k].Err = err
		}
	}

	bases := models.Grouped(places, func(k int) any { return [2]any{all[k].Base, all[k].GammaA} })
	for _, group := range bases {
		in := g.Input
		in.Targets = split.Train
		in.Graph = graph
		b, alone := l.base(&in, &all[group[0]])
		base, z, short := fitBase(ctx, b, alone)
		if base == nil {
			fail(group, short)
			continue
		}
		for _, equal := range models.Grouped(group, func(k int) any {
			s := all[k]
			return [5]any{s.Correction, s.CorrectAlpha, s.Factor, s.Tolerance, s.MaxIterations}
		}) {
			r, err := p.Correct(ctx, z, split.Train, &all[equal[0]])
			if r == nil || !models.Usable(err) {
				fail(equal, err)
				continue
			}
			for _, k := range equal {
				h, err := p.Smooth(ctx, r.Predictions, &all[k])
				if h == nil || !models.Usable(err) {
					out[k].Err = err
					continue
				}
				answer := models.Prediction{Scores: h, Classes: models.Decide(h)}
				out[k] = models.AnswerAt(&answer, split.Points, err)
			}
		}
	}
	return out
}

// GridCost returns the cost of the fits of [Learner.FitGrid].
func (l Learner) GridCost(g *models.Grid) (models.GridCost, error) {
	out := models.GridCost{Remedy: fmt.Sprintf("make graphs of fewer %s", param.Name("neighbors"))}
	bases := map[any]float64{}
	corrections := map[any]float64{}
	splits := float64(len(g.Splits))
	for i, v := range g.Settings {
		s, err := l.settings(v)
		if err != nil {
			return models.GridCost{}, err
		}
		in := g.With(i)
		b, alone := l.base(in, &s)
		first, err := b.Cost(alone)
		if err != nil {
			return models.GridCost{}, err
		}
		bytes, operations, err := systemCost(in, &s)
		if err != nil {
			return models.GridCost{}, err
		}
		key := g.GraphKey(i)
		bases[[3]any{key, s.Base, s.GammaA}] = first.Operations
		corrections[[6]any{key, s.Base, s.GammaA, s.Correction, s.CorrectAlpha, s.Factor}] = operations
		out.Operations += splits * operations
		out.Fold = max(out.Fold, first.Bytes, bytes)
	}
	for _, of := range []map[any]float64{bases, corrections} {
		for _, operations := range of {
			out.Operations += splits * operations
		}
	}
	// A graph and its Laplacian are held for all folds.
	out.Shared = stage.HeapBytes(24*int64(g.EdgeCount()) + 40*int64(g.Len()))
	return out, nil
}
