package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

func (a *app) reportCommand() *cobra.Command {
	var o shell.LabeledOptions
	out := "report.html"
	cmd := &cobra.Command{
		Use:   "report model.npz -o report.html",
		Short: "Write a report on a fitted model",
		Long: `Write the page that fit --report writes, of a model that is there, as after bigfit
update: how many answers are right, what to do next, a map of the points, points and
labels to look at, with texts or pictures by --show.

A model of harmonic, lgc, tikhonov, poisson, eigenmap, or auto keeps its points and
labels. Of others give the points with -X and the labels with -y.`,
		Args: shell.OneArgument("the model file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.report(cmd.Context(), args[0], out, &o)
		},
	}
	f := cmd.Flags()
	o.Flags(a.App, f)
	f.StringVarP(&out, "output", "o", out, "`file` to write, .html")
	a.Points.ShowFlag(f)
	return cmd
}

func (a *app) report(ctx context.Context, path, out string, o *shell.LabeledOptions) error {
	if err := a.CheckReport(out); err != nil {
		return err
	}
	if err := shell.CheckOutput(o.Source.X.Inputs(path, o.Y, o.Source.File), out); err != nil {
		return err
	}
	p, short := a.ReadLabeled(ctx, path, o, false)
	if !models.Usable(short) {
		return short
	}

	in := &fitInput{Input: p.Input, hashes: p.Hashes, labels: pipeline.KnownTargets(p.Targets)}
	if g, kept, err := pipeline.KeptGraph(p.Model); err == nil {
		in.settings = g.Settings
		// Labels are learned on the graph alone, and the page may show the points.
		if in.Points == nil {
			in.Points = kept.Points
		}
	}
	var err error
	if in.shown, err = a.Points.ReadShown(a.App, in.labels.Len); err != nil {
		return err
	}

	sure := pipeline.HasProbabilities(p.Model)
	answers, err := pipeline.Training(p.Model, true, sure)
	if answers == nil && err == nil {
		answers, err = a.Pipeline().Predict(ctx, p.Model, in.Points,
			models.PredictSettings{Probabilities: sure}, true)
	}
	if err != nil {
		return err
	}

	sum := summary.Fit{Model: summary.Of(p.Model), Points: in.Len(), Labels: in.labels.Summary()}
	if in.Graph != nil && in.Graph.Components != nil {
		sum.Components = in.Graph.Components.Count()
		sum.Isolated = in.Graph.Components.Isolated()
	}
	plan := &fitPlan{fitFiles: fitFiles{x: shards.Names{path}, out: path}}
	page, err := a.fitReport(ctx, &sum, plan, in, p.Model, answers)
	if err != nil {
		return err
	}
	if err := a.Write(ctx, func() error { return report.Save(out, page) }); err != nil {
		return err
	}
	return errors.Join(short, a.Print(sum, fmt.Sprintf("%s: %s of %s", out, sum, filepath.Base(path))))
}
