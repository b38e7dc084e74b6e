package simd

import (
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
			const scale = float32(0.3)
			WidenScaled(got, src, scale, halves(r, n))
			check()
			for i, h := range src {
				if got[i] != scale*float32(fromHalf(h)) {
					t.Fatalf("%s, %d of %d: %#x times %v is %v", p.name, i, n, h, scale, got[i])
				}
			}
		}
	}
}
