// Package demo holds the command demo, which runs every stage on digits that the program draws
// itself.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

const (
	// mostPoints bounds the digits that are drawn: the exact search among that many takes months.
	mostPoints = 100_000_000
	// pictured is the number of labels behind the predictions that the report shows.
	pictured = 100
)

// app has the methods of the command beside the shell.
type app struct{ *shell.App }

// Command returns the command demo.
func Command(s *shell.App) *cobra.Command {
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
			// The largest number of labels must leave as many digits to measure on.
			if most := labelCounts[len(labelCounts)-1]; n < 2*most {
				return shell.Usagef("-n is %d; the demo needs at least %d digits", n, 2*most)
			}
			if n > mostPoints {
				return shell.Usagef("-n is %d; the demo draws at most %d digits", n, mostPoints)
			}
			return a.demo(cmd.Context(), n, dir)
		},
	}
	cmd.Flags().IntVarP(&n, "points", "n", 10_000, "digits to draw")
	cmd.Flags().StringVarP(&dir, "output", "o", "bigfit-demo", "run `directory`")
	return cmd
}

// run holds the parts of a demo for its files and its report.
type run struct {
	digits   *data.Dense[uint8]
	truth    *data.Labels
	outcome  *outcome
	settings settings
	drawn    *data.Labels // the pictured draw
	labels   []int32      // predictions from it
	error    float64      // in percent
	moons    *report.Figure
}

// settings are the settings of the run, as manifest.json holds them.
type settings struct {
	Points    int                    `json:"points"`
	Seed      uint64                 `json:"seed"`
	Graph     pipeline.GraphSettings `json:"graph"`
	Laplacian sparse.Kind            `json:"laplacian"`
	Pairs     int                    `json:"pairs"`
	Splits    int                    `json:"splits"`
	Version   string                 `json:"version"`
}

// demo runs the demo on n digits and writes its files to a folder.
func (a *app) demo(ctx context.Context, n int, dir string) error {
	page := filepath.Join(dir, "report.html")
	_, err := os.Stat(dir)
	fresh := os.IsNotExist(err)
	if err := atomicfile.Claim(dir, "a demo"); errors.As(err, new(*fs.PathError)) {
		return shell.Output(err)
	} else if err != nil {
		return err
	}
	err = shell.CheckOutput(nil, page)
	// A run that ends before it writes its files leaves no folder, however it ends.
	if fresh {
		atomicfile.Unclaim(dir)
	}
	if err != nil {
		return err
	}

	// Not converged eigenpairs still make a report; the exit code tells.
	r, err := a.draw(n)
	if err != nil {
		return err
	}
	notConverged := r.fit(ctx, a)
	if r.outcome == nil {
		return notConverged
	}
	if err := r.predict(ctx); err != nil {
		return err
	}
	if err := r.drawMoons(ctx, a); err != nil {
		return err
	}

	err = a.Write(ctx, func() error {
		st := a.Progress.Stage("files")
		if err := atomicfile.Claim(dir, "a demo"); err != nil {
			return shell.Output(err)
		}
		if err := r.save(dir, a); err != nil {
			return err
		}
		st.Done(dir)
		return report.Save(page, r.report(a))
	})
	if err != nil {
		return err
	}

	table := r.outcome.table
	text := fmt.Sprintf("%s\nError on the unlabeled digits in percent, mean ± standard deviation of "+
		"%d draws of the labels.\n"+
		"Report and files: %s\n", table.Markdown(), splits, page)
	return errors.Join(notConverged, a.Print(table, text))
}

// draw draws n digits.
func (a *app) draw(n int) (*run, error) {
	const side = synthetic.DigitSide
	if err := a.Need("digits", int64(n)*side*side, 0, "draw fewer with -n"); err != nil {
		return nil, err
	}

	st := a.Progress.Stage("digits")
	r := &run{settings: settings{
		Points:  n,
		Seed:    a.Seed,
		Graph:   pipeline.GraphSettings{PCA: dimensions, Graph: graphSettings},
		Pairs:   pairs,
		Splits:  splits,
		Version: shell.Version,
	}}

	r.digits, r.truth = synthetic.Digits(n, a.Seed)
	st.Done(fmt.Sprintf("%d digits of %d×%d pixels", n, side, side))
	return r, nil
}

// fit carries out the experiment on the principal components of the digits. The outcome is
// nil after any error but lanczos.ErrNotConverged.
func (r *run) fit(ctx context.Context, a *app) error {
	z, _, err := a.Pipeline().Project(ctx, r.digits, &r.settings.Graph)
	if err != nil {
		return err
	}
	e := &experiment{x: z, truth: r.truth, seed: a.Seed}
	r.outcome, err = e.run(ctx, a)
	return err
}

// predict labels all digits from one draw.
func (r *run) predict(ctx context.Context) error {
	var err error
	if r.drawn, err = r.truth.Draw(pictured, r.settings.Seed); err != nil {
		return err
	}

	// The pictures come from one draw; the table has the means over all draws.
	eigs, components := r.outcome.eigs, r.outcome.graph.Components
	s := penalized(pictured)
	m, err := eigenmap.Fit(ctx, eigs, components, r.drawn, &s)
	if err != nil {
		return err
	}
	r.labels = m.Transduce(eigs, components, r.drawn)
	r.error = 100 * metrics.ErrorRate(r.labels, r.truth, r.drawn)
	return nil
}

// drawMoons draws the decision surfaces of the report.
func (r *run) drawMoons(ctx context.Context, a *app) error {
	st := a.Progress.Stage("moons")
	var err error
	if r.moons, err = moons(ctx, a.Seed); err != nil {
		return err
	}
	st.Done(fmt.Sprintf("%d points, LapSVM for %d γ_I", moonPoints, len(r.moons.Charts)))
	return nil
}

// save writes the artifacts of the run.
func (r *run) save(dir string, a *app) error {
	n := r.digits.Rows
	path := func(name string) string { return filepath.Join(dir, name) }
	points := data.HashPoints(r.digits)
	// The files are those that the commands of the README start from.
	err := npy.WriteFile(path("X.npy"), []int{n, r.digits.Cols}, r.digits.Data)
	if err == nil {
		err = npy.WriteFile(path("y.npy"), []int{n}, shell.Values(r.truth.Index, r.truth.Classes))
	}
	if err == nil {
		err = npy.WriteFile(path("predictions.npy"), []int{n}, shell.Values(r.labels, r.truth.Classes))
	}
	if err != nil {
		return err
	}

	// The hashes chain the files: eigenpairs know their graph, and the graph its points.
	g := &pipeline.Graph{Graph: *r.outcome.graph, Settings: r.settings.Graph}
	hashes := pipeline.Hashes{pipeline.HashPoints: points}
	if err := pipeline.SaveGraph(path("graph.npz"), g, hashes); err != nil {
		return err
	}
	hashes[pipeline.HashGraph] = data.HashPoints(r.outcome.graph.W)

	o := &pipeline.EigsSettings{Laplacian: r.settings.Laplacian, K: r.settings.Pairs, Seed: r.settings.Seed,
		Graph: r.settings.Graph}
	if err := pipeline.SaveEigs(path("eigs.npz"), r.outcome.eigs, &g.Graph, o, hashes); err != nil {
		return err
	}
	return a.SaveLog(dir, r.settings, r.outcome.table)
}
