package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// fromHalf is the definition: (−1)^s 2^(e−15) (1 + f/1024), 2⁻¹⁴ f/1024 for e = 0.
func fromHalf(h uint16) float64 {
	e, f := int(h>>10&31), float64(h&1023)/1024
	v := math.Ldexp(1+f, e-15)
	switch {
	case e == 0:
		v = math.Ldexp(f, -14)
	case e == 31 && f == 0:
		v = math.Inf(1)
	case e == 31:
		v = math.NaN()
	}
	if h>>15 == 1 {
		v = -v
	}
	return v
}

func TestWidenIsExact(t *testing.T) {
	src, dst := make([]uint16, 1<<16), make([]float32, 1<<16)
	for i := range src {
		src[i] = uint16(i)
	}
	Widen(dst, src)
	for h, v := range dst {
		want := fromHalf(uint16(h))
		if math.IsNaN(want) {
			if v == v {
				t.Fatalf("%#04x is %v, want NaN", h, v)
			}
			continue
		}
		if float64(v) != want || math.Signbit(float64(v)) != math.Signbit(want) {
			t.Fatalf("%#04x is %v, want %v", h, v, want)
		}
		if got := ToHalf(v); got != uint16(h) {
			t.Fatalf("%v is written as %#04x, want %#04x", v, got, h)
		}
	}
}

// ToHalf takes the nearest of all float16, the even one of two.
func TestToHalfIsNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(v float32) {
		h := ToHalf(v)
		got := fromHalf(h)
		if math.IsInf(got, 0) {
			if math.Abs(float64(v)) < 65520 {
				t.Fatalf("%v is written as %v", v, got)
			}
			return
		}
		miss := math.Abs(got - float64(v))
		for _, other := range []uint16{h - 1, h + 1} {
			o := fromHalf(other)
			if math.IsNaN(o) || math.IsInf(o, 0) {
				continue
			}
			if d := math.Abs(o - float64(v)); d < miss || d == miss && h&1 == 1 && o != got {
				t.Fatalf("%v is written as %v, and %v is nearer or even", v, got, o)
			}
		}
	}
	for range 200_000 {
		check(float32(r.NormFloat64() * math.Exp2(float64(r.IntN(44)-28))))
	}
	for i := range 31 << 10 { // half way between neighbours, and beside that
		half := float32((fromHalf(uint16(i)) + fromHalf(uint16(i+1))) / 2)
		if math.IsInf(float64(half), 0) {
			continue
		}
		check(half)
		check(math.Nextafter32(half, 0))
		check(math.Nextafter32(half, 1e9))
	}
	if ToHalf(65519.99) != 0x7bff || ToHalf(65520) != 0x7c00 || ToHalf(-70000) != 0xfc00 {
		t.Error("the largest float16 is 65504; from 65520 on it is infinite")
	}
}

// halves returns n random float16.
func halves(r *rand.Rand, n int) []uint16 {
	out := make([]uint16, n)
	for i := range out {
		out[i] = ToHalf(float32(r.NormFloat64()))
		if r.IntN(20) == 0 {
			out[i] = uint16(r.IntN(1 << 10)) // below the smallest normal number
		}
	}
	return out
}

func TestWidenPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	defer func(p *path) { active = p }(active)
	for _, p := range available {
		active = p
		for n := range 100 {
			src := halves(r, n)
			got, check := guarded[float32](t, n)
			Widen(got, src)
			check()
			for i, h := range src {
				if float64(got[i]) != fromHalf(h) {
					t.Fatalf("%s, %d of %d: %#x is %v", p.name, i, n, h, got[i])
				}
			}
		}
	}
}

func TestSquaredDistances16(t *testing.T) {
	const most = 13
	r := rand.New(rand.NewPCG(13, 15))
	for _, p := range available {
		for n := range 150 {
			for count := range most {
				rows, scale := make([][]uint16, count), make([]float32, count)
				for i := range rows {
					rows[i] = halves(r, n)[:n:n]
					scale[i] = 1
					if n%2 == 1 {
						scale[i] = float32(r.Float64())
					}
				}
				own, ownScale := halves(r, n), float32(1)
				if n%2 == 1 {
					ownScale = 0.3
				}
				widened := func(row []uint16, s float32) []float32 {
					q := make([]float32, n)
					Widen(q, row)
					for j := range q {
						q[j] *= s
					}
					return q
				}
				q := widened(own, ownScale)
				got, check := guarded[float32](t, count)
				p.halves.measure(got, q, rows, scale)
				check()
				for i, row := range rows {
					other := widened(row, scale[i])
					var want float64
					for j := range q {
						d := float64(q[j] - other[j])
						want += d * d
					}
					near(t, got[i:i+1], []float32{float32(want)}, 4*n)
					back := make([]float32, 1)
					p.halves.measure(back, other, [][]uint16{own}, []float32{ownScale})
					if back[0] != got[i] {
						t.Fatalf("%s: n=%d: %v one way, %v the other", p.name, n, got[i], back[0])
					}
				}
			}
		}
	}
}

func TestSquaredDistances16Range(t *testing.T) {
	q, rows := make([]float32, 20), [][]uint16{make([]uint16, 20), make([]uint16, 19)}
	for name, f := range map[string]func(){
		"dst":   func() { SquaredDistances16(q[:1], q[:5], rows, q[:2]) },
		"scale": func() { SquaredDistances16(q[:2], q[:5], rows, q[:1]) },
		"row":   func() { SquaredDistances16(q[:2], q, rows, q[:2]) },
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

// BenchmarkSquaredDistances16 measures 64 rows in the nearest caches.
func BenchmarkSquaredDistances16(b *testing.B) {
	const count = 64
	r := rand.New(rand.NewPCG(15, 16))
	dst, scale, rows := make([]float32, count), make([]float32, count), make([][]uint16, count)
	for _, n := range []int{64, 512} {
		for i := range rows {
			rows[i], scale[i] = halves(r, n), 1
		}
		q := make([]float32, n)
		for _, p := range available {
			b.Run(fmt.Sprintf("%s/%d", p.name, n), func(b *testing.B) {
				for b.Loop() {
					p.halves.measure(dst, q, rows, scale)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/count, "ns/pair")
			})
		}
	}
}
