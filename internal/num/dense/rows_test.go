package dense

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Entries that are equal up to rounding do not decide the sign: the first of them does.
func TestOrient(t *testing.T) {
	for _, c := range []struct {
		f, want []float64
	}{
		{[]float64{0.1, -0.7, 0.7 * (1 + 1e-12)}, []float64{-0.1, 0.7, -0.7 * (1 + 1e-12)}},
		{[]float64{0.1, 0.7, -0.7 * (1 + 1e-12)}, []float64{0.1, 0.7, -0.7 * (1 + 1e-12)}},
		{[]float64{0.7, -0.7 * (1 + 1e-5)}, []float64{-0.7, 0.7 * (1 + 1e-5)}},
		{[]float64{0, 0}, []float64{0, 0}},
	} {
		f := slices.Clone(c.f)
		if changed := Orient(f); !slices.Equal(f, c.want) || changed == slices.Equal(c.f, c.want) {
			t.Errorf("%v became %v, want %v", c.f, f, c.want)
		}
	}
	// By columns, over several chunks of rows.
	rng := rand.New(rand.NewPCG(1, 1))
	const n, k = 5000, 7
	x := mat.NewDense(n, k, nil)
	for i := range n {
		for j := range k {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	x.Set(30, 4, -9)
	x.Set(4000, 4, 9*(1+1e-14))
	x.Set(4500, 5, -9)
	y := mat.DenseCopyOf(x)
	OrientColumns(y, 2)
	for j := range k {
		f := mat.Col(nil, j, x)
		if j >= 2 {
			Orient(f)
		}
		if !slices.Equal(f, mat.Col(nil, j, y)) {
			t.Errorf("column %d has another sign", j)
		}
	}
	if math.Signbit(y.At(30, 4)) || math.Signbit(y.At(4500, 5)) {
		t.Error("a first largest entry is negative")
	}
}
