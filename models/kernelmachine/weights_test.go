package kernelmachine

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

// weighted returns t with 1, 1½ and 2
func weighted(t testing.TB, targets *models.Targets) *models.Targets {
	t.Helper()
	all := make([]float64, targets.Len)
	for i := range all {
		all[i] = []float64{1, 2, 3, 0.5, 1.5}[i*i%5]
	}
	out, err := targets.Weighted(all)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLabelWeights: least squares by every way of fitting solve
//
//	(γ_A I + (S + γ_I L)K)α = Sy
//
// with S = diag(w_i/Σw) at the labeled points, or with an intercept S(I − 1sᵀ) in place of S.
func TestLabelWeights(t *testing.T) {
	const n, gammaA, gammaI = 90, 0.01, 0.3
	c := modeltest.NewKernelCase(t, n, sparse.Combinatorial)
	targets := weighted(t, c.Three)
	gram, err := kernel.Gram(c.X, modeltest.Gaussian, 0)
	if err != nil {
		t.Fatal(err)
	}
	identity := mat.NewDiagDense(n, nil)
	for i := range n {
		identity.SetDiag(i, 1)
	}
	laplacian := mat.NewDense(n, n, nil)
	c.L.MulTo(laplacian, mat.DenseCopyOf(identity))

	for _, way := range []models.Values{
		{}, {"gamma-i": "0"}, {"intercept": "true"}, {"intercept": "true", "gamma-i": "0"},
		{"landmarks": "90"}, {"landmarks": "90", "gamma-i": "0"}, {"landmarks": "90", "intercept": "true"},
		{"approximation": "matrix-free", "landmarks": "20", "tolerance": "1e-12"},
	} {
		v := models.Values{"gamma-a": "0.01", "gamma-i": "0.3", "sigma": "1.5"}.With(way)
		in := &models.Input{Points: c.X, Targets: targets, Graph: models.NewGraph(c.L.Graph()), Values: v}
		m, err := Learner{RLS, true}.Fit(t.Context(), in)
		if err != nil {
			t.Fatal(way, err)
		}
		got, err := m.Predict(t.Context(), c.X, nil)
		if err != nil {
			t.Fatal(way, err)
		}

		s := mat.NewDense(n, n, nil)
		y := mat.NewDense(n, 3, nil)
		shares := targets.LossShares()
		mean := make([]float64, 3)
		for q, i := range targets.Labeled {
			s.Set(i, i, shares[q])
			y.SetRow(i, targets.Y.RawRowView(q))
			for k, v := range targets.Y.RawRowView(q) {
				mean[k] += shares[q] * v
			}
		}
		if way["intercept"] == "true" {
			for p, i := range targets.Labeled {
				for q, j := range targets.Labeled {
					s.Set(i, j, s.At(i, j)-shares[p]*shares[q])
				}
			}
		}

		// The reference, by dense matrices alone.
		b := mat.DenseCopyOf(s)
		if v["gamma-i"] != "0" {
			var l mat.Dense
			l.Scale(gammaI, laplacian)
			b.Add(b, &l)
		}
		var system, right, alpha, want mat.Dense
		system.Mul(b, gram)
		for i := range n {
			system.Set(i, i, system.At(i, i)+gammaA)
		}
		right.Mul(s, y)
		if err := alpha.Solve(&system, &right); err != nil {
			t.Fatal(err)
		}
		want.Mul(gram, &alpha)
		if way["intercept"] == "true" {
			for k := range mean {
				shift := mean[k]
				for q, i := range targets.Labeled {
					shift -= shares[q] * want.At(i, k)
				}
				for i := range n {
					want.Set(i, k, want.At(i, k)+shift)
				}
			}
		}
		modeltest.WantClose(t, "weights with "+way.String(), got.Scores, &want, 1e-6)
	}
}

// TestLabelWeightsCount: a weight of 2 counts as the same label twice, and weights count up to a factor.
func TestLabelWeightsCount(t *testing.T) {
	c := modeltest.NewKernelCase(t, 60, sparse.Combinatorial)
	fit := func(targets *models.Targets, v models.Values) *mat.Dense {
		t.Helper()
		in := &models.Input{Points: c.X, Targets: targets, Graph: models.NewGraph(c.L.Graph()),
			Values: models.Values{"gamma-a": "0.01", "gamma-i": "0.3"}.With(v)}
		m, err := Learner{RLS, true}.Fit(t.Context(), in)
		if err != nil {
			t.Fatal(v, err)
		}
		p, err := m.Predict(t.Context(), c.X, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p.Scores
	}
	for _, v := range []models.Values{{}, {"landmarks": "40"}, {"features": "100"}, {"heat": "0.1"}, {"intrinsic-sigma": "0.7"}} {
		once := weighted(t, c.Three)
		twice := *once
		twice.Weights = make([]float64, len(once.Weights))
		for q, w := range once.Weights {
			twice.Weights[q] = 2 * w
		}
		modeltest.WantClose(t, "twice the weights with "+v.String(), fit(&twice, v), fit(once, v), 1e-8)
		if mat.EqualApprox(fit(once, v), fit(c.Three, v), 1e-3) {
			t.Errorf("%v: weights change nothing", v)
		}
	}
}
