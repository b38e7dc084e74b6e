package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/pipeline"
)

// evalOptions are the flags of bigfit eval.
type evalOptions struct {
	y, predictions, scores string
	proba, diagram         string // probabilities, and the reliability diagram to draw
	interval               string
	positive               string
	columns                []string
	regression, multilabel bool
	label                  shell.LabelOptions
}

func (a *app) evalCommand() *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval truth.npy pred.npy",
		Short: "Measure predictions against the truth",
		Long: `Compare predictions with the truth. Print the error, the precision, recall and F1 of
every class, their means over the classes (macro) and over the points (micro), and the
confusion matrix. The truth is the first argument, or -y; the predictions are the second,
or --predictions. Points without a true label are left out. Classes with names are
compared by name, and rows of tables are matched by their ids.

With --scores, as predict writes them, PRBEP (the precision where it equals
recall) and AUC (area under the ROC curve) of every class against all others are
added. Of equal scores each counts for its share.

With --proba, as predict writes them, the log loss, the Brier score, the expected
calibration error in 15 bins and the error among the points above a probability are
added; --reliability draws the share of right answers over their probability.

Predictions in a file of floats are values of a regression: RMSE, mean absolute
error and R² are printed, and with --interval the share of true values in the
intervals of predict --interval. --regression takes integers and text
as values too, and --regression=false takes floats as classes.

A truth of two and more columns of 1 and 0 or -1, or svmlight with lists of labels
("1,5,7"), means points with several labels: --multilabel. Predictions are then
scores, a column a label, as predict writes them for vvmr. Printed are the mean AUC and
the AUC of every label, ranking loss, Hamming loss and F1. Positive scores count as labels
for the last three. Entries of the truth that are NaN are left out.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.take(a, args); err != nil {
				return err
			}
			if err := data.SameRows(o.predictions, o.y); err != nil {
				return fmt.Errorf("%w; they must be of the same points", err)
			}
			if err := o.checkProbabilities(); err != nil {
				return err
			}

			// The files tell which measures apply, unless a flag says it.
			set := cmd.Flags().Changed
			if !set("regression") && !set("multilabel") {
				opt, err := o.joined(a)
				if err != nil {
					return err
				}
				o.multilabel = pipeline.HoldsMultiLabels(o.y, opt)
			}
			if o.multilabel {
				return o.multiLabels(a)
			}

			if !set("regression") {
				float, err := holdsFloats(o.predictions, int64(a.Memory))
				if err != nil {
					return err
				}
				o.regression = float
			}

			if o.regression {
				return o.values(a)
			}
			return o.classes(cmd.Context(), a)
		},
	}

	f := cmd.Flags()
	f.StringVarP(&o.y, "labels-file", "y", "", "`file` of the true labels or values")
	f.StringVar(&o.predictions, "predictions", "", "`file` of the predicted classes or values")
	f.StringVar(&o.scores, "scores", "",
		"`file` of scores: a column a class, or one column for the positive class")
	f.StringVar(&o.proba, "proba", "", "`file` of probabilities: a column a class")
	f.StringVar(&o.diagram, "reliability", "",
		"draw a reliability diagram of --proba into this `file`: .svg, .png or .pdf")
	f.StringVar(&o.interval, "interval", "",
		"`file` with the bounds of intervals, columns or arrays low and high")
	f.StringVar(&o.positive, "positive", "",
		"`class` with a line of its own, and of a single column of scores (default: the larger of two)")
	f.StringSliceVar(&o.columns, "columns", nil, "`classes` or labels of the columns of scores "+
		"(default: all in the truth and the predictions, ascending)")
	f.BoolVar(&o.regression, "regression", false,
		"the predictions are values, not classes (default: if their file holds floats)")
	f.BoolVar(&o.multilabel, "multilabel", false,
		"points may have several labels, and the predictions are scores (default: by the truth)")
	o.label.Flags(f)
	return cmd
}

// take takes the arguments: what -y and --predictions do not give, the truth first.
func (o *evalOptions) take(a *app, args []string) error {
	given := len(args) > 0
	byOrder := len(args) == 2
	if o.y == "" && len(args) > 0 {
		o.y = args[0]
		args = args[1:]
	}

	if o.predictions == "" && len(args) > 0 {
		o.predictions = args[0]
		args = args[1:]
	}

	// Whatever is left now has no role.
	switch {
	case len(args) > 0:
		return shell.Usagef("eval takes the true labels and the predictions; %s is neither", args[0])
	case o.y == "" || o.predictions == "":
		return shell.Usagef("eval needs the true labels (-y) and --predictions")
	}
	if err := shell.CheckInputs(o.y, o.predictions, o.scores, o.proba); err != nil {
		return err
	}
	if byOrder && isAnswers(o.y, a.Left()) && !isAnswers(o.predictions, a.Left()) {
		return shell.Usagef("%s has the columns that bigfit predict writes, and %s has not: the truth comes first, as in "+
			"bigfit eval %s %s; or say which is which with -y and --predictions", o.y, o.predictions, o.predictions, o.y)
	}
	if given {
		a.Note("truth: %s; predictions: %s", o.y, o.predictions)
	}

	return nil
}

// isAnswers tells whether a file is a table with the columns of answers for classes that have probabilities.
func isAnswers(path string, limit int64) bool {
	if !table.IsTable(path) {
		return false
	}
	t, err := table.Open(path, table.Options{Limit: limit})
	if err != nil {
		return false // its reader words the fault
	}
	defer t.Close()
	for _, name := range []string{"label", "p", "margin"} {
		if !slices.ContainsFunc(t.Columns(), func(c table.Column) bool { return c.Name == name }) {
			return false
		}
	}
	return true
}

// holdsFloats tells whether a file holds an array of floats, or of text and tables numbers that are not whole.
func holdsFloats(path string, limit int64) (bool, error) {
	info, err := data.Inspect(path, data.ReadOptions{Limit: limit})
	if err != nil {
		return false, nil // a table with names, say; its reader words the fault
	}
	if info.Format != data.FormatNPY && info.Format != data.FormatNPZ {
		return holdsFractions(path, limit)
	}
	// The path may name an array of the archive after a colon.
	key := strings.TrimPrefix(strings.TrimPrefix(path, info.Path), ":")
	x := info.Array(key, "y") // the reader says that there is no such array
	return x != nil && strings.HasPrefix(x.DType, "float"), nil
}

// holdsFractions reports whether a table or text holds numbers some of which are not whole: in one column, or in several under
// the names that predict gives to values.
func holdsFractions(path string, limit int64) (bool, error) {
	ids, err := data.TableIDs(path, limit)
	if err != nil {
		return false, err
	}
	opt := data.ReadOptions{Limit: limit, IDs: ids, Several: true, File: &data.LabelFile{}}
	if ids != nil {
		opt.Points = ids.Len()
	}
	values, err := data.ReadValues(path, opt)
	if err != nil {
		return false, nil // names; their reader words the fault
	}
	isValue := func(name string) bool { return strings.HasPrefix(name, pipeline.ValuePrefix) }
	if opt.File.Columns != nil && !slices.ContainsFunc(opt.File.Columns, isValue) {
		return false, nil
	}
	return slices.ContainsFunc(values.RawMatrix().Data, func(v float64) bool { return v != math.Trunc(v) && !math.IsNaN(v) }), nil
}

type evalSummary struct {
	*metrics.Report
	Probabilities *metrics.ProbabilityReport `json:"probabilities,omitempty"`
	Unsure        int                        `json:"unsure,omitempty"` // points without an answer
	LeftOut       int                        `json:"left_out"`         // points without a true label
}

// String is the report as text.
func (s evalSummary) String() string {
	text := s.Report.String()
	if s.Probabilities != nil {
		text += "\n" + s.Probabilities.String()
	}
	if s.Unsure > 0 {
		text += fmt.Sprintf("\n%d of %d points are answered with %q and left out; coverage %.2f %%\n",
			s.Unsure, s.Unsure+s.Points, pipeline.Unsure, 100*float64(s.Points)/float64(s.Unsure+s.Points))
	}
	return text + leftOut(s.LeftOut)
}

type evalValuesSummary struct {
	*metrics.ValueReport
	Intervals *metrics.IntervalReport `json:"intervals,omitempty"`
	LeftOut   int                     `json:"left_out"`
}

type evalLabelsSummary struct {
	*metrics.MultiLabelReport
	LeftOut int `json:"left_out"`
}

// leftOut is a line on the points that were not measured on.
func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n%d points without a true value are left out\n", n)
}

// classes measures predicted classes.
func (o *evalOptions) classes(ctx context.Context, a *app) error {
	var err error
	if a.Points.Names, err = data.TableIDs(o.predictions, a.Left()); err != nil {
		return err
	}
	// Predictions have no unlabeled marks of their own: −1 would be a predicted class.
	predicted, err := (&shell.LabelOptions{Unlabeled: []string{"none"}}).Read(a.App, o.predictions, 0)
	if err != nil {
		return o.hint(a, err, o.predictions)
	}
	truth, err := o.label.ReadTruth(a.App, o.y, predicted.Len())
	if err != nil {
		return o.hint(a, err, o.y)
	}
	if truth.Len() != predicted.Len() {
		return fmt.Errorf("%s has %d labels, %s has %d predictions; they must be of the same points", o.y,
			truth.Len(), o.predictions, predicted.Len())
	}

	// Points answered "unsure" count in the coverage and not in the error.
	predicted, open := unsure(truth, predicted)
	if err := o.minusOne(truth, predicted); err != nil {
		return err
	}
	// Both files number their classes by themselves; from here on one numbering holds.
	truth, predicted = data.Align(truth, predicted)
	rows := truth.Labeled()
	if len(rows) == 0 {
		return fmt.Errorf("%s: no point has a label; at least one is needed to measure on", o.y)
	}

	// A missing prediction would be left out of every measure and make the error look smaller.
	for _, i := range rows {
		if predicted.Index[i] == data.Unlabeled && (open == nil || !open[i]) {
			return fmt.Errorf("%s: row %d has no class, but the point has a true label; predict all "+
				"points, or mark it as unlabeled in %s", o.predictions, i, o.y)
		}
	}

	rest := truth.Len() - len(rows)
	sum := evalSummary{LeftOut: rest}
	if o.proba != "" { // of all points, the unsure ones too
		t := shell.Values(truth.Select(rows).Index, truth.Classes)
		if sum.Probabilities, err = o.probabilities(a, rows, t, knownClasses(truth, predicted),
			truth); err != nil {
			return err
		}
	}

	// All measures below are of the classes that were decided.
	if rows, sum.Unsure = answered(rows, open); len(rows) == 0 {
		return fmt.Errorf("%s: all points are answered with %q; at least one class is needed to measure on",
			o.predictions, pipeline.Unsure)
	}
	t := shell.Values(truth.Select(rows).Index, truth.Classes)
	r, err := metrics.NewReport(t, shell.Values(predicted.Select(rows).Index, predicted.Classes))
	if err != nil {
		return err
	}
	if truth.Names != nil {
		r.SetNames(truth.Names)
	}
	positive, err := o.positiveClass(r, truth)
	if err != nil {
		return err
	}

	if o.scores != "" {
		scores, err := o.readScores(a, o.scores, rows, truth.Len())
		if err != nil {
			return err
		}
		columns, err := o.columnClasses(o.scores, scores, r.Confusion.Classes, positive, truth)
		if err != nil {
			return err
		}
		if err := r.AddScores(t, scores, columns); err != nil {
			return err
		}
	}

	if positive != nil {
		if err := r.SetPositive(*positive); err != nil {
			return err
		}
	}

	sum.Report = r
	if err := o.draw(ctx, a, sum.Probabilities); err != nil {
		return err
	}
	return a.Print(sum, sum.String())
}

// hint adds what to do to an error of reading classes, if the file holds numbers.
func (o *evalOptions) hint(a *app, err error, path string) error {
	if _, fault := data.ReadValues(path, data.ReadOptions{Limit: a.Left()}); fault != nil {
		return err
	}
	return fmt.Errorf("%w; if it holds values of a regression, give --regression", err)
}

// minusOne returns an error if −1 is a predicted class and, by default, no class
// of the truth.
func (o *evalOptions) minusOne(truth, predicted *data.Labels) error {
	if o.label.Unlabeled != nil || !slices.Contains(predicted.Classes, -1) ||
		!slices.Contains(truth.Read.Marks, "-1") {
		return nil
	}
	return shell.Usagef("-1 marks unlabeled points in %s but is a class in %s; give --unlabeled none "+
		"if it is a class in both, --unlabeled -1 if it is not", o.y, o.predictions)
}

// positiveClass returns the class that --positive names, nil without it.
func (o *evalOptions) positiveClass(r *metrics.Report, truth *data.Labels) (*int64, error) {
	if o.positive == "" {
		return nil, nil
	}
	v, err := pipeline.ClassesByName([]string{o.positive}, truth.Names, "class")
	if err != nil {
		return nil, shell.Usagef("--positive: %w", err)
	}
	if !slices.Contains(r.Confusion.Classes, v[0]) {
		return nil, shell.Usagef("--positive is %s, which is no class in %s or %s; the classes are %s",
			o.positive, o.y, o.predictions, pipeline.SomeClasses(r.Confusion.Classes, truth.Names))
	}
	return &v[0], nil
}

// readScores reads the scores of the points with the given numbers among n.
func (o *evalOptions) readScores(a *app, path string, rows []int, n int) (*mat.Dense, error) {
	all, err := data.ReadValues(path, data.ReadOptions{Limit: a.Left(), Points: n})
	if err != nil {
		return nil, err
	}
	return pipeline.KnownScores(all, rows, n, path, o.y)
}

// columnClasses returns the classes of the columns of scores.
func (o *evalOptions) columnClasses(path string, scores *mat.Dense, classes []int64, positive *int64,
	truth *data.Labels) ([]int64, error) {
	_, c := scores.Dims()
	given, err := pipeline.ClassesByName(o.columns, truth.Names, "class")
	if err != nil {
		return nil, shell.Usagef("--columns: %w", err)
	}

	// Without names the columns are the classes in ascending order. A single column is the score
	// of the positive class.
	switch {
	case len(given) == c:
		return given, nil
	case len(given) > 0:
		return nil, shell.Usagef("--columns names %d classes, %s has %d columns", len(o.columns), path, c)
	case c == 1 && positive != nil:
		return []int64{*positive}, nil
	case c == 1 && len(classes) <= 2:
		return classes[len(classes)-1:], nil
	case c == 1:
		return nil, shell.Usagef("%s has one column and there are %d classes, %s; name the one it is "+
			"for with --positive", path, len(classes), pipeline.SomeClasses(classes, truth.Names))
	case c != len(classes):
		return nil, shell.Usagef("%s has %d columns for %d classes, %s; name the classes of its "+
			"columns with --columns", path, c, len(classes), pipeline.SomeClasses(classes, truth.Names))
	}

	return classes, nil
}

// joined returns the options to read labels of the points that the predictions name.
func (o *evalOptions) joined(a *app) (data.ReadOptions, error) {
	ids, err := data.TableIDs(o.predictions, a.Left())
	opt := data.ReadOptions{Limit: a.Left(), IDs: ids}
	if ids != nil {
		opt.Points = ids.Len()
	}
	return opt, err
}

// twice returns a text that is there twice.
func twice(texts []string) (string, bool) {
	for i, text := range texts {
		if slices.Contains(texts[:i], text) {
			return text, true
		}
	}
	return "", false
}

// labelScores reads the scores of labels at the given rows. The columns of a table are those that predict names, and come in
// the order of the labels.
func (o *evalOptions) labelScores(a *app, opt data.ReadOptions, truth *data.MultiLabels, rows []int) (*mat.Dense, error) {
	n, labels := truth.Y.Dims()
	all, err := data.ReadMultiLabels(o.predictions, opt)
	if err != nil || all.Names == nil {
		// Whoever made the scores may have had the labels in another order.
		if truth.Names != nil && len(o.columns) == 0 {
			a.Warn(fmt.Sprintf("%s does not name its columns: they are taken as %s, ascending as predict writes them; --columns "+
				"names another order", o.predictions, pipeline.ListClasses(nil, truth.Names)))
		}
		return o.readScores(a, o.predictions, rows, n)
	}
	order := make([]string, labels)
	for j := range order {
		order[j] = "score_" + truth.Label(j)
		if !slices.Contains(all.Names, order[j]) {
			return nil, fmt.Errorf("%s has the label %s, but %s has no column %s; it has %s", o.y, truth.Label(j), o.predictions,
				order[j], pipeline.ListClasses(nil, all.Names))
		}
	}
	return pipeline.KnownScores(all.Ordered(order), rows, n, o.predictions, o.y)
}

// multiLabels measures scores of points that may have several labels.
func (o *evalOptions) multiLabels(a *app) error {
	switch {
	case o.regression:
		return shell.Usagef("--multilabel and --regression contradict each other; give one of them")
	case o.scores != "" || o.proba != "" || o.positive != "":
		return shell.Usagef("--scores, --proba and --positive are for one class a point; the scores " +
			"of several labels are the --predictions")
	case o.label.Unlabeled != nil:
		return shell.Usagef("--unlabeled is for one class a point; of several labels NaN marks what " +
			"is not known")
	}

	// Labels of svmlight are numbers that need not be 0, 1, …, and those of tables have names; --columns says which of them
	// the columns of scores stand for.
	opt, err := o.joined(a)
	if err != nil {
		return err
	}
	var order *pipeline.LabelOrder
	if len(o.columns) > 0 {
		order = &pipeline.LabelOrder{Labels: o.columns, Owner: "--columns"}
		if text, ok := twice(o.columns); ok {
			return shell.Usagef("--columns: the label %s is there twice; each must be another one", text)
		}
	}
	truth, err := pipeline.ReadMultiLabels(o.y, opt, order)
	if err != nil {
		return err
	}
	if _, err := multilabel.LabelTargets(truth.Y, nil); err != nil {
		return fmt.Errorf("%s: %w", o.y, err)
	}
	if order != nil && truth.Values == nil && truth.Names == nil {
		return shell.Usagef("--columns names labels, but %s numbers its columns; leave it out", o.y)
	}

	rows := pipeline.KnownRows(truth.Y)
	n, labels := truth.Y.Dims()
	scores, err := o.labelScores(a, opt, truth, rows)
	if err != nil {
		return err
	}

	if _, columns := scores.Dims(); columns != labels && (truth.Values != nil || truth.Names != nil) {
		return fmt.Errorf("%s has %d columns and %s has %d labels, %s; name the labels of the "+
			"columns with --columns", o.predictions, columns, o.y, labels,
			pipeline.ListClasses(truth.Values, truth.Names))
	} else if columns != labels {
		return fmt.Errorf("%s has %d columns and %s has %d; they must be of the same labels", o.y, labels,
			o.predictions, columns)
	}

	// Rows without any known entry say nothing of any label.
	known := mat.NewDense(len(rows), labels, nil)
	for p, i := range rows {
		known.SetRow(p, truth.Y.RawRowView(i))
	}
	r, err := metrics.NewMultiLabelReport(known, scores)
	if err != nil {
		return err
	}
	r.Labels, r.Names = truth.Values, truth.Names
	rest := n - len(rows)
	return a.Print(evalLabelsSummary{r, rest}, r.String()+leftOut(rest))
}

// values measures predicted values.
func (o *evalOptions) values(a *app) error {
	if o.scores != "" || o.proba != "" || o.positive != "" || len(o.columns) > 0 {
		return shell.Usagef("--scores, --proba, --positive and --columns are of classes, but these " +
			"are values of a regression; leave them out, or give --regression=false")
	}
	truth, predicted, names, ids, err := o.readValues(a)
	if err != nil {
		return err
	}
	r, rest, err := pipeline.CompareValues(truth, predicted, o.y, o.predictions)
	if err != nil {
		return err
	}
	r.Names = names
	intervals, err := o.intervals(a, truth, names, ids)
	if err != nil {
		return err
	}
	text := r.String()
	if intervals != nil {
		text += "\n" + intervals.String()
	}
	return a.Print(evalValuesSummary{r, intervals, rest}, text+leftOut(rest))
}

// readValues reads the true and the predicted values, and the names of several columns, nil if they have none. Rows of tables
// are matched by the ids of the predictions, which are nil if these have none. Without ids the truth is read first: its length
// is the number of points that row numbers of the predictions refer to.
func (o *evalOptions) readValues(a *app) (truth, predicted *mat.Dense, names []string, ids *data.IDs, err error) {
	if ids, err = data.TableIDs(o.predictions, a.Left()); err != nil {
		return nil, nil, nil, nil, err
	}
	opt := data.ReadOptions{Limit: a.Left(), IDs: ids, File: &data.LabelFile{}}
	if ids != nil {
		opt.Points = ids.Len()
	}
	var order *pipeline.LabelOrder
	if truth, names, err = pipeline.ReadValues(o.y, opt, nil); err != nil {
		return nil, nil, nil, nil, err
	}
	a.Notes(opt.File.Notes...)
	a.Warn(opt.File.Warnings...)
	if names != nil {
		order = &pipeline.LabelOrder{Labels: names, Owner: o.y}
	}

	opt.Points, _ = truth.Dims()
	opt.File = &data.LabelFile{}
	predicted, _, err = pipeline.ReadValues(o.predictions, opt, order)
	a.Warn(opt.File.Warnings...)
	return truth, predicted, names, ids, err
}
