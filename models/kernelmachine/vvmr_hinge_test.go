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
	"github.com/bigfit/bigfit/solvers"
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
	withNorm := in(nil, labels)
	withNorm.OutputNorm = []*mat.Dense{mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})}
	for want, c := range map[string]*models.Input{
		"approximation":        in(models.Values{"landmarks": "10"}, labels),
		"output-norm":          withNorm,
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

// likeness is a kernel of three outputs: one of rank one plus ridge times the identity.
func likeness(ridge float64) *mat.Dense {
	b := mat.NewDense(3, 3, []float64{1, 0.8, 0.4, 0.8, 0.64, 0.32, 0.4, 0.32, 0.16})
	for c := range 3 {
		b.Set(c, c, b.At(c, c)+ridge)
	}
	return b
}

// together fits labels of 60 points, a third of them known, with the hinge and the likeness b, and returns the Gram
// matrix too.
func together(t *testing.T, b *mat.Dense, gammaI float64) (*VVMR, *mat.Dense, *models.Targets, *sparse.Laplacian) {
	t.Helper()
	const points, labeled, n = 60, 20, 3
	x, lap, values := vvmrData(t, points, labeled, n)
	targets := signs(t, values)
	g, err := kernel.Gram(x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1.3}, 0)
	if err != nil {
		t.Fatal(err)
	}
	o, err := solvers.NewOutputKernel(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	r := regularizer.Regularizer{GammaA: hingeRidge, GammaI: gammaI, Laplacian: sparse.Normalized}
	m, err := FitVVMR(t.Context(), &Data{Values: &data.Dense[float64]{Rows: points, Cols: points,
		Data: g.RawMatrix().Data}, Laplacian: lap}, targets, o,
		&VVMRSettings{Regularizer: r, Loss: HingeLoss, Tolerance: 1e-9}, nil)
	if err != nil {
		t.Fatalf("γ_I %v: %v", gammaI, err)
	}
	return m, g, targets, lap
}

const hingeRidge = 1e-2 // γ_A of together

// With a likeness of the outputs the function is the minimum: its coefficients and intercepts are put into the primal
// and the dual objective as the definitions have them, and no function is better by more than their difference.
func TestVVMRHingeTogether(t *testing.T) {
	for _, gammaI := range []float64{0, 0.05} {
		b := likeness(0.3)
		m, g, targets, lap := together(t, b, gammaI)
		primal, dual := hingeObjectives(t, m, g, b, lap, targets, gammaI)
		if !(primal-dual <= 1e-8*primal) || !(primal-dual >= -1e-9*primal) {
			t.Errorf("γ_I %v: objectives %v and %v", gammaI, primal, dual)
		}
		if m.Residual > 1e-9 || m.Gap > 1e-8 || m.Iterations < 2 {
			t.Errorf("γ_I %v: residual %v, gap %v, %d sweeps", gammaI, m.Residual, m.Gap, m.Iterations)
		}

		// A kernel of rank one makes all outputs multiples of one function, and is the limit of full ranks.
		one, _, _, _ := together(t, likeness(0), gammaI)
		near, _, _, _ := together(t, likeness(1e-7), gammaI)
		closeTo(t, "rank one", one.Values, near.Values, 1e-3)
		c := one.Coefficients
		for i := range 60 {
			if math.Abs(c.At(i, 1)-0.8*c.At(i, 0))+math.Abs(c.At(i, 2)-0.4*c.At(i, 0)) > 1e-9*mat.Norm(c, 2) {
				t.Fatalf("row %d of coefficients is %v", i, c.RawRowView(i))
			}
		}
	}
}

// The identity as likeness gives the machines that are fitted one by one.
func TestVVMRHingeIdentity(t *testing.T) {
	m, _, targets, lap := together(t, mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}), 0.05)
	x, _, _ := vvmrData(t, 60, 20, 3)
	alone, err := FitVVMR(t.Context(), &Data{Points: x, Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1.3},
		Laplacian: lap}, targets, nil, &VVMRSettings{Regularizer: m.Settings.Regularizer, Loss: HingeLoss,
		Tolerance: 1e-9}, nil)
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "one by one", m.Values, alone.Values, 1e-6)
}

// hingeObjectives returns the primal objective of m over 2γ_A, and the dual one of V = A + (γ_I/γ_A) L K C, where
// C = AB are the coefficients of m. It fails unless V is zero without a label, within its bounds and of sum zero.
func hingeObjectives(t *testing.T, m *VVMR, g, b *mat.Dense, lap *sparse.Laplacian, targets *models.Targets,
	gammaI float64) (primal, dual float64) {
	t.Helper()
	c := m.Coefficients
	points, n := c.Dims()
	var f, inverse, v mat.Dense
	f.Mul(g, c)
	lf := mat.NewDense(points, n, nil)
	lap.MulTo(lf, &f)
	if err := inverse.Inverse(b); err != nil {
		t.Fatal(err)
	}
	v.Mul(c, &inverse)
	lf.Scale(gammaI/hingeRidge, lf)
	v.Add(&v, lf)

	known := map[int][]float64{}
	counts := make([]float64, n)
	for q, i := range targets.Labeled {
		known[i] = targets.Y.RawRowView(q)
		for j, y := range known[i] {
			if !math.IsNaN(y) {
				counts[j]++
			}
		}
	}

	// ½‖f‖² + ½(γ_I/γ_A) Σ fᵀLf is ½ tr(VᵀF).
	const small = 1e-6
	sums := make([]float64, n)
	var norm float64
	for i := range points {
		for j := range n {
			value := v.At(i, j)
			norm += value * f.At(i, j)
			sums[j] += value
			y := math.NaN()
			if row, ok := known[i]; ok {
				y = row[j]
			}
			if math.IsNaN(y) {
				if math.Abs(value) > small {
					t.Errorf("%v at point %d, output %d, which has no label", value, i, j)
				}
				continue
			}
			upper := 1 / (2 * hingeRidge * counts[j])
			if y*value < -small || y*value > upper+small {
				t.Errorf("%v at point %d, output %d; at most %v", value, i, j, upper)
			}
			primal += upper * max(0, 1-y*(f.At(i, j)+m.Intercepts[j]))
			dual += y * value
		}
	}
	for j, s := range sums {
		if math.Abs(s) > small {
			t.Errorf("output %d: sum %v", j, s)
		}
	}
	return primal + norm/2, dual - norm/2
}
