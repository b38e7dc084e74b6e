// Package papers repeats the published experiments: it knows their settings and
// their numbers, runs ours on the same data and puts the two side by side.
package papers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/sparse"
)

// Experiment is a semi-supervised classification experiment in the form of
// Belkin & Niyogi (2004), section 6: a graph, its eigenvectors, and for several
// numbers of labels the error on the unlabeled points over random draws.
type Experiment struct {
	Name  string
	X     data.Points
	Truth *data.Labels // every point labeled

	Metric    knn.Metric
	Graph     knn.GraphSettings
	Laplacian sparse.Kind
	Pairs     int // eigenpairs to compute
	Rows      []Row

	// Labels selects rows by their number of labels; empty means all.
	Labels []int
	Splits int // random draws of each row
	Seed   uint64
	KNN    bool // k-nearest-neighbour baseline, best of k = 1, 3, 5
	GNN    bool // the same with geodesic distances
}

// Row is one number of labels with the classifiers to try.
type Row struct {
	Labels int
	Cells  []Cell
	// PaperKNN is the published baseline, NaN if there is none.
	PaperKNN float64
}

// Cell is one classifier of a row.
type Cell struct {
	// Name distinguishes classifiers whose number of eigenvectors does not; it
	// may be empty.
	Name     string
	Settings eigenmap.Settings
	Paper    float64 // published error in percent, NaN if there is none
}

// Observer is told how an experiment proceeds. Update may be called from
// several goroutines.
type Observer interface {
	Begin(stage string)
	Update(done, total float64, note string)
	End(note string)
}

// Outcome is what an experiment made.
type Outcome struct {
	Neighbors  *knn.Neighbors
	Graph      *sparse.CSR
	Components *sparse.Components
	Eigs       *lanczos.Result
	Results    []Result
}

// Result is one line of the table; errors are in percent of the unlabeled
// points.
type Result struct {
	Labels       int     `json:"labels"`
	Method       string  `json:"method"` // "eigenmap", "knn" or "gnn"
	Name         string  `json:"name,omitempty"`
	Eigenvectors int     `json:"eigenvectors,omitempty"`
	K            int     `json:"k,omitempty"` // of the best baseline
	Mean         float64 `json:"error_mean"`
	Std          float64 `json:"error_std"` // of one draw, over the draws
	Paper        Number  `json:"paper"`
}

// Number is a float64 whose NaN is null in JSON.
type Number = metrics.Number

// baselineKs are the k of the baselines; the best on the unlabeled points is
// reported, as in the paper.
var baselineKs = []int{1, 3, 5}

// listLength is the number of neighbours kept for the k-NN baseline, which
// otherwise searches again wherever fewer than five of them are labeled.
const listLength = 64

// Run carries out the experiment. With lanczos.ErrNotConverged comes the outcome
// from the eigenpairs that were reached.
func (e *Experiment) Run(ctx context.Context, obs Observer) (*Outcome, error) {
	n, _ := e.X.Dims()
	o := &Outcome{}

	obs.Begin("neighbours")
	ix, err := knn.NewBrute(e.X, &knn.Settings{Metric: e.Metric, OnProgress: func(done, total int) {
		obs.Update(float64(done), float64(total), "")
	}})
	if err != nil {
		return nil, err
	}
	length := e.Graph.K
	if e.KNN {
		length = max(length, min(listLength, n/100))
	}
	if o.Neighbors, err = ix.Self(ctx, length); err != nil {
		return nil, err
	}
	obs.End(fmt.Sprintf("%d points, %d nearest, exact, %s", n, length, e.Metric))

	obs.Begin("graph")
	if o.Graph, _, err = knn.FromNeighbors(o.Neighbors, e.Graph); err != nil {
		return nil, err
	}
	o.Components = o.Graph.Components()
	obs.End(DescribeGraph(o.Graph, o.Components))

	obs.Begin("eigenpairs")
	l, err := sparse.NewLaplacian(o.Graph, e.Laplacian)
	if err != nil {
		return nil, err
	}
	settings := &lanczos.Settings{K: e.Pairs, Seed: e.Seed, OnRestart: func(s lanczos.State) error {
		obs.Update(float64(s.Basis), float64(s.BasisMax), s.String())
		return nil
	}}
	var notConverged error
	if o.Eigs, notConverged = lanczos.Laplacian(ctx, l, o.Components, settings); notConverged != nil && !errors.Is(notConverged, lanczos.ErrNotConverged) {
		return nil, notConverged
	}
	obs.End(o.Eigs.String())

	obs.Begin("classifiers")
	for i, row := range e.Rows {
		if len(e.Labels) > 0 && !slices.Contains(e.Labels, row.Labels) {
			continue
		}
		if err := e.row(ctx, o, row); err != nil {
			return nil, fmt.Errorf("%d labels: %w", row.Labels, err)
		}
		obs.Update(float64(i+1), float64(len(e.Rows)), fmt.Sprintf("%d labels", row.Labels))
	}
	obs.End(fmt.Sprintf("%d draws a row", e.Splits))
	return o, notConverged
}

// graph makes the graph of the experiment alone.
func (e *Experiment) graph(ctx context.Context) (*sparse.CSR, error) {
	ix, err := knn.NewBrute(e.X, &knn.Settings{Metric: e.Metric})
	if err != nil {
		return nil, err
	}
	w, _, err := knn.NewGraph(ctx, ix, e.Graph)
	return w, err
}

// WriteGraph writes the graph of the experiment in SciPy's form.
func (e *Experiment) WriteGraph(ctx context.Context, path string) error {
	w, err := e.graph(ctx)
	if err != nil {
		return err
	}
	return sparse.WriteNPZ(path, w, nil)
}

// DescribeGraph says in a few words what graph this is.
func DescribeGraph(w *sparse.CSR, c *sparse.Components) string {
	s := fmt.Sprintf("%d edges, %d components", w.NNZ()/2, c.Count())
	if c.Count() == 1 {
		s = fmt.Sprintf("%d edges, 1 component", w.NNZ()/2)
	}
	if isolated := c.Isolated(); isolated > 0 {
		s += fmt.Sprintf(", %d isolated points", isolated)
	}
	return s
}

// row adds the results of one row to o.
func (e *Experiment) row(ctx context.Context, o *Outcome, row Row) error {
	if n := len(e.Truth.Labeled()); row.Labels >= n {
		return fmt.Errorf("%d points have a label and none would be left to classify", n)
	}
	draws := make([]*data.Labels, e.Splits)
	for i := range draws {
		var err error
		if draws[i], err = e.Truth.Draw(row.Labels, e.Seed+uint64(i)); err != nil {
			return err
		}
	}
	settings := make([]eigenmap.Settings, len(row.Cells))
	for j, c := range row.Cells {
		settings[j] = c.Settings
	}
	fitted, err := eigenmap.FitAll(ctx, o.Eigs, o.Components, draws, settings)
	if err != nil {
		return err
	}
	for j, c := range row.Cells {
		if err := ctx.Err(); err != nil {
			return err
		}
		ms := make([]*eigenmap.Classifier, len(draws))
		for i := range ms {
			ms[i] = fitted[i][j]
		}
		var errs []float64
		for i, predicted := range eigenmap.TransduceAll(o.Eigs, o.Components, ms, draws) {
			errs = append(errs, 100*metrics.ErrorRate(predicted, e.Truth, draws[i]))
		}
		mean, std := meanStd(errs)
		o.Results = append(o.Results, Result{Labels: row.Labels, Method: "eigenmap", Name: c.Name, Eigenvectors: ms[0].Settings.Eigenvectors,
			Mean: mean, Std: std, Paper: Number(c.Paper)})
	}
	if e.KNN {
		err := e.baseline(o, row, draws, "knn", row.PaperKNN, func(y *data.Labels) ([][]int32, error) {
			return nearest.KNN(ctx, e.X, e.Metric, o.Neighbors, y, baselineKs)
		})
		if err != nil {
			return err
		}
	}
	if e.GNN {
		lengths := o.Neighbors.Distances(e.Graph.K).Symmetrize(e.Graph.Symmetry)
		return e.baseline(o, row, draws, "gnn", math.NaN(), func(y *data.Labels) ([][]int32, error) {
			return nearest.GeodesicKNN(lengths, y, baselineKs)
		})
	}
	return nil
}

// baseline runs a method that answers for every k of baselineKs and adds the
// best.
func (e *Experiment) baseline(o *Outcome, row Row, draws []*data.Labels, name string, paper float64, classify func(*data.Labels) ([][]int32, error)) error {
	errs := make([][]float64, len(baselineKs))
	for _, y := range draws {
		predicted, err := classify(y)
		if err != nil {
			return err
		}
		for j, p := range predicted {
			errs[j] = append(errs[j], 100*metrics.ErrorRate(p, e.Truth, y))
		}
	}
	best := Result{Mean: math.Inf(1)}
	for j, k := range baselineKs {
		if mean, std := meanStd(errs[j]); mean < best.Mean {
			best = Result{Labels: row.Labels, Method: name, K: k, Mean: mean, Std: std, Paper: Number(paper)}
		}
	}
	o.Results = append(o.Results, best)
	return nil
}

// meanStd returns the mean and the sample standard deviation, 0 for a single
// value.
func meanStd(x []float64) (mean, std float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	if len(x) < 2 {
		return mean, 0
	}
	for _, v := range x {
		std += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(std)
}
