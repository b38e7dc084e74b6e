package papers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// PropagationMethod is a method of graph regularization with its settings.
type PropagationMethod struct {
	Name     string
	Settings propagation.Settings
	// Equal gives all classes the same prior, in place of their shares of the labels.
	Equal bool
	// Reweighted is Poisson-reweighted Laplace learning: harmonic functions on the
	// weights of propagation.FitReweighted.
	Reweighted bool
	// Paper holds published errors on MNIST in percent, by the number of labels a class.
	Paper map[int]float64
}

// poissonPaper holds the errors of Poisson learning in Table 1 of Calder et al. (2020),
// computed from its accuracies 90.2, 93.6, 94.5, 94.9 and 95.3 %.
var poissonPaper = map[int]float64{1: 9.8, 2: 6.4, 3: 5.5, 4: 5.1, 5: 4.7}

// PropagationMethods lists the methods that [Propagation] compares.
var PropagationMethods = []PropagationMethod{
	{Name: "harmonic", Settings: propagation.Settings{Method: propagation.Harmonic}},
	{Name: "harmonic, mass of the labels", Settings: propagation.Settings{Method: propagation.Harmonic,
		MassNormalization: true}},
	{Name: "harmonic, equal mass", Settings: propagation.Settings{Method: propagation.Harmonic,
		MassNormalization: true}, Equal: true},
	{Name: "lgc", Settings: propagation.Settings{Method: propagation.LGC}},
	{Name: "poisson", Settings: propagation.Settings{Method: propagation.Poisson}, Paper: poissonPaper},
	{Name: "reweighted", Reweighted: true},
}

// Propagation compares methods of graph regularization on one graph, prepared once: with 1
// to 5 labels a class, as in Table 1 of Calder et al. (2020), which has another graph of
// other features, and with 100 labels drawn from all points.
type Propagation struct {
	X     data.Points
	Truth *data.Labels // every point labeled
	Graph knn.GraphSettings
	Rows  []PropagationRow
	Seed  uint64
}

// PropagationRow is a way to draw labels.
type PropagationRow struct {
	Labels   int  // in all, or in each class
	PerClass bool // Labels counts the labels of each class
	Draws    int
}

// String names the row.
func (r PropagationRow) String() string {
	if r.PerClass {
		return fmt.Sprintf("%d a class", r.Labels)
	}
	return fmt.Sprint(r.Labels)
}

// NewPropagation returns the experiment on MNIST with the graph of [MNIST]. It makes
// 2·o.Splits draws of each of 1 to 5 labels a class, and o.Splits/2 draws of 100 labels.
func NewPropagation(o Options) (*Propagation, error) {
	// The comparison is about methods, so the graph stays the paper's.
	o.Best = false
	e, err := MNIST(o)
	if err != nil {
		return nil, err
	}
	out := &Propagation{X: e.X, Truth: e.Truth, Graph: e.Graph, Seed: o.Seed}
	for labels := range 5 {
		out.Rows = append(out.Rows, PropagationRow{labels + 1, true, 2 * o.Splits})
	}
	out.Rows = append(out.Rows, PropagationRow{100, false, max(1, o.Splits/2)})
	return out, nil
}

// draw returns the labels of one draw of the row. The seed alone decides the draw.
func (r PropagationRow) draw(truth *data.Labels, seed uint64) (*data.Labels, error) {
	if !r.PerClass {
		return truth.Draw(r.Labels, seed)
	}
	of := make([][]int, len(truth.Classes))
	for i, c := range truth.Index {
		of[c] = append(of[c], i)
	}
	rng := rand.New(rand.NewPCG(seed, 0x706572636c617373)) // "perclass"
	var rows []int
	for c, all := range of {
		if len(all) < r.Labels {
			return nil, fmt.Errorf("papers: class %d has %d points, %d are to be labeled", truth.Classes[c],
				len(all), r.Labels)
		}
		// The first steps of a Fisher–Yates shuffle: a draw without repetition.
		for i := range r.Labels {
			j := i + rng.IntN(len(all)-i)
			all[i], all[j] = all[j], all[i]
		}
		rows = append(rows, all[:r.Labels]...)
	}

	return truth.Keep(rows), nil
}

// Run carries out the experiment. If it returns cg.ErrNotConverged, the table holds the
// errors of the last iterates.
func (e *Propagation) Run(ctx context.Context, obs stage.Observer) (*results.Table, error) {
	n, _ := e.X.Dims()
	obs.Begin("graph")
	ix, err := knn.NewBrute(e.X, &knn.Settings{OnProgress: func(done, total int) {
		obs.Update(float64(done), float64(total), "")
	}})
	if err != nil {
		return nil, err
	}
	w, _, err := knn.NewGraph(ctx, ix, e.Graph)
	if err != nil {
		return nil, err
	}

	// The components are found once; the problem below keeps what all fits share.
	g := models.NewGraph(w)
	obs.End(fmt.Sprintf("%d points, %s", n, g.Describe()))

	obs.Begin("preparation")
	problem, err := propagation.NewProblem(w, g.Components)
	if err != nil {
		return nil, err
	}
	prepared := &propagationGraph{w, problem}
	obs.End("shared by all draws and methods")

	obs.Begin("fits")
	t := e.table()
	var notConverged error
	total := len(e.Rows) * len(PropagationMethods)
	for _, row := range e.Rows {
		// All methods of a row see the same draws, so their differences are not due to the labels.
		draws := make([]*data.Labels, row.Draws)
		for i := range draws {
			if draws[i], err = row.draw(e.Truth, e.Seed+uint64(i)); err != nil {
				return nil, err
			}
		}

		for _, m := range PropagationMethods {
			r, err := e.fit(ctx, prepared, row, draws, m)
			if err != nil && !errors.Is(err, cg.ErrNotConverged) {
				return nil, fmt.Errorf("%s labels, %s: %w", row, m.Name, err)
			}
			notConverged = errors.Join(notConverged, err)
			t.Add(r...)
			obs.Update(float64(len(t.Records)), float64(total), fmt.Sprintf("%s labels, %s", row, m.Name))
		}
	}

	obs.End(fmt.Sprintf("%d methods", len(PropagationMethods)))
	return t, notConverged
}

// Cost estimates the memory of the prepared problem and of the largest fit, the reweighted
// one. It assumes 1.5 edges for every neighbour that the graph asks for.
func (e *Propagation) Cost() (stage.Cost, error) {
	n, _ := e.X.Dims()
	classes := len(e.Truth.Classes)
	in := &models.Input{Edges: n * e.Graph.K * 3 / 2,
		Targets: &models.Targets{Len: n, Classes: e.Truth.Classes, Y: mat.NewDense(1, classes, nil)}}
	cost, err := propagation.ReweightedLearner{}.Cost(in)
	cost.Bytes += stage.HeapBytes(12 * int64(in.Edges)) // the graph
	cost.Operations = 0                                 // a fit is short, and there are many
	return cost, err
}

// table returns the table of the experiment, without records: errors in percent of
// the unlabeled points, seconds of one fit, means over the draws.
func (e *Propagation) table() *results.Table {
	wrong := errorColumn
	return &results.Table{
		Columns: []results.Column{
			{Key: "labels", Name: "labels"},
			{Key: "method", Name: "method"},
			{Key: "draws", Name: "draws", Kind: results.Integers},
			wrong,
			{Key: "seconds_mean", Name: "seconds a fit", Kind: results.Numbers,
				Format: results.Format{Number: "%.3f"}},
			{Key: "iterations_max", Name: "iterations", Kind: results.Integers},
			// recomputed
			{Key: "residual_max", Name: "residual", Kind: results.Numbers,
				Format: results.Format{Number: "%.1e"}},
		},
		Views: []results.View{{Show: []string{"labels", "method", wrong.Key, "seconds_mean",
			"iterations_max", "residual_max", "draws"}}},
		Figures: []results.Figure{{Title: "labels: ", Each: "labels", By: "method", Value: wrong.Key}},
		Notes: []string{"The figures of the paper are those of Poisson learning in Table 1 of Calder " +
			"et al. (2020), by 100 draws on another graph: " +
			"10 nearest by features of an autoencoder, which are not in the data. They stand here " +
			"for the size of the errors and are not comparable."},
	}
}

// propagationGraph is a graph with its prepared problem.
type propagationGraph struct {
	w       *sparse.CSR
	problem *propagation.Problem
}

// solve fits a method to targets.
func (g *propagationGraph) solve(ctx context.Context, y *models.Targets,
	m *PropagationMethod) (*propagation.Solution, error) {
	if m.Reweighted {
		s, _, err := propagation.FitReweighted(ctx, g.w, g.problem, y, &m.Settings)
		return s, err
	}
	return g.problem.Fit(ctx, y, &m.Settings)
}

// fit returns the record of one method on all draws of a row. If it returns
// cg.ErrNotConverged, the record counts the errors of the last iterates.
func (e *Propagation) fit(ctx context.Context, graph *propagationGraph, row PropagationRow,
	draws []*data.Labels, m PropagationMethod) (results.Record, error) {
	if m.Equal {
		m.Settings.Priors = slices.Repeat([]float64{1}, len(e.Truth.Classes))
	}
	var errs []float64
	var notConverged error
	var spent time.Duration
	iterations, residual := 0, 0.0
	for _, y := range draws {
		targets, err := models.ClassTargets(y)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		g, err := graph.solve(ctx, targets, &m)
		if err != nil && !errors.Is(err, cg.ErrNotConverged) {
			return nil, err
		}
		notConverged = errors.Join(notConverged, err)
		spent += time.Since(start)
		iterations = max(iterations, g.Iterations)
		residual = math.Max(residual, slices.Max(g.Residuals))
		errs = append(errs, 100*metrics.ErrorRate(g.Labels, e.Truth, y))
	}

	// Draws run one after another, so that each fit is timed with the whole machine.
	seconds := spent.Seconds() / float64(len(draws))
	paper := math.NaN()
	if v, ok := m.Paper[row.Labels]; ok && row.PerClass {
		paper = v
	}
	return results.Record{results.Text(row.String()), results.Text(m.Name), results.Integer(len(draws)),
		results.Mean(errs).Beside(paper), results.Number(seconds), results.Integer(iterations),
		results.Number(residual)}, notConverged
}
