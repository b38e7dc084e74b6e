package dense

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/internal/testmode"
)

func randomSlice[T simd.Float](r *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(r.NormFloat64())
	}
	return x
}

func randomDense(r *rand.Rand, m, n int) *mat.Dense {
	return mat.NewDense(m, n, randomSlice[float64](r, m*n))
}

type gemmFunc[T simd.Float] func(tA, tB Trans, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)

// testGemm holds f against three loops in float64, on a matrix C that lies in a
// larger one.
func testGemm[T simd.Float](t *testing.T, f gemmFunc[T], eps float64, m, n, k int, tA, tB Trans, alpha, beta T) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(m*n), uint64(k)))
	pad := r.IntN(3)
	lda, ldb, ldc := k+pad, n+pad, n+2
	ra, rb := m, k
	if tA {
		lda, ra = m+pad, k
	}
	if tB {
		ldb, rb = k+pad, n
	}
	a, b := randomSlice[T](r, ra*lda), randomSlice[T](r, rb*ldb)
	c := randomSlice[T](r, (m+1)*ldc)
	old := slices.Clone(c)
	if beta == 0 {
		for i := range m {
			for j := range n {
				c[i*ldc+j] = T(math.NaN())
			}
		}
	}
	f(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	for i := range m + 1 {
		for j := range ldc {
			want := float64(old[i*ldc+j])
			size := math.Abs(want)
			if i < m && j < n {
				var s, abs float64
				for p := range k {
					x, y := i*lda+p, p*ldb+j
					if tA {
						x = p*lda + i
					}
					if tB {
						y = j*ldb + p
					}
					v := float64(a[x]) * float64(b[y])
					s += v
					abs += math.Abs(v)
				}
				size = math.Abs(float64(alpha))*abs + math.Abs(float64(beta)*want)
				want = float64(alpha)*s + float64(beta)*want
			}
			if got := float64(c[i*ldc+j]); !(math.Abs(got-want) <= eps*float64(min(k, 300)+4)*size) {
				t.Fatalf("m=%d n=%d k=%d %v %v alpha=%v beta=%v: C[%d,%d] = %v, want %v", m, n, k, tA, tB, alpha, beta, i, j, got, want)
			}
		}
	}
}

func TestGemm(t *testing.T) {
	testmode.Skip(t, testmode.Race, "TestThreads has the goroutines")
	sizes := []int{0, 1, 2, 3, 5, 13, 14, 15, 16, 17, 31, 33, 48, 65}
	if testing.Short() {
		sizes = []int{1, 13, 33}
	}
	for _, m := range sizes {
		for _, n := range sizes {
			for _, k := range []int{0, 1, 3, 4, 7, 16, 33} {
				for v := range 4 {
					tA, tB := Trans(v&1 == 1), Trans(v&2 == 2)
					alpha, beta := []float64{1, -0.5, 1, 2}[(m+v)%4], []float64{0, 1, 0.5, -2}[(n+v)%4]
					testGemm(t, Gemm64, 0x1p-52, m, n, k, tA, tB, alpha, beta)
					testGemm(t, Gemm32, 0x1p-23, m, n, k, tA, tB, float32(alpha), float32(beta))
				}
			}
		}
	}
	for _, s := range [][3]int{{113, 129, 257}, {300, 70, 513}, {20, 700, 300}, {700, 20, 300}, {33, 65, 5000}, {5, 4200, 300}, {250, 4100, 9}} {
		if testing.Short() && s[0]*s[1]*s[2] > 4_300_000 {
			continue
		}
		for v := range 4 {
			tA, tB := Trans(v&1 == 1), Trans(v&2 == 2)
			for _, beta := range []float64{0, 1, 0.5} {
				testGemm(t, Gemm64, 0x1p-52, s[0], s[1], s[2], tA, tB, 0.5, beta)
				testGemm(t, Gemm32, 0x1p-23, s[0], s[1], s[2], tA, tB, 1, float32(beta))
			}
		}
	}
	testGemm(t, Gemm64, 0x1p-52, 20, 30, 40, NoTrans, NoTrans, 0, 0)
	testGemm(t, Gemm64, 0x1p-52, 20, 30, 40, NoTrans, NoTrans, 0, 3)
}

// TestGemmParts drives the parts that only large shapes reach with small
// limits on the packed part of B.
func TestGemmParts(t *testing.T) {
	for _, limit := range []int{1, 5000, 1 << 20} {
		f := func(tA, tB Trans, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
			p := product[float64]{
				ctx: t.Context(), tile: simd.Gemm64(), m: m, n: n, k: k,
				a: operand[float64]{a, lda, bool(tA)}, b: operand[float64]{b, ldb, !bool(tB)},
				alpha: alpha, beta: beta, c: c, ldc: ldc,
			}
			p.runBlocks(concurrently, limit)
		}
		testGemm(t, f, 0x1p-52, 130, 90, 700, NoTrans, NoTrans, 1, 0)
		testGemm(t, f, 0x1p-52, 130, 90, 700, Transposed, Transposed, 2, 1)
	}
}

func TestGemmNaN(t *testing.T) {
	nan := math.NaN()
	a, b := mat.NewDense(2, 2, []float64{nan, nan, nan, nan}), mat.NewDense(2, 2, nil)
	c := mat.NewDense(2, 2, []float64{nan, nan, nan, nan})
	Gemm(NoTrans, NoTrans, 0, a, b, 0, c)
	if !mat.Equal(c, mat.NewDense(2, 2, nil)) {
		t.Fatal("alpha = 0 does not hide NaN")
	}
	Gemm(NoTrans, NoTrans, 1, a, b, 0, c)
	if c.At(1, 1) == c.At(1, 1) {
		t.Fatal("NaN in A lost")
	}
}

func TestGemmShapes(t *testing.T) {
	a, b := mat.NewDense(2, 3, nil), mat.NewDense(3, 4, nil)
	Gemm(NoTrans, NoTrans, 1, a, b, 0, mat.NewDense(2, 4, nil))
	Gemm(NoTrans, NoTrans, 1, &mat.Dense{}, &mat.Dense{}, 0, &mat.Dense{})
	Syrk(NoTrans, 1, &mat.Dense{}, 0, &mat.Dense{})
	for i, f := range []func(){
		func() { Gemm(NoTrans, NoTrans, 1, a, b, 0, mat.NewDense(4, 2, nil)) },
		func() { Gemm(Transposed, NoTrans, 1, a, b, 0, mat.NewDense(2, 4, nil)) },
		func() { Gemm(NoTrans, Transposed, 1, a, b, 0, mat.NewDense(2, 4, nil)) },
		func() { Syrk(NoTrans, 1, a, 0, mat.NewDense(3, 3, nil)) },
		func() {
			Gemm64(NoTrans, NoTrans, 2, 2, 2, 1, make([]float64, 3), 2, make([]float64, 4), 2, 0, make([]float64, 4), 2)
		},
	} {
		if !panics(f) {
			t.Errorf("case %d: no panic", i)
		}
	}
}

func panics(f func()) (p bool) {
	defer func() { p = recover() != nil }()
	f()
	return false
}

func TestSyrk(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][2]int{{1, 1}, {3, 50}, {17, 9}, {64, 64}, {130, 40}, {250, 300}, {70, 5000}, {500, 2100}} {
		for _, tA := range []Trans{NoTrans, Transposed} {
			n, k := s[0], s[1]
			a := randomDense(r, n, k)
			if tA {
				a = randomDense(r, k, n)
			}
			for _, beta := range []float64{0, 1, -0.5} {
				want := mat.NewDense(n, n, nil)
				Gemm(!tA, tA, 1, randomDense(r, n, n), mat.NewDense(n, n, nil), 0, want)
				c := randomDense(r, n, n)
				c.Add(c, mat.DenseCopyOf(c.T()))
				want.Copy(c)
				if beta == 0 {
					c.Apply(func(_, _ int, _ float64) float64 { return math.NaN() }, c)
				}
				Gemm(tA, !tA, 1.5, a, a, beta, want)
				Syrk(tA, 1.5, a, beta, c)
				if !mat.EqualApprox(c, want, 1e-11*float64(k)) {
					t.Fatalf("n=%d k=%d %v beta=%v: wrong", n, k, tA, beta)
				}
				if !mat.Equal(c, c.T()) {
					t.Fatalf("n=%d k=%d %v beta=%v: not symmetric", n, k, tA, beta)
				}
			}
		}
	}
}

// TestThreads checks that results have the same bits at any GOMAXPROCS.
func TestThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	r := rand.New(rand.NewPCG(2, 2))
	for _, s := range [][3]int{{300, 300, 300}, {40, 50, 9000}, {2000, 33, 600}, {9, 3000, 700}} {
		m, n, k := s[0], s[1], s[2]
		a, b, a32, b32 := randomDense(r, k, m), randomDense(r, k, n), randomSlice[float32](r, k*m), randomSlice[float32](r, k*n)
		var c, g *mat.Dense
		var c32 []float32
		for _, procs := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(procs)
			d, h, d32 := mat.NewDense(m, n, nil), mat.NewDense(n, n, nil), make([]float32, m*n)
			Gemm(Transposed, NoTrans, 0.3, a, b, 0, d)
			Syrk(Transposed, 0.3, b, 0, h)
			Gemm32(Transposed, NoTrans, m, n, k, 0.3, a32, m, b32, n, 0, d32, n)
			if procs == 1 {
				c, g, c32 = d, h, d32
			}
			if !mat.Equal(c, d) || !mat.Equal(g, h) || !slices.Equal(c32, d32) {
				t.Fatalf("%v: %d threads differ from one", s, procs)
			}
		}
	}
}

func rate(b *testing.B, flops float64) {
	b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func BenchmarkGemm(b *testing.B) {
	for _, s := range []struct {
		name    string
		tA, tB  Trans
		m, n, k int
	}{
		{"square", NoTrans, NoTrans, 2000, 2000, 2000},
		{"tall", NoTrans, NoTrans, 60000, 1000, 64},
		{"AtB64", Transposed, NoTrans, 64, 64, 60000},
		{"AtB1800", Transposed, NoTrans, 1800, 64, 60000},
		{"AB64", NoTrans, NoTrans, 60000, 64, 1800},
		{"AtB2048", Transposed, NoTrans, 2048, 64, 60000},
		{"AB64of2048", NoTrans, NoTrans, 60000, 64, 2048},
		{"AB1000", NoTrans, NoTrans, 60000, 1000, 1800},
	} {
		b.Run("64/"+s.name, func(b *testing.B) { benchmarkGemm(b, Gemm64, s.tA, s.tB, s.m, s.n, s.k) })
		b.Run("32/"+s.name, func(b *testing.B) { benchmarkGemm(b, Gemm32, s.tA, s.tB, s.m, s.n, s.k) })
	}
}

func benchmarkGemm[T simd.Float](b *testing.B, f gemmFunc[T], tA, tB Trans, m, n, k int) {
	fill := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = T(i%17) - 8
		}
		return x
	}
	x, y, c := fill(m*k), fill(k*n), make([]T, m*n)
	lda, ldb := k, n
	if tA {
		lda = m
	}
	if tB {
		ldb = k
	}
	for b.Loop() {
		f(tA, tB, m, n, k, 1, x, lda, y, ldb, 0, c, n)
	}
	rate(b, 2*float64(m)*float64(n)*float64(k))
}

func BenchmarkSyrk(b *testing.B) {
	a, c := randomDense(rand.New(rand.NewPCG(4, 4)), 60000, 1000), mat.NewDense(1000, 1000, nil)
	for b.Loop() {
		Syrk(Transposed, 1, a, 0, c)
	}
	rate(b, 60000*1000*1000)
}
