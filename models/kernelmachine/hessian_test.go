package kernelmachine_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/hessian"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// roll are points of a curved sheet, their length along it as the target of some, and their graph.
func roll(t *testing.T, n int, labeled []int) (*kernelmachine.Data, *models.Targets, []float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	x := data.NewDense[float64](n, 3)
	along := make([]float64, n)
	for i := range n {
		s := 8 * rng.Float64()
		copy(x.Row(i), []float64{2 * math.Cos(s/2), 2 * rng.Float64(), 2 * math.Sin(s/2)})
		along[i] = s - 4
	}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(t.Context(), ix, knn.GraphSettings{K: 10})
	if err != nil {
		t.Fatal(err)
	}
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	y := &models.Targets{Len: n, Labeled: labeled, Y: mat.NewDense(len(labeled), 1, nil)}
	for q, i := range labeled {
		y.Y.Set(q, 0, along[i])
	}
	return &kernelmachine.Data{Points: x, Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1}, Laplacian: l}, y, along
}

// laprls and lapsvr with the Hessian energy solve equation (8) with its matrix for the Laplacian, and values that grow
// steadily along a curved sheet come out better than by the Laplacian.
func TestHessianEnergy(t *testing.T) {
	const n, gammaA, gammaI = 300, 1e-6, 1e-2
	labeled := []int{3, 40, 77, 120, 163, 204, 249, 290}
	d, y, along := roll(t, n, labeled)
	e, err := hessian.New(t.Context(), d.Points, d.Laplacian.Graph(), 2)
	if err != nil {
		t.Fatal(err)
	}
	eye, h := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		eye.Set(i, i, 1)
	}
	e.MulTo(h, eye)
	k := crossValues(d.Kernel, d.Points, d.Points)
	l := float64(len(labeled))
	var a, alpha, want mat.Dense
	a.Mul(h, k)
	a.Scale(gammaI*l, &a)
	right := mat.NewDense(n, 1, nil)
	for q, i := range labeled {
		right.Set(i, 0, y.Y.At(q, 0))
		for j := range n {
			a.Set(i, j, a.At(i, j)+k.At(i, j))
		}
	}
	for i := range n {
		a.Set(i, i, a.At(i, i)+gammaA*l)
	}
	if err := alpha.Solve(&a, right); err != nil {
		t.Fatal(err)
	}
	want.Mul(k, &alpha)

	fit := func(s kernelmachine.Settings) *mat.Dense {
		m, err := kernelmachine.Fit(t.Context(), d, y, &s)
		if err != nil {
			t.Fatal(err)
		}
		if text := m.Summary().Text; strings.Contains(text, "Hessian energy in 2 dimensions") != (s.Hessian == 2) {
			t.Error(text)
		}
		p, err := m.Predict(t.Context(), d.Points, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p.Scores
	}
	r := regularizer.Regularizer{GammaA: gammaA, GammaI: gammaI}
	got := fit(kernelmachine.Settings{Regularizer: r, Hessian: 2})
	near(t, "laprls", got, &want, 1e-5)

	// The best γ_I of each norm.
	wrong := func(f *mat.Dense) float64 {
		var sum float64
		for i, v := range along {
			sum += (f.At(i, 0) - v) * (f.At(i, 0) - v)
		}
		return math.Sqrt(sum / n)
	}
	best := func(dimension int, method kernelmachine.Method) float64 {
		least := math.Inf(1)
		for _, gammaI := range []float64{1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1} {
			r.GammaI = gammaI
			least = min(least, wrong(fit(kernelmachine.Settings{Method: method, Regularizer: r, Hessian: dimension, Epsilon: 0.01, Intercept: method == kernelmachine.RLS})))
		}
		return least
	}
	for _, method := range []kernelmachine.Method{kernelmachine.RLS, kernelmachine.SVR} {
		if h, l := best(2, method), best(0, method); !(h < 0.5*l) {
			t.Errorf("%v: the Hessian energy errs by %v, the Laplacian by %v", method, h, l)
		}
	}
}

// What does not go with the Hessian energy is named.
func TestHessianEnergyLearner(t *testing.T) {
	l := kernelmachine.Learner{Method: kernelmachine.RLS, Intrinsic: true}
	good := models.Values{"gamma-a": "1", "gamma-i": "1", "sigma": "1", "hessian": "2"}
	if err := l.Check(good); err != nil {
		t.Error(err)
	}
	for name, value := range map[string]string{"power": "2", "heat": "1", "penalty-coefficients": "0,1", "laplacian": "normalized",
		"intrinsic-sigma": "1", "landmarks": "5", "hessian": "0.5"} {
		if err := l.Check(good.With(models.Values{name: value})); err == nil || !strings.Contains(err.Error(), "hessian") {
			t.Errorf("%s: %v", name, err)
		}
	}
	d, y, _ := roll(t, 60, []int{1, 2, 3})
	if _, err := kernelmachine.Fit(t.Context(), d, y, &kernelmachine.Settings{Regularizer: regularizer.Regularizer{GammaA: 1, GammaI: 1},
		Hessian: 4}); err == nil || !strings.Contains(err.Error(), "from 1 to 3") {
		t.Error(err)
	}
}
