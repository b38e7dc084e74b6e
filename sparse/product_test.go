package sparse

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestProductOfSparseAndBlock(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, weighted := range []bool{true, false} {
		for _, b := range []int{1, 3, 20, 70} {
			m := randomCSR(rng, 301, 57, 0.1, !weighted)
			wide := mat.NewDense(57, b+2, nil) // a block with a stride
			for i := range 57 {
				for j := range b + 2 {
					wide.Set(i, j, rng.NormFloat64())
				}
			}
			x := wide.Slice(0, 57, 1, b+1).(*mat.Dense)
			got, want := mat.NewDense(301, b, nil), new(mat.Dense)
			m.MulTo(got, x)
			d := mat.NewDense(301, 57, nil)
			for i := range 301 {
				for j := range 57 {
					d.Set(i, j, m.At(i, j))
				}
			}
			want.Mul(d, x)
			if !mat.EqualApprox(got, want, 1e-13) {
				t.Errorf("weighted %v, %d columns: the product differs from the dense one", weighted, b)
			}
			old := runtime.GOMAXPROCS(1)
			again := mat.NewDense(301, b, nil)
			m.MulTo(again, x)
			runtime.GOMAXPROCS(old)
			if !mat.Equal(got, again) {
				t.Errorf("weighted %v, %d columns: one thread gives other bits", weighted, b)
			}
		}
	}
}

func TestProductRefusesShapes(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a block of the wrong height was taken")
		}
	}()
	m := &CSR{Rows: 2, Cols: 3, Ptr: []int64{0, 0, 0}}
	m.MulTo(mat.NewDense(2, 1, nil), mat.NewDense(2, 1, nil))
}
