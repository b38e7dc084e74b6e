package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/bench/console"
	"github.com/bigfit/bigfit/bench/sets"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/pipeline"
)

// firstSettings are the settings of campaigns that begin without a label.
type firstSettings struct {
	sets       []string
	limit      int
	at         []int // numbers of labels at which errors are measured, ascending
	strategies []string
	learner    string
	draws      int
}

// strategy is a rule for the first labels and another one for those after them.
type strategy struct {
	name        string
	first, then active.Rule
}

// parseStrategy reads "sopt/combined", or one rule for all labels.
func parseStrategy(text string) (strategy, error) {
	first, then, two := strings.Cut(text, "/")
	if !two {
		then = first
	}
	s := strategy{name: text}
	if err := s.first.UnmarshalText([]byte(first)); err != nil {
		return s, err
	}
	if err := s.then.UnmarshalText([]byte(then)); err != nil {
		return s, err
	}
	if s.first.NeedsScores() {
		return s, fmt.Errorf("%s: the rule %v cannot choose the first labels", text, s.first)
	}
	return s, nil
}

// firstRow holds the means over the draws of a strategy on a set at a number of labels.
type firstRow struct {
	Set      string  `json:"set"`
	Strategy string  `json:"strategy"`
	Labels   int     `json:"labels"`
	Error    float64 `json:"error"`   // percent of the points without a label
	Classes  float64 `json:"classes"` // share of the classes that have a label
}

// firsts replays campaigns from no label on, over sets, strategies and draws.
func (a *app) firsts(ctx context.Context) error {
	o := &a.first
	dir := os.Getenv("BIGFIT_DATA")
	if dir == "" {
		return console.Usagef("--sets reads the sets of the folder in BIGFIT_DATA, which is not set")
	}
	if len(o.at) == 0 || !slices.IsSorted(o.at) || o.at[0] < 1 || o.draws < 1 {
		return console.Usagef("--at is %v and --draws %d; numbers of labels must ascend from 1, and there must be a draw",
			o.at, o.draws)
	}
	var strategies []strategy
	for _, text := range o.strategies {
		s, err := parseStrategy(text)
		if err != nil {
			return console.Usagef("--strategy: %w", err)
		}
		strategies = append(strategies, s)
	}
	learner, err := all.Find(o.learner)
	if err != nil {
		return console.Usagef("--learner: %w", err)
	}

	var rows []firstRow
	var judged foreseen
	for _, name := range o.sets {
		k := slices.IndexFunc(sets.All, func(s sets.Set) bool { return s.Name == name })
		if k < 0 {
			return console.Usagef("--sets: there is no set %q", name)
		}
		set, err := sets.All[k].Read(dir, o.limit)
		if err != nil {
			return err
		}
		c, err := newFirstCampaign(ctx, a.Pipeline(), learner, set, a.settings.Round.Pairs)
		if err != nil {
			return err
		}
		for _, s := range strategies {
			of, err := c.replay(ctx, s, o, &judged)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", name, s.name, err)
			}
			rows = append(rows, of...)
			a.Note(firstLine(of))
		}
	}
	judged.finish()
	return a.Print(map[string]any{"model": o.learner, "rows": rows, "forecast": judged}, firstText(rows, o.at)+judged.String())
}

// firstCampaign is a set with its graph and eigenpairs, which all strategies share.
type firstCampaign struct {
	*pipeline.Pipeline
	learner  models.Learner
	set      *sets.Loaded
	graph    *models.Graph
	settings *pipeline.GraphSettings
	chooser  labeling.Candidates
}

// newFirstCampaign makes the graph of auto, and count vectors that the rules look at.
func newFirstCampaign(ctx context.Context, p *pipeline.Pipeline, l models.Learner, set *sets.Loaded,
	count int) (*firstCampaign, error) {
	// Stages of single fits say nothing here.
	c := &firstCampaign{Pipeline: &pipeline.Pipeline{Seed: p.Seed, Memory: p.Memory}, learner: l, set: set}
	var err error
	if c.settings, err = pipeline.AutoGraph(set.X, models.Values{}); err != nil {
		return nil, err
	}
	g, err := c.Graph(ctx, set.X, c.settings)
	if !models.Usable(err) {
		return nil, err
	}
	c.graph = &g.Graph
	pairs, err := labeling.Planner{Pipeline: c.Pipeline}.FieldPairs(ctx, c.graph, count)
	if !models.Usable(err) {
		return nil, err
	}
	c.chooser = labeling.Candidates{Graph: c.graph, Pairs: pairs}
	return c, nil
}

// replay replays a strategy. Draws differ in the seed, and in a tenth of the points that cannot be labeled:
// most rules leave nothing to chance.
func (c *firstCampaign) replay(ctx context.Context, s strategy, o *firstSettings, judged *foreseen) ([]firstRow, error) {
	rows := make([]firstRow, len(o.at))
	for k, at := range o.at {
		rows[k] = firstRow{Set: c.set.Name, Strategy: s.name, Labels: at}
	}
	for draw := range o.draws {
		rng := rand.New(rand.NewPCG(c.Seed+uint64(draw), 0x6669727374)) // "first"
		closed := make([]bool, c.set.Truth.Len())
		for i := range closed {
			closed[i] = rng.IntN(10) == 0
		}

		now := &firstState{}
		var states []*firstState
		for k, at := range o.at {
			rule := s.then
			if now.model == nil {
				rule = s.first
			}
			next, err := c.ask(ctx, now, rule, at-len(now.asked), closed, uint64(draw))
			if err != nil {
				return nil, err
			}
			rows[k].Error += next.error / float64(o.draws)
			rows[k].Classes += next.classes / float64(o.draws)
			now = next
			states = append(states, now)
		}
		judged.compare(states)
	}
	return rows, nil
}

// firstState is what is known after some labels. There is no model while they are of one class.
type firstState struct {
	asked          []int
	targets        *models.Targets
	model          models.Model
	answers        *models.Prediction
	error, classes float64
}

// ask labels count more points and fits the learner.
func (c *firstCampaign) ask(ctx context.Context, before *firstState, rule active.Rule, count int, closed []bool,
	draw uint64) (*firstState, error) {
	from := c.chooser
	from.Labeled = before.asked
	from.Closed = closed
	if before.model != nil {
		from.Scores = before.answers.Scores
	}
	if rule == active.Committee {
		var err error
		if from.Disagreement, err = labeling.DisagreementOf(ctx, before.model); err != nil {
			rule = active.Combined // one member only
		}
	}
	settings := &labeling.NextSettings{Settings: active.Settings{Rule: rule, Count: count,
		Seed: c.Seed + draw<<32 + uint64(len(before.asked))}}
	choices, err := labeling.Planner{Pipeline: c.Pipeline}.Next(ctx, &from, settings)
	if !models.Usable(err) {
		return nil, err
	}
	out := &firstState{asked: slices.Clone(before.asked)}
	for _, choice := range choices {
		out.asked = append(out.asked, choice.Point)
	}

	truth := c.set.Truth
	known := truth.Keep(out.asked)
	y := onlySeen(known)
	out.classes = float64(len(y.Classes)) / float64(len(truth.Classes))
	if len(y.Classes) < 2 {
		// Whoever knows one class answers with it.
		out.error = 100 * metrics.ErrorRate(slices.Repeat([]int32{known.Index[out.asked[0]]}, truth.Len()), truth, known)
		return out, nil
	}

	if out.targets, err = models.ClassTargets(y); err != nil {
		return nil, err
	}
	in := &models.Input{Points: c.set.X, Graph: c.graph, Targets: out.targets, Values: models.Values{}}
	m, complete, err := c.FitComplete(ctx, c.learner, in, c.settings)
	if !models.Usable(err) {
		return nil, err
	}
	if m, err = c.CalibrateByDefault(ctx, c.learner, m, complete); !models.Usable(err) {
		return nil, err
	}
	out.model = m
	if out.answers, err = pipeline.Training(m, true, pipeline.HasProbabilities(m)); err != nil {
		return nil, err
	}
	if out.answers == nil {
		return nil, fmt.Errorf("a %s model keeps no answers for its points", m.Name())
	}
	predicted := make([]int32, truth.Len())
	for i, class := range out.answers.Classes {
		at, _ := slices.BinarySearch(truth.Classes, y.Classes[class])
		predicted[i] = int32(at)
	}
	out.error = 100 * metrics.ErrorRate(predicted, truth, known)
	return out, nil
}

// firstLine is a line about the strategy of some rows.
func firstLine(rows []firstRow) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %-22s", rows[0].Set, rows[0].Strategy)
	for _, r := range rows {
		fmt.Fprintf(&b, "  %6.2f (%3.0f%%)", r.Error, 100*r.Classes)
	}
	return b.String()
}

// firstText returns the table: a line for each set and strategy, with the error in percent and, in brackets,
// the share of the classes that have a label.
func firstText(rows []firstRow, at []int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %-22s", "set", "strategy")
	for _, labels := range at {
		fmt.Fprintf(&b, "  %13d", labels)
	}
	for lo := 0; lo < len(rows); lo += len(at) {
		b.WriteString("\n" + firstLine(rows[lo:lo+len(at)]))
	}
	return b.String()
}

// foreseen counts forecasts of labeling.Expect whose intervals held the error.
type foreseen struct {
	Forecasts int `json:"forecasts"`
	Inside    int `json:"inside"`
	Below     int `json:"below"` // the error was smaller than the interval
	// Ratio is the median factor between a forecast and the error.
	Ratio  float64 `json:"median_factor"`
	ratios []float64
}

// compare compares forecasts at each number of labels with the errors at all larger ones.
func (f *foreseen) compare(states []*firstState) {
	for k, s := range states {
		if s.model == nil {
			continue
		}
		for _, later := range states[k+1:] {
			e := labeling.Expect(s.model, s.targets, s.answers, len(later.asked)-len(s.asked))
			if e == nil {
				continue
			}
			f.Forecasts++
			switch truth := later.error / 100; {
			case truth >= e.Low && truth <= e.High:
				f.Inside++
			case truth < e.Low:
				f.Below++
			}
			f.ratios = append(f.ratios, math.Abs(math.Log(max(later.error/100, 1e-3)/e.Error)))
		}
	}
}

// finish computes the median of the factors between forecasts and errors.
func (f *foreseen) finish() {
	if len(f.ratios) > 0 {
		slices.Sort(f.ratios)
		f.Ratio = math.Exp(f.ratios[len(f.ratios)/2])
	}
}

// String is empty without forecasts.
func (f *foreseen) String() string {
	if f.Forecasts == 0 {
		return ""
	}
	share := func(count int) float64 { return 100 * float64(count) / float64(f.Forecasts) }
	return fmt.Sprintf("\nforecasts: %d, inside %.0f %%, error below the interval %.0f %%, above %.0f %%; median factor %.2f",
		f.Forecasts, share(f.Inside), share(f.Below), share(f.Forecasts-f.Inside-f.Below), f.Ratio)
}

// onlySeen returns the labels y with only those classes that occur among them: a learner must not know of a
// class before it has seen a label of it.
func onlySeen(y *data.Labels) *data.Labels {
	values := make([]int64, y.Len())
	known := make([]bool, y.Len())
	for i, class := range y.Index {
		if class != data.Unlabeled {
			values[i] = y.Classes[class]
			known[i] = true
		}
	}
	return data.NewLabels(values, known)
}
