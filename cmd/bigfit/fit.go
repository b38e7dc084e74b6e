package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/work"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/engine"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/stage"
)

// fitOptions are the flags that fit and tune share.
type fitOptions struct {
	shell.TargetOptions
	shell.CheckpointFlags
	fitFiles
	model     string
	params    shell.ParamFlags
	calibrate calibrateFlag
	engine    work.EngineFlags
	parts     work.FitOptions
	noise     string // share of wrong labels, or "estimate"
}

// fitFiles are the files that a fit reads, beside the labels, and those that it writes.
type fitFiles struct {
	x                                              shards.Names
	graphFile, eigsFile, outputGraph, outputKernel string
	outputNorm                                     string
	out, predictions, proba, report                string
}

// inputFlags are flags that go with an input of learners.
var inputFlags = map[string]models.Needs{"graph": models.NeedsGraph, "eigs": models.NeedsEigenpairs,
	"output-graph": models.NeedsOutputGraph, "output-kernel": models.NeedsOutputGraph,
	"output-norm": models.NeedsOutputGraph}

// flags adds the flags of the data and of all parameters.
func (o *fitOptions) flags(a *app, f *pflag.FlagSet, lists bool) {
	f.VarP(&o.x, "points", "X", shell.PointsHelp)
	f.StringVarP(&o.Y, "labels-file", "y", "",
		"`file` of the labels or values; of a table its columns as FILE:LABEL or FILE:ID,LABEL")
	a.Points.ColumnFlags(f)
	a.Points.LabelFlags(f)
	f.BoolVar(&o.Regression, "regression", false,
		"y holds values, not classes (default: if they are not all integers)")
	f.IntVar(&o.Labels, "labels", 0, "number of labels to use; the error on the others is printed (default: all)")
	o.Label.Flags(f)
	o.Soft.Flags(f, true)
	o.CheckpointFlags.Flags(f)
	f.StringVar(&o.graphFile, "graph", "", "graph `file` from bigfit graph or SciPy")
	f.StringVar(&o.outputKernel, "output-kernel", "",
		"`file` of B, n×n, symmetric, positive semidefinite, for the kernel k(x, z)B of n outputs")
	f.StringVar(&o.outputNorm, "output-norm", "",
		"`file` of B₀, B₁, … below each other for the intrinsic norm Σ Lᵖ⊗B_p of n outputs")
	f.StringVar(&o.outputGraph, "output-graph", "",
		"graph `file` of the outputs for --gamma-o, n×n, from bigfit graph, SciPy or NumPy")
	// Learners share parameters; a name that is there already is added once.
	o.params = shell.ParamFlags{}
	for _, l := range all.Learners {
		o.params.Add(f, l.Params(), lists)
	}
	o.params.Add(f, pipeline.GraphParams.Params(), lists)
}

func (a *app) fitCommand() *cobra.Command {
	var o fitOptions
	cmd := &cobra.Command{
		Use:   "fit [--model NAME] X.npy… y.npy -o model.npz",
		Short: "Fit a model to a few labels and many points",
		Long: `Fit a model to points X (the first arguments, or -X) and the labels y of some of them
(the last argument, or -y), and write it to a file. Classes are integers or names. −1, no
text, "nan", "null" and "?" mark points without a label. A y of numbers that are not all
integers makes it a regression. bigfit help data lists the files that are read. --model:

` + shell.ListLearners() + `
bigfit models describes each in a line. bigfit help MODEL lists the flags of one model,
which go with the flags below. A flag that the model does not use is an error. bigfit
help kernels says what models with an intrinsic norm minimize.

The default, auto, averages the models that do best in cross-validation on the labels.
Weights γ_A and γ_I that are not given are chosen by it too (bigfit help choices, also
about --calibrate). A graph is made of X, or read by --graph; eigenpairs by --eigs. Flags
about their making must then agree with the file. Without X the points of the graph are
labeled. --resume goes on from --checkpoint, to the same bits.

--report writes a page: how many answers are right, what to do next, a map of the points,
and points and labels to look at, with texts or pictures (--show).
--parts fits linear models, lgc and harmonic in parts, also as jobs: bigfit help parts.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.take(&o, args)
			o.Asked = cmd.Flags().Changed("regression")
			return a.fit(cmd.Context(), &o)
		},
	}

	f := cmd.Flags()
	o.model = "auto"
	shell.ModelFlag(f, &o.model, "`name` of the model")
	o.flags(a, f, false)
	shell.ModelHelp(cmd, o.params)
	f.StringVar(&o.eigsFile, "eigs", "", "`file` of eigenpairs from bigfit eigs or NumPy, for the eigenmap")
	f.StringVar(&o.noise, "label-noise", "", "`share` of wrong labels, as 0.05, or estimate: bigfit help soft")
	o.calibrate.flag(f)
	o.engine.Flags(f, engine.PETSc)
	o.parts.Flags(f)
	f.StringVarP(&o.out, "output", "o", "model.npz", "model `file` to write")
	f.StringVar(&o.predictions, "predictions", "",
		"also write the answers for all training points to this `file`, as predict does")
	f.StringVar(&o.proba, "proba", "",
		"also write the class probabilities of the training points, n×c, to this `file`")
	f.StringVar(&o.report, "report", "",
		"also write a report on the points and their answers to this .html `file`")
	a.Points.ShowFlag(f)
	return cmd
}

// take takes the arguments: points, and the labels last.
func (a *app) take(o *fitOptions, args []string) {
	y := &o.Y
	if a.Points.Label != "" {
		y = nil // the labels are where the points are
	}
	if note := o.x.Take(args, y, o.graphFile != "" || o.eigsFile != ""); note != "" {
		a.Note("%s", note)
	}
}

func (a *app) fit(ctx context.Context, o *fitOptions) error {
	plan, err := a.planFit(o)
	if err != nil {
		return err
	}
	fitted := a.fitWhole
	if plan.parts != nil {
		fitted = a.fitInParts
	}

	// Without a model the step was a dry run, a part of a fit, or has failed.
	in, m, err := fitted(ctx, plan)
	if m == nil || !models.Usable(err) {
		return err
	}
	return a.finishFit(ctx, plan, in, m, err)
}

// fitInParts does the step of a fit in parts that the flags ask for. It returns the model if
// that step made it.
func (a *app) fitInParts(ctx context.Context, plan *fitPlan) (*fitInput, models.Model, error) {
	in := plan.input()
	m, t, err := work.Fit(ctx, a.App, plan.parts, &work.FitInput{X: plan.x, Graph: plan.graphFile,
		Params: plan.params, Targets: &plan.TargetOptions, Learner: plan.learner, In: &in.Input,
		Hashes: in.hashes, Predictions: plan.predictions})
	in.labels = t
	return in, m, err
}

// fitWhole reads all that is given, fits the model to it and calibrates the model. There is no
// model after a dry run.
func (a *app) fitWhole(ctx context.Context, plan *fitPlan) (*fitInput, models.Model, error) {
	in, err := a.readFit(plan)
	if err != nil {
		return nil, nil, err
	}

	if err := a.chooseGraph(plan, in, plan.params); err != nil {
		return nil, nil, err
	}
	if plan.dry {
		return nil, nil, a.foresee(ctx, plan, in)
	}
	if err := a.OpenCheckpoint(ctx, &plan.CheckpointFlags); err != nil {
		return nil, nil, err
	}
	if err := a.soften(ctx, plan, in); err != nil {
		return nil, nil, err
	}
	// The memory and time of another engine are estimated before the expensive stages.
	if err := plan.engine.Foresee(a.App, &in.Input, cmp.Or(in.settings.Graph.K, pipeline.DefaultNeighbors)); err != nil {
		if work.EngineDone(err) {
			return nil, nil, nil
		}
		return nil, nil, work.EngineFailure(a.FlagFaults(plan.model, err))
	}
	m, err := a.fitRead(ctx, plan, in)
	if work.EngineDone(err) {
		return nil, nil, nil
	}
	return in, m, err
}

// fitRead fits the model to what was read, and calibrates it. It completes the input of in.
func (a *app) fitRead(ctx context.Context, plan *fitPlan, in *fitInput) (models.Model, error) {
	m, complete, err := a.Pipeline().FitComplete(ctx, plan.learner, &in.Input, &in.settings)
	if complete != nil {
		in.Input = *complete
	}
	if work.EngineDone(err) {
		return nil, err
	}

	// A model that did not converge is calibrated too: it is written, and predict may ask for
	// probabilities.
	if models.Usable(err) {
		var short error
		m, short = plan.calibrate.apply(ctx, a.Pipeline(), plan.learner, m, in)
		err = errors.Join(err, short)
	}
	if models.Usable(err) {
		var fault error
		m, fault = pipeline.Agreed(m, in.consensus, in.Targets)
		err = errors.Join(err, fault)
	}
	if models.Usable(err) && plan.proba != "" && !pipeline.HasProbabilities(m) {
		err = noProbabilities()
	}
	if !models.Usable(err) {
		return nil, work.EngineFailure(a.FlagFaults(plan.model, err))
	}
	return m, err
}

// soften finds the consensus of annotators, or what wrong labels make of the others, where it is asked for.
func (a *app) soften(ctx context.Context, plan *fitPlan, in *fitInput) error {
	made := &in.Input
	var err error
	switch {
	case in.labels.Answers != nil && plan.noise != "":
		return shell.Usagef("--label-noise is for one label a point; the errors of annotators are found with their consensus")
	case in.labels.Answers != nil:
		made, in.consensus, err = a.Pipeline().Agree(ctx, plan.learner, made, in.labels.Answers, &in.settings)
	case plan.noise != "":
		var e float64
		made, e, err = a.Pipeline().Denoise(ctx, plan.learner, made, plan.noiseShare, &in.settings)
		if models.Usable(err) {
			a.Note("label noise: %.2g %% of the labels are taken for wrong", 100*e)
		}
	default:
		return nil
	}
	if !models.Usable(err) {
		return a.FlagFaults(plan.model, err)
	}
	if in.consensus != nil {
		a.SayConsensus(in.consensus)
	}
	in.Input = *made
	in.labels = pipeline.KnownTargets(made.Targets)
	return nil
}

// dryFit is the output of fit --dry-run.
type dryFit struct {
	Model   string `json:"model"`
	Points  int    `json:"points"`
	Labeled int    `json:"labeled"`
	shell.Foreseen
}

// String is a line about the fit.
func (d dryFit) String() string {
	time := "less than 2 s"
	if d.Seconds >= 2 {
		time = "about " + choice.Duration(d.Seconds)
	}
	return fmt.Sprintf("dry run: %s, %d of %d points labeled, takes %s of memory and %s beside reading; "+
		"nothing was written", d.Model, d.Labeled, d.Points, machine.Size(d.Bytes), time)
}

// foresee announces the stages of a fit, and prints what they take in all.
func (a *app) foresee(ctx context.Context, plan *fitPlan, in *fitInput) error {
	folds := plan.calibrate.foreseen()
	foreseen, err := a.Foresee(func(o stage.Observer) error {
		p := a.Pipeline()
		p.Observer = o
		return p.Foresee(ctx, plan.learner, &in.Input, &in.settings, folds)
	})
	if err != nil {
		return a.FlagFaults(plan.model, err)
	}
	d := dryFit{plan.learner.Info().Name, in.Len(), len(in.Targets.Labeled), foreseen}
	return a.Print(d, d.String())
}

// chooseGraph completes the settings of the graph where the model chooses them by the points; flags
// that are given replace its choice.
func (a *app) chooseGraph(plan *fitPlan, in *fitInput, params shell.ParamFlags) error {
	if !plan.learner.Info().OpenGraph || in.Graph != nil {
		return nil
	}
	made, err := pipeline.AutoGraph(in.Points, params.Values(pipeline.GraphParams.Params()))
	if err != nil {
		return a.FlagFaults("", err)
	}
	in.settings = *made
	return nil
}

// finishFit measures, writes and prints what a fit made. fitErr is usable.
func (a *app) finishFit(ctx context.Context, plan *fitPlan, in *fitInput, m models.Model, fitErr error) error {
	t := in.labels
	sum := summary.Fit{Model: summary.Of(m), Points: in.Len(), Labels: t.Summary(), Chosen: in.Chosen,
		Why: in.Why}
	a.Warn(sum.Model.Warnings...)
	sum.Warnings = a.Warnings
	if g := in.Graph; g != nil && g.Components != nil {
		sum.Components, sum.Isolated = g.Components.Count(), g.Components.Isolated()
		if g.W != nil {
			in.hashes[pipeline.HashGraph] = data.HashPoints(g.W)
		}
	}

	// The answers for the training points are needed for several purposes; models that keep them are
	// not asked again.
	var p *models.Prediction
	var err error
	if plan.predictions != "" || plan.proba != "" || plan.report != "" || t.HeldBack() {
		page := plan.report != ""
		sure := pipeline.HasProbabilities(m) && (page || plan.proba != "" || table.IsTable(plan.predictions))
		if p, err = pipeline.Training(m, page, sure); p == nil && err == nil {
			p, err = a.Pipeline().Predict(ctx, m, in.Points,
				models.PredictSettings{Probabilities: sure}, page)
		}
		if err != nil {
			return err
		}
		if sum.Measured, err = t.Measure(p); err != nil {
			return err
		}
	}

	var page *report.Report
	if plan.report != "" {
		if page, err = a.fitReport(ctx, &sum, plan, in, m, p); err != nil {
			return err
		}
	}

	// The model, the answers and the report are made; from here an interrupt waits until all are
	// on disk.
	err = a.Write(ctx, func() error {
		err := models.Save(plan.out, m, in.hashes, a.Files)
		if err == nil && plan.predictions != "" {
			var answers pipeline.Answers
			if answers, err = pipeline.AnswersTo(plan.predictions, m, p, 0, 0); err == nil {
				err = a.WriteAnswers(plan.predictions, answers, in.hashes)
			}
		}
		if err == nil && plan.proba != "" {
			err = a.WriteAnswers(plan.proba, pipeline.ProbabilityAnswers(m, p), in.hashes)
		}

		if err == nil && page != nil {
			err = report.Save(plan.report, page)
		}
		return err
	})
	if err != nil {
		return err
	}

	// The checkpoint of a fit that did not converge stays: --resume goes on from it.
	if fitErr == nil {
		a.Checkpoint.Clear()
	}
	if err := a.Print(sum, fmt.Sprintf("%s: %s", plan.out, sum)); err != nil {
		return err
	}
	return fitErr
}
