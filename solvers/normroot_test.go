package solvers_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// S·Sᵀ is EEᵀ/l + Σ w_p Lᵖ for both kinds of Laplacians, for powers alone, their sums and none.
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
		for _, weights := range [][]float64{nil, {0, 0.3}, {0, 0, 0.3}, {0, 0, 0, 0.3}, {0, 0, 0, 0, 0.3},
			{0.7, 0.3}, {0.2}, {0.1, 0.2, 0, 0.4, 0.5}} {
			want, got := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
			power := mat.DenseCopyOf(id)
			for _, w := range weights {
				var term, next mat.Dense
				term.Scale(w, power)
				want.Add(want, &term)
				next.ReuseAs(n, n)
				l.MulTo(&next, power)
				power = &next
			}
			for _, i := range labeled {
				want.Set(i, i, want.At(i, i)+0.5)
			}
			s := solvers.NewNormRoot(n, labeled, l.With(2, 0.5), weights)
			rows, q := s.Dims()
			half := mat.NewDense(q, n, nil)
			s.MulTransTo(half, id)
			s.MulTo(got, half)
			var d mat.Dense
			if d.Sub(got, want); rows != n || !(mat.Norm(&d, 2) <= 1e-12) {
				t.Errorf("%v, weights %v: off by %v", kind, weights, mat.Norm(&d, 2))
			}
		}
	}
}
