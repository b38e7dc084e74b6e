package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/param"
)

// Tuning is a cross-validation that is ready to run: its neighbours were found, or its graph
// was given.
type Tuning struct {
	Data     selection.Data
	Grid     selection.Grid
	pipeline *Pipeline
	graph    *Graph // without edges until one of Neighbors is cut
}

// Prepare prepares a choice among the settings of grid. Unless in.Graph is given, it finds the
// neighbours of in.Points for the largest graph, or makes the graph of a radius. The error
// knn.ErrRecall comes with a Tuning by the neighbours that were found.
func (p *Pipeline) Prepare(ctx context.Context, in *models.Input, grid selection.Grid,
	g *GraphSettings) (*Tuning, error) {
	t := &Tuning{Data: selectionData(in), Grid: grid, pipeline: p}
	var err error
	if t.Grid.Fixed, err = models.OrderShares(grid.Learner.Params(), grid.Fixed, in.Targets); err != nil {
		return nil, err
	}
	if g == nil {
		g = &GraphSettings{}
	}
	s := *g
	for _, k := range grid.Neighbors {
		s.Graph.K = max(s.Graph.K, k)
	}
	info := grid.Learner.Info()
	if !usesGraph(&grid, &info) {
		t.Grid.Neighbors = nil
		return t, checkHeldBack(&s)
	}

	// Models that keep their graph need the points that new ones join.
	if in.Graph != nil && in.Points != nil && info.KeepsGraph() && in.Graph.Points == nil {
		joined, err := p.Join(ctx, in.Graph, in.Points, &s)
		if err != nil {
			return nil, err
		}
		t.Data.Graph = joined
	}

	// One search serves all numbers of neighbours on the grid: smaller graphs are cut from its
	// lists.
	var short error
	if t.graph, short = p.gather(ctx, &t.Data, &s); !models.Usable(short) {
		return nil, short
	}
	if t.Data.Graph != nil {
		t.Grid.Neighbors = nil
	}
	return t, short
}

// selectionData returns the parts of in that a choice among settings uses.
func selectionData(in *models.Input) selection.Data {
	return selection.Data{Targets: in.Targets, Points: in.Points, Graph: in.Graph, Outputs: in.Outputs,
		OutputKernel: in.OutputKernel, OutputNorm: in.OutputNorm}
}

// checkHeldBack refuses settings of a graph that need labels which are held back.
func checkHeldBack(s *GraphSettings) error {
	if s.ClassWeights != nil {
		return fmt.Errorf("pipeline: class weights need a class for every point, and "+
			"cross-validation holds some back; leave %s out", param.Name("class-weights"))
	}
	return nil
}

// gather completes d, unless it has a graph. It makes the graph of a radius, or finds s.Graph.K
// neighbours of the points of d, to cut graphs of as many neighbours or fewer. It returns the
// graph, without edges if it will be cut. The error knn.ErrRecall comes with the neighbours that
// were found.
func (p *Pipeline) gather(ctx context.Context, d *selection.Data, s *GraphSettings) (g *Graph, short error) {
	if err := checkHeldBack(s); err != nil {
		return nil, err
	}

	switch {
	case d.Graph != nil:
		g = &Graph{Graph: *d.Graph, Settings: *s.filled()}
		d.Graph = &g.Graph
	case d.Points == nil:
		return nil, errors.New("pipeline: a graph needs points")
	case s.Graph.Radius > 0:
		if g, short = p.Graph(ctx, d.Points, s); !models.Usable(short) {
			return nil, short
		}
		d.Graph = &g.Graph
	default:
		if g, d.Neighbors, short = p.Neighbors(ctx, d.Points, s); !models.Usable(short) {
			return nil, short
		}
		d.Edges = g.Settings.Graph
	}

	return g, short
}

// usesGraph tells whether any setting takes a graph.
func usesGraph(grid *selection.Grid, info *models.Info) bool {
	if !info.Needs.Has(models.NeedsGraph) {
		return false
	}

	// A learner may leave the graph out at one value of an axis, such as γ_I = 0.
	values, ok := grid.Axes[info.GraphIf]
	if !ok {
		return info.UsesGraph(grid.Fixed)
	}

	for _, v := range values {
		if info.UsesGraph(models.Values{info.GraphIf: v}) {
			return true
		}
	}
	return false
}

// Search runs the cross-validation. onProgress, if not nil, is called with the results so far
// whenever fits are finished.
func (t *Tuning) Search(ctx context.Context, s selection.Settings,
	onProgress func(*selection.Result)) (*selection.Result, error) {
	p := t.pipeline
	s.Seed = p.Seed
	s.Memory = p.Memory
	cost, count, err := selection.Cost(&t.Data, &t.Grid, &s)
	if err != nil {
		return nil, err
	}
	// The note counts fits as the search will: folds times repeats times settings.
	folds := s.Folds
	if folds == 0 {
		folds = min(5, len(t.Data.Targets.Labeled))
	}
	folds *= max(1, s.Repeats)
	p.Observed().Note(fmt.Sprintf("tune: %d settings on %d folds, %d fits", count, folds, count*folds))
	if err := p.Observed().Announce("tune", cost); err != nil {
		return nil, err
	}

	p.Observed().Begin("tune")
	s.OnProgress = func(r *selection.Result) {
		p.Observed().Update(float64(r.Done), float64(r.Total), "")
		if onProgress != nil {
			onProgress(r)
		}
	}

	if err := t.keepFits(&s); err != nil {
		return nil, err
	}
	r, err := selection.Search(ctx, &t.Data, &t.Grid, &s)
	if r != nil && ctx.Err() == nil {
		p.Observed().End(fmt.Sprintf("%d fits", r.Done))
	}
	return r, err
}

// keepFits lets a search save its finished fits and go on from saved ones.
func (t *Tuning) keepFits(s *selection.Settings) error {
	return keepFits(t.pipeline, struct {
		gridKey
		Folds     int
		Repeats   int
		Seed      uint64
		Criterion string
	}{keyOf(&t.Grid), s.Folds, s.Repeats, s.Seed, s.Criterion.String()}, t.graph, &s.Known, &s.OnFits)
}

// gridKey describes a grid in the key of a stage.
type gridKey struct {
	Learner   string
	Fixed     models.Values
	Joint     []models.Values
	Axes      map[string][]string
	Neighbors []int
}

// keyOf returns the description of g.
func keyOf(g *selection.Grid) gridKey {
	return gridKey{g.Learner.Info().Name, g.Fixed, g.Joint, g.Axes, g.Neighbors}
}

// keepFits reads into known the finished fits of a run with the given settings and graph,
// which may be nil, from the checkpoint, and lets onFits save them there.
func keepFits[F any](p *Pipeline, settings any, g *Graph, known *[]F, onFits *func([]F) error) error {
	c := p.kept()
	if c == nil {
		return nil
	}
	key, err := c.Key(settings, slices.Sorted(maps.Keys(c.Inputs))...)
	if err != nil {
		return err
	}

	// Settings of the graph may have the names of settings of the fits.
	if g != nil {
		settings, err := c.Key(g.Settings)
		if err != nil {
			return err
		}
		for name, v := range settings {
			key["graph "+name] = v
		}
	}

	a, err := c.Load(checkpoint.Fits, key, known)
	if err != nil {
		return err
	}
	if a != nil {
		p.Observed().Note(fmt.Sprintf("%d fits are known from the checkpoint", len(*known)))
	}
	*onFits = func(fits []F) error {
		if !c.Due() {
			return nil
		}
		return c.Save(checkpoint.Fits, key, fits)
	}
	return nil
}

// Fit fits a setting of the grid to all targets of in, and does not change in. It returns the
// complete input of the fit: see [Pipeline.FitComplete].
func (t *Tuning) Fit(ctx context.Context, in *models.Input, s selection.Setting) (models.Model,
	*models.Input, error) {
	own := *in
	own.Values = s.Values
	own.Graph = t.Data.Graph
	info := t.Grid.Learner.Info()

	switch {
	case !info.UsesGraph(s.Values):
		own.Graph = nil
	case t.Data.Neighbors != nil:
		g := *t.graph // a copy, because t.graph serves all numbers of neighbours
		if err := g.Cut(t.Data.Neighbors, s.Neighbors); err != nil {
			return nil, nil, err
		}
		own.Graph = &g.Graph
	}

	// The graph is there; eigenpairs may still have to be made, by the same settings.
	var settings *GraphSettings
	if own.Graph != nil {
		settings = &t.graph.Settings
	}
	return t.pipeline.FitComplete(ctx, t.Grid.Learner, &own, settings)
}
