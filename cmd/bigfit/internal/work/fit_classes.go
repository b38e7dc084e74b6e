package work

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/models/propagation/byclass"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// classes is the division of label spreading and harmonic functions: a part solves for some of the classes, on
// the graph of all points, and keeps the best of them for every point. The merge writes the answers; there is
// no model, as the scores of all classes may not fit the memory.
type classes struct {
	*fit
	settings propagation.Settings
	spread   *byclass.Run
}

func (c *classes) check() error {
	name := c.f.Learner.Info().Name
	switch {
	case c.f.Graph == "":
		return shell.Usagef("%s in parts needs the graph: --graph DIR, as bigfit graph -o DIR/ makes it", name)
	case c.f.Predictions == "":
		return shell.Usagef("%s in parts makes no model, only the answers for the points of the graph: give their "+
			"file, --predictions FILE.npy", name)
	}
	for _, flag := range []string{"output", "proba", "report", "regression", "priors", "class-shares",
		"class-mass"} {
		if c.Given[flag] {
			return shell.Usagef("--%s does not go with --parts of %s, which keeps the best class of every point, and "+
				"not all scores", flag, name)
		}
	}
	for _, p := range pipeline.GraphParams.Params() {
		if c.Given[p.Name] {
			return shell.Usagef("--%s is about making a graph; %s in parts takes that of --graph as it is", p.Name, name)
		}
	}

	var err error
	if c.settings, err = c.f.Learner.(propagation.Learner).Settings(c.in.Values); err == nil && !c.Given["tolerance"] {
		c.settings.Tolerance = 0 // of the fit in parts
	}
	return c.FlagFaults(name, err)
}

func (c *classes) open(ctx context.Context) (partRun, error) {
	c.Reads(pipeline.HashGraph, c.f.Graph)
	g, err := sparse.Open(c.f.Graph, int64(c.Memory))
	if err != nil {
		return nil, err
	}
	// Points that are given name the points of the graph; their coordinates are not read.
	if len(c.f.X) > 0 {
		x, err := c.ReadPoints(c.f.X, data.ReadOptions{Unchecked: true})
		if err != nil {
			return nil, err
		}
		if n, _ := x.Dims(); n != g.Rows {
			return nil, fmt.Errorf("%s has %d points but the graph %s has %d", c.f.X, n, c.f.Graph, g.Rows)
		}
	}
	if c.t, err = c.ReadTargets(c.f.Targets, c.f.Learner, g.Rows); err != nil {
		return nil, err
	}
	if c.t.Len != g.Rows {
		return nil, fmt.Errorf("%s has %d points but %s has %d labels", c.f.Graph, g.Rows, c.f.Targets.From(c.App), c.t.Len)
	}
	c.in.Targets = c.t.Targets
	c.SayLabels(c.t, nil)
	c.spread, err = byclass.Open(c.o.Work, &byclass.Input{Graph: g, GraphName: c.f.Graph, Targets: c.t.Targets,
		Settings: c.settings, Parts: c.o.Parts, Report: c.obs.Update}, int64(c.Memory),
		func(fn func() error) error { return c.Write(ctx, fn) })
	if err != nil {
		return nil, c.FlagFaults(c.f.Learner.Info().Name, err)
	}
	return c.spread, nil
}

func (c *classes) size() (int, string) {
	lo, hi := c.spread.Classes(c.o.Parts - 1)
	return hi - lo, "classes"
}

func (c *classes) part(p int) string {
	lo, hi := c.spread.Classes(p)
	steps := "steps"
	if n := c.spread.Steps(); n > 0 {
		steps = fmt.Sprintf("%d steps", n)
	}
	return fmt.Sprintf("classes %d to %d, %s that read %v each", lo, hi-1, steps, machine.Size(c.spread.StepBytes()))
}

// first is the first part, which also writes the graph in order for all others.
func (c *classes) first(line string) string { return line + " --part 0" }

func (c *classes) release() { c.spread.Release() }

// merge writes the answers.
func (c *classes) merge(ctx context.Context) (models.Model, error) {
	found, err := c.spread.Merge(ctx)
	if err != nil {
		return nil, err
	}
	c.obs.End(found.String())

	answers := pipeline.ClassAnswers(c.f.Learner.Info().Name, found.Labels, c.t.Classes, c.t.Names)
	if table.IsTable(c.f.Predictions) {
		answers.Columns = append(answers.Columns, pipeline.Column{Name: "share", Values: found.Shares})
	}
	hashes := pipeline.Hashes{pipeline.HashLabels: c.t.Hash()}
	if err := c.Write(ctx, func() error { return c.WriteAnswers(c.f.Predictions, answers, hashes) }); err != nil {
		return nil, err
	}

	out := spread{Predictions: c.f.Predictions, Points: c.t.Len, Labeled: len(c.t.Labeled), Classes: len(c.t.Classes),
		Steps: found.Steps, Residual: found.Residual, Unreached: found.Unreached}
	if c.t.HeldBack() {
		if out.Measured, err = c.t.Measure(&models.Prediction{Classes: found.Labels}); err != nil {
			return nil, err
		}
	}
	return nil, c.Print(out, out.String())
}

// spread is the output of a fit in parts of the classes.
type spread struct {
	Predictions string  `json:"predictions"`
	Points      int     `json:"points"`
	Labeled     int     `json:"labeled"`
	Classes     int     `json:"classes"`
	Steps       int     `json:"steps"`
	Residual    float64 `json:"residual"`
	Unreached   int     `json:"unreached"`
	pipeline.Measured
}

// String is a line about the answers.
func (s *spread) String() string {
	text := fmt.Sprintf("%s: %d points in %d classes by %d labels, %d steps, residual %.1e", s.Predictions, s.Points,
		s.Classes, s.Labeled, s.Steps, s.Residual)
	if s.Unreached > 0 {
		text += fmt.Sprintf("; %d points out of reach of labels have the most frequent class", s.Unreached)
	}
	if s.Error != nil {
		text += fmt.Sprintf("; %.2f %% of the labels that were held back are wrong", *s.Error)
	}
	return text
}
