package cg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// run is one call of Solve.
type run struct {
	*plan
	a       sparse.Operator
	m       Preconditioner
	null    subspace // nil for none
	b       *mat.Dense
	norms   []float64 // ‖b_j‖
	out     *Result
	known   []bool // columns with a residual recomputed after their last change
	started bool   // X is not zero

	// State of the current block:
	from, to int
	cycle    int
	state    State
	worst    float64   // largest relative residual at the beginning of the cycle
	active   []int     // columns with an iteration, within the block
	scale    []float64 // their residual norms at the beginning of the cycle
	met      []bool    // active columns that were within the tolerance since
	q, p, c  *mat.Dense
	ap, z    *mat.Dense
	spare    *mat.Dense // for the next p
}

// solve is Solve with null vectors that need not be a matrix.
func solve(ctx context.Context, a sparse.Operator, b *mat.Dense, p *plan, null subspace) (*Result, error) {
	n, m := b.Dims()
	if n != p.n {
		return nil, fmt.Errorf("cg: right-hand sides of length %d for an operator of dimension %d", n, p.n)
	}
	if i, j, bad := firstNotFinite(b); bad {
		return nil, fmt.Errorf("cg: row %d, column %d of the right-hand sides is %v", i, j, b.At(i, j))
	}
	r := &run{plan: p, a: a, m: p.Preconditioner, null: null, b: b, known: make([]bool, m),
		out: &Result{X: mat.NewDense(n, m, nil), Residuals: make([]float64, m), Iterations: make([]int, m)}}
	if r.m == nil {
		r.m = identity{}
	}
	r.norms = columnNorms(b)
	for j, v := range r.norms {
		if math.IsInf(v, 1) {
			return nil, fmt.Errorf("cg: the norm of right-hand side %d overflows", j)
		}
	}

	// A singular system has a solution only for right-hand sides on the complement.
	if null != nil {
		r.b = mat.DenseCopyOf(b)
		c := project(r.b, null)
		if !p.Project {
			if err := checkNull(c, r.norms, min(p.Tolerance, nullLimit)); err != nil {
				return nil, err
			}
		}
		r.dropRounding()
	}

	if p.Start != nil {
		r.out.X.Copy(p.Start)
		if null != nil {
			project(r.out.X, null)
		}
	}

	var err error
	if p.External == nil {
		err = r.iterations(ctx)
	} else if err = r.external(ctx); err != nil {
		return nil, err
	}

	// Recomputed residuals of all columns decide, not the state of the last block.
	if errors.Is(err, ErrNotConverged) || err == nil {
		err = nil
		left := 0
		for _, v := range r.out.Residuals {
			if !(v <= p.Tolerance) {
				left++
			}
		}
		if left > 0 {
			err = fmt.Errorf("%w: %d of %d columns have relative residuals up to %.3g after %d "+
				"iterations, tolerance %g", ErrNotConverged, left, m, r.out.MaxResidual(),
				r.out.MaxIterations(), p.Tolerance)
			if e := r.rounding(left); e != nil {
				err = e
			}
		}
	}

	r.finish()
	return r.out, err
}

// rounding returns a [*RoundingError] if rounding explains the residuals of all columns, left of them,
// that are not within the tolerance, and nil if not.
func (r *run) rounding(left int) error {
	if r.Norm == 0 {
		return nil
	}
	e := &RoundingError{Columns: left, Residual: r.out.MaxResidual(), Tolerance: r.Tolerance}
	lengths := columnNorms(r.out.X)
	for j, v := range r.out.Residuals {
		if !(v <= r.Tolerance) {
			e.Backward = math.Max(e.Backward, v*r.norms[j]/(r.Norm*lengths[j]+r.norms[j]))
		}
	}

	if !(e.Backward <= backwardLimit) {
		return nil
	}
	return e
}

// external takes the solution from another program and computes its residuals.
func (r *run) external(ctx context.Context) error {
	x, iterations, err := r.External(ctx, r.b)
	if err != nil {
		return err
	}
	n, m := r.out.X.Dims()
	if rows, cols := x.Dims(); rows != n || cols != m {
		return fmt.Errorf("cg: a solution of %d×%d from another program, want %d×%d", rows, cols, n, m)
	}
	if i, j, bad := firstNotFinite(x); bad {
		return fmt.Errorf("cg: row %d, column %d of the solution from another program is %v", i, j,
			x.At(i, j))
	}

	r.out.X.Copy(x)
	// Any solution of a singular system serves; take the one on the complement.
	if r.null != nil {
		project(r.out.X, r.null)
	}
	for j := range r.out.Iterations {
		r.out.Iterations[j] = iterations
	}
	r.finish()
	return nil
}

// iterations solves by conjugate gradients, on the core of the system first if it has one.
func (r *run) iterations(ctx context.Context) error {
	if r.core == nil || r.Start != nil {
		return r.blocks(ctx)
	}
	r.started = true
	if err := r.onCore(ctx); err != nil {
		return err
	}

	// The whole system has the last word.
	before := slices.Clone(r.out.Iterations)
	clear(r.out.Iterations)
	rest := *r.plan
	rest.MaxIterations = max(0, rest.MaxIterations-slices.Max(before))
	r.plan = &rest
	err := r.blocks(ctx)
	for j, k := range before {
		r.out.Iterations[j] += k
	}
	return err
}

// nullLimit is the share of a right-hand side along a null vector that passes for
// rounding.
const nullLimit = 1e-10

// dropRounding sets columns of b to zero that were combinations of null vectors: after the
// projection they hold rounding errors only.
func (r *run) dropRounding() {
	rest := columnNorms(r.b)
	for j, v := range rest {
		if v > 1e-14*r.norms[j] {
			r.norms[j] = v
			continue
		}
		r.norms[j] = 0
		for i := range r.n {
			r.b.Set(i, j, 0)
		}
	}
}

// blocks solves one block of columns after the other.
func (r *run) blocks(ctx context.Context) error {
	var failure error
	for from := 0; from < r.cols; from += r.Block {
		r.from = from
		r.to = min(from+r.Block, r.cols)
		r.cycle = 0
		r.worst = math.Inf(1)
		r.state = State{From: r.from, To: r.to, Columns: r.cols, Products: r.out.Products}
		if err := r.solveBlock(ctx); errors.Is(err, ErrNotConverged) {
			failure = err
		} else if err != nil {
			return err
		}
	}

	return failure
}

// solveBlock solves columns [from, to): cycles of iterations until the true residuals
// are within the tolerance or no longer fall.
func (r *run) solveBlock(ctx context.Context) error {
	defer func() {
		r.q = nil
		r.p = nil
		r.c = nil
		r.ap = nil
		r.z = nil
		r.spare = nil
	}()

	for {
		if left, err := r.begin(); err != nil || left == 0 {
			return err
		}
		if err := r.iterate(ctx); err != nil {
			return err
		}
	}
}

// begin starts a cycle from the true residuals and returns the number of columns
// that are not within the tolerance. It is 0 if the block is solved.
func (r *run) begin() (left int, err error) {
	res := r.residuals(r.from, r.to)
	norms := columnNorms(res)
	r.active = r.active[:0]
	r.scale = r.scale[:0]
	worst := 0.0
	for j, v := range norms {
		column := r.from + j
		if r.norms[column] == 0 {
			r.clear(column)
			continue
		}
		relative := v / r.norms[column]
		r.out.Residuals[column] = relative
		r.known[column] = true
		if !(relative <= r.Tolerance) {
			r.active = append(r.active, j)
			r.scale = append(r.scale, v)
			worst = math.Max(worst, relative)
			r.out.Iterations[column] = r.state.Iteration
		}
	}

	if len(r.active) == 0 {
		return 0, nil
	}
	// A cycle that does not halve the worst residual has reached rounding.
	if !(worst < r.worst/2) || r.state.Iteration >= r.MaxIterations || math.IsInf(worst, 1) {
		return 0, ErrNotConverged
	}
	r.worst = worst
	r.cycle++
	r.out.Cycles = max(r.out.Cycles, r.cycle)
	w := gather(res, r.active, r.scale)
	if r.null != nil {
		project(w, r.null)
	}
	k := len(r.active)
	r.met = make([]bool, k)
	r.q = w
	r.p = nil
	r.c = mat.NewDense(k, k, nil)
	for j := range k {
		r.c.Set(j, j, 1)
	}
	return k, r.turn()
}

// clear makes column j of the solution zero.
func (r *run) clear(j int) {
	for i := range r.n {
		r.out.X.Set(i, j, 0)
	}
	r.out.Residuals[j] = 0
	r.known[j] = true
}

// residuals returns B − A·X for columns [from, to).
func (r *run) residuals(from, to int) *mat.Dense {
	b := columns(r.b, from, to)
	if r.cycle == 0 && r.Start == nil && !r.started && r.state.Iteration == 0 {
		return b // X is zero
	}
	x := columns(r.out.X, from, to)
	res := mat.NewDense(r.n, to-from, nil)
	r.a.MulTo(res, x)
	r.out.Products += to - from
	par.For(r.n, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := res.RawRowView(i)
			for j, v := range b.RawRowView(i) {
				row[j] = v - row[j]
			}
		}
	})

	return res
}

// finish recomputes the residuals that are not known.
func (r *run) finish() {
	for from := 0; from < r.cols; from += r.Block {
		to := min(from+r.Block, r.cols)
		all := true
		for j := from; j < to; j++ {
			all = all && r.known[j]
		}
		if all {
			continue
		}
		r.cycle = 1 // so that X counts

		for j, v := range columnNorms(r.residuals(from, to)) {
			if r.norms[from+j] == 0 {
				r.clear(from + j)
			} else {
				r.out.Residuals[from+j] = v / r.norms[from+j]
			}
		}
	}
}

// iterate iterates until every active column is estimated to be within the
// tolerance, or the directions fail.
func (r *run) iterate(ctx context.Context) error {
	for r.state.Iteration < r.MaxIterations {
		if err := ctx.Err(); err != nil {
			return err
		}
		ok, err := r.step()
		if err != nil || !ok {
			return err
		}

		if r.OnIteration != nil {
			if err := r.OnIteration(r.state); err != nil {
				return err
			}
		}

		if r.state.Residual <= r.Tolerance {
			return nil
		}
		if err := r.turn(); err != nil {
			return err
		}
	}

	return nil
}

// block returns x if it has k columns and a new block if not.
func (r *run) block(x *mat.Dense, k int) *mat.Dense {
	if x == nil || x.RawMatrix().Cols != k {
		return dense.New(r.n, k)
	}
	return x
}

// step updates X and the residuals, and estimates their norms. It returns false
// if the directions are too nearly dependent to go on.
func (r *run) step() (bool, error) {
	_, k := r.p.Dims()
	r.ap = r.block(r.ap, k)
	r.a.MulTo(r.ap, r.p)
	r.out.Products += k
	h := gram(r.p, r.ap)
	one := mat.NewDense(k, k, nil)
	for i := range k {
		one.Set(i, i, 1)
	}
	s, ok := divide(h, one)
	if !ok {
		return false, r.breakdown(h, r.p, false)
	}

	// X ← X + P·S·C, W = Q − A·P·S
	active := mat.NewDense(k, len(r.active), nil)
	mul(1, s, r.c, 0, active)
	move := mat.NewDense(k, r.to-r.from, nil)
	for q, j := range r.active {
		r.known[r.from+j] = false
		for i := range k {
			move.Set(i, j, active.At(i, q)*r.scale[q])
		}
	}

	mul(1, r.p, move, 1, columns(r.out.X, r.from, r.to))
	mul(-1, r.ap, s, 1, r.q)
	r.state.Iteration++
	r.state.Products = r.out.Products
	r.estimate()
	return true, nil
}

// estimate computes the norms of the residuals W·C from WᵀW.
func (r *run) estimate() {
	g := gram(r.q, r.q)
	k, b := r.c.Dims()
	gc := mat.NewDense(k, b, nil)
	mul(1, g, r.c, 0, gc)
	r.state.Residual = 0
	done := r.to - r.from - len(r.active)
	// Columns of the blocks before count too.
	for _, v := range r.out.Residuals[:r.from] {
		if v <= r.Tolerance {
			done++
		}
	}

	for q, j := range r.active {
		var sum float64
		for i := range k {
			sum += r.c.At(i, q) * gc.At(i, q)
		}
		column := r.from + j
		relative := math.Sqrt(math.Max(0, sum)) * (r.scale[q] / r.norms[column])
		r.state.Residual = math.Max(r.state.Residual, relative)
		if !r.met[q] {
			r.out.Iterations[column] = r.state.Iteration
			r.met[q] = relative <= r.Tolerance
		}
		if relative <= r.Tolerance {
			done++
		}
	}

	r.state.Converged = done
}

// turn makes the next block of directions from W, which is in q: WᵀM⁻¹W = ξᵀξ, Q ← W·ξ⁻¹, P ← Z·ξ⁻¹
// + P·ξᵀ, C ← ξ·C. Directions below rounding are dropped.
func (r *run) turn() error {
	_, k := r.q.Dims()
	r.z = r.block(r.z, k)
	// Rounding makes the block drift into the null space.
	if r.null != nil {
		project(r.q, r.null)
	}
	r.m.ApplyTo(r.z, r.q)
	if r.null != nil {
		project(r.z, r.null)
	}
	g := gram(r.q, r.z)
	xi, t, bad := factor(g)
	if bad >= 0 {
		return r.breakdown(g, r.q, true)
	}

	rank, _ := xi.Dims()
	q := r.block(r.ap, rank)
	p := r.block(r.spare, rank)
	c := mat.NewDense(rank, len(r.active), nil)
	mul(1, r.q, t, 0, q)
	mul(1, r.z, t, 0, p)
	if r.p != nil {
		mul(1, r.p, mat.DenseCopyOf(xi.T()), 1, p)
	}
	mul(1, xi, r.c, 0, c)
	r.ap = r.q
	r.q = q
	r.spare = r.p
	r.p = p
	r.c = c
	return nil
}

// breakdown returns a *BreakdownError for the Gram matrix g = xᵀAx, or xᵀM⁻¹x, if
// it is not finite or indefinite beyond rounding, and nil if the columns of x are
// only too nearly dependent.
func (r *run) breakdown(g, x *mat.Dense, preconditioner bool) error {
	k, _ := g.Dims()
	u := mat.NewDense(k, 1, nil)
	h := mat.NewDense(k, k, nil)
	bad := -1
	for i := range k {
		for j := range k {
			h.Set(i, j, (g.At(i, j)+g.At(j, i))/2/math.Sqrt(g.At(i, i)*g.At(j, j)))
		}
		if d := g.At(i, i); bad < 0 && (!(d > 0) || math.IsInf(d, 1)) {
			bad = i
		}
	}

	// A direction with a curvature that is not positive: a unit vector, or the eigenvector of the
	// scaled Gram matrix with a negative eigenvalue.
	if bad >= 0 {
		u.Set(bad, 0, 1)
	} else {
		values, vectors, err := dense.EigenSym(context.Background(), h)
		if err != nil || values[0] > -1e-10 {
			return nil
		}
		for i := range k {
			u.Set(i, 0, vectors.At(i, 0)/math.Sqrt(g.At(i, i)))
		}
	}

	e := &BreakdownError{Preconditioner: preconditioner, Iteration: r.state.Iteration}
	gu := mat.NewDense(k, 1, nil)
	mul(1, g, u, 0, gu)
	p := mat.NewDense(r.n, 1, nil)
	mul(1, x, u, 0, p)
	e.Curvature = gram(u, gu).At(0, 0)
	e.Norm = columnNorms(p)[0]
	// The right-hand side with the largest share of the direction.
	share := gram(u, r.c)
	largest := 0
	for q := range r.active {
		if math.Abs(share.At(0, q)) > math.Abs(share.At(0, largest)) {
			largest = q
		}
	}

	e.Column = r.from + r.active[largest]
	return e
}
