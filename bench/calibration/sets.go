package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/bigfit/bigfit/bench/sets"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// fewestLabels is the least number of points in a class of a set. With twenty labels a class
// it leaves as many points to measure.
const fewestLabels = 40

// loaded is a set with its graph of 10 neighbours and self-tuning weights. Points of more than
// 100 dimensions are reduced to 50 principal components first; texts are compared by angle.
type loaded struct {
	x     data.Points
	truth *data.Labels
	graph *pipeline.Graph
	pipe  *pipeline.Pipeline
}

// load reads a set and makes its graph. From a larger set it draws most points. It returns
// nil for a set with a class of fewer than fewestLabels points.
func load(ctx context.Context, s sets.Set, dir string, most int) (*loaded, error) {
	read, err := s.Read(dir, 0)
	if err != nil {
		return nil, err
	}
	x := read.X
	y := read.Truth
	if y.Summary().Fewest < fewestLabels {
		return nil, nil
	}

	rows := data.Range(0, y.Len())
	_, text := x.(*sparse.CSR)
	if text {
		rows = data.Nonzero(x)
	}
	// A fixed seed: the sample of a set is the same in every run.
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	rows = rows[:min(most, len(rows))]
	l := &loaded{x: data.Select(x, rows), truth: y.Select(rows), pipe: &pipeline.Pipeline{}}

	// Word counts are compared by angle; images are reduced first.
	g := &pipeline.GraphSettings{Graph: knn.GraphSettings{K: 10, Weights: knn.SelfTuning}}
	switch _, d := x.Dims(); {
	case text:
		g.Metric = knn.Angle
	case d > 100:
		g.PCA = 50
	}

	if l.graph, err = l.pipe.Graph(ctx, l.x, g); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return l, nil
}

// input returns the input of a fit to one draw.
func (l *loaded) input(t *models.Targets, v models.Values) *models.Input {
	return &models.Input{Points: l.x, Targets: t, Graph: &l.graph.Graph, Values: models.Values{}.With(v)}
}
