package bigfit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
)

// NextSettings of [Model.Next]. A nil *NextSettings and zero fields are the defaults.
type NextSettings struct {
	// Rule that chooses. Default [active.Combined], which looks at the uncertainty of a model's answers
	// for classes, and at the graph alone before the first label and in a regression.
	Rule active.Rule
	// Closed are numbers of points that cannot be labeled, and ClosedIDs ids of more of them.
	Closed    []int
	ClosedIDs []string
	// Pairs is the number of vectors near the smallest eigenvectors of the graph that rules look at. Default
	// [labeling.DefaultFieldPairs].
	Pairs int
}

// Choice is a point to label.
type Choice struct {
	Point int    // its number among the points
	ID    string // its id, "" if the points have numbers only
	// Name is the class that the model answers with today, and Probability how probable the
	// model finds it; "" and NaN where there is none.
	Name        string
	Probability float64
	// First tells that the point is the first of a part of the graph without a label.
	First bool
	// Score of the rule at the point when it was chosen.
	Score float64
	// Rule that chose the point: what [active.Combined] was.
	Rule active.Rule
}

// First chooses count points to label before any of the points x has a label, the most useful one
// first. It makes the graph that [Fit] makes with the same options. Rules that look at the answers of a
// model, [active.Uncertainty] and [active.Committee], are refused. Label the points and give x and their
// labels to Fit; [Model.Next] then chooses further points.
//
// It costs the graph, the eigenpairs of its normalized Laplacian ([NextSettings.Pairs]), and count
// passes over them. The answer depends on the seed of the options. An error that is [Usable] comes with
// the choices.
func First(ctx context.Context, x Points, count int, o *Options, s *NextSettings) (choices []Choice, err error) {
	defer plain(&err)
	if o == nil {
		o = &Options{}
	}
	if s == nil {
		s = &NextSettings{}
	}
	plan, err := o.plan()
	if err != nil {
		return nil, err
	}
	points, err := x.get()
	if err != nil {
		return nil, err
	}
	if s.Rule.NeedsScores() {
		return nil, fmt.Errorf("bigfit: the rule %v looks at the answers of a model, and there is none before the "+
			"first label", s.Rule)
	}
	n, _ := points.Dims()
	c := &labeling.Candidates{}
	closed, err := rowsOf(x.ids, "ClosedIDs", s.ClosedIDs)
	if err != nil {
		return nil, err
	}
	if err := closeTo(c, slices.Concat(s.Closed, closed), s.Pairs, n, count); err != nil {
		return nil, err
	}
	settings, err := plan.graph(points)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	p := o.run().pipeline()
	g, short := p.Graph(ctx, points, settings)
	if !Usable(short) {
		return nil, short
	}
	c.Graph = &g.Graph
	chosen, err := labeling.Planner{Pipeline: p}.Next(ctx, c, &labeling.NextSettings{Pairs: s.Pairs,
		Settings: active.Settings{Rule: s.Rule, Count: count, Seed: o.Seed}})
	if !Usable(err) {
		return nil, err
	}
	for _, at := range chosen {
		choices = append(choices, Choice{Point: at.Point, ID: idOf(x.ids, at.Point), Probability: math.NaN(),
			First: at.First, Score: at.Score, Rule: at.Rule})
	}
	return choices, errors.Join(short, err)
}

// Next chooses count points without a label whose labels would help the model most, the first
// one first. Label them, and give the labels to [Model.Update]: by id, or the labels of all points.
//
// The model must hold its points and labels: one of [Fit] or [Model.Update] does, and one that
// was loaded if [Load] says so. The answer depends on the seed.
func (m *Model) Next(ctx context.Context, count int, s *NextSettings) (choices []Choice, err error) {
	defer plain(&err)
	if s == nil {
		s = &NextSettings{}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	// Points of the model that have no label and are not closed may be chosen.
	p := m.run.pipeline()
	_, in, short := m.labeled(ctx, p, true)
	if !Usable(short) {
		return nil, short
	}
	c := &labeling.Candidates{Graph: in.Graph, Labeled: in.Targets.Labeled}
	ids := m.ids()
	closed, err := rowsOf(ids, "ClosedIDs", s.ClosedIDs)
	if err != nil {
		return nil, err
	}
	if err := closeTo(c, slices.Concat(s.Closed, closed), s.Pairs, in.Len(), count); err != nil {
		return nil, err
	}

	// Rules look at the scores of classes, and whoever labels sees today's answers.
	answers, err := m.Training(ctx)
	if err != nil {
		return nil, err
	}
	settings := &labeling.NextSettings{Pairs: s.Pairs}
	settings.Settings = active.Settings{Rule: s.Rule, Count: count, Seed: m.run.seed}
	if m.model.Output().Kind == models.OutputClasses {
		c.Scores = answers.answer.Scores
	}
	if settings.Rule.NeedsScores() && c.Scores == nil {
		return nil, fmt.Errorf("bigfit: the rule %v looks at classes, and %s answers with %v",
			s.Rule, m.Name(), m.model.Output().Kind)
	}

	if s.Rule == active.Committee {
		if c.Disagreement, err = labeling.DisagreementOf(ctx, m.model); err != nil {
			return nil, err
		}
	}

	chosen, err := labeling.Planner{Pipeline: p}.Next(ctx, c, settings)
	if !Usable(err) {
		return nil, err
	}

	// Each choice bears the answer of today, for the person who labels.
	out := make([]Choice, len(chosen))
	for i, at := range chosen {
		out[i] = Choice{Point: at.Point, ID: idOf(ids, at.Point), Name: answers.Name(at.Point), First: at.First,
			Score: at.Score, Rule: at.Rule}
		out[i].Probability = math.NaN()
		if c.Scores != nil {
			out[i].Probability = answers.Probability(at.Point)
		}
	}
	return out, errors.Join(short, err)
}

// Expect returns the error that the model is expected to have with as many as more further labels, chosen
// by [Model.Next] or at random, with an interval; nil where it cannot be told, as for values and for models
// whose fit held no labels out. See [labeling.Expect].
func (m *Model) Expect(ctx context.Context, more int) (e *labeling.Expectation, err error) {
	defer plain(&err)
	if more < 1 {
		return nil, fmt.Errorf("bigfit: the error with %d more labels is asked for; it must be at least 1", more)
	}
	answers, err := m.Training(ctx)
	if err != nil {
		return nil, err
	}
	_, in, short := m.labeled(ctx, m.run.pipeline(), false)
	if !Usable(short) {
		return nil, short
	}
	return labeling.Expect(m.model, in.Targets, answers.answer, more), nil
}

// closeTo takes the closed points out of the candidates. It returns an error if fewer than count
// candidates are left.
func closeTo(c *labeling.Candidates, closed []int, pairs, n, count int) error {
	if count < 1 {
		return fmt.Errorf("bigfit: %d points are asked for; it must be at least 1", count)
	}
	if pairs < 0 {
		return fmt.Errorf("bigfit: Pairs is %d; it must not be negative", pairs)
	}

	// A point that is both labeled and closed counts once.
	taken := make([]bool, n)
	for _, i := range c.Labeled {
		taken[i] = true
	}
	c.Closed = make([]bool, n)
	for _, i := range closed {
		if i < 0 || i >= n {
			return fmt.Errorf("bigfit: Closed names point %d; the model has the points 0 to %d", i, n-1)
		}
		c.Closed[i] = true
		taken[i] = true
	}

	left := n
	for _, t := range taken {
		if t {
			left--
		}
	}
	if count > left {
		return fmt.Errorf("bigfit: %d points are asked for, and %d of %d can be labeled", count, left, n)
	}
	return nil
}
