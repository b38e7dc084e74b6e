package papers

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/stage"
)

// FewMethod is a learner with its parameters in the table of few labels.
type FewMethod struct {
	Name    string
	Learner string
	Values  models.Values
	// TrueSizes gives the learner the sizes of the classes of the whole set, as priors.
	TrueSizes bool
	// Paper holds published errors on MNIST in percent, for 1 to 5 labels a class; nil for none.
	Paper []float64
}

// FewMethods lists the methods of the table. Published errors are computed from the accuracies in Table 1 of
// Calder et al. (2020) and in the result files of its authors' program.
var FewMethods = []FewMethod{
	{Name: "auto", Learner: "auto"},
	{Name: "auto, true sizes", Learner: "auto", TrueSizes: true},
	{Name: "lgc", Learner: "lgc"},
	{Name: "poisson", Learner: "poisson", Paper: []float64{9.8, 6.4, 5.5, 5.1, 4.7}},
	{Name: "reweighted", Learner: "reweighted"},
	{Name: "poisson-mbo", Learner: "poisson-mbo"},
	{Name: "poisson-mbo, true sizes", Learner: "poisson-mbo", TrueSizes: true},
	{Name: "poisson-mbo of the paper, equal sizes", Learner: "poisson-mbo",
		Values: models.Values{"class-shares": "equal", "keep-sizes": "true", "keep-pairs": "true"}},
	{Name: "poisson-mbo of the paper, true sizes", Learner: "poisson-mbo", Values: models.Values{"keep-pairs": "true"},
		TrueSizes: true, Paper: []float64{3.5, 2.8, 2.8, 2.8, 2.8}},
	{Name: "cut", Learner: "cut"},
	{Name: "cut, true sizes", Learner: "cut", TrueSizes: true},
}

// FewLabels compares learners with 1 to 5 labels a class on one graph, with labels drawn as in published
// experiments: Draws[l-1][d] are the rows of draw d of l labels a class.
type FewLabels struct {
	X       data.Points
	Truth   *data.Labels // every point labeled
	Graph   *pipeline.GraphSettings
	Draws   [][][]int
	Labels  []int // rows of the table to run; empty means all
	Methods []FewMethod
	Seed    uint64
}

// NewFewLabels returns the experiment on the 70,000 images of MNIST with the graph of auto and the first
// o.Splits of the 100 published draws.
func NewFewLabels(o Options) (*FewLabels, error) {
	e := &FewLabels{Labels: o.Labels, Methods: FewMethods, Seed: o.Seed}
	if err := e.readMNIST(o); err != nil {
		return nil, err
	}

	n, _ := e.X.Dims()
	path, err := Find(o.Dir, "the draws are those of LabelPermutations in the GraphLearning repository of J. Calder",
		"mnist70k_few_labels.npz")
	if err != nil {
		return nil, err
	}
	if e.Draws, err = readDraws(path, o.Splits, n, o.Limit); err != nil {
		return nil, err
	}
	e.Graph, err = pipeline.AutoGraph(e.X, nil)
	return e, err
}

// readMNIST reads the training images and after them the test images.
func (e *FewLabels) readMNIST(o Options) error {
	train, y, err := ReadMNIST(o, "train")
	if err != nil {
		return err
	}
	test, z, err := ReadMNIST(o, "t10k")
	if err != nil {
		return err
	}

	if e.X, err = data.Join(train, test); err != nil {
		return err
	}
	values := make([]int64, 0, y.Len()+z.Len())
	for _, part := range []*data.Labels{y, z} {
		for _, c := range part.Index {
			values = append(values, part.Classes[c])
		}
	}
	e.Truth = data.NewLabels(values, nil)
	return nil
}

// readDraws reads the arrays l1 … l5 of draws × labels row numbers below n, and keeps the first count draws.
func readDraws(path string, count, n int, limit int64) ([][][]int, error) {
	a, err := npy.OpenArchive(path, limit)
	if err != nil {
		return nil, err
	}
	defer a.Close()

	var out [][][]int
	for labels := 1; labels <= 5; labels++ {
		name := fmt.Sprintf("l%d", labels)
		array, err := a.Read(name)
		if err != nil {
			return nil, err
		}
		rows, ok := array.Data.([]int32)
		if !ok || len(array.Shape) != 2 {
			return nil, fmt.Errorf("%s: %s is no table of int32", path, name)
		}
		width := array.Shape[1]
		var draws [][]int
		for d := range min(count, array.Shape[0]) {
			var draw []int
			for _, row := range rows[d*width : (d+1)*width] {
				if row < 0 || int(row) >= n {
					return nil, fmt.Errorf("%s: %s, draw %d: row %d of %d points", path, name, d, row, n)
				}
				draw = append(draw, int(row))
			}
			draws = append(draws, draw)
		}
		out = append(out, draws)
	}
	return out, nil
}

// Run carries out the experiment. The graph is made once and is not in the seconds of a fit.
func (e *FewLabels) Run(ctx context.Context, obs stage.Observer) (*results.Table, error) {
	p := &pipeline.Pipeline{Seed: e.Seed}
	obs.Begin("graph")
	g, err := p.Graph(ctx, e.X, e.Graph)
	if err != nil {
		return nil, err
	}
	obs.End(g.Describe())

	obs.Begin("fits")
	t := e.table()
	done, total := 0, 0
	for l, draws := range e.Draws {
		if e.wants(l + 1) {
			total += len(draws) * len(e.Methods)
		}
	}
	for l, draws := range e.Draws {
		if !e.wants(l + 1) {
			continue
		}
		for _, m := range e.Methods {
			r, err := e.fit(ctx, p, g, m, l+1, draws)
			if err != nil {
				return nil, fmt.Errorf("%d labels a class, %s: %w", l+1, m.Name, err)
			}
			t.Add(r...)
			done += len(draws)
			obs.Update(float64(done), float64(total), m.Name)
		}
	}
	obs.End(fmt.Sprintf("%d fits", done))
	return t, nil
}

// wants reports whether the row of so many labels a class is to be run.
func (e *FewLabels) wants(labels int) bool {
	return len(e.Labels) == 0 || slices.Contains(e.Labels, labels)
}

// table returns the table without records.
func (e *FewLabels) table() *results.Table {
	wrong := errorColumn
	return &results.Table{
		Columns: []results.Column{
			{Key: "labels", Name: "labels a class", Kind: results.Integers},
			{Key: "method", Name: "method"},
			{Key: "draws", Name: "draws", Kind: results.Integers},
			wrong,
			{Key: "seconds_mean", Name: "seconds a fit", Kind: results.Numbers,
				Format: results.Format{Number: "%.2f"}},
		},
		Views: []results.View{{Rows: "method", Across: "labels", Show: []string{wrong.Key}, Corner: "method",
			MarkLeast: true}, {Show: []string{"labels", "method", wrong.Key, "seconds_mean", "draws"}}},
		Figures: []results.Figure{{Title: "labels a class: ", Each: "labels", By: "method", Value: wrong.Key}},
		Notes: []string{"Published figures are means of 100 draws on another graph, 10 nearest by features of a " +
			"variational autoencoder that are not in the data; the draws of the labels are the same. They tell the " +
			"size of the errors and are not comparable."},
	}
}

// fit returns the record of one method on all draws of a row.
func (e *FewLabels) fit(ctx context.Context, p *pipeline.Pipeline, g *pipeline.Graph, m FewMethod, labels int,
	draws [][]int) (results.Record, error) {
	learner := all.Learner(m.Learner)
	values := m.Values
	if m.TrueSizes {
		values = values.With(models.Values{"priors": e.shares()})
	}

	var errs []float64
	var spent time.Duration
	for _, draw := range draws {
		y := e.Truth.Keep(draw)
		targets, err := models.ClassTargets(y)
		if err != nil {
			return nil, err
		}
		start := time.Now()
		fitted, err := p.Fit(ctx, learner, &models.Input{Points: e.X, Targets: targets, Graph: &g.Graph,
			Values: values}, e.Graph)
		if !models.Usable(err) {
			return nil, err
		}
		spent += time.Since(start)

		trained, ok := fitted.(models.Trained)
		if !ok {
			return nil, fmt.Errorf("papers: %s keeps no answers", m.Learner)
		}
		errs = append(errs, 100*metrics.ErrorRate(trained.Training(false).Classes, e.Truth, y))
	}

	paper := math.NaN()
	if m.Paper != nil {
		paper = m.Paper[labels-1]
	}
	return results.Record{results.Integer(labels), results.Text(m.Name), results.Integer(len(draws)),
		results.Mean(errs).Beside(paper), results.Number(spent.Seconds() / float64(len(draws)))}, nil
}

// shares returns the numbers of points of the classes, as a list of priors.
func (e *FewLabels) shares() string {
	counts := make([]int, len(e.Truth.Classes))
	for _, c := range e.Truth.Index {
		counts[c]++
	}
	texts := make([]string, len(counts))
	for c, count := range counts {
		texts[c] = strconv.Itoa(count)
	}
	return strings.Join(texts, ",")
}
