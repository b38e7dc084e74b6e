package cg

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// TestQuotient: the quotient is not below the smallest nonzero eigenvalue of D⁻¹(D − W),
// nor far above it where a wave is about the eigenvector. Single weak edges it sees in part.
func TestQuotient(t *testing.T) {
	weak := path(200) // every tenth edge is
	for i := range weak.Rows {
		for p := weak.Ptr[i]; p < weak.Ptr[i+1]; p++ {
			if min(i, int(weak.Col[p]))%10 == 9 {
				weak.Val[p] = 0.01
			}
		}
	}
	for name, c := range map[string]struct {
		w     *sparse.CSR
		above float64
	}{"path": {path(200), 1.1}, "grid": {grid(4, 90), 2}, "star": {star(50), 3}, "weak": {weak, math.Inf(1)}} {
		l, err := sparse.NewLaplacian(c.w, sparse.Normalized)
		if err != nil {
			t.Fatal(err)
		}
		n := l.Dim()
		full := mat.NewDense(n, n, nil)
		l.MulTo(full, unit(n))
		var e mat.EigenSym
		e.Factorize(mat.NewSymDense(n, full.RawMatrix().Data), false)
		_, hard := newSystem(l).spread()
		want := e.Values(nil)[1]
		if !(hard >= want*(1-1e-12) && hard <= c.above*want) {
			t.Errorf("%s: the quotient is %v, the eigenvalue %v", name, hard, want)
		}
	}
}

// TestGrounded: harmonic functions and a diagonal on a long path, where the factor is
// exact, take a few iterations; for a star none is made.
func TestGrounded(t *testing.T) {
	const n = 3000
	l, err := sparse.NewLaplacian(path(n), sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	g, pinned := make([]float64, n), make([]bool, n)
	pinned[0], pinned[2000], g[2500] = true, true, 0.25
	method, m := Grounded(l, g, pinned, 0)
	if method != ApproximateCholesky {
		t.Fatalf("%v on a long path", method)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	x, b := mat.NewDense(n, 3, nil), mat.NewDense(n, 3, nil)
	for i := range n {
		for j := range 3 {
			if !pinned[i] {
				x.Set(i, j, rng.NormFloat64())
			}
		}
	}
	a := operator{n, func(dst, x *mat.Dense) {
		l.MulTo(dst, x)
		for i := range n {
			for j := range x.RawMatrix().Cols {
				if pinned[i] {
					dst.Set(i, j, x.At(i, j))
				} else {
					dst.Set(i, j, dst.At(i, j)+g[i]*x.At(i, j))
				}
			}
		}
	}}
	a.MulTo(b, x)
	r, err := Solve(t.Context(), a, b, &Settings{Tolerance: 1e-9, Preconditioner: m})
	if err != nil {
		t.Fatal(err)
	}
	var difference mat.Dense
	difference.Sub(r.X, x)
	if !(mat.Norm(&difference, 2) <= 1e-5*mat.Norm(x, 2)) || r.MaxIterations() > 4 {
		t.Errorf("off by %v after %d iterations", mat.Norm(&difference, 2), r.MaxIterations())
	}
	small, err := sparse.NewLaplacian(star(100), sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	if method, _ := Grounded(small, make([]float64, 100), nil, 0); method != Jacobi {
		t.Errorf("%v on a star", method)
	}
}

// operator is a product.
type operator struct {
	n   int
	mul func(dst, x *mat.Dense)
}

func (a operator) Dim() int                { return a.n }
func (a operator) MulTo(dst, x *mat.Dense) { a.mul(dst, x) }
