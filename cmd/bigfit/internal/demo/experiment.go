package demo

import (
	"context"
	"errors"
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
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// The settings of the experiment.
const (
	// dimensions is the number of principal components of the graph.
	dimensions = 50
	// pairs is the number of eigenpairs, which is also the most eigenvectors of a classifier.
	pairs = 200
	// splits is the number of random draws of the labels for each number of labels.
	splits = 10
	// listLength is the number of neighbours kept for the vote of nearest labeled points. The
	// vote searches again wherever fewer than five of them are labeled.
	listLength = 64
)

var (
	// labelCounts are the numbers of labels, ascending.
	labelCounts = []int{20, 50, 100, 500, 1000}

	// graphSettings of the experiment: ten neighbours with self-tuning weights.
	graphSettings = knn.GraphSettings{K: 10, Weights: knn.SelfTuning}

	// votes are the numbers of neighbours of the baseline; the best of them is reported.
	votes = []int{1, 3, 5}
)

// penalized uses all eigenvectors with the penalty 30·Σ(λⱼ/λ₂₀)²aⱼ² (Belkin & Niyogi 2004,
// section 7.1). The strength of the penalty does not depend on the number of labels.
func penalized(labels int) eigenmap.Settings {
	return eigenmap.Settings{Penalty: eigenmap.Iterated, Power: 2, Gamma: 30 / float64(labels)}
}

// experiment measures how well few labels teach the labels of all digits.
type experiment struct {
	x     data.Points
	truth *data.Labels // every digit labeled
	seed  uint64
}

// outcome holds the parts and the results of an experiment.
type outcome struct {
	neighbors *knn.Neighbors
	graph     *models.Graph
	eigs      *lanczos.Result
	table     *results.Table // errors in percent of the unlabeled digits
}

// remedy says what to do where a stage takes too much memory.
const remedy = "use less data"

// listed is the number of neighbours in a list of the experiment on n points. It is longer than the
// graph needs: the vote finds labeled points in it.
func listed(n int) int { return max(graphSettings.K, min(listLength, n/100)) }

// announceClassifiers says what the classifiers take beside the eigenvectors, the lists and the graph.
func (e *experiment) announceClassifiers(a *app) error {
	n, d := e.x.Dims()
	// The votes gather points and ranks of neighbours; 14 MB at 5000 digits and 35 MB at 20,000 were
	// measured in all, and these are 14 and 37.
	const blocks = 8 << 20
	bytes := blocks + 8*int64(n)*int64(d+2*listed(n))
	return a.Need("classifiers", stage.HeapBytes(bytes), 0, remedy)
}

// run carries out the experiment. With lanczos.ErrNotConverged it returns the outcome of the
// eigenpairs that were reached.
func (e *experiment) run(ctx context.Context, a *app) (*outcome, error) {
	n, _ := e.x.Dims()
	if err := a.Need("neighbours", knn.BruteBytes(e.x, listLength), knn.BruteOperations(e.x),
		remedy); err != nil {
		return nil, err
	}
	o := &outcome{table: newTable()}
	obs := a.Observer()
	if err := e.makeGraph(ctx, o, obs); err != nil {
		return nil, err
	}

	if err := a.Pipeline().AnnounceEigenpairs(n, o.graph.Components, lanczos.Edges{Count: o.graph.W.NNZ()},
		lanczos.Settings{K: pairs}, remedy); err != nil {
		return nil, err
	}
	obs.Begin("eigenpairs")
	l, err := sparse.NewLaplacian(o.graph.W, sparse.Combinatorial)
	if err != nil {
		return nil, err
	}

	settings := &lanczos.Settings{K: pairs, Seed: e.seed, OnRestart: func(s lanczos.State) error {
		obs.Update(float64(s.Basis), float64(s.BasisMax), s.String())
		return nil
	}}
	var notConverged error
	o.eigs, notConverged = lanczos.Laplacian(ctx, l, o.graph.Components, settings)
	if notConverged != nil && !errors.Is(notConverged, lanczos.ErrNotConverged) {
		return nil, notConverged
	}
	obs.End(o.eigs.String())

	if err := e.announceClassifiers(a); err != nil {
		return nil, err
	}
	obs.Begin("classifiers")
	// The vote looks among the labeled points of one list of neighbours, which all draws share.
	poll := nearest.NewPoll(e.x, knn.Euclidean, o.neighbors)
	for i, labels := range labelCounts {
		if err := e.classify(ctx, o, poll, labels); err != nil {
			return nil, fmt.Errorf("%d labels: %w", labels, err)
		}
		obs.Update(float64(i+1), float64(len(labelCounts)), fmt.Sprintf("%d labels", labels))
	}
	obs.End(fmt.Sprintf("%d draws a row", splits))
	return o, notConverged
}

// makeGraph finds the neighbours of all digits and builds the graph.
func (e *experiment) makeGraph(ctx context.Context, o *outcome, obs stage.Observer) error {
	obs.Begin("neighbours")
	progress := func(done, total int) { obs.Update(float64(done), float64(total), "") }
	index, err := knn.NewBrute(e.x, &knn.Settings{OnProgress: progress})
	if err != nil {
		return err
	}

	n, _ := e.x.Dims()
	length := listed(n)
	if o.neighbors, err = index.Self(ctx, length); err != nil {
		return err
	}
	obs.End(fmt.Sprintf("%d points, %d nearest, exact, %s", n, length, knn.Euclidean))

	obs.Begin("graph")
	w, _, err := knn.FromNeighbors(o.neighbors, graphSettings)
	if err != nil {
		return err
	}

	o.graph = models.NewGraph(w)
	obs.End(o.graph.Describe())
	return nil
}

// errorKey is the key of the errors in the table.
const errorKey = "error_mean"

// newTable returns the table without records. The view has a line for each number of labels
// and a column for each classifier.
func newTable() *results.Table {
	return &results.Table{
		Columns: []results.Column{
			{Key: "labels", Name: "labels", Kind: results.Integers},
			{Key: "method"}, // eigenmap or knn
			{Key: "name", OmitEmpty: true},
			{Key: "eigenvectors", Kind: results.Integers, OmitEmpty: true},
			{Key: "k", Kind: results.Integers, OmitEmpty: true}, // of the best vote
			{Key: errorKey, Deviation: "error_std", Published: "paper", Name: "error", Unit: "%",
				Kind:   results.Numbers,
				Format: results.Format{Number: "%.2f", Deviation: "%.2f"}},
			{Key: "classifier", PrintOnly: true},
		},
		Views: []results.View{
			{Rows: "labels", Across: "classifier", Show: []string{errorKey}, Corner: "labels"},
		},
		Figures: []results.Figure{{
			Title:   "Error by number of labels",
			Caption: "Mean over the draws of the labels; the bars are one standard deviation.",
			X:       "labels", By: "classifier", Value: errorKey, LogX: true, LogY: true,
		}},
	}
}

// add appends the errors of a classifier over the draws to the table.
func (o *outcome) add(labels int, method, name string, eigenvectors, k int, errs []float64) {
	classifier := "best k-NN"
	if method == "eigenmap" {
		classifier = "eigenmap, " + name
	}
	o.table.Add(results.Integer(labels), results.Text(method), results.Text(name),
		results.Integer(eigenvectors), results.Integer(k), results.Mean(errs), results.Text(classifier))
}

// classify adds the errors of all classifiers with a number of labels: the paper's rule for
// the number of eigenvectors, the penalized form with all of them, and the best vote.
func (e *experiment) classify(ctx context.Context, o *outcome, poll *nearest.Poll, labels int) error {
	// All classifiers see the same draws.
	draws := make([]*data.Labels, splits)
	for i := range draws {
		var err error
		if draws[i], err = e.truth.Draw(labels, e.seed+uint64(i)); err != nil {
			return err
		}
	}

	names := []string{"20 % rule", "penalized"}
	settings := []eigenmap.Settings{{}, penalized(labels)}
	fitted, err := eigenmap.FitAll(ctx, o.eigs, o.graph.Components, draws, settings)
	if err != nil {
		return err
	}
	for j, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}

		ms := make([]*eigenmap.Classifier, len(draws))
		for i := range ms {
			ms[i] = fitted[i][j]
		}
		var errs []float64
		for i, predicted := range eigenmap.TransduceAll(o.eigs, o.graph.Components, ms, draws) {
			errs = append(errs, 100*metrics.ErrorRate(predicted, e.truth, draws[i]))
		}
		o.add(labels, "eigenmap", name, ms[0].Settings.Eigenvectors, 0, errs)
	}
	return e.vote(ctx, o, poll, labels, draws)
}

// vote adds the errors of the best vote of the nearest labeled digits.
func (e *experiment) vote(ctx context.Context, o *outcome, poll *nearest.Poll, labels int,
	draws []*data.Labels) error {
	errs := make([][]float64, len(votes))
	for _, y := range draws {
		predicted, err := poll.KNN(ctx, y, votes)
		if err != nil {
			return err
		}
		for j, p := range predicted {
			errs[j] = append(errs[j], 100*metrics.ErrorRate(p, e.truth, y))
		}
	}

	// The best of the votes is chosen by the errors it is reported with: the baseline gets this
	// advantage.
	means := make([]float64, len(votes))
	for j := range votes {
		means[j], _ = results.MeanStd(errs[j])
	}
	best := slices.Index(means, slices.Min(means))
	o.add(labels, "knn", "", 0, votes[best], errs[best])
	return nil
}
