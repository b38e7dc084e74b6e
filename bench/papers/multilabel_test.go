package papers

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// silent is an observer that does nothing.
type silent struct{}

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
	e := &MultiLabel{Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1}, Inputs: 5, Outputs: 1,
		Norms:  models.Regularizer{GammaA: 1e-3, Power: 1, Laplacian: sparse.Normalized},
		GammaI: []float64{0, 1e-3}, GammaO: []float64{0, 0.5}, Labeled: 20, Draws: 2, Paper: 84.9}
	var training, test []int
	for i := range n {
		if i%2 == 0 {
			training = append(training, i)
		} else {
			test = append(test, i)
		}
	}
	e.split(x, y, training, test)
	results, err := e.Run(context.Background(), silent{})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != 4 || results[3].GammaI != 1e-3 || results[3].GammaO != 0.5 {
		t.Fatalf("%+v", results)
	}
	for _, r := range results {
		if !(r.Mean > 90 && r.Mean <= 100 && r.Test > 85 && r.Test <= 100 && r.Residual <= 1e-8) {
			t.Errorf("%+v", r)
		}
	}
	table := MultiLabelMarkdown(results)
	for _, want := range []string{"| γ_I \\ γ_O | 0 | 0.5 |", "| 0.001 |", "84.9", "best:"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}
