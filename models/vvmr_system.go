package models

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/sparse"
)

// sylvesterSystem is h ↦ P(SᵀGS·Ph·Q) + γ_A h in the q·n entries of h, by rows. P
// sets to zero those of missing targets, which are among the first rows of h.
type sylvesterSystem struct {
	root    *squareRoot
	kernel  sparse.Operator
	q       *mat.Dense // Q
	gammaA  float64
	outputs int
	known   mask
}

// mask are the entries of the targets that are missing.
type mask []int

// newMask returns the positions of NaN in y, by rows.
func newMask(y *mat.Dense) mask {
	l, n := y.Dims()
	var out mask
	for i := range l {
		for j, v := range y.RawRowView(i) {
			if math.IsNaN(v) {
				out = append(out, i*n+j)
			}
		}
	}
	return out
}

// clear sets what is missing in the entries of h to zero.
func (m mask) clear(h []float64) {
	for _, i := range m {
		h[i] = 0
	}
}

// Dim returns q·n.
func (e *sylvesterSystem) Dim() int {
	_, q := e.root.Dims()
	return q * e.outputs
}

// block returns a copy of the entries of x as the block h, q×n.
func (e *sylvesterSystem) block(x mat.Vector) *mat.Dense {
	h := make([]float64, x.Len())
	for i := range h {
		h[i] = x.AtVec(i)
	}
	e.known.clear(h)
	return mat.NewDense(x.Len()/e.outputs, e.outputs, h)
}

// each calls f for every column of x as a block, and adds γ·x to what comes back
// times scale, without what is missing.
func (e *sylvesterSystem) each(dst, x *mat.Dense, scale, gamma float64, f func(h *mat.Dense)) {
	_, b := x.Dims()
	for c := range b {
		h := e.block(x.ColView(c))
		f(h)
		out := h.RawMatrix().Data
		e.known.clear(out)
		for i, v := range out {
			dst.Set(i, c, scale*v+gamma*x.At(i, c))
		}
	}
}

// MulTo sets dst to the product with x. It holds two N×n blocks.
func (e *sylvesterSystem) MulTo(dst, x *mat.Dense) {
	n, _ := e.root.Dims()
	v, w := mat.NewDense(n, e.outputs, nil), mat.NewDense(n, e.outputs, nil)
	e.each(dst, x, 1, e.gammaA, func(h *mat.Dense) {
		e.root.MulTo(v, h)
		e.kernel.MulTo(w, v)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, w, e.q, 0, v)
		e.root.MulTransTo(h, v)
	})
}

// sylvesterPreconditioner is the inverse of the system without missing targets and
// with ΦΦᵀ for the kernel: by Woodbury's identity, in the eigenvectors of Q,
//
//	h ↦ (h − SᵀΦ·θ(θΦᵀBΦ + γ_A I)⁻¹·ΦᵀSh)/γ_A.
type sylvesterPreconditioner struct {
	system  *sylvesterSystem
	direct  *spectralSolver
	phi     *mat.Dense
	vectors *mat.Dense // of Q
}

// ApplyTo sets dst to the product with x.
func (o sylvesterPreconditioner) ApplyTo(dst, x *mat.Dense) {
	e := o.system
	n, r := o.phi.Dims()
	v := mat.NewDense(n, e.outputs, nil)
	w, wu := mat.NewDense(r, e.outputs, nil), mat.NewDense(r, e.outputs, nil)
	e.each(dst, x, -1/e.gammaA, 1/e.gammaA, func(h *mat.Dense) {
		e.root.MulTo(v, h)
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, o.phi, v, 0, w)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, w, o.vectors, 0, wu)
		o.direct.apply(wu)
		dense.Gemm(dense.NoTrans, dense.Transposed, 1, wu, o.vectors, 0, w)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, o.phi, w, 0, v)
		e.root.MulTransTo(h, v)
	})
}
