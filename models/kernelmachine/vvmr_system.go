package kernelmachine

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/sparse"
)

// sylvesterSystem is h ↦ P(SᵀGS·Ph·Q) + γ_A h in the q·n entries of h, by rows. P
// sets to zero those of missing targets, which are among the first rows of h.
// It serves one run of conjugate gradients, with its working memory.
type sylvesterSystem struct {
	root    *squareRoot
	kernel  sparse.Operator
	q       *mat.Dense // Q
	gammaA  float64
	outputs int
	missing mask
	v, w    *mat.Dense // N×n
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

// block returns the entries h, in their memory, as a block of q×n.
func (e *sylvesterSystem) block(h []float64) *mat.Dense {
	return mat.NewDense(len(h)/e.outputs, e.outputs, h)
}

// each calls f for every column of x as a block, which it may overwrite, and sets
// dst to γ·x plus what it becomes times scale, without what is missing.
func (e *sylvesterSystem) each(dst, x *mat.Dense, scale, gamma float64, f func(h *mat.Dense)) {
	size, b := x.Dims()
	from, to := x.RawMatrix(), dst.RawMatrix()
	h := to.Data
	if to.Stride != 1 {
		h = make([]float64, size)
	}
	h = h[:size]
	for c := range b {
		for i := range h {
			h[i] = from.Data[i*from.Stride+c]
		}
		e.missing.clear(h)
		f(e.block(h))
		e.missing.clear(h)
		for i, v := range h {
			to.Data[i*to.Stride+c] = scale*v + gamma*from.Data[i*from.Stride+c]
		}
	}
}

// MulTo sets dst to the product with x.
func (e *sylvesterSystem) MulTo(dst, x *mat.Dense) {
	v, w := e.v, e.w
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
	_, r := o.phi.Dims()
	v := e.v
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
