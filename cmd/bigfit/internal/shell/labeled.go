package shell

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

// LabeledOptions say where the points and labels of a model are, if it does not keep them.
type LabeledOptions struct {
	Source GraphSource
	Y      string
	Label  LabelOptions
}

// LabeledPoints is a model with its learner, points and labels.
type LabeledPoints struct {
	models.Input // Targets are nil where there are none
	Model        models.Model
	Learner      models.Learner
	Hashes       pipeline.Hashes
}

// Flags adds the flags.
func (o *LabeledOptions) Flags(a *App, f *pflag.FlagSet) {
	f.VarP(&o.Source.X, "points", "X", PointsHelp+"; needed if the model does not keep its points")
	f.StringVarP(&o.Y, "labels-file", "y", "",
		"`file` of the labels of all points (default: those of the fit)")
	o.Label.Flags(f)
	f.StringVar(&o.Source.File, "graph", "",
		"graph `file` of the points (default: the one that the model keeps, or one made of -X)")
	o.Source.Flags(a, f)
	a.Points.IDFlag(f)
}

// ReadLabeled reads a model and what it was fitted to. graph tells that its graph is needed
// whatever the learner. A usable error comes with what was reached.
func (a *App) ReadLabeled(ctx context.Context, path string, o *LabeledOptions,
	graph bool) (*LabeledPoints, error) {
	st := a.Progress.Stage("model")
	a.Reads("model", path)
	m, mf, err := all.Load(path, int64(a.Memory))
	if err != nil {
		return nil, err
	}
	st.Done(fmt.Sprintf("%s: %s", path, summary.Of(m)))
	out := &LabeledPoints{Model: m, Learner: all.Learner(m.Name()), Hashes: pipeline.Hashes{}}
	if out.Learner == nil {
		return nil, fmt.Errorf("%s: a %s model learns no labels", path, m.Name())
	}

	// The settings of the fit come back as values of parameters, as a learner takes them.
	e, err := models.Unnamed(m).Encode()
	if err != nil {
		return nil, err
	}
	out.Values = e.Values
	a.Points.Expect(m)
	info := out.Learner.Info()
	kept, short := a.readGraph(ctx, path, o, out, graph || info.UsesGraph(e.Values))
	if !models.Usable(short) {
		return nil, short
	}

	if ids := models.IDsOf(m); ids != nil && ids.Len() == out.Rows() {
		a.Points.Take(ids)
	}

	// Given points and a given graph must be those of the fit; else labels would meet other
	// points.
	made := pipeline.Hashes(mf.Hashes)
	err = made.Agree(pipeline.HashPoints, out.Hashes[pipeline.HashPoints], path, o.Source.X.String())
	if err == nil && o.Source.File != "" { // one that is made here may have other settings
		err = made.Agree(pipeline.HashGraph, out.Hashes[pipeline.HashGraph], path, o.Source.File)
	}
	if err != nil {
		return nil, err
	}
	return out, errors.Join(short, a.readKnown(path, o, out, kept))
}

// readGraph reads or makes the points and the graph, if it is needed, and returns what the
// model keeps, which may be nil.
func (a *App) readGraph(ctx context.Context, path string, o *LabeledOptions, out *LabeledPoints,
	needed bool) (*models.Kept, error) {
	g, kept, missing := pipeline.KeptGraph(out.Model)
	info := out.Learner.Info()
	var err error
	// A graph on the command line wins, then the graph that the model keeps; one is made only of
	// given points.
	switch {
	case o.Source.File != "" || needed && missing != nil && len(o.Source.X) > 0:
		s, err := a.LoadSource(ctx, &o.Source)
		if s == nil {
			return nil, err
		}
		out.Graph, out.Points = &s.Graph.Graph, s.X
		out.Hashes = s.Hashes
		return kept, err
	case needed && missing != nil:
		return nil, fmt.Errorf("%s: %w", path, missing)
	case needed:
		out.Graph = &g.Graph
		for _, name := range []string{"neighbors", "weights", "standardize", "pca", "distance"} {
			if a.Given[name] {
				return nil, Usagef("--%s is for a graph that is made, and %s keeps its own", name, path)
			}
		}
	}

	// A kept graph may still want the points: for predictions, or to be checked by their hash.
	if len(o.Source.X) > 0 {
		if out.Points, err = a.ReadPoints(o.Source.X, data.ReadOptions{}); err != nil {
			return nil, err
		}
		out.Hashes[pipeline.HashPoints] = data.HashPoints(out.Points)
	} else if kept != nil && !info.Transductive() {
		out.Points = kept.Points
	}

	if n := out.Rows(); out.Points != nil && out.Graph != nil && n != out.Graph.Len() {
		return nil, fmt.Errorf("%s has %d points but the graph of %s has %d", o.Source.X, n, path,
			out.Graph.Len())
	}
	return kept, nil
}

// Rows is the number of points.
func (p *LabeledPoints) Rows() int {
	switch {
	case p.Points != nil:
		n, _ := p.Points.Dims()
		return n
	case p.Graph != nil:
		return p.Graph.Len()
	}
	return 0
}

// readKnown gives out the targets in the file of labels, or those that the model keeps.
func (a *App) readKnown(path string, o *LabeledOptions, out *LabeledPoints, kept *models.Kept) error {
	n := out.Rows()
	if o.Y == "" {
		if kept == nil || kept.Targets == nil {
			return fmt.Errorf("%s does not hold which points have a label; give the labels of all "+
				"points with -y", path)
		}
		if n > 0 && kept.Targets.Len != n {
			return fmt.Errorf("%s keeps the labels of %d points and there are %d; give the labels of all with -y",
				path, kept.Targets.Len, n)
		}
		out.Targets = pipeline.KeptTargets(out.Model)
		return nil
	}

	// A file of labels replaces the kept ones; it can only say classes.
	if out.Model.Output().Kind != models.OutputClasses {
		return Usagef("-y is for classes, and %s answers with %s", path, out.Model.Output().Kind)
	}
	y, err := o.Label.ReadTruth(a, o.Y, n)
	if err != nil {
		return err
	}
	if n > 0 && y.Len() != n {
		return fmt.Errorf("%s has %d labels for %d points", o.Y, y.Len(), n)
	}
	if out.Targets, err = models.ClassTargets(y); err != nil {
		return fmt.Errorf("%s: %w", o.Y, err)
	}
	return nil
}

// IDsOf returns the ids of n points; nil where they have numbers only.
func (a *App) IDsOf(n int) (*data.IDs, error) {
	ids, err := a.Points.Identify(a)
	if err == nil && ids != nil && ids.Len() != n {
		return nil, fmt.Errorf("%s: %d ids for %d points", ids.From, ids.Len(), n)
	}
	return ids, err
}
