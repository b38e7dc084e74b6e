package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/findings"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/internal/suggest"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
)

// compareOptions are the flags of bigfit compare.
type compareOptions struct {
	fitOptions
	models, set      []string
	perClass, counts []int
	splits, against  string
	tune             bool
	folds, repeats   int
	criterion        selection.Criterion
	format           tableFormat
	outputs          []string
	plot             string
}

// mostSplits is the most that are drawn for a number of labels.
const mostSplits = 10000

func (a *app) compareCommand() *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare X.npy… y.npy --models NAME,NAME,… --labels-per-class 5",
		Short: "Compare models on the same random draws of the labels",
		Long: `Fit several models to some of the labels of y and measure them on the others, over
several splits that all models share:

  bigfit compare X.npy y.npy --models knn,lgc,laprls,svm --labels-per-class 5,20
      --splits 10 --tune -o table.tex --plot curves.svg --report compare.html

A split says which points have a label. --labels-per-class draws a number of labels of
each class, or all but one of a smaller class. --labels draws a number in all, as fit
--labels does with one seed after the other. --splits splits.npy, or splits.npz:KEY, reads
splits: a row holds point numbers from 0. Points without a label in y are part of the
graph and are not measured.

A model sees only the labels of the split. Cross-validation on them chooses the parameters
that fit would choose, those that --set gives several values, and with --tune those that
have a grid (bigfit models NAME). With too few labels for that they have fixed values.
--set MODEL.PARAMETER=VALUE[,VALUE…] may be repeated. The graph and its eigenpairs are made
once: flags about them (--pca, --neighbors, --distance, …) are for all models, but not for
the distances of knn. With auto among the models it is the graph that fit makes for auto.
--graph without points compares models that answer for the points of a graph.

The table has the mean and the standard deviation of the --metric over the splits,
and how each model differs from the best one, or from --against NAME, split by
split: mean difference with its standard error, wins/ties/losses, and p of the
paired t-test. p is of each pair alone, and splits of one set of points are not
independent. A fit that fails is named and the others go on. It is Markdown on
stdout, or --format csv, latex or json; -o writes files by their extension (.md,
.csv, .tex, .json) and may be repeated; .tex needs the package booktabs. --plot draws
the learning curves of several numbers of labels. --json has every fit with its
settings.

After an interrupt the table of what is finished is printed; with --checkpoint DIR
the same command with --resume goes on from there. Exit code 3 if a fit did not
converge.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.take(&o.fitOptions, args)
			o.Asked = cmd.Flags().Changed("regression")
			return a.compareModels(cmd.Context(), &o)
		},
	}

	f := cmd.Flags()
	f.VarP(&o.x, "points", "X", shell.PointsHelp)
	f.StringVarP(&o.Y, "labels-file", "y", "",
		"`file` of the labels or values; of a table its columns as FILE:LABEL or FILE:ID,LABEL")
	a.Points.ColumnFlags(f)
	a.Points.LabelFlags(f)
	f.BoolVar(&o.Regression, "regression", false,
		"y holds values, not classes (default: if they are not all integers)")
	o.Label.Flags(f)
	o.CheckpointFlags.Flags(f)
	f.StringSliceVar(&o.models, "models", nil,
		"`names` of the models, with commas between; see bigfit models")
	f.IntSliceVar(&o.perClass, "labels-per-class", nil,
		"`numbers` of labels of each class, with commas between")
	f.IntSliceVar(&o.counts, "labels", nil, "`numbers` of labels in all, with commas between")
	f.StringVar(&o.splits, "splits", "10",
		"`number` of splits to draw for each number of labels, or file of given ones")
	f.BoolVar(&o.tune, "tune", false, "choose all parameters that have a documented grid, in every split")
	f.StringArrayVar(&o.set, "set", nil,
		"`MODEL.PARAMETER=VALUE` of one model; several values are chosen from; may be repeated")
	f.IntVar(&o.folds, "folds", 5, "folds of the cross-validation in a split, at most one a label")
	f.IntVar(&o.repeats, "repeats", 1, "deal the labels of a split into folds this many times")
	shell.NameFlag(f, &o.criterion, "metric",
		"measure; default is error, or rmse of values")
	f.StringVar(&o.against, "against", summary.Best,
		"`name` of the model that the others are compared with, or best")
	shell.NameFlag(f, &o.format, "format", "of the table on stdout")
	f.StringSliceVarP(&o.outputs, "output", "o", nil,
		"`file` of the table, .md, .csv, .tex or .json; may be repeated")
	f.StringVar(&o.plot, "plot", "", "draw the means over the numbers of labels, or bars of one number, into "+
		"this `file`: "+strings.Join(plotFormats, ", "))
	f.StringVar(&o.report, "report", "", "write a report to this `file`, .html")
	f.StringVar(&o.graphFile, "graph", "", "graph `file` from bigfit graph or SciPy")
	o.params = shell.ParamFlags{}
	o.params.Add(f, pipeline.GraphParams.Without("class-weights", "class-graphs").Params(), true)
	return cmd
}

func (a *app) compareModels(ctx context.Context, o *compareOptions) error {
	contenders, count, err := a.checkCompare(o)
	if err != nil {
		return err
	}
	// All models see one input: it is read once, for what the models learn and need together.
	o.Drawn = true
	plan, err := a.planSearch(&o.fitOptions, jointly(contenders), nil)
	if err != nil {
		return err
	}
	in, err := a.readFit(plan)
	if err != nil {
		return err
	}
	// Settings with several values belong to the grids of the models.
	if err := a.chooseGraph(plan, in, o.params.Single()); err != nil {
		return err
	}
	a.warnOfColumns(contenders, &in.settings)
	t := in.labels

	if err := checkCriterion(o.criterion, t); err != nil {
		return err
	}
	// The splits are fixed before the first fit, so that all models are measured on the same
	// points.
	splits, err := a.takeSplits(o, t, count)
	if err != nil {
		return err
	}
	a.Warn(splits.Notes...)
	if err := a.keepSearch(ctx, plan, in); err != nil {
		return err
	}

	// The graph and the eigenpairs do not depend on labels; they are made once, before the splits.
	comparing, short := a.Pipeline().PrepareComparison(ctx, &in.Input, contenders, &in.settings)
	if !models.Usable(short) {
		return short
	}
	sum, fault := a.runComparison(ctx, o, comparing, splits)
	if !models.Usable(fault) {
		return fault
	}
	sum.Labels, sum.Warnings = t.Summary(), a.Warnings
	for _, t := range sum.Times {
		a.Note("time of %s: %.1f s", t.Model, t.Seconds)
	}
	// The page is composed before anything is written: a fault in a drawing must not leave half of
	// the outputs.
	var page *report.Report
	if o.report != "" {
		points, err := a.findings(ctx, &findings.Fit{Targets: t}, &in.Input)
		if err != nil {
			return err
		}
		page = a.comparisonReport(o, sum, splits, points)
	}

	savePlot := func() error { return nil }
	if o.plot != "" {
		if savePlot, err = a.comparisonPlot(o, sum); err != nil {
			return err
		}
	}

	err = a.Write(ctx, func() error {
		for _, path := range o.outputs {
			if err := saveTable(path, sum.Table, sum); err != nil {
				return err
			}
		}
		if page != nil {
			if err := report.Save(o.report, page); err != nil {
				return err
			}
		}
		return savePlot()
	})
	if err != nil {
		return err
	}

	a.Checkpoint.Clear()
	return errors.Join(a.printComparison(o, sum), short, fault)
}

// warnOfColumns names the models that measure distances of their own, where the graph is made of columns divided by
// their standard deviations without a flag: the comparison is not fair to them.
func (a *app) warnOfColumns(contenders []selection.Contender, s *pipeline.GraphSettings) {
	if !s.Standardize || a.Given["standardize"] {
		return
	}
	var names []string
	for _, c := range contenders {
		if c.Grid.Learner.Info().Needs.Has(models.NeedsPoints) {
			names = append(names, c.Name)
		}
	}
	if len(names) > 0 {
		a.Warn(fmt.Sprintf("%s: distances of their own are between the columns as they are; only the graph divides each by its "+
			"standard deviation", strings.Join(names, ", ")))
	}
}

// runComparison runs the fits. After an interrupt it prints the table of those that are
// finished.
func (a *app) runComparison(ctx context.Context, o *compareOptions, c *pipeline.Comparing,
	splits *pipeline.Splits) (*summary.Comparison, error) {
	var last atomic.Pointer[selection.Compared]
	var once sync.Once
	var printErr error
	// The reasons of failed fits name parameters; they are worded as the flags of this command.
	// Outcomes are shared with fits that still run, so a changed one is a copy.
	made := func(r *selection.Compared) *summary.Comparison {
		for _, x := range r.Competitors {
			for i, fit := range x.Outcomes {
				if fit != nil && fit.Fault != "" {
					worded := *fit
					worded.Fault = a.Reword(fit.Fault)
					x.Outcomes[i] = &worded
				}
			}
		}
		return summary.NewComparison(r, splits, o.against)
	}

	// The interrupt may be noticed twice, by the context and by the run that ends; the table is
	// printed once.
	interrupted := func() {
		once.Do(func() {
			if r := last.Load(); r != nil {
				printErr = a.printComparison(o, made(r))
			}
		})
	}

	// A fit may take longer to stop than the program has.
	defer context.AfterFunc(ctx, interrupted)()
	s := selection.CompareSettings{Folds: o.folds, Repeats: o.repeats, Criterion: o.criterion}
	r, err := c.Run(ctx, splits.Labeled, s, func(r *selection.Compared) { last.Store(r) })
	if ctx.Err() != nil {
		interrupted()
		return nil, errors.Join(ctx.Err(), printErr)
	}
	if r == nil || !models.Usable(err) {
		return nil, err
	}
	return made(r), err
}

// checkCompare returns the models with their grids and the number of splits to draw, 0
// for given ones. What can be known to be wrong before anything is read is refused.
func (a *app) checkCompare(o *compareOptions) (contenders []selection.Contender, count int, err error) {
	if err := a.checkCompareInput(o); err != nil {
		return nil, 0, err
	}
	// --splits is a number of draws or the name of a file; all that follows depends on which.
	count, notNumber := strconv.Atoi(o.splits)
	switch {
	case notNumber != nil && (len(o.perClass) > 0 || len(o.counts) > 0):
		return nil, 0, shell.Usagef("--splits names a file, which says what is labeled; leave " +
			"--labels and --labels-per-class out")
	case notNumber == nil && (count < 1 || count > mostSplits):
		return nil, 0, shell.Usagef("--splits is %d; it must be from 1 to %d, or a file", count, mostSplits)
	case notNumber == nil && len(o.perClass)+len(o.counts) == 0:
		return nil, 0, shell.Usagef("compare needs numbers of labels: --labels-per-class 5,20 or " +
			"--labels 100,1000; or given splits: --splits FILE")
	case o.folds < 2:
		return nil, 0, shell.Usagef("--folds is %d; it must be at least 2", o.folds)
	case o.repeats < 1:
		return nil, 0, shell.Usagef("--repeats is %d; it must be at least 1", o.repeats)
	case o.against != summary.Best && !slices.Contains(o.models, o.against):
		return nil, 0, shell.Usagef("--against is %s; it must be best or one of --models %s", o.against,
			strings.Join(o.models, ","))
	}

	for flag, list := range map[string][]int{"labels": o.counts, "labels-per-class": o.perClass} {
		for i, n := range list {
			if n < 1 || slices.Contains(list[:i], n) {
				return nil, 0, shell.Usagef("--%s has the value %d; each must be at least 1, and given once",
					flag, n)
			}
		}
	}

	if contenders, err = a.contenders(o); err != nil {
		return nil, 0, err
	}
	ofGraph := func(l models.Learner) bool {
		info := l.Info()
		return tunable(l) && info.Transductive()
	}
	for _, c := range contenders {
		if len(o.x) == 0 && !ofGraph(c.Grid.Learner) {
			return nil, 0, shell.Usagef("%s needs points (-X); models of a graph alone are %s", c.Name,
				shell.LearnersThat(ofGraph))
		}
	}
	// Flags about a graph that no model looks at would be dropped without a word.
	usesGraph := slices.ContainsFunc(contenders,
		func(c selection.Contender) bool { return c.Grid.Learner.Info().Needs.Has(models.NeedsGraph) })
	for name := range a.Given {
		if (o.params[name] != nil || name == "graph") && !usesGraph {
			return nil, 0, shell.Usagef("--%s is about the graph, which none of %s uses", name,
				strings.Join(o.models, ", "))
		}
	}
	return contenders, count, nil
}

// checkCompareInput checks the files.
func (a *app) checkCompareInput(o *compareOptions) error {
	if err := o.CheckpointFlags.Check(); err != nil {
		return err
	}

	switch {
	case len(o.models) == 0:
		return shell.Usagef("compare needs --models; the models are %s", shell.LearnersThat(tunable))
	case o.Y != "" && a.Points.Label != "":
		return shell.Usagef("-y and --label both say where the labels are; give one of them")
	case len(o.x) == 0 && o.graphFile == "" || o.Y == "" && a.Points.Label == "":
		return shell.Usagef("compare needs points (-X), or a graph (--graph), and labels (-y)")
	case len(o.x) == 0 && a.Points.Label != "":
		return shell.Usagef("--label names a column of the points; give them with -X")
	}

	if err := a.CheckReport(o.report); err != nil {
		return err
	}

	for _, path := range o.outputs {
		if err := checkTableFile(path); err != nil {
			return err
		}
	}

	if err := checkPlot(o.plot); err != nil {
		return err
	}

	// A file of splits is an input too, which no output may overwrite.
	inputs := o.x.Inputs(o.Y, o.graphFile)
	if _, notNumber := strconv.Atoi(o.splits); notNumber != nil {
		inputs = append(inputs, o.splits)
	}
	outputs := append(slices.Clone(o.outputs), o.report, o.plot)
	if err := o.CheckFiles(inputs, outputs...); err != nil {
		return err
	}
	return shell.CheckOutput(inputs, outputs...)
}

// contenders returns the models with the settings that they choose from.
func (a *app) contenders(o *compareOptions) ([]selection.Contender, error) {
	var out []selection.Contender
	for i, name := range o.models {
		l, err := shell.FindLearner(name)
		switch {
		case err != nil:
			return nil, err
		case !tunable(l):
			return nil, shell.Usagef("%s does not learn from labels, which compare measures with", name)
		case slices.Contains(o.models[:i], name):
			return nil, shell.Usagef("--models names %s twice", name)
		}
		out = append(out, selection.Contender{Name: name,
			Grid: selection.Grid{Learner: l, Fixed: models.Values{}, Axes: map[string][]string{}}})
	}

	for _, text := range o.set {
		if err := setParam(out, text); err != nil {
			return nil, err
		}
	}

	// The table has one measure, so there must be one kind of target that all models learn.
	learns := out[0].Grid.Learner.Info().Learns
	for i := range out {
		g := &out[i].Grid
		if learns &= g.Learner.Info().Learns; learns == 0 {
			return nil, shell.Usagef("%s does not learn what %s learns: %v, not %v; compare them apart",
				out[i].Name, out[0].Name, kinds(g.Learner), kinds(out[0].Grid.Learner))
		}
		for _, text := range o.params["neighbors"].Parts() {
			if err := o.params["neighbors"].CheckElement(text); err != nil {
				return nil, a.FlagFaults("", err)
			}
			k, _ := strconv.ParseFloat(text, 64)
			g.Neighbors = append(g.Neighbors, int(k))
		}
		if err := out[i].Complete(o.tune); err != nil {
			return nil, setFaults(out[i].Name, err)
		}
	}

	return out, nil
}

// kinds names what a learner learns.
func kinds(l models.Learner) string {
	text, _ := l.Info().Learns.MarshalText()
	return string(text)
}

// setParam gives a contender what --set says.
func setParam(contenders []selection.Contender, text string) error {
	where, value, ok := strings.Cut(text, "=")
	model, name, dot := strings.Cut(where, ".")
	if !ok || !dot || value == "" {
		return shell.Usagef("--set is %q; it must be MODEL.PARAMETER=VALUE, as laprls.gamma-a=1e-3", text)
	}
	i := slices.IndexFunc(contenders, func(c selection.Contender) bool { return c.Name == model })
	if i < 0 {
		return shell.Usagef("--set is %q, but %s is not among --models", text, model)
	}

	g := &contenders[i].Grid
	params := g.Learner.Params()
	at := slices.IndexFunc(params, func(p models.Param) bool { return p.Name == name })
	if at < 0 {
		var names []string
		for _, p := range params {
			names = append(names, p.Name)
		}
		return shell.Usagef("--set is %q, but %s has no parameter %s; it has %s%s", text, model, name,
			strings.Join(names, ", "), suggest.DidYouMean(name, names))
	}

	p := &params[at]
	if g.Fixed[name] != "" || g.Axes[name] != nil {
		return shell.Usagef("--set gives %s.%s twice; several values have commas between", model, name)
	}
	// A precomputed kernel takes the place of the points, which all models of a comparison share.
	if value == expansion.Precomputed {
		return shell.Usagef("--set is %q; compare takes points, not values of kernels", text)
	}
	// Several values make an axis of the grid. One value is fixed, and so is the value of a
	// parameter that takes a list.
	parts := strings.Split(value, ",")
	if !p.Axis || len(parts) == 1 {
		g.Fixed[name] = value
		return setFaults(model, p.Check(value))
	}

	for _, part := range parts {
		if err := p.CheckElement(part); err != nil {
			return setFaults(model, err)
		}
	}

	g.Axes[name] = parts
	return nil
}

// setFaults rewords faults of the parameters of a model: it names --set MODEL.PARAMETER.
func setFaults(model string, err error) error {
	var out []error
	for _, e := range models.Faults(err) {
		var missing *models.MissingError
		var fault models.Fault
		show := func(name string) string { return "--set " + model + "." + name }
		switch {
		case errors.As(e, &missing):
			e = shell.Usagef("%s needs %s, the %s", model, show(missing.Param.Name), missing.Param.Doc)
		case errors.As(e, &fault):
			e = shell.Usagef("%s", param.Show(e.Error(), show))
		}
		out = append(out, e)
	}

	return errors.Join(out...)
}

// joint stands for several learners where their input is read: it learns what all of them
// do, and leaves the graph open if one of them does.
type joint struct {
	models.Learner
	info models.Info
}

func (j joint) Info() models.Info { return j.info }

func jointly(contenders []selection.Contender) models.Learner {
	j := joint{contenders[0].Grid.Learner, contenders[0].Grid.Learner.Info()}
	for _, c := range contenders[1:] {
		info := c.Grid.Learner.Info()
		j.info.Learns &= info.Learns
		j.info.Needs |= info.Needs
		j.info.OpenGraph = j.info.OpenGraph || info.OpenGraph
		j.info.Name += ", " + info.Name
	}
	if len(contenders) > 1 {
		j.info.Name = "one of " + j.info.Name
	}
	return j
}

// takeSplits draws the splits, or reads them.
func (a *app) takeSplits(o *compareOptions, t *pipeline.Targets, count int) (*pipeline.Splits, error) {
	var s *pipeline.Splits
	var err error
	if count == 0 {
		a.Reads("splits", o.splits)
		s, err = pipeline.ReadSplits(o.splits, t.Targets, a.Left())
	} else if s, err = pipeline.DrawSplits(t.Targets, count, o.counts, o.perClass, a.Seed); err != nil {
		err = fmt.Errorf("%s: %w", o.From(a.App), err)
	}

	// Given splits may lie about the points, and drawn ones may leave nothing to measure on; one
	// check serves both.
	if err == nil {
		err = s.Check(t.Targets)
	}
	return s, err
}

// printComparison writes the table to stdout.
func (a *app) printComparison(o *compareOptions, sum *summary.Comparison) error {
	// --format json and --json print the same.
	if o.format == formatJSON {
		a.JSON = true
	}
	// Markdown says how much is done, which matters after an interrupt.
	if o.format == formatMarkdown {
		return a.Print(sum, sum.String())
	}
	return a.Print(sum, o.format.text(sum.Table))
}
