package papers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/sparse"
)

// MultiLabel is an experiment of Minh & Sindhwani (2011), section 6: vector-valued
// manifold regularization over a grid of γ_I and γ_O. γ_O = 0 is LapRLS for every
// label by itself, γ_I = 0 vector-valued RLS, both zero RLS.
type MultiLabel struct {
	Name   string
	Points data.Points // training points
	Labels *mat.Dense  // their labels, 1 and 0
	// Test points are not seen in training.
	Test       data.Points
	TestLabels *mat.Dense
	Kernel     kernel.Kernel
	Metric     knn.Metric
	// Inputs and Outputs are the numbers of neighbours in the two graphs; the
	// second is made of the labels of a draw.
	Inputs, Outputs int
	Norms           models.Regularizer // but for γ_I
	GammaI, GammaO  []float64
	Labeled, Draws  int
	Paper           float64 // published mean AUC on the unlabeled points, percent
	Seed            uint64
}

// MultiLabelResult is one point of the grid: mean areas under the ROC curve over
// the labels, in percent.
type MultiLabelResult struct {
	GammaI  float64 `json:"gamma_i"`
	GammaO  float64 `json:"gamma_o"`
	Mean    float64 `json:"auc_mean"` // on the unlabeled training points
	Std     float64 `json:"auc_std"`  // of one draw, over the draws
	Test    float64 `json:"test_auc_mean"`
	TestStd float64 `json:"test_auc_std"`
	// Paper is the published figure on the unlabeled points, which is of weights
	// that the paper does not name: the same in all results.
	Paper    Number  `json:"paper"`
	Residual float64 `json:"residual_max"` // of equation (17), relative
}

// multiLabelGrid has the ranges of Figure 1.
var (
	multiLabelI = []float64{0, 1e-4, 1e-3, 1e-2, 1e-1}
	multiLabelO = []float64{0, 0.25, 0.5, 0.75, 1}
)

// readMultiLabel reads points and their labels.
func readMultiLabel(o Options, origin, points, labels string) (data.Points, *mat.Dense, error) {
	for _, name := range []string{points, labels} {
		if _, err := find(o.Dir, origin, name); err != nil {
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
func (e *MultiLabel) split(x data.Points, y *mat.Dense, training, test []int) {
	e.Points, e.Labels = data.Select(x, training), rowsOf(y, training)
	e.Test, e.TestLabels = data.Select(x, test), rowsOf(y, test)
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

// Run carries out the experiment.
func (e *MultiLabel) Run(ctx context.Context, obs Observer) ([]MultiLabelResult, error) {
	obs.Begin("graph")
	ix, err := knn.NewBrute(e.Points, &knn.Settings{Metric: e.Metric})
	if err != nil {
		return nil, err
	}
	w, _, err := knn.NewGraph(ctx, ix, knn.GraphSettings{K: e.Inputs})
	if err != nil {
		return nil, err
	}
	lap, err := sparse.NewLaplacian(w, e.Norms.Laplacian)
	if err != nil {
		return nil, err
	}
	obs.End(DescribeGraph(w, w.Components()))

	obs.Begin("kernel")
	problem, err := kernelmachine.NewVVMRProblem(ctx, e.Points, e.Kernel, lap, e.Norms.Power, nil, 0)
	if err != nil {
		return nil, err
	}
	obs.End("shared by all draws and weights")

	obs.Begin("fits")
	var results []MultiLabelResult
	var unlabeled, test [][]float64
	for _, i := range e.GammaI {
		for _, o := range e.GammaO {
			results = append(results, MultiLabelResult{GammaI: i, GammaO: o, Paper: Number(e.Paper)})
			unlabeled, test = append(unlabeled, nil), append(test, nil)
		}
	}
	n, _ := e.Points.Dims()
	for draw := range e.Draws {
		drawn := rand.New(rand.NewPCG(e.Seed+uint64(draw), 0x6d756c7469)).Perm(n)[:e.Labeled] // "multi"
		known, rest := e.hide(drawn)
		targets, err := models.LabelTargets(known, nil)
		if err != nil {
			return nil, err
		}
		graph, err := kernelmachine.OutputGraph(targets, e.Outputs)
		if err != nil {
			return nil, err
		}
		outputs, err := kernelmachine.NewOutputs(graph)
		if err != nil {
			return nil, err
		}
		for c := range results {
			r := &results[c]
			s := kernelmachine.VVMRSettings{Regularizer: e.Norms, GammaO: r.GammaO}
			s.GammaI = r.GammaI
			m, err := problem.Fit(ctx, targets, outputs, &s)
			if err != nil && (m == nil || !errors.Is(err, cg.ErrNotConverged)) {
				return nil, err
			}
			r.Residual = math.Max(r.Residual, m.Residual)
			inside, err := metrics.NewMultiLabelReport(rest, m.Values)
			if err != nil {
				return nil, err
			}
			answer, err := m.Predict(ctx, e.Test, nil)
			if err != nil {
				return nil, err
			}
			outside, err := metrics.NewMultiLabelReport(e.TestLabels, answer.Scores)
			if err != nil {
				return nil, err
			}
			unlabeled[c], test[c] = append(unlabeled[c], 100*float64(inside.MeanAUC)), append(test[c], 100*float64(outside.MeanAUC))
			obs.Update(float64(draw*len(results)+c+1), float64(e.Draws*len(results)), "")
		}
	}
	for c := range results {
		r := &results[c]
		r.Mean, r.Std = meanStd(unlabeled[c])
		r.Test, r.TestStd = meanStd(test[c])
	}
	obs.End(fmt.Sprintf("%d draws of %d labeled points", e.Draws, e.Labeled))
	return results, nil
}

// hide returns the labels of the drawn points, NaN for the others, and the other
// way round.
func (e *MultiLabel) hide(drawn []int) (known, rest *mat.Dense) {
	n, c := e.Labels.Dims()
	known, rest = mat.NewDense(n, c, nil), mat.DenseCopyOf(e.Labels)
	for i := range n {
		for j := range c {
			known.Set(i, j, math.NaN())
		}
	}
	for _, i := range drawn {
		copy(known.RawRowView(i), e.Labels.RawRowView(i))
		for j := range c {
			rest.Set(i, j, math.NaN())
		}
	}
	return known, rest
}

// MultiLabelMarkdown writes the grid as a table: one line a γ_I and one column a
// γ_O, the mean AUC on the unlabeled points, that on the test points behind it.
func MultiLabelMarkdown(results []MultiLabelResult) string {
	var b strings.Builder
	b.WriteString("AUC %, unlabeled points ± standard deviation / test points\n\n| γ_I \\ γ_O |")
	columns := 0
	for columns < len(results) && results[columns].GammaI == results[0].GammaI {
		fmt.Fprintf(&b, " %g |", results[columns].GammaO)
		columns++
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", columns))
	var best MultiLabelResult
	var residual float64
	for i, r := range results {
		if i%columns == 0 {
			fmt.Fprintf(&b, "\n| %g |", r.GammaI)
		}
		fmt.Fprintf(&b, " %.1f ± %.1f / %.1f |", r.Mean, r.Std, r.Test)
		if r.Mean > best.Mean {
			best = r
		}
		residual = math.Max(residual, r.Residual)
	}
	fmt.Fprintf(&b, "\n\nbest: %.1f at γ_I = %g, γ_O = %g; the paper has %.1f at weights it does not name. γ_O = 0 is LapRLS for every label by itself, γ_I = 0 vector-valued RLS, both zero RLS.\n", best.Mean, best.GammaI, best.GammaO, float64(best.Paper))
	fmt.Fprintf(&b, "largest relative residual of equation (17): %.1e\n", residual)
	return b.String()
}
