package eigenmap

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
)

// gramRows is the number of labeled rows gathered at a time.
const gramRows = 8192

// normalEquations are those of least squares on some rows E (l×p) of a basis:
// EᵀE and EᵀC for the targets C (l×c), one against all. They answer for any
// leading part of the basis and any penalty.
type normalEquations struct {
	rows    int
	reached int        // components that they lie in, 0 for one; of penalties
	g, b    *mat.Dense // p×p, p×c
	// lower is the Cholesky factor of g and z = lower⁻¹·b, once factor has
	// found g well conditioned. Leading blocks of them serve leading parts of
	// the basis.
	factored bool
	lower, z *mat.Dense
}

// newNormalEquations gathers the given rows of the first p columns of basis.
// The target of class j is +1 on its points and −1 on the others. Cost: l·p²
// operations, at most 8192·p values.
func newNormalEquations(ctx context.Context, basis *mat.Dense, p int, y *data.Labels,
	rows []int) (*normalEquations, error) {
	e := newEquations(p, len(y.Classes), len(rows))
	x := mat.NewDense(max(1, min(gramRows, len(rows))), p, nil)
	err := blocks(ctx, rows, func(block []int) {
		x := dense.Gather(x, basis, block)
		dense.Syrk(dense.Transposed, 1, x, 1, e.g)
		e.addTargets(x, y, block)
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

func newEquations(p, classes, rows int) *normalEquations {
	return &normalEquations{rows: rows, g: mat.NewDense(p, p, nil), b: mat.NewDense(p, classes, nil)}
}

// addTargets adds xᵀC to b, where x is the given rows of the basis and C their targets:
// zeros where a row has no label.
func (e *normalEquations) addTargets(x *mat.Dense, y *data.Labels, rows []int) {
	_, c := e.b.Dims()
	t := mat.NewDense(len(rows), c, nil)
	for i, r := range rows {
		if y.Index[r] == data.Unlabeled {
			continue
		}
		row := t.RawRowView(i)
		for j := range row {
			row[j] = -1
		}
		row[y.Index[r]] = 1
	}

	dense.Gemm(dense.Transposed, dense.NoTrans, 1, x, t, 1, e.b)
}

// blocks calls fn with at most gramRows rows at a time until ctx is cancelled.
func blocks(ctx context.Context, rows []int, fn func(block []int)) error {
	for lo := 0; lo < len(rows); lo += gramRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		fn(rows[lo:min(lo+gramRows, len(rows))])
	}
	return nil
}

// minus returns the normal equations without those of part.
func (e *normalEquations) minus(part *normalEquations) *normalEquations {
	out := &normalEquations{rows: e.rows - part.rows, reached: e.reached, g: new(mat.Dense),
		b: new(mat.Dense)}
	out.g.Sub(e.g, part.g)
	out.b.Sub(e.b, part.b)
	return out
}

// maxCondition is the condition number of the normal equations up to which they
// are solved by Cholesky factorization.
const maxCondition = 1e10

// farBelow is the share of maxCondition below which two steps of inverse iteration are enough,
// which the true one then exceeds by less than a factor 10⁴ unless the start was at right
// angles to it.
const farBelow = 1e-4

// solve returns the p×c coefficients on the first p basis vectors that minimize
// ‖E·a − C‖² + Σ penalty_j·a_j², and the rank. penalty may be nil.
//
// Where the problem has no unique answer, directions whose singular value in
// [E; diag(√penalty)]·S is below 3·10⁻⁷ of the largest get none of it, with S
// the scaling that brings penalized columns to the size of those of E: of all
// minimizers it is the one of smallest norm, as S is 1 where a choice is left.
func (e *normalEquations) solve(p int, penalty []float64) (a *mat.Dense, rank int) {
	_, c := e.b.Dims()
	if penalty == nil {
		if e.factor(); e.lower != nil {
			a = mat.DenseCopyOf(e.z.Slice(0, p, 0, c))
			dense.SolveLower(dense.Transposed, e.lower.Slice(0, p, 0, p).(*mat.Dense), a)
			return a, p
		}
	}

	g := mat.DenseCopyOf(e.g.Slice(0, p, 0, p))
	b := mat.DenseCopyOf(e.b.Slice(0, p, 0, c))
	scale := penalize(g, penalty)
	dense.ScaleRows(b, scale)
	if l := cholesky(g); l != nil {
		dense.SolveLower(dense.NoTrans, l, b)
		dense.SolveLower(dense.Transposed, l, b)
		dense.ScaleRows(b, scale)
		return b, p
	}

	values, u, err := dense.EigenSym(context.Background(), g)
	if err != nil {
		panic(err) // only for NaN, which orthonormal vectors do not hold
	}
	z := mat.NewDense(p, c, nil)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, u, b, 0, z)
	for j, v := range values {
		row := z.RawRowView(j)
		if v > dense.Negligible*math.Max(values[p-1], 0) {
			rank++
			for q := range row {
				row[q] /= v
			}
			continue
		}
		clear(row)
	}

	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, u, z, 0, b)
	dense.ScaleRows(b, scale)
	return b, rank
}

// penalize makes g the matrix S·(g + diag(penalty))·S with the diagonal
// S = (1 + penalty/max g_jj)^-½, so that penalties of any size leave it well
// scaled, and returns S; nil if there is no penalty.
func penalize(g *mat.Dense, penalty []float64) []float64 {
	if penalty == nil {
		return nil
	}
	var largest float64
	for j := range penalty {
		largest = math.Max(largest, g.At(j, j))
	}
	if largest == 0 {
		largest = 1 // no basis vector is seen by the rows
	}
	scale := make([]float64, len(penalty))
	for j, v := range penalty {
		scale[j] = 1 / math.Sqrt(1+v/largest)
		g.Set(j, j, g.At(j, j)+v)
	}

	dense.ScaleRows(g, scale)
	for i := range scale {
		row := g.RawRowView(i)
		for j, v := range scale {
			row[j] *= v
		}
	}

	return scale
}

// factor sets lower and z if the whole Gram matrix is well conditioned; then so
// are its leading blocks, whose eigenvalues lie between.
func (e *normalEquations) factor() {
	if e.factored {
		return
	}
	e.factored = true
	if e.lower = cholesky(e.g); e.lower != nil {
		e.z = mat.DenseCopyOf(e.b)
		dense.SolveLower(dense.NoTrans, e.lower, e.z)
	}
}

// cholesky returns the lower factor of g, or nil if g is not positive definite
// or its condition number, estimated by inverse iteration, exceeds maxCondition.
func cholesky(g *mat.Dense) *mat.Dense {
	p, _ := g.Dims()
	l := mat.DenseCopyOf(g)
	if dense.Cholesky(context.Background(), l) != nil {
		return nil
	}
	x := mat.NewDense(p, 1, nil)
	for i := range p {
		x.Set(i, 0, 1+0.5*math.Sin(float64(i))) // no special direction
	}
	var inverse float64 // of the smallest eigenvalue
	for i := range 6 {
		x.Scale(1/mat.Norm(x, 2), x)
		dense.SolveLower(dense.NoTrans, l, x)
		dense.SolveLower(dense.Transposed, l, x)
		inverse = mat.Norm(x, 2)
		if i > 0 && mat.Trace(g)*inverse < maxCondition*farBelow {
			break
		}
	}

	if !(mat.Trace(g)*inverse < maxCondition) {
		return nil
	}
	return l
}
