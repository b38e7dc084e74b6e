package solvers_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// S·Sᵀ is EEᵀ/l + γLᵖ for both kinds of Laplacians, with parallel, zero and no
// weights.
func TestNormRoot(t *testing.T) {
	const n = 5
	w, err := sparse.FromTriplets(n, n, []int32{0, 1, 1, 2, 0, 2}, []int32{1, 0, 2, 1, 2, 0}, []float64{2, 2, 0.5, 0.5, 3, 3})
	if err != nil {
		t.Fatal(err)
	}
	labeled := []int{1, 4}
	id := mat.NewDense(n, n, nil)
	for i := range n {
		id.Set(i, i, 1)
	}
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		l, err := sparse.NewLaplacian(w, kind)
		if err != nil {
			t.Fatal(err)
		}
		for power := range 5 {
			gamma := 0.3
			if power == 0 {
				gamma, power = 0, 1
			}
			want, got := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
			l.With(power, 0).MulTo(want, id)
			want.Scale(gamma, want)
			for _, i := range labeled {
				want.Set(i, i, want.At(i, i)+0.5)
			}
			s := solvers.NewNormRoot(n, labeled, l.With(power, 0), gamma)
			rows, q := s.Dims()
			half := mat.NewDense(q, n, nil)
			s.MulTransTo(half, id)
			s.MulTo(got, half)
			var d mat.Dense
			if d.Sub(got, want); rows != n || !(mat.Norm(&d, 2) <= 1e-12) {
				t.Errorf("%v, power %d, γ %v: off by %v", kind, power, gamma, mat.Norm(&d, 2))
			}
		}
	}
}
