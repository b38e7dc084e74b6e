package simd

import "math"

// Widen sets dst to the numbers of src, which are IEEE binary16 (float16); every one
// of them is a float32. It panics unless both have the same length.
func Widen(dst []float32, src []uint16) {
	if len(dst) != len(src) {
		panic("simd: lengths differ")
	}
	whole := len(src)
	if lanes := active.halves.lanes; lanes > 0 {
		whole -= whole % lanes
	}
	active.halves.widen(dst[:whole], src[:whole])
	widenGeneric(dst[whole:], src[whole:])
}

// halfKernels are the loops over float16 (IEEE binary16).
type halfKernels struct {
	lanes     int // rows of distances have as many elements; widen takes multiples of it
	distances func(dst, q []float32, rows [][]uint16, scale []float32)
	widen     func(dst []float32, src []uint16)
}

// SquaredDistances16 sets dst[p] = Σ_j (q[j] − scale[p]·rows[p][j])² for j < len(q), of
// rows of float16 given by their bits; dst, rows and scale have one length, and no row
// has fewer elements than q. Products and differences are rounded. The bits of a result
// depend on the two rows alone, whichever of them is q, times its scale.
func SquaredDistances16(dst, q []float32, rows [][]uint16, scale []float32) {
	checkEqual(len(dst), len(rows))
	checkEqual(len(dst), len(scale))
	for _, r := range rows {
		checkRows(len(q), len(r))
	}
	active.halves.measure(dst, q, rows, scale)
}

func (h *halfKernels) measure(dst, q []float32, rows [][]uint16, scale []float32) {
	if len(q) < h.lanes {
		distances16Generic(dst, q, rows, scale)
		return
	}
	h.distances(dst, q, rows, scale)
}

func distances16Generic(dst, q []float32, rows [][]uint16, scale []float32) {
	for p, row := range rows {
		var sum [4]float32
		for j, v := range q {
			d := v - float32(scale[p]*FromHalf(row[j]))
			sum[j%4] += d * d
		}
		dst[p] = (sum[0] + sum[2]) + (sum[1] + sum[3])
	}
}

func widenGeneric(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	for i, h := range src {
		dst[i] = FromHalf(h)
	}
}

// FromHalf returns the float16 with the bits h.
func FromHalf(h uint16) float32 {
	// The bits of the exponent and the fraction lie in a float32 as if the exponent
	// were 112 smaller, also below the smallest normal number.
	v := math.Float32bits(math.Float32frombits(uint32(h&0x7fff)<<13) * 0x1p112)
	if h&0x7c00 == 0x7c00 { // infinite or not a number
		v |= 0x7f800000
	}
	return math.Float32frombits(v | uint32(h&0x8000)<<16)
}

// ToHalf returns the bits of the float16 nearest to v, the even one of two that are as
// near; beyond 65520 it is infinite.
func ToHalf(v float32) uint16 {
	bits := math.Float32bits(v)
	sign := uint16(bits >> 16 & 0x8000)
	switch a := math.Float32frombits(bits &^ (1 << 31)); {
	case a != a:
		return sign | 0x7e00
	case a >= 65520:
		return sign | 0x7c00
	case a < 0x1p-14:
		// Adding 1/2 leaves multiples of 2⁻²⁴ in the fraction, rounded.
		return sign | uint16(math.Float32bits(a+0.5)&0x7ff)
	default:
		b := math.Float32bits(a) - 112<<23
		return sign | uint16((b+0xfff+b>>13&1)>>13)
	}
}
