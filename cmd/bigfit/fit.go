package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/work"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/engine"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// fitOptions are the flags that fit, tune and compare share. Each step takes the part that it needs.
type fitOptions struct {
	fitFiles
	fitOutputs
	shell.CheckpointFlags
	model     string
	calibrate calibrateFlag
	engine    work.EngineFlags
	parts     work.FitOptions
}

// fitFiles say what is read: points, targets, and what a learner needs beside them, with the
// parameters that a graph is made by.
type fitFiles struct {
	shell.TargetOptions
	x                                              shards.Names
	graphFile, eigsFile, outputGraph, outputKernel string
	params                                         shell.ParamFlags
}

// fitOutputs are the files that are written; empty ones are not.
type fitOutputs struct{ out, predictions, report string }

// inputFlags are flags that go with an input of learners.
var inputFlags = map[string]models.Needs{"graph": models.NeedsGraph, "eigs": models.NeedsEigenpairs,
	"output-graph": models.NeedsOutputGraph, "output-kernel": models.NeedsOutputGraph}

// flags adds the flags of the data and of all parameters.
func (o *fitOptions) flags(a *app, f *pflag.FlagSet, lists bool) {
	f.VarP(&o.x, "points", "X", shell.PointsHelp)
	f.StringVarP(&o.Y, "labels-file", "y", "",
		"`file` of the labels or values; of a table its columns as FILE:LABEL or FILE:ID,LABEL")
	a.Points.ColumnFlags(f)
	a.Points.LabelFlags(f)
	f.BoolVar(&o.Regression, "regression", false,
		"y holds values, not classes (default: if they are not all integers)")
	f.IntVar(&o.Labels, "labels", 0, "use this many of the labels, drawn by --seed, and print the "+
		"error on the others (default: all)")
	o.Label.Flags(f)
	o.CheckpointFlags.Flags(f)
	f.StringVar(&o.graphFile, "graph", "", "graph `file` from bigfit graph or SciPy")
	f.StringVar(&o.outputKernel, "output-kernel", "",
		"`file` of B, n×n, symmetric, positive semidefinite, for the kernel k(x, z)B of n outputs")
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
		Long: `Fit a model to points X, the first arguments or -X, of which y, the last argument
or -y, labels some, and write it to a file. Classes are integers, or names, which the
model keeps; −1, no text, "nan", "null" and "?" mark unlabeled points. A y of numbers
that are not all integers makes it a regression. bigfit help data says which files are
read, and how. --model is one of

` + shell.ListLearners() + `
bigfit models lists them with a line each; bigfit help MODEL, or --model MODEL --help,
tells the flags of one, which go with those below. A flag that the model does not use
is an error. bigfit help kernels gives what models with an intrinsic norm minimize.

--model auto chooses a model, and weights γ_A and γ_I that are not given are chosen, by
cross-validation on the labels: bigfit help choices, which tells of --calibrate too.

What needs a graph makes that of nearest neighbours of X, or takes it from --graph, and
eigenpairs from --eigs; flags about their making must agree with what they were made
with. Without X, models that label the points of a graph do so. The same command with
--resume goes on from --checkpoint and ends with the same bits.

--report writes a page on the points: shares of the classes, places in the plane by
answer and certainty, how often certain answers are right (of labels held back by
--labels), points and labels to look at, and thumbnails where the columns are pixels.

--parts fits a linear model in parts, also as jobs: bigfit help parts.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.take(&o.fitFiles, args)
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
	o.calibrate.flag(f)
	o.engine.Flags(f, engine.PETSc)
	o.parts.Flags(f)
	f.StringVarP(&o.out, "output", "o", "model.npz", "model `file` to write")
	f.StringVar(&o.predictions, "predictions", "",
		"also write the answers for all training points to this `file`, as predict does")
	f.StringVar(&o.report, "report", "",
		"also write a report on the points and their answers to this .html `file`")
	return cmd
}

// take takes the arguments: points, and the labels last.
func (a *app) take(o *fitFiles, args []string) {
	y := &o.Y
	if a.Points.Label != "" {
		y = nil // the labels are where the points are
	}
	if note := o.x.Take(args, y, o.graphFile != "" || o.eigsFile != ""); note != "" {
		a.Note("%s", note)
	}
}

func (a *app) fit(ctx context.Context, o *fitOptions) error {
	l, err := shell.FindLearner(o.model)
	if err != nil {
		return err
	}
	values := o.params.Values(l.Params())
	if err := cmp.Or(a.checkFit(o, l, values), o.engine.Check(a.App, engine.PETSc,
		"checkpoint")); err != nil {
		return err
	}
	o.engine.Beside = o.out
	if l, err = o.engine.Learner(a.App, l); err != nil {
		return err
	}

	// A dry run of our own engine is a plan of parts; other engines print their own plan.
	o.parts.DryRun = o.engine.DryRun && o.engine.Kind == engine.Ours
	// A fit in parts reads its inputs itself, a part at a time.
	if o.parts.Asked() {
		in := &fitInput{Input: models.Input{Values: values}, hashes: pipeline.Hashes{}}
		m, t, err := work.Fit(ctx, a.App, &o.parts, &work.FitInput{X: o.x, Graph: o.graphFile,
			Params: o.params, Targets: &o.TargetOptions, Learner: l, In: &in.Input, Hashes: in.hashes})
		if m == nil {
			return err
		}
		return a.finishFit(ctx, &o.fitOutputs, m, in, t, err)
	}

	// The lengths in the headers of the files are compared before the arrays are read.
	settings, err := shell.Decode(a.App, o.params, pipeline.GraphParams)
	if err != nil {
		return err
	}
	if err := data.SameRows(cmp.Or(o.x.One(), o.graphFile, o.eigsFile), o.Y); err != nil {
		return err
	}
	in := &fitInput{Input: models.Input{Values: values}, settings: settings}
	t, err := a.readFit(&o.fitFiles, l, in)
	if err != nil {
		return err
	}

	// The automatic model chooses its graph by the points; flags that are given replace its
	// choice.
	if info := l.Info(); info.OpenGraph && in.Graph == nil {
		made, err := pipeline.AutoGraph(in.Points, o.params.Values(pipeline.GraphParams.Params()))
		if err != nil {
			return a.FlagFaults("", err)
		}
		in.settings = *made
	}

	if err := a.OpenCheckpoint(ctx, &o.CheckpointFlags); err != nil {
		return err
	}
	// The memory and time of another engine are estimated before the expensive stages.
	var m models.Model
	fitErr := o.engine.Foresee(a.App, &in.Input, cmp.Or(in.settings.Graph.K, pipeline.DefaultNeighbors))
	if fitErr == nil {
		var complete *models.Input
		if m, complete, fitErr = a.Pipeline().FitComplete(ctx, l, &in.Input, &in.settings); complete != nil {
			in.Input = *complete
		}
	}
	if work.EngineDone(fitErr) {
		return nil
	}

	// A model that did not converge is calibrated too: it is written, and predict may ask for
	// probabilities.
	if models.Usable(fitErr) {
		var short error
		m, short = o.calibrate.apply(ctx, a.Pipeline(), l, m, in)
		fitErr = errors.Join(fitErr, short)
	}

	if !models.Usable(fitErr) {
		return work.EngineFailure(a.FlagFaults(o.model, fitErr))
	}
	return a.finishFit(ctx, &o.fitOutputs, m, in, t, fitErr)
}

// fitInput is the input of a learner, with the settings of its graph and the
// hashes of what was read.
type fitInput struct {
	models.Input
	settings pipeline.GraphSettings
	hashes   pipeline.Hashes
}

// finishFit measures, writes and prints what a fit made. fitErr is usable.
func (a *app) finishFit(ctx context.Context, o *fitOutputs, m models.Model, in *fitInput, t *pipeline.Targets,
	fitErr error) error {
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

	// The answers for the training points are needed for three purposes; models that keep them are
	// not asked again.
	var p *models.Prediction
	var err error
	if o.predictions != "" || o.report != "" || t.HeldBack() {
		page := o.report != ""
		sure := pipeline.HasProbabilities(m) && (page || table.IsTable(o.predictions))
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
	if o.report != "" {
		if page, err = a.fitReport(ctx, &sum, in, t, p); err != nil {
			return err
		}
	}

	// The model, the answers and the report are made; from here an interrupt waits until all are
	// on disk.
	err = a.Write(ctx, func() error {
		err := models.Save(o.out, m, in.hashes, a.Files)
		if err == nil && o.predictions != "" {
			var answers pipeline.Answers
			if answers, err = pipeline.AnswersTo(o.predictions, m, p, 0, 0); err == nil {
				err = a.WriteAnswers(o.predictions, answers, in.hashes)
			}
		}

		if err == nil && page != nil {
			err = report.Save(o.report, page)
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
	if err := a.Print(sum, fmt.Sprintf("%s: %s", o.out, sum)); err != nil {
		return err
	}
	return fitErr
}

// checkFit refuses what can be known to be wrong before anything is read.
func (a *app) checkFit(o *fitOptions, l models.Learner, values models.Values) error {
	info := l.Info()
	if err := o.CheckpointFlags.Check(); err != nil {
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
	if err := a.CheckReport(o.report); err != nil {
		return err
	}

	inputs := o.x.Inputs(o.Y, o.graphFile, o.eigsFile, o.outputGraph, o.outputKernel)
	outputs := []string{o.predictions, o.out, o.report}
	if err := errors.Join(o.CheckFiles(inputs, outputs...),
		shell.CheckFolder("work", o.parts.Work, inputs, outputs...)); err != nil {
		return err
	}
	return shell.CheckAnswers(inputs, outputs[:1], outputs[1:]...)
}

// readFit reads all that is given: first the points, as they may name the points that
// labels belong to.
func (a *app) readFit(o *fitFiles, l models.Learner, in *fitInput) (*pipeline.Targets, error) {
	in.hashes = pipeline.Hashes{}
	n := 0
	if len(o.x) > 0 {
		var err error
		if in.Points, err = a.ReadPoints(o.x, data.ReadOptions{}); err != nil {
			return nil, err
		}
		n, _ = in.Points.Dims()
	} else {
		n = data.Rows(cmp.Or(o.graphFile, o.eigsFile))
	}

	t, err := a.ReadTargets(&o.TargetOptions, l, n)
	if err != nil {
		return nil, err
	}
	if in.Points != nil && t.Len != n {
		return nil, fmt.Errorf("%s has %d points but %s has %d labels", o.x, n, o.Y, t.Len)
	}
	t.Drawn = o.Drawn
	// The hashes of labels and points go into the model's file, so that later commands recognize
	// other data.
	in.Targets, in.hashes[pipeline.HashLabels] = t.Targets, t.Hash()
	a.SayLabels(t, in.Points)
	if in.Points != nil {
		in.hashes[pipeline.HashPoints] = data.HashPoints(in.Points)
	}
	return t, a.readInput(o, l, in)
}

// readInput reads the graphs and eigenpairs that are given.
func (a *app) readInput(o *fitFiles, l models.Learner, in *fitInput) error {
	info := l.Info()
	n := in.Len()
	var err error
	if o.outputGraph != "" {
		if in.Outputs, err = a.readOutputGraph(o.outputGraph, in.Targets); err != nil {
			return err
		}
		in.hashes[pipeline.HashOutputs] = data.HashPoints(in.Outputs)
	}

	if o.outputKernel != "" {
		if in.OutputKernel, err = a.readOutputKernel(o.outputKernel, in.Targets); err != nil {
			return err
		}
		in.hashes[pipeline.HashOutputs] = data.HashPoints(&data.Dense[float64]{Rows: in.OutputKernel.RawMatrix().Rows, Cols: in.OutputKernel.RawMatrix().Cols, Data: in.OutputKernel.RawMatrix().Data})
	}

	var g *pipeline.GraphFile
	if o.graphFile != "" {
		if g, err = a.GivenGraph(o.graphFile, o.params, &in.settings); err != nil {
			return err
		}
		if g.W.Rows != n {
			return fmt.Errorf("%s has %d points but %s has %d labels", o.graphFile, g.W.Rows, o.Y, n)
		}

		if in.Values["kernel"] != expansion.Precomputed { // where X is not the points
			if err := g.Made.Agree(pipeline.HashPoints, in.hashes[pipeline.HashPoints], o.graphFile,
				o.x.String()); err != nil {
				return err
			}
			// The lists and the index kept in a graph's file serve predictions for new points.
			if in.Points != nil && info.Transductive() {
				if err := g.ReadKept(int64(a.Memory)); err != nil {
					return err
				}
			}
		}

		in.Graph, in.settings = &g.Graph.Graph, g.Settings
	}

	if o.eigsFile == "" || !info.Needs.Has(models.NeedsEigenpairs) {
		return nil
	}
	return a.readEigs(o, l, in, g)
}

// readEigs completes in with saved eigenpairs.
func (a *app) readEigs(o *fitFiles, l models.Learner, in *fitInput, g *pipeline.GraphFile) error {
	var graph *pipeline.Graph
	if g != nil {
		graph = &g.Graph
	}
	a.Reads("eigenpairs", o.eigsFile)
	e, err := pipeline.OpenEigs(o.eigsFile, int64(a.Memory), graph, o.graphFile)
	if err != nil {
		return err
	}
	if n, _ := e.Pairs.Vectors.Dims(); n != in.Len() {
		return fmt.Errorf("%s has %d points but %s has %d labels", o.eigsFile, n, o.Y, in.Len())
	}
	// Pairs of other points would be silently wrong.
	if err := e.Made.Agree(pipeline.HashPoints, in.hashes[pipeline.HashPoints], o.eigsFile,
		o.x.String()); err != nil {
		return err
	}

	if e.Settings != nil {
		// A flag that contradicts how the pairs were made is an error; the file's settings become
		// the fit's.
		made := models.Values{"laplacian": e.Settings.Laplacian.String(),
			"tolerance": models.FormatFloat(e.Settings.Tolerance)}
		if err := a.SameAs(o.params, shell.Only(l.Params(), made), made, o.eigsFile); err != nil {
			return err
		}
		if err := a.SameAs(o.params, pipeline.GraphParams.Params(),
			pipeline.GraphParams.Encode(&e.Graph.Settings), o.eigsFile); err != nil {
			return err
		}
		in.Values["laplacian"] = made["laplacian"]
		in.hashes[pipeline.HashGraph] = e.Made[pipeline.HashGraph]
		in.settings = e.Graph.Settings
	}

	if kind := in.Values["laplacian"]; kind != "" {
		if err := in.Laplacian.UnmarshalText([]byte(kind)); err != nil {
			return err
		}
	}

	in.Pairs, in.Graph = e.Pairs, &e.Graph.Graph
	return nil
}

// readOutputGraph reads the graph of the outputs.
func (a *app) readOutputGraph(path string, t *models.Targets) (*sparse.CSR, error) {
	_, n := t.Y.Dims()
	x, err := data.ReadPoints(path, data.ReadOptions{Limit: int64(a.Memory)})
	if err != nil {
		return nil, err
	}
	if rows, cols := x.Dims(); rows != n || cols != n {
		return nil, fmt.Errorf("%s is %d×%d for %d outputs; it must have a row and a column for each", path,
			rows, cols, n)
	}
	w := data.ToSparse(x)
	if err := w.CheckGraph(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// readOutputKernel reads the kernel of the outputs. The fit checks its entries too.
func (a *app) readOutputKernel(path string, t *models.Targets) (*mat.Dense, error) {
	_, n := t.Y.Dims()
	b, err := data.ReadValues(path, data.ReadOptions{Limit: int64(a.Memory)})
	if err != nil {
		return nil, err
	}
	if rows, cols := b.Dims(); rows != n || cols != n {
		return nil, fmt.Errorf("%s is %d×%d for %d outputs; it must have a row and a column for each", path,
			rows, cols, n)
	}
	if _, err := solvers.NewOutputKernel(context.Background(), b); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}
