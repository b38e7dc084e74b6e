package pool

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/stage"
)

// continued is a learner that keeps the choice of a model: it fits the members that have a
// weight, with their settings, to other points and labels.
type continued struct {
	Learner
	before *Model
	stay   []int // points of the model that are still there; nil for all
	change func(l models.Learner, v models.Values)
}

// Continue returns the learner that fits the members which m chose again, without a
// cross-validation, and starts from the answers of m's parts: see [models.Continuer].
func (l Learner) Continue(m models.Model, stay []int,
	change func(models.Learner, models.Values)) models.Learner {
	before, ok := m.(*Model)
	if !ok {
		return l
	}
	return continued{l, before, stay, change}
}

// Cost returns the memory of the largest part and of the mean, and the operations of all
// parts, with their cross-validation where the fit measures the error anew.
func (l continued) Cost(in *models.Input) (stage.Cost, error) {
	candidates, err := l.candidates()
	if err != nil {
		return stage.Cost{}, err
	}
	f := &fit{learner: l.Learner, in: withPoints(in)}
	if f.settings, err = decode(in.Values); err != nil {
		return stage.Cost{}, err
	}
	if f.measures() {
		if err := f.deal(); err != nil {
			return stage.Cost{}, err
		}
	}

	var out stage.Cost
	cut := false
	for _, c := range candidates {
		cost, err := f.cost(c.member.with(c.settings))
		if err != nil {
			return out, fmt.Errorf("%s: %w", c.name, err)
		}
		if alone, ok := f.aloneCost(c.member.Learner, c.settings, cost); ok && len(candidates) == 1 {
			return aloneComplete(alone, in), nil
		}
		out.Bytes = max(out.Bytes, cost.Bytes)
		out.Operations += cost.Operations
		cut = cut || c.member.Neighbors > 0
	}

	return completeCost(out, in, len(candidates), cut), nil
}

// measures tells whether a fit that continues a model measures the error anew.
func (f *fit) measures() bool { return f.in.HoldOut && f.in.Targets.Classes != nil }

// Fit fits the parts of the model to in, with the weights that they have.
func (l continued) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	s, err := decode(in.Values)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	if err := s.checkPriors(in.Targets); err != nil {
		return nil, err
	}
	f := newFit(l.Learner, withPoints(in), s)
	f.choice = l.before.Choice
	if f.candidates, err = l.candidates(); err != nil {
		return nil, err
	}

	f.done = float64(len(f.candidates)) // there is nothing to choose
	if f.measures() {
		if err := f.measure(ctx); err != nil {
			return nil, err
		}
	}
	return f.model(ctx)
}

// measure cross-validates the members with the settings and the weights that they have, for
// another estimate of the error. Too few labels, or a member that fails, leave it as it was.
func (f *fit) measure(ctx context.Context) error {
	if err := f.deal(); err != nil || len(f.splits) == 0 {
		return err
	}
	for _, c := range f.candidates {
		c.answers = make([]*mat.Dense, 1)
		c.faults = make([]error, 1)
	}
	if len(f.candidates) == 1 {
		c := f.candidates[0]
		folds, err := f.cost(c.member.with(c.settings))
		if err != nil {
			return err
		}
		_, f.alone = f.aloneCost(c.member.Learner, c.settings, folds)
	}
	if err := f.validate(ctx); err != nil {
		return err
	}
	if slices.ContainsFunc(f.candidates, func(c *candidate) bool { return c.fault != nil }) {
		return nil
	}

	if len(f.splits) == 0 {
		return nil
	}
	rows, class := f.heldOut()
	columns := len(f.in.Targets.Classes)
	mixed := mat.NewDense(len(rows), columns, nil)
	p := make([]float64, columns)
	for _, c := range f.candidates {
		for i, at := range rows {
			c.scale.probabilities(p, c.answers[0].RawRowView(at))
			for k, v := range p {
				mixed.Set(i, k, mixed.At(i, k)+c.weight*v)
			}
		}
	}

	f.keepHeldOut(mixed, rows)
	f.choice.Validated = true
	f.choice.OneByOne = f.alone
	f.choice.Estimate = f.estimate(mixed, rows, class)
	return nil
}

// with returns a copy of the member with the given settings.
func (m *Member) with(settings []models.Values) *Member {
	out := *m
	out.Settings = settings
	return &out
}

// withPoints returns a copy of in. If in has no points, the copy has the points of its graph.
func withPoints(in *models.Input) *models.Input {
	out := *in
	if out.Points == nil && in.Graph != nil {
		out.Points = in.Graph.Points
	}
	return &out
}

// candidates returns a candidate for each part of the model, with the setting of the part.
func (l continued) candidates() ([]*candidate, error) {
	var out []*candidate
	for k, p := range l.before.parts {
		i := slices.IndexFunc(l.Members, func(m Member) bool { return m.Learner.Info().Name == p.Name() })
		if i < 0 {
			return nil, fmt.Errorf("pool: part %d is an unknown model %q", k, p.Name())
		}
		e, err := p.Encode()
		if err != nil {
			return nil, err
		}
		// The encoded values are the settings that the part was fitted with, rules resolved to
		// numbers.
		values := e.Values.With(nil)
		l.change(l.Members[i].Learner, values)

		// A part on the graph starts from its answers. Where its graph was cut to fewer
		// neighbours, the new one is cut to the same number.
		c := &candidate{member: &Member{Learner: l.Members[i].Learner}, name: p.Name(),
			settings: []models.Values{values}, scale: p.scale, weight: p.weight}
		if u, ok := p.Model.(models.Updater); ok && p.shares {
			c.start = u.Kept()
			c.stay = l.stay
			if own := c.start.Edges.K; own != l.before.neighborhood.Edges.K {
				c.member.Neighbors = own
			}
		}

		out = append(out, c)
	}

	return out, nil
}
