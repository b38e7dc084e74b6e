// Package multilabel holds the experiments of Minh & Sindhwani (2011) with several labels a
// point, run by bench/reproduce.
package multilabel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// Experiment is an experiment of Minh & Sindhwani (2011), section 6: vector-valued manifold
// regularization over a grid of γ_I and γ_O. γ_O = 0 means LapRLS for every label by itself,
// γ_I = 0 vector-valued RLS, and both zero RLS.
type Experiment struct {
	Name   string
	Points data.Points // training points
	Labels *mat.Dense  // their labels, 1 and 0
	// Test holds points that training does not see, and TestLabels their labels.
	Test       data.Points
	TestLabels *mat.Dense
	Kernel     kernel.Kernel
	Metric     knn.Metric
	// Inputs and Outputs are the numbers of neighbours in the graph of the points and in
	// the graph of the labels. The latter is computed from the labels of a draw.
	Inputs, Outputs int
	Norms           regularizer.Regularizer // its γ_I is not used
	GammaI, GammaO  []float64
	Targets         []string // signTargets, centredTargets or both
	Labeled, Draws  int
	Paper           float64 // published mean AUC on the unlabeled points, percent
	Seed            uint64
	Notes           []string
}

// The values of γ_I and γ_O, over the ranges of Figure 1.
var (
	multiLabelI = []float64{0, 1e-4, 1e-3, 1e-2, 1e-1}
	multiLabelO = []float64{0, 0.25, 0.5, 0.75, 1}
)

// readMultiLabel reads points and their labels, an array Y of 0 and 1 with one column for
// each label.
func readMultiLabel(o papers.Options, origin, points, labels string) (data.Points, *mat.Dense, error) {
	for _, name := range []string{points, labels} {
		if _, err := papers.Find(o.Dir, origin, name); err != nil {
			return nil, nil, err
		}
	}

	x, err := data.ReadPoints(filepath.Join(o.Dir, points), data.ReadOptions{Limit: o.Limit})
	if err != nil {
		return nil, nil, err
	}
	y, err := data.ReadValues(filepath.Join(o.Dir, labels), data.ReadOptions{Key: "Y", Limit: o.Limit})
	if err != nil {
		return nil, nil, err
	}
	n, _ := x.Dims()
	if rows, _ := y.Dims(); rows != n {
		return nil, nil, fmt.Errorf("%s holds %d points but %s labels of %d", points, n, labels, rows)
	}
	return x, y, nil
}

// split sets training and test points to the given rows of x.
func (e *Experiment) split(x data.Points, y *mat.Dense, training, test []int) {
	e.Points = data.Select(x, training)
	e.Labels = rowsOf(y, training)
	e.Test = data.Select(x, test)
	e.TestLabels = rowsOf(y, test)
}

// rowsOf copies rows of y.
func rowsOf(y *mat.Dense, rows []int) *mat.Dense {
	_, n := y.Dims()
	out := mat.NewDense(len(rows), n, nil)
	for p, i := range rows {
		copy(out.RawRowView(p), y.RawRowView(i))
	}
	return out
}

// The targets of an [Experiment]: ±1, and ±1 minus the mean over the labeled points.
const signTargets, centredTargets = "±1", "centred"

// gridPoint collects the results of all draws with one pair of weights.
type gridPoint struct {
	targets         string
	gammaI, gammaO  float64
	unlabeled, test []float64 // mean areas under the ROC curve over the labels, percent
	residual        float64   // the largest
	// areas holds the area of each draw and label, on unlabeled points and on test points.
	// It is NaN for a label that all of these points have, or none.
	areas [2][][]metrics.Number
}

// Run carries out the experiment. Records hold mean areas under the ROC curve over
// the labels, in percent; the picture is Figure 2, with the areas of each label.
func (e *Experiment) Run(ctx context.Context, obs stage.Observer) (*results.Table, *results.Picture, error) {
	obs.Begin("graph")
	ix, err := knn.NewBrute(e.Points, &knn.Settings{Metric: e.Metric})
	if err != nil {
		return nil, nil, err
	}
	w, _, err := knn.NewGraph(ctx, ix, knn.GraphSettings{K: e.Inputs})
	if err != nil {
		return nil, nil, err
	}

	lap, err := sparse.NewLaplacian(w, e.Norms.Laplacian)
	if err != nil {
		return nil, nil, err
	}
	obs.End(models.NewGraph(w).Describe())

	obs.Begin("kernel")
	// The kernel and its powers of the Laplacian are factored once for all draws and weights.
	problem, err := kernelmachine.NewVVMRProblem(ctx, &kernelmachine.Data{Points: e.Points, Kernel: e.Kernel,
		Laplacian: lap}, e.Norms, nil)
	if err != nil {
		return nil, nil, err
	}
	obs.End("shared by all draws and weights")

	obs.Begin("fits")
	var grid []*gridPoint
	// The order of the grid is the order of the records.
	for _, targets := range e.Targets {
		for _, i := range e.GammaI {
			for _, o := range e.GammaO {
				grid = append(grid, &gridPoint{targets: targets, gammaI: i, gammaO: o})
			}
		}
	}

	for draw := range e.Draws {
		if err := e.draw(ctx, draw, problem, grid, obs); err != nil {
			return nil, nil, err
		}
	}

	obs.End(fmt.Sprintf("%d draws of %d labeled points", e.Draws, e.Labeled))
	return e.table(grid), e.scatter(grid), nil
}

// draw labels points and fits with all weights of the grid.
func (e *Experiment) draw(ctx context.Context, draw int, problem *kernelmachine.VVMRProblem,
	grid []*gridPoint, obs stage.Observer) error {
	n, _ := e.Points.Dims()
	drawn := rand.New(rand.NewPCG(e.Seed+uint64(draw), 0x6d756c7469)).Perm(n)[:e.Labeled] // "multi"
	known, rest := e.hide(drawn)
	targets, err := multilabel.LabelTargets(known, nil)
	if err != nil {
		return err
	}
	graph, err := multilabel.OutputGraph(targets, e.Outputs)
	if err != nil {
		return err
	}

	// The eigenvectors of the graph of the labels are shared by all weights.
	outputs, err := solvers.NewOutputs(ctx, graph)
	if err != nil {
		return err
	}
	given := map[string]*models.Targets{signTargets: targets, centredTargets: centred(targets)}
	for c, p := range grid {
		s := kernelmachine.VVMRSettings{Regularizer: e.Norms, GammaO: p.gammaO}
		s.GammaI = p.gammaI
		m, err := problem.Fit(ctx, given[p.targets], outputs, &s)
		if err != nil && (m == nil || !errors.Is(err, cg.ErrNotConverged)) {
			return err
		}
		p.residual = math.Max(p.residual, m.Residual)
		// Only the labels that the draw hides are measured.
		inside, err := metrics.NewMultiLabelReport(rest, m.Values)
		if err != nil {
			return err
		}

		answer, err := m.Predict(ctx, e.Test, nil)
		if err != nil {
			return err
		}
		outside, err := metrics.NewMultiLabelReport(e.TestLabels, answer.Scores)
		if err != nil {
			return err
		}

		p.areas[0] = append(p.areas[0], inside.AUC)
		p.areas[1] = append(p.areas[1], outside.AUC)
		p.unlabeled = append(p.unlabeled, 100*float64(inside.MeanAUC))
		p.test = append(p.test, 100*float64(outside.MeanAUC))
		obs.Update(float64(draw*len(grid)+c+1), float64(e.Draws*len(grid)), "")
	}

	return nil
}

// centred subtracts from each column of the targets its mean over the labeled points.
func centred(t *models.Targets) *models.Targets {
	out := *t
	out.Y = mat.DenseCopyOf(t.Y)
	l, m := out.Y.Dims()
	for j := range m {
		mean := mat.Sum(out.Y.ColView(j)) / float64(l)
		for i := range l {
			out.Y.Set(i, j, out.Y.At(i, j)-mean)
		}
	}
	return &out
}

// table returns a table with a record for each point of the grid. It prints one line for each
// γ_I and one column for each γ_O, once for the targets of the paper and once for centred
// ones.
func (e *Experiment) table(grid []*gridPoint) *results.Table {
	t := &results.Table{
		Columns: []results.Column{
			{Key: "targets", Name: "targets"},
			{Key: "gamma_i", Name: "γ_I", Kind: results.Numbers, Format: results.Format{Number: "%g"}},
			{Key: "gamma_o", Name: "γ_O", Kind: results.Numbers, Format: results.Format{Number: "%g"}},
			// On the unlabeled training points. The published figure is of weights that
			// the paper does not name: the same in all records.
			{Key: "auc_mean", Deviation: "auc_std", Published: "paper", Name: "AUC", Unit: "%",
				Kind: results.Numbers, MoreIsBetter: true, BestIsPublished: true,
				Format: results.Format{Number: "%.1f", Deviation: "%.1f"}},
			{Key: "test_auc_mean", Deviation: "test_auc_std", Name: "AUC of the test points", Unit: "%",
				Kind: results.Numbers, Format: results.Format{Number: "%.1f"}},
			// of equation (17), relative
			{Key: "residual_max", Name: "residual", Kind: results.Numbers,
				Format: results.Format{Number: "%.1e"}},
		},
		Figures: []results.Figure{{Title: "AUC by weight of the graph, targets ", Each: "targets",
			X: "gamma_i", By: "gamma_o", Value: "auc_mean", LogX: true,
			Caption: "Unlabeled points, mean over the draws; the bars are one standard deviation."}},
	}

	captions := map[string]string{signTargets: "AUC %, unlabeled points ± standard deviation / test points",
		centredTargets: "The same with targets less their mean over the labeled points: a finding of " +
			"ours, not the authors' method"}
	for _, targets := range e.Targets {
		t.Views = append(t.Views, results.View{Caption: captions[targets],
			Where: results.Where{Key: "targets", Is: targets},
			Rows:  "gamma_i", Across: "gamma_o", Show: []string{"auc_mean", "test_auc_mean"},
			Corner: `γ_I \ γ_O`})
	}

	// The best cell is named in a note only: it is chosen by labels that no method sees.
	best := results.Number(0)
	at := &gridPoint{}
	residual := 0.0
	reason := e.apart(grid)
	for _, p := range grid {
		auc := results.Mean(p.unlabeled).Beside(e.Paper)
		if reason != "" {
			auc = auc.Judged(results.Differs, reason)
		}
		t.Add(results.Text(p.targets), results.Number(p.gammaI), results.Number(p.gammaO), auc,
			results.Mean(p.test), results.Number(p.residual))
		if p.targets == signTargets && auc.Number > best.Number {
			best = auc
			at = p
		}
		residual = math.Max(residual, p.residual)
	}

	t.Notes = append([]string{
		fmt.Sprintf("the highest of the unlabeled points, which all labels must be known to tell: "+
			"%.1f at γ_I = %g, γ_O = %g; the paper has %.1f at weights it does not name. γ_O = 0 is "+
			"LapRLS for every label by itself, γ_I = 0 vector-valued RLS, both zero RLS.",
			best.Number, at.gammaI, at.gammaO, e.Paper),
		fmt.Sprintf("largest relative residual of equation (17): %.1e", residual)}, e.Notes...)
	return t
}

// apart says why the figure of the paper is not compared with ours: RLS on each label by itself, in which
// nothing of the method is left, is ahead of it already. It is empty if RLS is not.
func (e *Experiment) apart(grid []*gridPoint) string {
	for _, p := range grid {
		if p.targets != signTargets || p.gammaI != 0 || p.gammaO != 0 {
			continue
		}
		if rls, _ := results.MeanStd(p.unlabeled); rls > e.Paper {
			return fmt.Sprintf("plain RLS (γ_I = γ_O = 0) has %.1f here and so is ahead of the %.1f of the paper's "+
				"whole method: points, labels or the mean of the areas are not those of the paper. The paper names no "+
				"rule for its weights either, and the best cell is found by labels that the draws hide", rls, e.Paper)
		}
	}
	return ""
}

// hide returns the labels twice: known has NaN for the points that are not drawn, and rest
// has NaN for the drawn points.
func (e *Experiment) hide(drawn []int) (known, rest *mat.Dense) {
	n, c := e.Labels.Dims()
	known = mat.NewDense(n, c, nil)
	rest = mat.DenseCopyOf(e.Labels)
	for i := range n {
		for j := range c {
			known.Set(i, j, math.NaN())
		}
	}

	// A drawn point is known and not measured.
	for _, i := range drawn {
		copy(known.RawRowView(i), e.Labels.RawRowView(i))
		for j := range c {
			rest.Set(i, j, math.NaN())
		}
	}

	return known, rest
}
