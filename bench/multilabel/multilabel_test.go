package multilabel

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// silent is an observer that does nothing.
type silent struct{ stage.Observer }

func (silent) Begin(string)                  {}
func (silent) Update(_, _ float64, _ string) {}
func (silent) End(string)                    {}

// Three labels that are half-planes are found from 20 points.
func TestMultiLabel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 200
	x, y := data.NewDense[float64](n, 2), mat.NewDense(n, 3, nil)
	for i := range n {
		row := x.Row(i)
		row[0], row[1] = rng.NormFloat64(), rng.NormFloat64()
		for j, v := range []float64{row[0], row[1], row[0] + row[1]} {
			if v > 0 {
				y.Set(i, j, 1)
			}
		}
	}
	e := &Experiment{Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1}, Inputs: 5, Outputs: 1,
		Norms:  regularizer.Regularizer{GammaA: 1e-3, Power: 1, Laplacian: sparse.Normalized},
		GammaI: []float64{0, 1e-3}, GammaO: []float64{0, 0.5}, Targets: []string{signTargets}, Labeled: 20, Draws: 2, Paper: 84.9, Notes: []string{"points are drawn"}}
	var training, test []int
	for i := range n {
		if i%2 == 0 {
			training = append(training, i)
		} else {
			test = append(test, i)
		}
	}
	e.split(x, y, training, test)
	table, _, err := e.Run(context.Background(), silent{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(table.Records); n != 4 || table.Value(table.Records[3], "gamma_i").Number != 1e-3 || table.Value(table.Records[3], "gamma_o").Number != 0.5 {
		t.Fatalf("%+v", table.Records)
	}
	for _, r := range table.Records {
		mean, test, residual := table.Value(r, "auc_mean"), table.Value(r, "test_auc_mean"), table.Value(r, "residual_max")
		if !(mean.Number > 90 && mean.Number <= 100 && test.Number > 85 && test.Number <= 100 && residual.Number <= 1e-8) || mean.Published != 84.9 {
			t.Errorf("%+v", r)
		}
	}
	text := table.Markdown()
	for _, want := range []string{"AUC %, unlabeled points ± standard deviation / test points\n\n| γ_I \\ γ_O | 0 | 0.5 |\n", "| 0.001 |", "84.9", "* the highest", "\n* points are drawn\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
}

func TestMultiLabelTable(t *testing.T) {
	e := &Experiment{Paper: 84.9, Targets: []string{signTargets}}
	table := e.table([]*gridPoint{
		{targets: signTargets, gammaI: 0, gammaO: 0, unlabeled: []float64{80}, test: []float64{79}}, {targets: signTargets, gammaI: 0, gammaO: 1, unlabeled: []float64{81}, test: []float64{80}},
		{targets: signTargets, gammaI: 0.1, gammaO: 0, unlabeled: []float64{81, 83}, test: []float64{82}, residual: 3e-9}, {targets: signTargets, gammaI: 0.1, gammaO: 1, unlabeled: []float64{83}, test: []float64{82}},
	})
	want := `AUC %, unlabeled points ± standard deviation / test points

| γ_I \ γ_O | 0 | 1 |
|---|---|---|
| 0 | 80.0 ± 0.0 / 79.0 | 81.0 ± 0.0 / 80.0 |
| 0.1 | 82.0 ± 1.4 / 82.0 | 83.0 ± 0.0 / 82.0 |

* the highest of the unlabeled points, which all labels must be known to tell: 83.0 at γ_I = 0.1, γ_O = 1; the paper has 84.9 at weights it does not name. γ_O = 0 is LapRLS for every label by itself, γ_I = 0 vector-valued RLS, both zero RLS.
* largest relative residual of equation (17): 3.0e-09
`
	if got := table.Markdown(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	d := table.Drawings()
	if len(d) != 1 || d[0].XLabel != "γ_I" || d[0].YLabel != "AUC, %" || !d[0].LogX || d[0].LogY {
		t.Fatalf("%+v", d)
	}
	if want := []results.Curve{
		{Name: "γ_O = 0", X: []float64{0, 0.1}, Y: []float64{80, 82}, Deviation: []float64{0, math.Sqrt2}},
		{Name: "γ_O = 1", X: []float64{0, 0.1}, Y: []float64{81, 83}, Deviation: []float64{0, 0}},
	}; !reflect.DeepEqual(d[0].Curves, want) {
		t.Errorf("curves %+v, want %+v", d[0].Curves, want)
	}
	table.Records = table.Records[3:]
	text, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	if want := `[{"targets":"±1","gamma_i":0.1,"gamma_o":1,"auc_mean":83,"auc_std":0,"paper":84.9,"test_auc_mean":82,"test_auc_std":0,"residual_max":0}]`; string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

// A strong γ_I of the normalized Laplacian ranks points by their degree, as the mean of
// rare labels is not 0. Centred targets have no mean.
func TestMultiLabelCentred(t *testing.T) {
	target := &models.Targets{Len: 4, Labeled: []int{0, 1, 3}, Y: mat.NewDense(3, 2, []float64{1, -1, -1, -1, -1, -1})}
	if got, want := centred(target).Y, mat.NewDense(3, 2, []float64{4.0 / 3, 0, -2.0 / 3, 0, -2.0 / 3, 0}); !mat.EqualApprox(got, want, 1e-15) || target.Y.At(0, 0) != 1 {
		t.Errorf("%v, %v", mat.Formatted(got), mat.Formatted(target.Y))
	}
	rng := rand.New(rand.NewPCG(2, 2))
	const n = 300
	x, y := data.NewDense[float64](n, 2), mat.NewDense(n, 2, nil)
	for i := range n {
		row := x.Row(i)
		row[0], row[1] = rng.NormFloat64(), rng.NormFloat64()
		for j, v := range row {
			if d := row[0]*row[0] + row[1]*row[1] + 0.2*v; d < 0.4 { // one of six, in the middle
				y.Set(i, j, 1)
			}
		}
	}
	e := &Experiment{Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1}, Inputs: 5, Outputs: 1,
		Norms:  regularizer.Regularizer{GammaA: 1e-3, Power: 1, Laplacian: sparse.Normalized},
		GammaI: []float64{0, 10}, GammaO: []float64{0}, Labeled: 30, Draws: 2, Targets: []string{signTargets, centredTargets}}
	e.split(x, y, data.Range(0, 200), data.Range(200, n))
	table, picture, err := e.Run(context.Background(), silent{})
	if err != nil {
		t.Fatal(err)
	}
	// A point for each of the labels of each draw, RLS first, then the largest weights; their
	// mean is the mean of the table.
	if len(picture.Charts) != 2 {
		t.Fatalf("%d panels", len(picture.Charts))
	}
	for i, c := range picture.Charts {
		s := c.(*chart.Scatter)
		_, labels := y.Dims()
		mean, _ := results.MeanStd(s.X)
		test, _ := results.MeanStd(s.Y)
		r := table.Records[i]
		if want := table.Value(r, "auc_mean").Number; len(s.X) != 2*labels || len(s.Classes) != labels || !(math.Abs(mean-want) <= 1e-9) || !(math.Abs(test-table.Value(r, "test_auc_mean").Number) <= 1e-9) {
			t.Errorf("panel %q: %d points of mean %v and %v, the table has %v", s.Title, len(s.X), mean, test, want)
		}
	}
	auc := map[string][]float64{}
	for _, r := range table.Records {
		auc[table.Value(r, "targets").Text] = append(auc[table.Value(r, "targets").Text], table.Value(r, "auc_mean").Number)
	}
	sign, middle := auc[signTargets], auc[centredTargets]
	if len(sign) != 2 || len(middle) != 2 || !(sign[1] < sign[0]-5 && middle[1] > sign[1]+5) {
		t.Errorf("AUC %v at γ_I = 0 and 10, of centred targets %v", sign, middle)
	}
	if text := table.Markdown(); strings.Count(text, "| 10 |") != 2 || !strings.Contains(text, "not the authors' method") || len(table.Drawings()) != 2 {
		t.Errorf("%d drawings\n%s", len(table.Drawings()), text)
	}
}
