// Package reproduce holds the commands that run the experiments of bench/papers: demo
// and reproduce, with their reports.
package reproduce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/bench/results"
	"github.com/bigfit/bigfit/internal/report"
	"github.com/bigfit/bigfit/internal/shell"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
)

// Reproduce returns the command reproduce.
func Reproduce(s *shell.App) *cobra.Command {
	a := &app{s}
	var o reproduceOptions
	var names []string
	for _, e := range experiments {
		names = append(names, e.name)
	}
	choice := strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
	cmd := &cobra.Command{
		Use:       "reproduce EXPERIMENT",
		Short:     "Repeat the experiments of the papers beside their figures",
		ValidArgs: names,
		Long: `Repeat a published experiment and print its table: the mean over the draws of the
labels ± the standard deviation, in percent, and the paper's figure in brackets.

mnist, newsgroups and phonemes are of Belkin & Niyogi (2004): Table 1, Table 2,
and the form of Table 3 on free data, with the error on the unlabeled points.

--recipe paper is the paper's method; --recipe best is one recipe of ours for all
numbers of labels, beside the paper's best figure of each row.

propagation compares graph regularization on the graph of mnist: harmonic
functions, local and global consistency, and Poisson learning, with 1 and 5
labels a class (five draws a split) and with 100 labels (a draw every two).

webkb is Table 5 of Belkin, Niyogi & Sindhwani (2006) and three columns of
Sindhwani, Niyogi & Belkin (2005): course pages told from others by 12 labels,
with linear functions (five draws a split).

The others are of kernel machines, SVM and RLS beside LapSVM and LapRLS:
point-cloud is the table of Sindhwani, Niyogi & Belkin (2005), usps, isolet and
moons are sections 5.2, 5.3 and 5.1 of Belkin, Niyogi & Sindhwani (2006), usps and
moons with the normalized Laplacian of the paper and with D − W beside it, and
ssl-book takes the sets of Chapelle, Schölkopf & Zien (2006). landmarks is LapRLS
on all of MNIST by 4000 landmarks.

sssl is tables 2 to 4 of Ji et al. (2012): regression on eigenfunctions beside
kernel ridge, SVR and LapRLS, with a made-up climate in place of the measured one.

scene and rcv1 are section 6 of Minh & Sindhwani (2011): points with several
labels, over a grid of γ_I and γ_O (10 draws, or as many as --splits says). Figure 1
is drawn from what --json prints, in scene.json, by

  bigfit plot scene.json --x gamma_i --by targets,gamma_o --value auc_mean --bars auc_std --log-x

--report writes the tables, charts where they are curves, the decision surfaces
of moons, times and settings as one HTML file.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := shell.OneArgument("the experiment "+choice)(cmd, args); err != nil {
				return err
			}
			if !slices.Contains(names, args[0]) {
				return fmt.Errorf("unknown experiment %q; it is %s%s", args[0], choice, shell.DidYouMean(args[0], names))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			at := slices.Index(names, args[0])
			return a.reproduce(cmd.Context(), &experiments[at], &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Dir, "data", "", "`folder` of the data sets (default: $BIGFIT_DATA)")
	f.IntSliceVar(&o.Labels, "labels", nil, "only the rows with these numbers of labels")
	f.IntVar(&o.Splits, "splits", 20, "random draws of the labels")
	f.StringVar(&o.recipe, "recipe", "paper", "settings: paper, best")
	f.StringSliceVar(&o.baselines, "baselines", []string{"knn"}, "baselines: knn, gnn (geodesic neighbours), none")
	f.StringVar(&o.report, "report", "", "`file` for the tables as a page with charts, .html")
	return cmd
}

// experiment is one that can be reproduced.
type experiment struct {
	name  string
	fixed []string // flags that it does not have
	run   func(*app, context.Context, string, papers.Options) (*reproduction, error)
}

var (
	fixedRows = []string{"labels", "recipe", "baselines"}
	fixedAll  = []string{"labels", "splits", "recipe", "baselines"}
)

var experiments = []experiment{
	{"mnist", nil, (*app).eigenmaps},
	{"newsgroups", nil, (*app).eigenmaps},
	{"phonemes", nil, (*app).eigenmaps},
	{"propagation", fixedRows, (*app).propagation},
	{"webkb", fixedRows, (*app).webkb},
	{"point-cloud", fixedAll, (*app).machines},
	{"usps", fixedAll, (*app).machines},
	{"isolet", fixedAll, (*app).machines},
	{"moons", fixedAll, (*app).machines},
	{"ssl-book", fixedAll, (*app).machines},
	{"landmarks", fixedAll, (*app).machines},
	{"sssl", fixedAll, (*app).sssl},
	{"scene", fixedRows, (*app).multiLabel},
	{"rcv1", fixedRows, (*app).multiLabel},
}

// reproduction holds the outcome of an experiment.
type reproduction struct {
	table *results.Table
	note  string // the last line, about the run itself
	// figures makes what the report shows besides the figures of the table; nil makes
	// nothing.
	figures func(context.Context) ([]report.Block, error)
}

type reproduceOptions struct {
	papers.Options
	recipe    string
	baselines []string
	report    string
}

// reproduce runs an experiment, prints its tables and writes its report. Results
// that came with an error, such as cg.ErrNotConverged, are printed before it is
// returned.
func (a *app) reproduce(ctx context.Context, e *experiment, o *reproduceOptions) error {
	for _, flag := range e.fixed {
		if a.Given[flag] {
			what := "rows and methods"
			if slices.Contains(e.fixed, "splits") {
				what = "draws, rows and methods"
			}
			return shell.Usagef("--%s is not for %s, whose %s are fixed; leave it out", flag, e.name, what)
		}
	}
	if o.recipe != "paper" && o.recipe != "best" {
		return shell.Usagef("unknown recipe %q; it is paper or best", o.recipe)
	}
	for _, b := range o.baselines {
		if !slices.Contains([]string{"knn", "gnn", "none"}, b) {
			return shell.Usagef("unknown baseline %q; it is knn, gnn or none", b)
		}
	}
	if o.Splits < 1 {
		return shell.Usagef("--splits is %d; it must be at least 1", o.Splits)
	}
	if err := a.CheckReport(o.report); err != nil {
		return err
	}
	if err := shell.CheckOutput(nil, o.report); err != nil {
		return err
	}
	o.Best, o.KNN, o.GNN = o.recipe == "best", slices.Contains(o.baselines, "knn"), slices.Contains(o.baselines, "gnn")
	o.Seed, o.Limit = a.Seed, int64(a.Memory)
	r, fault := e.run(a, ctx, e.name, o.Options)
	if r == nil {
		return fault
	}
	text := r.table.Markdown() + "\n" + stageList(a)
	if r.note != "" {
		text += "\n" + r.note
	}
	fault = errors.Join(fault, a.Print(r.table, text))
	if o.report != "" {
		fault = errors.Join(fault, a.saveReproduction(ctx, e, o, r))
	}
	return fault
}

// eigenmaps runs an experiment of Belkin & Niyogi (2004).
func (a *app) eigenmaps(ctx context.Context, name string, o papers.Options) (*reproduction, error) {
	st := a.Progress.Stage("data")
	e, err := map[string]func(papers.Options) (*papers.Experiment, error){
		"mnist": papers.MNIST, "newsgroups": papers.Newsgroups, "phonemes": papers.Phonemes,
	}[name](o)
	if err != nil {
		return nil, err
	}
	n, d := e.X.Dims()
	if err := checkRows(o.Labels, e.Rows, n); err != nil {
		return nil, err
	}
	st.Done(fmt.Sprintf("%s: %d points × %d", e.Name, n, d))
	if err := a.needExperiment(e); err != nil {
		return nil, err
	}
	outcome, notConverged := e.Run(ctx, a.Observer())
	if outcome == nil {
		return nil, notConverged
	}
	return &reproduction{table: outcome.Table, note: outcome.Eigs.String()}, notConverged
}

// checkRows returns an error unless the table has a row for every number of
// labels, and n points are enough for the rows asked for, all if none are.
func checkRows(labels []int, rows []papers.Row, n int) error {
	var have []string
	for _, r := range rows {
		if (len(labels) == 0 || slices.Contains(labels, r.Labels)) && r.Labels > n {
			return fmt.Errorf("the row of %d labels needs more than the %d points there are; choose rows with --labels", r.Labels, n)
		}
		have = append(have, strconv.Itoa(r.Labels))
	}
	for _, l := range labels {
		if !slices.Contains(have, strconv.Itoa(l)) {
			return shell.Usagef("--labels %d: the table has no such row; its rows are %s", l, strings.Join(have, ", "))
		}
	}
	return nil
}

// needExperiment announces the memory of an experiment's stages.
func (a *app) needExperiment(e *papers.Experiment) error {
	if err := a.Need("neighbours", knn.BruteBytes(e.X, 64), knn.BruteOperations(e.X), "use less data"); err != nil {
		return err
	}
	n, _ := e.X.Dims()
	return a.Pipeline().AnnounceEigenpairs(n, n*e.Graph.K*3/2, lanczos.Settings{K: e.Pairs}, "use less data")
}

// stageList lists the stages and their times.
func stageList(a *app) string {
	var parts []string
	for _, t := range a.Progress.Stages() {
		parts = append(parts, fmt.Sprintf("%s %.1f s", t.Name, t.Seconds))
	}
	return strings.Join(parts, ", ")
}

// app has the methods of the commands; what they share is that of the shell.
type app struct{ *shell.App }
