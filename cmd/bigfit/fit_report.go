package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/findings"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// planePoints is the number of points that a report draws at most.
const planePoints = 3000

// findings are the sections of a report on points: it adds to f the points, their ids, the graph and
// their places.
func (a *app) findings(ctx context.Context, f *findings.Fit, in *models.Input) ([]report.Section, error) {
	f.Points = in.Points
	if in.Graph != nil {
		f.Graph = in.Graph.W
	}
	var err error
	if in.Points != nil {
		if f.IDs, err = a.Points.Identify(a.App); err != nil {
			return nil, err
		}
	}

	// The places come from a layout of the graph or from principal components, whichever the input has.
	if f.Plane, err = a.Pipeline().Plane(ctx, in, planePoints); err != nil {
		return nil, err
	}
	return f.Sections(), nil
}

// fitFindings are the sections of a report on a fit with the model m and its answers p.
func (a *app) fitFindings(ctx context.Context, plan *fitPlan, in *fitInput, m models.Model,
	p *models.Prediction) ([]report.Section, error) {
	f := &findings.Fit{Targets: in.labels, Answers: p, Model: plan.out, Calibration: models.CalibrationOf(m),
		Unreached: m.Summary().Unreached, Suspects: labeling.SuspectsOfFit(m, in.labels.Targets)}
	f.Outliers, _ = labeling.OutliersOfFit(m, in.labels.Targets)
	if p != nil {
		f.Probabilities = p.Probabilities
	}
	if c := in.shown; c != nil {
		f.Shown = &findings.Shown{Name: c.Name, Folder: c.Folder, Texts: c.Texts}
	}
	sections, err := a.findings(ctx, f, &in.Input)
	if s := f.Shown; s != nil && s.Missing > 0 {
		a.Warn(fmt.Sprintf("%d of %d pictures of the report cannot be shown; the first is %s", s.Missing,
			s.Missing+s.Pictures, s.FirstMissing))
	}
	return sections, err
}

// fitReport is the page of a fit.
func (a *app) fitReport(ctx context.Context, sum *summary.Fit, plan *fitPlan, in *fitInput, m models.Model,
	p *models.Prediction) (*report.Report, error) {
	sections, err := a.fitFindings(ctx, plan, in, m, p)
	if err != nil {
		return nil, err
	}
	run := []report.Block{report.Paragraph(sum.Long())}
	for _, w := range a.Warnings {
		run = append(run, report.Paragraph("Warning: "+w))
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
		Title:    reportTitle(plan),
		Subtitle: fmt.Sprintf("%d points, seed %d, bigfit %s", in.Len(), a.Seed, shell.Version),
		Sections: append(append(sections, in.sections...), report.Section{Title: "How it was made",
			Blocks: slices.Concat(run, a.Timings(), []report.Block{settings})}),
	}, nil
}

// reportTitle names a report by the points.
func reportTitle(plan *fitPlan) string {
	name := plan.graphFile
	if len(plan.x) > 0 {
		name = plan.x[0]
	}
	if name == "" {
		return "Report of a fit"
	}
	return "Report on " + filepath.Base(name)
}
