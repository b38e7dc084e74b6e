package sparse

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
)

// Numerical blocks are gonum *mat.Dense, n×b, row-major. There is one operator interface,
// [Operator], and it takes a block first. An operator that can do a three-term recurrence in
// one pass implements [Recurrer].

// Operator is a real symmetric n×n linear map; safe for concurrent use.
type Operator interface {
	// Dim returns n.
	Dim() int
	// MulTo sets dst = A·x for n×b blocks that must not overlap.
	MulTo(dst, x *mat.Dense)
}

// Recurrer is an Operator that can take one step of a three-term recurrence
// in a single pass over memory.
type Recurrer interface {
	Operator
	// RecurTo sets dst = α·A·x + β·x + γ·y for n×b blocks. dst may be y
	// itself but must not overlap x.
	RecurTo(dst *mat.Dense, alpha float64, x *mat.Dense, beta float64, gamma float64, y *mat.Dense)
}

// Width returns the number of columns, at least the given one, with which a product with a [Laplacian] takes the
// least time: its kernels hold rows of 4, 8, 16 or 32 columns in registers. On a graph of 70,000 points a
// product with 16 columns takes 8 ms and one with 10 takes 18 (AVX2, one thread). One column and more than 32 are
// left as they are.
func Width(columns int) int {
	for _, full := range []int{4, 8, 16, 32} {
		if 1 < columns && columns <= full {
			return full
		}
	}
	return columns
}

// Wide returns a zero block of n rows and [Width] columns, and a view of its first columns.
func Wide(n, columns int) (block, view *mat.Dense) {
	block = dense.New(n, Width(columns))
	return block, block.Slice(0, n, 0, columns).(*mat.Dense)
}
