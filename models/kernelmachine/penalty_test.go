package kernelmachine_test

import (
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// polynomialWarp returns K and I + MK for M = γ_I/γ_A Σ c_p Lᵖ with dense matrices.
func polynomialWarp(c *reference, l *sparse.Laplacian, ratio float64, coefficients []float64) (k, system *mat.Dense) {
	n := len(c.gram)
	eye := apply(n, n, func(i, j int) float64 { return map[bool]float64{true: 1}[i == j] })
	dense := mat.NewDense(n, n, nil)
	l.MulTo(dense, eye)
	m := mat.NewDense(n, n, nil)
	power := eye
	for _, v := range coefficients {
		var term, next mat.Dense
		term.Scale(ratio*v, power)
		m.Add(m, &term)
		next.Mul(dense, power)
		power = &next
	}
	k = crossValues(c.kernel, c.Points, c.Points)
	var a mat.Dense
	a.Mul(m, k)
	a.Add(&a, eye)
	return k, &a
}

// laprls with Σ c_p Lᵖ is ridge regression on the warped kernel with dense matrices; with the coefficients
// of one power it is that power.
func TestPenaltyCoefficients(t *testing.T) {
	c := newReference(t, 20, 8, 2, false)
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		l, err := sparse.NewLaplacian(c.graph, kind)
		if err != nil {
			t.Fatal(err)
		}
		d := &kernelmachine.Data{Points: c.Points, Kernel: c.kernel, Laplacian: l}
		for _, coefficients := range [][]float64{{0.3, 1}, {0, 1, 0.5}, {0.1, 0, 2, 0.05}, {2}} {
			r := regularizer.Regularizer{GammaA: 0.01, GammaI: 0.2, Laplacian: kind, Coefficients: coefficients}
			s := &kernelmachine.Settings{Regularizer: r}
			name := fmt.Sprint(kind, coefficients)
			p, err := kernelmachine.NewProblem(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			m, err := kernelmachine.Fit(t.Context(), d, c.targets, s)
			if err != nil {
				t.Fatal(err)
			}

			// f = K(I + MK)⁻¹Eβ with (K̃ + γ_A l)β = y.
			k, system := polynomialWarp(c, l, r.GammaI/r.GammaA, coefficients)
			n, many := len(c.gram), len(c.targets.Labeled)
			e := mat.NewDense(n, many, nil)
			for q, i := range c.targets.Labeled {
				e.Set(i, q, 1)
			}
			var expand, whole, beta, want mat.Dense
			if err := expand.Solve(system, e); err != nil {
				t.Fatal(err)
			}
			whole.Mul(k, &expand)
			warped := apply(many, many, func(p, q int) float64 {
				v := whole.At(c.targets.Labeled[p], q)
				if p == q {
					v += r.GammaA * float64(many)
				}
				return v
			})
			if err := beta.Solve(warped, c.targets.Y); err != nil {
				t.Fatal(err)
			}
			want.Mul(&whole, &beta)
			got, err := m.Predict(t.Context(), c.Points, nil)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name, got.Scores, &want, 1e-9)
			near(t, name+" outputs", p.Outputs(m), &want, 1e-9)
			if !(m.Residual <= 1e-9) || !strings.Contains(m.Summary().Text, "r(L) = ") {
				t.Errorf("%s: %s", name, m.Summary().Text)
			}
		}

		// One power alone, for every method that has a graph.
		for method := kernelmachine.RLS; method <= kernelmachine.OneClass; method++ {
			targets := c.targets.Keep([]int{0, 1, 2, 3, 4, 5, 6, 7})
			targets.Y = mat.NewDense(8, 1, []float64{1, -1, 1, 1, -1, -1, 1, -1})
			if method != kernelmachine.SVR {
				targets.Classes = []int64{0, 1}
			}
			r := regularizer.Regularizer{GammaA: 0.01, GammaI: 0.2, Power: 2, Laplacian: kind}
			a, err := kernelmachine.Fit(t.Context(), d, targets, &kernelmachine.Settings{Method: method, Regularizer: r, Tolerance: 1e-10})
			if err != nil {
				t.Fatal(err)
			}
			r.Power = 1
			r.Coefficients = []float64{0, 0, 1}
			b, err := kernelmachine.Fit(t.Context(), d, targets, &kernelmachine.Settings{Method: method, Regularizer: r, Tolerance: 1e-10})
			if err != nil {
				t.Fatal(err)
			}
			f, err := a.Predict(t.Context(), c.Points, nil)
			if err != nil {
				t.Fatal(err)
			}
			g, err := b.Predict(t.Context(), c.Points, nil)
			if err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprint(method, kind), g.Scores, f.Scores, 1e-7)
		}
	}
}

// The learner takes the coefficients, and refuses what they do not go with.
func TestPenaltyCoefficientsLearner(t *testing.T) {
	l := kernelmachine.Learner{Method: kernelmachine.RLS, Intrinsic: true}
	for _, c := range []struct {
		values models.Values
		want   []string
	}{
		{models.Values{"penalty-coefficients": "0,1,2"}, nil},
		{models.Values{"penalty-coefficients": "0,1,2", "approximation": "exact"}, nil},
		{models.Values{"penalty-coefficients": "0,-1"}, []string{"penalty-coefficients", "at least 0"}},
		{models.Values{"penalty-coefficients": "0,0"}, []string{"one is positive"}},
		{models.Values{"penalty-coefficients": "0,1", "power": "2"}, []string{"‹power› is 2", "1 with penalty-coefficients"}},
		{models.Values{"penalty-coefficients": "0,1", "heat": "2"}, []string{"left out with penalty-coefficients"}},
		{models.Values{"penalty-coefficients": "0,1", "landmarks": "5"}, nil},
	} {
		v := models.Values{"gamma-a": "1", "gamma-i": "1", "sigma": "1"}.With(c.values)
		err := l.Check(v)
		if c.want == nil {
			if err != nil {
				t.Errorf("%v: %v", c.values, err)
			}
			continue
		}
		for _, part := range c.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%v: %v lacks %q", c.values, err, part)
			}
		}
	}
}
