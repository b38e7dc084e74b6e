package solvers_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// A and AQ satisfy the equation, for outputs of which two are alike and one is
// like none.
func TestRepresentOutputs(t *testing.T) {
	const n, l, outputs, gamma, gammaO = 12, 5, 3, 1e-3, 0.7
	rng := rand.New(rand.NewPCG(3, 1))
	half, y := randomBlock(rng, n, n), randomBlock(rng, l, outputs)
	var gram mat.Dense
	gram.Mul(half, half.T())
	w, err := sparse.FromTriplets(outputs, outputs, []int32{0, 1}, []int32{1, 0}, []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	o, err := solvers.NewOutputs(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	b := &solvers.PointNorm{Points: n, Labeled: []int{0, 2, 3, 7, 11}}
	for _, gammaO := range []float64{0, gammaO, 1} { // at 1 some θ are zero
		theta := o.Scaled(gammaO)
		q := o.Matrix(theta)
		a, aq, err := solvers.RepresentOutputs(t.Context(), &gram, y, b, o, solvers.VectorNorm{Gamma: gamma, Theta: theta, Tell: func(float64, string) {}})
		if err != nil {
			t.Fatal(err)
		}
		var product, f mat.Dense
		product.Mul(a, q)
		wantNear(t, "AQ", aq, &product)
		f.Mul(&gram, aq)
		left, right := mat.NewDense(n, outputs, nil), mat.NewDense(n, outputs, nil)
		b.MulTo(left, &f)
		for i := range n {
			for j := range outputs {
				left.Set(i, j, left.At(i, j)+gamma*a.At(i, j))
			}
		}
		for p, i := range b.Labeled {
			for j := range outputs {
				right.Set(i, j, y.At(p, j)/l)
			}
		}
		wantNear(t, "the left side", left, right)
	}
}
