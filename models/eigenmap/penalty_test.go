package eigenmap

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

// TestNormsOfPowers: on all eigenvectors of a graph, Σ r(λ_j)a_j² is the norm that the
// paper writes with Δ, computed by products with the Laplacian.
func TestNormsOfPowers(t *testing.T) {
	const n = 40
	x, _ := synthetic.Digits(n, 3)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 5}, sparse.Normalized, n)
	f := mat.NewDense(n, 1, nil)
	for i := range n {
		f.Set(i, 0, math.Sin(float64(3*i)))
	}
	var a mat.Dense
	a.Mul(p.Eigs.Vectors.T(), f)
	powers := []*mat.Dense{f} // Δⁱf
	for range 3 {
		next := mat.NewDense(n, 1, nil)
		p.L.MulTo(next, powers[len(powers)-1])
		powers = append(powers, next)
	}
	inner := func(i, j int) float64 { return mat.Dot(powers[i].ColView(0), powers[j].ColView(0)) }
	for _, c := range []struct {
		s    Settings
		want float64
	}{
		{Settings{Penalty: Iterated, Power: 1}, inner(0, 1)}, // ∫⟨∇f, ∇f⟩ = ⟨f, Δf⟩
		{Settings{Penalty: Iterated, Power: 4}, inner(2, 2)},
		{Settings{Penalty: Sum, Order: 1}, inner(1, 1)},
		{Settings{Penalty: Sum, Order: 3}, inner(1, 1) + inner(2, 2) + inner(3, 3)},
		{Settings{Penalty: Polynomial}, inner(0, 1)},
		{Settings{Penalty: Polynomial, Coefficients: []float64{2, 0, 0.5, 3}}, 2*inner(0, 0) + 0.5*inner(1, 1) + 3*inner(1, 2)},
	} {
		c.s.Unit = One
		c.s.fillPenalty()
		var got float64
		for j, r := range c.s.penalties(p.Eigs.Values, 1, 1, 1) {
			got += r * a.At(j, 0) * a.At(j, 0)
		}
		if !(math.Abs(got-c.want) <= 1e-8*c.want) {
			t.Errorf("%v, order %d, power %g, %v: %.12g, want %.12g", c.s.Penalty, c.s.Order, c.s.Power, c.s.Coefficients, got, c.want)
		}
	}
}

// With the kernel K = Σ μ_j e_j e_jᵀ of any μ the function is Σ_i a_i K(x_i, ·) with (K + lγ/n I)a = y over the
// labeled points: 2004, section 7.1, case 2. 0 and a missing μ leave eigenvectors out.
func TestKernelOfMu(t *testing.T) {
	const n, pairs, gamma = 60, 12, 0.02
	x, truth := synthetic.Digits(n, 3)
	keep := []int{0, 7, 14, 21, 28, 35, 42, 49, 56}
	y := truth.Keep(keep)
	l := len(keep)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 6}, sparse.Normalized, pairs)
	for _, mu := range [][]float64{{1, 0.5, 2, 0, 0.1, 3, 0, 0.25, 1, 1, 4, 0.3}, {0, 2, 1, 0.5}} {
		m, err := Fit(t.Context(), p.Eigs, p.C, y, &Settings{Penalty: Kernel, Mu: mu, Gamma: gamma})
		if err != nil {
			t.Fatal(err)
		}
		k := mat.NewDense(n, l, nil)
		for i := range n {
			for q, row := range keep {
				for j, v := range mu {
					k.Set(i, q, k.At(i, q)+v*p.Eigs.Vectors.At(i, j)*p.Eigs.Vectors.At(row, j))
				}
			}
		}
		among := mat.NewDense(l, l, nil)
		targets := mat.NewDense(l, len(y.Classes), nil)
		for q, row := range keep {
			among.SetRow(q, k.RawRowView(row))
			among.Set(q, q, among.At(q, q)+float64(l)*gamma/n)
			for c := range y.Classes {
				targets.Set(q, c, -1)
			}
			targets.Set(q, int(y.Index[row]), 1)
		}
		var a, want mat.Dense
		if err := a.Solve(among, targets); err != nil {
			t.Fatal(err)
		}
		want.Mul(k, &a)
		if f := m.Scores(p.Eigs.Vectors, n); !mat.EqualApprox(f, &want, 1e-9) {
			t.Errorf("μ = %v: %v, not %v", mu, mat.Formatted(f), mat.Formatted(&want))
		}
	}

	for text, want := range map[string]string{"0,0": "one is positive", "1,-1": "at least 0", "": "one is positive"} {
		v := models.Values{"penalty": "kernel", "gamma": "1"}
		if text != "" {
			v["penalty-mu"] = text
		}
		if err := (Learner{}).Check(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
