package kernel

import (
	"gonum.org/v1/gonum/mat"
)

// Matrix is a Gram matrix in memory.
type Matrix struct{ Values *mat.Dense }
