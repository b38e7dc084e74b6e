// Command reproduce repeats the published experiments of bench/papers and the packages beside
// it, and prints their tables beside the papers' figures:
//
//	go run ./bench/reproduce --list
//	go run ./bench/reproduce moons --report moons.html
//	go run ./bench/reproduce all --report site/
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/bench/console"
	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/suggest"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/stage"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run executes the command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	return console.Run(args, stdout, stderr,
		func(c *console.Console) *cobra.Command { return (&app{c}).command() })
}

// app adds the methods of this command to the console.
type app struct{ *console.Console }

// command returns the command.
func (a *app) command() *cobra.Command {
	var o reproduceOptions
	var list bool
	names := append(named(), everything)
	cmd := &cobra.Command{
		Use:   "reproduce EXPERIMENT",
		Short: "Repeat the experiments of the papers beside their figures",
		Long:  reproduceHelp(),
		Args: func(cmd *cobra.Command, args []string) error {
			if list {
				return cobra.NoArgs(cmd, args)
			}
			return checkName(args, names)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case list:
				t := listTable()
				return a.Print(t, t.Markdown())
			case args[0] == everything:
				// One experiment: checkName has made sure that it exists.
				return a.reproduceAll(cmd.Context(), &o)
			case a.Given["only"]:
				return console.Usagef("--only is for reproduce %s", everything)
			}
			return a.reproduce(cmd.Context(), find(args[0]), &o)
		},
	}

	f := cmd.Flags()
	f.BoolVar(&list, "list", false, "list the experiments: paper, table or figure, files and time")
	f.StringVar(&o.Dir, "data", "", "`folder` of the data sets (default: $BIGFIT_DATA)")
	f.IntSliceVar(&o.Labels, "labels", nil, "only the rows with these numbers of labels")
	f.IntVar(&o.Splits, "splits", 20, "random draws of the labels")
	f.StringVar(&o.recipe, "recipe", "paper", "settings: paper, best")
	f.StringSliceVar(&o.baselines, "baselines", []string{"knn"},
		"baselines: knn, gnn (geodesic neighbours), none")
	f.StringSliceVar(&o.only, "only", nil,
		"the experiments of all, by name (default: those whose data are there)")
	f.StringVar(&o.report, "report", "",
		"`file` for the tables as a page with charts, .html; of all a folder")
	return cmd
}

// checkName returns an error unless there is one argument and it is one of names.
func checkName(args, names []string) error {
	last := len(names) - 1
	choice := strings.Join(names[:last], ", ") + " or " + names[last]
	if len(args) != 1 {
		return console.Usagef("one argument is needed, the experiment %s; %d are given", choice, len(args))
	}
	if !slices.Contains(names, args[0]) {
		return fmt.Errorf("unknown experiment %q; it is %s%s", args[0], choice,
			suggest.DidYouMean(args[0], names))
	}
	return nil
}

// everything is the argument that stands for all experiments.
const everything = "all"

// reproduceHelp returns the long help.
func reproduceHelp() string {
	return `Repeat a published experiment and print its table: the mean over the draws of the
labels ± the standard deviation, in percent, and the paper's figure in brackets.

` + helpList() + `
--list prints them with the files that they read and the time that they take.

all runs every experiment whose data are in --data, or those of --only. With
--report DIR it writes index.html, every table and figure with settings, times and a
verdict for each cell (reached, better, missed, other data, differs, fitted), and a
page, the records and the printed tables of each experiment beside it, as .html, .json
and .run.json; go run ./bench/docs -from DIR takes the tables into the pages of docs.
The index is written again after each.

--recipe paper is the paper's method; of mnist, newsgroups and phonemes it shows the
graph as written, weights one, and W = A + Aᵀ, in which an edge that both ends name
counts twice (bigfit graph --symmetry sum), each with its deviation from the paper. The
second is fitted to the paper's figures and not found in its text. --recipe best is one
recipe of ours for all numbers of labels, beside the paper's best figure of each row.
Rows of up to 100 labels have three times as many draws as --splits says.

propagation has two draws a split with 1 to 5 labels a class, and one every two
with 100 labels; webkb and webkb-labels have five draws a split; scene and rcv1 have 10, or as many as
--splits says. sssl has SSSL and LapRLS on 400 landmarks, and numbers of eigenfunctions
in tens. Figure 1 of scene is drawn from what --json prints, in scene.json, by

  bigfit plot scene.json --x gamma_i --by targets,gamma_o --value auc_mean --bars auc_std --log-x

--report writes the tables, charts where they are curves, the decision surfaces
of moons, times and settings as one HTML file.`
}

// reproduction holds the outcome of an experiment.
type reproduction struct {
	table *results.Table
	note  string // the last line, about the run itself
	// stages are the stages that the run went through, and seconds the time of the run.
	stages  []report.Timing
	seconds float64
	// figures makes the pictures of the report besides the figures of the table. It may be
	// nil.
	figures func(context.Context) ([]report.Block, error)
}

// reproduceOptions holds the flags of the command.
type reproduceOptions struct {
	papers.Options
	recipe    string
	baselines []string
	only      []string // the experiments to run with all
	report    string
}

// reproduce runs an experiment, prints its tables and writes its report. If a run returns
// results together with an error, such as cg.ErrNotConverged, reproduce prints the results
// before it returns the error.
func (a *app) reproduce(ctx context.Context, e *experiment, o *reproduceOptions) error {
	for _, flag := range e.fixed {
		if a.Given[flag] {
			what := "rows and methods"
			if slices.Contains(e.fixed, "splits") {
				what = "draws, rows and methods"
			}
			return console.Usagef("--%s is not for %s, whose %s are fixed; leave it out", flag, e.name, what)
		}
	}

	// All flags and the output are checked before any data are read: a run may take an hour.
	if err := o.check(a); err != nil {
		return err
	}
	if o.report != "" || a.Given["report"] {
		if !strings.EqualFold(filepath.Ext(o.report), ".html") {
			return console.Usagef("--report is %q; its name must end in .html", o.report)
		}
		if err := atomicfile.CheckWritable(o.report); err != nil {
			return console.Output(err)
		}
	}

	r, fault := a.carryOut(ctx, e, o)
	if r == nil {
		return fault
	}
	// Results are printed even where they did not converge, and the error follows.
	fault = errors.Join(fault, a.Print(r.table, r.text()))
	if o.report != "" {
		fault = errors.Join(fault, a.saveReproduction(ctx, e, o, r))
	}
	return fault
}

// check checks the flags and sets the fields of o.Options that follow from them.
func (o *reproduceOptions) check(a *app) error {
	if o.recipe != "paper" && o.recipe != "best" {
		return console.Usagef("unknown recipe %q; it is paper or best", o.recipe)
	}

	for _, b := range o.baselines {
		if !slices.Contains([]string{"knn", "gnn", "none"}, b) {
			return console.Usagef("unknown baseline %q; it is knn, gnn or none", b)
		}
	}

	if o.Splits < 1 {
		return console.Usagef("--splits is %d; it must be at least 1", o.Splits)
	}

	o.Best = o.recipe == "best"
	o.KNN = slices.Contains(o.baselines, "knn")
	o.GNN = slices.Contains(o.baselines, "gnn")
	o.Seed = a.Seed
	o.Limit = int64(a.Memory)
	return nil
}

// carryOut runs an experiment. It may return results together with an error.
func (a *app) carryOut(ctx context.Context, e *experiment, o *reproduceOptions) (*reproduction, error) {
	// The console keeps the stages of all experiments of reproduce all; a run owns those from here
	// on.
	before := len(a.Stages())
	start := time.Now()
	r, err := e.run(a, ctx, o.Options)
	if r == nil {
		return nil, err
	}

	r.stages = a.Stages()[before:]
	r.seconds = time.Since(start).Seconds()
	r.table.OtherData = e.other != ""
	return r, err
}

// text returns the text to print: the tables, the times of the stages and the note.
func (r *reproduction) text() string {
	text := r.table.Markdown() + "\n" + stageList(r.stages)
	if r.note != "" {
		text += "\n" + r.note
	}
	return text
}

// stageList lists the stages and their times.
func stageList(stages []report.Timing) string {
	var parts []string
	for _, t := range stages {
		parts = append(parts, fmt.Sprintf("%s %.1f s", t.Name, t.Seconds))
	}
	return strings.Join(parts, ", ")
}

// need announces the memory and the time of a stage.
func (a *app) need(name string, bytes int64, operations float64, remedy string) error {
	return a.Announce(name, stage.Cost{Bytes: bytes, Operations: operations, Remedy: remedy})
}

// note writes a line to stderr.
func (a *app) note(format string, args ...any) { a.Note(fmt.Sprintf(format, args...)) }
