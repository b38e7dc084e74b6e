package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/findings"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// planePoints is the number of points that a report draws at most.
const planePoints = 3000

// findings are the sections of a report on the points of a fit with the answers p.
func (a *app) findings(ctx context.Context, in *models.Input, t *pipeline.Targets,
	p *models.Prediction) ([]report.Section, error) {
	f := &findings.Fit{Points: in.Points, Targets: t, Answers: p}
	if in.Graph != nil {
		f.Graph = in.Graph.W
	}
	if p != nil {
		f.Probabilities = p.Probabilities
	}
	var err error
	if in.Points != nil {
		if f.IDs, err = a.Points.Identify(a.App); err != nil {
			return nil, err
		}
	}

	// The coordinates of the drawing come from eigenpairs or principal components, whichever the
	// input has.
	if f.Plane, err = a.Pipeline().Plane(ctx, in, planePoints); err != nil {
		return nil, err
	}
	return f.Sections(), nil
}

// fitReport is the page of a fit.
func (a *app) fitReport(ctx context.Context, sum *summary.Fit, in *fitInput,
	p *models.Prediction) (*report.Report, error) {
	sections, err := a.findings(ctx, &in.Input, in.labels, p)
	if err != nil {
		return nil, err
	}
	first := []report.Block{report.Paragraph(sum.Long())}
	for _, w := range a.Warnings {
		first = append(first, report.Paragraph("Warning: "+w))
	}
	settings := &report.KeyValues{Caption: "Settings",
		Pairs: []report.KeyValue{{Key: "seed", Value: strconv.FormatUint(a.Seed, 10)}}}
	// Settings of the model, the names of the files, and how the graph was made, each sorted by
	// name.
	lists := []models.Values{sum.Values, models.Values(a.Files)}
	if in.Graph != nil {
		lists = append(lists, pipeline.GraphParams.Encode(&in.settings))
	}

	for _, list := range lists {
		for _, key := range slices.Sorted(maps.Keys(list)) {
			settings.Pairs = append(settings.Pairs, report.KeyValue{Key: key, Value: list[key]})
		}
	}
	settings.Pairs = append(settings.Pairs, report.MachineFacts()...)
	return &report.Report{
		Title:    "bigfit fit",
		Subtitle: fmt.Sprintf("%d points, seed %d, bigfit %s", in.Len(), a.Seed, shell.Version),
		Sections: slices.Concat([]report.Section{{Title: "Fit", Blocks: first}}, sections,
			[]report.Section{{Title: "Run", Blocks: append(a.Timings(), settings)}}),
	}, nil
}
