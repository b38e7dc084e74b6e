package solvers

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/sparse"
)

// DualOperator is γ_A I + SᵀKS.
type DualOperator struct {
	Root   *NormRoot // S
	Kernel sparse.Operator
	Ridge  float64 // γ_A
}

// Dim returns q.
func (o DualOperator) Dim() int { _, q := o.Root.Dims(); return q }

// MulTo sets dst to the product with h.
func (o DualOperator) MulTo(dst, h *mat.Dense) {
	_, c := h.Dims()
	n, _ := o.Root.Dims()
	v, kv := mat.NewDense(n, c, nil), mat.NewDense(n, c, nil)
	o.Root.MulTo(v, h)
	o.Kernel.MulTo(kv, v)
	o.Root.MulTransTo(dst, kv)
	dense.AddScaled(dst, 1, o.Ridge, h)
}

// DualPreconditioner is the inverse of γ_A I + SᵀΦΦᵀS, with the Cholesky factor of
// γ_A I + ΦᵀBΦ.
type DualPreconditioner struct {
	Root   *NormRoot
	Phi    *mat.Dense
	Factor *mat.Dense
	Ridge  float64
}

// ApplyTo sets dst = (h − SᵀΦ(γ_A I + ΦᵀBΦ)⁻¹ΦᵀS·h)/γ_A.
func (o DualPreconditioner) ApplyTo(dst, h *mat.Dense) {
	_, c := h.Dims()
	n, r := o.Phi.Dims()
	v, w := mat.NewDense(n, c, nil), mat.NewDense(r, c, nil)
	o.Root.MulTo(v, h)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, o.Phi, v, 0, w)
	dense.SolveLower(dense.NoTrans, o.Factor, w)
	dense.SolveLower(dense.Transposed, o.Factor, w)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, o.Phi, w, 0, v)
	o.Root.MulTransTo(dst, v)
	dense.AddScaled(dst, -1/o.Ridge, 1/o.Ridge, h)
}
