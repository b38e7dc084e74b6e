package eigenmap

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
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
