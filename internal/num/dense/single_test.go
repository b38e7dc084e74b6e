package dense

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// rounded returns an n×k block of float32 with a stride beyond k, and the same numbers in float64.
func rounded(r *rand.Rand, n, k int) (blas32.General, *mat.Dense) {
	x := blas32.General{Rows: n, Cols: k, Stride: k + 3, Data: make([]float32, n*(k+3))}
	wide := mat.NewDense(n, k, nil)
	for i := range n {
		for j := range k {
			v := float32(r.NormFloat64())
			x.Data[i*x.Stride+j] = v
			wide.Set(i, j, float64(v))
		}
	}
	return x, wide
}

// Products with a block of float32 equal those with the same numbers in float64; only what is stored is rounded.
func TestSingleProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, size := range [][3]int{{1, 1, 8}, {300, 40, 8}, {5000, 21, 16}, {9000, 70, 32}, {4100, 130, 5}} {
		n, m, b := size[0], size[1], size[2]
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			v, wide := rounded(r, n, m)
			_, w := rounded(r, n, b)
			_, c := rounded(r, m, b)
			_, step := rounded(r, b, b)
			got := mat.DenseCopyOf(w)
			want := mat.DenseCopyOf(w)
			vtw, gram := SweepSingle(got, v, c, step, true)
			wantVTW, wantGram := Sweep(want, wide, c, step, true)
			near(t, "w", got, want, 1e-12)
			near(t, "wᵀw", gram, wantGram, 1e-11)
			near(t, "vᵀw", vtw, wantVTW, 1e-11)

			var square mat.Dense
			square.Mul(wide.T(), wide)
			near(t, "vᵀv", GramSingle(v), &square, 1e-12)

			// One column fewer, so that what stays behind is seen.
			_, turn := rounded(r, m, max(1, m-1))
			var product mat.Dense
			product.Mul(wide, turn)
			MulInPlaceSingle(v, turn)
			stored := mat.NewDense(n, m, nil)
			Double(stored, v, 0)
			near(t, "v·t", stored.Slice(0, n, 0, max(1, m-1)), &product, 1e-7)
			if m > 1 && stored.At(n-1, m-1) != wide.At(n-1, m-1) {
				t.Error("the last column was changed")
			}
		})
	}
}

// near fails unless the largest difference is below tol times the largest entry.
func near(t *testing.T, what string, got, want mat.Matrix, tol float64) {
	t.Helper()
	var diff mat.Dense
	diff.Sub(got, want)
	if d, size := mat.Norm(&diff, 1), mat.Norm(want, 1); !(d <= tol*size) {
		t.Errorf("%s is off by %.2g of %.2g", what, d, size)
	}
}
