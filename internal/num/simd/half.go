package simd

import "math"

// Widen sets dst to the numbers of src, which are IEEE binary16 (float16); every one
// of them is a float32. It panics unless both have the same length.
func Widen(dst []float32, src []uint16) { WidenScaled(dst, src, 1, src) }

// WidenScaled is [Widen] times scale; products are rounded. Meanwhile it asks the memory
// for next, which is as long as src and will be read soon.
func WidenScaled(dst []float32, src []uint16, scale float32, next []uint16) {
	if len(dst) != len(src) || len(next) != len(src) {
		panic("simd: lengths differ")
	}
	// The kernel takes whole vectors, and Go the rest.
	whole := len(src)
	if lanes := active.halves.lanes; lanes > 0 {
		whole -= whole % lanes
	}
	active.halves.widen(dst[:whole], src[:whole], next[:whole], scale)
	widenGeneric(dst[whole:], src[whole:], next[whole:], scale)
}

// halfKernels are the loops over float16 (IEEE binary16).
type halfKernels struct {
	lanes int // widen takes multiples of it
	widen func(dst []float32, src, next []uint16, scale float32)
}

func widenGeneric(dst []float32, src, _ []uint16, scale float32) {
	dst = dst[:len(src)]
	for i, h := range src {
		dst[i] = scale * FromHalf(h)
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
