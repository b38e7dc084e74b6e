package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
)

func (a *app) reproduceCommand() *cobra.Command {
	var o papers.Options
	var recipe string
	var baselines []string
	experiments := map[string]func(papers.Options) (*papers.Experiment, error){
		"mnist": papers.MNIST, "newsgroups": papers.Newsgroups, "phonemes": papers.Phonemes,
	}
	names := []string{"mnist", "newsgroups", "phonemes", "propagation", "webkb", "point-cloud", "usps", "isolet", "moons", "ssl-book", "sssl", "scene", "rcv1"}
	choice := strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
	cmd := &cobra.Command{
		Use:       "reproduce " + strings.Join(names, "|"),
		Short:     "Repeat the experiments of the papers beside their figures",
		ValidArgs: names,
		Long: `Repeat an experiment of Belkin & Niyogi (2004): mnist is Table 1, newsgroups is
Table 2, phonemes has the form of Table 3 on free data. The table gives the mean
error on the unlabeled points in percent ± the standard deviation over the draws,
and the paper's figure in brackets.

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
moons are sections 5.2, 5.3 and 5.1 of Belkin, Niyogi & Sindhwani (2006), and
ssl-book takes the sets of Chapelle, Schölkopf & Zien (2006).

sssl is tables 2 to 4 of Ji et al. (2012): regression on eigenfunctions beside
kernel ridge, SVR and LapRLS, with a made-up climate in place of the measured one.

scene and rcv1 are section 6 of Minh & Sindhwani (2011): points with several
labels, over a grid of γ_I and γ_O (10 draws, or as many as --splits says).`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := oneArgument("the experiment "+choice)(cmd, args); err != nil {
				return err
			}
			if !slices.Contains(names, args[0]) {
				return fmt.Errorf("unknown experiment %q; it is %s", args[0], choice)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if recipe != "paper" && recipe != "best" {
				return usagef("unknown recipe %q; it is paper or best", recipe)
			}
			for _, b := range baselines {
				if !slices.Contains([]string{"knn", "gnn", "none"}, b) {
					return usagef("unknown baseline %q; it is knn, gnn or none", b)
				}
			}
			if o.Splits < 1 {
				return usagef("--splits is %d; it must be at least 1", o.Splits)
			}
			o.Best, o.KNN, o.GNN = recipe == "best", slices.Contains(baselines, "knn"), slices.Contains(baselines, "gnn")
			o.Seed, o.Limit = a.seed, int64(a.memory)
			if machineExperiments[args[0]] != nil {
				return a.machines(cmd.Context(), args[0], o)
			}
			if multiLabelExperiments[args[0]] != nil {
				return a.multiLabel(cmd.Context(), args[0], o)
			}
			if args[0] == "propagation" {
				return a.propagation(cmd.Context(), o)
			}
			if args[0] == "webkb" {
				return a.webkb(cmd.Context(), o)
			}
			if args[0] == "sssl" {
				return a.sssl(cmd.Context(), o)
			}
			st := a.progress.Stage("data")
			e, err := experiments[args[0]](o)
			if err != nil {
				return err
			}
			n, d := e.X.Dims()
			if err := checkRows(o.Labels, e.Rows, n); err != nil {
				return err
			}
			st.Done(fmt.Sprintf("%s: %d points × %d", e.Name, n, d))
			if err := a.needExperiment(e); err != nil {
				return err
			}
			outcome, notConverged := e.Run(cmd.Context(), &observer{sink: a.progress})
			if outcome == nil {
				return notConverged
			}
			err = a.print(outcome.Results, papers.Markdown(outcome.Results)+"\n"+stageList(a)+"\n"+outcome.Eigs.String())
			return errors.Join(notConverged, err)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Dir, "data", "", "`folder` of the data sets (default: $BIGFIT_DATA)")
	f.IntSliceVar(&o.Labels, "labels", nil, "only the rows with these numbers of labels")
	f.IntVar(&o.Splits, "splits", 20, "random draws of the labels")
	f.StringVar(&recipe, "recipe", "paper", "settings: paper, best")
	f.StringSliceVar(&baselines, "baselines", []string{"knn"}, "baselines: knn, gnn (geodesic neighbours), none")
	return cmd
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
			return usagef("--labels %d: the table has no such row; its rows are %s", l, strings.Join(have, ", "))
		}
	}
	return nil
}

// needExperiment announces the memory of an experiment's stages.
func (a *app) needExperiment(e *papers.Experiment) error {
	if err := a.need("neighbours", knn.BruteBytes(e.X, 64), knn.BruteOperations(e.X), "use less data"); err != nil {
		return err
	}
	n, _ := e.X.Dims()
	return a.needEigenpairs(n, n*e.Graph.K*3/2, lanczos.Settings{K: e.Pairs}, "use less data")
}

// stageList lists the stages and their times.
func stageList(a *app) string {
	var parts []string
	for _, t := range a.progress.Stages() {
		parts = append(parts, fmt.Sprintf("%s %.1f s", t.Name, t.Seconds))
	}
	return strings.Join(parts, ", ")
}
