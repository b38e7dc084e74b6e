package papers

import (
	"context"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// sslBookSets are the data sets of the book. Our files call its g241d g241n.
var sslBookSets = []string{"digit1", "usps", "coil2", "bci", "g241c", "coil", "g241n", "text"}

// sslBookGrid is the grid of [SSLBook], searched as pointCloudGrid is. Its smaller γ_I serve
// sets with many neighbours of different classes: at γ_I = 0.01 f is too smooth there to
// reach margins of 1, and an SVM predicts by its bias alone.
var sslBookGrid = grid{
	widths: []float64{0.5, 1, 2},
	graphs: binary(2, 10, 50),
	norms: []regularizer.Regularizer{
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

// SSLBook makes a table of all machines on the data sets of Chapelle, Schölkopf & Zien
// (2006), chapter 21, with the published draws of 10 and 100 labels. It chooses settings as
// [PointCloud] does. The other methods have one fixed setting each: see others.
func SSLBook(ctx context.Context, o Options, obs stage.Observer) (*results.Table, error) {
	var records []results.Record
	for _, name := range sslBookSets {
		obs.Begin(name)
		points := "sslbook_" + name + ".npz"
		labels := "sslbook_" + name + ".npz"
		if name == "text" {
			points = "sslbook_text_X.npz"
			labels = "sslbook_text_y_splits.npz"
		}

		var x data.Points
		var searches []*gridSearch
		// Both numbers of labels go through one search, which shares the Gram matrices.
		counts := []string{"10", "100"}
		for _, count := range counts {
			set, truth, rows, err := ReadSet(o, SetsOrigin, points, labels, "idxLabs"+count)
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
			records = append(append(records, g.ownRecords(row, nil)...),
				g.oneRecords(row, nil)...)
			others, err := g.others(ctx, x, o, row+oneChoice)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", row, err)
			}
			records = append(records, others...)
		}

		n, d := x.Dims()
		obs.End(fmt.Sprintf("%d points × %d", n, d))
	}

	return MachineTable(records), nil
}

// others returns the records of the methods without a search of their own: the TSVM with
// the settings chosen for the SVM, the nearest labeled neighbour, and the methods on a graph
// with the settings [BestGraph].
func (g *gridSearch) others(ctx context.Context, x data.Points, o Options,
	row string) ([]results.Record, error) {
	nb, err := Neighbors(ctx, x, 64)
	if err != nil {
		return nil, err
	}
	tsvm, err := g.tsvm(ctx, x, o, slices.Repeat([]setting{g.common[0].setting}, len(g.draws)))
	if err != nil {
		return nil, err
	}
	records := []results.Record{MachineRecord(row, "TSVM", tsvm, 0, "")}

	// The nearest labeled neighbour is a baseline without any setting.
	var errs []float64
	for _, drawn := range g.draws {
		nearest, err := nearest.KNN(ctx, x, knn.Euclidean, nb, drawn, []int{1})
		if err != nil {
			return nil, err
		}
		errs = append(errs, 100*metrics.ErrorRate(nearest[0], g.truth, drawn))
	}

	records = append(records, MachineRecord(row, "1-NN", errs, 0, ""))
	w, _, err := knn.FromNeighbors(nb, BestGraph)
	if err != nil {
		return nil, err
	}
	onGraph, err := g.onGraph(ctx, w, o, row)
	return append(records, onGraph...), err
}

// sslBookPairs is the number of eigenvectors that are computed for the eigenmaps.
const sslBookPairs = 200

// sslBookEigenmaps are two eigenmaps: the default, with one eigenvector for every five
// labels, and [BestPenalty] on all eigenvectors.
var sslBookEigenmaps = []struct {
	name     string
	settings func(labels int) eigenmap.Settings
}{
	{"eigenmap", func(int) eigenmap.Settings { return eigenmap.Settings{} }},
	{"eigenmap, penalized", BestPenalty},
}

// onGraph returns the records of graph regularization, with its defaults, and of
// eigenmaps on the graph w.
func (g *gridSearch) onGraph(ctx context.Context, w *sparse.CSR, o Options,
	row string) ([]results.Record, error) {
	c := w.Components()
	p, err := propagation.NewProblem(w, c)
	if err != nil {
		return nil, err
	}
	var records []results.Record
	for _, method := range []propagation.Method{propagation.Harmonic, propagation.LGC, propagation.Poisson} {
		var errs []float64
		for i, drawn := range g.draws {
			t, err := models.ClassTargets(drawn)
			if err != nil {
				return nil, err
			}
			f, err := p.Fit(ctx, t, &propagation.Settings{Method: method})
			if err != nil {
				return nil, fmt.Errorf("%v, draw %d: %w", method, i, err)
			}
			errs = append(errs, 100*metrics.ErrorRate(f.Labels, g.truth, drawn))
		}
		records = append(records, MachineRecord(row, method.String(), errs, 0, ""))
	}

	// The eigenvectors are computed once for all draws and both eigenmaps.
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		return nil, err
	}
	eigs, err := lanczos.Laplacian(ctx, l, c, &lanczos.Settings{K: min(sslBookPairs, w.Rows), Seed: o.Seed})
	if err != nil {
		return nil, err
	}

	for _, e := range sslBookEigenmaps {
		fitted, err := eigenmap.FitAll(ctx, eigs, c, g.draws,
			[]eigenmap.Settings{e.settings(len(g.draws[0].Labeled()))})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.name, err)
		}
		ms := make([]*eigenmap.Classifier, len(g.draws))
		for i := range ms {
			ms[i] = fitted[i][0]
		}
		var errs []float64
		for i, predicted := range eigenmap.TransduceAll(eigs, c, ms, g.draws) {
			errs = append(errs, 100*metrics.ErrorRate(predicted, g.truth, g.draws[i]))
		}
		records = append(records, MachineRecord(row, e.name, errs, 0, ""))
	}

	return records, nil
}
