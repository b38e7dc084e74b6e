package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/selection"
)

// tuneOptions are the flags of bigfit tune: those of a fit, some of them with
// several values.
type tuneOptions struct {
	fitOptions
	lists          map[string]*listValue
	folds, repeats int
	criterion      selection.Criterion
	table          string
}

// listed are the flags of a fit that take several values.
var listed = []string{"gamma-a", "gamma-i", "gamma", "alpha", "eigenvectors", "sigma", "power", "neighbors", "c"}

// listValue is a flag for several values of another one, with commas between.
type listValue struct {
	each   pflag.Value // set to one value after the other; the last one stays
	values []string
}

func (v *listValue) Set(text string) error {
	v.values = nil
	for _, part := range strings.Split(text, ",") {
		part = strings.TrimSpace(part)
		if err := v.each.Set(part); err != nil {
			return fmt.Errorf("%q is no %s; give values with commas between", part, map[string]string{"int": "integer", "float64": "number"}[v.each.Type()])
		}
		v.values = append(v.values, part)
	}
	return nil
}

func (v *listValue) String() string { return strings.Join(v.values, ",") }

// Type stands for the value in help texts.
func (v *listValue) Type() string { return "list" }

// floats returns the values of a flag of numbers.
func (v *listValue) floats() []float64 {
	out := make([]float64, len(v.values))
	for i, text := range v.values {
		out[i], _ = strconv.ParseFloat(text, 64) // Set has parsed it
	}
	return out
}

// ints returns the values of a flag of integers, or of numbers that are.
func (v *listValue) ints() []int {
	out := make([]int, len(v.values))
	for i, x := range v.floats() {
		out[i] = int(x)
	}
	return out
}

func (a *app) tuneCommand() *cobra.Command {
	o := tuneOptions{fitOptions: fitOptions{own: newModelOptions()}, lists: map[string]*listValue{}}
	cmd := &cobra.Command{
		Use:   "tune --model NAME -X X.npy -y y.npy --gamma-a 1e-6,1e-4,1e-2",
		Short: "Choose the settings of a model by cross-validation on the labels",
		Long: `Fit a model of bigfit fit with all combinations of the values given, and measure
each by cross-validation: the labeled points are dealt into folds, with equal
shares of the classes, and the labels of each fold are predicted from the others.
Only points with a label count. Flags that take several values:

  --gamma-a 1e-6,1e-4  --gamma-i 0,0.01  --power 1,2  --neighbors 6,10
  --sigma median,2,5   --alpha 0.9,0.99  --eigenvectors 10,20 --gamma 0.1,1

--c gives, in place of γ_A, the C of support vector machines: γ_A = 1/(2Cl) with l
the number of all labels. The table has the mean of the --metric over the folds
and its standard error, best first; of equal means the stronger regularization
(larger γ_A, then γ_I, γ and α, fewer eigenvectors, wider σ, lower power, fewer
neighbours) is better. A class without a label outside a fold counts as wrong
there. F1, PRBEP and AUC are of the larger of two classes, or means over more.

Neighbours are searched for once, graphs, factorizations, landmarks and features
(--means) shared. sssl without --eigenvectors chooses their number by an inner
cross-validation in each fold. The best
setting is printed as a command line; --best fits it on all labels, as that line
does. Without convergence of the best fits the exit code is 3. After an interrupt
the scores known so far are printed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.tune(cmd.Context(), &o, cmd.Flags()) },
	}
	f := cmd.Flags()
	f.StringVar(&o.model, "model", "", "`name` of the model; see bigfit fit --help")
	f.StringVarP(&o.x, "points", "X", "", "`file` of the points")
	f.StringVarP(&o.y, "labels-file", "y", "", "`file` of the labels or values")
	f.BoolVar(&o.regression, "regression", false, "y holds values, not classes (default: if they are not all integers)")
	f.IntVar(&o.labels, "labels", 0, "use this many of the labels, drawn by --seed (default: all)")
	o.label.flags(f)
	f.StringVar(&o.graphFile, "graph", "", "graph `file` from bigfit graph or SciPy")
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.own.flags(own)
	o.graph.flags(own)
	o.eigs.flags(own)
	own.Float64("c", 0, "weight C of the losses of a support vector machine, in place of γ_A = 1/(2Cl)")
	own.VisitAll(func(flag *pflag.Flag) {
		if flag.Name == "folds" || flag.Name == "nu" {
			return
		}
		flag.Hidden = slices.Contains(outputFlags, flag.Name) // the model is refused, not the flag
		if slices.Contains(listed, flag.Name) {
			o.lists[flag.Name] = &listValue{each: flag.Value}
			flag.Value, flag.DefValue = o.lists[flag.Name], ""
		}
		f.AddFlag(flag)
	})
	f.IntVar(&o.folds, "folds", 5, "folds of the cross-validation, at most one a label")
	f.IntVar(&o.repeats, "repeats", 1, "deal the labels into folds this many times")
	f.Lookup("tolerance").Usage = "relative residual, or gap, at which a solver stops (default 1e-8; of kernel machines 1e-6)"
	nameFlag(f, &o.criterion, "metric", "measure: default (error, or rmse of values), error, rmse, f1, prbep, auc")
	f.StringVarP(&o.table, "output", "o", "tune.json", "`file` of the results to write")
	f.StringVar(&o.out, "best", "", "fit the best model on all labels and write it to this `file`")
	return cmd
}

func (a *app) tune(ctx context.Context, o *tuneOptions, flags *pflag.FlagSet) error {
	spec, err := a.checkTune(o, flags)
	if err != nil {
		return err
	}
	t, err := a.fitTargets(&o.fitOptions, spec, flags.Changed("regression"))
	if err != nil {
		return err
	}
	values := t.targets.Classes == nil
	if rmse := o.criterion == selection.RMSECriterion; o.criterion != selection.DefaultCriterion && values != rmse {
		return usagef("--metric is %v; values take rmse, classes the others", o.criterion)
	}
	if l := len(t.targets.Labeled); o.folds > l {
		return usagef("--folds is %d and %d points have a label; it must be at most that", o.folds, l)
	}
	if c := o.lists["c"].floats(); len(c) > 0 {
		var gammas []string
		for _, v := range c {
			gammas = append(gammas, number(1/(2*v*float64(len(t.targets.Labeled)))))
		}
		if err := flags.Set("gamma-a", strings.Join(gammas, ",")); err != nil {
			return err
		}
	}
	src, neighbors, sourceErr := a.tuneSources(ctx, o, spec, t, flags)
	if !usable(sourceErr) {
		return sourceErr
	}
	grid, err := a.tuneGrid(o, spec, src)
	if err != nil {
		return err
	}
	d := &selection.Data{Targets: t.targets, Points: src.x, Neighbors: neighbors, Edges: src.options.Graph.Graph, Graph: src.w}
	r, tuneErr := a.crossValidate(ctx, o, d, grid)
	if !usable(tuneErr) {
		return tuneErr
	}
	sum := tuneSummary{Model: spec.name, Result: r, Best: o.commandLine(spec, r.Best().Point, flags)}
	err = a.write(ctx, func() error {
		return npy.Atomically(o.table, func(w io.Writer) error {
			enc := json.NewEncoder(w)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			return enc.Encode(sum)
		})
	})
	if err != nil {
		return err
	}
	if err := a.print(sum, sum.String()); err != nil {
		return err
	}
	var fitErr error
	if o.out != "" {
		fitErr = a.fitBest(ctx, o, spec, r.Best().Point, src, neighbors, t)
	}
	if !usable(fitErr) {
		return fitErr
	}
	return errors.Join(sourceErr, tuneErr, fitErr)
}

// checkTune returns the model asked for. What can be known to be wrong before
// anything is read is refused.
func (a *app) checkTune(o *tuneOptions, flags *pflag.FlagSet) (*modelSpec, error) {
	spec, err := findModel(o.model)
	if o.model == "" {
		return nil, usagef("tune needs a --model; the models are %s", modelsThat((*modelSpec).tunable))
	}
	if err != nil {
		return nil, err
	}
	delete(a.given, "folds") // not the model's own
	hinge := spec.base.linear != nil && spec.base.linear.Loss != linear.LeastSquares ||
		spec.base.kernel != nil && (spec.base.kernel.Method == kernelmachine.SVM || spec.base.kernel.Method == kernelmachine.SVR)
	c := o.lists["c"]
	switch {
	case spec.targets == inside:
		return nil, usagef("%s does not learn from labels, which tune measures with", spec.name)
	case !spec.tunable():
		return nil, usagef("%s is not for tune, but %s", spec.name, modelsThat((*modelSpec).tunable))
	case o.folds < 2:
		return nil, usagef("--folds is %d; it must be at least 2", o.folds)
	case o.repeats < 1:
		return nil, usagef("--repeats is %d; it must be at least 1", o.repeats)
	case len(c.values) > 0 && !hinge:
		return nil, usagef("--c is not for %s, but for support vector machines; give --gamma-a", spec.name)
	case len(c.values) > 0 && len(o.lists["gamma-a"].values) > 0:
		return nil, usagef("--c and --gamma-a say the same thing; give one of them")
	case spec.base.eigenmap != nil && o.own.penalty != eigenmap.NoPenalty && (len(o.lists["gamma"].values) == 0 || len(o.lists["eigenvectors"].values) == 0):
		return nil, usagef("--penalty %v needs values of --gamma and --eigenvectors to choose from", o.own.penalty)
	case spec.base.eigenmap != nil && o.own.penalty == eigenmap.NoPenalty && len(o.lists["gamma"].values) > 0:
		return nil, usagef("--gamma is the strength of a penalty and there is none; give --penalty iterated or heat")
	case spec.base.eigenmap != nil && len(o.lists["power"].values) > 1:
		return nil, usagef("--power takes one value for %s", spec.name)
	}
	if len(c.values) > 0 {
		// Until the number of labels is known.
		if err := flags.Set("gamma-a", "1"); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"gamma", "eigenvectors", "neighbors", "c"} {
		for _, v := range o.lists[name].floats() {
			if !(v > 0) || math.IsInf(v, 0) {
				return nil, usagef("--%s has the value %s; it must be positive", name, number(v))
			}
		}
	}
	if _, err := a.checkFit(&o.fitOptions, flags); err != nil {
		return nil, err
	}
	for _, name := range listed {
		for _, v := range o.lists[name].values {
			if err := o.lists[name].each.Set(v); err != nil {
				return nil, err
			}
			if _, err := a.checkFit(&o.fitOptions, flags); err != nil {
				return nil, err
			}
		}
	}
	return spec, checkOutput([]string{o.x, o.y, o.graphFile}, o.table, o.out)
}

// tuneGrid returns the grid of the flags.
func (a *app) tuneGrid(o *tuneOptions, spec *modelSpec, src *sources) (*selection.Grid, error) {
	s := o.own.settings(spec, o.eigs.Laplacian, o.eigs.Tolerance, a.seed)
	g := &selection.Grid{Linear: s.linear, Kernel: s.kernel, Scale: s.scale, Graph: s.graph, Eigenmap: s.eigenmap, SSSL: s.sssl, Laplacian: o.eigs.Laplacian, Tolerance: o.eigs.Tolerance}
	floats := func(name string) []float64 {
		if !spec.uses(name) {
			return nil
		}
		return o.lists[name].floats()
	}
	g.GammaA, g.GammaI, g.Gamma, g.Alpha = floats("gamma-a"), floats("gamma-i"), floats("gamma"), floats("alpha")
	if spec.uses("eigenvectors") {
		g.Eigenvectors = o.lists["eigenvectors"].ints()
	}
	if spec.uses("power") && s.eigenmap == nil {
		g.Power = o.lists["power"].ints()
	}
	if spec.uses("neighbors") && src.w == nil {
		g.Neighbors = o.lists["neighbors"].ints()
	}
	if s.kernel == nil && s.sssl == nil {
		return g, nil
	}
	sigmas := o.lists["sigma"].values
	if len(sigmas) == 0 {
		sigmas = []string{o.own.sigma}
	}
	for _, v := range sigmas {
		o.own.sigma = v
		k, err := o.own.kernelOn(src.x, a.seed)
		if err != nil {
			return nil, err
		}
		g.KernelFunction = k
		if k.Kind == kernel.Gaussian || k.Kind == kernel.Laplace {
			g.Sigma = append(g.Sigma, k.Sigma)
		}
	}
	return g, nil
}

// crossValidate runs models.Tune as a stage. After an interrupt it prints what is
// known.
func (a *app) crossValidate(ctx context.Context, o *tuneOptions, d *selection.Data, g *selection.Grid) (*selection.Result, error) {
	points, err := g.Points()
	if err != nil {
		return nil, err
	}
	settings := &selection.Settings{Folds: o.folds, Repeats: o.repeats, Seed: a.seed, Criterion: o.criterion, MemoryLimit: int64(a.memory)}
	splits := o.folds * o.repeats
	a.note("tune: %d settings on %d folds, %d fits", len(points), splits, len(points)*splits)
	bytes, operations := selection.Cost(d, g, settings)
	remedy := "give fewer points, or take a linear --model"
	switch {
	case g.Scale != nil:
		remedy = scaleRemedy(g.Scale) + ", or fewer --threads"
	case g.Kernel != nil:
		remedy = exactRemedy(g.Kernel.Method)
	case g.SSSL != nil:
		remedy = ssslRemedy
	}
	if err := a.need("tune", bytes, operations, remedy); err != nil {
		return nil, err
	}
	st := a.progress.Stage("tune")
	var last atomic.Pointer[selection.Result]
	settings.OnProgress = func(r *selection.Result) {
		last.Store(r)
		st.Update(float64(r.Done), float64(r.Total), "")
	}
	var once sync.Once
	var printErr error
	interrupted := func() {
		once.Do(func() {
			if r := last.Load(); r != nil {
				sum := tuneSummary{Model: o.model, Result: r}
				printErr = a.print(sum, sum.String())
			}
		})
	}
	// A fit may take longer to stop than the program has.
	defer context.AfterFunc(ctx, interrupted)()
	r, err := selection.Search(ctx, d, g, settings)
	if ctx.Err() != nil {
		interrupted()
		return nil, errors.Join(ctx.Err(), printErr)
	}
	if r != nil {
		st.Done(fmt.Sprintf("%d fits", r.Done))
	}
	return r, err
}
