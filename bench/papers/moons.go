package papers

import (
	"context"
	"fmt"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
)

// moonsDraws is the number of random labeled sets of [Moons].
const moonsDraws = 20

// moonsWeights are the γ_I of [Moons].
var moonsWeights = []float64{0, 1e-4, 1e-3, 0.01, 0.1, 1, 10}

// Moons is Figure 2 of Belkin, Niyogi & Sindhwani (2006) as a table: two moons
// with one label a class, for growing γ_I, on the points X and others, Xt. The
// Laplacian is D − W of 10 neighbours, the Gaussian kernel has σ = 0.35, and γ_A
// is 1/32.
func Moons(ctx context.Context, o Options, obs Observer) ([]MachineResult, error) {
	obs.Begin("data")
	file, err := find(o.Dir, setsOrigin, "sindhwani_2moons.npz")
	if err != nil {
		return nil, err
	}
	x, truth, err := read(file, file, o.Limit)
	if err != nil {
		return nil, err
	}
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
	nb, err := neighbors(ctx, x, 10)
	if err != nil {
		return nil, err
	}
	reg := models.Regularizer{GammaA: 1.0 / 32}
	l, err := laplacian(nb, knn.GraphSettings{K: nb.K}, reg.Laplacian)
	if err != nil {
		return nil, err
	}
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.35}
	gram, err := kernel.Gram(x, k, o.Limit)
	if err != nil {
		return nil, err
	}
	cross := mat.NewDense(nt, n, nil)
	if err := kernel.Cross(cross, xt, x, k); err != nil {
		return nil, err
	}
	problem, err := newProblem(gram, l)
	if err != nil {
		return nil, err
	}
	var results []MachineResult
	for i, weight := range moonsWeights {
		reg.GammaI = weight
		w, err := problem.Warp(reg, union(draws))
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
			results = append(results, newResult(row, m.name+", X", here, 0), newResult(row, m.name+", Xt", there, 0))
		}
		obs.Update(float64(i+1), float64(len(moonsWeights)), row)
	}
	obs.End(fmt.Sprintf("%d draws", len(draws)))
	return results, nil
}
