package kernel_test

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/kernel"
)

// K̂ of all points as landmarks is K, as operators and as coefficients; products
// that are interrupted are zero from there on.
func TestNystromOperator(t *testing.T) {
	x, _ := synthetic.TwoMoons(40, 0.1, 2)
	k := kernel.Kernel{Kind: kernel.Laplace, Sigma: 1}
	g, err := kernel.Gram(x, k, 0)
	if err != nil {
		t.Fatal(err)
	}
	all, err := kernel.New(k, x)
	if err != nil {
		t.Fatal(err)
	}
	root := mat.DenseCopyOf(g)
	if err := dense.Cholesky(context.Background(), root); err != nil {
		t.Fatal(err)
	}
	o, err := kernel.NewNystrom(all, x, root)
	if err != nil {
		t.Fatal(err)
	}
	v := mat.NewDense(40, 2, nil)
	want := mat.NewDense(40, 2, nil)
	got := mat.NewDense(40, 2, nil)
	for i := range 40 {
		v.SetRow(i, []float64{float64(i%7) - 3, 1})
	}
	near := func(what string, a, b *mat.Dense) {
		t.Helper()
		var d mat.Dense
		if d.Sub(a, b); !(mat.Norm(&d, 2) <= 1e-9*mat.Norm(b, 2)) {
			t.Errorf("%s: off by %v", what, mat.Norm(&d, 2))
		}
	}
	want.Mul(g, v)
	o.MulTo(got, v)
	near("K̂", got, want)
	near("coefficients", o.Coefficients(v), v)
	kernel.Matrix{Values: g}.MulTo(got, v)
	near("matrix", got, want)
	var phi mat.Dense
	phi.CloneFrom(root)
	for i := range 40 {
		clear(phi.RawRowView(i)[i+1:])
	}
	kernel.Factor{Phi: &phi}.MulTo(got, v)
	near("factor", got, want)
	if e := o.TraceError(1); !(e <= 1e-10) || o.Dim() != 40 || o.Landmarks() != data.Points(x) {
		t.Errorf("trace error %v of %d points", e, o.Dim())
	}
	ctx, cancel := context.WithCancel(t.Context())
	for _, op := range []kernel.Operator{all, o} {
		op.Until(ctx).MulTo(got, v)
		near("until", got, want)
	}
	cancel()
	for _, op := range []kernel.Operator{all, o} {
		op.Until(ctx).MulTo(got, v)
		if mat.Norm(got, 2) != 0 {
			t.Error("a product after the end")
		}
	}
}
