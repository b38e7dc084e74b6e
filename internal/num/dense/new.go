package dense

import (
	"unsafe"

	"gonum.org/v1/gonum/mat"
)

// hugeFrom is the size in bytes from which a block is put on large pages: four of them.
const hugeFrom = 8 << 20

// New returns a zero r×c block, a large one on large pages where the system has them. Touching it
// then costs a fault for every 2 MiB and not for every 4 KiB; the faults of a block that is written
// once cost as much as a pass over it.
func New(r, c int) *mat.Dense {
	if r == 0 || c == 0 {
		return new(mat.Dense)
	}
	x := make([]float64, r*c)
	if size := 8 * len(x); size >= hugeFrom {
		advise(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), size))
	}
	return mat.NewDense(r, c, x)
}
