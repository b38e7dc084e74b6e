package simd

import "math"

// neighborKernels are the loops of exact neighbours: inner products of bytes and
// the search for small distances among them. Their arguments are unchecked.
type neighborKernels struct {
	gemm       GemmBytes
	scanFloats func(hits []int32, c, col, limits []float32, row, limit float32) int
	scanInts   func(hits []int32, c, col, limits []int32, row, limit int32) int
	least      func(dst []uint8, c, col []float32)
	scaleInts  func(dst []float32, c []int32, row float32, col []float32)
	bytes      func(dst []int32, q, x []uint8, ld int, idx []int32) // q has a multiple of 16
	words      func(dst []int32, q, x []int16, ld int, idx []int32)
}

// GemmBytes computes tiles of an exact product of matrices of bytes. A tile is MR rows of NR
// columns. A word holds the bytes of Depth successive inner indices, each in 32/Depth bits, the
// first one lowest. With Signed, the bytes of B are stored as 8-bit integers, less 128.
type GemmBytes struct {
	MR, NR, Depth int
	Signed        bool
	tile          func(k int, a, b []uint32, start, c []int32, ldc int)
	// nil: by tile
	near func(k int, a, b []uint32, start, limit, col, own []int32, bits []uint8, ld int)
}

// Bytes returns the tile product of bytes of the path in use.
func Bytes() GemmBytes { return active.neighbors.gemm }

// Tile computes, for one tile C (MR×NR, row-major, rows ldc apart),
//
//	c[i·ldc+j] = start[i] + Σ_p a[p·MR+i]·b[p·NR+j]
//
// with p running over k words; the product of two words is the sum of the products of their parts.
// Sums wrap around. Tile panics if a slice is too short.
func (g *GemmBytes) Tile(k int, a, b []uint32, start, c []int32, ldc int) {
	if k < 0 || len(a) < k*g.MR || len(b) < k*g.NR || len(start) < g.MR || ldc < g.NR ||
		len(c) < (g.MR-1)*ldc+g.NR {
		panic("simd: tile out of range")
	}
	g.tile(k, a, b, start, c, ldc)
}

// Near computes the values c of one tile as Tile does and writes a bit for each, which is 1 if
//
//	c[i,j] > min(col[j], own[j] + limit[i]).
//
// Bit j%8 of bits[i·ld+j/8] belongs to column j of row i. Sums wrap around. It panics if a slice is
// too short or if columns of a tile are no whole bytes; see [GemmBytes.HasNear].
func (g *GemmBytes) Near(k int, a, b []uint32, start, limit, col, own []int32, bits []uint8, ld int) {
	if k < 0 || len(a) < k*g.MR || len(b) < k*g.NR || len(start) < g.MR || len(limit) < g.MR ||
		len(col) < g.NR || len(own) < g.NR || ld < g.NR/8 || len(bits) < (g.MR-1)*ld+g.NR/8 {
		panic("simd: tile out of range")
	}
	g.near(k, a, b, start, limit, col, own, bits, ld)
}

// HasNear reports whether there is a [GemmBytes.Near].
func (g *GemmBytes) HasNear() bool { return g.near != nil }

// ScanFloats returns, in hits, all j in increasing order for which
//
//	(col[j] − 2c[j]) + row < max(limit, limits[j]),
//
// rounded after every operation: with squared norms in col and row and inner
// products in c, the points nearer to a query than its limit, or than their own.
// NaN is not small. All slices but hits have one length, which hits is at least.
// No limit is NaN.
func ScanFloats(hits []int32, c, col, limits []float32, row, limit float32) []int32 {
	checkScan(len(hits), len(c), len(col), len(limits))
	return hits[:active.neighbors.scanFloats(hits, c, col, limits, row, limit)]
}

// ScanInts is [ScanFloats] for integers; sums wrap around.
func ScanInts(hits []int32, c, col, limits []int32, row, limit int32) []int32 {
	checkScan(len(hits), len(c), len(col), len(limits))
	return hits[:active.neighbors.scanInts(hits, c, col, limits, row, limit)]
}

// LeastColumns is the number of columns of [Least].
const LeastColumns = 48

// Least sets dst to the columns j of the smallest col[j] − 2c[j], the smallest first and of equal ones the first, rounded
// after every operation: with squared norms in col and inner products in c, the nearest points. c and col have
// [LeastColumns] elements. No value is NaN, and as many as dst has elements are finite.
func Least(dst []uint8, c, col []float32) {
	checkEqual(len(c), LeastColumns)
	checkEqual(len(col), LeastColumns)
	active.neighbors.least(dst, c, col)
}

func leastGeneric(dst []uint8, c, col []float32) {
	var values [LeastColumns]float32
	for j := range values {
		values[j] = col[j] - 2*c[j]
	}
	for p := range dst {
		best := 0
		for j, v := range values {
			if v < values[best] {
				best = j
			}
		}
		dst[p] = uint8(best)
		values[best] = float32(math.Inf(1))
	}
}

// ScaleInts sets dst[j] = (c[j]·row)·col[j], rounded after the conversion and
// after every product. All slices have one length.
func ScaleInts(dst []float32, c []int32, row float32, col []float32) {
	checkEqual(len(c), len(dst))
	checkEqual(len(col), len(dst))
	active.neighbors.scaleInts(dst, c, row, col)
}

// ByteProducts sets dst[p] = Σ_j q[j]·x[idx[p]·ld+j] for j < len(q) ≤ ld, which is exact
// up to 33,025 bytes; dst and idx have one length. The caller guarantees 0 ≤ idx[p] and
// idx[p]·ld+len(q) ≤ len(x); this is not checked.
func ByteProducts(dst []int32, q, x []uint8, ld int, idx []int32) {
	checkRows(len(q), ld)
	checkEqual(len(dst), len(idx))
	whole := len(q) &^ 15
	active.neighbors.bytes(dst, q[:whole], x, ld, idx)
	if whole == len(q) {
		return
	}
	tail := q[whole:]
	for p, i := range idx {
		for j, v := range x[int(i)*ld+whole:][:len(tail)] {
			dst[p] += int32(tail[j]) * int32(v)
		}
	}
}

// WordProducts is [ByteProducts] for integers of 16 bits; sums wrap around. The length of q
// is a multiple of 16.
func WordProducts(dst []int32, q, x []int16, ld int, idx []int32) {
	checkRows(len(q), ld)
	checkEqual(len(dst), len(idx))
	if len(q)%16 != 0 {
		panic("simd: not whole vectors")
	}
	active.neighbors.words(dst, q, x, ld, idx)
}

func productsGeneric[T uint8 | int16](dst []int32, q, x []T, ld int, idx []int32) {
	for p, i := range idx {
		row := x[int(i)*ld:][:len(q)]
		var s0, s1, s2, s3 int32
		for j := 0; j+4 <= len(q); j += 4 {
			a := q[j : j+4 : j+4]
			b := row[j : j+4 : j+4]
			s0 += int32(a[0]) * int32(b[0])
			s1 += int32(a[1]) * int32(b[1])
			s2 += int32(a[2]) * int32(b[2])
			s3 += int32(a[3]) * int32(b[3])
		}
		dst[p] = s0 + s1 + s2 + s3
	}
}

func checkScan(hits, n, col, limits int) {
	checkEqual(col, n)
	checkEqual(limits, n)
	if hits < n {
		panic("simd: no room for the hits")
	}
}

func gemmBytesGeneric(k int, a, b []uint32, start, c []int32, ldc int) {
	for i := 0; i < 4; i += 2 {
		// Two rows of A with four columns of B; a word is one byte here.
		s00 := start[i]
		s10 := start[i+1]
		s01 := s00
		s02 := s00
		s03 := s00
		s11 := s10
		s12 := s10
		s13 := s10

		a := a[:4*k]
		b := b[:4*k]
		for len(a) >= 4 && len(b) >= 4 {
			a0 := int32(a[i])
			a1 := int32(a[i+1])
			s00 += a0 * int32(b[0])
			s01 += a0 * int32(b[1])
			s02 += a0 * int32(b[2])
			s03 += a0 * int32(b[3])
			s10 += a1 * int32(b[0])
			s11 += a1 * int32(b[1])
			s12 += a1 * int32(b[2])
			s13 += a1 * int32(b[3])
			a = a[4:]
			b = b[4:]
		}

		c0 := c[i*ldc:][:4]
		c1 := c[(i+1)*ldc:][:4]
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

func scanGeneric[T float32 | int32](hits []int32, c, col, limits []T, row, limit T) int {
	count := 0
	col = col[:len(c)]
	limits = limits[:len(c)]
	for j, v := range c {
		if (col[j]-2*v)+row < max(limit, limits[j]) {
			hits[count] = int32(j)
			count++
		}
	}
	return count
}

func scaleIntsGeneric(dst []float32, c []int32, row float32, col []float32) {
	c = c[:len(dst)]
	col = col[:len(dst)]
	for j, v := range c {
		dst[j] = float32(v) * row * col[j]
	}
}
