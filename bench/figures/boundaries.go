package figures

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// The settings of [Boundaries]. The paper names none.
const (
	boundaryDraws     = 5
	boundaryNeighbors = 10
)

// The grid of [Boundaries]. All values are of our choice.
var (
	boundarySigmas  = []float64{0.2, 0.35, 0.5, 1}
	boundaryGammaAs = []float64{1e-4, 1e-2, 1}
	boundaryGammaIs = []float64{0.1, 1, 10, 100} // of LapSVM
)

// moonsFile holds the two moons of the paper, with test points Xt.
const moonsFile = "sindhwani_2moons.npz"

// boundary is a machine with its settings and its error.
type boundary struct {
	machine models.Model
	sigma   float64
	reg     regularizer.Regularizer
	error   float64 // percent of the points without a label
}

// String names the settings.
func (b *boundary) String() string {
	s := fmt.Sprintf("σ = %g, γ_A = %g", b.sigma, b.reg.GammaA)
	if b.reg.GammaI > 0 {
		s += fmt.Sprintf(", γ_I = %g", b.reg.GammaI)
	}
	return s
}

// boundaryMethods lists the methods of the figure, one panel each.
var boundaryMethods = []struct {
	name string
	fit  func(context.Context, *kernelmachine.Data, *models.Targets,
		regularizer.Regularizer) (models.Model, error)
	with []float64 // values of γ_I to try
}{
	{"SVM", boundarySVM, []float64{0}},
	{"TSVM", func(ctx context.Context, d *kernelmachine.Data, t *models.Targets,
		r regularizer.Regularizer) (models.Model, error) {
		m, err := kernelmachine.FitTSVM(ctx, d, t, &kernelmachine.TSVMSettings{Regularizer: r})
		if err != nil {
			return nil, err
		}
		return m, nil
	}, []float64{0}},
	{"LapSVM", boundarySVM, boundaryGammaIs},
}

// boundarySVM fits an SVM, with the intrinsic norm if γ_I is positive.
func boundarySVM(ctx context.Context, d *kernelmachine.Data, t *models.Targets,
	r regularizer.Regularizer) (models.Model, error) {
	m, err := kernelmachine.Fit(ctx, d, t, &kernelmachine.Settings{Method: kernelmachine.SVM, Regularizer: r,
		Tolerance: 1e-3})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Boundaries repeats Figure 3 of Belkin, Niyogi & Sindhwani (2006): the best decision
// surfaces of SVM, TSVM and LapSVM on two moons with one label a class, over a grid of
// settings. “Best” is by the labels of all points, as in the paper, so the table has the
// median and the worst of the grid as well. TSVM has its default settings, and takes the
// share of class 1 from the labels. LapSVM has the normalized Laplacian of 10 neighbours.
func Boundaries(ctx context.Context, o papers.Options, obs stage.Observer) (*results.Table,
	[]results.Picture, error) {
	x, truth, _, err := papers.ReadSet(o, papers.SetsOrigin, moonsFile, moonsFile, "")
	if err != nil {
		return nil, nil, err
	}
	n, d := x.Dims()
	if d != 2 || len(truth.Classes) != 2 {
		return nil, nil, fmt.Errorf("%s: moons have 2 columns and 2 classes, not %d and %d", moonsFile, d,
			len(truth.Classes))
	}
	nb, err := papers.Neighbors(ctx, x, boundaryNeighbors)
	if err != nil {
		return nil, nil, err
	}

	l, err := papers.Laplacian(nb, knn.GraphSettings{K: nb.K}, sparse.Normalized)
	if err != nil {
		return nil, nil, err
	}
	// The graph has no labels, so one Laplacian serves all draws.
	draws, err := papers.DrawPerClass(truth, 1, boundaryDraws, o.Seed)
	if err != nil {
		return nil, nil, err
	}

	var records []results.Record
	picture := results.Picture{Title: "Two moons, best decision surfaces",
		Caption: fmt.Sprintf("Figure 3 of Belkin, Niyogi & Sindhwani (2006), on the first of %d "+
			"draws of one label a class: of each machine the settings whose error on all %d points "+
			"is least, the first of equals. The stronger the tint, the larger |f|.", boundaryDraws, n)}
	for _, m := range boundaryMethods {
		obs.Begin(m.name)
		var best, median, worst []float64
		var remark string
		count := 0
		for i, drawn := range draws {
			all, err := boundaries(ctx, &kernelmachine.Data{Points: x, Laplacian: l, Limit: o.Limit}, truth,
				drawn, m.fit, m.with)
			if err != nil {
				return nil, nil, fmt.Errorf("%s, draw %d: %w", m.name, i+1, err)
			}
			count = len(all)
			// The list is sorted by error: the median of an even number is the mean of the middle
			// two.
			best = append(best, all[0].error)
			median = append(median, (all[(count-1)/2].error+all[count/2].error)/2)
			worst = append(worst, all[count-1].error)
			// The picture shows the first draw only, as its caption says.
			if i == 0 {
				remark = all[0].String() + " on the first draw"
				points := plane(x, truth)
				points.Marked = drawn.Labeled()
				points.MarkedName = "labeled"
				s, err := surface(ctx, fmt.Sprintf("%s, %s: %.1f %% wrong", m.name, &all[0], all[0].error),
					all[0].machine, points, false)
				if err != nil {
					return nil, nil, err
				}
				picture.Charts = append(picture.Charts, s)
			}

			obs.Update(float64(i+1), float64(len(draws)), "")
		}

		records = append(records, papers.MachineRecord("best by all labels", m.name, best, 0, remark),
			papers.MachineRecord("median of the grid", m.name, median, 0, ""),
			papers.MachineRecord("worst of the grid", m.name, worst, 0, ""))
		obs.End(fmt.Sprintf("%d draws, %d settings each", len(draws), count))
	}

	t := papers.MachineTable(records,
		fmt.Sprintf("the grid: σ of %v, γ_A of %v and for LapSVM γ_I of %v; the paper says “a wide "+
			"range of parameter settings” and names none", boundarySigmas, boundaryGammaAs, boundaryGammaIs),
		"“best” is chosen by the labels of all points, which no machine sees: it says what a machine "+
			"can reach and not what one would choose; the other rows need no choice",
		fmt.Sprintf("the graph: %d neighbours either way, weights one, normalized Laplacian (Remark "+
			"3); the paper names neither neighbours nor weights and prints no errors", boundaryNeighbors))
	t.Figures = nil
	return t, []results.Picture{picture}, nil
}

// boundaries fits a machine to a draw with all settings of the grid. It returns the fitted
// machines in the order of their errors, smallest first.
func boundaries(ctx context.Context, d *kernelmachine.Data, truth, drawn *data.Labels,
	fit func(context.Context, *kernelmachine.Data, *models.Targets, regularizer.Regularizer) (models.Model,
		error), gammaIs []float64) ([]boundary, error) {
	t, err := models.ClassTargets(drawn)
	if err != nil {
		return nil, err
	}
	var out []boundary
	for _, sigma := range boundarySigmas {
		for _, gammaA := range boundaryGammaAs {
			for _, gammaI := range gammaIs {
				b := boundary{sigma: sigma, reg: regularizer.Regularizer{GammaA: gammaA, GammaI: gammaI,
					Laplacian: sparse.Normalized}}
				given := *d
				given.Kernel = kernel.Kernel{Kind: kernel.Gaussian, Sigma: sigma}
				// Without γ_I the machine needs no Laplacian, and the kernel is not warped.
				if gammaI == 0 {
					given.Laplacian = nil
				}
				if b.machine, err = fit(ctx, &given, t, b.reg); err != nil {
					return nil, fmt.Errorf("%s: %w", &b, err)
				}

				p, err := b.machine.Predict(ctx, d.Points, nil)
				if err != nil {
					return nil, err
				}
				b.error = 100 * metrics.ErrorRate(p.Classes, truth, drawn)
				out = append(out, b)
			}
		}
	}

	// A stable sort keeps the order of the grid among equals, so the same setting wins on every
	// machine.
	slices.SortStableFunc(out, func(a, b boundary) int { return cmp.Compare(a.error, b.error) })
	return out, nil
}
