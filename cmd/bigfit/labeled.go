package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/summary"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

// labeledOptions say where the points and labels of a model are, if it does not keep them.
type labeledOptions struct {
	source shell.GraphSource
	y      string
	label  shell.LabelOptions
	// optional labels need not be known.
	optional bool
}

// labeledPoints is a model with its learner, points and labels.
type labeledPoints struct {
	models.Input // Targets are nil where there are none
	model        models.Model
	learner      models.Learner
	hashes       pipeline.Hashes
}

func (o *labeledOptions) flags(a *app, f *pflag.FlagSet) {
	f.VarP(&o.source.X, "points", "X", shell.PointsHelp+"; needed if the model does not keep its points")
	f.StringVarP(&o.y, "labels-file", "y", "", "`file` of the labels of all points (default: those of the fit)")
	o.label.Flags(f)
	f.StringVar(&o.source.File, "graph", "", "graph `file` of the points (default: the one that the model keeps, or one made of -X)")
	o.source.Flags(a.App, f)
	a.Points.IDFlag(f)
}

// readLabeled reads a model and what it was fitted to. graph tells that its graph is needed
// whatever the learner. A usable error comes with what was reached.
func (a *app) readLabeled(ctx context.Context, path string, o *labeledOptions, graph bool) (*labeledPoints, error) {
	st := a.Progress.Stage("model")
	a.Reads("model", path)
	m, mf, err := all.Load(path, int64(a.Memory))
	if err != nil {
		return nil, err
	}
	st.Done(fmt.Sprintf("%s: %s", path, summary.Of(m)))
	out := &labeledPoints{model: m, learner: all.Learner(m.Name()), hashes: pipeline.Hashes{}}
	if out.learner == nil {
		return nil, fmt.Errorf("%s: a %s model learns no labels", path, m.Name())
	}
	e, err := models.Unnamed(m).Encode()
	if err != nil {
		return nil, err
	}
	out.Values = e.Values
	info := out.learner.Info()
	kept, short := a.readGraph(ctx, path, o, out, graph || info.UsesGraph(e.Values))
	if !models.Usable(short) {
		return nil, short
	}
	made := pipeline.Hashes(mf.Hashes)
	err = errors.Join(made.Agree(pipeline.HashPoints, out.hashes[pipeline.HashPoints], path, o.source.X.String()),
		made.Agree(pipeline.HashGraph, out.hashes[pipeline.HashGraph], path, cmp.Or(o.source.File, o.source.X.String())))
	if err != nil {
		return nil, err
	}
	return out, errors.Join(short, a.readKnown(path, o, out, kept))
}

// readGraph reads or makes the points and the graph, if it is needed, and returns what the
// model keeps, which may be nil.
func (a *app) readGraph(ctx context.Context, path string, o *labeledOptions, out *labeledPoints, needed bool) (*models.Kept, error) {
	g, kept, missing := pipeline.KeptGraph(out.model)
	info := out.learner.Info()
	var err error
	switch {
	case o.source.File != "" || needed && missing != nil && len(o.source.X) > 0:
		s, err := a.LoadSource(ctx, &o.source)
		if s == nil {
			return nil, err
		}
		out.Graph, out.Points, out.hashes = &s.Graph.Graph, s.X, s.Hashes
		return kept, err
	case needed && missing != nil:
		return nil, fmt.Errorf("%s: %w", path, missing)
	case needed:
		out.Graph = &g.Graph
		for _, name := range []string{"neighbors", "weights", "pca", "distance"} {
			if a.Given[name] {
				return nil, shell.Usagef("--%s is for a graph that is made, and %s keeps its own", name, path)
			}
		}
	}
	if len(o.source.X) > 0 {
		if out.Points, err = a.ReadPoints(o.source.X, data.ReadOptions{}); err != nil {
			return nil, err
		}
		out.hashes[pipeline.HashPoints] = data.HashPoints(out.Points)
	} else if kept != nil && !info.Transductive() {
		out.Points = kept.Points
	}
	if n := out.rows(); out.Points != nil && out.Graph != nil && n != out.Graph.Len() {
		return nil, fmt.Errorf("%s has %d points but the graph of %s has %d", o.source.X, n, path, out.Graph.Len())
	}
	return kept, nil
}

// rows is the number of points.
func (p *labeledPoints) rows() int {
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
func (a *app) readKnown(path string, o *labeledOptions, out *labeledPoints, kept *models.Kept) error {
	n := out.rows()
	if o.y == "" {
		if o.optional {
			return nil
		}
		if kept == nil || kept.Targets == nil {
			return fmt.Errorf("%s does not hold which points have a label; give the labels of all points with -y", path)
		}
		if n > 0 && kept.Targets.Len != n {
			return fmt.Errorf("%s keeps the labels of %d points and there are %d; give the labels of all with -y", path, kept.Targets.Len, n)
		}
		out.Targets = kept.Targets
		out.Targets.Names = namesOf(out.model.Output(), out.Targets.Classes)
		return nil
	}
	if out.model.Output().Kind != models.OutputClasses {
		return shell.Usagef("-y is for classes, and %s answers with %s", path, out.model.Output().Kind)
	}
	y, err := o.label.ReadTruth(a.App, o.y, n)
	if err != nil {
		return err
	}
	if n > 0 && y.Len() != n {
		return fmt.Errorf("%s has %d labels for %d points", o.y, y.Len(), n)
	}
	if out.Targets, err = models.ClassTargets(y); err != nil {
		return fmt.Errorf("%s: %w", o.y, err)
	}
	return nil
}

// namesOf returns the names of classes of a model; nil where it has none.
func namesOf(o models.Output, classes []int64) []string {
	if o.Names == nil {
		return nil
	}
	out := make([]string, len(classes))
	for c, value := range classes {
		out[c] = o.Names[value]
	}
	return out
}

// idsOf returns the ids of n points; nil where they have numbers only.
func (a *app) idsOf(n int) (*data.IDs, error) {
	ids, err := a.Points.Identify(a.App)
	if err == nil && ids != nil && ids.Len() != n {
		return nil, fmt.Errorf("%s: %d ids for %d points", ids.From, ids.Len(), n)
	}
	return ids, err
}
