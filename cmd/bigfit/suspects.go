package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/artifact"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/pipeline"
)

// suspectOptions are the flags of bigfit suspects.
type suspectOptions struct {
	shell.LabeledOptions
	folds, most int
	model, out  string
}

func (a *app) suspectsCommand() *cobra.Command {
	var o suspectOptions
	cmd := &cobra.Command{
		Use:   "suspects {model.npz | X.npy… y.npy} -o suspects.csv",
		Short: "List labels that disagree with what the others say",
		Long: `List the labels of a model's points that disagree with what the model says of them
when it does not know them, and write row, label, the suggested one and a score, the
largest first: by how much the share of the suggested class among the scores is
above that of the given one, from 0 to 1.

For harmonic, lgc, tikhonov and poisson each label is left out alone, by formulas
instead of fits, if there are at most 4096; see docs/next.md. Otherwise the labels are
dealt into --folds, and each fold is held against a fit to the others. Labels that are
alone in their components of the graph are counted, and not judged.

A model of harmonic, lgc, tikhonov, poisson, eigenmap or knn keeps its points and
labels. Of others give the points with -X and the labels with -y. Points and labels in
place of a model are judged by --model with its defaults; harmonic, which asks the
neighbours in the graph, is the one to take where most points have a label.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.suspects(cmd.Context(), args, &o) },
	}

	f := cmd.Flags()
	f.StringVar(&o.model, "model", "harmonic",
		"`name` of the model that judges points and labels given without one")
	o.Flags(a.App, f)
	f.IntVar(&o.folds, "folds", 0, "folds of labels to leave out (default: one label at a time where "+
		"there are formulas, else 10)")
	f.IntVarP(&o.most, "count", "n", 0, "list at most so many (default: all)")
	f.StringVarP(&o.out, "output", "o", "suspects.csv",
		"`file` to write, "+enum.Or(table.Several)+"; .npy has the rows only")
	return cmd
}

func (a *app) suspects(ctx context.Context, args []string, o *suspectOptions) error {
	path, err := a.takeSuspects(args, o)
	if err != nil {
		return err
	}

	switch {
	case o.folds < 0 || o.folds == 1:
		return shell.Usagef("--folds is %d; it must be at least 2", o.folds)
	case o.most < 0 || a.Given["count"] && o.most == 0:
		return shell.Usagef("--count is %d; it must be at least 1", o.most)
	}

	if err := shell.CheckAnswers(o.Source.X.Inputs(path, o.Y, o.Source.File), []string{o.out}); err != nil {
		return err
	}
	var p *shell.LabeledPoints
	var short error
	if path != "" {
		p, short = a.ReadLabeled(ctx, path, &o.LabeledOptions, false)
	} else {
		p, short = a.readUnfitted(ctx, o)
	}

	if !models.Usable(short) {
		return short
	}
	if p.Targets.Classes == nil {
		return shell.Usagef("%s answers with %s; suspects are labels of classes", path, p.Model.Output().Kind)
	}
	s, err := labeling.Planner{Pipeline: a.Pipeline()}.Suspects(ctx, p.Learner, &p.Input, nil, o.folds)
	if !models.Usable(err) {
		return a.FlagFaults(p.Learner.Info().Name, err)
	}

	// The summary counts all suspects, also when the list is cut to --count.
	short = errors.Join(short, err)
	sum := suspectSummary{Labeled: s.Labeled, Suspects: len(s.List), Unknown: s.Unknown, Folds: s.Folds}
	if o.most > 0 && len(s.List) > o.most {
		s.List = s.List[:o.most]
	}
	ids, err := a.IDsOf(p.Targets.Len)
	if err != nil {
		return err
	}

	answers := labeling.SuspectAnswers(p.Targets, s.List, ids, strings.EqualFold(filepath.Ext(o.out), ".npy"))
	answers.Hashes, answers.Files, answers.Settings.Learner = p.Hashes, a.Files, p.Learner.Info().Name
	answers.CSVSafe = a.CSVSafe
	if err := a.Write(ctx, func() error { return answers.Write(o.out) }); err != nil {
		return err
	}
	sum.list(p.Targets, s.List)
	return errors.Join(short, a.Print(sum, fmt.Sprintf("%s: %s", o.out, sum)))
}

// takeSuspects takes the arguments. It returns the name of the model file, or "" if points and
// labels were given in place of a model.
func (a *app) takeSuspects(args []string, o *suspectOptions) (string, error) {
	// One argument with -X or -y may be a model or a file of points: its contents decide.
	model := len(args) == 1 && len(o.Source.X) == 0 && o.Y == ""
	if len(args) == 1 && !model {
		info, err := artifact.Inspect(args[0], int64(a.Memory))
		model = err == nil && info.Kind == archive.Model
	}

	if model {
		if a.Given["model"] {
			return "", shell.Usagef("--model is for points and labels that are given without a "+
				"model, and %s is one", args[0])
		}
		return args[0], nil
	}
	if note := o.Source.X.Take(args, &o.Y, o.Source.File != ""); note != "" {
		a.Note("%s", note)
	}

	switch {
	case o.Y == "":
		return "", shell.Usagef("suspects needs a model, or points (-X) or a graph (--graph) and " +
			"their labels (-y)")
	case len(o.Source.X) == 0 && o.Source.File == "":
		return "", shell.Usagef("suspects needs the points (-X) or the graph (--graph) of the labels in %s",
			o.Y)
	}

	return "", nil
}

// readUnfitted reads points and labels that no model was fitted to.
func (a *app) readUnfitted(ctx context.Context, o *suspectOptions) (*shell.LabeledPoints, error) {
	l, err := shell.FindLearner(o.model)
	if err != nil {
		return nil, err
	}
	info := l.Info()
	if !info.Learns.Has(models.LearnsClasses) {
		return nil, shell.Usagef("--model is %s, which learns no classes; suspects are labels of classes",
			info.Name)
	}
	p := &shell.LabeledPoints{Learner: l, Hashes: pipeline.Hashes{}}
	// The judging model has its defaults; one that needs a parameter must be fitted first.
	p.Values = models.Values{}
	if err := a.CheckParams(l, p.Values); err != nil {
		return nil, fmt.Errorf("%w; fit a model first, and give it to suspects", err)
	}

	// A model without a graph needs the points alone.
	var short error
	if info.UsesGraph(p.Values) {
		s, err := a.LoadSource(ctx, &o.Source)
		if !models.Usable(err) {
			return nil, err
		}
		short = err
		p.Graph, p.Points = &s.Graph.Graph, s.X
		p.Hashes = s.Hashes
	} else if p.Points, err = a.ReadPoints(o.Source.X, data.ReadOptions{}); err != nil {
		return nil, err
	}

	y, err := o.Label.ReadTruth(a.App, o.Y, p.Rows())
	if err != nil {
		return nil, err
	}
	if y.Len() != p.Rows() {
		return nil, fmt.Errorf("%s has %d labels for %d points", o.Y, y.Len(), p.Rows())
	}
	if p.Targets, err = models.ClassTargets(y); err != nil {
		return nil, fmt.Errorf("%s: %w", o.Y, err)
	}
	return p, short
}

// suspectSummary is the output of suspects.
type suspectSummary struct {
	Labeled  int           `json:"labeled"`
	Suspects int           `json:"suspects"`
	Unknown  int           `json:"unknown"` // alone in their components
	Folds    int           `json:"folds"`   // 0: one label at a time
	List     []suspectText `json:"list"`
}

// suspectText is a suspect as it is printed.
type suspectText struct {
	Row       int     `json:"row"`
	Label     string  `json:"label"`
	Suggested string  `json:"suggested"`
	Score     float64 `json:"score"`
}

func (s *suspectSummary) list(t *models.Targets, list []active.Suspect) {
	for _, v := range list {
		s.List = append(s.List, suspectText{v.Point, data.ClassName(t.Classes, t.Names, v.Given),
			data.ClassName(t.Classes, t.Names, v.Suggested), v.Score})
	}
}

func (s suspectSummary) String() string {
	how := "left out one by one"
	if s.Folds > 0 {
		how = fmt.Sprintf("in %d folds", s.Folds)
	}
	text := fmt.Sprintf("%d of %d labels, %s, disagree with the others", s.Suspects, s.Labeled, how)
	if s.Unknown > 0 {
		text += fmt.Sprintf("; %d are alone in their components and not judged", s.Unknown)
	}
	// Ten rows give an impression on the terminal; the file has them all.
	const rows = 10
	for q, v := range s.List {
		if q == rows {
			text += fmt.Sprintf("\n… and %d more", len(s.List)-rows)
			break
		}
		if q == 0 {
			text += fmt.Sprintf("\n%10s  %12s  %12s  %6s", "row", "label", "suggested", "score")
		}
		text += fmt.Sprintf("\n%10d  %12s  %12s  %6.3f", v.Row, v.Label, v.Suggested, v.Score)
	}

	return text
}
