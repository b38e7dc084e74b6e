package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

const guard = 9 // elements around every tested slice

// guarded returns a slice of n elements inside a larger one filled with the
// sentinel, and a check that the surroundings still hold it.
func guarded[T Float](t *testing.T, n int) ([]T, func()) {
	const sentinel = 12345
	whole := make([]T, n+2*guard)
	for i := range whole {
		whole[i] = sentinel
	}
	return whole[guard : guard+n : guard+n], func() {
		t.Helper()
		for i := range guard {
			if whole[i] != sentinel || whole[guard+n+i] != sentinel {
				t.Fatal("written outside the slice")
			}
		}
	}
}

func random[T Float](r *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(r.NormFloat64())
	}
	return x
}

// near fails unless |got−want| ≤ terms·eps(T)·scale for all elements.
func near[T Float](t *testing.T, got, want []T, terms int) {
	t.Helper()
	eps := 0x1p-52
	if _, ok := any(got).([]float32); ok {
		eps = 0x1p-23
	}
	for i := range want {
		if !(math.Abs(float64(got[i]-want[i])) <= 8*float64(terms+2)*eps) {
			t.Fatalf("element %d: got %v, want %v", i, got[i], want[i])
		}
	}
}

func TestKernels(t *testing.T) {
	for _, p := range available {
		t.Run(p.name+"/64", func(t *testing.T) { testKernels(t, p.f64, generic.f64) })
		t.Run(p.name+"/32", func(t *testing.T) { testKernels(t, p.f32, generic.f32) })
	}
}

func testKernels[T Float](t *testing.T, k, want kernels[T]) {
	r := rand.New(rand.NewPCG(1, 2))
	t.Run("tile", func(t *testing.T) { testTile(t, k.gemm) })

	const rows = 12
	for n := range 150 {
		for _, count := range []int{0, 1, 2, 3, 11} {
			ld := n + r.IntN(3)
			x := random[T](r, rows*ld)
			idx := make([]int32, count)
			for i := range idx {
				idx[i] = int32(r.IntN(rows))
			}
			w := random[T](r, count)
			ref := make([]T, n)
			got, check := guarded[T](t, n)

			want.sumRows(ref, x, ld, idx)
			k.sumRows(got, x, ld, idx)
			check()
			near(t, got, ref, 0)

			want.addScaledRows(ref, x, ld, idx, w)
			k.addScaledRows(got, x, ld, idx, w)
			check()
			near(t, got, ref, count)
		}
		a, b := random[T](r, n), random[T](r, n)
		ref := make([]T, n)
		got, check := guarded[T](t, n)
		want.combineRow(ref, a, 0.75, b, -1.5)
		k.combineRow(got, a, 0.75, b, -1.5)
		check()
		near(t, got, ref, 2)
		k.combineRow(a, a, 0.75, b, -1.5) // in place
		near(t, a, ref, 2)
	}
}

func testTile[T Float](t *testing.T, g Gemm[T]) {
	r := rand.New(rand.NewPCG(3, 4))
	for k := range 40 {
		for _, acc := range []bool{false, true} {
			ldc := g.NR + k%3
			row, step := 1, g.MR+k%3 // packed, or a part of Aᵀ
			if k%2 == 1 {
				row, step = k+k%3, 1 // a part of A
			}
			a, b := random[T](r, (g.MR-1)*row+max(0, k-1)*step+1), random[T](r, k*g.NR)
			c, check := guarded[T](t, (g.MR-1)*ldc+g.NR)
			for i := range c {
				c[i] = T(math.NaN())
			}
			want := make([]T, len(c))
			for i := range g.MR {
				for j := range g.NR {
					var s T
					if acc {
						s = T(i - j)
						c[i*ldc+j] = s
					}
					for p := range k {
						s += a[i*row+p*step] * b[p*g.NR+j]
					}
					want[i*ldc+j] = s
				}
			}
			g.Tile(k, a, row, step, b, c, ldc, acc)
			check()
			for i := range g.MR {
				near(t, c[i*ldc:][:g.NR], want[i*ldc:][:g.NR], 4*k+16)
				if i+1 < g.MR {
					for _, v := range c[i*ldc+g.NR : (i+1)*ldc] {
						if v == v {
							t.Fatal("written between rows")
						}
					}
				}
			}
		}
	}
}

func TestDot(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, p := range available {
		for n := range 200 {
			a, b := random[float64](r, n), random[float64](r, n)
			var want float64
			for i := range a {
				want += a[i] * b[i]
			}
			near(t, []float64{p.dot(a, b)}, []float64{want}, 4*n)
		}
	}
}

func TestSymvRows(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, p := range available {
		for n := range 150 {
			lda := n + n%3
			v, a, s := random[float64](r, n), random[float64](r, 3*lda+n), random[float64](r, 4)
			start := random[float64](r, n)
			y, check := guarded[float64](t, n)
			copy(y, start)
			d, checkD := guarded[float64](t, 4)
			p.symv(y, v, a, lda, s, d)
			check()
			checkD()
			for i := range 4 {
				var want float64
				for j := range n {
					start[j] += s[i] * a[i*lda+j]
					want += v[j] * a[i*lda+j]
				}
				near(t, d[i:i+1], []float64{want}, 4*n)
			}
			near(t, y, start, 16)
		}
	}
}

func TestSquaredDistances(t *testing.T) {
	const rows = 9
	r := rand.New(rand.NewPCG(13, 14))
	for _, p := range available {
		for n := range 150 {
			ld := n + n%3
			x := random[float32](r, rows*ld)
			for count := range rows {
				idx := make([]int32, count)
				for i := range idx {
					idx[i] = int32(r.IntN(rows))
				}
				q := x[(n%rows)*ld:][:n]
				got, check := guarded[float32](t, count)
				p.distances(got, q, x, ld, idx)
				check()
				for i := range idx {
					var want float64
					other := x[int(idx[i])*ld:][:n]
					for j := range q {
						d := float64(q[j]) - float64(other[j])
						want += d * d
					}
					near(t, got[i:i+1], []float32{float32(want)}, 4*n)
					back := make([]float32, 1)
					p.distances(back, other, x, ld, []int32{int32(n % rows)})
					if back[0] != got[i] {
						t.Fatalf("%s: n=%d: %v one way, %v the other", p.name, n, got[i], back[0])
					}
				}
			}
		}
	}
}

func TestTileRange(t *testing.T) {
	g := Gemm64()
	a, b, c := make([]float64, g.MR), make([]float64, g.NR), make([]float64, g.MR*g.NR)
	for name, f := range map[string]func(){
		"a":    func() { g.Tile(2, a, 1, g.MR, append(b, b...), c, g.NR, false) },
		"b":    func() { g.Tile(2, append(a, a...), 1, g.MR, b, c, g.NR, false) },
		"c":    func() { g.Tile(1, a, 1, g.MR, b, c[1:], g.NR, false) },
		"ldc":  func() { g.Tile(1, a, 1, g.MR, b, c, g.NR-1, false) },
		"row":  func() { SumRows(c[:3], c, 2, nil) },
		"w":    func() { AddScaledRows(c[:3], a, 3, []int32{0}, nil) },
		"dst":  func() { CombineRow(c[:3], a[:2], 1, b[:3], 1) },
		"symv": func() { SymvRows(c[:3], b[:3], a[:5], 3, b[:4], c[4:8]) },
		"dot":  func() { Dot(a[:1], b[:2]) },
		"idx":  func() { SquaredDistances32(make([]float32, 1), nil, nil, 0, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestChoose(t *testing.T) {
	five, two, none := &path{name: "avx512"}, &path{name: "avx2"}, &path{name: "generic"}
	for _, c := range []struct {
		name string
		from []*path
		want *path
	}{
		{"", []*path{five, two, none}, five},
		{"avx9000", []*path{two, none}, two},
		{"avx512", []*path{five, two, none}, five},
		{"avx512", []*path{two, none}, two},
		{"avx512", []*path{none}, none},
		{"avx2", []*path{five, two, none}, two},
		{"avx2", []*path{five, none}, none},
		{"generic", []*path{five, two, none}, none},
	} {
		if got := choose(c.name, c.from); got != c.want {
			t.Errorf("choose(%q) from %d = %s, want %s", c.name, len(c.from), got.name, c.want.name)
		}
	}
}

func BenchmarkTile(b *testing.B) {
	for _, p := range available {
		b.Run(p.name+"/64", func(b *testing.B) { benchmarkTile(b, p.f64.gemm) })
		b.Run(p.name+"/32", func(b *testing.B) { benchmarkTile(b, p.f32.gemm) })
	}
}

func benchmarkTile[T Float](b *testing.B, g Gemm[T]) {
	const k = 256
	r := rand.New(rand.NewPCG(7, 8))
	x, y, c := random[T](r, k*g.MR), random[T](r, k*g.NR), make([]T, g.MR*g.NR)
	for b.Loop() {
		g.Tile(k, x, 1, g.MR, y, c, g.NR, true)
	}
	b.ReportMetric(2*k*float64(g.MR*g.NR)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// BenchmarkSumRows gathers 10 of 100000 rows, as the product of a kNN graph
// with a block does.
func BenchmarkSumRows(b *testing.B) {
	const rows, count = 100000, 10
	r := rand.New(rand.NewPCG(9, 10))
	idx := make([]int32, 64*count)
	for i := range idx {
		idx[i] = int32(r.IntN(rows))
	}
	for _, n := range []int{1, 8, 64} {
		x, dst, w := random[float64](r, rows*n), make([]float64, n), random[float64](r, count)
		for _, p := range available {
			b.Run(fmt.Sprintf("%s/%d", p.name, n), func(b *testing.B) {
				i := 0
				for b.Loop() {
					p.f64.sumRows(dst, x, n, idx[i:i+count])
					i = (i + count) % len(idx)
				}
				b.SetBytes(8 * int64(n) * count)
			})
			b.Run(fmt.Sprintf("%s/%d/scaled", p.name, n), func(b *testing.B) {
				i := 0
				for b.Loop() {
					p.f64.addScaledRows(dst, x, n, idx[i:i+count], w)
					i = (i + count) % len(idx)
				}
				b.SetBytes(8 * int64(n) * count)
			})
		}
	}
}

// BenchmarkSquaredDistances measures 64 rows in the first-level cache.
func BenchmarkSquaredDistances(b *testing.B) {
	const count = 64
	r := rand.New(rand.NewPCG(15, 16))
	idx, dst := make([]int32, count), make([]float32, count)
	for i := range idx {
		idx[i] = int32(count - 1 - i)
	}
	for _, n := range []int{3, 16, 64, 784} {
		x := random[float32](r, count*n)
		for _, p := range available {
			b.Run(fmt.Sprintf("%s/%d", p.name, n), func(b *testing.B) {
				for b.Loop() {
					p.distances(dst, x[:n], x, n, idx)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/count, "ns/pair")
			})
		}
	}
}
