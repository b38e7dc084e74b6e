package solvers

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// A kernel matrix of full rank is solved by LU, one of rank 2 with a γ next to
// nothing by its root; both leave no residual, and the root where both are used the same answer.
func TestRepresenterChecksItself(t *testing.T) {
	const n = 40
	rng := rand.New(rand.NewPCG(3, 4))
	x := mat.NewDense(n, 2, nil)
	for i := range n {
		x.SetRow(i, []float64{rng.NormFloat64(), rng.NormFloat64()})
	}
	var singular mat.Dense
	singular.Mul(x, x.T())
	regular := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			a, b := x.RawRowView(i), x.RawRowView(j)
			regular.Set(i, j, math.Exp(-8*math.Pow(math.Hypot(a[0]-b[0], a[1]-b[1]), 2)))
		}
	}
	l, err := sparse.NewLaplacian(path(t, n), sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	y := mat.NewDense(4, 1, []float64{1, -1, 2, 0.5})
	for _, c := range []struct {
		gram   *mat.Dense
		gamma  float64
		rooted bool
	}{{regular, 1e-3, false}, {&singular, 1e-12, true}} {
		b := &PointNorm{Points: n, Labeled: []int{0, 11, 22, 39}, Gamma: 0.1, M: l.With(2, 0)}
		s, err := NewRepresenter(t.Context(), c.gram, b, c.gamma, func(float64, string) {})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Fit(t.Context(), y)
		if err != nil {
			t.Fatal(err)
		}
		if _, rooted := s.inverse.(*rooted); rooted != c.rooted || !(got.Residual <= 1e-12) {
			t.Errorf("γ = %v: root %t, residual %v", c.gamma, rooted, got.Residual)
		}
		if c.rooted {
			continue
		}
		if err := s.useRoot(t.Context()); err != nil {
			t.Fatal(err)
		}
		other, err := s.Fit(t.Context(), y)
		if err != nil {
			t.Fatal(err)
		}
		var d mat.Dense
		if d.Sub(got.Alpha, other.Alpha); !(mat.Norm(&d, 2) <= 1e-10*mat.Norm(got.Alpha, 2)) {
			t.Errorf("LU and root differ by %v", mat.Norm(&d, 2))
		}
	}
}

// path is the graph of a path.
func path(t *testing.T, n int) *sparse.CSR {
	t.Helper()
	var rows, cols []int32
	var values []float64
	for i := range int32(n - 1) {
		rows, cols, values = append(rows, i, i+1), append(cols, i+1, i), append(values, 1, 1)
	}
	w, err := sparse.FromTriplets(n, n, rows, cols, values)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
