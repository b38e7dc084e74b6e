package solvers

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// NormRoot is the n×q matrix S with
//
//	S·Sᵀ = B = EEᵀ/l + γLᵖ.
//
// The columns of E are columns of the identity for l labeled points. S consists of E/√l and of
// √γ·L^{p/2} or, for odd p, of √γ·L^{(p−1)/2}Gᵀ with L = GᵀG and a row of G for every edge. It
// makes equations in B and a kernel matrix K symmetric, such as (8) and (17) of the papers. It is
// immutable and safe for concurrent use.
type NormRoot struct {
	n       int
	labeled []int
	gamma   float64           // √γ
	half    *sparse.Laplacian // of power ⌊p/2⌋; nil for the identity
	edges   *SparseDesign     // G; nil for even p
}

// NewNormRoot returns S for n points. With γ = 0 the Laplacian l, to the power p,
// may be nil.
func NewNormRoot(n int, labeled []int, l *sparse.Laplacian, gamma float64) *NormRoot {
	s := &NormRoot{n: n, labeled: labeled, gamma: math.Sqrt(gamma)}
	if s.gamma == 0 {
		return s
	}
	if l.Power() > 1 {
		s.half = l.With(l.Power()/2, 0)
	}
	if l.Power()%2 == 1 {
		g := l.Incidence()
		s.edges = &SparseDesign{X: g, Transposed: g.T()}
	}
	return s
}

// Dims returns n and q.
func (s *NormRoot) Dims() (n, q int) {
	q = len(s.labeled)
	switch {
	case s.gamma == 0:
	case s.edges != nil:
		q += s.edges.X.Rows
	default:
		q += s.n
	}
	return s.n, q
}

// MulTo sets dst = S·h.
func (s *NormRoot) MulTo(dst, h *mat.Dense) {
	l := len(s.labeled)
	q, c := h.Dims()
	dst.Zero()
	if s.gamma > 0 {
		v := h.Slice(l, q, 0, c).(*mat.Dense)
		if s.edges != nil {
			u := mat.NewDense(s.n, c, nil)
			s.edges.MulTransTo(u, v)
			v = u
		}
		if s.half != nil {
			s.half.MulTo(dst, v)
			dense.Multiply(dst, s.gamma)
		} else {
			dst.Scale(s.gamma, v)
		}
	}

	// The first l rows of h belong to the labeled points.
	scale := 1 / math.Sqrt(float64(l))
	for p, i := range s.labeled {
		to := dst.RawRowView(i)
		for j, v := range h.RawRowView(p) {
			to[j] += scale * v
		}
	}
}

// MulTransTo sets dst = Sᵀ·v.
func (s *NormRoot) MulTransTo(dst, v *mat.Dense) {
	l := len(s.labeled)
	q, c := dst.Dims()
	scale := 1 / math.Sqrt(float64(l))
	for p, i := range s.labeled {
		to := dst.RawRowView(p)
		for j, u := range v.RawRowView(i) {
			to[j] = scale * u
		}
	}

	if s.gamma == 0 {
		return
	}

	// √γ·L^{p/2} behind the labeled rows, with G in front of it for odd p.
	rest := dst.Slice(l, q, 0, c).(*mat.Dense)
	u := v
	if s.half != nil {
		u = mat.NewDense(s.n, c, nil)
		s.half.MulTo(u, v)
	}

	if s.edges != nil {
		s.edges.MulTo(rest, u)
	} else {
		rest.Copy(u)
	}
	dense.Multiply(rest, s.gamma)
}
