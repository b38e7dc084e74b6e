package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// products are the shapes in which packed products are tested: rows of A, rows
// of B, inner size.
var products = [][3]int{{1, 1, 1}, {5, 100, 3}, {130, 300, 100}, {40, 70, 784}, {3, 50, 0}, {0, 9, 4}, {33, 65, 6}}

// ranges returns some ranges of panels of n rows.
func ranges(n, panel int) (r [][2]int) {
	for lo := 0; lo < n; lo += 3 * panel {
		for _, hi := range []int{lo, lo + 1, min(lo+panel, n), n} {
			r = append(r, [2]int{lo, hi})
		}
	}
	return r
}

func packA32(x []float32, rows, k, ld int) *Packed32 {
	p := NewPackedA32(rows, k)
	p.Set(0, rows, x, ld)
	return p
}

// packB32 sets the matrix in two parts.
func packB32(x []float32, rows, k, ld int) *Packed32 {
	p := NewPackedB32(rows, k)
	half := rows / 2 / p.Panel() * p.Panel()
	p.Set(0, half, x, ld)
	p.Set(half, rows, x[half*ld:], ld)
	return p
}

func TestPacked32(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var scratch Scratch
	for _, s := range products {
		m, n, k := s[0], s[1], s[2]
		a, b := randomSlice[float32](r, m*(k+1)), randomSlice[float32](r, n*(k+2))
		pa, pb := packA32(a, m, k, k+1), packB32(b, n, k, k+2)
		for _, rows := range ranges(m, pa.Panel()) {
			for _, cols := range ranges(n, pb.Panel()) {
				h, w := rows[1]-rows[0], cols[1]-cols[0]
				c := make([]float32, h*(w+1))
				want := make([]float32, len(c))
				for i := range c {
					c[i], want[i] = float32(math.NaN()), -7
				}
				for i := range h {
					c[i*(w+1)+w] = -7
				}
				Mul32(pa, rows[0], rows[1], pb, cols[0], cols[1], c, w+1, &scratch)
				Gemm32(NoTrans, Transposed, h, w, k, 1, a[rows[0]*(k+1):], k+1, b[cols[0]*(k+2):], k+2, 0, want, w+1)
				for i := range want {
					if !(math.Abs(float64(c[i]-want[i])) <= 1e-4) {
						t.Fatalf("%v %v×%v: element %d = %v, want %v", s, rows, cols, i, c[i], want[i])
					}
				}
			}
		}
	}
}

func TestPackedU8(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	shapes := append(slices.Clone(products), [3]int{3, 2, MaxInnerU8})
	for _, s := range shapes {
		m, n, k := s[0], s[1], s[2]
		a, b := make([]uint8, m*(k+1)), make([]uint8, n*(k+2))
		for _, x := range [][]uint8{a, b} {
			for i := range x {
				x[i] = uint8(r.IntN(256))
				if k == MaxInnerU8 {
					x[i] = 255
				}
			}
		}
		transposed := func(x []uint8, rows, ld int) []uint8 {
			out := make([]uint8, k*(rows+1))
			for i := range rows {
				for p := range k {
					out[p*(rows+1)+i] = x[i*ld+p]
				}
			}
			return out
		}
		pa, pb := PackAU8(NoTrans, a, m, k, k+1), PackBU8(NoTrans, b, n, k, k+2)
		at := PackAU8(Transposed, transposed(a, m, k+1), m, k, m+1)
		bt := PackBU8(Transposed, transposed(b, n, k+2), n, k, n+1)
		if !slices.Equal(pa.data, at.data) || !slices.Equal(pa.start, at.start) || !slices.Equal(pb.data, bt.data) {
			t.Fatalf("%v: the transposed matrix is packed otherwise", s)
		}
		for _, rows := range ranges(m, pa.Panel()) {
			for _, cols := range ranges(n, pb.Panel()) {
				w := cols[1] - cols[0]
				c := slices.Repeat([]int32{-7}, (rows[1]-rows[0])*(w+1))
				MulU8(pa, rows[0], rows[1], pb, cols[0], cols[1], c, w+1)
				for i, v := range c {
					row, col := rows[0]+i/(w+1), cols[0]+i%(w+1)
					want := int32(-7)
					if col < cols[1] {
						want = 0
						for p := range k {
							want += int32(a[row*(k+1)+p]) * int32(b[col*(k+2)+p])
						}
					}
					if v != want {
						t.Fatalf("%v %v×%v: element %d = %v, want %v", s, rows, cols, i, v, want)
					}
				}
			}
		}
	}
}

// TestNearU8 compares the bits with those of the products.
func TestNearU8(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 6))
	for _, s := range products {
		m, n, k := s[0], s[1], s[2]
		bytes := func(count int) []uint8 {
			x := make([]uint8, count)
			for i := range x {
				x[i] = uint8(r.IntN(256))
			}
			return x
		}
		a, b := PackAU8(NoTrans, bytes(m*k), m, k, k), PackBU8(NoTrans, bytes(n*k), n, k, k)
		scale := max(1, k*255*255/2)
		numbers := func(count int) []int32 {
			x := make([]int32, count)
			for i := range x {
				x[i] = int32(r.IntN(scale) - scale/4)
			}
			return x
		}
		for _, rows := range ranges(m, a.Panel()) {
			for _, cols := range ranges(n, b.Panel()) {
				h, w := rows[1]-rows[0], cols[1]-cols[0]
				c, ld := make([]int32, h*w), (w+63)/64*8
				MulU8(a, rows[0], rows[1], b, cols[0], cols[1], c, w)
				near := Near{numbers(h), numbers(h), numbers(w), numbers(w)}
				bits := slices.Repeat([]uint8{0xff}, h*ld)
				NearU8(a, rows[0], rows[1], b, cols[0], cols[1], near, bits, ld)
				for i := range h {
					for j := range 8 * ld {
						want := uint8(0)
						if j < w && c[i*w+j]+near.Shift[i] > min(near.Col[j], near.Own[j]+near.Limit[i]) {
							want = 1
						}
						if got := bits[i*ld+j/8] >> (j % 8) & 1; got != want {
							t.Fatalf("%v %v×%v: bit of row %d, column %d is %d", s, rows, cols, i, j, got)
						}
					}
				}
			}
		}
	}
}

func TestPackedRange(t *testing.T) {
	x, y := make([]float32, 100), make([]uint8, 100)
	a, b := packA32(x, 100, 1, 1), packB32(x, 100, 1, 1)
	ua, ub := PackAU8(NoTrans, y, 100, 1, 1), PackBU8(NoTrans, y, 100, 1, 1)
	c, u := make([]float32, 10), make([]int32, 10)
	var scratch Scratch
	for name, f := range map[string]func(){
		"part of a panel":          func() { b.Set(0, 1, x, 1) },
		"short matrix":             func() { b.Set(0, 100, x[1:], 1) },
		"row off a panel":          func() { Mul32(a, 1, 2, b, 0, 2, c, 2, &scratch) },
		"column off a panel":       func() { Mul32(a, 0, 2, b, 1, 2, c, 2, &scratch) },
		"too many rows":            func() { Mul32(a, 0, 101, b, 0, 0, c, 2, &scratch) },
		"sides exchanged":          func() { MulU8(ub, 0, 1, ua, 0, 1, u, 2) },
		"row of bytes off a panel": func() { MulU8(ua, 1, 2, ub, 0, 2, u, 2) },
		"short C":                  func() { MulU8(ua, 0, 6, ub, 0, 2, u, 2) },
		"numbers":                  func() { NearU8(ua, 0, 1, ub, 0, 1, Near{}, y, 8) },
		"inner sizes":              func() { MulU8(ua, 0, 1, PackBU8(NoTrans, y, 50, 2, 2), 0, 1, u, 2) },
		"too many columns":         func() { PackAU8(NoTrans, make([]uint8, MaxInnerU8+1), 1, MaxInnerU8+1, MaxInnerU8+1) },
		"short bytes":              func() { PackBU8(Transposed, y, 100, 2, 100) },
	} {
		if !panics(f) {
			t.Errorf("%s: accepted", name)
		}
	}
}

// BenchmarkMulPacked is the brute-force search's product.
func BenchmarkMulPacked(b *testing.B) {
	const m, n = 112, 448
	r := rand.New(rand.NewPCG(5, 5))
	for _, k := range []int{100, 784} {
		b.Run(fmt.Sprintf("float32/%d", k), func(b *testing.B) {
			x, c := randomSlice[float32](r, n*k), make([]float32, m*n)
			pa, pb := packA32(x, m, k, k), packB32(x, n, k, k)
			var s Scratch
			for b.Loop() {
				Mul32(pa, 0, m, pb, 0, n, c, n, &s)
			}
			rate(b, 2*m*n*float64(k))
		})
		b.Run(fmt.Sprintf("uint8/%d", k), func(b *testing.B) {
			x, c := make([]uint8, n*k), make([]int32, m*n)
			pa, pb := PackAU8(NoTrans, x, m, k, k), PackBU8(NoTrans, x, n, k, k)
			for b.Loop() {
				MulU8(pa, 0, m, pb, 0, n, c, n)
			}
			rate(b, 2*m*n*float64(k))
		})
	}
}
