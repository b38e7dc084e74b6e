package main

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/work"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/engine"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/pipeline"
)

// fitPlan says what a fit, or a search among fits, does. The checks make it from the flags, and
// the steps after them read nothing else.
type fitPlan struct {
	shell.TargetOptions
	shell.CheckpointFlags
	fitFiles
	learner  models.Learner
	values   models.Values          // of the parameters of learner
	settings pipeline.GraphSettings // of the graph to make
	params   shell.ParamFlags       // as given: saved graphs and eigenpairs must agree with them

	// Of bigfit fit alone.
	model     string // name of the learner as given
	calibrate *calibrateFlag
	engine    *work.EngineFlags
	dry       bool             // say what the fit would take, and stop
	parts     *work.FitOptions // nil unless the fit is made in parts
	// noise is --label-noise, and noiseShare its number, 0 for an estimate.
	noise      string
	noiseShare float64
}

// plan returns the part of a plan that all commands share.
func (o *fitOptions) plan(l models.Learner, values models.Values) *fitPlan {
	return &fitPlan{TargetOptions: o.TargetOptions, CheckpointFlags: o.CheckpointFlags, fitFiles: o.fitFiles,
		learner: l, values: values, params: o.params}
}

// planFit makes the plan of bigfit fit. It refuses flags that can be known to be wrong before
// anything is read.
func (a *app) planFit(o *fitOptions) (*fitPlan, error) {
	l, err := shell.FindLearner(o.model)
	if err != nil {
		return nil, err
	}
	values := o.params.Values(l.Params())
	if err := a.checkFit(o, l, values); err != nil {
		return nil, err
	}
	if err := o.engine.Check(a.App, engine.PETSc, "checkpoint"); err != nil {
		return nil, err
	}
	// The task of another engine lies beside the output, on a disk that has room.
	o.engine.Beside = o.out
	if l, err = o.engine.Learner(a.App, l); err != nil {
		return nil, err
	}

	plan := o.plan(l, values)
	plan.model = o.model
	plan.noise = o.noise
	if plan.noiseShare, err = noiseShare(o.noise); err != nil {
		return nil, err
	}
	plan.calibrate = &o.calibrate
	plan.engine = &o.engine

	// Other engines print their own plan.
	plan.dry = o.engine.DryRun && o.engine.Kind == engine.Ours
	// A fit in parts reads its inputs itself, a part at a time, and has a plan of the parts.
	if o.parts.Asked() {
		if o.noise != "" {
			return nil, shell.Usagef("--label-noise is not for fits in parts")
		}
		if o.Soft.Weights != "" {
			return nil, shell.Usagef("--label-weights is not for fits in parts; without --parts they count")
		}
		o.parts.DryRun = plan.dry
		plan.parts = &o.parts
		return plan, nil
	}
	return plan, a.planGraph(plan, o.params)
}

// planSearch makes the plan of a search among settings of a learner, without --neighbors where that
// flag has several values.
func (a *app) planSearch(o *fitOptions, l models.Learner, values models.Values) (*fitPlan, error) {
	plan := o.plan(l, values)
	return plan, a.planGraph(plan, o.params.Single())
}

// planGraph decodes the settings of the graph. It compares the lengths of points and labels as far
// as their headers tell them.
func (a *app) planGraph(plan *fitPlan, params shell.ParamFlags) (err error) {
	if plan.settings, err = shell.Decode(a.App, params, pipeline.GraphParams); err != nil {
		return err
	}
	return data.SameRows(cmp.Or(plan.x.One(), plan.graphFile, plan.eigsFile), plan.Y)
}

// checkFit refuses what can be known to be wrong before anything is read.
func (a *app) checkFit(o *fitOptions, l models.Learner, values models.Values) error {
	info := l.Info()
	if err := errors.Join(o.CheckpointFlags.Check(), o.Soft.Check()); err != nil {
		return err
	}
	if err := a.CheckOwners(l, o.params, pipeline.GraphParams.Params(), inputFlags); err != nil {
		return err
	}
	// A transductive learner labels the points of a graph, so a graph or its eigenpairs may stand
	// for the points.
	given := "points (-X)"
	missing := len(o.x) == 0
	if info.Transductive() {
		given += " or a graph (--graph)"
		missing = missing && o.graphFile == ""
		if info.Needs.Has(models.NeedsEigenpairs) {
			given = "points (-X), a graph (--graph) or eigenpairs (--eigs)"
			missing = missing && o.eigsFile == ""
		}
	}

	switch {
	case o.Y != "" && a.Points.Label != "":
		return shell.Usagef("-y and --label both say where the labels are; give one of them")
	case a.Points.Label != "" && len(o.x) == 0:
		return shell.Usagef("--label names a column of the points; give them with -X")
	case o.Y == "" && a.Points.Label == "" || missing:
		return shell.Usagef("fit --model %s needs labels (-y) and %s", info.Name, given)
	case o.Labels < 0 || a.Given["labels"] && o.Labels == 0:
		return shell.Usagef("--labels is %d; it must be at least 1", o.Labels)
	}

	if err := a.CheckParams(l, values); err != nil {
		return err
	}
	if info.Needs.Has(models.NeedsKernel) && info.UsesGraph(selection.Rule(l, values)) &&
		values["kernel"] == expansion.Precomputed && o.graphFile == "" {
		return shell.Usagef("--kernel precomputed gives no points to make a graph of; give it with --graph")
	}
	if o.proba != "" && (o.Regression || o.calibrate.none || !info.Learns.Has(models.LearnsClasses)) {
		return shell.Usagef("--proba is for models of classes that are calibrated")
	}
	if err := a.CheckReport(o.report); err != nil {
		return err
	}
	if a.Given["show"] && o.report == "" {
		return shell.Usagef("--show is for the report; give --report FILE.html too")
	}

	weights, _ := shards.SplitKey(o.Soft.Weights)
	inputs := o.x.Inputs(o.Y, o.graphFile, o.eigsFile, o.outputGraph, o.outputKernel, o.outputNorm, weights)
	if o.parts.Script != "" {
		inputs = shell.Present(inputs)
	}
	outputs := []string{o.predictions, o.proba, o.out, o.report}
	if err := errors.Join(o.CheckFiles(inputs, outputs...),
		shell.CheckFolder("work", o.parts.Work, inputs, outputs...)); err != nil {
		return err
	}
	return cmp.Or(shell.CheckOutput(inputs, outputs...),
		shell.CheckAnswers(inputs, outputs[:2], o.out))
}

// noiseShare returns the share of wrong labels that --label-noise gives, 0 for an estimate or without the flag.
func noiseShare(text string) (float64, error) {
	if text == "" || text == "estimate" {
		return 0, nil
	}
	e, err := strconv.ParseFloat(text, 64)
	if err != nil || !(e > 0 && e < 1) {
		return 0, shell.Usagef("--label-noise is %q; it must be a share between 0 and 1, as 0.05, or estimate", text)
	}
	return e, nil
}
