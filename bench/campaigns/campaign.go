package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/pipeline"
)

// settings are the settings of a campaign.
type settings struct {
	// Round holds the settings of one round of choices. Its Count is the number of points
	// that a rule chooses in a round; its Rule is not used.
	Round labeling.NextSettings
	// Rules to compare. Default defaultRules.
	Rules []active.Rule
	// Start is the number of labels that a draw starts with, drawn at random among all
	// points. If they are all of one class, a point of another class replaces the last.
	// 0 means one label of every class.
	Start int
	To    int // number of labels at which a draw ends
	Draws int // repetitions with other labels at the start. Default 1
}

// defaultRules are the rules that docs/next.md compares once there are labels.
var defaultRules = []active.Rule{active.Combined, active.VOpt, active.SOpt, active.Uncertainty, active.Random}

// replay replays the labeling of points with known classes. Every draw starts with few
// labels. In each round a rule chooses more points, truth labels them, the learner is fitted
// to all labels so far, and the next round sees its scores. truth also measures the errors.
// Points without a class in truth are never chosen.
//
// in holds the graph or the points, and the values of the learner's parameters; replay makes
// the targets. The seed of p decides all draws. replay costs one fit for each round, rule and
// draw, and the choices of [active.Choose].
func replay(ctx context.Context, p *pipeline.Pipeline, l models.Learner, in *models.Input, truth *data.Labels,
	s *settings) ([]row, error) {
	c := &campaign{
		Pipeline: p,
		settings: *s,
		learner:  l,
		in:       *in,
		truth:    truth,
		// Choices are announced once, with the campaign.
		chooser: labeling.Planner{Pipeline: &pipeline.Pipeline{Seed: p.Seed, Memory: p.Memory}},
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	short, err := c.prepare(ctx)
	if err != nil {
		return nil, err
	}

	p.Observed().Begin("campaign")

	// A fit that did not converge still gives scores to go on with; the first such error is
	// returned at the end.
	for draw := range c.Draws {
		err := c.draw(ctx, draw)
		if !models.Usable(err) {
			return nil, err
		}
		if err != nil && short == nil {
			short = err
		}
	}

	p.Observed().End(fmt.Sprintf("%d fits", c.fits))
	return c.rows(), short
}

// campaign holds a campaign under way.
type campaign struct {
	*pipeline.Pipeline
	settings
	chooser labeling.Planner
	learner models.Learner
	in      models.Input
	truth   *data.Labels

	candidates labeling.Candidates
	counts     []int                       // numbers of labels at which errors are measured
	errors     map[active.Rule][][]float64 // percent, by draw and number of labels
	fits       int                         // done so far
}

// check fills in the defaults of the settings, or returns all faults at once.
func (c *campaign) check() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	known := len(c.truth.Labeled())
	classes := len(c.truth.Classes)
	if len(c.Rules) == 0 {
		c.Rules = defaultRules
	}
	c.Draws = max(c.Draws, 1)
	if c.Start == 0 {
		c.Start = -classes
	}
	start := max(c.Start, -c.Start)
	switch {
	case classes < 2:
		fault("the oracle knows %d class; there must be two", classes)
	case c.Start < -classes || start < 2:
		fault("a campaign starts with %d labels; it needs at least 2", c.Start)
	case c.Round.Count < 1:
		fault("%d labels a round; the number must be at least 1", c.Round.Count)
	case c.To <= start:
		fault("a campaign from %d to %d labels; it must end with more than it starts with", start, c.To)
	case c.To >= known:
		fault("a campaign to %d labels and the oracle knows %d; at least one must be left to measure the error",
			c.To, known)
	}

	// Errors are measured after each round; the last round may be shorter.
	for at := start; at < c.To; at += max(c.Round.Count, 1) {
		c.counts = append(c.counts, at)
	}
	c.counts = append(c.counts, c.To)
	c.errors = map[active.Rule][][]float64{}
	return errors.Join(faults...)
}

// prepare makes the parts that all draws share: the graph, and the eigenpairs of the learner
// and of the rules. short is an error with usable results, such as eigenpairs that did not
// converge; err ends the campaign.
func (c *campaign) prepare(ctx context.Context) (short, err error) {
	asked := c.first(0)
	for _, i := range c.truth.Labeled() { // as many as at the end, which sizes depend on
		if len(asked) < c.To && !slices.Contains(asked, i) {
			asked = append(asked, i)
		}
	}

	// The targets of a full draw stand in for all others where costs depend on the number of
	// labels.
	if c.in.Targets, err = models.ClassTargets(onlySeen(c.truth.Keep(asked))); err != nil {
		return nil, err
	}
	c.in.Seed = c.Seed
	c.in.Memory = c.Memory

	info := c.learner.Info()
	if c.in.Graph == nil && c.in.Points == nil {
		return nil, errors.New("a campaign needs a graph or points")
	}

	if c.in.Graph == nil {
		g, unfinished := c.Graph(ctx, c.in.Points, nil)
		if !models.Usable(unfinished) {
			return nil, unfinished
		}
		c.in.Graph = &g.Graph
		short = unfinished
	}

	if info.UsesGraph(c.in.Values) {
		complete, unfinished := c.Complete(ctx, c.learner, &c.in, nil)
		if !models.Usable(unfinished) {
			return nil, unfinished
		}
		c.in = *complete
		short = errors.Join(short, unfinished)
	}

	c.candidates.Graph = c.in.Graph
	if slices.ContainsFunc(c.Rules, active.Rule.NeedsPairs) {
		pairs, unfinished := labeling.Planner{Pipeline: c.Pipeline}.FieldPairs(ctx, c.in.Graph, c.Round.Pairs)
		if !models.Usable(unfinished) {
			return nil, unfinished
		}
		c.candidates.Pairs = pairs
		short = errors.Join(short, unfinished)
	}

	// A point without a known class cannot be answered for.
	c.candidates.Closed = make([]bool, c.truth.Len())
	for i, class := range c.truth.Index {
		c.candidates.Closed[i] = class == data.Unlabeled
	}
	cost, err := c.learner.Cost(&c.in)
	if err != nil {
		return nil, err
	}
	// Memory is needed once, time for every fit and every choice.
	cost.Operations *= float64(c.total())
	if c.candidates.Pairs != nil {
		choices := c.candidates.Cost(c.Round.Count)
		cost.Bytes += choices.Bytes
		cost.Operations += choices.Operations * float64(c.total())
	}

	return short, c.Observed().Announce("campaign", cost)
}

// total returns the number of fits of the campaign.
func (c *campaign) total() int { return c.Draws * (1 + len(c.Rules)*(len(c.counts)-1)) }

// first returns the points with a label at the start of a draw, in random order.
func (c *campaign) first(draw int) []int {
	order := c.truth.Labeled()
	rng := rand.New(rand.NewPCG(c.Seed+uint64(draw), 0x7374617274)) // "start"
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	if c.Start > 0 {
		// Labels of one class alone fit nothing.
		class := c.truth.Index[order[0]]
		other := slices.IndexFunc(order, func(i int) bool { return c.truth.Index[i] != class })
		if other >= c.Start {
			order[c.Start-1] = order[other]
		}
		return slices.Clone(order[:c.Start])
	}

	var out []int
	has := make([]bool, len(c.truth.Classes))
	for _, i := range order {
		if class := c.truth.Index[i]; !has[class] {
			has[class] = true
			out = append(out, i)
		}
	}

	return out
}

// state is a fit to the points asked for so far.
type state struct {
	asked  []int
	scores *mat.Dense // n×c, a column for each class among these labels
	start  *mat.Dense // where the next fit starts
	class  []int64    // the classes of the columns of start
	error  float64    // percent of the other points
}

// draw replays all rules from one start.
func (c *campaign) draw(ctx context.Context, draw int) error {
	begin := &state{asked: c.first(draw)}
	short := c.fit(ctx, begin)
	if !models.Usable(short) {
		return short
	}

	// All rules go on from the same fit, so their differences are not due to the start.
	for _, rule := range c.Rules {
		s := *begin
		errs := []float64{s.error}
		for round, at := range c.counts[1:] {
			if err := c.ask(ctx, &s, rule, at-c.counts[round], uint64(draw)); !models.Usable(err) {
				return err
			}
			err := c.fit(ctx, &s)
			if !models.Usable(err) {
				return err
			}
			short = cmp.Or(short, err)
			errs = append(errs, s.error)
		}
		c.errors[rule] = append(c.errors[rule], errs)
	}

	return short
}

// ask adds count points that the rule chooses to s.asked.
func (c *campaign) ask(ctx context.Context, s *state, rule active.Rule, count int, draw uint64) error {
	// The seed depends on the draw and the round, not on the rule.
	round := c.Round
	round.Rule = rule
	round.Count = count
	round.Seed = c.Seed + draw<<32 + uint64(len(s.asked))

	from := c.candidates
	from.Labeled = s.asked
	from.Scores = s.scores
	choices, err := c.chooser.Next(ctx, &from, &round)
	s.asked = slices.Clone(s.asked)
	for _, choice := range choices {
		s.asked = append(s.asked, choice.Point)
	}
	return err
}

// fit fits the learner to the labels asked for and measures the error on the other points.
func (c *campaign) fit(ctx context.Context, s *state) error {
	known := c.truth.Keep(s.asked)
	y := onlySeen(known)
	in := c.in
	var err error
	if in.Targets, err = models.ClassTargets(y); err != nil {
		return err
	}
	// The last solution is a good start, if its columns stand for the same classes.
	if slices.Equal(s.class, y.Classes) {
		in.Start = s.start
	}
	m, short := c.learner.Fit(ctx, &in)
	if !models.Usable(short) {
		return short
	}

	p, err := c.answers(ctx, m)
	if err != nil {
		return err
	}
	// The learner numbers the classes that it has seen; truth numbers all.
	predicted := make([]int32, len(p.Classes))
	for i, class := range p.Classes {
		at, _ := slices.BinarySearch(c.truth.Classes, y.Classes[class])
		predicted[i] = int32(at)
	}

	s.scores = p.Scores
	s.error = 100 * metrics.ErrorRate(predicted, c.truth, known)
	if u, ok := m.(models.Updater); ok {
		s.start = u.Kept().Start
		s.class = y.Classes
	}

	c.fits++
	c.Observed().Update(float64(c.fits), float64(c.total()), fmt.Sprintf("%d labels, error %.2f %%",
		len(s.asked), s.error))
	return short
}

// answers returns the predictions of a model for all points, with scores.
func (c *campaign) answers(ctx context.Context, m models.Model) (*models.Prediction, error) {
	if t, ok := m.(models.Trained); ok {
		return t.Training(true), nil
	}
	return m.Predict(ctx, c.in.Points, nil)
}

// rows returns the means over the draws, rule by rule.
func (c *campaign) rows() []row {
	var out []row
	for _, rule := range c.Rules {
		for at, labels := range c.counts {
			r := row{Rule: rule, Labels: labels, Ratio: math.NaN()}
			for _, errs := range c.errors[rule] {
				r.Errors = append(r.Errors, errs[at])
			}
			r.Error = stat.Mean(r.Errors, nil)
			if len(r.Errors) > 1 {
				r.Deviation = stat.StdDev(r.Errors, nil)
			}
			// The ratio compares means, which are less noisy than ratios of single draws.
			if random := c.errors[active.Random]; random != nil {
				var sum float64
				for _, errs := range random {
					sum += errs[at]
				}
				r.Ratio = r.Error / (sum / float64(len(random)))
			}

			out = append(out, r)
		}
	}

	return out
}
