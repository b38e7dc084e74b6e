package reproduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// demoLabels are the numbers of labels of the demo.
var demoLabels = []int{20, 50, 100, 500, 1000}

const (
	demoPairs  = 200
	demoSplits = 10
	demoMost   = 100_000_000
	// demoPictured is the number of labels whose predictions are shown.
	demoPictured = 100
	// demoMoons points of two moons with demoNoise show surfaces.
	demoMoons = 400
	demoNoise = 0.05
)

// Demo returns the command demo.
func Demo(s *shell.App) *cobra.Command {
	a := &app{s}
	var n int
	var dir string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run everything on digits drawn by the program itself",
		Long: `Draw handwritten-looking digits, build the graph of their nearest neighbours,
compute eigenvectors of its Laplacian, and label all digits from a few labels, by
eigenmaps and by nearest neighbours. Files and a report go to a run directory.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if most := demoLabels[len(demoLabels)-1]; n < 2*most {
				return shell.Usagef("-n is %d; the demo needs at least %d digits", n, 2*most)
			}
			if n > demoMost {
				return shell.Usagef("-n is %d; the demo draws at most %d digits", n, demoMost)
			}
			return a.demo(cmd.Context(), n, dir)
		},
	}

	cmd.Flags().IntVarP(&n, "points", "n", 10_000, "digits to draw")
	cmd.Flags().StringVarP(&dir, "output", "o", "bigfit-demo", "run `directory`")
	return cmd
}

// demoRun holds the parts of a demo for its files and its report.
type demoRun struct {
	digits   *data.Dense[uint8]
	e        *papers.Experiment
	outcome  *papers.Outcome
	settings demoSettings
	drawn    *data.Labels // the pictured draw
	labels   []int32      // predictions from it
	error    float64      // in percent
	moons    *report.Figure
}

type demoSettings struct {
	Points    int                    `json:"points"`
	Seed      uint64                 `json:"seed"`
	Graph     pipeline.GraphSettings `json:"graph"`
	Laplacian sparse.Kind            `json:"laplacian"`
	Pairs     int                    `json:"pairs"`
	Splits    int                    `json:"splits"`
	Version   string                 `json:"version"`
}

func (a *app) demo(ctx context.Context, n int, dir string) error {
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		// Fails where there is something in it.
		defer os.Remove(dir)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return shell.Output(err)
	}
	if err := shell.CheckOutput(nil, filepath.Join(dir, "report.html")); err != nil {
		return err
	}

	const side = synthetic.DigitSide
	if err := a.Need("digits", int64(n)*side*side, 0, "draw fewer with -n"); err != nil {
		return err
	}
	st := a.Progress.Stage("digits")
	digits, truth := synthetic.Digits(n, a.Seed)
	st.Done(fmt.Sprintf("%d digits of %d×%d pixels", n, side, side))
	run := &demoRun{digits: digits, settings: demoSettings{
		Points: n, Seed: a.Seed, Graph: pipeline.GraphSettings{PCA: papers.BestDimensions,
			Graph: papers.BestGraph}, Pairs: demoPairs, Splits: demoSplits, Version: shell.Version}}
	z, _, err := a.Pipeline().Project(ctx, digits, &run.settings.Graph)
	if err != nil {
		return err
	}

	run.e = &papers.Experiment{Name: "digits", X: z, Truth: truth, Graph: papers.BestGraph, Pairs: demoPairs,
		Rows: demoRows(), Splits: demoSplits, Seed: a.Seed, KNN: true}
	if err := a.needExperiment(run.e); err != nil {
		return err
	}
	var notConverged error
	if run.outcome, notConverged = run.e.Run(ctx, a.Observer()); run.outcome == nil {
		return notConverged
	}
	if err := run.predict(ctx, a.Seed); err != nil {
		return err
	}

	st = a.Progress.Stage("moons")
	x, y := synthetic.TwoMoons(demoMoons, demoNoise, a.Seed)
	fig, err := papers.NewMoonsFigure(ctx, x, y, sparse.Combinatorial, a.Seed)
	if err != nil {
		return err
	}
	if run.moons, err = moonsSurfaces(ctx, fig); err != nil {
		return err
	}

	st.Done(fmt.Sprintf("%d points, LapSVM for %d γ_I", demoMoons, len(fig.Machines)))
	err = a.Write(ctx, func() error {
		st := a.Progress.Stage("files")
		if err := run.save(dir, a); err != nil {
			return err
		}
		st.Done(dir)
		return shell.SaveReport(filepath.Join(dir, "report.html"), run.report(a))
	})
	if err != nil {
		return err
	}

	err = a.Print(run.outcome.Table, run.outcome.Table.Markdown()+
		fmt.Sprintf("\nError on the unlabeled digits in percent, mean ± standard deviation of %d "+
			"draws of the labels.\nReport and files: %s\n",
			demoSplits, filepath.Join(dir, "report.html")))
	return errors.Join(notConverged, err)
}

// demoRows tries, for every number of labels, the paper's rule for the number of
// eigenvectors and the penalized form with all of them.
func demoRows() []papers.Row {
	var rows []papers.Row
	for _, l := range demoLabels {
		rows = append(rows, papers.Row{Labels: l, PaperKNN: math.NaN(), Cells: []papers.Cell{
			{Name: "20 % rule", Paper: math.NaN()},
			{Name: "penalized", Settings: papers.BestPenalty(l), Paper: math.NaN()},
		}})
	}
	return rows
}

// predict labels all digits from one draw.
func (r *demoRun) predict(ctx context.Context, seed uint64) error {
	var err error
	if r.drawn, err = r.e.Truth.Draw(demoPictured, seed); err != nil {
		return err
	}
	s := papers.BestPenalty(demoPictured)
	m, err := eigenmap.Fit(ctx, r.outcome.Eigs, r.outcome.Graph.Components, r.drawn, &s)
	if err != nil {
		return err
	}

	r.labels = m.Transduce(r.outcome.Eigs, r.outcome.Graph.Components, r.drawn)
	r.error = 100 * metrics.ErrorRate(r.labels, r.e.Truth, r.drawn)
	return nil
}

// save writes the artifacts of the run.
func (r *demoRun) save(dir string, a *app) error {
	n := r.digits.Rows
	path := func(name string) string { return filepath.Join(dir, name) }
	points := data.HashPoints(r.digits)
	err := npy.WriteFile(path("X.npy"), []int{n, r.digits.Cols}, r.digits.Data)
	if err == nil {
		err = npy.WriteFile(path("y.npy"), []int{n}, shell.Values(r.e.Truth.Index, r.e.Truth.Classes))
	}
	if err == nil {
		err = npy.WriteFile(path("predictions.npy"), []int{n}, shell.Values(r.labels, r.e.Truth.Classes))
	}
	if err != nil {
		return err
	}

	g := &pipeline.Graph{Graph: *r.outcome.Graph, Settings: r.settings.Graph}
	hashes := pipeline.Hashes{pipeline.HashPoints: points}
	if err := pipeline.SaveGraph(path("graph.npz"), g, hashes); err != nil {
		return err
	}
	hashes[pipeline.HashGraph] = data.HashPoints(r.outcome.Graph.W)
	o := &pipeline.EigsSettings{Laplacian: r.settings.Laplacian, K: r.settings.Pairs, Seed: r.settings.Seed,
		Graph: r.settings.Graph}
	if err := pipeline.SaveEigs(path("eigs.npz"), r.outcome.Eigs, &g.Graph, o, hashes); err != nil {
		return err
	}
	return a.SaveLog(dir, r.settings, r.outcome.Table)
}
