package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/pool"
	"github.com/bigfit/bigfit/pipeline"
)

// outcome holds the errors and the time of a method.
type outcome struct {
	method  string
	errors  []float64 // in percent, one for each draw
	seconds float64   // mean time of a fit, without the graph
}

// method is a learner with settings.
type method struct {
	name    string
	learner models.Learner
	values  models.Values
}

// parseModels returns auto and its members, where the options ask for them, and the models that they
// name. A member alone chooses its settings as it does within auto.
func parseModels(o *options) ([]method, error) {
	var out []method
	if o.auto {
		out = append(out, method{"auto", all.Auto, nil})
	}
	if o.members {
		for _, m := range all.Auto.Members {
			out = append(out, method{m.Learner.Info().Name, pool.Learner{Name: "alone",
				Members: []pool.Member{m}}, nil})
		}
	}

	if o.models == "" {
		return out, nil
	}

	// A model with settings has the whole text as its name, so that two settings of one model
	// differ.
	for _, part := range strings.Split(o.models, ",") {
		name, settings, _ := strings.Cut(part, ":")
		m := method{part, all.Learner(name), models.Values{}}
		if m.learner == nil {
			return nil, fmt.Errorf("-models: there is no model %q", name)
		}
		for _, s := range strings.Split(settings, ":") {
			if param, value, ok := strings.Cut(s, "="); ok {
				m.values[param] = value
			}
		}
		out = append(out, m)
	}

	return out, nil
}

// withoutCorrection is auto without the members for a graph that comes with the points.
func withoutCorrection() method {
	l := all.Auto
	l.Members = slices.DeleteFunc(slices.Clone(l.Members), func(m pool.Member) bool { return m.Foreign })
	return method{"auto without correction", l, nil}
}

// measure fits all methods to all draws, on one graph.
func measure(ctx context.Context, s *loaded, labels int, o *options, methods []method) ([]outcome, error) {
	var draws [][]int
	for d := range o.draws {
		draws = append(draws, s.draw(labels, uint64(d)))
	}
	// The graph is shared by all methods and draws: it knows no labels.
	p := &pipeline.Pipeline{}
	joined := s.X
	if s.other != nil {
		joined = s.other
	}
	settings := &pipeline.GraphSettings{}
	if o.graph == "auto" {
		var err error
		if settings, err = pipeline.AutoGraph(joined, nil); err != nil {
			return nil, err
		}
	}
	settings.Graph.Symmetry = o.symmetry

	g, err := p.Graph(ctx, joined, settings)
	if err != nil {
		return nil, err
	}
	// A graph that comes with the points has weights alone.
	if s.other != nil {
		g = &pipeline.Graph{Graph: *models.NewGraph(g.W)}
		g.Foreign = true
		settings = &pipeline.GraphSettings{}
		methods = append(slices.Clone(methods), withoutCorrection())
	}

	out := make([]outcome, len(methods))
	for i, m := range methods {
		out[i].method = m.name
		for _, drawn := range draws {
			t, err := s.targets(drawn)
			if err != nil {
				return nil, err
			}
			in := &models.Input{Points: s.X, Targets: t, Graph: &g.Graph, Values: m.values}
			if o.priors && slices.ContainsFunc(m.learner.Params(), func(p models.Param) bool { return p.Name == "priors" }) {
				in.Values = m.values.With(models.Values{"priors": s.shares()})
			}
			start := time.Now()
			fitted, err := p.Fit(ctx, m.learner, in, settings)
			if !models.Usable(err) {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}

			out[i].seconds += time.Since(start).Seconds() / float64(len(draws))
			answers, err := training(ctx, p, fitted, in)
			if err != nil {
				return nil, err
			}
			out[i].errors = append(out[i].errors, s.wrong(drawn, answers.Classes))
		}
	}

	if !o.peers {
		return out, nil
	}
	found, err := askPeers(ctx, s, draws)
	return append(out, found...), err
}

// training returns the predictions for the training points.
func training(ctx context.Context, p *pipeline.Pipeline, m models.Model,
	in *models.Input) (*models.Prediction, error) {
	if t, ok := m.(models.Trained); ok {
		return t.Training(false), nil
	}
	return p.Predict(ctx, m, in.Points, models.PredictSettings{}, false)
}
