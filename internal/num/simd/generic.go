package simd

// generic is the path in pure Go. It is compiled everywhere, so that the tests
// can hold the assembly against it.
var generic = path{
	name: "generic",
	f64:  genericKernels[float64](),
	f32:  genericKernels[float32](),
	dot:  dotGeneric,
	symv: symvRowsGeneric,

	prefetch:    func(*byte, int, []int32, int) {}, // Go has no such instruction
	distances:   distancesGeneric,
	halves:      halfKernels{widen: widenGeneric},
	conversions: conversionKernels{1, toDoubleGeneric, toSingleGeneric},
	neighbors: neighborKernels{
		gemm:       GemmBytes{MR: 4, NR: 4, Depth: 1, tile: gemmBytesGeneric},
		scanFloats: scanGeneric[float32],
		least:      leastGeneric,
		scanInts:   scanGeneric[int32],
		scaleInts:  scaleIntsGeneric,
		bytes:      productsGeneric[uint8],
		words:      productsGeneric[int16],
	},
}

func genericKernels[T Float]() kernels[T] {
	return kernels[T]{
		gemm:          Gemm[T]{MR: 4, NR: 4, tile: tileGeneric[T]},
		sumRows:       sumRowsGeneric[T],
		addScaledRows: addScaledRowsGeneric[T],
		combineRow:    combineRowGeneric[T],
	}
}

// tileGeneric computes the 4×4 tile as two halves of two rows: eight sums fit the registers of
// every 64-bit machine.
func tileGeneric[T Float](k int, a []T, row, step int, b, c []T, ldc int, acc bool) {
	for i := 0; i < 4; i += 2 {
		// Two rows of A with four columns of B.
		var s00, s01, s02, s03, s10, s11, s12, s13 T
		x := i * row
		y := (i + 1) * row
		for b := b[:4*k]; len(b) >= 4; b = b[4:] {
			a0 := a[x]
			a1 := a[y]
			s00 += a0 * b[0]
			s01 += a0 * b[1]
			s02 += a0 * b[2]
			s03 += a0 * b[3]
			s10 += a1 * b[0]
			s11 += a1 * b[1]
			s12 += a1 * b[2]
			s13 += a1 * b[3]
			x += step
			y += step
		}

		c0 := c[i*ldc:][:4]
		c1 := c[(i+1)*ldc:][:4]
		if acc {
			s00 += c0[0]
			s01 += c0[1]
			s02 += c0[2]
			s03 += c0[3]
			s10 += c1[0]
			s11 += c1[1]
			s12 += c1[2]
			s13 += c1[3]
		}

		c0[0] = s00
		c0[1] = s01
		c0[2] = s02
		c0[3] = s03
		c1[0] = s10
		c1[1] = s11
		c1[2] = s12
		c1[3] = s13
	}
}

func sumRowsGeneric[T Float](dst, x []T, ld int, idx []int32) {
	clear(dst)
	for _, i := range idx {
		row := x[int(i)*ld:][:len(dst)]
		for j, v := range row {
			dst[j] += v
		}
	}
}

func addScaledRowsGeneric[T Float](dst, x []T, ld int, idx []int32, w []T) {
	clear(dst)
	for p, i := range idx {
		row := x[int(i)*ld:][:len(dst)]
		wp := w[p]
		for j, v := range row {
			dst[j] += wp * v
		}
	}
}

func combineRowGeneric[T Float](dst, a []T, alpha T, b []T, beta T) {
	a = a[:len(dst)]
	b = b[:len(dst)]
	for i := range dst {
		dst[i] = alpha*a[i] + beta*b[i]
	}
}

func dotGeneric(a, b []float64) float64 {
	b = b[:len(a)]
	// Four sums, so that additions need not wait for each other.
	var s0, s1, s2, s3 float64
	n := len(a) &^ 3
	for i := 0; i < n; i += 4 {
		a := a[i : i+4 : i+4]
		b := b[i : i+4 : i+4]
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
	}

	for i := n; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

func symvRowsGeneric(y, v, a []float64, lda int, s, d []float64) {
	n := len(y)
	v = v[:n]
	a0 := a[:n]
	a1 := a[lda:][:n]
	a2 := a[2*lda:][:n]
	a3 := a[3*lda:][:n]
	s0 := s[0]
	s1 := s[1]
	s2 := s[2]
	s3 := s[3]

	// One pass over the four rows serves both products.
	var d0, d1, d2, d3 float64
	for j, x := range v {
		d0 += a0[j] * x
		d1 += a1[j] * x
		d2 += a2[j] * x
		d3 += a3[j] * x
		y[j] += s0*a0[j] + s1*a1[j] + (s2*a2[j] + s3*a3[j])
	}

	d[0] = d0
	d[1] = d1
	d[2] = d2
	d[3] = d3
}

func distancesGeneric(dst, q, x []float32, ld int, idx []int32) {
	n := len(q) &^ 3
	for p, i := range idx {
		row := x[int(i)*ld:][:len(q)]
		// Four sums, added in pairs: the bits do not depend on the order of q and row.
		var s0, s1, s2, s3 float32
		for j := 0; j < n; j += 4 {
			a := q[j : j+4 : j+4]
			b := row[j : j+4 : j+4]
			d0 := a[0] - b[0]
			d1 := a[1] - b[1]
			d2 := a[2] - b[2]
			d3 := a[3] - b[3]
			s0 += d0 * d0
			s1 += d1 * d1
			s2 += d2 * d2
			s3 += d3 * d3
		}

		for j := n; j < len(q); j++ {
			d := q[j] - row[j]
			s0 += d * d
		}
		dst[p] = (s0 + s2) + (s1 + s3)
	}
}
