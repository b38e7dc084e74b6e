package dense

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func randomSquare(n int, seed uint64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 1))
	a := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	return a
}

func TestLU(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, n := range []int{1, 2, 15, 16, 17, 33, 64, 100, 257} {
		a := randomSquare(n, uint64(n))
		b := mat.DenseCopyOf(randomSquare(n, 5).Slice(0, n, 0, (n+1)/2))
		var first *mat.Dense
		for _, threads := range []int{1, 2} {
			runtime.GOMAXPROCS(threads)
			f, err := FactorLU(context.Background(), mat.DenseCopyOf(a))
			if err != nil {
				t.Fatal(err)
			}
			x := mat.DenseCopyOf(b)
			f.Solve(context.Background(), x)
			var r mat.Dense
			r.Mul(a, x)
			r.Sub(&r, b)
			if e := mat.Norm(&r, math.Inf(1)); !(e <= 1e-14*float64(n)*mat.Norm(a, math.Inf(1))*mat.Norm(x, math.Inf(1))) {
				t.Errorf("n = %d: residual %g", n, e)
			}
			if first != nil && !mat.Equal(first, x) {
				t.Errorf("n = %d: other bits with two threads", n)
			}
			first = x
		}
	}
}

func TestLUSingular(t *testing.T) {
	a := randomSquare(40, 1)
	for j := range 40 {
		a.Set(7, j, 0)
	}
	if _, err := FactorLU(context.Background(), a); err == nil {
		t.Error("a matrix with a zero row was factored")
	}
	a = randomSquare(20, 1)
	a.Set(3, 3, math.NaN())
	if _, err := FactorLU(context.Background(), a); err == nil {
		t.Error("a matrix with NaN was factored")
	}
}

func BenchmarkLU(b *testing.B) {
	for _, n := range []int{500, 2000} {
		a := randomSquare(n, 1)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := FactorLU(context.Background(), mat.DenseCopyOf(a)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(2*float64(n*n*n)/3*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFlop/s")
		})
	}
}
