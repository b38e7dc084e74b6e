package pool

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/stage"
)

// On a large graph the folds of a single member may take longer than all else: 1,500,000 points with 50
// classes took five minutes of nine. There a member that is a [models.SelfChecker] is fitted first, and its
// labels are left out one by one from that fit, with a few right-hand sides for all of them. The fit
// is the one that the model keeps.

// aloneCost returns the cost of fitting a member and leaving its labels out one by one. ok is false where
// folds of the given cost serve: where they are affordable, or cost no more.
func (f *fit) aloneCost(l models.Learner, settings []models.Values, folds stage.Cost) (out stage.Cost, ok bool) {
	checker, can := l.(models.SelfChecker)
	t := f.in.Targets
	if !can || len(settings) != 1 || len(f.splits) == 0 || t.Classes == nil || folds.Operations <= MostOperations {
		return out, false
	}

	own := *f.in
	own.Values = settings[0]
	fit, err := l.Cost(&own)
	if err != nil {
		return out, false
	}
	out, err = checker.LeaveOneOutCost(&own, models.LeaveOutProbes(t))
	out.Bytes = max(out.Bytes, fit.Bytes)
	return out, err == nil && out.Operations < folds.Operations
}

// memberAlone is aloneCost of a member whose folds have the given cost.
func (f *fit) memberAlone(m *Member, folds stage.Cost) (stage.Cost, bool) {
	if m.Times != nil || len(m.Settings) != 1 {
		return stage.Cost{}, false
	}
	return f.aloneCost(m.Learner, []models.Values{f.given(m, m.Settings[0], f.in.Targets)}, folds)
}

// leaveOneOut fits the only candidate and answers for each label without it.
func (f *fit) leaveOneOut(ctx context.Context) error {
	c := f.candidates[0]
	t := f.in.Targets
	if err := f.fitMember(ctx, c); err != nil {
		return err
	}
	f.report("fit of " + c.name)

	in, err := f.memberInput(c)
	if err != nil {
		return err
	}
	if m, ok := c.fitted.(models.Trained); ok {
		in.Start = m.Training(true).Scores
	}
	scores, known, err := c.member.Learner.(models.SelfChecker).LeaveOneOut(ctx, in, models.LeaveOutProbes(t))
	if !models.Usable(err) {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	f.report("labels left out of " + c.name)

	// A label that is the only one of its class, or of its component, tells nothing.
	left := models.LeftOut(t, scores, known)
	var rows []float64
	split := &models.Split{Train: t, Labels: t.ClassLabels()}
	for row, q := range left.Labels {
		if math.IsNaN(left.Scores.At(row, t.Class(q))) {
			continue
		}
		split.Held = append(split.Held, q)
		split.Points = append(split.Points, t.Labeled[q])
		rows = append(rows, left.Scores.RawRowView(row)...)
	}
	if rows == nil {
		f.splits = nil // there is nothing to measure with
		return nil
	}

	f.splits = []*models.Split{split}
	f.asked = split.Held
	f.settings.Repeats = 1
	c.answers = []*mat.Dense{mat.NewDense(len(split.Held), len(t.Classes), rows)}
	c.faults = make([]error, 1)
	return nil
}

// memberInput returns the input of the fit of a candidate to all targets. A fit that continues a model
// starts from the answers of its part, if the part keeps a start: poisson-mbo begins anew.
func (f *fit) memberInput(c *candidate) (*models.Input, error) {
	in := *f.in
	in.Values = c.settings[c.best]
	in.Start = nil
	in.Graph = nil
	info := c.member.Learner.Info()
	// The graph is made only for members that use one: members with another number of neighbours cut theirs
	// from the lists of the given graph.
	if info.UsesGraph(in.Values) {
		var err error
		if in.Graph, err = f.graph(c.member); err != nil {
			return nil, err
		}
	}

	// The choice reports one step for each member; the progress of the members' own steps is not passed on.
	in.Progress = nil
	if c.start == nil || c.start.Start == nil {
		return &in, nil
	}
	var err error
	in.Start, err = lanczos.Extend(in.Graph.W, models.StartAt(c.start.StartFor(f.in.Targets.Classes), c.stay))
	return &in, err
}

// fitMember fits a candidate to all targets, unless it was fitted before.
func (f *fit) fitMember(ctx context.Context, c *candidate) error {
	if c.fitted != nil {
		return nil
	}
	in, err := f.memberInput(c)
	if err != nil {
		return err
	}
	fitted, err := c.member.Learner.Fit(ctx, in)
	if !models.Usable(err) {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	c.fitted = fitted
	c.short = cmp.Or(c.short, err)
	return nil
}

// report counts a step of the fit.
func (f *fit) report(note string) {
	f.done++
	f.in.Report(f.done, float64(2*len(f.candidates)), note)
}
