package simd

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// guardedInts is guarded for int32.
func guardedInts(t *testing.T, n int) ([]int32, func()) {
	const sentinel = 12345
	whole := slices.Repeat([]int32{sentinel}, n+2*guard)
	return whole[guard : guard+n : guard+n], func() {
		t.Helper()
		for i := range guard {
			if whole[i] != sentinel || whole[guard+n+i] != sentinel {
				t.Fatal("written outside the slice")
			}
		}
	}
}

func TestGemmBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for _, p := range available {
		g := p.neighbors.gemm
		for k := range 23 {
			for _, extreme := range []bool{false, true} {
				value := func() int32 {
					if extreme {
						return 255
					}
					return int32(r.IntN(256))
				}
				bits := 32 / g.Depth
				left, right := make([]int32, g.MR*k*g.Depth), make([]int32, g.NR*k*g.Depth)
				a, b := make([]uint32, g.MR*k), make([]uint32, g.NR*k)
				for i := range left {
					left[i] = value()
					a[i/g.Depth] |= uint32(left[i]) << (i % g.Depth * bits)
				}
				for i := range right {
					right[i] = value()
					stored := uint32(right[i])
					if g.Signed {
						right[i] -= 128
						stored ^= 128
					}
					b[i/g.Depth] |= stored << (i % g.Depth * bits)
				}
				start := make([]int32, g.MR)
				for i := range start {
					start[i] = int32(r.Uint32())
				}
				ldc := g.NR + k%3
				c, check := guardedInts(t, (g.MR-1)*ldc+g.NR)
				for i := range c {
					c[i] = -7
				}
				g.Tile(k, a, b, start, c, ldc)
				check()
				for i := range c {
					row, col := i/ldc, i%ldc
					want := int32(-7)
					if col < g.NR {
						want = start[row]
						for p := range k {
							for h := range g.Depth {
								want += left[(p*g.MR+row)*g.Depth+h] * right[(p*g.NR+col)*g.Depth+h]
							}
						}
					}
					if c[i] != want {
						t.Fatalf("%s, k=%d: row %d, column %d: %d, want %d", p.name, k, row, col, c[i], want)
					}
				}
			}
		}
	}
}

func TestNearBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 8))
	for _, p := range available {
		g := p.neighbors.gemm
		if !g.HasNear() {
			continue
		}
		for k := range 23 {
			a, b := make([]uint32, g.MR*k), make([]uint32, g.NR*k)
			for i := range a {
				a[i] = r.Uint32() & 0x00ff00ff
			}
			for i := range b {
				b[i] = r.Uint32() & 0x007f007f
			}
			numbers := func(n int) []int32 {
				out := make([]int32, n)
				for i := range out {
					if out[i] = int32(r.IntN(200_000)); r.IntN(9) == 0 {
						out[i] = []int32{1 << 29, -1 << 29}[r.IntN(2)]
					}
				}
				return out
			}
			start, limit, col, own := numbers(g.MR), numbers(g.MR), numbers(g.NR), numbers(g.NR)
			c := make([]int32, g.MR*g.NR)
			g.Tile(k, a, b, start, c, g.NR)
			for i := range g.NR {
				if i%3 == 0 {
					col[i] = c[i*7%len(c)] // equal to one that is compared
				}
			}
			ld := g.NR/8 + k%3
			bits := slices.Repeat([]uint8{0xa5}, (g.MR-1)*ld+g.NR/8+guard)
			g.Near(k, a, b, start, limit, col, own, bits[:len(bits)-guard], ld)
			for at, byte := range bits {
				i, j := at/ld, at%ld*8
				for h := range 8 {
					want := uint8(0xa5) >> h & 1
					if i < g.MR && j < g.NR {
						want = 0
						if v := c[i*g.NR+j+h]; v > min(col[j+h], own[j+h]+limit[i]) {
							want = 1
						}
					}
					if byte>>h&1 != want {
						t.Fatalf("%s, k=%d: row %d, column %d: %d, want %d", p.name, k, i, j+h, byte>>h&1, want)
					}
				}
			}
		}
	}
}

func TestScan(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	floats := func() float32 {
		if r.IntN(20) == 0 {
			return []float32{inf, -inf, nan, 0}[r.IntN(4)]
		}
		return float32(r.IntN(9)) - 2
	}
	ints := func() int32 {
		if r.IntN(20) == 0 {
			return []int32{math.MaxInt32, math.MinInt32}[r.IntN(2)]
		}
		return int32(r.IntN(9)) - 2
	}
	for _, p := range available {
		for n := range 150 {
			testScan(t, p.neighbors.scanFloats, floats, func(v float32) bool { return v == v }, n)
			testScan(t, p.neighbors.scanInts, ints, func(int32) bool { return true }, n)
		}
	}
}

func TestLeast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for _, p := range available {
		for n := range 12 {
			for range 50 {
				// Few different values, so that some are equal; the last columns may be no points.
				c, col := make([]float32, LeastColumns), make([]float32, LeastColumns)
				for j := range c {
					c[j], col[j] = float32(r.IntN(9))/3-2, float32(r.IntN(9))/7
					if j >= 12+r.IntN(40) {
						col[j] = float32(math.Inf(1))
					}
				}
				want := make([]uint8, n)
				leastGeneric(want, c, col)
				got := slices.Repeat([]uint8{99}, n+1)
				p.neighbors.least(got[:n], c, col)
				if !slices.Equal(got[:n], want) || got[n] != 99 {
					t.Fatalf("%s: %v of %v, want %v", p.name, got, n, want)
				}

				order := make([]int, LeastColumns)
				for j := range order {
					order[j] = j
				}
				slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(col[a]-2*c[a], col[b]-2*c[b]) })
				for q, j := range want {
					if order[q] != int(j) {
						t.Fatalf("%v, want %v", want, order[:n])
					}
				}
			}
		}
		// NaN leads to no place outside.
		nan := slices.Repeat([]float32{float32(math.NaN())}, LeastColumns)
		p.neighbors.least(make([]uint8, 3), nan, nan)
	}
}

func testScan[T float32 | int32](t *testing.T, scan func(hits []int32, c, col, limits []T, row, limit T) int, value func() T, valid func(T) bool, n int) {
	t.Helper()
	limit := func() T {
		for {
			if v := value(); valid(v) {
				return v
			}
		}
	}
	for range 8 {
		c, col, limits := make([]T, n), make([]T, n), make([]T, n)
		for j := range n {
			c[j], col[j], limits[j] = value(), value(), limit()
		}
		row, most := value(), limit()
		want := make([]int32, n)
		want = want[:scanGeneric(want, c, col, limits, row, most)]
		hits, check := guardedInts(t, n)
		got := hits[:scan(hits, c, col, limits, row, most)]
		check()
		if !slices.Equal(got, want) {
			t.Fatalf("n=%d: %v, want %v", n, got, want)
		}
	}
}

func TestScaleInts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for _, p := range available {
		for n := range 100 {
			c, col := make([]int32, n), random[float32](r, n)
			for j := range c {
				c[j] = int32(r.Uint32())
			}
			want := make([]float32, n)
			scaleIntsGeneric(want, c, 0.3, col)
			got, check := guarded[float32](t, n)
			p.neighbors.scaleInts(got, c, 0.3, col)
			check()
			if !slices.Equal(got, want) {
				t.Fatalf("%s, n=%d: %v, want %v", p.name, n, got, want)
			}
		}
	}
}

func TestNeighborsRange(t *testing.T) {
	g := Bytes()
	a, b, start, c := make([]uint32, g.MR), make([]uint32, g.NR), make([]int32, g.MR), make([]int32, g.MR*g.NR)
	f := make([]float32, 4)
	for name, f := range map[string]func(){
		"a":      func() { g.Tile(2, a, append(b, b...), start, c, g.NR) },
		"b":      func() { g.Tile(2, append(a, a...), b, start, c, g.NR) },
		"start":  func() { g.Tile(1, a, b, start[1:], c, g.NR) },
		"c":      func() { g.Tile(1, a, b, start, c[1:], g.NR) },
		"ldc":    func() { g.Tile(1, a, b, start, c, g.NR-1) },
		"bits":   func() { g.Near(1, a, b, start, start, c, c, make([]uint8, g.MR*g.NR/8-1), g.NR/8) },
		"hits":   func() { ScanFloats(c[:3], f, f, f, 0, 0) },
		"col":    func() { ScanFloats(c[:4], f, f[1:], f, 0, 0) },
		"limits": func() { ScanInts(c[:4], c[:4], c[:4], c[:3], 0, 0) },
		"dst":    func() { ScaleInts(f[1:], c[:4], 0, f) },
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

func BenchmarkGemmBytes(b *testing.B) {
	const k = 196
	for _, p := range available {
		b.Run(p.name, func(b *testing.B) {
			g := p.neighbors.gemm
			x, y, c := make([]uint32, k*g.MR), make([]uint32, k*g.NR), make([]int32, g.MR*g.NR)
			for b.Loop() {
				g.Tile(k, x, y, c[:g.MR], c, g.NR)
			}
			b.ReportMetric(k*float64(g.Depth*g.MR*g.NR)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
		})
	}
}

func BenchmarkScan(b *testing.B) {
	const n = 448
	for _, p := range available {
		b.Run(p.name, func(b *testing.B) {
			c, hits := make([]float32, n), make([]int32, n)
			for b.Loop() {
				p.neighbors.scanFloats(hits, c, c, c, 1, 0)
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/n*1e9, "ns/value")
		})
	}
}

func TestByteProducts(t *testing.T) {
	for _, extreme := range []bool{false, true} {
		draw := func(r *rand.Rand) uint8 {
			if extreme {
				return 255
			}
			return uint8(r.IntN(256))
		}
		testProducts(t, ByteProducts, []int{0, 1, 15, 16, 17, 31, 32, 48, 100, 128, 784}, draw)
	}
}

func TestWordProducts(t *testing.T) {
	testProducts(t, WordProducts, []int{0, 16, 32, 48, 128}, func(r *rand.Rand) int16 {
		if r.IntN(5) == 0 {
			return -1 << 15
		}
		return int16(r.IntN(1<<16) - 1<<15)
	})
}

// testProducts compares inner products of rows with those of a loop, sums being modulo 2³².
func testProducts[T uint8 | int16](t *testing.T, products func(dst []int32, q, x []T, ld int, idx []int32), lengths []int, draw func(*rand.Rand) T) {
	r := rand.New(rand.NewPCG(3, 5))
	defer func(p *path) { active = p }(active)
	for _, p := range available {
		active = p
		for _, n := range lengths {
			const rows = 9
			ld := n + n%3
			x := make([]T, rows*ld+n)
			for i := range x {
				x[i] = draw(r)
			}
			q := x[rows*ld:]
			for count := range 11 {
				idx := make([]int32, count)
				for i := range idx {
					idx[i] = int32(r.IntN(rows))
				}
				got, check := guardedInts(t, count)
				products(got, q, x, ld, idx)
				check()
				for i, row := range idx {
					var want int32
					for j, v := range q {
						want += int32(v) * int32(x[int(row)*ld+j])
					}
					if got[i] != want {
						t.Fatalf("%s, %d of %T: product %d of %d is %d, not %d", p.name, n, q[:0], i, count, got[i], want)
					}
				}
			}
		}
	}
}
