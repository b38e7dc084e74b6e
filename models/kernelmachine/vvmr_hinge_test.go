package kernelmachine

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// signs makes labels of ±1 of the values of vvmrData.
func signs(t *testing.T, targets *models.Targets) *models.Targets {
	t.Helper()
	y := mat.NewDense(targets.Len, targets.Y.RawMatrix().Cols, nil)
	y.Apply(func(_, _ int, _ float64) float64 { return math.NaN() }, y)
	for q, i := range targets.Labeled {
		for j, v := range targets.Y.RawRowView(q) {
			y.Set(i, j, math.Copysign(1, v))
		}
	}
	y.Set(1, 0, math.NaN())
	y.Set(2, 2, math.NaN())
	out, err := multilabel.LabelTargets(y, []int64{2, 5, 7})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// With the hinge every label is the lapsvm, or svm, that is fitted to the points where it is known; all of them
// come back from a file.
func TestVVMRHinge(t *testing.T) {
	ctx := context.Background()
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1.3}
	x, lap, values := vvmrData(t, 80, 30, 3)
	targets := signs(t, values)
	g, err := kernel.Gram(x, k, 0)
	if err != nil {
		t.Fatal(err)
	}
	precomputed := &data.Dense[float64]{Rows: 80, Cols: 80, Data: g.RawMatrix().Data}
	for _, gammaI := range []float64{0, 0.05} {
		for name, d := range map[string]*Data{
			"points":      {Points: x, Kernel: k, Laplacian: lap},
			"linear":      {Points: x, Laplacian: lap},
			"precomputed": {Values: precomputed, Laplacian: lap},
		} {
			what := fmt.Sprintf("%s, γ_I %v", name, gammaI)
			r := regularizer.Regularizer{GammaA: 1e-3, GammaI: gammaI, Laplacian: sparse.Normalized}
			m, err := FitVVMR(ctx, d, targets, nil, &VVMRSettings{Regularizer: r, Loss: HingeLoss, Tolerance: 1e-9}, nil)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			for c := range 3 {
				one := &models.Targets{Len: 80, Classes: []int64{0, 1}}
				var y []float64
				for q, i := range targets.Labeled {
					if v := targets.Y.At(q, c); !math.IsNaN(v) {
						one.Labeled = append(one.Labeled, i)
						y = append(y, v)
					}
				}
				one.Y = mat.NewDense(len(y), 1, y)
				alone, err := Fit(ctx, d, one, &Settings{Method: SVM, Regularizer: r, Tolerance: 1e-9})
				if err != nil {
					t.Fatal(err)
				}
				p, err := alone.Predict(ctx, d.Source().Rows(), nil)
				if err != nil {
					t.Fatal(err)
				}
				// One column codes two classes, f of the second last.
				closeTo(t, fmt.Sprintf("%s, label %d", what, c), m.Values.ColView(c), p.Scores.ColView(1), 1e-6)
			}
			if text := m.Summary().Text; !strings.Contains(text, "a support vector machine each") {
				t.Errorf("%s: %s", what, text)
			}

			path := filepath.Join(t.TempDir(), "m.npz")
			if err := models.Save(path, m, nil); err != nil {
				t.Fatal(err)
			}
			back, _, err := load(path)
			if err != nil {
				t.Fatal(err)
			}
			p, err := back.Predict(ctx, d.Source().Rows(), nil)
			if err != nil {
				t.Fatal(err)
			}
			closeTo(t, what+", of the file", p.Scores, m.Values, 1e-14)
			if back.Output().Kind != models.OutputLabels || back.(*VVMR).Settings.Loss != HingeLoss || back.(*VVMR).Gap != m.Gap {
				t.Errorf("%s: %+v came back", what, back.(*VVMR).Settings)
			}
		}
	}
}

// What the hinge does not go with is named.
func TestVVMRHingeFaults(t *testing.T) {
	x, lap, values := vvmrData(t, 40, 12, 3)
	good := models.Values{"loss": "hinge", "gamma-a": "1e-3", "gamma-i": "0.1", "sigma": "1"}
	in := func(v models.Values, y *models.Targets) *models.Input {
		return &models.Input{Points: x, Targets: y, Graph: models.NewGraph(lap.Graph()), Values: good.With(v)}
	}
	labels := signs(t, values)
	same := *labels
	same.Y = mat.DenseCopyOf(labels.Y)
	for q := range same.Labeled {
		same.Y.Set(q, 1, 1)
	}
	withKernel := in(nil, labels)
	withKernel.OutputKernel = mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	for want, c := range map[string]*models.Input{
		"gamma-o":              in(models.Values{"gamma-o": "0.5", "output-neighbors": "1"}, labels),
		"approximation":        in(models.Values{"landmarks": "10"}, labels),
		"output-kernel":        withKernel,
		"labels of 1 and −1":   in(nil, values),
		"label 5 has one sign": in(nil, &same),
	} {
		if _, err := (VVMRLearner{}).Fit(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if cost, err := (VVMRLearner{}).Cost(in(nil, labels)); err != nil || cost.Bytes < 8*40*40*3 {
		t.Errorf("%+v, %v", cost, err)
	}
	if _, err := (VVMRLearner{}).Fit(t.Context(), in(nil, labels)); err != nil {
		t.Error(err)
	}
}
