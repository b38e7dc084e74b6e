package solvers_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

func randomBlock(rng *rand.Rand, rows, cols int) *mat.Dense {
	a := mat.NewDense(rows, cols, nil)
	for i := range rows {
		for j := range cols {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	return a
}

func wantNear(t *testing.T, what string, got, want mat.Matrix) {
	t.Helper()
	var d mat.Dense
	if d.Sub(got, want); !(mat.Norm(&d, 2) <= 1e-10*mat.Norm(want, 2)) {
		t.Errorf("%s: off by %v of %v", what, mat.Norm(&d, 2), mat.Norm(want, 2))
	}
}

// Columns are θ_j(θ_jC + ρI)⁻¹ of what they were, with few rows and with many, with
// and without N.
func TestShifted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	const r = 12
	theta := []float64{0, 0.5, 2, 0.5}
	var norm mat.Dense
	half := randomBlock(rng, r, r)
	norm.Mul(half.T(), half)
	for _, l := range []int{3, 30} {
		for _, weight := range []float64{0, 0.2} {
			rows := randomBlock(rng, l, r)
			s, err := solvers.NewShifted(t.Context(), &solvers.ShiftedProblem{Rows: rows, Theta: theta, Ridge: 0.3, Weight: weight, Norm: &norm,
				Eigen: func(ctx context.Context) ([]float64, *mat.Dense, error) { return dense.EigenSym(ctx, &norm) }})
			if err != nil {
				t.Fatal(err)
			}
			b := randomBlock(rng, r, len(theta))
			want := mat.NewDense(r, len(theta), nil)
			for j, v := range theta {
				var c, extra, x mat.Dense
				c.Mul(rows.T(), rows)
				c.Scale(v/float64(l), &c)
				extra.Scale(v*weight, &norm)
				c.Add(&c, &extra)
				for i := range r {
					c.Set(i, i, c.At(i, i)+0.3)
				}
				if err := x.Solve(&c, b.ColView(j)); err != nil {
					t.Fatal(err)
				}
				for i := range r {
					want.Set(i, j, v*x.At(i, 0))
				}
			}
			s.Apply(b)
			wantNear(t, "shifted", b, want)
		}
	}
}

// denseOperator is a matrix.
type denseOperator struct{ a *mat.Dense }

func (o denseOperator) Dim() int                { n, _ := o.a.Dims(); return n }
func (o denseOperator) MulTo(dst, x *mat.Dense) { dst.Mul(o.a, x) }

// Where the kernel is ΦΦᵀ the preconditioners are the inverses of their systems.
func TestDualAndSylvester(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 5))
	const n, r, outputs, ridge = 9, 4, 3, 0.2
	w, err := sparse.FromTriplets(n, n, []int32{0, 1, 1, 2, 5, 8}, []int32{1, 0, 2, 1, 8, 5}, []float64{1, 1, 2, 2, 3, 3})
	if err != nil {
		t.Fatal(err)
	}
	lap, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	labeled := []int{0, 4, 5}
	root := solvers.NewNormRoot(n, labeled, lap, []float64{0, 0.7})
	_, q := root.Dims()
	phi := randomBlock(rng, n, r)
	var k, sphi, c mat.Dense
	k.Mul(phi, phi.T())
	sphi.ReuseAs(q, r)
	root.MulTransTo(&sphi, phi)
	c.Mul(sphi.T(), &sphi) // ΦᵀBΦ

	factor := mat.DenseCopyOf(&c)
	for i := range r {
		factor.Set(i, i, factor.At(i, i)+ridge)
	}
	if err := dense.Cholesky(context.Background(), factor); err != nil {
		t.Fatal(err)
	}
	h := randomBlock(rng, q, 2)
	x, back := mat.NewDense(q, 2, nil), mat.NewDense(q, 2, nil)
	solvers.DualOperator{Root: root, Kernel: denseOperator{&k}, Ridge: ridge}.MulTo(x, h)
	solvers.DualPreconditioner{Root: root, Phi: phi, Factor: factor, Ridge: ridge}.ApplyTo(back, x)
	wantNear(t, "dual", back, h)

	theta := []float64{0.3, 1, 2}
	var vectors, qm mat.Dense
	var qr mat.QR
	qr.Factorize(randomBlock(rng, outputs, outputs))
	qr.QTo(&vectors)
	qm.Mul(&vectors, mat.NewDiagDense(outputs, theta))
	qm.Mul(&qm, vectors.T())
	rows := mat.NewDense(len(labeled), r, nil)
	dense.Gather(rows, phi, labeled)
	var norm, lphi mat.Dense
	lphi.ReuseAs(n, r)
	lap.MulTo(&lphi, phi)
	norm.Mul(phi.T(), &lphi)
	direct, err := solvers.NewShifted(t.Context(), &solvers.ShiftedProblem{Rows: rows, Theta: theta, Ridge: ridge, Weight: 0.7, Norm: &norm,
		Eigen: func(ctx context.Context) ([]float64, *mat.Dense, error) { return dense.EigenSym(ctx, &norm) }})
	if err != nil {
		t.Fatal(err)
	}
	e := solvers.NewSylvester(root, denseOperator{&k}, &qm, randomBlock(rng, len(labeled), outputs), ridge)
	entries := randomBlock(rng, q*outputs, 1)
	product, again := mat.NewDense(q*outputs, 1, nil), mat.NewDense(q*outputs, 1, nil)
	e.MulTo(product, entries)
	solvers.SylvesterPreconditioner{System: e, Direct: direct, Phi: phi, Vectors: &vectors}.ApplyTo(again, product)
	wantNear(t, "Sylvester", again, entries)
}
