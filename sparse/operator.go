package sparse

import "gonum.org/v1/gonum/mat"

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
