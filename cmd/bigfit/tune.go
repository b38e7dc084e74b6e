package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/pipeline"
)

// tuneOptions are the flags of bigfit tune: the flags of a fit, some of which take
// several values.
type tuneOptions struct {
	fitOptions
	c              []float64
	folds, repeats int
	criterion      selection.Criterion
	table          string
}

// tunable tells whether a learner learns from labels that cross-validation can
// measure with.
func tunable(l models.Learner) bool { return !l.Info().Learns.Has(models.LearnsInside) }

func (a *app) tuneCommand() *cobra.Command {
	var o tuneOptions
	cmd := &cobra.Command{
		Use:   "tune --model NAME X.npy… y.npy [--gamma-a 1e-6,1e-4,1e-2]",
		Short: "Choose the settings of a model by cross-validation on the labels",
		Long: `Choose the settings of a model by cross-validation. The labeled points are dealt into
folds with equal shares of the classes. A model with each combination of the values given
predicts the labels of each fold from the other folds. Only points with a label count.
bigfit help MODEL, or --model MODEL --help, lists the flags of a model. Flags of type
list take several values:

  --gamma-a 1e-6,1e-4 --neighbors 6,10 --sigma median,2

Without such flags the grid is the model's own, which bigfit models NAME lists and tune
prints. A weight γ_A or γ_I that is not given always takes its values from that grid.

--model is one of

` + shell.ListLearners() + `
--c replaces γ_A by the C of support vector machines: γ_A = 1/(2Cl) with l labels in
all. The table has the mean of the --metric over the folds and its standard error, the
best first. Of equal means the stronger regularization is better (larger γ_A, then γ_I, …,
fewer neighbours). A class without a label outside a fold counts as wrong there. F1, PRBEP
and AUC are measured on the larger of two classes; of more classes they are means. With several
labels a point the error is the Hamming loss.

Neighbours are searched for once; graphs, factorizations, landmarks and features are
shared. The best setting is printed as a command line; --best fits it on all labels, as
that line does. Without convergence of the best fits the exit code is 3. After an
interrupt the scores known so far are printed; with --checkpoint DIR they are kept
there every ten seconds, as the neighbours are when they are found, and the same
command with --resume goes on from them to the same bits.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.take(&o.fitOptions, args)
			o.Asked = cmd.Flags().Changed("regression")
			return a.tune(cmd.Context(), &o, cmd.Flags())
		},
	}

	f := cmd.Flags()
	shell.ModelFlag(f, &o.model, "`name` of the model; see bigfit models")
	f.IntVar(&o.folds, "folds", 5, "folds of the cross-validation, at most one a label")
	f.IntVar(&o.repeats, "repeats", 1, "deal the labels into folds this many times")
	o.flags(a, f, true)
	shell.ModelHelp(cmd, o.params)
	f.Float64SliceVar(&o.c, "c", nil, "weights C of the losses, in place of γ_A = 1/(2Cl)")
	f.Lookup("c").DefValue = ""
	shell.NameFlag(f, &o.criterion, "metric",
		"measure; default is error, or rmse of values")
	f.StringVarP(&o.table, "output", "o", "tune.json",
		"`file` of the results to write, .json, .csv, .md or .tex")
	f.StringVar(&o.out, "best", "", "fit the best model on all labels and write it to this `file`")
	return cmd
}

func (a *app) tune(ctx context.Context, o *tuneOptions, flags *pflag.FlagSet) error {
	grid, err := a.checkTune(o)
	if err != nil {
		return err
	}
	plan, err := a.planSearch(&o.fitOptions, grid.Learner, grid.Fixed)
	if err != nil {
		return err
	}
	in, err := a.readFit(plan)
	if err != nil {
		return err
	}
	if err := a.chooseGraph(plan, in, plan.params.Single()); err != nil {
		return err
	}
	t := in.labels
	if err := checkCriterion(o.criterion, t); err != nil {
		return err
	}

	if o.folds > len(t.Labeled) {
		return shell.Usagef("--folds is %d and %d points have a label; it must be at most that", o.folds,
			len(t.Labeled))
	}
	// γ_A = 1/(2Cl) needs the number of labels, which is known only now.
	for _, c := range o.c {
		grid.Axes["gamma-a"] = append(grid.Axes["gamma-a"],
			models.FormatFloat(1/(2*c*float64(len(t.Labeled)))))
	}
	if err := a.keepSearch(ctx, plan, in); err != nil {
		return err
	}

	// The search for neighbours and the input of all settings are made once.
	tuning, short := a.Pipeline().Prepare(ctx, &in.Input, *grid, &in.settings)
	if !models.Usable(short) {
		return short
	}
	r, tuneErr := a.crossValidate(ctx, o, tuning)
	if !models.Usable(tuneErr) {
		return a.FlagFaults(o.model, tuneErr)
	}
	for i := range r.Scores {
		r.Scores[i].Fault = a.Reword(r.Scores[i].Fault)
	}
	// The table is written before the best model is fitted: an interrupt of the fit must not lose
	// the search.
	best := r.Best().Setting
	sum := summary.Tune{Model: o.model, Result: r, Labels: t.Summary(), Warnings: a.Warnings,
		Best: o.commandLine(grid.Learner, best, flags)}
	if err := a.Write(ctx, func() error { return saveTable(o.table, sum.Table(), sum) }); err != nil {
		return err
	}

	if err := a.Print(sum, sum.String()); err != nil {
		return err
	}
	if o.out == "" {
		a.Checkpoint.Clear()
		return errors.Join(short, tuneErr)
	}
	m, complete, fitErr := tuning.Fit(ctx, &in.Input, best)
	if models.Usable(fitErr) { // as fit does
		in.Input = *complete
		var short error
		m, short = a.Pipeline().CalibrateByDefault(ctx, tuning.Grid.Learner, m, &in.Input)
		fitErr = errors.Join(fitErr, short)
	}

	if !models.Usable(fitErr) {
		return fitErr
	}
	// The graph of the best setting may differ from the first one, so its hash is taken after the
	// fit.
	if in.Graph != nil {
		in.hashes[pipeline.HashGraph] = data.HashPoints(in.Graph.W)
	}
	if err := a.Write(ctx, func() error { return models.Save(o.out, m, in.hashes, a.Files) }); err != nil {
		return err
	}

	a.Checkpoint.Clear()
	return errors.Join(short, tuneErr, fitErr)
}

// keepSearch opens the checkpoint, if there is one, for a search on in.
func (a *app) keepSearch(ctx context.Context, plan *fitPlan, in *fitInput) error {
	err := a.OpenCheckpoint(ctx, &plan.CheckpointFlags)
	if err == nil && a.Checkpoint != nil {
		a.Checkpoint.MadeFrom(in.hashes)
	}
	return err
}

// checkCriterion returns an error unless a measure is one of such targets.
func checkCriterion(c selection.Criterion, t *pipeline.Targets) error {
	values := t.Classes == nil && t.Labels == nil
	if c != selection.DefaultCriterion && values != (c == selection.RMSECriterion) {
		return shell.Usagef("--metric is %v; values take rmse, classes the others", c)
	}
	return nil
}

// checkTune returns the grid that is asked for. What can be known to be wrong before
// anything is read is refused.
func (a *app) checkTune(o *tuneOptions) (*selection.Grid, error) {
	if o.model == "" {
		return nil, shell.Usagef("tune needs a --model; the models are %s", shell.LearnersThat(tunable))
	}
	l, err := shell.FindLearner(o.model)
	if err != nil {
		return nil, err
	}
	hasGammaA := shell.HasParam(l, nil, "gamma-a")
	switch {
	case !tunable(l):
		return nil, shell.Usagef("%s does not learn from labels, which tune measures with", o.model)
	case o.folds < 2:
		return nil, shell.Usagef("--folds is %d; it must be at least 2", o.folds)
	case o.repeats < 1:
		return nil, shell.Usagef("--repeats is %d; it must be at least 1", o.repeats)
	case len(o.c) > 0 && !hasGammaA:
		return nil, shell.Usagef("--c is not for %s, which has no γ_A", o.model)
	case len(o.c) > 0 && o.params["gamma-a"].Text != "":
		return nil, shell.Usagef("--c and --gamma-a say the same thing; give one of them")
	}

	for _, c := range o.c {
		if !(c > 0) || math.IsInf(c, 0) {
			return nil, shell.Usagef("--c has the value %s; it must be positive", models.FormatFloat(c))
		}
	}

	// One value of a parameter fixes it, several make an axis; the numbers of neighbours have an
	// axis of their own, because they change the graph.
	grid := &selection.Grid{Learner: l, Fixed: models.Values{}, Axes: map[string][]string{}}
	for _, p := range append(l.Params(), o.params["neighbors"].Param) {
		parts := o.params[p.Name].Parts()
		check := p.Check
		if len(parts) > 1 {
			check = p.CheckElement
		}
		for _, text := range parts {
			if err := check(text); err != nil {
				return nil, a.FlagFaults(o.model, err)
			}
			if p.Name == "neighbors" {
				k, _ := strconv.ParseFloat(text, 64)
				grid.Neighbors = append(grid.Neighbors, int(k))
			}
		}

		switch {
		case p.Name == "neighbors":
		case len(parts) == 1:
			grid.Fixed[p.Name] = parts[0]
		case len(parts) > 1:
			grid.Axes[p.Name] = parts
		}
	}

	return grid, a.checkGrid(o, grid)
}

// checkGrid checks the first values of a grid together. It drops values of the environment
// that do not matter with the others.
func (a *app) checkGrid(o *tuneOptions, grid *selection.Grid) error {
	if len(o.c) > 0 {
		grid.Axes["gamma-a"] = nil // until the number of labels is known
	}
	added := grid.Complete()
	// One combination stands for all: whether parameters go together does not depend on their
	// numbers.
	values := grid.Fixed.With(nil)
	for name, list := range grid.Axes {
		if values[name] = "1"; len(list) > 0 {
			values[name] = list[0]
		}
	}

	inputs := o.x.Inputs(o.Y, o.graphFile)
	if err := cmp.Or(o.CheckFiles(inputs, o.table, o.out),
		shell.CheckOutput(inputs, o.table, o.out)); err != nil {
		return err
	}
	if err := a.checkFit(&o.fitOptions, grid.Learner, values); err != nil {
		return err
	}
	if added != "" {
		a.Note("tune: by default %s", added)
	}
	maps.DeleteFunc(grid.Fixed, func(name, _ string) bool { return values[name] == "" })
	maps.DeleteFunc(grid.Axes, func(name string, _ []string) bool { return values[name] == "" })
	return checkTableFile(o.table)
}

// crossValidate runs the search. After an interrupt it prints the scores known so far.
func (a *app) crossValidate(ctx context.Context, o *tuneOptions,
	t *pipeline.Tuning) (*selection.Result, error) {
	var last atomic.Pointer[selection.Result]
	var once sync.Once
	var printErr error
	// The context and the end of the search may both report an interrupt; the scores are printed
	// once.
	interrupted := func() {
		once.Do(func() {
			if r := last.Load(); r != nil {
				sum := summary.Tune{Model: o.model, Result: r}
				printErr = a.Print(sum, sum.String())
			}
		})
	}

	// A fit may take longer to stop than the program has.
	defer context.AfterFunc(ctx, interrupted)()
	s := selection.Settings{Folds: o.folds, Repeats: o.repeats, Criterion: o.criterion}
	r, err := t.Search(ctx, s, func(r *selection.Result) { last.Store(r) })
	if ctx.Err() != nil {
		interrupted()
		return nil, errors.Join(ctx.Err(), printErr)
	}
	return r, err
}

// notFits are flags of tune that are not for the fit of the best model.
var notFits = []string{"model", "points", "labels-file", "folds", "repeats", "metric", "output", "best",
	"threads", "memory-limit", "json", "quiet", "progress", "checkpoint", "resume", "c"}

// commandLine is the bigfit fit of a setting.
func (o *tuneOptions) commandLine(l models.Learner, s selection.Setting, flags *pflag.FlagSet) string {
	words := []string{"bigfit fit --model", l.Info().Name}
	for _, x := range o.x {
		words = append(words, "-X", shellWord(x))
	}
	if o.Y != "" {
		words = append(words, "-y", shellWord(o.Y))
	}
	params := l.Params()
	isParam := func(name string) bool {
		return slices.ContainsFunc(params, func(p models.Param) bool { return p.Name == name })
	}

	// Flags given to tune are repeated but for those that a fit does not have, the parameters,
	// which follow from the setting, and flags of a graph that the model does not use.
	info := l.Info()
	flags.Visit(func(f *pflag.Flag) {
		graph := o.params[f.Name] != nil && !isParam(f.Name)
		if isParam(f.Name) || slices.Contains(notFits, f.Name) ||
			graph && (!info.UsesGraph(s.Values) || f.Name == "neighbors") {
			return
		}
		words = append(words, "--"+f.Name+"="+shellWord(strings.Trim(f.Value.String(), "[]")))
	})

	for _, p := range params {
		if v, ok := s.Values[p.Name]; ok {
			words = append(words, "--"+p.Name+"="+shellWord(v))
		}
	}

	if s.Neighbors > 0 {
		words = append(words, "--neighbors="+strconv.Itoa(s.Neighbors))
	}
	out := o.out
	if out == "" {
		out = "model.npz"
	}
	return strings.Join(append(words, "-o", shellWord(out)), " ")
}

// shellWord quotes text for a shell, if it must.
func shellWord(text string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' ||
			strings.ContainsRune("_-+=./:,@%", r)
	}
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
