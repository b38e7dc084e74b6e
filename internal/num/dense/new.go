package dense

import (
	"unsafe"

	"gonum.org/v1/gonum/mat"
)

// hugeFrom is the size in bytes from which numbers are put on large pages: one of them.
const hugeFrom = 2 << 20

// Zeros returns n zeros, many of them on large pages where the system has them. Touching them then
// costs a fault for every 2 MiB and not for every 4 KiB; the faults of a block that is written once
// cost as much as a pass over it. Rows that are read anywhere, as in a product with a graph, are found
// sooner too, because the processor remembers the places of a few thousand pages only.
func Zeros[T any](n int) []T {
	x := make([]T, n)
	if size := n * int(unsafe.Sizeof(*new(T))); size >= hugeFrom {
		advise(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), size))
	}
	return x
}

// New returns a zero r×c block of [Zeros].
func New(r, c int) *mat.Dense {
	if r == 0 || c == 0 {
		return new(mat.Dense)
	}
	return mat.NewDense(r, c, Zeros[float64](r*c))
}
