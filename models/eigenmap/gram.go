package eigenmap

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
)

// gramRows is the number of labeled rows gathered at a time: it bounds the copy of the
// rows at 8192·p numbers, and blocks of this size keep the product at its full rate.
const gramRows = 8192

// normalEquations holds the normal equations of least squares on some rows E (l×p) of a
// basis: EᵀE and EᵀC for the targets C (l×c), one class against all others. They serve
// every leading part of the basis and every penalty.
type normalEquations struct {
	rows    int
	reached int        // number of components with a row, for the penalties; 0 means one
	g, b    *mat.Dense // EᵀE (p×p) and EᵀC (p×c)
	// lower is the Cholesky factor of g and z = lower⁻¹·b; both are set once factor
	// finds g well conditioned. A leading part of the basis takes their leading blocks.
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
		addTargets([]*normalEquations{e}, []*data.Labels{y}, x, block)
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// newEquations returns equations of zeros.
func newEquations(p, classes, rows int) *normalEquations {
	return &normalEquations{rows: rows, g: mat.NewDense(p, p, nil), b: mat.NewDense(p, classes, nil)}
}

// addTargets adds xᵀC to the b of every system, where x is the given rows of the basis and C the targets of the labels
// ys of that system: zeros where a row has no label. One product serves all systems.
func addTargets(eqs []*normalEquations, ys []*data.Labels, x *mat.Dense, rows []int) {
	at := []int{0} // where the columns of a system begin
	for _, y := range ys {
		at = append(at, at[len(at)-1]+len(y.Classes))
	}
	width := at[len(ys)]
	if width == 0 {
		return
	}

	t := mat.NewDense(len(rows), width, nil)
	for i, r := range rows {
		for d, y := range ys {
			if y.Index[r] == data.Unlabeled {
				continue
			}
			row := t.RawRowView(i)[at[d]:at[d+1]]
			for j := range row {
				row[j] = -1
			}
			row[y.Index[r]] = 1
		}
	}

	_, p := x.Dims()
	sums := mat.NewDense(p, width, nil)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, x, t, 0, sums)
	for d, e := range eqs {
		e.b.Add(e.b, sums.Slice(0, p, at[d], at[d+1]))
	}
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

// minus returns the normal equations of the rows that are not in part.
func (e *normalEquations) minus(part *normalEquations) *normalEquations {
	out := &normalEquations{rows: e.rows - part.rows, reached: e.reached, g: new(mat.Dense),
		b: new(mat.Dense)}
	out.g.Sub(e.g, part.g)
	out.b.Sub(e.b, part.b)
	return out
}

// maxCondition is the largest condition number of normal equations that are solved by
// Cholesky factorization: six digits of the coefficients are left.
const maxCondition = 1e10

// farBelow ends the inverse iteration early: if two steps estimate a condition number below
// this share of maxCondition, no further step is made. The true number exceeds such an
// estimate by less than a factor 10⁴, unless the start was at right angles to the smallest
// eigenvector.
const farBelow = 1e-4

// solve returns the p×c coefficients on the first p basis vectors that minimize
// ‖E·a − C‖² + Σ penalty_j·a_j², and the rank. penalty may be nil.
//
// If the minimizer is not unique, solve returns the one of smallest norm: singular
// directions of [E; diag(√penalty)]·S get no coefficient if their singular value is below
// 3·10⁻⁷ of the largest one. The diagonal S scales penalized columns to the size of the
// columns of E; it is 1 on all columns that leave a choice.
func (e *normalEquations) solve(p int, penalty []float64) (a *mat.Dense, rank int) {
	// Without penalty one factorization of the whole matrix serves every p.
	_, c := e.b.Dims()
	if penalty == nil {
		if e.factor(); e.lower != nil {
			a = mat.DenseCopyOf(e.z.Slice(0, p, 0, c))
			dense.SolveLower(dense.Transposed, e.lower.Slice(0, p, 0, p).(*mat.Dense), a)
			return a, p
		}
	}

	// With a penalty, or where the whole is badly conditioned, this p has its own factor.
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

	// The truncated eigendecomposition gives the solution of smallest norm.
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

// penalize replaces g by S·(g + diag(penalty))·S and returns the diagonal
// S = (1 + penalty/max g_jj)^-½, by which penalties of any size leave g well scaled. It
// returns nil if there is no penalty.
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

	// S from the left, then from the right.
	dense.ScaleRows(g, scale)
	for i := range scale {
		row := g.RawRowView(i)
		for j, v := range scale {
			row[j] *= v
		}
	}

	return scale
}

// factor sets lower and z if the whole Gram matrix is well conditioned. Its leading blocks
// then are well conditioned too, because their eigenvalues lie between its smallest and its
// largest one.
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

	// Inverse iteration estimates 1/λ_min; the trace bounds λ_max from above. Six steps
	// settle the order of magnitude, which is all that is asked.
	x := mat.NewDense(p, 1, nil)
	for i := range p {
		x.Set(i, 0, 1+0.5*math.Sin(float64(i))) // no special direction
	}
	var inverse float64 // 1/λ_min
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
