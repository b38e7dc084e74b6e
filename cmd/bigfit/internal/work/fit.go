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
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/propagation/byclass"
	"github.com/bigfit/bigfit/pipeline"
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
	X           shards.Names
	Graph       string // file or folder
	Predictions string // file of the answers of a fit in parts of the classes
	Params      shell.ParamFlags
	Targets     *shell.TargetOptions
	Learner     models.Learner
	In          *models.Input
	Hashes      pipeline.Hashes
}

// fit is one run of bigfit fit --parts.
type fit struct {
	*shell.App
	o   *FitOptions
	f   *FitInput
	in  *models.Input // of f
	t   *pipeline.Targets
	of  division
	run partRun // nil until the inputs are read
	obs stage.Observer
}

// division is a way to divide a fit: [rows] of the points, or [classes].
type division interface {
	// check returns an error for what cannot be fitted so, before anything is read.
	check() error
	// open reads what the step needs.
	open(ctx context.Context) (partRun, error)
	// size is about the number of what a part has, and its name.
	size() (int, string)
	// part says what part p is of.
	part(p int) string
	// release lets go of what parts hold in memory beside the folder.
	release()
	// merge makes the model; without one it writes and prints the result itself.
	merge(ctx context.Context) (models.Model, error)
	// first is the command line of the first job of a script, which prepares the parts.
	first(line string) string
}

// partRun makes parts.
type partRun interface {
	CheckPart(p int) error
	// Part makes part p unless it is there, and returns whether it did.
	Part(ctx context.Context, p int) (bool, error)
	PartCost(list ...int) stage.Cost
	MergeCost() stage.Cost
	Kept() int64 // bytes of the parts in the folder
	Missing() []int
}

// Fit does what the flags ask for. It returns the model if that was made in this step, with
// what was made of the targets; a usable error comes with the model.
func Fit(ctx context.Context, a *shell.App, o *FitOptions, f *FitInput) (models.Model,
	*pipeline.Targets, error) {
	if err := o.check(a); err != nil {
		return nil, nil, err
	}
	c := &fit{App: a, o: o, f: f, in: f.In, obs: a.Observer()}
	switch name := f.Learner.Info().Name; {
	case linear.InParts(f.Learner):
		c.of = &rows{fit: c}
	case byclass.InParts(f.Learner):
		c.of = &classes{fit: c}
	case name == linear.SVMName:
		return nil, nil, shell.Usagef("--parts is not for %s, which reads labeled points and no others: fit it "+
			"without --parts and --work", name)
	default:
		return nil, nil, shell.Usagef("--parts is not for %s; models that are fitted in parts are %s", name,
			shell.LearnersThat(func(l models.Learner) bool { return linear.InParts(l) || byclass.InParts(l) }))
	}
	if err := c.of.check(); err != nil {
		return nil, nil, err
	}
	numbers, err := o.numbers(a, o.Parts)
	if err != nil {
		return nil, nil, err
	}
	if o.Script != "" {
		return nil, nil, c.script(ctx)
	}

	if c.run, err = c.of.open(ctx); err != nil {
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

	m, err := c.merge(ctx)
	return m, c.t, err
}

// all returns the numbers of all parts.
func (c *fit) all() []int { return data.Range(0, c.o.Parts) }

// plan announces what a part and the merge take, or prints it.
func (c *fit) plan(result bool) error {
	part := c.run.PartCost(c.all()...)
	merge := c.mergeCost()
	left := len(c.run.Missing())
	size, what := c.of.size()
	text := fmt.Sprintf("%d parts of about %d %s, %d of them to make\na part: %v of memory and %s, %v to "+
		"keep\nthe merge: %v of memory", c.o.Parts, size, what, left, machine.Size(part.Bytes),
		choice.Duration(machine.Seconds(part.Operations)), machine.Size(c.run.Kept()), machine.Size(merge.Bytes))
	// The same numbers are notes before the work and the result of a dry run.
	if !result {
		c.Notes(strings.Split(text, "\n")...)
		return nil
	}
	return c.Print(map[string]any{"parts": c.o.Parts, "missing": left, what: size, "part_bytes": part.Bytes,
		"kept_bytes": c.run.Kept(), "merge_bytes": merge.Bytes, "operations": part.Operations}, text)
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
		note := "there already"
		if done {
			note = c.of.part(p)
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
	c.of.release() // the announcement counts what is held
	if err := c.obs.Announce("merge", c.mergeCost()); err != nil {
		return nil, err
	}
	c.obs.Begin("merge")
	m, err := c.of.merge(ctx)
	// Other jobs may still run or may have failed; the message names one command that helps.
	var lacks *checkpoint.MissingError
	if errors.As(err, &lacks) {
		return nil, fmt.Errorf("%w; make them with\n  %s --part %d\nor all of them on this machine "+
			"by the command without --merge", err, c.line("merge"), lacks.Missing[0])
	}
	if m == nil || !models.Usable(err) {
		return nil, err
	}
	return m, err
}

// script prints a job script of the command line. It may be printed on another machine than the one that
// has the points; what the jobs take is not known there.
func (c *fit) script(ctx context.Context) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	// The jobs start in the folder of this command, as its relative names mean files there.
	line := c.line("print-script")
	if err := writable(dir); err != nil {
		return err
	}
	j := &steps{parts: c.o.Parts, first: step{line: c.of.first(line)}, part: step{line: line + " --part"},
		merge: step{line: line + " --merge"}}
	inputs := c.f.X.Inputs(c.f.Graph, c.f.Targets.Y)
	if len(shell.Present(inputs)) == len(inputs) {
		if c.run, err = c.of.open(ctx); err != nil {
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
