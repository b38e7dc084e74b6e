package solvers

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// NormRoot is the n×q matrix S with
//
//	S·Sᵀ = B = EEᵀ/l + Σ_p w_p Lᵖ.
//
// The columns of E are columns of the identity for l labeled points. S consists of E/√l and, for every
// w_p > 0, of √w_p·L^{p/2} or, for odd p, of √w_p·L^{(p−1)/2}Gᵀ with L = GᵀG and a row of G for every
// edge. It makes equations in B and a kernel matrix K symmetric, such as (8) and (17) of the papers. It
// is immutable and safe for concurrent use.
//
// For functions of several outputs with B = EEᵀ/l ⊗ I + Σ_p w_p Lᵖ ⊗ B_p it multiplies blocks of a column for each
// output by √B_p from the right: see [NewOutputNormRoot].
type NormRoot struct {
	n       int
	labeled []int
	roots   []float64 // √s_i of the shares of the labels; nil for 1/√l each
	powers  []rootPower
	columns int // q
}

// rootPower is the part of S that stands for one power of L.
type rootPower struct {
	weight float64           // √w_p
	half   *sparse.Laplacian // of power ⌊p/2⌋; nil for the identity
	edges  *SparseDesign     // G; nil for even p
	right  *mat.Dense        // √B_p; nil for the identity
	lo, hi int               // its columns
}

// NewNormRoot returns S for n points. weights are the w_p, which must not be negative; without a
// positive one the Laplacian l may be nil. The power and the shift of l do not matter.
func NewNormRoot(n int, labeled []int, l *sparse.Laplacian, weights []float64) *NormRoot {
	s := &NormRoot{n: n, labeled: labeled, columns: len(labeled)}
	var edges *SparseDesign // one G serves all odd powers
	for p, w := range weights {
		if w == 0 {
			continue
		}
		part := rootPower{weight: math.Sqrt(w), lo: s.columns, hi: s.columns + n}
		if p > 1 {
			part.half = l.With(p/2, 0)
		}
		if p%2 == 1 {
			if edges == nil {
				g := l.Incidence()
				edges = &SparseDesign{X: g, Transposed: g.T()}
			}
			part.edges = edges
			part.hi = s.columns + edges.X.Rows
		}
		s.columns = part.hi
		s.powers = append(s.powers, part)
	}
	return s
}

// WithShares returns S with ESEᵀ, S = diag(shares), in place of EEᵀ/l: shares of the labels in the loss,
// their sum one, or nil for 1/l each.
func (s *NormRoot) WithShares(shares []float64) *NormRoot {
	if shares == nil {
		return s
	}
	out := *s
	out.roots = make([]float64, len(shares))
	for q, v := range shares {
		out.roots[q] = math.Sqrt(v)
	}
	return &out
}

// root returns the entry of S of label q.
func (s *NormRoot) root(q int) float64 {
	if s.roots == nil {
		return 1 / math.Sqrt(float64(len(s.labeled)))
	}
	return s.roots[q]
}

// NewOutputNormRoot returns S for n points and the outputs o, with w_p = γ for every B_p of their penalty.
func NewOutputNormRoot(n int, labeled []int, l *sparse.Laplacian, gamma float64, o *Outputs) *NormRoot {
	weights := make([]float64, len(o.Penalty))
	var roots []*mat.Dense
	for p, b := range o.Penalty {
		if mat.Norm(b, 1) > 0 {
			weights[p] = gamma
			roots = append(roots, o.roots[p])
		}
	}
	s := NewNormRoot(n, labeled, l, weights)
	for k := range s.powers {
		s.powers[k].right = roots[k]
	}
	return s
}

// Dims returns n and q.
func (s *NormRoot) Dims() (n, q int) { return s.n, s.columns }

// MulTo sets dst = S·h.
func (s *NormRoot) MulTo(dst, h *mat.Dense) {
	_, c := h.Dims()
	dst.Zero()
	for k, p := range s.powers {
		to := dst
		if k > 0 {
			to = mat.NewDense(s.n, c, nil)
		}
		p.mulTo(to, h.Slice(p.lo, p.hi, 0, c).(*mat.Dense))
		if k > 0 {
			dense.AddScaled(dst, 1, 1, to)
		}
	}

	// The first l rows of h belong to the labeled points.
	for p, i := range s.labeled {
		scale := s.root(p)
		to := dst.RawRowView(i)
		for j, v := range h.RawRowView(p) {
			to[j] += scale * v
		}
	}
}

// mulTo sets dst to the product of the part with v.
func (p *rootPower) mulTo(dst, v *mat.Dense) {
	v = p.turn(v)
	if p.edges != nil {
		n, c := dst.Dims()
		u := mat.NewDense(n, c, nil)
		p.edges.MulTransTo(u, v)
		v = u
	}
	if p.half == nil {
		dst.Scale(p.weight, v)
		return
	}
	p.half.MulTo(dst, v)
	dense.Multiply(dst, p.weight)
}

// turn returns v√B_p.
func (p *rootPower) turn(v *mat.Dense) *mat.Dense {
	if p.right == nil {
		return v
	}
	rows, cols := v.Dims()
	out := mat.NewDense(rows, cols, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, v, p.right, 0, out)
	return out
}

// MulTransTo sets dst = Sᵀ·v.
func (s *NormRoot) MulTransTo(dst, v *mat.Dense) {
	_, c := dst.Dims()
	for p, i := range s.labeled {
		scale := s.root(p)
		to := dst.RawRowView(p)
		for j, u := range v.RawRowView(i) {
			to[j] = scale * u
		}
	}

	// √w_p·L^{p/2} behind the labeled rows, with G in front of it for odd p.
	for _, p := range s.powers {
		rest := dst.Slice(p.lo, p.hi, 0, c).(*mat.Dense)
		u := p.turn(v)
		if p.half != nil {
			w := mat.NewDense(s.n, c, nil)
			p.half.MulTo(w, u)
			u = w
		}
		if p.edges != nil {
			p.edges.MulTo(rest, u)
		} else {
			rest.Copy(u)
		}
		dense.Multiply(rest, p.weight)
	}
}
