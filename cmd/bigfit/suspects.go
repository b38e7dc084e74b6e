package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

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
	folds, most       int
	model, proba, out string
}

func (a *app) suspectsCommand() *cobra.Command {
	var o suspectOptions
	cmd := &cobra.Command{
		Use:   "suspects {model.npz | X.npy… y.npy | --proba p.npy y.npy} -o suspects.csv",
		Short: "List labels that may be wrong",
		Long: `List the labels that disagree with what the model says of their points when it does not
know them. Write id and row, the label, the suggested label and a score, the largest
first. The score is 1 − p with the probability p of the given label. The summary
estimates how many labels are wrong (confident learning, Northcutt et al. 2021). For
values, list those far from the prediction; the score is the residual in units of its
spread.

A fit has these answers from its cross-validation, or from the labels that it held out
for its probabilities. Then the list costs nothing. Without them, or with --folds, labels
are left out anew. harmonic, lgc, tikhonov and poisson leave out one at a time, by
formulas instead of fits, up to 4096 labels (docs/next.md). Otherwise whole folds are
left out. A label that is alone in its component of the graph, or in its class, is
counted and not judged. --proba judges the labels by the probabilities of another
program, whose model must not have known them.

A model of auto, harmonic, lgc, tikhonov, poisson, eigenmap or knn keeps its points and
labels. For other models give the points with -X and the labels with -y. Points and labels
without a model are judged by --model with its defaults. The default, harmonic, asks the
neighbours in the graph; it suits sets where most points have a label.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.suspects(cmd.Context(), args, &o) },
	}

	f := cmd.Flags()
	f.StringVar(&o.model, "model", "harmonic",
		"`name` of the model that judges points and labels given without one")
	o.Flags(a.App, f)
	f.IntVar(&o.folds, "folds", 0, "folds of labels to leave out anew (default: the answers of the fit; without "+
		"them one label at a time where there are formulas, else 10)")
	f.StringVar(&o.proba, "proba", "", probaHelp)
	f.IntVarP(&o.most, "count", "n", 0, "largest number of labels to list (default: all)")
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

	if err := shell.CheckAnswers(o.Source.X.Inputs(path, o.Y, o.Source.File, o.proba), []string{o.out}); err != nil {
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
	alone := strings.EqualFold(filepath.Ext(o.out), ".npy")
	ids, err := a.IDsOf(p.Targets.Len)
	if err != nil {
		return err
	}
	if p.Targets.Classes == nil {
		return errors.Join(short, a.outliers(ctx, path, o, p, ids, alone))
	}
	s, err := a.judge(ctx, o, p)
	if !models.Usable(err) {
		return err
	}

	// The summary counts all suspects, also when the list is cut to --count.
	short = errors.Join(short, err)
	sum := suspectSummary{Labeled: s.Labeled, Suspects: len(s.List), Unknown: s.Unknown, Wrong: s.Wrong,
		Folds: s.Folds, ByFit: s.ByFit, proba: o.proba}
	if o.most > 0 && len(s.List) > o.most {
		s.List = s.List[:o.most]
	}
	rows := labeling.RowsOf(p.Model, p.Targets.Len)
	answers := labeling.SuspectAnswers(p.Targets, s.List, ids, alone, rows)
	if err := a.writeSuspects(ctx, o, p, &answers); err != nil {
		return err
	}
	sum.list(p.Targets, s.List, rows, ids)
	return errors.Join(short, a.Print(sum, fmt.Sprintf("%s: %s", o.out, sum)))
}

// judge finds suspects among labels of classes: by the probabilities in a file, by the answers that the
// fit held out, or by fits without the labels.
func (a *app) judge(ctx context.Context, o *suspectOptions, p *shell.LabeledPoints) (*active.Suspects, error) {
	if o.proba != "" {
		all, err := a.readProba(o.proba, p.Targets)
		if err != nil {
			return nil, err
		}
		return labeling.SuspectsOfProbabilities(p.Targets, all), nil
	}
	// Labels in a file need not be those of the fit.
	if p.Model != nil && o.Y == "" && o.folds == 0 {
		if s := labeling.SuspectsOfFit(p.Model, p.Targets); s != nil {
			return s, nil
		}
	}
	s, err := labeling.Planner{Pipeline: a.Pipeline()}.Suspects(ctx, p.Learner, &p.Input, nil, o.folds)
	if !models.Usable(err) {
		return nil, a.FlagFaults(p.Learner.Info().Name, err)
	}
	return s, err
}

// writeSuspects writes a list.
func (a *app) writeSuspects(ctx context.Context, o *suspectOptions, p *shell.LabeledPoints,
	answers *pipeline.Answers) error {
	answers.Hashes = p.Hashes
	answers.Files = a.Files
	if p.Learner != nil {
		answers.Settings.Learner = p.Learner.Info().Name
	}
	answers.CSVSafe = a.CSVSafe
	return a.Write(ctx, func() error { return answers.Write(o.out) })
}

// outliers lists values that are far from the answers for them.
func (a *app) outliers(ctx context.Context, path string, o *suspectOptions, p *shell.LabeledPoints,
	ids *data.IDs, alone bool) error {
	if o.proba != "" || o.folds > 0 || o.Y != "" {
		return shell.Usagef("%s answers with %s, which are judged by the values that the fit held out; leave "+
			"--proba, --folds and -y out", path, p.Model.Output().Kind)
	}
	list, ok := labeling.OutliersOfFit(p.Model, p.Targets)
	if !ok {
		return shell.Usagef("%s has no answers for values held out; fit it with --calibrate 10", path)
	}

	sum := outlierSummary{Labeled: len(p.Targets.Labeled), Suspects: len(list)}
	if o.most > 0 && len(list) > o.most {
		list = list[:o.most]
	}
	answers := labeling.OutlierAnswers(p.Targets, list, ids, alone)
	if err := a.writeSuspects(ctx, o, p, &answers); err != nil {
		return err
	}
	return a.Print(sum, fmt.Sprintf("%s: %s", o.out, sum))
}

// outlierSummary is the output of suspects for values.
type outlierSummary struct {
	Labeled  int `json:"labeled"`
	Suspects int `json:"suspects"`
}

func (s outlierSummary) String() string {
	return fmt.Sprintf("%d of %d values, held out by the fit, are %d spreads or more from the answers for them",
		s.Suspects, s.Labeled, active.FarResidual)
}

// takeSuspects takes the arguments. It returns the name of the model file, or "" if points and
// labels were given in place of a model.
func (a *app) takeSuspects(args []string, o *suspectOptions) (string, error) {
	// One argument with -X or -y may be a model or a file of points: its contents decide.
	model := len(args) == 1 && len(o.Source.X) == 0 && o.Y == "" && o.proba == ""
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
	if o.proba != "" {
		if len(args) == 1 && o.Y == "" {
			o.Y = args[0]
			args = nil
		}
		if o.Y == "" || len(args) > 0 || len(o.Source.X) > 0 || o.Source.File != "" || a.Given["model"] {
			return "", shell.Usagef("--proba judges the labels of a model, or of one file of labels, by itself")
		}
		return "", nil
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
	if o.proba != "" {
		p := &shell.LabeledPoints{Hashes: pipeline.Hashes{}}
		n := data.Rows(o.proba)
		if n == 0 { // only reading tells
			all, err := data.ReadValues(o.proba, data.ReadOptions{Limit: a.Left()})
			if err != nil {
				return nil, err
			}
			n, _ = all.Dims()
		}
		var err error
		p.Targets, err = a.labelsOf(o, n)
		return p, err
	}
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

	if p.Targets, err = a.labelsOf(o, p.Rows()); err != nil {
		return nil, err
	}
	return p, short
}

// labelsOf reads the labels of n points.
func (a *app) labelsOf(o *suspectOptions, n int) (*models.Targets, error) {
	y, err := o.Label.ReadTruth(a.App, o.Y, n)
	if err != nil {
		return nil, err
	}
	if y.Len() != n {
		return nil, fmt.Errorf("%s has %d labels for %d points", o.Y, y.Len(), n)
	}
	t, err := models.ClassTargets(y)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Y, err)
	}
	return t, nil
}

// suspectSummary is the output of suspects.
type suspectSummary struct {
	Labeled  int           `json:"labeled"`
	Suspects int           `json:"suspects"`
	Unknown  int           `json:"unknown"` // alone in their components or classes
	Wrong    int           `json:"wrong"`   // estimated
	Folds    int           `json:"folds"`   // 0: one label at a time
	ByFit    bool          `json:"by_fit"`  // the fit held the labels out
	List     []suspectText `json:"list"`
	proba    string        // file that judges
}

// suspectText is a suspect as it is printed.
type suspectText struct {
	ID        string  `json:"id,omitempty"`
	Row       int     `json:"row"`
	Label     string  `json:"label"`
	Suggested string  `json:"suggested"`
	Score     float64 `json:"score"`
}

// list takes the suspects over; rows are their rows in the fit, and ids the names of the points, nil where they
// have none.
func (s *suspectSummary) list(t *models.Targets, list []active.Suspect, rows []int32, ids *data.IDs) {
	for _, v := range list {
		text := suspectText{Row: v.Point, Label: data.ClassName(t.Classes, t.Names, v.Given),
			Suggested: data.ClassName(t.Classes, t.Names, v.Suggested), Score: v.Score}
		if rows != nil {
			text.Row = int(rows[v.Point])
		}
		if ids != nil {
			text.ID = ids.Values[v.Point]
		}
		s.List = append(s.List, text)
	}
}

func (s suspectSummary) String() string {
	how := "left out one by one"
	if s.Folds > 0 {
		how = fmt.Sprintf("left out in %d folds", s.Folds)
	}
	if s.ByFit {
		how += " by the fit"
	}
	others := "the others"
	if s.proba != "" {
		how = "by their probabilities"
		others = s.proba
	}
	text := fmt.Sprintf("%d of %d labels, %s, disagree with %s; about %d are wrong", s.Suspects, s.Labeled, how,
		others, s.Wrong)
	if s.Unknown > 0 {
		text += fmt.Sprintf("; %d are alone in their components or classes and not judged", s.Unknown)
	}
	// Ten rows give an impression on the terminal; the file has them all.
	const rows = 10
	for q, v := range s.List {
		if q == rows {
			text += fmt.Sprintf("\n… and %d more", len(s.List)-rows)
			break
		}
		head, name := "row", strconv.Itoa(v.Row)
		if v.ID != "" {
			head, name = "id", v.ID
		}
		if q == 0 {
			text += fmt.Sprintf("\n%16s  %12s  %12s  %6s", head, "label", "suggested", "score")
		}
		text += fmt.Sprintf("\n%16s  %12s  %12s  %6.3f", onTerminal(name), onTerminal(v.Label), onTerminal(v.Suggested), v.Score)
	}

	return text
}

// onTerminal returns a text of a user in at most 24 characters that move no cursor.
func onTerminal(text string) string {
	const most = 24
	var out []rune
	for _, r := range text {
		if len(out) == most {
			return string(out[:most-1]) + "…"
		}
		if !unicode.IsPrint(r) {
			r = unicode.ReplacementChar
		}
		out = append(out, r)
	}
	return string(out)
}
