package cg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// Preconditioner is a symmetric positive definite approximation M⁻¹ of the
// inverse of an operator.
type Preconditioner interface {
	// ApplyTo sets dst = M⁻¹·r for n×b blocks that do not overlap. It is safe
	// for concurrent use.
	ApplyTo(dst, r *mat.Dense)
}

// identity is M = I.
type identity struct{}

func (identity) ApplyTo(dst, r *mat.Dense) { dst.Copy(r) }

// jacobi is M = diag(1/inverse).
type jacobi struct{ inverse []float64 }

// NewJacobi returns M = diag(diagonal). It returns an error for an entry that is
// not positive and finite. It costs n·b operations to apply.
func NewJacobi(diagonal []float64) (Preconditioner, error) {
	inverse := make([]float64, len(diagonal))
	for i, d := range diagonal {
		if !(d > 0) || math.IsInf(d, 1) {
			return nil, fmt.Errorf("cg: element %d of the diagonal is %v; it must be positive", i, d)
		}
		inverse[i] = 1 / d
	}
	return jacobi{inverse}, nil
}

func (m jacobi) ApplyTo(dst, r *mat.Dense) {
	checkApply(len(m.inverse), dst, r)
	par.For(len(m.inverse), rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d := dst.RawRowView(i)
			for j, v := range r.RawRowView(i) {
				d[j] = m.inverse[i] * v
			}
		}
	})
}

// repeated is M⁻¹ applied several times: symmetric and positive definite as M⁻¹
// is, and an approximation of A⁻ᵖ if M⁻¹ is one of A⁻¹.
type repeated struct {
	m     Preconditioner
	times int
}

func (m repeated) ApplyTo(dst, r *mat.Dense) {
	from, to := r, dst
	if m.times > 1 {
		n, b := r.Dims()
		scratch := dense.New(n, b)
		if m.times%2 == 0 {
			to = scratch
		}
		for range m.times - 1 {
			m.m.ApplyTo(to, from)
			if from, to = to, dst; from == dst {
				to = scratch
			}
		}
	}

	m.m.ApplyTo(to, from)
}

// checkApply panics unless dst and r are blocks of n rows and one shape.
func checkApply(n int, dst, r *mat.Dense) {
	rows, cols := r.Dims()
	if dr, dc := dst.Dims(); rows != n || dr != n || dc != cols {
		panic(fmt.Sprintf("cg: a preconditioner of dimension %d: dst is %d×%d, r is %d×%d", n, dr, dc,
			rows, cols))
	}
}
