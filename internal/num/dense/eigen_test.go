package dense

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// fromSpectrum returns Q·diag(values)·Qᵀ for a random orthogonal Q.
func fromSpectrum(r *rand.Rand, values []float64) *mat.Dense {
	n := len(values)
	q := randomDense(r, n, n)
	if _, rank, err := CholQR(q); rank != n || err != nil {
		panic("random matrix is singular")
	}
	s := mat.DenseCopyOf(q)
	s.Apply(func(_, j int, v float64) float64 { return v * values[j] }, s)
	a := mat.NewDense(n, n, nil)
	a.Mul(s, q.T())
	for i := range n {
		for j := range i {
			a.Set(j, i, a.At(i, j))
		}
	}
	return a
}

// hard returns matrices whose spectra are known to be difficult.
func hard(r *rand.Rand, n int) map[string]*mat.Dense {
	diagonal := func(f func(i int) float64) *mat.Dense {
		d := mat.NewDense(n, n, nil)
		for i := range n {
			d.Set(i, i, f(i))
		}
		return d
	}
	spectrum := func(f func(i int) float64) *mat.Dense {
		v := make([]float64, n)
		for i := range v {
			v[i] = f(i)
		}
		return fromSpectrum(r, v)
	}
	bordered := func(f func(i int) float64, off func(i int) float64) *mat.Dense {
		d := diagonal(f)
		for i := range n - 1 {
			d.Set(i, i+1, off(i))
			d.Set(i+1, i, off(i))
		}
		return d
	}
	random := randomDense(r, n, n)
	random.Add(random, mat.DenseCopyOf(random.T()))
	huge, tiny := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	huge.Scale(1e300, random)
	tiny.Scale(1e-300, random)
	graded := mat.DenseCopyOf(random)
	graded.Apply(func(i, j int, v float64) float64 { return v * math.Pow(10, -20*float64(i+j)/float64(n)) }, random)
	ungraded := mat.NewDense(n, n, nil)
	ungraded.Apply(func(i, j int, _ float64) float64 { return graded.At(n-1-i, n-1-j) }, graded)
	one := func(int) float64 { return 1 }
	return map[string]*mat.Dense{
		"zero":       mat.NewDense(n, n, nil),
		"identity":   identity(n),
		"random":     random,
		"huge":       huge,
		"tiny":       tiny,
		"graded":     graded,
		"ungraded":   ungraded,
		"ones":       mat.NewDense(n, n, slices.Repeat([]float64{1}, n*n)),
		"repeats":    diagonal(func(i int) float64 { return float64(i % 3) }),
		"wilkinson":  bordered(func(i int) float64 { return math.Abs(float64(i) - float64(n-1)/2) }, one),
		"laplacian":  bordered(func(int) float64 { return 2 }, func(int) float64 { return -1 }),
		"glued":      bordered(func(i int) float64 { return math.Abs(float64(i%21) - 10) }, func(i int) float64 { return []float64{1, 1e-9}[(i%21)/20] }),
		"weak":       bordered(func(i int) float64 { return float64(i % 5) }, func(int) float64 { return 1e-15 }),
		"clustered":  spectrum(func(i int) float64 { return 1 + 1e-14*float64(i%7) + float64(i%2) }),
		"one apart":  spectrum(func(i int) float64 { return []float64{1e-16, 1}[min(i, n-1)/max(1, n-1)] }),
		"geometric":  spectrum(func(i int) float64 { return math.Pow(1e-16, float64(i)/float64(n)) }),
		"signs":      spectrum(func(i int) float64 { return float64(1 - 2*(i%2)) }),
		"arithmetic": spectrum(func(i int) float64 { return 1 - float64(i)/float64(n) }),
	}
}

func checkEigen(t *testing.T, a *mat.Dense, compare bool) {
	t.Helper()
	n, _ := a.Dims()
	in := mat.DenseCopyOf(a)
	for i := range n { // the upper triangle must not matter
		for j := i + 1; j < n; j++ {
			in.Set(i, j, math.NaN())
		}
	}
	values, v, err := EigenSym(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(values) {
		t.Fatal("not ascending")
	}
	// Bring the matrix near one, where the products below cannot overflow.
	_, exp := math.Frexp(maxAbs(a))
	b, lambda := mat.DenseCopyOf(a), slices.Clone(values)
	b.Apply(func(_, _ int, x float64) float64 { return math.Ldexp(x, -exp) }, b)
	for i := range lambda {
		lambda[i] = math.Ldexp(lambda[i], -exp)
	}
	const eps = 0x1p-52
	norm := max(math.Abs(lambda[0]), math.Abs(lambda[n-1]))
	tol := 4 * float64(n+8) * eps
	vl := mat.DenseCopyOf(v)
	vl.Apply(func(_, j int, x float64) float64 { return x * lambda[j] }, vl)
	if e := residual(b, v, vl); !(e <= tol*norm) {
		t.Fatalf("residual %g = %.1f·n·eps·norm", e, e/norm/float64(n)/eps)
	}
	if e := residual(v.T(), v, identity(n)); !(e <= tol) {
		t.Fatalf("orthogonality %g = %.1f·n·eps", e, e/float64(n)/eps)
	}
	if compare {
		var es mat.EigenSym
		if !es.Factorize(mat.NewSymDense(n, b.RawMatrix().Data), false) {
			t.Fatal("gonum failed")
		}
		for i, want := range es.Values(nil) {
			if !(math.Abs(lambda[i]-want) <= tol*norm) {
				t.Fatalf("eigenvalue %d = %g, want %g", i, lambda[i], want)
			}
		}
	}
}

func TestEigenSym(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, n := range []int{1, 2, 3, 4, 5, 10, 31, 32, 33, 34, 64, 65, 66, 100, 129, 130, 200, 257, 300, 600} {
		if n > 130 && testing.Short() {
			break
		}
		for name, a := range hard(r, n) {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) { checkEigen(t, a, n <= 300) })
		}
	}
	for n := 6; n < 140 && !testing.Short(); n++ {
		a := randomDense(r, n, n)
		a.Add(a, mat.DenseCopyOf(a.T()))
		checkEigen(t, a, false)
	}
}

func TestEigenSymInput(t *testing.T) {
	if values, v, err := EigenSym(context.Background(), &mat.Dense{}); len(values) != 0 || !v.IsEmpty() || err != nil {
		t.Fatal("n = 0")
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		a := identity(40)
		a.Set(30, 7, bad)
		if _, _, err := EigenSym(context.Background(), a); !errors.Is(err, ErrNotFinite) {
			t.Fatalf("%v: %v", bad, err)
		}
	}
	if !panics(func() { _, _, _ = EigenSym(context.Background(), mat.NewDense(2, 3, nil)) }) {
		t.Fatal("2×3 accepted")
	}
}

func TestEigenSymThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	a := randomDense(rand.New(rand.NewPCG(2, 9)), 300, 300)
	var values []float64
	var vectors *mat.Dense
	for _, procs := range []int{1, 2, 3} {
		runtime.GOMAXPROCS(procs)
		d, v, err := EigenSym(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		if procs == 1 {
			values, vectors = d, v
		}
		if !slices.Equal(values, d) || !mat.Equal(vectors, v) {
			t.Fatalf("%d threads differ from one", procs)
		}
	}
}

// TestSecularRoot checks interlacing and the equation itself where poles nearly
// coincide and weights differ by many orders.
func TestSecularRoot(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 300 {
		k := 1 + r.IntN(20)
		d, z := make([]float64, k), make([]float64, k)
		for j := range d {
			if j > 0 {
				d[j] = d[j-1] + math.Pow(10, -14*r.Float64())
			}
			z[j] = math.Pow(10, -15*r.Float64())
		}
		delta := make([]float64, k)
		for i := range d {
			secularRoot(d, z, i, delta)
			if !(delta[i] < 0) || i+1 < k && !(delta[i+1] > 0) {
				t.Fatalf("root %d of %d does not interlace: %v", i, k, delta)
			}
			f, size := 1.0, 1.0
			for j := range d {
				f += z[j] * z[j] / delta[j]
				size += math.Abs(z[j] * z[j] / delta[j])
			}
			if !(math.Abs(f) <= 1e-13*size) {
				t.Fatalf("root %d of %d: f = %g, terms %g, d %v z %v", i, k, f, size, d, z)
			}
		}
	}
}

func BenchmarkEigenSym(b *testing.B) {
	for _, n := range []int{200, 500, 1000, 2000} {
		a := randomDense(rand.New(rand.NewPCG(4, 9)), n, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := EigenSym(context.Background(), a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
