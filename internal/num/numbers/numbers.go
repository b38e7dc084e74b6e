// Package numbers looks at the numbers of points as they lie in memory: their bytes, the
// first that is not finite, their hash.
package numbers

import (
	"encoding/binary"
	"hash"
	"slices"
	"unsafe"

	"github.com/bigfit/bigfit/internal/num/par"
)

// Number is a type that numbers of points have in memory.
type Number interface {
	bool | uint8 | ~uint16 | int32 | uint32 | int64 | float32 | float64
}

// Bytes returns the memory of v.
func Bytes[T Number](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}

// Of returns bytes, which are aligned for T, as numbers.
func Of[T Number](raw []byte) []T {
	if len(raw) == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw)/int(unsafe.Sizeof(*new(T))))
}

// NotFinite returns the place of the first NaN or infinite value, −1 if there is none.
func NotFinite[T float32 | float64](values []T) int {
	const grain = 1 << 16
	bad := make([]int, par.Chunks(len(values), grain))
	par.For(len(values), grain, func(lo, hi int) {
		// x·0 is 0 for a finite x and NaN for any other.
		var s0, s1, s2, s3 T
		v := values[lo:hi]
		for ; len(v) >= 4; v = v[4:] {
			s0 += v[0] * 0
			s1 += v[1] * 0
			s2 += v[2] * 0
			s3 += v[3] * 0
		}

		for _, e := range v {
			s0 += e * 0
		}
		if s0+s1+s2+s3 == 0 {
			return
		}

		for i, e := range values[lo:hi] {
			if e*0 != 0 {
				bad[lo/grain] = lo + i + 1
				return
			}
		}
	})

	for _, b := range bad {
		if b > 0 {
			return b - 1
		}
	}
	return -1
}

// NotFiniteHalf returns the place of the first float16 in v that is NaN or infinite, or −1. raw is
// the memory of v. Such numbers have ones in all five bits of the exponent.
func NotFiniteHalf(raw []byte, v []uint16) int {
	const grain = 1 << 20 // bytes, a multiple of 8
	found := make([]bool, par.Chunks(len(raw), grain))
	par.For(len(raw), grain, func(lo, hi int) {
		// Adding one to five ones carries into the sign bit, which was cleared: four numbers at a
		// time.
		var any uint64
		b := raw[lo:hi]
		for ; len(b) >= 8; b = b[8:] {
			any |= binary.NativeEndian.Uint64(b)&0x7c00_7c00_7c00_7c00 + 0x0400_0400_0400_0400
		}
		for ; len(b) >= 2; b = b[2:] {
			any |= uint64(binary.NativeEndian.Uint16(b)&0x7c00) + 0x0400
		}
		found[lo/grain] = any&0x8000_8000_8000_8000 != 0
	})

	// Look for the place in the first chunk with one.
	c := slices.Index(found, true)
	if c < 0 {
		return -1
	}
	from := c * grain / 2
	return from + slices.IndexFunc(v[from:], func(h uint16) bool { return h&0x7c00 == 0x7c00 })
}

// littleEndian reports whether this machine stores the least significant byte first.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Hash writes v to h, least significant byte first.
func Hash[T uint8 | ~uint16 | int32 | int64 | float32 | float64](h hash.Hash, v []T) {
	if littleEndian && len(v) > 0 {
		h.Write(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0]))))
		return
	}
	buf := make([]byte, 0, 64<<10)
	for len(v) > 0 {
		n := min(len(v), cap(buf)/8)
		buf, _ = binary.Append(buf[:0], binary.LittleEndian, v[:n]) // fixed-size numbers never fail
		h.Write(buf)
		v = v[n:]
	}
}
