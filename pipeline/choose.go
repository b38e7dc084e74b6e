package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/param"
)

// steadyLabels is the least number of labels for which one cross-validation is steady enough.
// Fewer labels are dealt into folds four times.
const steadyLabels = 100

// choose gives in values for the required parameters that it lacks, and says in a note which.
// Cross-validation on the grid of [selection.Open] chooses them. [selection.Rule] takes its
// place if there are not [selection.Enough] labels, if the learner does not learn from labels,
// or if classes weigh edges, which needs the labels that a fold holds back. choose makes the
// graph for it and leaves it in in, which must be a copy of the caller's own. The first error
// comes with a usable graph.
func (p *Pipeline) choose(ctx context.Context, l models.Learner, in *models.Input,
	g *GraphSettings) (short, err error) {
	open := selection.Open(l, in.Values)
	if open == nil {
		return nil, nil
	}
	if err := models.CheckFor(l, selection.Rule(l, in.Values)); err != nil {
		return nil, err
	}
	info := l.Info()
	why := ruleFor(l, in, g)
	// A fixed rule is printed like a choice, with the reason.
	if why != "" {
		in.Values = selection.Rule(l, in.Values)
		in.Chosen = &models.Chosen{Values: only(in.Values, open), Why: why}
		p.Observed().Note(info.Name + ": " + in.Chosen.String())
		return nil, nil
	}

	// All folds share one graph, which no label is in.
	if in.Graph == nil && usesGraph(open, &info) {
		made, fault := p.Graph(ctx, in.Points, g)
		if !models.Usable(fault) {
			return nil, fault
		}
		in.Graph = &made.Graph
		short = fault
	}

	// The checkpoint is for stages that take longer than this choice.
	solver := *p
	solver.Checkpoint = nil
	t, fault := solver.Prepare(ctx, in, *open, g)
	if !models.Usable(fault) {
		return nil, fault
	}
	if in.Graph != nil && t.Data.Graph != nil {
		in.Graph = t.Data.Graph // joined with the points
	}
	s := selection.Settings{Repeats: choiceRepeats(in), KeepAnswers: true}
	if err := p.sayLongChoice(t, s); err != nil {
		return nil, err
	}
	r, fault := t.Search(ctx, s, nil)
	if !models.Usable(fault) {
		return nil, fault
	}

	// Only open parameters change; values that were given stay.
	best := r.Best()
	in.Values = in.Values.With(only(best.Setting.Values, open))
	in.Chosen = &models.Chosen{Values: only(in.Values, open), Settings: len(r.Scores), Folds: r.Folds,
		Repeats:   r.Repeats,
		Criterion: r.Criterion.String(), Score: models.Finite(float64(best.Mean)),
		StdErr: models.Finite(float64(best.StdErr)), Ends: ends(l, in.Values, open),
		HeldOut: r.HeldOut}
	p.Observed().Note(info.Name + ": " + in.Chosen.String())
	return short, nil
}

// longChoice is the time in seconds from which on a choice of required values is worth a line: whoever
// waits for it may rather give them.
var longChoice = 10.0

// sayLongChoice says how long a search among the settings of t takes, if that is long, and how to do
// without it.
func (p *Pipeline) sayLongChoice(t *Tuning, s selection.Settings) error {
	s.Seed, s.Memory = p.Seed, p.Memory
	cost, count, err := selection.Cost(&t.Data, &t.Grid, &s)
	if err != nil {
		return err
	}
	seconds := machine.Seconds(cost.Operations)
	if seconds < longChoice {
		return nil
	}

	l := t.Grid.Learner
	var names, given []string
	for _, q := range l.Params() {
		if _, ok := t.Grid.Axes[q.Name]; ok {
			names = append(names, q.Name)
			given = append(given, fmt.Sprintf("%s %s", param.Name(q.Name), q.Few))
		}
	}
	p.Observed().Note(fmt.Sprintf("%s: cross-validation of %d settings of %s takes about %s; to leave it out give "+
		"values, as %s", l.Info().Name, count, enum.And(names), choice.Duration(seconds), strings.Join(given, " ")))
	return nil
}

// ruleFor says why a fixed rule chooses required values; it returns nothing where cross-validation does.
func ruleFor(l models.Learner, in *models.Input, g *GraphSettings) string {
	info := l.Info()
	switch {
	case info.Learns.Has(models.LearnsInside):
		return "without classes or values there is nothing to measure by"
	case g.ClassWeights != nil:
		return "class weights leave no labels to hold back"
	case !selection.Enough(in.Targets):
		return fmt.Sprintf("there are too few labels for cross-validation, which takes %d of points "+
			"whose class has another", selection.FewestLabels)
	}
	return ""
}

// choiceRepeats is the number of times that the labels are dealt into folds. With few labels a single
// deal decides by chance.
func choiceRepeats(in *models.Input) int {
	if len(in.Targets.Labeled) < steadyLabels {
		return 4
	}
	return 1
}

// only returns the values of the axes of a grid.
func only(v models.Values, g *selection.Grid) models.Values {
	out := models.Values{}
	for name := range g.Axes {
		if text, ok := v[name]; ok {
			out[name] = text
		}
	}
	return out
}

// ends returns the axes with a chosen value at the first or last place of the grid, in the
// order of the parameters.
func ends(l models.Learner, v models.Values, g *selection.Grid) []string {
	var out []string
	for _, p := range l.Params() {
		if values, ok := g.Axes[p.Name]; ok && len(values) > 1 &&
			slices.Contains([]string{values[0], values[len(values)-1]}, v[p.Name]) {
			out = append(out, p.Name)
		}
	}
	return out
}
