package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
)

// OutputQP is the dual of support vector classifiers for n labels at l points that share the norm of one kernel,
//
//	𝒢 = Σ_q θ_q K_q ⊗ u_q u_qᵀ,
//
// which minimize ½ ‖f‖² + Σ_c C_c Σ_i (1 − y_ic (f_c(x_i) + b_c))₊ over the entries of Y that are known. In
// v of l×n it is
//
//	minimize ½ Σ_q θ_q (Vu_q)ᵀK_q(Vu_q) − Σ y_ic v_ic   over 0 ≤ y_ic v_ic ≤ C_c with Σ_i v_ic = 0 for each c,
//
// and v_ic = 0 where y_ic is missing. f has the values F = Σ_q θ_q K_q V u_q u_qᵀ at the points.
type OutputQP struct {
	Grams   []*mat.Dense // K_q, l×l, symmetric and positive semidefinite; one may stand for several q
	Theta   []float64    // θ_q, not negative
	Vectors *mat.Dense   // U, n rows, a column u_q for each θ
	Y       *mat.Dense   // l×n of ±1; NaN is missing
	Bounds  []float64    // C_c
}

// OutputQPResult of [OutputQP.Solve].
type OutputQPResult struct {
	V          *mat.Dense // l×n
	Intercepts []float64  // b_c that make the hinges least for V
	// Violation is the largest of any label: see [SMOResult].
	Violation float64
	// Gap is the primal minus the dual objective, as a share of the dual one.
	Gap    float64
	Sweeps int
}

const (
	// outputSweeps ends programs that creep; some tens of sweeps are usual.
	outputSweeps = 1000
	// outputSteps of conjugate gradients follow a sweep at most.
	outputSteps = 30
)

// Solve takes one label after the other, the others held: a program in l variables with the matrix
// Σ_q θ_q u_qc² K_q, by [SMO] from where the label stands. Blocks with constraints of their own make such sweeps
// converge at a linear rate (Z.-Q. Luo and P. Tseng, On the convergence of the coordinate descent method for convex
// differentiable minimization, J. Optim. Theory Appl. 72 (1992), 7–35), slowly where labels are much alike. So after
// each the variables of all labels that are between their bounds are improved together, the others held, by conjugate
// gradients as far as the first bound (J. J. Moré and G. Toraldo, On the solution of large quadratic programming
// problems with bound constraints, SIAM J. Optim. 1 (1991), 93–113). The rounds end when no label violates its
// optimality conditions by more than s.Tolerance, by default 1e-3.
//
// A round costs (4n + 2·30) Q l² operations at most, Q being the number of θ, and the steps of SMO. A matrix of l×l
// and six of l×n are held beside the K_q. With [ErrNotConverged] the result is the last iterate.
func (p *OutputQP) Solve(ctx context.Context, s *SMOSettings) (*OutputQPResult, error) {
	filled := SMOSettings{Tolerance: 1e-3}
	if s != nil {
		filled = *s
	}
	if err := p.check(); err != nil {
		return nil, err
	}

	r := newOutputRun(p)
	alone := filled
	alone.Tolerance /= 4 // what the other labels move it by comes on top
	out := &OutputQPResult{V: r.v}
	var unfinished error
	for out.Sweeps = 1; ; out.Sweeps++ {
		unfinished = nil
		for c := range p.Bounds {
			err := r.label(ctx, c, &alone)
			if err != nil && !errors.Is(err, ErrNotConverged) {
				return nil, err
			}
			unfinished = errors.Join(unfinished, err)
		}

		out.Violation = r.violation()
		if out.Violation <= filled.Tolerance || out.Sweeps == outputSweeps {
			break
		}
		if err := r.face(ctx); err != nil {
			return nil, err
		}
	}

	// The changes of F have summed up rounding errors.
	r.multiply()
	out.Violation = r.violation()
	out.Intercepts, out.Gap = r.gap()
	// What a sum anew brings to light is rounding.
	if out.Violation > 2*filled.Tolerance && unfinished == nil {
		unfinished = fmt.Errorf("%w: a violation of %.3g after %d sweeps over the labels, %.3g is allowed; the "+
			"duality gap is %.1e of the objective", ErrNotConverged, out.Violation, out.Sweeps, filled.Tolerance, out.Gap)
	}
	return out, unfinished
}

// check returns an error unless the parts of p fit together.
func (p *OutputQP) check() error {
	l, n := p.Y.Dims()
	rows, columns := p.Vectors.Dims()
	if rows != n || columns != len(p.Theta) || len(p.Grams) != len(p.Theta) || len(p.Bounds) != n {
		return fmt.Errorf("solvers: %d matrices, %d eigenvalues, %d×%d eigenvectors and %d bounds for %d labels",
			len(p.Grams), len(p.Theta), rows, columns, len(p.Bounds), n)
	}
	for _, k := range p.Grams {
		if r, c := k.Dims(); r != l || c != l {
			return fmt.Errorf("solvers: a matrix of %d×%d for %d points", r, c, l)
		}
	}
	return nil
}

// outputRun is the state of [OutputQP.Solve].
type outputRun struct {
	*OutputQP
	v, f    *mat.Dense  // V and F
	targets [][]float64 // columns of Y, with 0 for what is missing
	block   *mat.Dense  // Σ_q θ_q u_qc² K_q of one label
}

func newOutputRun(p *OutputQP) *outputRun {
	l, n := p.Y.Dims()
	r := &outputRun{OutputQP: p, v: mat.NewDense(l, n, nil), f: mat.NewDense(l, n, nil),
		block: mat.NewDense(l, l, nil)}
	for c := range n {
		y := mat.Col(nil, c, p.Y)
		for i, v := range y {
			if math.IsNaN(v) {
				y[i] = 0 // the bounds of v are 0 then
			}
		}
		r.targets = append(r.targets, y)
	}
	return r
}

// label minimizes over the variables of label c, and moves F along.
func (r *outputRun) label(ctx context.Context, c int, s *SMOSettings) error {
	r.block.Zero()
	for q, k := range r.Grams {
		if weight := r.Theta[q] * r.Vectors.At(c, q) * r.Vectors.At(c, q); weight > 0 {
			dense.AddScaled(r.block, 1, weight, k)
		}
	}

	// The other labels are a linear term: F without what the label gives itself.
	before := mat.Col(nil, c, r.v)
	own := mat.NewVecDense(len(before), nil)
	own.MulVec(r.block, mat.NewVecDense(len(before), before))
	program := ClassificationQP(DenseRows(r.block), r.targets[c], r.Bounds[c])
	program.Start = before
	for i := range program.Linear {
		program.Linear[i] += r.f.At(i, c) - own.AtVec(i)
	}

	found, err := SMO(ctx, program, s)
	if found == nil {
		return err
	}
	r.v.SetCol(c, found.V)
	r.move(c, before, found.V)
	return err
}

// move adds to F what a change of the variables of label c brings to all labels.
func (r *outputRun) move(c int, before, after []float64) {
	l, n := r.f.Dims()
	change := mat.NewVecDense(l, nil)
	for i, v := range after {
		change.SetVec(i, v-before[i])
	}
	product := mat.NewVecDense(l, nil)
	for q, k := range r.Grams {
		weight := r.Theta[q] * r.Vectors.At(c, q)
		if weight == 0 {
			continue
		}
		product.MulVec(k, change)
		for i := range l {
			row := r.f.RawRowView(i)
			for d := range n {
				row[d] += weight * r.Vectors.At(d, q) * product.AtVec(i)
			}
		}
	}
}

// multiply sums F anew.
func (r *outputRun) multiply() { r.productTo(r.f, r.v) }

// productTo sets dst = Σ_q θ_q K_q X u_q u_qᵀ, 2Q l² operations.
func (r *outputRun) productTo(dst, x *mat.Dense) {
	l, n := x.Dims()
	dst.Zero()
	part := mat.NewVecDense(l, nil)
	for q, k := range r.Grams {
		if r.Theta[q] == 0 {
			continue
		}
		u := mat.VecDenseCopyOf(r.Vectors.ColView(q))
		part.MulVec(x, u)
		part.MulVec(k, mat.VecDenseCopyOf(part))
		for i := range l {
			row := dst.RawRowView(i)
			for c := range n {
				row[c] += r.Theta[q] * part.AtVec(i) * u.AtVec(c)
			}
		}
	}
}

// face improves the variables between their bounds by conjugate gradients, the sums of every label held, and stops
// at the first bound that is met, or where the slopes are a tenth of what they were.
func (r *outputRun) face(ctx context.Context) error {
	l, n := r.v.Dims()
	residual := mat.NewDense(l, n, nil)
	for i := range l {
		for c := range n {
			residual.Set(i, c, r.targets[c][i]-r.f.At(i, c))
		}
	}
	r.project(residual)
	direction := mat.DenseCopyOf(residual)
	product := mat.NewDense(l, n, nil)
	first := inner(residual, residual)
	square := first
	for step := 0; step < outputSteps && square > first/100; step++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.productTo(product, direction)
		curvature := inner(direction, product)
		length, met := r.reach(direction)
		if best := square / curvature; curvature > 0 && best < length {
			length, met = best, false
		}
		if math.IsInf(length, 1) {
			return nil // no slope and no bound
		}

		dense.AddScaled(r.v, 1, length, direction)
		dense.AddScaled(r.f, 1, length, product)
		if met {
			r.clip()
			return nil
		}
		r.project(product)
		dense.AddScaled(residual, 1, -length, product)
		next := inner(residual, residual)
		dense.AddScaled(direction, next/square, 1, residual)
		square = next
	}
	return nil
}

// limits are the bounds of variable i of label c.
func (r *outputRun) limits(i, c int) (lower, upper float64) {
	bound := r.targets[c][i] * r.Bounds[c]
	return min(0, bound), max(0, bound)
}

// project sets x to zero at variables on their bounds, and the mean of the others of every label to zero.
func (r *outputRun) project(x *mat.Dense) {
	l, n := x.Dims()
	for c := range n {
		var sum float64
		var free []int
		for i := range l {
			lower, upper := r.limits(i, c)
			if v := r.v.At(i, c); lower < v && v < upper {
				free = append(free, i)
				sum += x.At(i, c)
				continue
			}
			x.Set(i, c, 0)
		}
		for _, i := range free {
			x.Set(i, c, x.At(i, c)-sum/float64(len(free)))
		}
	}
}

// reach returns the longest step along a direction that keeps all bounds, and whether there is one.
func (r *outputRun) reach(direction *mat.Dense) (length float64, met bool) {
	l, n := direction.Dims()
	length = math.Inf(1)
	for i := range l {
		for c, d := range direction.RawRowView(i)[:n] {
			lower, upper := r.limits(i, c)
			switch v := r.v.At(i, c); {
			case d > 0:
				length = min(length, (upper-v)/d)
			case d < 0:
				length = min(length, (lower-v)/d)
			}
		}
	}
	return length, !math.IsInf(length, 1)
}

// clip takes variables that rounding has put at or beyond a bound to it.
func (r *outputRun) clip() {
	l, n := r.v.Dims()
	for i := range l {
		for c := range n {
			lower, upper := r.limits(i, c)
			near := 1e-14 * r.Bounds[c]
			switch v := r.v.At(i, c); {
			case v < lower+near:
				r.v.Set(i, c, lower)
			case v > upper-near:
				r.v.Set(i, c, upper)
			}
		}
	}
}

// inner returns Σ x_ic y_ic.
func inner(x, y *mat.Dense) float64 {
	var sum float64
	rows, _ := x.Dims()
	for i := range rows {
		to := y.RawRowView(i)
		for c, v := range x.RawRowView(i) {
			sum += v * to[c]
		}
	}
	return sum
}

// violation returns the largest of any label: the greatest slope downwards minus the least slope upwards.
func (r *outputRun) violation() float64 {
	most := 0.0
	for c, y := range r.targets {
		rise, fall := math.Inf(1), math.Inf(-1)
		for i, t := range y {
			slope := r.f.At(i, c) - t
			v := r.v.At(i, c)
			lower, upper := r.limits(i, c)
			if v < upper {
				rise = min(rise, slope)
			}
			if v > lower {
				fall = max(fall, slope)
			}
		}
		most = max(most, fall-rise)
	}
	return most
}

// gap returns the intercepts that make the hinges least for F, and the duality gap as a share of the dual objective.
func (r *outputRun) gap() (intercepts []float64, gap float64) {
	var primal, dual float64
	for c, y := range r.targets {
		f := mat.Col(nil, c, r.f)
		b := bestIntercept(y, f)
		intercepts = append(intercepts, b)
		for i, t := range y {
			v := r.v.At(i, c)
			primal += v * f[i] / 2
			dual += t*v - v*f[i]/2
			if t != 0 {
				primal += r.Bounds[c] * max(0, 1-t*(f[i]+b))
			}
		}
	}
	if dual > 0 {
		gap = max(0, primal-dual) / dual
	}
	return intercepts, gap
}

// bestIntercept returns the b that minimizes Σ (1 − y_i(f_i + b))₊ over y_i ≠ 0, the middle of all that do. The
// slope is minus the number of y = 1 for small b, and grows by one at each b = y_i − f_i.
func bestIntercept(y, f []float64) float64 {
	var breaks []float64
	positive := 0
	for i, t := range y {
		if t == 0 {
			continue
		}
		breaks = append(breaks, t-f[i])
		if t > 0 {
			positive++
		}
	}
	// With one sign alone all b beyond the last break do as well.
	slices.Sort(breaks)
	switch {
	case len(breaks) == 0:
		return 0
	case positive == 0:
		return breaks[0]
	case positive == len(breaks):
		return breaks[positive-1]
	}
	return (breaks[positive-1] + breaks[positive]) / 2
}
