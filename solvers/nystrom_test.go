package solvers_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/solvers"
)

// copies returns n points, the last of every ten a copy of the one before.
func copies(n, d int) *data.Dense[float64] {
	rng := rand.New(rand.NewPCG(3, 1))
	x := data.NewDense[float64](n, d)
	for i := range n {
		for j := range d {
			x.Row(i)[j] = rng.NormFloat64() + 3*float64(i%4)
		}
		if i%10 == 9 {
			copy(x.Row(i), x.Row(i-1))
		}
	}
	return x
}

func gaussianSide(t *testing.T, x data.Points) (*kernel.Side, *mat.Dense) {
	t.Helper()
	side, err := kernel.New(kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1.5}, x)
	if err != nil {
		t.Fatal(err)
	}
	k, err := side.Gram(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return side, k
}

var samplings = []solvers.Sampling{solvers.RandomPivots, solvers.Uniform, solvers.PlusPlus}

func TestNystromIsTheProjection(t *testing.T) {
	x := copies(300, 3)
	side, k := gaussianSide(t, x)
	for _, s := range samplings {
		for _, block := range []int{0, 1, 40} {
			y, err := solvers.NewNystrom(context.Background(), side, &solvers.NystromSettings{Rank: 50, Sampling: s, Seed: 2, Block: block})
			if err != nil {
				t.Fatal(err)
			}
			r := len(y.Pivots)
			if sorted := slices.Sorted(slices.Values(y.Pivots)); r != 50 || len(slices.Compact(sorted)) != r {
				t.Fatalf("%v: pivots %v", s, y.Pivots)
			}
			c, w := mat.NewDense(300, r, nil), mat.NewDense(r, r, nil)
			side.ColumnsTo(c, y.Pivots)
			for p, i := range y.Pivots {
				w.SetRow(p, c.RawRowView(i))
			}
			var inner, want, got, diff, root mat.Dense
			if err := inner.Solve(w, c.T()); err != nil {
				t.Fatal(err)
			}
			want.Mul(c, &inner)
			got.Mul(y.Factor, y.Factor.T())
			if diff.Sub(&got, &want); !(mat.Max(&diff) <= 1e-8 && mat.Min(&diff) >= -1e-8) {
				t.Errorf("%v: FFᵀ is not CW⁻¹Cᵀ: %v", s, mat.Norm(&diff, 1))
			}
			root.Mul(y.Root(), y.Root().T())
			if diff.Reset(); !mat.EqualApprox(&root, w, 1e-10) {
				t.Errorf("%v: RRᵀ is not W", s)
			}
			residual := mat.Trace(k) - mat.Trace(&got)
			if !(math.Abs(residual-y.Residual) <= 1e-9*y.Trace) || y.Trace != mat.Trace(k) {
				t.Errorf("%v: residual %v of %v, it is %v of %v", s, y.Residual, y.Trace, residual, mat.Trace(k))
			}
		}
	}
}

// The expected residual of RPCholesky is within twice the best for rank r when
// the rank is a few times r (theorem 2.3 of the paper); uniform choice has no such
// bound, and misses the small group here.
func TestRandomPivotsNearTheBest(t *testing.T) {
	const n, best = 400, 10
	x := copies(n, 2)
	for i := range 12 {
		x.Row(i * 7)[0] += 40 + 10*float64(i)
	}
	side, k := gaussianSide(t, x)
	var eigen mat.EigenSym
	eigen.Factorize(mat.NewSymDense(n, k.RawMatrix().Data), false)
	var tail float64
	for _, v := range eigen.Values(nil)[:n-best] {
		tail += v
	}
	mean := map[solvers.Sampling]float64{}
	const runs = 5
	for _, s := range samplings {
		for seed := range uint64(runs) {
			y, err := solvers.NewNystrom(context.Background(), side, &solvers.NystromSettings{Rank: 4 * best, Sampling: s, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			mean[s] += y.Residual / runs
		}
	}
	if !(mean[solvers.RandomPivots] <= 2*tail) || !(mean[solvers.RandomPivots] < mean[solvers.Uniform]) {
		t.Errorf("residuals %v, best of rank %d %v", mean, best, tail)
	}
}

func TestNystromOfDuplicates(t *testing.T) {
	x := copies(100, 2)
	for i := range 100 { // 7 different points
		copy(x.Row(i), x.Row(i%7))
	}
	side, _ := gaussianSide(t, x)
	for _, s := range samplings {
		y, err := solvers.NewNystrom(context.Background(), side, &solvers.NystromSettings{Rank: 100, Sampling: s})
		if err != nil {
			t.Fatal(err)
		}
		if _, r := y.Factor.Dims(); r != 7 || len(y.Pivots) != 7 || !(y.Residual <= 1e-10*y.Trace) {
			t.Errorf("%v: rank %d, pivots %v, residual %v", s, r, y.Pivots, y.Residual)
		}
	}
}

func TestNystromIsDeterministic(t *testing.T) {
	side, _ := gaussianSide(t, copies(500, 3))
	for _, s := range samplings {
		run := func(threads int, seed uint64) *solvers.Nystrom {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			y, err := solvers.NewNystrom(context.Background(), side, &solvers.NystromSettings{Rank: 60, Sampling: s, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			return y
		}
		one, four, other := run(1, 5), run(4, 5), run(1, 6)
		if !slices.Equal(one.Pivots, four.Pivots) || !mat.Equal(one.Factor, four.Factor) || one.Residual != four.Residual {
			t.Errorf("%v: different at 4 threads", s)
		}
		if slices.Equal(one.Pivots, other.Pivots) {
			t.Errorf("%v: the seed does not matter", s)
		}
	}
}

func TestNystromFaults(t *testing.T) {
	side, _ := gaussianSide(t, copies(20, 2))
	for _, s := range []*solvers.NystromSettings{nil, {Rank: -1}, {Rank: 3, Sampling: 9}, {Rank: 3, Block: -1}, {Rank: 3, Cut: 2}, {Rank: 3, Cut: math.NaN()}} {
		if y, err := solvers.NewNystrom(context.Background(), side, s); err == nil || y != nil {
			t.Errorf("%+v: no error", s)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if y, err := solvers.NewNystrom(ctx, side, &solvers.NystromSettings{Rank: 3}); err == nil || y != nil {
		t.Error("a cancelled run went on")
	}
}
