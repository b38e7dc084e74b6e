package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/artifact"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/pipeline"
)

// nextOptions are the flags of bigfit next.
type nextOptions struct {
	shell.LabeledOptions
	choice           labeling.NextSettings
	eigs, proba, out string
}

func (a *app) nextCommand() *cobra.Command {
	var o nextOptions
	cmd := &cobra.Command{
		Use:   "next {model.npz | X.npy… [labels.csv]} -n 50 -o next.csv",
		Short: "Choose the points to label first, or next",
		Long: fmt.Sprintf(`Choose n points whose labels would help the model most, the most useful one first.
Write their id and row, the answer of today as label with its probability p, the rule,
its score and the component of the graph.

With a model, write the right labels in place of the answers; bigfit update model.npz
-y next.csv learns them. Before the first label give the points alone, as fit takes
them. They are joined by the graph of auto, or by --graph, and the column label is
empty. Fill it in; bigfit fit X.npy next.csv learns it. If some points have labels, auto
is fitted to them first, and that model is not kept. --rule is one of

  combined     the default. Below %d labels a class: uncertainty times the score of
               sopt. Then: uncertainty. Without answers, as before the first label and
               for models of values: sopt
  vopt         lowers the sum of the variances of all points most (Ji & Han 2012)
  sopt         lowers the variance of their sum most (Ma, Garnett & Schneider 2013)
  uncertainty  where the two best classes are closest, and no chosen point near
  committee    where the members of an auto model disagree most, and no chosen point near
               (McCallum & Nigam 1998)
  typical      one point of each of as many clusters as labels, in the midst of its
               neighbours (Hacohen, Dekel & Weinshall 2022)
  cover        whose neighbours are the most that are no neighbours of a label (Yehuda,
               Dekel, Hacohen & Weinshall 2022)
  random       any point

A Gaussian field on the graph gives the variances, from --pairs vectors near the smallest
eigenvectors of its normalized Laplacian. Each choice lowers the variances near it before
the next point is chosen, so a batch is spread. Components of the graph without a label
come first, the largest first, and tiny ones last; their rule is "component". typical,
cover and random ignore components.

Models of harmonic, lgc, tikhonov, poisson, eigenmap and auto keep their graph and labels.
For other models give all points with -X and their labels with -y. --graph gives the graph,
--eigs its eigenpairs.`, active.FewLabels),
		RunE: func(cmd *cobra.Command, args []string) error { return a.next(cmd.Context(), args, &o) },
	}
	shell.Former(cmd, "oracle",
		"campaigns are replayed by go run ./bench/campaigns in a checkout of the source")
	f := cmd.Flags()
	f.IntVarP(&o.choice.Count, "count", "n", 50, "points to choose")
	shell.NameFlag(f, &o.choice.Rule, "rule", "rule of the choice")
	f.IntVar(&o.choice.Pairs, "pairs", labeling.DefaultFieldPairs,
		"vectors that rules look at, beside the null vectors")
	f.Float64Var(&o.choice.Delta, "delta", 0.01, "δ of the variances (Λ + δI)⁻¹ along the eigenvectors")
	f.Float64Var(&o.choice.Noise, "noise", 1,
		"variance of a label, as a share of the mean variance before any")
	f.StringVar(&o.proba, "proba", "", probaHelp+", in place of the answers of the model")
	f.StringVar(&o.eigs, "eigs", "", "`file` of eigenpairs of the graph, in place of the vectors that are computed")
	o.Flags(a.App, f)
	f.StringVarP(&o.out, "output", "o", "next.csv",
		"`file` to write, "+enum.Or(table.Several)+"; .npy has the rows only")
	return cmd
}

// checkNext refuses what can be known to be wrong before anything is read.
func (a *app) checkNext(path string, o *nextOptions) error {
	for _, f := range []struct {
		name string
		v    float64
	}{
		{"count", float64(o.choice.Count)},
		{"pairs", float64(o.choice.Pairs)},
		{"delta", o.choice.Delta},
		{"noise", o.choice.Noise},
	} {
		if !(f.v > 0) || math.IsInf(f.v, 1) {
			return shell.Usagef("--%s is %v; it must be positive", f.name, f.v)
		}
	}
	if o.proba != "" && o.choice.Rule == active.Committee {
		return shell.Usagef("--rule committee asks the members of a model, and --proba is one answer; leave one of them out")
	}
	return shell.CheckAnswers(o.Source.X.Inputs(path, o.Y, o.Source.File, o.eigs, o.proba), []string{o.out})
}

func (a *app) next(ctx context.Context, args []string, o *nextOptions) error {
	path, err := a.takeNext(args, o)
	if err != nil {
		return err
	}
	if err := a.checkNext(path, o); err != nil {
		return err
	}

	// What is known: a model, points with some labels, or points alone.
	var p *shell.LabeledPoints
	var short error
	switch {
	case path != "":
		p, short = a.ReadLabeled(ctx, path, &o.LabeledOptions, true)
	case o.Y != "":
		p, short = a.fitFirst(ctx, o)
	default:
		p, short = a.readAlone(ctx, o)
	}
	if !models.Usable(short) {
		return short
	}

	c := &labeling.Candidates{Graph: p.Graph}
	if p.Targets != nil {
		c.Labeled = p.Targets.Labeled
	}
	n := p.Graph.Len()
	if o.eigs != "" {
		if c.Pairs, err = a.readPairs(o.eigs, p); err != nil {
			return err
		}
	}
	o.choice.Seed = a.Seed
	// No more points can be chosen than have no label.
	if left := n - len(c.Labeled); o.choice.Count > left {
		return shell.Usagef("--count is %d and only %d of %d points have no label", o.choice.Count, left, n)
	}

	// The answers of today tell which points are uncertain, and stand beside the points.
	today, err := a.answersToday(ctx, path, p, o)
	if err != nil {
		return err
	}
	if today != nil {
		c.Scores = today.Scores
	}
	if o.choice.Rule == active.Committee {
		if c.Disagreement, err = labeling.DisagreementOf(ctx, p.Model); err != nil {
			return fmt.Errorf("--rule committee: %w; take combined or uncertainty", err)
		}
	}

	// Eigenpairs short of the tolerance still rank points; their error is reported at the end.
	choices, err := labeling.Planner{Pipeline: a.Pipeline()}.Next(ctx, c, &o.choice)
	if !models.Usable(err) {
		return err
	}
	short = errors.Join(short, err)
	ids, err := a.IDsOf(n)
	if err != nil {
		return err
	}

	answers := labeling.NextAnswers(choices, ids, strings.EqualFold(filepath.Ext(o.out), ".npy"), p.Model, today)
	answers.Hashes, answers.Files = p.Hashes, a.Files
	if p.Model != nil {
		answers.Settings.Learner = p.Model.Name()
	}
	answers.CSVSafe = a.CSVSafe
	if err := a.Write(ctx, func() error { return answers.Write(o.out) }); err != nil {
		return err
	}
	s := newNextSummary(o.choice.Rule, choices, len(c.Labeled), n)
	if o.proba == "" {
		s.Expected = labeling.Expect(p.Model, p.Targets, today, o.choice.Count)
	}
	return errors.Join(short, a.Print(s, fmt.Sprintf("%s: %s", o.out, s)))
}

// takeNext takes the arguments. It returns the name of the model file, or "" if points or a graph were
// given in place of a model, with labels or without.
func (a *app) takeNext(args []string, o *nextOptions) (string, error) {
	// What the first argument is, its contents decide; a file that cannot be read is for the reader of
	// models or points to refuse.
	if len(args) > 0 {
		info, err := artifact.Inspect(args[0], int64(a.Memory))
		switch {
		case err != nil:
		case info.Kind == archive.Model && len(args) == 1:
			return args[0], nil
		case info.Kind == archive.Model:
			return "", shell.Usagef("%s is a model, which keeps what next looks at; give it alone, and the points with -X only "+
				"where it does not keep them", args[0])
		case info.Kind == archive.Graph && len(args) == 1 && o.Source.File == "" && len(o.Source.X) == 0:
			return "", shell.Usagef("%s is a graph that bigfit made, not points; give it with --graph", args[0])
		}
	}

	if note := o.Source.X.Take(args, &o.Y, o.Source.File != ""); note != "" {
		a.Note("%s", note)
	}
	if len(o.Source.X) == 0 && o.Source.File == "" {
		return "", shell.Usagef("next needs a model, points or a graph (--graph); none is given")
	}
	if o.proba != "" && o.Y == "" {
		return "", shell.Usagef("--proba stands in place of the answers of a model, and there is none; leave it out")
	}
	return "", nil
}

// readAlone reads points, or a graph, without any label.
func (a *app) readAlone(ctx context.Context, o *nextOptions) (*shell.LabeledPoints, error) {
	if o.choice.Rule.NeedsScores() {
		return nil, shell.Usagef("--rule %v looks at the answers of a model, and there is no label yet; take combined, "+
			"sopt, vopt, typical, cover or random", o.choice.Rule)
	}
	o.Source.Open = true
	s, err := a.LoadSource(ctx, &o.Source)
	if s == nil {
		return nil, err
	}
	p := &shell.LabeledPoints{Hashes: s.Hashes}
	p.Points = s.X
	p.Graph = &s.Graph.Graph
	return p, err
}

// fitFirst fits auto to points and labels. The model serves this choice only.
func (a *app) fitFirst(ctx context.Context, o *nextOptions) (*shell.LabeledPoints, error) {
	f := &fitOptions{model: "auto", params: o.Source.Params}
	f.x = o.Source.X
	f.graphFile = o.Source.File
	f.Y = o.Y
	f.Label = o.Label
	plan, err := a.planFit(f)
	if err != nil {
		return nil, err
	}
	in, m, err := a.fitWhole(ctx, plan)
	if !models.Usable(err) {
		return nil, err
	}
	return &shell.LabeledPoints{Input: in.Input, Model: m, Learner: plan.learner,
		Hashes: in.hashes}, err
}

// answersToday returns the answers of the model, or of the program whose probabilities are given.
func (a *app) answersToday(ctx context.Context, path string, p *shell.LabeledPoints,
	o *nextOptions) (*models.Prediction, error) {
	if p.Model == nil {
		return nil, nil
	}
	if o.proba == "" {
		return a.answersOf(ctx, path, p, o.choice.Rule.NeedsScores())
	}
	if p.Targets.Classes == nil {
		return nil, shell.Usagef("--proba is for classes, and %s answers with %s", path, p.Model.Output().Kind)
	}
	all, err := a.readProba(o.proba, p.Targets)
	if err != nil {
		return nil, err
	}
	return probaAnswers(all), nil
}

// readPairs reads eigenpairs of the graph.
func (a *app) readPairs(path string, p *shell.LabeledPoints) (*lanczos.Result, error) {
	a.Reads("eigenpairs", path)
	e, err := pipeline.OpenEigs(path, int64(a.Memory), &pipeline.Graph{Graph: *p.Graph}, "the graph")
	if err != nil {
		return nil, err
	}
	return e.Pairs, labeling.CheckOrthonormal(path, e.Pairs)
}

// answersOf returns the classes of all points with their scores, and their probabilities if the
// model has them. needed tells that the rule looks at the scores; if it does not, the result is nil
// where there are no classes or the model cannot answer without the points.
func (a *app) answersOf(ctx context.Context, path string, p *shell.LabeledPoints,
	needed bool) (*models.Prediction, error) {
	path = cmp.Or(path, "the fit")
	if o := p.Model.Output(); o.Kind != models.OutputClasses {
		if !needed {
			return nil, nil
		}
		return nil, shell.Usagef("%s answers with %s, of which no class is uncertain; take --rule "+
			"combined, vopt, sopt, typical, cover or random", path, o.Kind)
	}
	// Transductive models keep the scores of all points; others are asked again.
	sure := pipeline.HasProbabilities(p.Model)
	t, err := pipeline.Training(p.Model, true, sure)
	if err != nil || t != nil && t.Len() == p.Targets.Len {
		return t, err
	}
	switch {
	case p.Points != nil:
		return a.Pipeline().Predict(ctx, p.Model, p.Points, models.PredictSettings{Probabilities: sure}, true)
	case needed:
		return nil, shell.Usagef("a %s model does not keep its answers; give the points with -X",
			p.Model.Name())
	}
	return nil, nil
}

// nextSummary is the output of next.
type nextSummary struct {
	Rule active.Rule `json:"rule"`
	// Rules counts the points that each rule chose, which says what combined was.
	Rules   map[string]int `json:"rules"`
	Chosen  int            `json:"chosen"`
	Labeled int            `json:"labeled"`
	Points  int            `json:"points"`
	First   int            `json:"first_of_components"` // chosen because their components had no label
	Rows    []int          `json:"rows"`
	// Expected error with the points labeled; nil where it cannot be told.
	Expected *labeling.Expectation `json:"expected,omitempty"`
}

func newNextSummary(rule active.Rule, choices []active.Choice, labeled, n int) nextSummary {
	s := nextSummary{Rule: rule, Rules: map[string]int{}, Chosen: len(choices), Labeled: labeled, Points: n}
	for _, c := range choices {
		s.Rows = append(s.Rows, c.Point)
		s.Rules[c.Rule.String()]++
		if c.First {
			s.First++
		}
	}
	return s
}

func (s nextSummary) String() string {
	by := s.Rule.String()
	if names := slices.Sorted(maps.Keys(s.Rules)); s.Rules[by] < s.Chosen {
		by += ", here " + strings.Join(names, " and ")
	}
	text := fmt.Sprintf("%d points to label by %s, beside %d labels of %d points", s.Chosen, by, s.Labeled, s.Points)
	if s.Labeled == 0 {
		text = fmt.Sprintf("%d of %d points to label first, by %s", s.Chosen, s.Points, by)
	}
	if s.First > 0 {
		text += fmt.Sprintf("; the first %d are in components without a label", s.First)
	}
	if e := s.Expected; e != nil {
		text += fmt.Sprintf("; about %.2g %% of the answers wrong with %d more labels (%.2g to %.2g %%), about %.2g %% today",
			100*e.Error, e.Labels, 100*e.Low, 100*e.High, 100*e.Today)
	}
	return text
}
