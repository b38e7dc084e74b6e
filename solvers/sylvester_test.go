package solvers_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/solvers"
)

func normal(rows, cols int, rng *rand.Rand) *mat.Dense {
	out := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			out.Set(i, j, rng.NormFloat64())
		}
	}
	return out
}

func symmetrized(a *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Add(a, a.T())
	return &out
}

// kronecker solves AX + XB = C or AXB − X = C as one system in
// the entries of X by rows.
func kronecker(t *testing.T, a, b, c *mat.Dense, stein bool) *mat.Dense {
	t.Helper()
	n, m := c.Dims()
	k := mat.NewDense(n*m, n*m, nil)
	for i := range n {
		for j := range m {
			for p := range n {
				for q := range m {
					v := 0.0
					switch {
					case stein:
						v = a.At(i, p) * b.At(q, j)
						if i == p && j == q {
							v--
						}
					case j == q && i == p:
						v = a.At(i, p) + b.At(q, j)
					case j == q:
						v = a.At(i, p)
					case i == p:
						v = b.At(q, j)
					}
					k.Set(i*m+j, p*m+q, v)
				}
			}
		}
	}
	x := mat.NewDense(n*m, 1, append([]float64{}, c.RawMatrix().Data...))
	lu, err := dense.FactorLU(k)
	if err != nil {
		t.Fatal(err)
	}
	lu.Solve(x)
	return mat.NewDense(n, m, x.RawMatrix().Data)
}

func TestSylvesterIsKronecker(t *testing.T) {
	ctx := context.Background()
	for _, n := range [][2]int{{1, 1}, {1, 4}, {2, 3}, {9, 1}, {23, 6}, {6, 23}, {75, 3}} {
		for _, which := range []string{"both", "B", "A"} {
			for _, stein := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v/%s/%v", n, which, stein), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(n[0]), uint64(n[1])))
					a, b, c := normal(n[0], n[0], rng), normal(n[1], n[1], rng), normal(n[0], n[1], rng)
					if which != "B" {
						a = symmetrized(a)
					}
					if which != "A" {
						b = symmetrized(b)
					}
					a0, b0, c0 := mat.DenseCopyOf(a), mat.DenseCopyOf(b), mat.DenseCopyOf(c)
					solve := solvers.Sylvester
					if stein {
						solve = solvers.Stein
					}
					got, err := solve(ctx, a, b, c)
					if err != nil {
						t.Fatal(err)
					}
					want := kronecker(t, a, b, c, stein)
					var d mat.Dense
					d.Sub(got.X, want)
					if !(mat.Norm(&d, 2) <= 1e-9*mat.Norm(want, 2)) || !(got.Residual <= 1e-11) || !(got.Separation > 0) {
						t.Errorf("off by %g of %g, %+v", mat.Norm(&d, 2), mat.Norm(want, 2), got)
					}
					if !mat.Equal(a, a0) || !mat.Equal(b, b0) || !mat.Equal(c, c0) {
						t.Error("the input was modified")
					}
				})
			}
		}
	}
}

func TestSylvesterSingular(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(3, 3))
	low := normal(8, 3, rng)
	var flat mat.Dense // rank 3, not symmetric
	flat.Mul(low, normal(3, 8, rng))
	c := normal(8, 2, rng)
	zero := mat.NewDense(2, 2, []float64{1, 1, 1, 1}) // eigenvalues 0 and 2
	for name, a := range map[string]*mat.Dense{"general": &flat, "symmetric": mat.NewDense(8, 8, nil)} {
		_, err := solvers.Sylvester(ctx, a, zero, c)
		var singular *solvers.SylvesterError
		if !errors.As(err, &singular) || !(math.Abs(singular.Eigenvalue) < 1e-14) || !(singular.Pivot <= 1e-13*singular.Norm) {
			t.Errorf("%s: %v", name, err)
		}
	}
	one := mat.NewDense(2, 2, []float64{1, 0, 0, 3})
	_, err := solvers.Stein(ctx, mat.NewDense(2, 2, []float64{1, 5, 0, 2}), one, mat.NewDense(2, 2, []float64{1, 2, 3, 4}))
	if err == nil {
		t.Error("an eigenvalue 1 of X ↦ AXB was taken")
	}
	if _, err := solvers.Sylvester(ctx, &flat, normal(2, 2, rng), c); err == nil {
		t.Error("two matrices that are not symmetric were taken")
	}
	if _, err := solvers.Sylvester(ctx, &flat, zero, normal(3, 2, rng)); err == nil {
		t.Error("wrong shapes were taken")
	}
	c.Set(1, 1, math.NaN())
	if _, err := solvers.Sylvester(ctx, &flat, zero, c); err == nil {
		t.Error("NaN was taken")
	}
	got, err := solvers.Sylvester(ctx, normal(4, 4, rng), one, mat.NewDense(4, 2, nil))
	if err != nil || got.Residual != 0 || mat.Norm(got.X, 2) != 0 {
		t.Errorf("a zero right-hand side: %+v, %v", got, err)
	}
}

func BenchmarkSylvester(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	a, s, c := normal(2000, 2000, rng), symmetrized(normal(100, 100, rng)), normal(2000, 100, rng)
	for b.Loop() {
		r, err := solvers.Sylvester(context.Background(), a, s, c)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(r.Residual, "residual")
	}
}
