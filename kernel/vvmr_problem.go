package kernel

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
)

// Dim returns N.
func (o Matrix) Dim() int { n, _ := o.Values.Dims(); return n }

// MulTo sets dst = G·a.
func (o Matrix) MulTo(dst, a *mat.Dense) {
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, o.Values, a, 0, dst)
}
