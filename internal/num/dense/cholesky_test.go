package dense

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// residual returns max |a·b − c|, entrywise.
func residual(a, b, c mat.Matrix) float64 {
	var d mat.Dense
	d.Mul(a, b)
	d.Sub(&d, c)
	return maxAbs(&d)
}

func maxAbs(a mat.Matrix) float64 {
	m, n := a.Dims()
	var s float64
	for i := range m {
		for j := range n {
			if v := math.Abs(a.At(i, j)); !(v <= s) {
				s = v
			}
		}
	}
	return s
}

func identity(n int) *mat.Dense {
	d := mat.NewDense(n, n, nil)
	for i := range n {
		d.Set(i, i, 1)
	}
	return d
}

func TestCholesky(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for _, n := range []int{1, 2, 15, 16, 17, 33, 64, 65, 100, 257} {
		x := randomDense(r, n, n+5)
		a, l := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
		Syrk(NoTrans, 1, x, 0, a)
		l.Copy(a)
		for i := range n {
			for j := i + 1; j < n; j++ {
				l.Set(i, j, math.NaN())
			}
		}
		if err := Cholesky(context.Background(), l); err != nil {
			t.Fatal(err)
		}
		if e := residual(l, l.T(), a); !(e <= 1e-13*float64(n)*float64(n)) {
			t.Fatalf("n=%d: residual %g", n, e)
		}
		// All four triangular solves, right-hand sides with known solutions.
		want := randomDense(r, n, 7)
		u := mat.DenseCopyOf(l.T())
		for i := range n { // a triangle that is well conditioned
			for j := range i {
				l.Set(i, j, l.At(i, j)/float64(n))
				u.Set(j, i, l.At(i, j))
			}
			l.Set(i, i, 1+l.At(i, i))
			u.Set(i, i, l.At(i, i))
		}
		for k, op := range []mat.Matrix{l, l.T(), u, u.T()} {
			b := mat.NewDense(n, 7, nil)
			b.Mul(op, want)
			if k < 2 {
				SolveLower(Trans(k == 1), l, b)
			} else {
				SolveUpper(Trans(k == 3), u, b)
			}
			if e := residual(identity(n), b, want); !(e <= 1e-12) {
				t.Fatalf("n=%d solve %d: error %g", n, k, e)
			}
		}
	}
}

func TestCholeskyNotPositive(t *testing.T) {
	for _, bad := range []int{0, 7, 50, 99} {
		for _, v := range []float64{0, -1, math.NaN(), math.Inf(1)} {
			a := identity(100)
			a.Set(bad, bad, v)
			var e *NotPositiveError
			if err := Cholesky(context.Background(), a); !errors.As(err, &e) || e.Row != bad {
				t.Fatalf("pivot %d = %v: %v", bad, v, err)
			}
		}
	}
}

// checkQR checks the contract of CholQR on a copy of x and returns the rank.
func checkQR(t *testing.T, name string, x *mat.Dense) int {
	t.Helper()
	n, b := x.Dims()
	q := mat.DenseCopyOf(x)
	r, rank, err := CholQR(q)
	if err != nil {
		t.Fatal(name, err)
	}
	zero := 0
	want := mat.NewDense(b, b, nil)
	for j := range b {
		if r.At(j, j) == 0 {
			zero++
		} else {
			want.Set(j, j, 1)
		}
		for i := j + 1; i < b; i++ {
			if r.At(i, j) != 0 {
				t.Fatalf("%s: R is not upper triangular", name)
			}
		}
		if !(r.At(j, j) >= 0) {
			t.Fatalf("%s: R[%d,%d] = %g", name, j, j, r.At(j, j))
		}
	}
	if rank != b-zero {
		t.Fatalf("%s: rank %d, but %d zeros", name, rank, zero)
	}
	if e := residual(q.T(), q, want); !(e <= 1e-14*float64(b+4)) {
		t.Fatalf("%s: orthogonality %g", name, e)
	}
	// Column by column, the residual is small beside the column.
	var d mat.Dense
	d.Mul(q, r)
	d.Sub(&d, x)
	for j := range b {
		top := maxAbs(x.Slice(0, n, j, j+1))
		if e := maxAbs(d.Slice(0, n, j, j+1)); !(e <= 2e-13*float64(b)*top) {
			t.Fatalf("%s: residual %g of column %d, norm %g", name, e, j, top)
		}
	}
	return rank
}

func TestCholQR(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 7))
	for _, s := range [][2]int{{1, 1}, {5, 3}, {40, 40}, {300, 17}, {3000, 64}, {700, 130}} {
		n, b := s[0], s[1]
		x := randomDense(r, n, b)
		if rank := checkQR(t, "random", x); rank != b {
			t.Fatalf("random %d×%d: rank %d", n, b, rank)
		}
		// Columns of very different norms, and of very small or large ones.
		for _, base := range []float64{0.01, 1e-5, 1e5} {
			y := mat.DenseCopyOf(x)
			for j := range b {
				f := math.Pow(base, float64(min(j, 30)))
				for i := range n {
					y.Set(i, j, f*y.At(i, j))
				}
			}
			if rank := checkQR(t, "scaled", y); rank != b {
				t.Fatalf("scaled %d×%d by %g: rank %d", n, b, base, rank)
			}
		}
	}
	// Condition numbers 10^e: a common direction with a small random part.
	for e := 1; e <= 12; e++ {
		x, u := randomDense(r, 500, 10), randomDense(r, 500, 1)
		for i := range 500 {
			for j := range 10 {
				x.Set(i, j, u.At(i, 0)+math.Pow(10, -float64(e))*x.At(i, j))
			}
		}
		if rank := checkQR(t, "ill-conditioned", x); rank != 10 {
			t.Fatalf("condition 1e%d: rank %d", e, rank)
		}
	}
	// Exact dependence.
	x := randomDense(r, 400, 12)
	for i := range 400 {
		x.Set(i, 3, 0)
		x.Set(i, 5, x.At(i, 1))
		x.Set(i, 9, x.At(i, 0)-2*x.At(i, 8))
	}
	if rank := checkQR(t, "dependent", x); rank != 9 {
		t.Fatalf("dependent: rank %d", rank)
	}
	if rank := checkQR(t, "zero", mat.NewDense(30, 4, nil)); rank != 0 {
		t.Fatalf("zero: rank %d", rank)
	}
	if rank := checkQR(t, "wide", randomDense(r, 3, 8)); rank != 3 {
		t.Fatalf("wide: rank %d", rank)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		x.Set(100, 6, v)
		if _, _, err := CholQR(x); !errors.Is(err, ErrNotFinite) {
			t.Fatalf("%v: %v", v, err)
		}
	}
}

func TestMulInPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	x, m := randomDense(r, 1000, 30), randomDense(r, 30, 11)
	old := mat.DenseCopyOf(x)
	MulInPlace(x, m)
	if e := residual(old, m, x.Slice(0, 1000, 0, 11)); !(e <= 1e-12) {
		t.Fatalf("residual %g", e)
	}
	if !mat.Equal(x.Slice(0, 1000, 11, 30), old.Slice(0, 1000, 11, 30)) {
		t.Fatal("other columns changed")
	}
}

func BenchmarkCholesky(b *testing.B) {
	const n = 2000
	a, l := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	Syrk(NoTrans, 1, randomDense(rand.New(rand.NewPCG(4, 7)), n, n), 0, a)
	for b.Loop() {
		l.Copy(a)
		if err := Cholesky(context.Background(), l); err != nil {
			b.Fatal(err)
		}
	}
	rate(b, n*n*n/3)
}

func BenchmarkCholQR(b *testing.B) {
	const n, k = 60000, 64
	x, q := randomDense(rand.New(rand.NewPCG(5, 7)), n, k), mat.NewDense(n, k, nil)
	b.Run("good", func(b *testing.B) {
		for b.Loop() {
			q.Copy(x)
			_, _, _ = CholQR(q)
		}
		rate(b, 4*n*k*k)
	})
	for i := range n {
		x.Set(i, 40, x.At(i, 3))
	}
	b.Run("dependent", func(b *testing.B) {
		for b.Loop() {
			q.Copy(x)
			_, _, _ = CholQR(q)
		}
		rate(b, 4*n*k*k)
	})
}
