package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/linear/sums"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// FitOptions are the flags of a fit in parts.
type FitOptions struct{ Steps }

// Flags adds the flags. DryRun is set by the command, as engines have that flag too.
func (o *FitOptions) Flags(f *pflag.FlagSet) { o.flags(f) }

// Asked reports whether a fit is to be made in parts.
func (o *FitOptions) Asked() bool {
	return o.Parts != 0 || o.Work != "" || o.Part != "" || o.Merge || o.Script != ""
}

// check returns an error for flags that do not go together.
func (o *FitOptions) check(a *shell.App) error {
	if o.Parts < 1 || o.Work == "" {
		return shell.Usagef("a fit in parts needs their number and a folder for their sums: --parts " +
			"P --work DIR")
	}
	if err := o.checkOne("", false); err != nil {
		return err
	}

	// Calibration fits several times and a checkpoint keeps the state of one process; parts have
	// neither.
	for _, name := range []string{"calibrate", "checkpoint", "resume"} {
		if a.Given[name] {
			return shell.Usagef("--%s does not go with --parts", name)
		}
	}
	return nil
}

// FitInput names the learner and its data. In has the values of the learner; Fit adds the data
// that it reads to In, and their hashes to Hashes.
type FitInput struct {
	X       shards.Names
	Graph   string // file or folder
	Params  shell.ParamFlags
	Targets *shell.TargetOptions
	Learner models.Learner
	In      *models.Input
	Hashes  pipeline.Hashes
}

// fit is one run of bigfit fit --parts.
type fit struct {
	*shell.App
	o   *FitOptions
	f   *FitInput
	in  *models.Input // of f
	t   *pipeline.Targets
	run *sums.Run
	obs stage.Observer
}

// Fit does what the flags ask for. It returns the model if that was made in this step, with
// what was made of the targets; a usable error comes with the model.
func Fit(ctx context.Context, a *shell.App, o *FitOptions, f *FitInput) (models.Model,
	*pipeline.Targets, error) {
	if err := o.check(a); err != nil {
		return nil, nil, err
	}
	c := &fit{App: a, o: o, f: f, in: f.In, obs: a.Observer()}
	s, err := c.settings()
	if err != nil {
		return nil, nil, err
	}
	numbers, err := o.numbers(a, o.Parts)
	if err != nil {
		return nil, nil, err
	}
	if o.Script != "" {
		return nil, nil, c.script(ctx, s)
	}

	if err := c.open(ctx, s); err != nil {
		return nil, nil, err
	}

	switch {
	case o.DryRun:
		return nil, nil, c.plan(true)
	case o.Part == missing:
		return nil, nil, printMissing(a, c.run.Missing(), o.Parts)
	case o.Part != "":
		return nil, nil, c.parts(ctx, numbers)
	}

	// The plain command makes what is missing, then merges; parts that are there are not made
	// again.
	if !o.Merge {
		if err := c.plan(false); err != nil {
			return nil, nil, err
		}
		if err := c.parts(ctx, c.all()); err != nil {
			return nil, nil, err
		}
	}

	// The hashes read all points once more, which only the merge has to do.
	m, err := c.merge(ctx)
	if m != nil {
		f.Hashes[pipeline.HashPoints], f.Hashes[pipeline.HashLabels] = data.HashPoints(c.in.Points),
			c.t.Hash()
	}
	return m, c.t, err
}

// settings decodes the values of the learner, which must be one with parts and have its weights.
func (c *fit) settings() (linear.Settings, error) {
	name := c.f.Learner.Info().Name
	switch {
	case linear.InParts(c.f.Learner):
	case name == linear.SVMName:
		return linear.Settings{}, shell.Usagef("--parts is not for %s, which reads labeled points "+
			"and no others: fit it without --parts and --work", name)
	default:
		return linear.Settings{}, shell.Usagef("--parts is not for %s; models that are fitted in parts are %s",
			name, shell.LearnersThat(linear.InParts))
	}

	scaling := "" // fᵀLf grows with the number of points
	if c.f.Learner.Info().Needs.Has(models.NeedsGraph) {
		scaling = " --scaling per-edge, which suits samples of any size"
	}
	for _, p := range c.f.Learner.Params() {
		if p.Required && c.in.Values[p.Name] == "" {
			return linear.Settings{}, shell.Usagef("%s in parts needs --%s: weights are not chosen "+
				"by cross-validation there; choose them on a sample of the points and their labels, "+
				"by bigfit tune --model %s SAMPLE.npy LABELS.npy%s, and give them", name, p.Name,
				name, scaling)
		}
	}

	// γ_I > 0 asks for fᵀLf, a sum over the edges.
	s, _, err := linear.SettingsOf(c.f.Learner, c.in.Values)
	if err == nil && s.Regularizer.GammaI > 0 && c.f.Graph == "" {
		err = shell.Usagef("%s in parts needs the graph: --graph DIR, as bigfit graph --parts makes it", name)
	}
	return s, c.FlagFaults(name, err)
}

// open reads what the step needs. A part checks the points of its rows alone.
func (c *fit) open(ctx context.Context, s linear.Settings) (err error) {
	if c.in.Points, err = c.ReadPoints(c.f.X, data.ReadOptions{Unchecked: true}); err != nil {
		return err
	}
	n, _ := c.in.Points.Dims()
	if c.t, err = c.ReadTargets(c.f.Targets, c.f.Learner, n); err != nil {
		return err
	}
	if c.t.Len != n {
		return fmt.Errorf("%s has %d points but %s has %d labels", c.f.X, n, c.f.Targets.From(c.App), c.t.Len)
	}

	// The points are unchecked here: a job reads the rows of its part only, and the sums check
	// those.
	c.in.Targets = c.t.Targets
	c.SayLabels(c.t, nil)
	in := &sums.Input{Points: c.in.Points, Targets: c.t.Targets, Settings: s, Parts: c.o.Parts,
		GraphName: c.f.Graph, Report: c.obs.Update}
	switch {
	case c.f.Graph == "" || s.Regularizer.GammaI == 0:
	case c.o.DryRun || c.o.Part == "" && c.o.Script == "": // the graph is checked whole
		g, err := c.GivenGraph(c.f.Graph, c.f.Params, &pipeline.GraphSettings{})
		if err != nil {
			return err
		}
		c.in.Graph, in.Graph = &g.Graph.Graph, g.W
	default: // each part checks its rows, and a script none
		if in.Graph, err = sparse.Open(c.f.Graph, int64(c.Memory)); err != nil {
			return err
		}
	}

	if in.Graph != nil && in.Graph.Rows != n {
		return fmt.Errorf("%s has %d points but the graph %s has %d", c.f.X, n, c.f.Graph, in.Graph.Rows)
	}
	c.run, err = sums.Open(c.o.Work, in, int64(c.Memory),
		func(fn func() error) error { return c.Write(ctx, fn) })
	return err
}

// all returns the numbers of all parts.
func (c *fit) all() []int { return data.Range(0, c.o.Parts) }

// plan announces what a part and the merge take, or prints it.
func (c *fit) plan(result bool) error {
	part := c.run.PartCost(c.all()...)
	merge := c.mergeCost()
	left := len(c.run.Missing())
	first, end := c.run.Rows(0)
	text := fmt.Sprintf("%d parts of about %d rows, %d of them to make\na part: %v of memory, %v to "+
		"keep\nthe merge: %v of memory", c.o.Parts, end-first, left,
		machine.Size(part.Bytes), machine.Size(c.run.Kept()), machine.Size(merge.Bytes))
	// The same numbers are notes before the work and the result of a dry run.
	if !result {
		c.Notes(strings.Split(text, "\n")...)
		return nil
	}
	return c.Print(struct {
		Parts      int     `json:"parts"`
		Missing    int     `json:"missing"`
		Rows       int     `json:"rows"`
		PartBytes  int64   `json:"part_bytes"`
		KeptBytes  int64   `json:"kept_bytes"`
		MergeBytes int64   `json:"merge_bytes"`
		Operations float64 `json:"operations"`
	}{c.o.Parts, left, end - first, part.Bytes, c.run.Kept(), merge.Bytes, part.Operations}, text)
}

// parts makes the parts of list that are not there, and prints how many it made if --part asked
// for them.
func (c *fit) parts(ctx context.Context, list []int) error {
	// All parts are checked first: a fault in the last one should not wait for the others.
	for _, p := range list {
		if err := c.run.CheckPart(p); err != nil {
			return fmt.Errorf("part %d: %w", p, err)
		}
	}

	if err := c.obs.Announce("a part", c.run.PartCost(list...)); err != nil {
		return err
	}
	made := 0
	for _, p := range list {
		c.obs.Begin(fmt.Sprintf("part %d", p))
		done, err := c.run.Part(ctx, p)
		if err != nil {
			return fmt.Errorf("part %d: %w", p, err)
		}
		lo, hi := c.run.Rows(p)
		note := "there already"
		if done {
			note = fmt.Sprintf("rows %d to %d", lo, hi-1)
			made++
		}
		c.obs.End(note)
	}

	// A run that goes on to merge prints the model instead.
	if c.o.Part == "" {
		return nil
	}
	return c.Print(map[string]any{"parts": list, "made": made},
		fmt.Sprintf("%s: made %d of %d parts; %d of all %d are missing", c.o.Work, made, len(list),
			len(c.run.Missing()), c.o.Parts))
}

// mergeCost returns the cost of the merge. It includes one float64 a point for the hash of the
// labels, which goes into the model.
func (c *fit) mergeCost() stage.Cost {
	cost := c.run.MergeCost()
	cost.Bytes += 8 * int64(c.t.Len)
	return cost
}

// merge makes the model.
func (c *fit) merge(ctx context.Context) (models.Model, error) {
	if err := c.obs.Announce("merge", c.mergeCost()); err != nil {
		return nil, err
	}
	c.obs.Begin("merge")
	m, err := c.run.Merge(ctx)
	// Other jobs may still run or may have failed; the message names one command that helps.
	var lacks *checkpoint.MissingError
	if errors.As(err, &lacks) {
		return nil, fmt.Errorf("%w; make them with\n  %s --part %d\nor all of them on this machine "+
			"by the command without --merge", err, c.line("merge"), lacks.Missing[0])
	}
	if m == nil || !models.Usable(err) {
		return nil, err
	}

	c.obs.End(m.Summary().Text)
	// Sums know classes by number; the names come from the targets.
	named, fault := models.WithNames(m, c.t.Names)
	return named, errors.Join(err, fault)
}

// script prints a job script of the command line. It may be printed on another machine than the one that
// has the points; what the jobs take is not known there.
func (c *fit) script(ctx context.Context, s linear.Settings) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	// The jobs start in the folder of this command, as its relative names mean files there.
	line := c.line("print-script")
	if err := writable(dir); err != nil {
		return err
	}
	j := &steps{parts: c.o.Parts, first: step{line: line + " --dry-run"}, part: step{line: line + " --part"},
		merge: step{line: line + " --merge"}}
	inputs := c.f.X.Inputs(c.f.Graph, c.f.Targets.Y)
	if len(shell.Present(inputs)) == len(inputs) {
		if err := c.open(ctx, s); err != nil {
			return err
		}
		part, merge := c.run.PartCost(c.all()...), c.mergeCost()
		seconds := machine.Seconds(part.Operations)
		all := seconds * float64(c.o.Parts)
		// The first step and the merge read all points, as all parts together do.
		j.first.bytes, j.first.seconds = merge.Bytes, all
		j.part.bytes, j.part.seconds = part.Bytes, seconds
		j.merge.bytes, j.merge.seconds = merge.Bytes, all
	}
	text, err := fill(c.o.Script, j)
	if err != nil {
		return err
	}
	return printScript(c.App, strings.Replace(text, "set -e\n", "set -e\ncd "+quote(dir)+"\n", 1))
}

// line returns the command line without a flag.
func (c *fit) line(without string) string {
	words := []string{"bigfit"}
	given := c.Args()
	// The line is taken from the arguments as they were given, so that no flag is forgotten.
	for i := 0; i < len(given); i++ {
		switch name, _, joined := strings.Cut(given[i], "="); {
		case name != "--"+without:
			words = append(words, quote(given[i]))
		case !joined && without == "print-script":
			i++ // its value
		}
	}

	return strings.Join(words, " ")
}
