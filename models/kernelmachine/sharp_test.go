package kernelmachine_test

import (
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
)

// The norm fᵀK_s⁻¹f of a sharp kernel, with the inverse that the fit does without: laprls solves equation (8), and
// the other methods are plain machines on the warped kernel K − K(I + MK)⁻¹MK.
func TestSharpKernel(t *testing.T) {
	c := newReference(t, 30, 10, 2, false)
	n, l := len(c.gram), len(c.targets.Labeled)
	k := crossValues(c.kernel, c.Points, c.Points)
	const sigma, gammaA, gammaI = 0.3, 0.01, 0.2
	sharp := crossValues(kernel.Kernel{Kind: kernel.Gaussian, Sigma: sigma}, c.Points, c.Points)
	var inverse mat.Dense
	if err := inverse.Inverse(sharp); err != nil {
		t.Fatal(err)
	}
	d := &kernelmachine.Data{Points: c.Points, Kernel: c.kernel}
	for _, scaling := range []regularizer.Scaling{regularizer.Direct, regularizer.PerPair} {
		weight := gammaI
		if scaling == regularizer.PerPair {
			weight /= float64(n * n)
		}
		r := regularizer.Regularizer{GammaA: gammaA, GammaI: gammaI, Scaling: scaling}
		m, err := kernelmachine.Fit(t.Context(), d, c.targets, &kernelmachine.Settings{Regularizer: r, IntrinsicSigma: sigma})
		if err != nil {
			t.Fatal(err)
		}

		// (JK + γ_A l I + γ_I l K_s⁻¹K)α = Jy.
		_, outputs := c.targets.Y.Dims()
		var a, alpha, want mat.Dense
		a.Mul(&inverse, k)
		a.Scale(weight*float64(l), &a)
		y := mat.NewDense(n, outputs, nil)
		for q, i := range c.targets.Labeled {
			for j := range n {
				a.Set(i, j, a.At(i, j)+k.At(i, j))
			}
			y.SetRow(i, c.targets.Y.RawRowView(q))
		}
		for i := range n {
			a.Set(i, i, a.At(i, i)+gammaA*float64(l))
		}
		if err := alpha.Solve(&a, y); err != nil {
			t.Fatal(err)
		}
		want.Mul(k, &alpha)
		got, err := m.Predict(t.Context(), c.Points, nil)
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprint(scaling), got.Scores, &want, 1e-9)
		if text := m.Summary().Text; !(m.Residual > 0 && m.Residual <= 1e-10) || !strings.Contains(text, "gaussian kernel with σ = 0.3)") {
			t.Errorf("residual %.1e: %s", m.Residual, text)
		}

		// The other methods, by the values of the warped kernel.
		var inner, warped mat.Dense
		inner.Mul(&inverse, k)
		inner.Scale(weight/gammaA, &inner) // MK
		right := mat.DenseCopyOf(&inner)
		for i := range n {
			inner.Set(i, i, inner.At(i, i)+1)
		}
		if err := warped.Solve(&inner, right); err != nil {
			t.Fatal(err)
		}
		warped.Mul(k, &warped)
		warped.Sub(k, &warped)
		values := data.NewDense[float64](n, n)
		for i := range n {
			for j := range n {
				values.Data[i*n+j] = (warped.At(i, j) + warped.At(j, i)) / 2
			}
		}
		for method := kernelmachine.RLS; method <= kernelmachine.OneClass; method++ {
			targets := c.targets.Keep([]int{0, 1, 2, 3, 4, 5, 6, 7})
			targets.Y = mat.NewDense(8, 1, []float64{1, -1, 1, 1, -1, -1, 1, -1})
			if method != kernelmachine.SVR {
				targets.Classes = []int64{0, 1}
			}
			s := kernelmachine.Settings{Method: method, Regularizer: r, IntrinsicSigma: sigma, Tolerance: 1e-10}
			a, err := kernelmachine.Fit(t.Context(), d, targets, &s)
			if err != nil {
				t.Fatal(err)
			}
			s.Regularizer = regularizer.Regularizer{GammaA: gammaA}
			s.IntrinsicSigma = 0
			b, err := kernelmachine.Fit(t.Context(), &kernelmachine.Data{Values: values}, targets, &s)
			if err != nil {
				t.Fatal(err)
			}
			f, err := a.Predict(t.Context(), c.Points, nil)
			if err != nil {
				t.Fatal(err)
			}
			g, err := b.Predict(t.Context(), values, nil)
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprint(method, scaling), f.Scores, g.Scores, 1e-6)
		}
	}
}

// A sharp kernel equal to the machine's own makes it a machine with γ_A + γ_I and without an intrinsic norm (2006,
// Proposition 6). This also holds where the kernel is nearly singular.
func TestSharpKernelIsTheKernel(t *testing.T) {
	c := newReference(t, 40, 12, 2, false)
	for _, sigma := range []float64{0.5, 1.5} {
		d := &kernelmachine.Data{Points: c.Points, Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: sigma}}
		m, err := kernelmachine.Fit(t.Context(), d, c.targets, &kernelmachine.Settings{
			Regularizer: regularizer.Regularizer{GammaA: 0.01, GammaI: 0.03}, IntrinsicSigma: sigma})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := kernelmachine.Fit(t.Context(), d, c.targets, &kernelmachine.Settings{Regularizer: regularizer.Regularizer{GammaA: 0.04}})
		if err != nil {
			t.Fatal(err)
		}
		f, err := m.Predict(t.Context(), c.Points, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, err := plain.Predict(t.Context(), c.Points, nil)
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprint(sigma), f.Scores, g.Scores, 1e-7)
	}
}

// The learner needs no graph with a sharp kernel, and refuses what belongs to a graph.
func TestSharpKernelLearner(t *testing.T) {
	l := kernelmachine.Learner{Method: kernelmachine.RLS, Intrinsic: true}
	info := l.Info()
	good := models.Values{"gamma-a": "1", "gamma-i": "1", "sigma": "1", "intrinsic-sigma": "0.1"}
	if info.UsesGraph(good) || !info.UsesGraph(models.Values{"gamma-i": "1"}) {
		t.Error("a graph beside a sharp kernel, or none without")
	}
	for name, value := range map[string]string{"power": "2", "heat": "1", "penalty-coefficients": "0,1", "laplacian": "normalized",
		"scaling": "per-edge", "landmarks": "5"} {
		if err := l.Check(good.With(models.Values{name: value})); err == nil || !strings.Contains(err.Error(), "intrinsic-sigma") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := l.Check(models.Values{"gamma-a": "1", "gamma-i": "1", "kernel": "precomputed", "intrinsic-sigma": "1"}); err == nil {
		t.Error("values of a kernel are taken")
	}
	if err := l.Check(good.With(models.Values{"scaling": "per-pair"})); err != nil {
		t.Error(err)
	}
}
