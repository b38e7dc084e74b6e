package solvers

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// Sylvester is h ↦ P(SᵀGS·Ph·Q) + γ_A h in the q·n entries of h, by rows: equation (17) of Minh &
// Sindhwani (2011), made symmetric. P sets the entries of missing targets to zero, which are among
// the first rows of h. It serves one run of conjugate gradients, with its working memory.
type Sylvester struct {
	root    *NormRoot
	kernel  sparse.Operator // G
	q       *mat.Dense      // Q, n×n
	ridge   float64         // γ_A
	missing mask
	v, w    *mat.Dense // N×n
}

// NewSylvester returns the system for the targets y of the labeled points, l×n, in which NaN marks
// a missing one.
func NewSylvester(root *NormRoot, kernel sparse.Operator, q, y *mat.Dense, ridge float64) *Sylvester {
	points, _ := root.Dims()
	n, _ := q.Dims()
	return &Sylvester{root, kernel, q, ridge, newMask(y), mat.NewDense(points, n, nil),
		mat.NewDense(points, n, nil)}
}

// Incomplete tells whether targets are missing.
func (e *Sylvester) Incomplete() bool { return len(e.missing) > 0 }

// RightSide returns the entries of [Y/√l; 0] with 0 for missing ones, as a column.
func (e *Sylvester) RightSide(y *mat.Dense) *mat.Dense {
	l, n := y.Dims()
	b := mat.NewDense(e.Dim(), 1, nil)
	for i := range l {
		for j, v := range y.RawRowView(i) {
			if !math.IsNaN(v) {
				b.Set(i*n+j, 0, v/math.Sqrt(float64(l)))
			}
		}
	}
	return b
}

// Coefficients returns A = Sh and AQ, N×n, for the entries h; they are overwritten by
// the next product.
func (e *Sylvester) Coefficients(h []float64) (a, aq *mat.Dense) {
	e.root.MulTo(e.v, e.block(h))
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, e.v, e.q, 0, e.w)
	return e.v, e.w
}

// mask lists the entries of the targets that are missing.
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

// clear sets the missing entries of h to zero.
func (m mask) clear(h []float64) {
	for _, i := range m {
		h[i] = 0
	}
}

// Dim returns q·n.
func (e *Sylvester) Dim() int {
	_, q := e.root.Dims()
	return q * e.outputs()
}

// outputs returns n.
func (e *Sylvester) outputs() int { n, _ := e.q.Dims(); return n }

// block returns the entries h, in their memory, as a block of q×n.
func (e *Sylvester) block(h []float64) *mat.Dense {
	return mat.NewDense(len(h)/e.outputs(), e.outputs(), h)
}

// each applies f to every column of x as a block, which f overwrites, and sets dst to γ·x plus
// scale times the result of f. Missing entries are zero before and after f.
func (e *Sylvester) each(dst, x *mat.Dense, scale, gamma float64, f func(h *mat.Dense)) {
	size, b := x.Dims()
	from := x.RawMatrix()
	to := dst.RawMatrix()

	// A single adjacent column is worked on in place.
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
func (e *Sylvester) MulTo(dst, x *mat.Dense) {
	v := e.v
	w := e.w
	e.each(dst, x, 1, e.ridge, func(h *mat.Dense) {
		e.root.MulTo(v, h)
		e.kernel.MulTo(w, v)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, w, e.q, 0, v)
		e.root.MulTransTo(h, v)
	})
}

// SylvesterPreconditioner is the inverse of the system without missing targets and
// with ΦΦᵀ for the kernel: by Woodbury's identity, in the eigenvectors of Q,
//
//	h ↦ (h − SᵀΦ·θ(θΦᵀBΦ + γ_A I)⁻¹·ΦᵀSh)/γ_A,
//
// or, for a general M, with the inverse of [Coupled].
type SylvesterPreconditioner struct {
	System  *Sylvester
	Direct  Inverse
	Phi     *mat.Dense // Φ, N×r
	Vectors *mat.Dense // the eigenvectors of Q, n×n
}

// Inverse overwrites a block r×n by θ(θΦᵀBΦ + γ_A I)⁻¹ of it: a [Shifted] or a [Coupled].
type Inverse interface{ Apply(w *mat.Dense) }

// ApplyTo sets dst to the product with x.
func (o SylvesterPreconditioner) ApplyTo(dst, x *mat.Dense) {
	e := o.System
	_, r := o.Phi.Dims()
	v := e.v
	w := mat.NewDense(r, e.outputs(), nil)
	wu := mat.NewDense(r, e.outputs(), nil)
	e.each(dst, x, -1/e.ridge, 1/e.ridge, func(h *mat.Dense) {
		e.root.MulTo(v, h)
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, o.Phi, v, 0, w)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, w, o.Vectors, 0, wu)
		o.Direct.Apply(wu)
		dense.Gemm(dense.NoTrans, dense.Transposed, 1, wu, o.Vectors, 0, w)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, o.Phi, w, 0, v)
		e.root.MulTransTo(h, v)
	})
}
