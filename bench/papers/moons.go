package papers

import (
	"context"
	"fmt"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/bench/results"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// moonsDraws is the number of random labeled sets of [Moons].
const moonsDraws = 20

// moonsWeights are the γ_I of [Moons].
var moonsWeights = []float64{0, 1e-4, 1e-3, 0.01, 0.1, 1, 10}

// γ_A and the kernel are the same for all γ_I.
const moonsGammaA = 1.0 / 32

var moonsKernel = kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.35}

// moonsLaplacian returns D − W of 10 neighbours.
func moonsLaplacian(ctx context.Context, x data.Points) (*sparse.Laplacian, error) {
	nb, err := neighbors(ctx, x, 10)
	if err != nil {
		return nil, err
	}
	return laplacian(nb, knn.GraphSettings{K: nb.K}, sparse.Combinatorial)
}

// MoonsFigure holds Figure 2 as the paper draws it: the LapSVM of one labeled point
// a class, for growing γ_I, with the settings of [Moons].
type MoonsFigure struct {
	X            data.Points
	Truth, Drawn *data.Labels
	GammaI       []float64
	Machines     []*kernelmachine.Machine // one for each γ_I
	Errors       []float64                // percent of the points without a label
}

// moonsFigureWeights are the γ_I of [MoonsFigure].
var moonsFigureWeights = []float64{0, 1e-3, 0.01, 0.1, 1, 10}

// NewMoonsFigure fits the machines to points of two columns and two classes; the
// seed draws the labeled ones.
func NewMoonsFigure(ctx context.Context, x data.Points, truth *data.Labels, seed uint64) (*MoonsFigure, error) {
	if _, d := x.Dims(); d != 2 || len(truth.Classes) != 2 {
		return nil, fmt.Errorf("papers: moons have 2 columns and 2 classes, not %d and %d", d, len(truth.Classes))
	}
	draws, err := drawPerClass(truth, 1, 1, seed)
	if err != nil {
		return nil, err
	}
	fig := &MoonsFigure{X: x, Truth: truth, Drawn: draws[0], GammaI: moonsFigureWeights}
	t, err := models.ClassTargets(fig.Drawn)
	if err != nil {
		return nil, err
	}
	l, err := moonsLaplacian(ctx, x)
	if err != nil {
		return nil, err
	}
	for _, weight := range fig.GammaI {
		s := machines[2].settings(models.Regularizer{GammaA: moonsGammaA, GammaI: weight}) // LapSVM
		m, err := kernelmachine.Fit(ctx, &kernelmachine.Data{Points: x, Kernel: moonsKernel, Laplacian: l}, t, &s)
		if err != nil {
			return nil, fmt.Errorf("γ_I = %g: %w", weight, err)
		}
		p, err := m.Predict(ctx, x, nil)
		if err != nil {
			return nil, err
		}
		fig.Machines = append(fig.Machines, m)
		fig.Errors = append(fig.Errors, 100*metrics.ErrorRate(p.Classes, truth, fig.Drawn))
	}
	return fig, nil
}

// ReadMoonsFigure makes the figure of the points X of [Moons].
func ReadMoonsFigure(ctx context.Context, o Options) (*MoonsFigure, error) {
	x, truth, _, err := readSet(o, setsOrigin, moonsFile, moonsFile, "")
	if err != nil {
		return nil, err
	}
	return NewMoonsFigure(ctx, x, truth, o.Seed)
}

const moonsFile = "sindhwani_2moons.npz"

// Moons repeats Figure 2 of Belkin, Niyogi & Sindhwani (2006) as a table: two moons
// with one label a class, for growing γ_I, on the points X and others, Xt. The
// Laplacian is D − W of 10 neighbours, the Gaussian kernel has σ = 0.35, and γ_A
// is 1/32.
func Moons(ctx context.Context, o Options, obs pipeline.Observer) (*results.Table, error) {
	obs.Begin("data")
	x, truth, _, err := readSet(o, setsOrigin, moonsFile, moonsFile, "")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(o.Dir, moonsFile)
	xt, truthT, err := read(file+":Xt", file+":yt", o.Limit)
	if err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	nt, _ := xt.Dims()
	obs.End(fmt.Sprintf("%s: %d and %d points", filepath.Base(file), n, nt))

	obs.Begin("machines")
	draws, err := drawPerClass(truth, 1, moonsDraws, o.Seed)
	if err != nil {
		return nil, err
	}
	reg := models.Regularizer{GammaA: moonsGammaA}
	l, err := moonsLaplacian(ctx, x)
	if err != nil {
		return nil, err
	}
	gram, err := kernel.Gram(x, moonsKernel, o.Limit)
	if err != nil {
		return nil, err
	}
	cross := mat.NewDense(nt, n, nil)
	if err := kernel.Cross(cross, xt, x, moonsKernel); err != nil {
		return nil, err
	}
	problem, err := newProblem(ctx, gram, l)
	if err != nil {
		return nil, err
	}
	var records []results.Record
	for i, weight := range moonsWeights {
		reg.GammaI = weight
		w, err := problem.Warp(ctx, reg, union(draws))
		if err != nil {
			return nil, err
		}
		row := fmt.Sprintf("γ_I = %g", weight)
		for _, m := range machines[2:] {
			var here, there []float64
			for _, drawn := range draws {
				f, ft, err := outputs(ctx, problem, w, drawn, m.settings(reg), cross)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", row, m.name, err)
				}
				here = append(here, wrong(f, truth, drawn))
				there = append(there, wrong(ft, truthT, nil))
			}
			records = append(records, machineRecord(row, m.name+", X", here, 0, ""), machineRecord(row, m.name+", Xt", there, 0, ""))
		}
		obs.Update(float64(i+1), float64(len(moonsWeights)), row)
	}
	obs.End(fmt.Sprintf("%d draws", len(draws)))
	t := machineTable(records)
	t.Figures = nil // [MoonsFigure] shows more
	return t, nil
}
