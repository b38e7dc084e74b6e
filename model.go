package bigfit

import (
	"context"
	"fmt"
	"maps"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
)

// Model is a fitted model. It is immutable and safe for concurrent use: several goroutines may
// ask it for predictions at once, without locks.
//
// A model that [Fit] or [Model.Update] returned holds the points and the graph that it was
// fitted to, for [Model.Next] and [Model.Suspects]. The file of a model holds less, depending on
// the kind of model: see [Load].
type Model struct {
	run    run
	model  models.Model
	input  *models.Input     // what it was fitted to; nil if it was loaded
	units  string            // warns of the units of its columns; "" if there is nothing to say
	hashes map[string]string // of the file it was loaded from
}

// Load reads a model that [Model.Save], or the command bigfit, wrote. The file says what it
// holds; anything in it that contradicts the rest is an error.
//
// Models of auto, eigenmap, harmonic, lgc, tikhonov and poisson keep their graph and labels, so
// that Update, Next and Suspects go on from the file. Models of others, such as rls and svm,
// keep what predictions need.
func Load(path string) (loaded *Model, err error) {
	defer plain(&err)
	m, file, err := all.Load(path, 0)
	if err != nil {
		return nil, err
	}
	return &Model{model: m, hashes: file.Hashes}, nil
}

// Save writes the model to a .npz file, whole or not at all. NumPy opens it, and the command
// bigfit takes it.
func (m *Model) Save(path string) (err error) {
	defer plain(&err)
	hashes := maps.Clone(m.hashes)
	if in := m.input; in != nil {
		hashes = pipeline.Hashes{}
		if in.Points != nil {
			hashes[pipeline.HashPoints] = data.HashPoints(in.Points)
		}
		if in.Graph != nil && in.Graph.W != nil {
			hashes[pipeline.HashGraph] = data.HashPoints(in.Graph.W)
		}
	}
	return models.Save(path, m.model, hashes)
}

// With returns a copy of the model with Seed, Memory, Progress, Log and Observer of o for the calls that
// follow; the other options count for [Fit] alone. A model that was loaded has their defaults.
func (m *Model) With(o *Options) *Model {
	if o == nil {
		o = &Options{}
	}
	out := *m
	out.run = o.run()
	return &out
}

// Name is the name of the model, as "lgc".
func (m *Model) Name() string { return m.model.Name() }

// Dim is the number of coordinates of the points that the model takes.
func (m *Model) Dim() int { return m.model.Dim() }

// Classes lists the classes by name, integers as their digits, in the order of
// [Predictions.Scores] and [Predictions.Probabilities]; nil for values.
func (m *Model) Classes() []string {
	o := m.model.Output()
	var out []string
	for c := range o.Classes {
		out = append(out, data.ClassName(o.Classes, o.Names, int32(c)))
	}
	return out
}

// Calibrated tells whether the model has probabilities, or intervals of its values.
func (m *Model) Calibrated() bool { return models.CalibrationOf(m.model) != nil }

// Parameters returns the values of the parameters in use, as text; those that the fit chose are
// among them.
func (m *Model) Parameters() map[string]string { return maps.Clone(m.model.Summary().Values) }

// Warnings returns sentences about likely faults of the answers, and of the points that the model was fitted
// to, as those whose columns have units that cannot be compared.
func (m *Model) Warnings() []string {
	var out []string
	if m.units != "" {
		out = append(out, param.Plain(m.units))
	}
	for _, text := range m.model.Summary().Warnings {
		out = append(out, param.Plain(text))
	}
	return out
}

// String describes the model and its fit in one line.
func (m *Model) String() string { return param.Plain(m.model.Name() + ": " + m.model.Summary().Text) }

// Underlying returns the model as packages models and pipeline know it, for what this package
// does not do.
func (m *Model) Underlying() models.Model { return m.model }

// labeled returns the learner of the model and what the learner was fitted to, with the graph
// if the learner or the caller needs it.
func (m *Model) labeled(ctx context.Context, p *pipeline.Pipeline, graph bool) (models.Learner, *models.Input, error) {
	l := all.Learner(m.model.Name())
	if l == nil {
		return nil, nil, fmt.Errorf("bigfit: a %s model learns no labels", m.model.Name())
	}
	e, err := models.Unnamed(m.model).Encode()
	if err != nil {
		return nil, nil, err
	}
	info := l.Info()
	graph = graph || info.UsesGraph(e.Values)
	if m.input == nil {
		in, err := m.kept(&info, graph)
		if err != nil {
			return nil, nil, err
		}
		in.Values = e.Values
		return l, in, nil
	}

	in := *m.input
	in.Values = e.Values
	in.Start = nil
	in.Progress = nil
	if !graph || in.Graph != nil && in.Graph.W != nil {
		return l, &in, nil
	}
	made, short := p.Graph(ctx, in.Points, nil)
	if !Usable(short) {
		return nil, nil, short
	}
	in.Graph = &made.Graph
	return l, &in, short
}

// kept returns what a model that was loaded holds of its fit.
func (m *Model) kept(info *models.Info, graph bool) (*models.Input, error) {
	t := pipeline.KeptTargets(m.model)
	if t == nil {
		return nil, fmt.Errorf("bigfit: the file of a %s model does not hold the points and labels that it was "+
			"fitted to; fit it anew", m.model.Name())
	}
	in := &models.Input{Targets: t}
	g, kept, missing := pipeline.KeptGraph(m.model)
	if !info.Transductive() {
		in.Points = kept.Points
	}
	if !graph {
		return in, nil
	}
	if missing != nil {
		return nil, fmt.Errorf("bigfit: the file of the model does not hold its graph; fit it anew: %w", missing)
	}
	in.Graph = &g.Graph
	return in, nil
}
