// Command campaigns compares the rules of bigfit next: it replays the labeling of points with
// known classes.
//
//	go run ./bench/campaigns model.npz y.npy -n 30 --to 200 --draws 5 --plot campaign.svg
//	go run ./bench/campaigns --sets usps-all,mnist --limit 2000 --at 10,20,50,100
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/bench/console"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run executes the command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	return console.Run(args, stdout, stderr,
		func(c *console.Console) *cobra.Command { return (&app{Console: c}).command() })
}

// app holds the flags of the command.
type app struct {
	*console.Console
	settings settings
	rules    []string
	points   string
	out      string
	plot     string
	first    firstSettings
}

// command returns the command.
func (a *app) command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "campaigns model.npz y.npy",
		Short: "Replay the labeling of points whose classes are all known",
		Long: `Compare the rules by which bigfit next chooses points. y.npy has the classes of all
points. A campaign starts with --start labels, and each --rule (default: all) asks for -n
more until there are --to; this is repeated --draws times from other labels. Rules see the
labels that were asked for only; the others measure the error.

The learner, its parameters and the graph are those of the model; with -X of the points
where the model does not keep them. The table goes to stdout and -o, a chart to --plot.

With --sets campaigns begin without a label, on sets of BIGFIT_DATA and the graph of auto.
A --strategy is a rule for the first labels and one for those after them. The table has
the error at the numbers of labels in --at, and the share of the classes that have one.
Forecasts of the error at a number are compared with the errors at all larger ones.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(a.first.sets) > 0 && len(args) == 0 {
				return nil
			}
			if len(args) != 2 || len(a.first.sets) > 0 {
				return console.Usagef("two files are needed, the model and the classes of all "+
					"points; %d are given", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				a.first.draws = a.settings.Draws
				return a.firsts(cmd.Context())
			}
			return a.campaign(cmd.Context(), args[0], args[1])
		},
	}
	f := cmd.Flags()
	s := &a.settings
	f.IntVarP(&s.Round.Count, "count", "n", 50, "points to choose in each round")
	f.StringSliceVar(&a.rules, "rule", nil, "`rules` to compare: combined, vopt, sopt, uncertainty, random, typical, cover")
	f.IntVar(&s.Start, "start", 10, "random labels at the start, 0 for one of each class")
	f.IntVar(&s.To, "to", 200, "labels at the end")
	f.IntVar(&s.Draws, "draws", 10, "repetitions from other labels")
	f.IntVar(&s.Round.Pairs, "pairs", labeling.DefaultFieldPairs,
		"eigenpairs that rules look at, beside the null vectors")
	f.Float64Var(&s.Round.Delta, "delta", 0.01, "δ of the variances (Λ + δI)⁻¹ along the eigenvectors")
	f.Float64Var(&s.Round.Noise, "noise", 1,
		"variance of a label, as a share of the mean variance before any")
	f.StringSliceVar(&a.first.sets, "sets", nil, "`sets` of BIGFIT_DATA to begin on without a label, as bench/sets names them")
	f.IntVar(&a.first.limit, "limit", 2000, "points of a set at most, drawn once; 0 is all")
	f.IntSliceVar(&a.first.at, "at", []int{10, 20, 50, 100}, "numbers of labels at which errors are measured")
	f.StringSliceVar(&a.first.strategies, "strategy", []string{"random", "combined", "typical/uncertainty"},
		"`strategies` to compare, each a rule or FIRST/THEN")
	f.StringVar(&a.first.learner, "learner", "auto", "`name` of the learner, with its defaults")
	f.StringVarP(&a.points, "points", "X", "",
		"`file` of the points; needed if the model does not keep its points")
	f.StringVar(&a.plot, "plot", "", "chart to write, a `file` .png, .svg or .pdf")
	f.StringVarP(&a.out, "output", "o", "", "`file` of the table to write, .csv, .jsonl, .parquet or .npz")
	return cmd
}

// check refuses wrong flags before anything is read.
func (a *app) check() error {
	s := &a.settings
	for _, name := range a.rules {
		var r active.Rule
		if err := r.UnmarshalText([]byte(name)); err != nil {
			return console.Usagef("--rule: %w", err)
		}
		if slices.Contains(s.Rules, r) {
			return console.Usagef("--rule names %s twice", name)
		}
		s.Rules = append(s.Rules, r)
	}
	// The negated comparison refuses NaN as well.
	for _, f := range []struct {
		name string
		v    float64
	}{
		{"count", float64(s.Round.Count)},
		{"pairs", float64(s.Round.Pairs)},
		{"draws", float64(s.Draws)},
		{"delta", s.Round.Delta},
		{"noise", s.Round.Noise},
	} {
		if !(f.v > 0) || math.IsInf(f.v, 1) {
			return console.Usagef("--%s is %v; it must be positive", f.name, f.v)
		}
	}
	return a.checkFiles()
}

// checkFiles refuses outputs with an unknown extension or in a folder that cannot be written.
func (a *app) checkFiles() error {
	tables := table.Extensions[1:] // all but .npy, which holds one column
	if ext := strings.ToLower(filepath.Ext(a.out)); a.out != "" && !slices.Contains(tables, ext) {
		return console.Usagef("--output is %s; its name must end in %s", a.out, strings.Join(tables, ", "))
	}
	if ext := strings.ToLower(filepath.Ext(a.plot)); a.plot != "" && !slices.Contains(chart.Formats, ext) {
		return console.Usagef("--plot is %s; its name must end in %s", a.plot,
			strings.Join(chart.Formats, ", "))
	}
	for _, path := range []string{a.out, a.plot} {
		if path == "" {
			continue
		}
		if err := atomicfile.CheckWritable(path); err != nil {
			return console.Output(err)
		}
	}
	return nil
}

// campaign reads the model and the classes, replays the campaign and writes its results.
func (a *app) campaign(ctx context.Context, path, oracle string) error {
	if err := a.check(); err != nil {
		return err
	}
	learner, in, err := a.read(path)
	if err != nil {
		return err
	}
	n := count(in)
	truth, err := data.ReadLabels(oracle, data.LabelOptions{Limit: int64(a.Memory), Points: n})
	if err != nil {
		return err
	}
	if truth.Len() != n {
		return fmt.Errorf("%s has %d labels for %d points in %s", oracle, truth.Len(), n, path)
	}
	a.Note(fmt.Sprintf("labels: %s", truth.Summary()))
	for _, text := range truth.Read.Warnings {
		a.Note("warning: " + text)
	}

	// The results are written and printed even if a fit did not converge; the error comes last.
	rows, short := replay(ctx, a.Pipeline(), learner, in, truth, &a.settings)
	if !models.Usable(short) {
		return short
	}
	name := learner.Info().Name
	if err := a.Write(ctx, func() error { return a.save(name, rows) }); err != nil {
		return err
	}
	s := summary{Model: name, Points: n, Draws: a.settings.Draws, Rows: rows}
	return errors.Join(short, a.Print(s, text(rows)))
}

// read reads a model, and returns its learner and the learner's input: the parameters, and
// the graph or the points.
func (a *app) read(path string) (models.Learner, *models.Input, error) {
	a.Begin("model")
	m, made, err := all.Load(path, int64(a.Memory))
	if err != nil {
		return nil, nil, err
	}
	learner := all.Learner(m.Name())
	if learner == nil {
		return nil, nil, fmt.Errorf("%s: a %s model learns no labels", path, m.Name())
	}
	encoded, err := models.Unnamed(m).Encode()
	if err != nil {
		return nil, nil, err
	}
	// The model keeps the parameters that it was fitted with, and where it can its graph and
	// points.
	in := &models.Input{Values: encoded.Values}
	g, kept, missing := pipeline.KeptGraph(m)
	if missing == nil {
		in.Graph = &g.Graph
	}
	info := learner.Info()
	if kept != nil && !info.Transductive() {
		in.Points = kept.Points
	}
	a.End(path + ": " + m.Name())

	if a.points == "" {
		if in.Graph == nil {
			return nil, nil, fmt.Errorf("%s: %w", path, missing)
		}
		return learner, in, nil
	}
	// The hashes in the model tell whether these are the points that it was fitted to.
	if in.Points, err = data.ReadPoints(a.points, data.ReadOptions{Limit: int64(a.Memory)}); err != nil {
		return nil, nil, err
	}
	return learner, in, pipeline.Hashes(made.Hashes).Agree(pipeline.HashPoints, data.HashPoints(in.Points),
		path, a.points)
}

// count returns the number of points of in. It counts the graph or the points, because the
// targets do not exist yet.
func count(in *models.Input) int {
	if in.Graph != nil {
		return in.Graph.Len()
	}
	n, _ := in.Points.Dims()
	return n
}

// save writes the table and the chart to the files that --output and --plot name.
func (a *app) save(learner string, rows []row) error {
	if a.out != "" {
		file := answers(learner, rows)
		if err := file.Write(a.out); err != nil {
			return err
		}
	}
	if a.plot == "" {
		return nil
	}
	picture, err := curves(learner, rows).Draw()
	if err != nil {
		return err
	}
	return atomicfile.Atomically(a.plot, func(w io.Writer) error {
		return picture.Write(w, strings.ToLower(filepath.Ext(a.plot)), 16, 16*picture.Aspect)
	})
}

// summary is the result of the command as JSON.
type summary struct {
	Model  string `json:"model"`
	Points int    `json:"points"`
	Draws  int    `json:"draws"`
	Rows   []row  `json:"rows"`
}
