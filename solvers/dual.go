package solvers

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
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
	v := mat.NewDense(n, c, nil)
	kv := mat.NewDense(n, c, nil)
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
	v := mat.NewDense(n, c, nil)
	w := mat.NewDense(r, c, nil)
	o.Root.MulTo(v, h)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, o.Phi, v, 0, w)
	dense.SolveLower(dense.NoTrans, o.Factor, w)
	dense.SolveLower(dense.Transposed, o.Factor, w)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, o.Phi, w, 0, v)
	o.Root.MulTransTo(dst, v)
	dense.AddScaled(dst, -1/o.Ridge, 1/o.Ridge, h)
}

// Residual returns the largest ‖Sb − γ_A α − SSᵀKα‖/‖Sb‖ of a column.
func (o DualOperator) Residual(alpha, b *mat.Dense) float64 {
	n, c := alpha.Dims()
	q, _ := b.Dims()
	k := mat.NewDense(n, c, nil)
	right := mat.NewDense(n, c, nil)
	o.Kernel.MulTo(k, alpha)
	inner := mat.NewDense(q, c, nil)
	o.Root.MulTransTo(inner, k)
	o.Root.MulTo(k, inner)
	dense.AddScaled(k, 1, o.Ridge, alpha)
	o.Root.MulTo(right, b)

	// The worst column counts; a column of zeros has no residual.
	var worst float64
	for j := range c {
		size := mat.Norm(right.ColView(j), 2)
		var d mat.VecDense
		if d.SubVec(right.ColView(j), k.ColView(j)); size > 0 {
			worst = math.Max(worst, mat.Norm(&d, 2)/size)
		}
	}

	return worst
}
