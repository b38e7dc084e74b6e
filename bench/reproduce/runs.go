package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/bench/console"
	"github.com/bigfit/bigfit/bench/figures"
	"github.com/bigfit/bigfit/bench/multilabel"
	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/stage"
)

// eigenmaps returns a function that runs an experiment of Belkin & Niyogi (2004).
func eigenmaps(experiment func(papers.Options) (*papers.Experiment, error)) func(*app, context.Context,
	papers.Options) (*reproduction, error) {
	return func(a *app, ctx context.Context, o papers.Options) (*reproduction, error) {
		a.Begin("data")
		e, err := experiment(o)
		if err != nil {
			return nil, err
		}
		return a.eigenmaps(ctx, e, o, a.End)
	}
}

// eigenmaps runs an experiment after its data are read. done ends the stage of reading.
func (a *app) eigenmaps(ctx context.Context, e *papers.Experiment, o papers.Options,
	done func(string)) (*reproduction, error) {
	n, d := e.X.Dims()
	if err := checkRows(o.Labels, e.Rows, n); err != nil {
		return nil, err
	}
	done(fmt.Sprintf("%s: %d points × %d", e.Name, n, d))
	if err := a.needExperiment(e); err != nil {
		return nil, err
	}
	outcome, notConverged := e.Run(ctx, a)
	if outcome == nil {
		return nil, notConverged
	}
	return &reproduction{table: outcome.Table, note: outcome.Eigs.String()}, notConverged
}

// checkRows returns an error unless the table has a row for every number of labels, and n
// points are enough for these rows. No labels mean all rows.
func checkRows(labels []int, rows []papers.Row, n int) error {
	var have []string
	for _, r := range rows {
		if (len(labels) == 0 || slices.Contains(labels, r.Labels)) && r.Labels > n {
			return fmt.Errorf("the row of %d labels needs more than the %d points there are; choose "+
				"rows with --labels", r.Labels, n)
		}
		have = append(have, strconv.Itoa(r.Labels))
	}

	// A number without a row is a slip of the command line, not of the data.
	for _, l := range labels {
		if !slices.Contains(have, strconv.Itoa(l)) {
			return console.Usagef("--labels %d: the table has no such row; its rows are %s", l,
				strings.Join(have, ", "))
		}
	}
	return nil
}

// needExperiment announces the memory of an experiment's stages.
func (a *app) needExperiment(e *papers.Experiment) error {
	if err := a.need("neighbours", knn.BruteBytes(e.X, 64), knn.BruteOperations(e.X),
		"use less data"); err != nil {
		return err
	}
	// Half again as many edges as neighbours: a neighbour in one direction makes an edge.
	n, _ := e.X.Dims()
	return a.Pipeline().AnnounceEigenpairs(n, nil, lanczos.Edges{Count: n * e.Graph.K * 3 / 2}, lanczos.Settings{K: e.Pairs},
		"use less data")
}

// webkb runs the experiments on the course pages of both papers.
func (a *app) webkb(ctx context.Context, o papers.Options) (*reproduction, error) {
	a.Begin("data")
	e, err := papers.NewWebKB(o)
	if err != nil {
		return nil, err
	}
	// An estimate: ten matrices of n×n at a time, and 180 n³ operations for the warped kernels of
	// all views and norms.
	n := float64(e.Page.Rows)
	a.End(fmt.Sprintf("WebKB: %d pages", e.Page.Rows))
	if err := a.need("warped kernels", int64(10*8*n*n), 6*6*5*n*n*n, "use less data"); err != nil {
		return nil, err
	}
	table, err := e.Run(ctx, a)
	if err != nil {
		return nil, err
	}
	return &reproduction{table: table}, nil
}

// propagation runs the experiment on graph regularization.
func (a *app) propagation(ctx context.Context, o papers.Options) (*reproduction, error) {
	a.Begin("data")
	e, err := papers.NewPropagation(o)
	if err != nil {
		return nil, err
	}
	n, d := e.X.Dims()
	a.End(fmt.Sprintf("MNIST: %d points × %d", n, d))
	if err := a.need("neighbours", knn.BruteBytes(e.X, e.Graph.K), knn.BruteOperations(e.X),
		"use less data"); err != nil {
		return nil, err
	}

	// The fits are announced by their memory only: there are many, and each is short.
	cost, err := e.Cost()
	if err != nil {
		return nil, err
	}
	if err := a.need("fits", cost.Bytes, 0, cost.Remedy); err != nil {
		return nil, err
	}
	table, notConverged := e.Run(ctx, a)
	if table == nil {
		return nil, notConverged
	}
	return &reproduction{table: table}, notConverged
}

// fewLabels runs the experiment on the published draws of few labels.
func (a *app) fewLabels(ctx context.Context, o papers.Options) (*reproduction, error) {
	a.Begin("data")
	e, err := papers.NewFewLabels(o)
	if err != nil {
		return nil, err
	}
	for _, l := range o.Labels {
		if l < 1 || l > len(e.Draws) {
			return nil, console.Usagef("--labels %d: the table has no such row; its rows are 1 to %d", l, len(e.Draws))
		}
	}
	n, d := e.X.Dims()
	a.End(fmt.Sprintf("MNIST: %d points × %d", n, d))

	// A fit announces its memory itself; of the graph the neighbours take the most.
	if err := a.need("neighbours", knn.BruteBytes(e.X, e.Graph.Graph.K), knn.BruteOperations(e.X),
		"use less data"); err != nil {
		return nil, err
	}
	table, err := e.Run(ctx, a)
	if err != nil {
		return nil, err
	}
	return &reproduction{table: table}, nil
}

// machines returns a function that runs an experiment with the draws, rows and methods of
// the paper.
func machines(table func(context.Context, papers.Options, stage.Observer) (*results.Table, error)) func(*app,
	context.Context, papers.Options) (*reproduction, error) {
	return func(a *app, ctx context.Context, o papers.Options) (*reproduction, error) {
		t, err := table(ctx, o, a)
		if err != nil {
			return nil, err
		}
		return &reproduction{table: t}, nil
	}
}

// pictured returns a function that runs an experiment with pictures for the report besides
// the figures of its table.
func pictured(experiment func(context.Context, papers.Options, stage.Observer) (*results.Table,
	[]results.Picture, error)) func(*app, context.Context, papers.Options) (*reproduction, error) {
	return func(a *app, ctx context.Context, o papers.Options) (*reproduction, error) {
		t, pictures, err := experiment(ctx, o, a)
		if err != nil {
			return nil, err
		}
		return withPictures(t, pictures...), nil
	}
}

// withPictures returns the outcome of an experiment with pictures besides the figures of its
// table.
func withPictures(t *results.Table, pictures ...results.Picture) *reproduction {
	return &reproduction{table: t, figures: func(context.Context) ([]report.Block, error) {
		var out []report.Block
		for _, p := range pictures {
			out = append(out, &report.Figure{Title: p.Title, Caption: p.Caption, Charts: p.Charts})
		}
		return out, nil
	}}
}

// subsets returns a function that runs the figures over the number of points.
func subsets(experiment func(papers.Options) (*figures.Subsets, error)) func(*app, context.Context,
	papers.Options) (*reproduction, error) {
	return func(a *app, ctx context.Context, o papers.Options) (*reproduction, error) {
		a.Begin("data")
		s, err := experiment(o)
		if err != nil {
			return nil, err
		}
		n, d := s.Base.X.Dims()
		// The rows are checked against all points; smaller subsets leave out rows that do not fit.
		if err := checkRows(o.Labels, s.Base.Rows, n); err != nil {
			return nil, err
		}
		a.End(fmt.Sprintf("%s: %d points × %d", s.Base.Name, n, d))
		if err := a.needExperiment(s.Base); err != nil {
			return nil, err
		}
		table, notConverged := s.Run(ctx, a)
		if table == nil {
			return nil, notConverged
		}
		return &reproduction{table: table}, notConverged
	}
}

// moons runs the experiment on two moons. Its report shows their decision surfaces.
func moons(a *app, ctx context.Context, o papers.Options) (*reproduction, error) {
	r, err := machines(papers.Moons)(a, ctx, o)
	if err != nil {
		return nil, err
	}

	// The surfaces take longer than the table, so they are made only if a report asks for them.
	r.figures = func(ctx context.Context) ([]report.Block, error) {
		figures, err := papers.ReadMoonsFigures(ctx, o)
		if err != nil {
			return nil, err
		}
		var out []report.Block
		for _, fig := range figures {
			s, err := moonsSurfaces(ctx, fig)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}

		return out, nil
	}

	return r, nil
}

// multiLabel returns a function that runs an experiment of Minh & Sindhwani (2011).
func multiLabel(experiment func(papers.Options) (*multilabel.Experiment, error)) func(*app, context.Context,
	papers.Options) (*reproduction, error) {
	return func(a *app, ctx context.Context, o papers.Options) (*reproduction, error) {
		a.Begin("data")
		e, err := experiment(o)
		if err != nil {
			return nil, err
		}
		return a.multiLabel(ctx, e, o, a.End)
	}
}

// multiLabel runs an experiment after its data are read. done ends the stage of reading.
func (a *app) multiLabel(ctx context.Context, e *multilabel.Experiment, o papers.Options,
	done func(string)) (*reproduction, error) {
	if a.Given["splits"] {
		e.Draws = o.Splits
	}
	n, d := e.Points.Dims()
	_, labels := e.Labels.Dims()
	done(fmt.Sprintf("%s: %d points × %d, %d labels", e.Name, n, d, labels))
	// Six matrices of n×n at a time, and about one more that waits for the collector.
	if err := a.need("kernel", 7*kernel.GramBytes(n)+stage.RuntimeBytes, 10*float64(n)*float64(n)*float64(n),
		"use less data"); err != nil {
		return nil, err
	}
	table, picture, err := e.Run(ctx, a)
	if err != nil {
		return nil, err
	}
	return withPictures(table, *picture), nil
}
