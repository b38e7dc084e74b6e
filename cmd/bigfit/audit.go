package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/audit"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/findings"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

// auditOptions are the flags of bigfit audit.
type auditOptions struct {
	shell.TargetOptions
	x           shards.Names
	params      shell.ParamFlags
	votes       int
	out, report string
}

// noReport is the value of --report that leaves the page out.
const noReport = "none"

func (a *app) auditCommand() *cobra.Command {
	var o auditOptions
	cmd := &cobra.Command{
		Use:   "audit X… [y] -o audit.csv",
		Short: "Look for faults in points and labels before a fit",
		Long: `Check points X, and their labels or values y, for faults. Write a page to read and a
table to work with. Nothing is changed.

  duplicates   points that are equal or nearly equal, and equal points with different
               labels
  outliers     points that lie much farther from their neighbours than these neighbours
               lie from theirs
  labels       labels that are probably wrong, the number of wrong ones to expect, and
               the value of each label for the others (kNN-Shapley). Of values: those far
               from the values of their neighbours
  classes      the sizes of the classes, and pairs of classes that mingle
  columns      columns with one value, rows of zeros, missing values, columns of very
               different scales, ids that occur twice
  order        whether the rows stand in a random order

X and y are read as by bigfit fit. One thing differs: NaN in dense points is counted, not
refused. A csv with empty cells is refused here too. The neighbours come from the graph
that fit --model auto makes.

The table has a row for each point: the id (if the points have ids), the row, issues (the
names of the faults found) and the numbers behind them. docs/audit.md has the formulas.
The page has the name of the table with the ending .html, or the name in --report.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Asked = cmd.Flags().Changed("regression")
			y := &o.Y
			if a.Points.Label != "" {
				y = nil // the labels are where the points are
			}
			if note := o.x.Take(args, y, false); note != "" {
				a.Note("%s", note)
			}
			if len(o.x) == 0 {
				return shell.Usagef("audit needs the points: bigfit audit X y")
			}
			return a.audit(cmd.Context(), &o)
		},
	}

	f := cmd.Flags()
	f.VarP(&o.x, "points", "X", shell.PointsHelp)
	f.StringVarP(&o.Y, "labels-file", "y", "",
		"`file` of the labels or values; of a table its columns as FILE:LABEL or FILE:ID,LABEL")
	a.Points.ColumnFlags(f)
	a.Points.LabelFlags(f)
	f.BoolVar(&o.Regression, "regression", false, "y holds values, not classes (default: if they are not all integers)")
	o.Label.Flags(f)
	o.params = shell.ParamFlags{}
	o.params.Add(f, auditParams(), false)
	f.IntVar(&o.votes, "votes", audit.DefaultVotes, "neighbours that vote in the value of a label")
	f.StringVarP(&o.out, "output", "o", "audit.csv", "table to write, a `file` "+enum.Or(table.Several))
	f.StringVar(&o.report, "report", "", "page to write, an .html `file`, or none (default: beside the table)")
	a.Points.ShowFlag(f)
	return cmd
}

// auditParams are the parameters of the graph, with the defaults of auto.
func auditParams() []models.Param {
	info := all.Learner("auto").Info()
	return slices.DeleteFunc(pipeline.GraphParamsOf(&info), func(p models.Param) bool {
		return p.Name == "radius" || p.Name == "class-weights" || p.Name == "class-graphs"
	})
}

// check refuses what can be known to be wrong before anything is read, and fills in the name of the page.
func (o *auditOptions) check(a *app) error {
	if o.votes < 1 {
		return shell.Usagef("--votes is %d; it must be at least 1", o.votes)
	}
	if o.Y != "" && a.Points.Label != "" {
		return shell.Usagef("--label %s and -y %s both give the labels; give one of them", a.Points.Label, o.Y)
	}
	switch o.report {
	case "":
		o.report = strings.TrimSuffix(o.out, filepath.Ext(o.out)) + ".html"
	case noReport:
		if a.Given["show"] {
			return shell.Usagef("--show is for the page, and --report none leaves it out")
		}
		o.report = ""
	}
	if o.report != "" && !strings.EqualFold(filepath.Ext(o.report), ".html") {
		return shell.Usagef("--report is %q; its name must end in .html", o.report)
	}
	switch strings.ToLower(filepath.Ext(o.out)) {
	case ".npy":
		return shell.Usagef("-o %s: a .npy file holds one array; give .npz or a table", o.out)
	case ".html":
		return shell.Usagef("-o %s: -o is the table, .csv, .jsonl, .parquet or .npz; --report names the page, which "+
			"stands beside the table by default", o.out)
	}
	inputs := o.x.Inputs(o.Y)
	return errors.Join(shell.CheckAnswers(inputs, []string{o.out}), shell.CheckOutput(inputs, o.out, o.report))
}

func (a *app) audit(ctx context.Context, o *auditOptions) error {
	if err := o.check(a); err != nil {
		return err
	}
	a.Points.Repeated = true
	x, err := a.ReadPoints(o.x, data.ReadOptions{AllowNaN: true})
	if err != nil {
		return err
	}
	n, d := x.Dims()
	y, err := a.auditTargets(o, n)
	if err != nil {
		return err
	}
	ids, err := a.IDsOf(n)
	if err != nil {
		return err
	}
	shown, err := a.Points.ReadShown(a.App, n)
	if err != nil {
		return err
	}
	graph, err := pipeline.AutoGraph(x, o.params.Values(pipeline.GraphParams.Params()))
	if err != nil {
		return a.FlagFaults("", err)
	}

	found, short := audit.Run(ctx, x, y, &audit.Settings{Pipeline: a.Pipeline(), Graph: graph, IDs: ids, Votes: o.votes})
	if !models.Usable(short) {
		return a.FlagFaults("", short)
	}
	page := &findings.Audit{Result: found, X: x, IDs: ids, Targets: y, Columns: a.Points.ColumnNames(d),
		Table: filepath.Base(o.out)}
	sum := summarize(found, y)
	if err := a.writeAudit(ctx, o, page, shown, sum, short); err != nil {
		return err
	}
	sum.Warnings = a.Warnings
	files := o.out
	if o.report != "" {
		files += ", " + o.report
	}
	return errors.Join(short, a.Print(sum, fmt.Sprintf("%s: %s", files, sum)))
}

// writeAudit writes the table and the page.
func (a *app) writeAudit(ctx context.Context, o *auditOptions, f *findings.Audit, shown *shell.Column, sum *auditSummary,
	short error) error {
	answers := f.Result.Table(f.Targets, f.IDs)
	answers.Hashes = shell.AnswerHashes(f.X, o.out)
	answers.Files = a.Files
	answers.CSVSafe = a.CSVSafe
	if o.report == "" {
		return a.Write(ctx, func() error { return answers.Write(o.out) })
	}

	if shown != nil {
		f.Shown = &findings.Shown{Name: shown.Name, Folder: shown.Folder, Texts: shown.Texts}
	}
	sections := f.Sections()
	if s := f.Shown; s != nil && s.Missing > 0 {
		a.Warn(fmt.Sprintf("%d of %d pictures of the report cannot be shown; the first is %s", s.Missing,
			s.Missing+s.Pictures, s.FirstMissing))
	}
	run := []report.Block{report.Paragraph(sum.String())}
	if short != nil {
		run = append(run, report.Paragraph("Warning: "+a.Reword(short.Error())))
	}
	for _, w := range a.Warnings {
		run = append(run, report.Paragraph("Warning: "+w))
	}
	settings := &report.KeyValues{Caption: "Settings", Pairs: []report.KeyValue{{Key: "seed", Value: strconv.FormatUint(a.Seed, 10)}}}
	for _, list := range []models.Values{models.Values(a.Files), pipeline.GraphParams.Encode(&f.Graph)} {
		for _, key := range slices.Sorted(maps.Keys(list)) {
			settings.Pairs = append(settings.Pairs, report.KeyValue{Key: key, Value: list[key]})
		}
	}
	settings.Pairs = append(settings.Pairs, report.MachineFacts()...)

	page := &report.Report{Title: "Audit of " + filepath.Base(o.x[0]),
		Subtitle: fmt.Sprintf("%d points of %d columns, seed %d, bigfit %s", f.Points, f.Dimension, a.Seed, shell.Version),
		Sections: append(sections, report.Section{Title: "How it was made",
			Blocks: slices.Concat(run, a.Timings(), []report.Block{settings})})}
	return a.Write(ctx, func() error {
		return errors.Join(answers.Write(o.out), report.Save(o.report, page))
	})
}

// auditTargets reads labels or values; nil if none are given.
func (a *app) auditTargets(o *auditOptions, n int) (*audit.Targets, error) {
	if o.Y == "" && a.Points.Label == "" {
		return nil, nil
	}
	// A file that holds no numbers is left to the reader of labels, which words the fault.
	how := &data.LabelFile{}
	numbers, notNumbers := a.ReadNumbers(o.Y, n, false, how)
	regression := o.Regression
	if !o.Asked {
		regression = notNumbers == nil && pipeline.HoldsFractions(numbers)
	}
	if !regression {
		y, err := o.Label.ReadTruth(a.App, o.Y, n)
		if err != nil {
			return nil, err
		}
		if y.Len() != n {
			return nil, fmt.Errorf("%s has %d labels for %d points", o.From(a.App), y.Len(), n)
		}
		return &audit.Targets{Labels: y}, nil
	}

	if notNumbers != nil {
		return nil, notNumbers
	}
	if o.Label.Unlabeled != nil {
		return nil, shell.Usagef("--unlabeled is for classes; in a regression NaN marks points without a value")
	}
	a.Notes(how.Notes...)
	a.Warn(how.Warnings...)
	if rows, _ := numbers.Dims(); rows != n {
		return nil, fmt.Errorf("%s has %d values for %d points", o.From(a.App), rows, n)
	}
	t, err := models.ValueTargets(numbers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.From(a.App), err)
	}
	a.Note("values: those of %d of %d points; the others are NaN or not listed", len(t.Labeled), n)
	return &audit.Targets{Values: numbers}, nil
}
