package pipeline

import (
	"context"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/stage"
)

// Foresee announces the stages of [Pipeline.FitComplete] with these arguments and does none of them:
// principal components, neighbours, eigenpairs, the choice of required values, the fit, and a
// calibration with the given number of folds: 0 is none, and -1 the default, as
// [Pipeline.CalibrateByDefault] does it. A stage that needs more memory than there is
// is an error, as in a fit. The graph counts with twice the edges of its lists, as its edges are not
// known before the search.
func (p *Pipeline) Foresee(ctx context.Context, l models.Learner, in *models.Input, g *GraphSettings,
	folds int) error {
	in, err := p.own(l, in)
	if err != nil {
		return err
	}
	info := l.Info()
	s, err := graphSettings(&info, in, g)
	if err != nil {
		return err
	}
	in.Edges = 2 * in.Len() * s.Graph.K
	open := selection.Open(l, in.Values)
	graph := in.Graph == nil && (info.UsesGraph(selection.Rule(l, in.Values)) ||
		open != nil && usesGraph(open, &info))
	if graph {
		if err := p.foreseeGraph(ctx, in.Points, s); err != nil {
			return err
		}
	}

	if open != nil {
		if err := p.foreseeChoice(in, open, s); err != nil {
			return err
		}
		in.Values = selection.Rule(l, in.Values)
	}
	if err := p.chooseWay(l, in); err != nil {
		return err
	}
	if err := p.announceFit(l, in, s); err != nil {
		return err
	}
	if err := p.foreseePairs(l, in); err != nil {
		return err
	}
	if folds == 0 {
		return nil
	}

	if folds < 0 {
		if open != nil && ruleFor(l, in, s) == "" {
			return nil // the choice of required values holds labels out
		}
		return p.foreseeDefault(l, in, s)
	}
	cost, err := selection.HeldOutCost(l, in, selection.Deal{Folds: folds})
	if err != nil {
		return err
	}
	// The graph and the eigenpairs of the fit are held during the calibration.
	held, err := p.toMake(l, in, s)
	if err != nil {
		return err
	}
	cost.Bytes += held
	return p.Observed().Announce("calibration", cost)
}

// foreseeDefault announces the folds of [Pipeline.CalibrateByDefault], as far as they are known before the
// graph.
func (p *Pipeline) foreseeDefault(l models.Learner, in *models.Input, s *GraphSettings) error {
	if _, err := calibrationInput(l, nil, in); err != nil || l.Info().OpenGraph {
		return nil // there is no calibration, or a fit holds labels out by itself
	}
	var cost stage.Cost
	if checker, ok := selfChecker(l, in); ok {
		var err error
		if cost, err = checker.LeaveOneOutCost(in, models.LeaveOutProbes(in.Targets)); err != nil {
			return nil
		}
	} else {
		deal, c, err := p.affordableFolds(l, in)
		if err != nil || deal.Folds == 0 {
			return nil
		}
		cost = c
	}
	held, err := p.toMake(l, in, s)
	if err != nil {
		return err
	}
	cost.Bytes += held
	return p.Observed().Announce("calibration", cost)
}

// foreseeGraph announces the principal components and the search for neighbours.
func (p *Pipeline) foreseeGraph(ctx context.Context, x data.Points, s *GraphSettings) error {
	n, d := x.Dims()
	own := *s
	e := p.estimator(ctx, choice.Work{X: x, Metric: s.Metric, K: s.Graph.K}, s.Graph.Radius > 0)
	if s.Standardize {
		if err := p.announceStandardize(n, d); err != nil {
			return err
		}
	}
	if s.PCA > 0 {
		if err := p.announceProjection(n, d, s.PCA); err != nil {
			return err
		}
	}
	if k := s.projected(d); k > 0 {
		// The projected points are not there to time a search with: the numbers of operations decide.
		e.work.X = &data.Dense[float32]{Rows: n, Cols: k, Data: make([]float32, n*k)}
		e.time = func(_ context.Context, w choice.Work, m knn.Method) (float64, error) {
			return machine.Seconds(w.Operations(m)), nil
		}
	}

	if err := p.chooseMethod(e, x, &own); err != nil {
		return err
	}
	seconds, err := e.seconds(own.Method)
	if err != nil {
		return err
	}
	return p.Observed().Announce("neighbours", searchCost(e.work.X, &own, seconds))
}

// foreseeChoice announces the cross-validation that chooses required values.
func (p *Pipeline) foreseeChoice(in *models.Input, open *selection.Grid, s *GraphSettings) error {
	if ruleFor(open.Learner, in, s) != "" {
		return nil
	}
	info := open.Learner.Info()
	d := selectionData(in)
	// Lists without neighbours stand for the lists that a search would find: the cost depends on their
	// numbers only.
	if in.Graph == nil && usesGraph(open, &info) {
		d.Edges = s.Graph
		d.Neighbors = &knn.Neighbors{K: s.Graph.K, Index: make([]int32, in.Len()*s.Graph.K)}
	}
	settings := selection.Settings{Repeats: choiceRepeats(in), Seed: p.Seed, Memory: p.Memory}
	if err := p.sayLongChoice(&Tuning{Data: d, Grid: *open}, settings); err != nil {
		return err
	}
	cost, _, err := selection.Cost(&d, open, &settings)
	if err != nil {
		return err
	}
	return p.Observed().Announce("tune", cost)
}

// foreseePairs announces the eigenpairs of a learner that needs them.
func (p *Pipeline) foreseePairs(l models.Learner, in *models.Input) error {
	paired, ok := l.(models.Paired)
	if !ok || in.Pairs != nil {
		return nil
	}
	k, _, tolerance, err := paired.Pairs(in)
	if err != nil {
		return err
	}
	settings := lanczos.Settings{K: k, Tolerance: tolerance, Seed: p.Seed, MemoryLimit: p.eigenpairsLimit()}
	return p.AnnounceEigenpairs(in.Len(), nil, lanczos.Edges{Count: in.Edges}, settings, "ask for fewer eigenpairs")
}

// searchCost is the cost of the search for neighbours of x and of making their graph.
func searchCost(x data.Points, s *GraphSettings, seconds float64) stage.Cost {
	n, _ := x.Dims()
	c := stage.Cost{Bytes: max(knn.IndexBytes(x, s.Method, s.Metric, s.Graph.K),
		graphBytes(n, &s.Graph)), Remedy: searchRemedy}
	if seconds > shortSearch {
		c.Operations = seconds * machine.OperationRate()
	}
	return c
}
