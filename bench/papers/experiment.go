// Package papers repeats published experiments: it holds the settings and the numbers of
// the papers, runs the same experiments with this project on the same data, and puts the
// two numbers side by side.
package papers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/floats"

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
	Splits int // random draws of each row, and three times as many of a row of few labels
	Seed   uint64
	KNN    bool // k-nearest-neighbour baseline, best of k = 1, 3, 5
	GNN    bool // the same with geodesic distances
	Notes  []string
	// Readings are graphs that the paper's words may mean: the experiment is repeated with each in
	// the place of Graph.K and Graph.Symmetry. Empty means Graph alone.
	Readings []Reading
}

// A Reading is one meaning of the paper's graph.
type Reading struct {
	Name     string // such as "8 neighbours, as written"
	K        int
	Symmetry sparse.Symmetry
}

// sumNote says how the readings W = A + Aᵀ came about, whose figures are therefore no check.
const sumNote = "W = A + Aᵀ, in which an edge that both ends name counts twice, is fitted to the paper's " +
	"figures of MNIST and 20 Newsgroups and not found in its text, which has weights one"

// fewLabels is the number of labels up to which a row has three times as many draws: there the
// error differs by points from draw to draw.
const fewLabels = 100

// draws returns the number of draws of a row.
func (e *Experiment) draws(labels int) int {
	if labels <= fewLabels {
		return 3 * e.Splits
	}
	return e.Splits
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
	// Name tells classifiers with the same number of eigenvectors apart. It may be
	// empty.
	Name     string
	Settings eigenmap.Settings
	Paper    float64 // published error in percent, NaN if there is none
}

// Outcome holds the parts and the results of an experiment. After several readings it
// holds the parts of the last reading.
type Outcome struct {
	Neighbors *knn.Neighbors
	Graph     *models.Graph
	Eigs      *lanczos.Result
	Table     *results.Table // errors in percent of the unlabeled points

	poll    *nearest.Poll // of the k-NN baseline
	reading string        // the reading under way, for the records; empty if there is only one
	fitted  bool          // the reading is fitted to the published figures
}

// errorColumn describes the column of errors in percent: means over the draws.
var errorColumn = results.Column{Key: "error_mean", Deviation: "error_std", Published: "paper", Name: "error",
	Unit: "%", Kind: results.Numbers,
	Format: results.Format{Number: "%.2f", Deviation: "%.2f", Published: "%.1f"}}

// newTable returns the table of the experiment, without records: one line for each
// number of labels, one column for each classifier.
func (e *Experiment) newTable() *results.Table {
	t := &results.Table{
		Columns: []results.Column{
			{Key: "reading", OmitEmpty: true},
			{Key: "labels", Name: "labels", Kind: results.Integers},
			{Key: "method"}, // eigenmap, knn or gnn
			{Key: "name", OmitEmpty: true},
			{Key: "eigenvectors", Kind: results.Integers, OmitEmpty: true},
			{Key: "k", Kind: results.Integers, OmitEmpty: true}, // of the best baseline
			errorColumn,
			{Key: "classifier", PrintOnly: true},
		},
		Views: []results.View{{Rows: "labels", Across: "classifier", Show: []string{errorColumn.Key},
			Corner: "labels"}},
		Figures: []results.Figure{{Title: "Error by number of labels",
			Caption: "Mean over the draws of the labels; the bars are one standard deviation.",
			X:       "labels", By: "classifier", Value: errorColumn.Key, LogX: true, LogY: true,
			Published: "paper, best number of eigenvectors",
			Of:        results.Where{Key: "method", Is: "eigenmap"}}},
		Notes: slices.Clone(e.Notes),
	}

	// Each reading has a view and a figure of its own, with its name as the caption.
	if len(e.Readings) > 0 {
		t.Views = nil
		t.Figures[0].Each = "reading"
		t.Figures[0].Title = "Error by number of labels, "
		for _, r := range e.Readings {
			t.Views = append(t.Views, results.View{Caption: r.Name,
				Where: results.Where{Key: "reading", Is: r.Name},
				Rows:  "labels", Across: "classifier", Show: []string{errorColumn.Key}, Corner: "labels"})
		}
	}

	return t
}

// addEigenmap appends the errors of an eigenmap classifier over the draws.
func (o *Outcome) addEigenmap(labels int, c Cell, eigenvectors int, errs []float64) {
	classifier := "eigenmap, " + c.Name
	if c.Name == "" {
		classifier = fmt.Sprintf("%d eigenvectors", eigenvectors)
	}
	mean := results.Mean(errs).Beside(c.Paper)
	if o.fitted {
		mean = mean.Judged(results.Fitted, sumNote)
	}
	o.Table.Add(results.Text(o.reading), results.Integer(labels), results.Text("eigenmap"),
		results.Text(c.Name), results.Integer(eigenvectors), results.Integer(0), mean,
		results.Text(classifier))
}

// sortClassifiers orders the columns of the table: eigenmaps with a name, then other
// eigenmaps by their number of eigenvectors, then the baselines.
func sortClassifiers(t *results.Table) {
	methods := []string{"eigenmap", "knn", "gnn"}
	place := func(r results.Record) (int, int) {
		eigenvectors := 0
		if t.Value(r, "name").Text == "" {
			eigenvectors = int(t.Value(r, "eigenvectors").Number)
		}
		return slices.Index(methods, t.Value(r, "method").Text), eigenvectors
	}

	// Records keep their order; only the order of the columns is taken from the sorted copy.
	sorted := slices.Clone(t.Records)
	slices.SortStableFunc(sorted, func(a, b results.Record) int {
		methodA, eigenvectorsA := place(a)
		methodB, eigenvectorsB := place(b)
		return cmp.Or(methodA-methodB, eigenvectorsA-eigenvectorsB)
	})
	t.Column("classifier").Order = t.Distinct(sorted, "classifier")
}

// baselineKs are the values of k that the baselines try. The table reports the k with the
// smallest error on the unlabeled points, as the paper does, which favours the baseline.
var baselineKs = []int{1, 3, 5}

// listLength is the number of neighbours kept for the k-NN baseline, which
// otherwise searches again wherever fewer than five of them are labeled.
const listLength = 64

// Run carries out the experiment. If it returns lanczos.ErrNotConverged, the outcome comes
// from the eigenpairs found so far.
func (e *Experiment) Run(ctx context.Context, obs stage.Observer) (*Outcome, error) {
	n, _ := e.X.Dims()
	o := &Outcome{Table: e.newTable()}

	obs.Begin("neighbours")
	ix, err := knn.NewBrute(e.X, &knn.Settings{Metric: e.Metric, OnProgress: func(done, total int) {
		obs.Update(float64(done), float64(total), "")
	}})
	if err != nil {
		return nil, err
	}
	// One search serves all readings and the k-NN baseline: the longest list that any of them
	// needs.
	length := e.Graph.K
	for _, r := range e.Readings {
		length = max(length, r.K)
	}
	if e.KNN {
		length = max(length, min(listLength, n/100))
	}
	if o.Neighbors, err = ix.Self(ctx, length); err != nil {
		return nil, err
	}

	obs.End(fmt.Sprintf("%d points, %d nearest, exact, %s", n, length, e.Metric))

	readings := e.Readings
	if len(readings) == 0 {
		readings = []Reading{{K: e.Graph.K, Symmetry: e.Graph.Symmetry}}
	}
	// Eigenpairs that did not converge still give results, which the caller may print with a
	// warning. Every other error ends the run.
	var notConverged error
	for i, r := range readings {
		one := *e
		one.Graph.K = r.K
		one.Graph.Symmetry = r.Symmetry
		one.KNN = e.KNN && i == 0 // k-NN has no graph
		o.reading = r.Name
		o.fitted = r.Symmetry == sparse.Sum
		fault := one.reading(ctx, o, obs)
		if fault != nil && !errors.Is(fault, lanczos.ErrNotConverged) {
			return nil, fault
		}
		notConverged = errors.Join(notConverged, fault)
		if r.Name != "" {
			o.Table.Notes = append(o.Table.Notes, o.deviation())
		}
	}

	sortClassifiers(o.Table)
	return o, notConverged
}

// reading carries out the experiment on the graph that joins the first e.Graph.K of the
// neighbours in o, and adds its records. If it returns lanczos.ErrNotConverged, the records
// come from the eigenpairs found so far.
func (e *Experiment) reading(ctx context.Context, o *Outcome, obs stage.Observer) error {
	// The eigenvectors of the reading before would lie in memory beside the basis of this one, also where nobody
	// has them: the collector comes after the basis is there.
	o.Eigs = nil
	o.Graph = nil
	runtime.GC()

	obs.Begin("graph")
	w, _, err := knn.FromNeighbors(o.Neighbors, e.Graph)
	if err != nil {
		return err
	}
	o.Graph = models.NewGraph(w)
	obs.End(o.Graph.Describe())

	obs.Begin("eigenpairs")
	l, err := sparse.NewLaplacian(w, e.Laplacian)
	if err != nil {
		return err
	}
	settings := &lanczos.Settings{K: e.Pairs, Seed: e.Seed, OnRestart: func(s lanczos.State) error {
		obs.Update(float64(s.Basis), float64(s.BasisMax), s.String())
		return nil
	}}
	// Eigenvectors on the null space come from the components; the solver computes the others.
	var notConverged error
	if o.Eigs, notConverged = lanczos.Laplacian(ctx, l, o.Graph.Components, settings); notConverged != nil &&
		!errors.Is(notConverged, lanczos.ErrNotConverged) {
		return notConverged
	}

	obs.End(o.Eigs.String())

	obs.Begin("classifiers")
	for i, row := range e.Rows {
		if len(e.Labels) > 0 && !slices.Contains(e.Labels, row.Labels) {
			continue
		}
		if err := e.row(ctx, o, row); err != nil {
			return fmt.Errorf("%d labels: %w", row.Labels, err)
		}
		obs.Update(float64(i+1), float64(len(e.Rows)), fmt.Sprintf("%d labels", row.Labels))
	}

	obs.End(fmt.Sprintf("%d draws a row, %d with up to %d labels", e.Splits, e.draws(0), fewLabels))
	return notConverged
}

// deviation says how far the eigenmaps of the reading are from the published figures.
func (o *Outcome) deviation() string {
	var sum, most float64
	var at results.Record
	count := 0
	for _, r := range o.Table.Select(results.Where{Key: "reading", Is: o.reading}) {
		v := o.Table.Value(r, errorColumn.Key)
		d := math.Abs(v.Number - v.Published)
		if o.Table.Value(r, "method").Text != "eigenmap" || math.IsNaN(d) {
			continue
		}
		if count++; count == 1 || d > most {
			most = d
			at = r
		}
		sum += d
	}

	// Rows may be selected such that the paper has no figure for any of them.
	if count == 0 {
		return o.reading + ": there is no published figure"
	}
	return fmt.Sprintf("%s (mean degree %.1f): the %d cells of eigenvectors are %.2f from the "+
		"paper's in the mean and %.2f at most, at %.0f labels and %s",
		o.reading, floats.Sum(o.Graph.Degrees)/float64(o.Graph.Len()), count, sum/float64(count), most,
		o.Table.Value(at, "labels").Number, o.Table.Value(at, "classifier").Text)
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

// row adds the results of one row to o.
func (e *Experiment) row(ctx context.Context, o *Outcome, row Row) error {
	if n := len(e.Truth.Labeled()); row.Labels >= n {
		return fmt.Errorf("%d points have a label and none would be left to classify", n)
	}
	// Draw i has the seed Seed + i in every row, so a row gives the same numbers alone and among
	// others.
	draws := make([]*data.Labels, e.draws(row.Labels))
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
	// All cells of a row share one pass over the eigenvectors.
	fitted, err := eigenmap.FitAll(ctx, o.Eigs, o.Graph.Components, draws, settings)
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
		for i, predicted := range eigenmap.TransduceAll(o.Eigs, o.Graph.Components, ms, draws) {
			errs = append(errs, 100*metrics.ErrorRate(predicted, e.Truth, draws[i]))
		}
		o.addEigenmap(row.Labels, c, ms[0].Settings.Eigenvectors, errs)
	}

	if e.KNN {
		// The poll keeps neighbour lists that it had to lengthen, so it serves all rows.
		if o.poll == nil {
			o.poll = nearest.NewPoll(e.X, e.Metric, o.Neighbors)
		}
		err := e.baseline(o, row, draws, "knn", row.PaperKNN,
			func(y *data.Labels) ([][]int32, error) { return o.poll.KNN(ctx, y, baselineKs) })
		if err != nil {
			return err
		}
	}

	if e.GNN {
		// Geodesic distances are shortest paths along the edges of the graph, with their lengths
		// in space. Both directions of an edge have one length, which is not added up.
		joined := e.Graph.Symmetry
		if joined == sparse.Sum {
			joined = sparse.Either
		}
		lengths := o.Neighbors.Distances(e.Graph.K).Symmetrize(joined)
		return e.baseline(o, row, draws, "gnn", math.NaN(), func(y *data.Labels) ([][]int32, error) {
			return nearest.GeodesicKNN(lengths, y, baselineKs)
		})
	}
	return nil
}

// baseline runs a method that predicts labels for every k of baselineKs, and adds a record
// for the best k.
func (e *Experiment) baseline(o *Outcome, row Row, draws []*data.Labels, method string, paper float64,
	classify func(*data.Labels) ([][]int32, error)) error {
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

	// The k is chosen by the mean over all draws, not for each draw.
	best := results.Number(math.Inf(1))
	k := 0
	for j := range baselineKs {
		if v := results.Mean(errs[j]); v.Number < best.Number {
			best = v
			k = baselineKs[j]
		}
	}

	classifier := map[string]string{"knn": "best k-NN", "gnn": "best k-GNN"}[method]
	o.Table.Add(results.Text(o.reading), results.Integer(row.Labels), results.Text(method), results.Text(""),
		results.Integer(0), results.Integer(k), best.Beside(paper), results.Text(classifier))
	return nil
}
