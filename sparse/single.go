package sparse

import (
	"slices"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// Single is the matrix M = βI − αL in single precision, for the recurrence T_{k+1} = 2M T_k − T_{k−1} of Chebyshev
// polynomials where a rounding of 6·10⁻⁸ a step does not matter: it reads half of the bytes of
// [Laplacian.RecurTo], and one block less. Blocks are row-major, of as many columns as [SingleWidth] says.
type Single struct {
	w           *CSR // for its places alone
	val         []float32
	diagonal    []float32
	once, twice []float32 // −1 and −2 for each vertex
}

// SingleBytes returns the memory of a Single of n vertices with nnz stored edges, beside its Laplacian.
func SingleBytes(n, nnz int) int64 { return 4*int64(nnz) + 12*int64(n) }

// Single returns M for a Laplacian of power 1, with its shift. It takes [SingleBytes] and shares the places of W's entries.
func (l *Laplacian) Single(alpha, beta float64) *Single {
	if l.power != 1 {
		panic("sparse: a power of a Laplacian in single precision")
	}
	n := l.w.Rows
	s := &Single{w: l.w, val: dense.Zeros[float32](len(l.w.Col)), diagonal: make([]float32, n),
		once: slices.Repeat([]float32{-1}, n), twice: slices.Repeat([]float32{-2}, n)}
	s.Set(l, alpha, beta)
	return s
}

// Set makes s the matrix M of l, whose graph has the same places, for another α and β.
func (s *Single) Set(l *Laplacian, alpha, beta float64) {
	par.For(l.w.Rows, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for p := l.w.Ptr[i]; p < l.w.Ptr[i+1]; p++ {
				s.val[p] = float32(alpha * l.entry(p, i))
			}
			s.diagonal[i] = float32(beta - alpha*(l.diagonal[i]+l.shift))
		}
	})
}

// SingleWidth returns the number of columns, at least the given one, with which a product takes the least time.
func SingleWidth(columns int) int { return simd.StepColumns(columns) }

// Step sets dst = 2Mx − dst.
func (s *Single) Step(dst, x []float32, width int) { s.step(dst, x, width, s.twice) }

// HalfStep sets dst = Mx − dst.
func (s *Single) HalfStep(dst, x []float32, width int) { s.step(dst, x, width, s.once) }

// Pinned is a [Single] in which some vertices do not take part.
type Pinned struct {
	*Single
	free []float32 // −1 for vertices that take part, 0 for others
}

// Pin returns s without the fixed vertices.
func (s *Single) Pin(fixed []bool) *Pinned {
	p := &Pinned{s, slices.Repeat([]float32{-1}, len(fixed))}
	for i, is := range fixed {
		if is {
			p.free[i] = 0
		}
	}
	return p
}

// Descend sets dst = a(r − Mx) + b·x + c·dst: a step of an iteration towards the solution of Mx = r, dst being the x of the
// step before. At fixed vertices Mx counts as zero.
func (p *Pinned) Descend(dst, x, r []float32, a, b, c float32) {
	width := len(x) / len(p.free)
	par.For(len(p.free), rowGrain, func(lo, hi int) {
		simd.GraphStep(dst, x, r, width, p.w.Ptr, p.w.Col, p.val, p.diagonal, p.free, lo, hi, a, b, c)
	})
}

// step sets dst = −(dst + factor·Mx) for the factor of each vertex.
func (s *Single) step(dst, x []float32, width int, factor []float32) {
	par.For(len(factor), rowGrain, func(lo, hi int) {
		simd.GraphStep(dst, x, dst, width, s.w.Ptr, s.w.Col, s.val, s.diagonal, factor, lo, hi, -1, 0, 0)
	})
}
