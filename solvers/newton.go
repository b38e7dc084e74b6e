package solvers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// Design is an l×d matrix X with a point a row, given by its products with
// blocks; safe for concurrent use. dst must not overlap the other block.
type Design interface {
	Dims() (l, d int)
	// MulTo sets dst = X·w, l×m from d×m.
	MulTo(dst, w *mat.Dense)
	// MulTransTo sets dst = Xᵀ·r, d×m from l×m.
	MulTransTo(dst, r *mat.Dense)
}

// NewtonProblem is the minimization of
//
//	½ wᵀHw + C Σ_i c_i V(y_i (x_iᵀw + b))
//
// over w and b, once for every column of Y.
type NewtonProblem struct {
	X Design     // l×d
	Y *mat.Dense // l×m of −1 and +1
	// Operator and Ridge make H = Operator + Ridge·I, which must be positive
	// definite. A nil Operator is zero.
	Operator sparse.Operator
	Ridge    float64
	C        float64
	// Weights are the l factors c_i, none negative and not all zero. Nil is 1
	// for every point.
	Weights []float64
	Loss    Loss
	// Width is the h of HuberizedHinge.
	Width float64
	// Diagonal, if not nil, has d positive entries near the diagonal of the
	// Hessian, H plus C·c·V”-weighted squares of X, by which the conjugate
	// gradients are preconditioned.
	Diagonal []float64
}

// NewtonSettings of [Newton].
type NewtonSettings struct {
	// Tolerance is the norm of the gradient in (w, b), relative to that at
	// w = 0, b = 0, at which a column is done. Default 1e-8.
	Tolerance float64
	// MaxIterations bounds the Newton steps. Default 200.
	MaxIterations int
	// MaxInner bounds the conjugate gradient steps of one Newton step. Default
	// 1000.
	MaxInner int
	// StartW (d×m) and StartB (m) are where to begin. Default zero.
	StartW *mat.Dense
	StartB []float64
	// OnIteration, if not nil, is called before every Newton step and once more at
	// the end, on the calling goroutine. An error stops the run.
	OnIteration func(NewtonState) error
}

// NewtonState describes an iteration to [NewtonSettings.OnIteration].
type NewtonState struct {
	Iteration          int     // Newton steps taken
	Columns, Converged int     // of Y, and those that are done
	Gradient           float64 // the largest norm of a gradient, relative to that at zero
}

// String says in a few words how far the run is.
func (s NewtonState) String() string {
	return fmt.Sprintf("iteration %d, gradient %.1e, %d of %d columns", s.Iteration, s.Gradient, s.Converged,
		s.Columns)
}

// NewtonResult is the result of [Newton], with a column of W and an entry of each slice for every
// column of Y. Objective and Gradient are computed at W and B, from the definition.
type NewtonResult struct {
	W         *mat.Dense // d×m
	B         []float64
	Objective []float64
	Gradient  []float64 // norm, relative to that at zero
	// Iterations counts the Newton steps, and Products the products with the Hessian, each for all
	// columns still open.
	Iterations, Products int
}

func (s NewtonSettings) fill() NewtonSettings {
	if s.Tolerance == 0 {
		s.Tolerance = 1e-8
	}
	if s.MaxIterations == 0 {
		s.MaxIterations = 200
	}
	if s.MaxInner == 0 {
		s.MaxInner = 1000
	}
	return s
}

func (p *NewtonProblem) check(s *NewtonSettings) error {
	var faults []error
	fault := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("solvers: "+format, args...))
		}
	}

	l, d := p.X.Dims()
	rows, m := p.Y.Dims()
	fault(rows == l, "targets for %d of %d points", rows, l)
	fault(p.Operator == nil || p.Operator.Dim() == d, "the quadratic form is not of dimension %d", d)
	fault(p.Ridge >= 0 && (p.Ridge > 0 || p.Operator != nil),
		"ridge %v; the quadratic form must be positive definite", p.Ridge)
	fault(p.C > 0 && !math.IsInf(p.C, 0), "C is %v; it must be positive", p.C)
	fault(p.Weights == nil || len(p.Weights) == l, "%d weights for %d points", len(p.Weights), l)
	heavy := p.Weights == nil
	for i, v := range p.Weights {
		if !(v >= 0) || math.IsInf(v, 1) {
			fault(false, "weight %v of point %d; it must be finite and not negative", v, i)
			break
		}
		heavy = heavy || v > 0
	}

	fault(heavy, "no point has a positive weight")
	fault(losses.Valid(p.Loss), "loss %v", p.Loss)
	fault(p.Loss != HuberizedHinge || p.Width > 0 && p.Width <= 1,
		"width %v of the Huberized hinge; it must be positive and at most 1", p.Width)
	fault(p.Diagonal == nil || len(p.Diagonal) == d, "%d diagonal entries for dimension %d",
		len(p.Diagonal), d)
	for i, v := range p.Diagonal {
		if !(v > 0) || math.IsInf(v, 1) {
			fault(false, "diagonal entry %d is %v; it must be positive", i, v)
			break
		}
	}

	fault(s.Tolerance > 0 && s.Tolerance < 1, "tolerance %v; it must be between 0 and 1", s.Tolerance)
	fault(s.MaxIterations > 0 && s.MaxInner > 0, "limits of %d and %d iterations; they must be positive",
		s.MaxIterations, s.MaxInner)
	if s.StartW != nil {
		r, c := s.StartW.Dims()
		fault(r == d && c == m, "the start is %d×%d for %d×%d", r, c, d, m)
	}

	// Of many targets the first fault says enough.
	fault(s.StartB == nil || len(s.StartB) == m, "a start of %d intercepts for %d", len(s.StartB), m)
	for i := range rows {
		for _, v := range p.Y.RawRowView(i) {
			if v != 1 && v != -1 {
				return errors.Join(append(faults,
					fmt.Errorf("solvers: target %v of point %d; it must be −1 or 1", v, i))...)
			}
		}
	}

	return errors.Join(faults...)
}

// Newton minimizes p. A step solves the quadratic model at the present pieces of the loss, on the
// points with V″ > 0, by conjugate gradients with b eliminated, to a relative residual that falls
// with the gradient. Then it minimizes the true objective along the step exactly. As the loss is
// piecewise quadratic, the steps end in a finite number if the systems are solved exactly (Keerthi
// & DeCoste 2005, theorem 1). All columns go on together until each is done, so that products are
// with blocks.
//
// A nil s means the defaults. On [ErrNotConverged], a cancelled ctx or an error of OnIteration the
// result is the last iterate; on invalid input it is nil. A product with the Hessian costs one with
// each of Operator, X and Xᵀ; memory is about six d×m and four l×m blocks.
func Newton(ctx context.Context, p *NewtonProblem, s *NewtonSettings) (*NewtonResult, error) {
	if s == nil {
		s = &NewtonSettings{}
	}
	filled := s.fill()
	if err := p.check(&filled); err != nil {
		return nil, err
	}
	l, d := p.X.Dims()
	_, m := p.Y.Dims()
	n := &newton{NewtonProblem: p, NewtonSettings: filled, loss: p.Loss.pieces(p.Width), l: l, d: d}
	res := &NewtonResult{W: mat.NewDense(d, m, nil), B: make([]float64, m), Objective: make([]float64, m),
		Gradient: make([]float64, m)}
	if s.StartW != nil {
		res.W.Copy(s.StartW)
	}
	copy(res.B, s.StartB)
	for j := range m {
		n.open = append(n.open, j)
	}
	zero := n.evaluate(mat.NewDense(d, m, nil), make([]float64, m))

	var failed []float64 // gradients of the columns given up
	for len(n.open) > 0 {
		// Columns with a small gradient are done and leave the blocks.
		w := columns(res.W, n.open)
		b := pick(res.B, n.open)
		at := n.evaluate(w, b)
		var open, keep []int
		for k, j := range n.open {
			res.Objective[j] = at.objective[k]
			res.Gradient[j] = 0
			if at.norm[k] > 0 {
				res.Gradient[j] = at.norm[k] / zero.norm[j]
			}
			if !(res.Gradient[j] <= n.Tolerance) {
				open = append(open, j)
				keep = append(keep, k)
			}
		}

		if err := n.tell(res, len(open)+len(failed)); err != nil {
			return res, err
		}
		if len(open) == 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return res, err
		}
		if res.Iterations == n.MaxIterations {
			failed = append(failed, pick(res.Gradient, open)...)
			break
		}

		if len(open) < len(n.open) {
			at = at.keep(keep)
			w = columns(w, keep)
			b = pick(b, keep)
			n.open = open
		}

		// A Newton step for all open columns. A column that cannot descend any further is given up.
		res.Iterations++
		dw, db, products, err := n.direction(ctx, at, pick(res.Gradient, open))
		res.Products += products
		if err != nil {
			return res, err
		}
		t := n.steps(at, w, dw, db)
		addScaled(w, t, dw)
		n.open = nil
		for k, j := range open {
			if t[k] == 0 {
				failed = append(failed, res.Gradient[j])
				continue
			}
			res.B[j] = b[k] + t[k]*db[k]
			for i := range d {
				res.W.Set(i, j, w.At(i, k))
			}
			n.open = append(n.open, j)
		}
	}

	if len(failed) > 0 {
		return res, fmt.Errorf("%w: after %d Newton steps the gradient is %.2e of that at zero, "+
			"tolerance %.2e; raise the tolerance or the limit of iterations",
			ErrNotConverged, res.Iterations, slices.Max(failed), n.Tolerance)
	}
	return res, nil
}

// tell calls OnIteration.
func (n *newton) tell(res *NewtonResult, unfinished int) error {
	if n.OnIteration == nil {
		return nil
	}
	m := len(res.B)
	return n.OnIteration(NewtonState{res.Iterations, m, m - unfinished, slices.Max(res.Gradient)})
}

// newton is a run of Newton.
type newton struct {
	*NewtonProblem
	NewtonSettings
	loss pieces
	l, d int
	open []int // columns of Y at work; blocks have a column for each
}

// point holds the objective and its derivatives at the iterates of the open columns.
type point struct {
	margin, slope, curve *mat.Dense // l×m: y·f, and y·c·V' and c·V'' there
	gw                   *mat.Dense // d×m, gradient in w
	gb                   []float64  // and in b
	objective, norm      []float64  // norm of the gradient
}

// keep returns the given columns of at.
func (at *point) keep(k []int) *point {
	return &point{columns(at.margin, k), columns(at.slope, k), columns(at.curve, k), columns(at.gw, k),
		pick(at.gb, k), pick(at.objective, k), pick(at.norm, k)}
}

// quadratic sets dst = H·x.
func (n *newton) quadratic(dst, x *mat.Dense) {
	if n.Operator == nil {
		dst.Scale(n.Ridge, x)
		return
	}
	n.Operator.MulTo(dst, x)
	if n.Ridge > 0 {
		_, m := x.Dims()
		ridge := make([]float64, m)
		for j := range ridge {
			ridge[j] = n.Ridge
		}
		addScaled(dst, ridge, x)
	}
}

// rowGrain is the number of rows of a block in one parallel chunk.
const rowGrain = 512

// weight returns c_i.
func (n *newton) weight(i int) float64 {
	if n.Weights == nil {
		return 1
	}
	return n.Weights[i]
}

// evaluate computes objective and gradient at w, b from their definition.
func (n *newton) evaluate(w *mat.Dense, b []float64) *point {
	m := len(n.open)
	at := &point{margin: mat.NewDense(n.l, m, nil), slope: mat.NewDense(n.l, m, nil),
		curve: mat.NewDense(n.l, m, nil), gw: mat.NewDense(n.d, m, nil)}

	// Values, slopes and curvatures of the loss, in one pass over the margins.
	n.X.MulTo(at.margin, w)
	loss := mat.NewDense(n.l, m, nil)
	par.For(n.l, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y := n.Y.RawRowView(i)
			margin := at.margin.RawRowView(i)
			slope := at.slope.RawRowView(i)
			curve := at.curve.RawRowView(i)
			value := loss.RawRowView(i)
			c := n.weight(i)
			for k, j := range n.open {
				f := y[j] * (margin[k] + b[k])
				q := n.loss.of[n.loss.at(f)]
				margin[k] = f
				slope[k] = c * y[j] * (q.c1 + q.c2*f)
				curve[k] = c * q.c2
				value[k] = c * (q.c0 + f*(q.c1+f*q.c2/2))
			}
		}
	})

	// Gradients in w and b, and the objective.
	at.gb = sums(at.slope)
	at.objective = sums(loss)
	n.X.MulTransTo(at.gw, at.slope)
	hw := mat.NewDense(n.d, m, nil)
	n.quadratic(hw, w)
	at.gw.Scale(n.C, at.gw)
	at.gw.Add(at.gw, hw)
	at.norm = dots(at.gw, at.gw)
	for k, form := range dots(w, hw) {
		at.objective[k] = form/2 + n.C*at.objective[k]
		at.gb[k] *= n.C
		at.norm[k] = math.Sqrt(at.norm[k] + at.gb[k]*at.gb[k])
	}
	return at
}

// direction solves the Newton system at at inexactly, by conjugate gradients in w after b is
// eliminated: for a given dw the best db makes the weighted mean of the model's residuals on the
// points with V″ > 0 vanish. gradient holds the relative norms.
//
// Where a column has no point with V″ > 0, the model has no curvature in b. Then every point with
// V' ≠ 0 takes the largest V″ of the loss: an upper bound, under which the step still descends.
func (n *newton) direction(ctx context.Context, at *point, gradient []float64) (dw *mat.Dense, db []float64,
	products int, err error) {
	m := len(n.open)
	mass := sums(at.curve) // Σ V'' of a column
	for k, v := range mass {
		if v > 0 {
			continue
		}
		for i := range n.l {
			if at.slope.At(i, k) != 0 {
				v := n.weight(i) * n.loss.most
				at.curve.Set(i, k, v)
				mass[k] += v
			}
		}
	}

	u := mat.NewDense(n.l, m, nil)
	part := mat.NewDense(n.d, m, nil)
	// weigh sets u = C V''·(u − shift), with the mean of u for a nil shift.
	weigh := func(shift []float64) {
		if shift == nil {
			shift = weightedMeans(at.curve, u, mass)
		}
		par.For(n.l, rowGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				curve := at.curve.RawRowView(i)
				row := u.RawRowView(i)
				for k := range row {
					row[k] = n.C * curve[k] * (row[k] - shift[k])
				}
			}
		})
	}

	// Right-hand side −g_w + C XᵀV''·g_b/(C mass).
	shift := make([]float64, m)
	for k, v := range mass {
		if v > 0 {
			shift[k] = -at.gb[k] / (n.C * v)
		}
	}

	weigh(shift)
	r := mat.NewDense(n.d, m, nil)
	n.X.MulTransTo(r, u)
	r.Sub(r, at.gw)

	product := func(dst, x *mat.Dense) {
		n.quadratic(dst, x)
		n.X.MulTo(u, x)
		weigh(nil)
		n.X.MulTransTo(part, u)
		dst.Add(dst, part)
	}

	// The forcing terms of an inexact Newton method: the squared relative residual falls with the
	// gradient.
	limit := dots(r, r)
	for k := range limit {
		eta := min(0.1, math.Sqrt(gradient[k]))
		eta = max(eta, 0.1*n.Tolerance/gradient[k]) // no need to be better than the goal
		limit[k] *= eta * eta
	}

	dw, products, err = n.conjugateGradients(ctx, product, r, limit)
	n.X.MulTo(u, dw)
	// db from dw, as eliminated.
	db = weightedMeans(at.curve, u, mass)
	for k := range db {
		db[k] = shift[k] - db[k]
	}
	return dw, db, products, err
}

// conjugateGradients solves product(x) = r for every column from x = 0 until
// ‖residual‖² ≤ limit, or MaxInner. r becomes the residual. Any iterate is a
// direction of descent of the quadratic model.
func (n *newton) conjugateGradients(ctx context.Context, product func(dst, x *mat.Dense), r *mat.Dense,
	limit []float64) (x *mat.Dense, products int, err error) {
	_, m := r.Dims()
	x = mat.NewDense(n.d, m, nil)
	q := mat.NewDense(n.d, m, nil)
	z := n.precondition(nil, r)
	p := mat.DenseCopyOf(z)
	rz := dots(r, z)
	square := dots(r, r)
	alpha := make([]float64, m)
	beta := make([]float64, m)

	// A column that is done keeps α = 0, so that its iterate stays.
	for products < n.MaxInner {
		if err := ctx.Err(); err != nil {
			return x, products, err
		}
		busy := false
		for k := range square {
			busy = busy || square[k] > limit[k]
		}
		if !busy {
			break
		}

		product(q, p)
		products++
		for k, pq := range dots(p, q) {
			alpha[k] = 0
			if square[k] > limit[k] && pq > 0 {
				alpha[k] = rz[k] / pq
			} else {
				limit[k] = math.Inf(1) // done for good
			}
		}

		addScaled(x, alpha, p)
		for k := range alpha {
			alpha[k] = -alpha[k]
		}
		addScaled(r, alpha, q)
		z = n.precondition(z, r)
		square = dots(r, r)
		for k, v := range dots(r, z) {
			beta[k] = 0
			if rz[k] > 0 {
				beta[k] = v / rz[k]
			}
			rz[k] = v
		}

		par.For(n.d, rowGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				to := p.RawRowView(i)
				from := z.RawRowView(i)
				for k := range to {
					to[k] = from[k] + beta[k]*to[k]
				}
			}
		})
	}

	return x, products, nil
}

// precondition returns r divided by Diagonal, in dst if it is not nil. Without Diagonal it returns
// r itself.
func (n *newton) precondition(dst, r *mat.Dense) *mat.Dense {
	if n.Diagonal == nil {
		return r
	}
	if dst == nil {
		dst = mat.NewDense(n.d, len(n.open), nil)
	}
	par.For(n.d, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := dst.RawRowView(i)
			from := r.RawRowView(i)
			for k, v := range from {
				to[k] = v / n.Diagonal[i]
			}
		}
	})

	return dst
}

// steps returns for every column the length of the best step.
func (n *newton) steps(at *point, w, dw *mat.Dense, db []float64) []float64 {
	m := len(n.open)
	h := mat.NewDense(n.d, m, nil)
	n.quadratic(h, dw)

	// Along the step, the quadratic form has the derivative a0 + a2·t.
	a0 := dots(w, h)
	a2 := dots(dw, h)
	u := mat.NewDense(n.l, m, nil)
	n.X.MulTo(u, dw)
	t := make([]float64, m)
	par.For(m, 1, func(k, _ int) {
		margin := make([]float64, n.l)
		s := make([]float64, n.l)
		for i := range n.l {
			margin[i] = at.margin.At(i, k)
			s[i] = n.Y.At(i, n.open[k]) * (u.At(i, k) + db[k])
		}
		t[k] = n.loss.exactStep(a0[k], a2[k], n.C, n.Weights, margin, s)
	})

	return t
}
