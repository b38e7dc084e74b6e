package models

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
)

// gramRows is the number of labeled rows gathered at a time.
const gramRows = 8192

// normalEquations are those of least squares on some rows E (l×p) of a basis:
// EᵀE and EᵀC for the targets C (l×c), one against all. They answer for any
// leading part of the basis and any penalty.
type normalEquations struct {
	rows int
	g, b *mat.Dense // p×p, p×c
}

// newNormalEquations gathers the given rows of the first p columns of basis.
// The target of class j is +1 on its points and −1 on the others. Cost: l·p²
// operations, 8192·p values.
func newNormalEquations(basis *mat.Dense, p int, y *data.Labels, rows []int) *normalEquations {
	c := len(y.Classes)
	e := &normalEquations{rows: len(rows), g: mat.NewDense(p, p, nil), b: mat.NewDense(p, c, nil)}
	block := mat.NewDense(max(1, min(gramRows, len(rows))), p, nil)
	target := mat.NewDense(max(1, min(gramRows, len(rows))), c, nil)
	for lo := 0; lo < len(rows); lo += gramRows {
		hi := min(lo+gramRows, len(rows))
		x, t := block.Slice(0, hi-lo, 0, p).(*mat.Dense), target.Slice(0, hi-lo, 0, c).(*mat.Dense)
		for i, r := range rows[lo:hi] {
			copy(x.RawRowView(i), basis.RawRowView(r)[:p])
			for j := range c {
				t.Set(i, j, -1)
			}
			t.Set(i, int(y.Index[r]), 1)
		}
		dense.Syrk(dense.Transposed, 1, x, 1, e.g)
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, x, t, 1, e.b)
	}
	return e
}

// minus returns the normal equations without those of part.
func (e *normalEquations) minus(part *normalEquations) *normalEquations {
	out := &normalEquations{rows: e.rows - part.rows, g: new(mat.Dense), b: new(mat.Dense)}
	out.g.Sub(e.g, part.g)
	out.b.Sub(e.b, part.b)
	return out
}

// maxCondition is the condition number of the normal equations up to which they
// are solved by Cholesky factorization.
const maxCondition = 1e10

// negligible is the square of the ratio to the largest singular value below
// which a direction counts as not seen by the labeled rows.
const negligible = 1e-13

// solve returns the p×c coefficients on the first p basis vectors that minimize
// ‖E·a − C‖² + Σ penalty_j·a_j², and the rank. penalty may be nil.
//
// Where the problem has no unique answer, directions whose singular value in
// [E; diag(√penalty)] is below 3·10⁻⁷ of the largest get none of it: of all
// minimizers it is the one of smallest norm.
func (e *normalEquations) solve(p int, penalty []float64) (a *mat.Dense, rank int) {
	g := mat.NewSymDense(p, nil)
	for i := range p {
		for j := i; j < p; j++ {
			g.SetSym(i, j, e.g.At(i, j))
		}
		if penalty != nil {
			g.SetSym(i, i, e.g.At(i, i)+penalty[i])
		}
	}
	_, c := e.b.Dims()
	b := e.b.Slice(0, p, 0, c)
	a = mat.NewDense(p, c, nil)
	var chol mat.Cholesky
	if chol.Factorize(g) && chol.Cond() < maxCondition {
		if err := chol.SolveTo(a, b); err == nil {
			return a, p
		}
	}
	values, u, err := dense.EigenSym(mat.DenseCopyOf(g))
	if err != nil {
		panic(err) // only for NaN, which orthonormal vectors do not hold
	}
	z := mat.NewDense(p, c, nil)
	z.Mul(u.T(), b)
	for j, v := range values {
		row := z.RawRowView(j)
		if v > negligible*math.Max(values[p-1], 0) {
			rank++
			for q := range row {
				row[q] /= v
			}
			continue
		}
		clear(row)
	}
	a.Mul(u, z)
	return a, rank
}
