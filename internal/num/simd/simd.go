// Package simd holds the innermost loops of bigfit: the tile of the matrix
// product, sums of gathered rows, exact products of bytes, the search for small
// distances, and some level-1 loops. Each exists in pure Go
// and, on amd64, in AVX-512 and AVX2+FMA assembly written by the generator in
// _asm. One path is chosen when the program starts: the best the CPU and the
// operating system support, or the one named by the environment variable
// BIGFIT_SIMD (generic, avx2, avx512). A named path that is not available is
// replaced by the next one below it, an unknown name is ignored; [Path] names
// the path in use. The build tag purego leaves the assembly out.
//
// On one path every function returns the same bits for the same input. Paths
// differ from each other by rounding, because the assembly fuses each multiply
// with its add.
//
// # Instruction sets
//
// Bits depend on the instruction set and not on the number of threads. Between sets, answers
// differ only by rounding and by the tolerance of solvers: eigenvectors have the sign by which
// the first of their largest entries, up to 1e-6, is positive, and choices among equals
// (pivots, centres of k-means, thresholds of cuts) take the first up to 1e-9. Vectors of a
// multiple eigenvalue are any basis of its space. The tests of models/all compare all learners
// under all sets.
package simd

import (
	"os"
	"unsafe"
)

//go:generate go run -C _asm . -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg simd

// Float is an element type the kernels exist for.
type Float interface{ float32 | float64 }

// kernels are the loops for one element type. Their arguments are unchecked.
type kernels[T Float] struct {
	gemm          Gemm[T]
	sumRows       func(dst, x []T, ld int, idx []int32)
	addScaledRows func(dst, x []T, ld int, idx []int32, w []T)
	combineRow    func(dst, a []T, alpha T, b []T, beta T)
}

// A path is the set of kernels for one instruction set.
type path struct {
	name string
	f64  kernels[float64]
	f32  kernels[float32]
	dot  func(a, b []float64) float64
	symv func(y, v, a []float64, lda int, s, d []float64)

	prefetch  func(x *byte, ld int, idx []int32, width int)
	graphRows [len(graphColumns)]graphKernel // nil: by rows
	panel     map[int]panelKernel            // by columns

	distances   func(dst, q, x []float32, ld int, idx []int32)
	halves      halfKernels
	conversions conversionKernels
	graphSteps  [len(stepColumns)]stepKernel // nil: by rows
	neighbors   neighborKernels
}

// names lists all paths, best first; available those this CPU can run.
var (
	names     = []string{"avx512", "avx2", "generic"}
	available = append(assembly(), &generic)
	active    = choose(os.Getenv("BIGFIT_SIMD"), available)
)

// choose returns the path called name, or the best one not above it; for an
// unknown name the best of all. from is sorted, best first, generic last.
func choose(name string, from []*path) *path {
	// Paths above the named one are skipped.
	allowed := false
	for _, candidate := range names {
		allowed = allowed || candidate == name
		for _, p := range from {
			if allowed && p.name == candidate {
				return p
			}
		}
	}
	return from[0]
}

// Path names the kernels in use: "avx512", "avx2" or "generic".
func Path() string { return active.name }

// Gemm computes tiles of a matrix product. A tile is MR rows of NR columns.
type Gemm[T Float] struct {
	MR, NR int
	tile   func(k int, a []T, row, step int, b, c []T, ldc int, acc bool)
}

// Gemm64 returns the float64 tile product of the path in use.
func Gemm64() Gemm[float64] { return active.f64.gemm }

// Gemm32 returns the float32 tile product of the path in use.
func Gemm32() Gemm[float32] { return active.f32.gemm }

// Tile computes C = A·B, or C += A·B if acc, for one tile C (MR×NR, row-major,
// rows ldc apart). B is packed with NR values for each p < k; A may be packed
// (row = 1, step = MR) or lie in a matrix:
//
//	c[i·ldc+j] (+)= Σ_p a[i·row+p·step]·b[p·NR+j].
//
// Without acc the old contents of C do not matter. Tile panics if a slice is
// too short.
func (g *Gemm[T]) Tile(k int, a []T, row, step int, b, c []T, ldc int, acc bool) {
	if k < 0 || len(b) < k*g.NR || ldc < g.NR || len(c) < (g.MR-1)*ldc+g.NR ||
		row < 0 || step < 0 || k > 0 && len(a) <= (g.MR-1)*row+(k-1)*step {
		panic("simd: tile out of range")
	}
	g.tile(k, a, row, step, b, c, ldc, acc)
}

// SumRows sets dst[j] = Σ_p x[idx[p]·ld+j] for j < len(dst) ≤ ld, adding in the
// order of p. The caller guarantees 0 ≤ idx[p] and idx[p]·ld+len(dst) ≤ len(x);
// this is not checked. dst must not overlap x.
func SumRows(dst, x []float64, ld int, idx []int32) {
	checkRows(len(dst), ld)
	active.f64.sumRows(dst, x, ld, idx)
}

// PrefetchRows asks the memory for the first width elements of the rows of x
// named by idx, on which the same conditions lie as in [SumRows]. It has
// no effect but on the time of later reads.
func PrefetchRows[T float64 | float32 | int16 | uint8](x []T, ld int, idx []int32, width int) {
	checkRows(width, ld)
	size := int(unsafe.Sizeof(*new(T)))
	active.prefetch((*byte)(unsafe.Pointer(unsafe.SliceData(x))), ld*size, idx, width*size)
}

// SumRows32 is [SumRows] for float32.
func SumRows32(dst, x []float32, ld int, idx []int32) {
	checkRows(len(dst), ld)
	active.f32.sumRows(dst, x, ld, idx)
}

// AddScaledRows sets dst[j] = Σ_p w[p]·x[idx[p]·ld+j] for j < len(dst) ≤ ld,
// adding in the order of p; w and idx have one length. The caller guarantees
// 0 ≤ idx[p] and idx[p]·ld+len(dst) ≤ len(x); this is not checked. dst must not
// overlap x.
func AddScaledRows(dst, x []float64, ld int, idx []int32, w []float64) {
	checkRows(len(dst), ld)
	checkEqual(len(w), len(idx))
	active.f64.addScaledRows(dst, x, ld, idx, w)
}

// AddScaledRows32 is [AddScaledRows] for float32.
func AddScaledRows32(dst, x []float32, ld int, idx []int32, w []float32) {
	checkRows(len(dst), ld)
	checkEqual(len(w), len(idx))
	active.f32.addScaledRows(dst, x, ld, idx, w)
}

// CombineRow sets dst = alpha·a + beta·b. All three have one length; dst may be
// a or b. A zero factor does not hide a NaN.
func CombineRow(dst, a []float64, alpha float64, b []float64, beta float64) {
	checkEqual(len(a), len(dst))
	checkEqual(len(b), len(dst))
	active.f64.combineRow(dst, a, alpha, b, beta)
}

// CombineRow32 is [CombineRow] for float32.
func CombineRow32(dst, a []float32, alpha float32, b []float32, beta float32) {
	checkEqual(len(a), len(dst))
	checkEqual(len(b), len(dst))
	active.f32.combineRow(dst, a, alpha, b, beta)
}

// Dot returns Σ a[i]·b[i]; a and b have one length.
func Dot(a, b []float64) float64 {
	checkEqual(len(a), len(b))
	return active.dot(a, b)
}

// SymvRows does four rows a₀ … a₃ of a symmetric matrix, lda elements apart, in
// one pass: y += Σ_r s[r]·a_r and d[r] = Σ_j a_r[j]·v[j]. y, v and the rows used
// have one length; s and d have length 4. y must not overlap the others.
func SymvRows(y, v, a []float64, lda int, s, d []float64) {
	checkEqual(len(v), len(y))
	checkEqual(len(s), 4)
	checkEqual(len(d), 4)
	if lda < 0 || len(a) < 3*lda+len(y) {
		panic("simd: rows out of range")
	}
	active.symv(y, v, a, lda, s, d)
}

// SquaredDistances32 sets dst[p] = Σ_j (q[j] − x[idx[p]·ld+j])² for j < len(q)
// ≤ ld; dst and idx have one length. The caller guarantees 0 ≤ idx[p] and
// idx[p]·ld+len(q) ≤ len(x); this is not checked. The bits of a result depend on
// the two rows alone, whichever of them is q.
func SquaredDistances32(dst, q, x []float32, ld int, idx []int32) {
	checkRows(len(q), ld)
	checkEqual(len(dst), len(idx))
	active.distances(dst, q, x, ld, idx)
}

func checkRows(n, ld int) {
	if n > ld {
		panic("simd: row longer than the leading dimension")
	}
}

func checkEqual(n, m int) {
	if n != m {
		panic("simd: slices differ in length")
	}
}
