package papers

import (
	"context"
	"fmt"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// Isolet is Table 4 of Belkin, Niyogi & Sindhwani (2006): 26 letters, trained on
// speakers 1 to 30 with all utterances of one of them labeled, each in turn, and
// tested on the last 30. The Gaussian kernel has σ = 10, γ_A l = 0.05 without a
// graph and γ_A l = γ_I l/(u+l)² = 0.005 with it. The paper does not name the
// graph: several are shown, with the normalized Laplacian.
func Isolet(ctx context.Context, o Options, obs Observer) ([]MachineResult, error) {
	obs.Begin("data")
	x, truth, _, err := readSet(o, setsOrigin, "isolet.npz", "isolet.npz", "")
	if err != nil {
		return nil, err
	}
	speakers, err := data.ReadLabels(filepath.Join(o.Dir, "isolet.npz")+":speaker", data.LabelOptions{Limit: o.Limit, NoUnlabeled: true})
	if err != nil {
		return nil, err
	}
	var train, test []int
	utterances := make([][]int, 30) // of the speakers to train on
	for i, s := range speakers.Index {
		switch {
		case int(s) < len(utterances):
			utterances[s] = append(utterances[s], len(train))
			train = append(train, i)
		case int(s) >= len(speakers.Classes)-30:
			test = append(test, i)
		}
	}
	xt, truthT := data.Select(x, test), truth.Select(test)
	x, truth = data.Select(x, train), truth.Select(train)
	draws := keep(truth, utterances)
	obs.End(fmt.Sprintf("%d and %d utterances", len(train), len(test)))

	obs.Begin("machines")
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 10}
	gram, err := kernel.Gram(x, k, o.Limit)
	if err != nil {
		return nil, err
	}
	cross := mat.NewDense(len(test), len(train), nil)
	if err := kernel.Cross(cross, xt, x, k); err != nil {
		return nil, err
	}
	const labels = 52 // of a speaker: 26 letters, twice
	inductive := models.Regularizer{GammaA: 0.05 / labels, Laplacian: sparse.Normalized}
	runs := []isoletRun{{machines[:2], 0, inductive}}
	for _, count := range []int{6, 10, 15, 20} {
		for power := range 2 {
			runs = append(runs, isoletRun{machines[2:], count, models.Regularizer{GammaA: 0.005 / labels, GammaI: 0.005 / labels,
				Power: power + 1, Laplacian: sparse.Normalized}})
		}
	}
	nb, err := neighbors(ctx, x, 20)
	if err != nil {
		return nil, err
	}
	var results []MachineResult
	for i, r := range runs {
		var l *sparse.Laplacian
		if r.neighbors > 0 {
			if l, err = laplacian(nb, knn.GraphSettings{K: min(r.neighbors, nb.K)}, r.reg.Laplacian); err != nil {
				return nil, err
			}
		}
		problem, err := newProblem(gram, l)
		if err != nil {
			return nil, err
		}
		w, err := problem.Warp(r.reg, union(draws))
		if err != nil {
			return nil, err
		}
		var parts [2][]MachineResult
		for j, m := range r.machines {
			var errs [2][]float64
			for s, drawn := range draws {
				f, ft, err := outputs(ctx, problem, w, drawn, m.settings(r.reg), cross)
				if err != nil {
					return nil, fmt.Errorf("%s, %s, speaker %d: %w", r, m.name, s+1, err)
				}
				errs[0] = append(errs[0], wrong(f, truth, drawn))
				errs[1] = append(errs[1], wrong(ft, truthT, nil))
			}
			for part, name := range [2]string{"unlabeled", "test"} {
				parts[part] = append(parts[part], newResult(name+r.String(), m.name, errs[part], isoletPaper[m.name][part]))
			}
			obs.Update(float64(i)+float64(j+1)/2, float64(len(runs)), m.name)
		}
		results = append(results, append(parts[0], parts[1]...)...)
	}
	obs.End(fmt.Sprintf("%d speakers labeled in turn", len(draws)))
	return results, nil
}

// isoletPaper are the errors of Table 4, unlabeled and test.
var isoletPaper = map[string][2]float64{"SVM": {28.6, 36.9}, "RLS": {28.3, 36.3}, "LapSVM": {24.5, 33.7}, "LapRLS": {24.1, 33.3}}

// isoletRun is what one warped kernel serves.
type isoletRun struct {
	machines  []machine
	neighbors int // 0 is no graph
	reg       models.Regularizer
}

func (r isoletRun) String() string {
	if r.neighbors == 0 {
		return ""
	}
	return fmt.Sprintf(", %d neighbours, p = %d", r.neighbors, r.reg.Power)
}
