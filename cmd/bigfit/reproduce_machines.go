package main

import (
	"context"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/bench/results"
	"github.com/bigfit/bigfit/internal/report"
	"github.com/bigfit/bigfit/pipeline"
)

// machineExperiments are the experiments on kernel machines. Their draws, rows
// and methods are those of the papers.
var machineExperiments = map[string]func(context.Context, papers.Options, pipeline.Observer) (*results.Table, error){
	"point-cloud": papers.PointCloud,
	"usps":        papers.DigitPairs,
	"isolet":      papers.Isolet,
	"moons":       papers.Moons,
	"ssl-book":    papers.SSLBook,
	"landmarks":   papers.Landmarks,
}

// machines runs one of them.
func (a *app) machines(ctx context.Context, name string, o papers.Options) (*reproduction, error) {
	table, err := machineExperiments[name](ctx, o, &observer{app: a})
	if err != nil {
		return nil, err
	}
	r := &reproduction{table: table}
	if name == "moons" {
		r.figures = func(ctx context.Context) ([]report.Block, error) {
			fig, err := papers.ReadMoonsFigure(ctx, o)
			if err != nil {
				return nil, err
			}
			s, err := moonsSurfaces(ctx, fig)
			return []report.Block{s}, err
		}
	}
	return r, nil
}
