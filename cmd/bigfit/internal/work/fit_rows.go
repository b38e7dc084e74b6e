package work

import (
	"context"
	"errors"
	"fmt"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/linear/sums"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// rows is the division of a linear model: a part sums over some rows of the points.
type rows struct {
	*fit
	settings linear.Settings
	sums     *sums.Run
}

// check decodes the values of the learner, which must have its weights.
func (c *rows) check() error {
	name := c.f.Learner.Info().Name
	scaling := "" // fᵀLf grows with the number of points
	if c.f.Learner.Info().Needs.Has(models.NeedsGraph) {
		scaling = " --scaling per-edge, which suits samples of any size"
	}
	for _, p := range c.f.Learner.Params() {
		if p.Required && c.in.Values[p.Name] == "" {
			return shell.Usagef("%s in parts needs --%s: weights are not chosen "+
				"by cross-validation there; choose them on a sample of the points and their labels, "+
				"by bigfit tune --model %s SAMPLE.npy LABELS.npy%s, and give them", name, p.Name,
				name, scaling)
		}
	}

	// γ_I > 0 asks for fᵀLf, a sum over the edges.
	s, _, err := linear.SettingsOf(c.f.Learner, c.in.Values)
	c.settings = s
	if err == nil && s.Regularizer.GammaI > 0 && c.f.Graph == "" {
		err = shell.Usagef("%s in parts needs the graph: --graph DIR, as bigfit graph --parts makes it", name)
	}
	return c.FlagFaults(name, err)
}

// open reads what the step needs. A part checks the points of its rows alone.
func (c *rows) open(ctx context.Context) (_ partRun, err error) {
	s := c.settings
	if c.in.Points, err = c.ReadPoints(c.f.X, data.ReadOptions{Unchecked: true}); err != nil {
		return nil, err
	}
	n, _ := c.in.Points.Dims()
	if c.t, err = c.ReadTargets(c.f.Targets, c.f.Learner, n); err != nil {
		return nil, err
	}
	if c.t.Len != n {
		return nil, fmt.Errorf("%s has %d points but %s has %d labels", c.f.X, n, c.f.Targets.From(c.App), c.t.Len)
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
			return nil, err
		}
		c.in.Graph, in.Graph = &g.Graph.Graph, g.W
	default: // each part checks its rows, and a script none
		if in.Graph, err = sparse.Open(c.f.Graph, int64(c.Memory)); err != nil {
			return nil, err
		}
	}

	if in.Graph != nil && in.Graph.Rows != n {
		return nil, fmt.Errorf("%s has %d points but the graph %s has %d", c.f.X, n, c.f.Graph, in.Graph.Rows)
	}
	c.sums, err = sums.Open(c.o.Work, in, int64(c.Memory),
		func(fn func() error) error { return c.Write(ctx, fn) })
	return c.sums, err
}

func (c *rows) size() (int, string) {
	lo, hi := c.sums.Rows(0)
	return hi - lo, "rows"
}

func (c *rows) part(p int) string {
	lo, hi := c.sums.Rows(p)
	return fmt.Sprintf("rows %d to %d", lo, hi-1)
}

// first checks all that the parts read.
func (c *rows) first(line string) string { return line + " --dry-run" }

// release has nothing to do: a part of sums ends with what it computed.
func (c *rows) release() {}

// merge makes the model.
func (c *rows) merge(ctx context.Context) (models.Model, error) {
	m, err := c.sums.Merge(ctx)
	if m == nil || !models.Usable(err) {
		return nil, err
	}
	c.obs.End(m.Summary().Text)

	// The hashes read all points once more, which only the merge has to do.
	c.f.Hashes[pipeline.HashPoints], c.f.Hashes[pipeline.HashLabels] = data.HashPoints(c.in.Points), c.t.Hash()
	// Sums know classes by number; the names come from the targets.
	named, fault := models.WithNames(m, c.t.Names)
	return named, errors.Join(err, fault)
}
