package papers

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// sslBookSets are the sets of the book; g241n is its g241d.
var sslBookSets = []string{"digit1", "usps", "coil2", "bci", "g241c", "coil", "g241n", "text"}

// sslBookGrid is searched as that of 2005 is. Its smaller γ_I are for sets whose
// neighbours are of either class: at 0.01 the hinge loss cannot reach margins of
// 1 there, and an SVM answers with its bias.
var sslBookGrid = grid{
	widths: []float64{0.5, 1, 2},
	counts: []int{2, 10, 50},
	norms: []models.Regularizer{
		{GammaA: 1e-6, GammaI: 1e-2, Power: 1, Laplacian: sparse.Normalized},
		{GammaA: 1e-6, GammaI: 1e-4, Power: 1, Laplacian: sparse.Normalized},
		{GammaA: 1e-4, GammaI: 1e-4, Power: 1, Laplacian: sparse.Normalized},
		{GammaA: 1e-2, GammaI: 1e-2, Power: 1, Laplacian: sparse.Normalized},
		{GammaA: 1e-6, GammaI: 1e-2, Power: 3, Laplacian: sparse.Normalized},
		{GammaA: 1e-6, GammaI: 1e-4, Power: 3, Laplacian: sparse.Normalized},
		{GammaA: 1e-4, GammaI: 1e-4, Power: 3, Laplacian: sparse.Normalized},
		{GammaA: 1e-2, GammaI: 1e-2, Power: 3, Laplacian: sparse.Normalized},
	},
}

// SSLBook is a table of all machines on the sets of Chapelle, Schölkopf & Zien
// (2006), chapter 21, with the published draws of 10 and 100 labels. Settings are
// chosen as in [PointCloud]; the TSVM has those of the SVM.
func SSLBook(ctx context.Context, o Options, obs Observer) ([]MachineResult, error) {
	var results []MachineResult
	for _, name := range sslBookSets {
		obs.Begin(name)
		points, labels := "sslbook_"+name+".npz", "sslbook_"+name+".npz"
		if name == "text" {
			points, labels = "sslbook_text_X.npz", "sslbook_text_y_splits.npz"
		}
		var x data.Points
		var searches []*gridSearch
		counts := []string{"10", "100"}
		for _, count := range counts {
			set, truth, rows, err := readSet(o, setsOrigin, points, labels, "idxLabs"+count)
			if err != nil {
				return nil, err
			}
			x = set
			g, err := newGridSearch(truth, keep(truth, rows), o.Seed)
			if err != nil {
				return nil, err
			}
			searches = append(searches, g)
		}
		if err := sslBookGrid.search(ctx, x, o, obs, searches...); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for i, g := range searches {
			row := fmt.Sprintf("%s, %s labels", name, counts[i])
			results = append(results, g.results(row, [4]float64{})...)
			others, err := g.others(ctx, x, o)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", row, err)
			}
			for method, errs := range others {
				results = append(results, newResult(row+", one choice", []string{"TSVM", "1-NN"}[method], errs, 0))
			}
		}
		n, d := x.Dims()
		obs.End(fmt.Sprintf("%d points × %d", n, d))
	}
	return results, nil
}

// others are the errors of the TSVM, with the settings chosen for the SVM, and of
// the nearest labeled neighbour.
func (g *gridSearch) others(ctx context.Context, x data.Points, o Options) (errs [2][]float64, err error) {
	s := g.common[0].setting // of the SVM, which is the first machine
	gram, err := kernel.Gram(x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: s.sigma}, o.Limit)
	if err != nil {
		return errs, err
	}
	p, err := newProblem(gram, nil)
	if err != nil {
		return errs, err
	}
	all := make([]int, g.truth.Len())
	for i := range all {
		all[i] = i
	}
	w, err := p.Warp(s.reg, all)
	if err != nil {
		return errs, err
	}
	nb, err := neighbors(ctx, x, 64)
	if err != nil {
		return errs, err
	}
	for i, drawn := range g.draws {
		f, _, err := transductive(ctx, p, w, drawn, s.reg, nil)
		if err != nil {
			return errs, fmt.Errorf("TSVM, draw %d: %w", i, err)
		}
		nearest, err := models.KNN(ctx, x, knn.Euclidean, nb, drawn, []int{1})
		if err != nil {
			return errs, err
		}
		errs[0] = append(errs[0], wrong(f, g.truth, drawn))
		errs[1] = append(errs[1], 100*models.ErrorRate(nearest[0], g.truth, drawn))
	}
	return errs, nil
}
