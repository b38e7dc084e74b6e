package sparse_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// A product with Σ c_p Lᵖ is the one with dense powers.
func TestPolynomial(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	const n = 12
	w := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range i {
			if rng.IntN(3) == 0 {
				v := rng.Float64()
				w.Set(i, j, v)
				w.Set(j, i, v)
			}
		}
	}
	x := mat.NewDense(n, 3, nil)
	x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		l, err := sparse.NewLaplacian(sparse.FromDense(w), kind)
		if err != nil {
			t.Fatal(err)
		}
		eye := mat.NewDense(n, n, nil)
		for i := range n {
			eye.Set(i, i, 1)
		}
		dense := mat.NewDense(n, n, nil)
		l.MulTo(dense, eye)
		for _, c := range [][]float64{{2}, {0, 1}, {0.5, 2}, {0, 0, 3}, {1, 0.25, 0, 2, 0, 0}, {0.1, 0.2, 0.3, 0.4, 0.5}} {
			f, err := sparse.NewPolynomial(l.With(3, 0.7), c)
			if err != nil {
				t.Fatal(err)
			}
			want := mat.NewDense(n, 3, nil)
			power := mat.DenseCopyOf(x)
			for _, v := range c {
				var term, next mat.Dense
				term.Scale(v, power)
				want.Add(want, &term)
				next.Mul(dense, power)
				power = &next
			}
			got := mat.NewDense(n, 3, nil)
			got.Apply(func(_, _ int, _ float64) float64 { return math.NaN() }, got) // the contents do not matter
			before := mat.DenseCopyOf(x)
			f.MulTo(got, x)
			if !mat.EqualApprox(got, want, 1e-10*mat.Norm(want, 2)) || !mat.Equal(x, before) {
				t.Errorf("%v, %v: %v, not %v", kind, c, mat.Formatted(got), mat.Formatted(want))
			}
			if top := map[int]int{1: 0, 2: 1, 3: 2, 6: 3, 5: 4}[len(c)]; f.Degree() != top || f.Dim() != n {
				t.Errorf("%v: degree %d of %d vertices", c, f.Degree(), f.Dim())
			}
		}
		for _, c := range [][]float64{nil, {0, 0}, {-1, 2}, {0, math.Inf(1)}, {math.NaN()}} {
			if _, err := sparse.NewPolynomial(l, c); err == nil {
				t.Errorf("coefficients %v are taken", c)
			}
		}
		if _, err := sparse.NewPolynomial(l.As(sparse.RandomWalk), []float64{0, 1}); err == nil {
			t.Error("the random-walk Laplacian is taken")
		}
	}
}
