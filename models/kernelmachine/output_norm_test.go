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
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// kroneckerPenalty solves ((J⊗I)(G⊗Q) + lγ_I M(G⊗Q) + lγ_A I)a = y, equations (13) and (14), with the matrix
// M = Σ_p Lᵖ ⊗ B_p, and returns f = GAQ.
func kroneckerPenalty(t *testing.T, x data.Points, k kernel.Kernel, l *sparse.Laplacian, targets *models.Targets, q *mat.Dense, b []*mat.Dense, gammaA, gammaI float64) *mat.Dense {
	t.Helper()
	g, err := kernel.Gram(x, k, 0)
	if err != nil {
		t.Fatal(err)
	}
	points, n := targets.Len, targets.Y.RawMatrix().Cols
	m := mat.NewDense(points*n, points*n, nil)
	for p := range b {
		c := make([]float64, p+1)
		c[p] = 1
		var term mat.Dense
		term.Kronecker(newDensePolynomial(l, c).Dense, b[p])
		m.Add(m, &term)
	}
	m.Scale(float64(len(targets.Labeled))*gammaI, m)
	y := mat.NewDense(points*n, 1, nil)
	for p, i := range targets.Labeled {
		for j := range n {
			if v := targets.Y.At(p, j); !math.IsNaN(v) {
				y.Set(i*n+j, 0, v)
				m.Set(i*n+j, i*n+j, m.At(i*n+j, i*n+j)+1)
			}
		}
	}
	var gq, system, a, f mat.Dense
	gq.Kronecker(g, q)
	system.Mul(m, &gq)
	for i := range points * n {
		system.Set(i, i, system.At(i, i)+float64(len(targets.Labeled))*gammaA)
	}
	if err := a.Solve(&system, y); err != nil {
		t.Fatal(err)
	}
	f.Mul(g, mat.NewDense(points, n, a.RawMatrix().Data))
	f.Mul(&f, q)
	return &f
}

// M = Σ Lᵖ ⊗ B_p of matrices that have the eigenvectors of Q and of others, with and without missing targets,
// by every way to fit, gives the solution of equations (13) and (14); a file keeps the matrices.
func TestVVMROutputNorm(t *testing.T) {
	ctx := context.Background()
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1.3}
	x, lap, targets := vvmrData(t, 40, 13, 3)
	o := vvmrOutputs(t, targets)
	eye := mat.NewDense(3, 3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	zero := mat.NewDense(3, 3, nil)
	full := mat.NewDense(3, 3, []float64{2, 0.5, -0.3, 0.5, 1, 0.2, -0.3, 0.2, 0.7})
	one := mat.NewDense(3, 3, []float64{1, 2, -1, 2, 4, -2, -1, -2, 1})
	alike := o.Matrix([]float64{0.3, 1, 2}) // with the eigenvectors of Q
	for name, b := range map[string][]*mat.Dense{
		"L⊗I": {zero, eye}, "common eigenvectors": {zero, eye, alike}, "full": {zero, full},
		"three terms": {alike, full, one}, "rank one": {zero, one}, "no graph": {full},
	} {
		for _, missing := range []bool{false, true} {
			for _, gammaO := range []float64{0, 0.6, 1} {
				given := *targets
				given.Y = mat.DenseCopyOf(targets.Y)
				if missing {
					given.Y.Set(2, 1, math.NaN())
				}
				s := &VVMRSettings{Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: 0.02, Laplacian: sparse.Normalized}, GammaO: gammaO}
				with, err := o.WithPenalty(ctx, b)
				if err != nil {
					t.Fatal(err)
				}
				want := kroneckerPenalty(t, x, k, lap, &given, o.Matrix(o.Scaled(gammaO)), b, 1e-3, 0.02)
				for _, a := range []*ApproximationSettings{nil, {Landmarks: 40}, {Approximation: MatrixFree, Landmarks: 15}} {
					what := fmt.Sprintf("%s, missing %v, γ_O %v, %+v", name, missing, gammaO, a)
					m, err := FitVVMR(ctx, &Data{Points: x, Kernel: k, Laplacian: lap}, &given, with, s, a)
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					if !(m.Residual <= 1e-7) || !missing && (a == nil || a.Landmarks == 40) && m.Iterations > 4 {
						t.Errorf("%s: residual %.1e after %d iterations", what, m.Residual, m.Iterations)
					}
					closeTo(t, what, m.Values, want, 1e-6)
				}
			}
		}
	}

	// Without matrices the norm is L ⊗ I.
	s := &VVMRSettings{Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: 0.02, Laplacian: sparse.Normalized}, GammaO: 0.5}
	plain, err := FitVVMR(ctx, &Data{Points: x, Kernel: k, Laplacian: lap}, targets, o, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	with, err := o.WithPenalty(ctx, []*mat.Dense{zero, eye})
	if err != nil {
		t.Fatal(err)
	}
	same, err := FitVVMR(ctx, &Data{Points: x, Kernel: k, Laplacian: lap}, targets, with, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "L⊗I and no matrices", same.Values, plain.Values, 1e-9)

	// By the learner, which makes the graph of the outputs, and from a file.
	values := models.Values{"kernel": "gaussian", "sigma": "1.3", "gamma-a": "1e-3", "gamma-i": "0.02", "laplacian": "normalized",
		"gamma-o": "0.6", "output-neighbors": "2"}
	in := &models.Input{Points: x, Targets: targets, Graph: models.NewGraph(lap.Graph()), OutputNorm: []*mat.Dense{zero, full}, Values: values}
	fitted, err := VVMRLearner{}.Fit(ctx, in)
	if err != nil {
		t.Fatal(err)
	}
	m := fitted.(*VVMR)
	closeTo(t, "learner", m.Values, kroneckerPenalty(t, x, k, lap, targets, o.Matrix(o.Scaled(0.6)), in.OutputNorm, 1e-3, 0.02), 1e-6)
	if text := m.Summary().Text; !strings.Contains(text, "M = L^1⊗B1") {
		t.Error(text)
	}
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := models.Save(path, m, nil); err != nil {
		t.Fatal(err)
	}
	loaded, _, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	if b := loaded.(*VVMR).OutputNorm; len(b) != 2 || !mat.Equal(b[1], full) {
		t.Errorf("%v came back", b)
	}
	if cost, err := (VVMRLearner{}).Cost(in); err != nil || cost.Bytes < 8*(40*3)*(40*3) {
		t.Errorf("cost %+v, %v", cost, err)
	}
	for name, value := range map[string]string{"power": "2", "penalty-coefficients": "0,1", "gamma-i": "0"} {
		in.Values = values.With(models.Values{name: value})
		if _, err := (VVMRLearner{}).Fit(ctx, in); err == nil || !strings.Contains(err.Error(), "output-norm") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s %s: %v", name, value, err)
		}
	}
}

// Matrices that make no norm are errors that name the place.
func TestOutputNormFaults(t *testing.T) {
	o := solvers.IndependentOutputs(2)
	for want, b := range map[string][]*mat.Dense{
		"B1 is 1×1":                      {mat.NewDense(2, 2, nil), mat.NewDense(1, 1, nil)},
		"B0 must be symmetric":           {mat.NewDense(2, 2, []float64{1, 2, 0, 1})},
		"B0 must be finite":              {mat.NewDense(2, 2, []float64{1, 0, 0, math.NaN()})},
		"B1 must be positive":            {mat.NewDense(2, 2, nil), mat.NewDense(2, 2, []float64{1, 2, 2, 1})},
		"all matrices of the outputs ar": {mat.NewDense(2, 2, nil), mat.NewDense(2, 2, nil)},
	} {
		if _, err := o.WithPenalty(t.Context(), b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
