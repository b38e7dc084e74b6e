package cg

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// TestFarVertices: vertices whose edges weigh 10⁻⁹⁰, as those of outliers by a heat kernel, leave the polynomial a number
// of single precision at every vertex, and the system is solved.
func TestFarVertices(t *testing.T) {
	const n = 60
	var rows, cols []int32
	var vals []float64
	edge := func(i, j int, v float64) {
		rows = append(rows, int32(i), int32(j))
		cols = append(cols, int32(j), int32(i))
		vals = append(vals, v, v)
	}
	for i := range n - 2 {
		edge(i, (i+1)%(n-2), 1)
		edge(i, (i+7)%(n-2), 0.5)
	}
	edge(n-2, 3, 1e-90)
	edge(n-1, n-2, 1e-120)
	w, err := sparse.FromTriplets(n, n, rows, cols, vals)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []sparse.Kind{sparse.Normalized, sparse.Combinatorial} {
		l, err := sparse.NewLaplacian(w, kind)
		if err != nil {
			t.Fatal(err)
		}
		l = l.With(1, 0.01)
		b := mat.NewDense(n, 1, nil)
		b.Set(5, 0, 1)
		r, err := Laplacian(t.Context(), l, w.Components(), b, &LaplacianSettings{Settings: Settings{Tolerance: 1e-8},
			Method: Chebyshev})
		if err != nil {
			t.Fatalf("%v: %v", kind, err)
		}
		left := mat.NewDense(n, 1, nil)
		l.MulTo(left, r.X)
		left.Sub(left, b)
		if norm := mat.Norm(left, 2); !(norm < 1e-7) || math.IsNaN(r.X.At(n-1, 0)) {
			t.Errorf("%v: a residual of %g, and %g at the far vertex", kind, norm, r.X.At(n-1, 0))
		}
	}
}
