package simd

// ToDouble sets dst to the numbers of src, all of which are float64. It panics unless both have the same length.
func ToDouble(dst []float64, src []float32) {
	if len(dst) != len(src) {
		panic("simd: lengths differ")
	}
	whole := active.conversions.whole(len(src))
	active.conversions.double(dst[:whole], src[:whole])
	toDoubleGeneric(dst[whole:], src[whole:])
}

// ToSingle sets dst to the float32 nearest to the numbers of src, the even one of two. It panics unless both have the
// same length.
func ToSingle(dst []float32, src []float64) {
	if len(dst) != len(src) {
		panic("simd: lengths differ")
	}
	whole := active.conversions.whole(len(src))
	active.conversions.single(dst[:whole], src[:whole])
	toSingleGeneric(dst[whole:], src[whole:])
}

// conversionKernels are the loops between float32 and float64.
type conversionKernels struct {
	lanes  int // the loops take multiples of it
	double func(dst []float64, src []float32)
	single func(dst []float32, src []float64)
}

// whole returns the number of elements that the loops take of n.
func (k conversionKernels) whole(n int) int { return n - n%k.lanes }

func toDoubleGeneric(dst []float64, src []float32) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = float64(v)
	}
}

func toSingleGeneric(dst []float32, src []float64) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = float32(v)
	}
}
