package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

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
		Use:   "next model.npz -n 50 -o next.csv",
		Short: "Choose the points to label next",
		Long: fmt.Sprintf(`Choose n points whose labels would help the model most, the first one first, and
write their id and row, the answer of today with its probability p, the rule, its
score and the component of the graph. Write the right labels in place of the answers,
and bigfit update model.npz -y next.csv learns them. By --rule:

  combined     below %d labels a class the uncertainty times the score of sopt,
               then that of uncertainty
  vopt         lowers the sum of the variances of all points most (Ji & Han 2012)
  sopt         lowers the variance of their sum most (Ma, Garnett & Schneider 2013)
  uncertainty  where the two best classes are closest, and no chosen point near
  random       any point

Variances are those of a Gaussian field on the graph, by --pairs eigenpairs of its
normalized Laplacian. Each choice changes them for those that follow, so that a batch
is spread. Components without a label come first, the largest first (the rule is then
"component"), but for tiny ones; random knows no such order.

A model of harmonic, lgc, tikhonov, poisson or eigenmap keeps its graph and labels. Of
others give all points with -X and their labels with -y. The graph may be given with
--graph, its eigenpairs with --eigs.`, active.FewLabels),
		Args: shell.OneArgument("the model file"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.next(cmd.Context(), args[0], &o) },
	}
	shell.Former(cmd, "oracle",
		"campaigns are replayed by go run ./bench/campaigns in a checkout of the source")
	f := cmd.Flags()
	f.IntVarP(&o.choice.Count, "count", "n", 50, "points to choose")
	shell.NameFlag(f, &o.choice.Rule, "rule", "rule of the choice: combined, vopt, sopt, uncertainty, random")
	f.IntVar(&o.choice.Pairs, "pairs", labeling.DefaultFieldPairs,
		"eigenpairs that rules look at, beside the null vectors")
	f.Float64Var(&o.choice.Delta, "delta", 0.01, "δ of the variances (Λ + δI)⁻¹ along the eigenvectors")
	f.Float64Var(&o.choice.Noise, "noise", 1,
		"variance of a label, as a share of the mean variance before any")
	f.StringVar(&o.proba, "proba", "", probaHelp+", in place of the answers of the model")
	f.StringVar(&o.eigs, "eigs", "", "`file` of eigenpairs of the graph, in place of those that are computed")
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
	return shell.CheckAnswers(o.Source.X.Inputs(path, o.Y, o.Source.File, o.eigs, o.proba), []string{o.out})
}

func (a *app) next(ctx context.Context, path string, o *nextOptions) error {
	if err := a.checkNext(path, o); err != nil {
		return err
	}
	p, short := a.ReadLabeled(ctx, path, &o.LabeledOptions, true)
	if !models.Usable(short) {
		return short
	}
	c := &labeling.Candidates{Graph: p.Graph}
	if o.eigs != "" {
		var err error
		if c.Pairs, err = a.readPairs(o.eigs, p); err != nil {
			return err
		}
	}
	o.choice.Seed = a.Seed
	c.Labeled = p.Targets.Labeled
	// No more points can be chosen than have no label.
	if left := p.Targets.Len - len(c.Labeled); o.choice.Count > left {
		return shell.Usagef("--count is %d and only %d of %d points have no label", o.choice.Count, left,
			p.Targets.Len)
	}

	// The answers of today tell which points are uncertain, and stand beside the points.
	today, err := a.answersToday(ctx, path, p, o)
	if err != nil {
		return err
	}
	if today != nil {
		c.Scores = today.Scores
	}

	// Eigenpairs short of the tolerance still rank points; their error is reported at the end.
	choices, err := labeling.Planner{Pipeline: a.Pipeline()}.Next(ctx, c, &o.choice)
	if !models.Usable(err) {
		return err
	}
	short = errors.Join(short, err)
	ids, err := a.IDsOf(p.Targets.Len)
	if err != nil {
		return err
	}

	answers := labeling.NextAnswers(o.choice.Rule, choices, ids,
		strings.EqualFold(filepath.Ext(o.out), ".npy"), p.Model, today)
	answers.Hashes, answers.Files, answers.Settings.Learner = p.Hashes, a.Files, p.Model.Name()
	answers.CSVSafe = a.CSVSafe
	if err := a.Write(ctx, func() error { return answers.Write(o.out) }); err != nil {
		return err
	}
	s := newNextSummary(o.choice.Rule, choices, p)
	return errors.Join(short, a.Print(s, fmt.Sprintf("%s: %s", o.out, s)))
}

// answersToday returns the answers of the model, or of the program whose probabilities are given.
func (a *app) answersToday(ctx context.Context, path string, p *shell.LabeledPoints,
	o *nextOptions) (*models.Prediction, error) {
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
	if o := p.Model.Output(); o.Kind != models.OutputClasses {
		if !needed {
			return nil, nil
		}
		return nil, shell.Usagef("%s answers with %s, of which no class is uncertain; take --rule "+
			"vopt, sopt or random", path, o.Kind)
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
	Rule    active.Rule `json:"rule"`
	Chosen  int         `json:"chosen"`
	Labeled int         `json:"labeled"`
	Points  int         `json:"points"`
	First   int         `json:"first_of_components"` // chosen because their components had no label
	Rows    []int       `json:"rows"`
}

func newNextSummary(rule active.Rule, choices []active.Choice, p *shell.LabeledPoints) nextSummary {
	s := nextSummary{Rule: rule, Chosen: len(choices), Labeled: len(p.Targets.Labeled), Points: p.Targets.Len}
	for _, c := range choices {
		s.Rows = append(s.Rows, c.Point)
		if c.First {
			s.First++
		}
	}
	return s
}

func (s nextSummary) String() string {
	text := fmt.Sprintf("%d points to label by %v, beside %d labels of %d points", s.Chosen, s.Rule,
		s.Labeled, s.Points)
	if s.First > 0 {
		text += fmt.Sprintf("; the first %d are in components without a label", s.First)
	}
	return text
}
