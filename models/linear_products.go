package models

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// normOperator is ridge·I + gamma·XᵀLᵖX, multiplied from right to left.
type normOperator struct {
	x            solvers.Design
	l            *sparse.Laplacian
	gamma, ridge float64
}

// norm returns factor·(γ_A I + γ_I s XᵀLᵖX).
func (p *LinearProblem) norm(r Regularizer, factor float64) normOperator {
	n, _ := p.x.Dims()
	return normOperator{p.design, p.l, factor * r.intrinsic(n), factor * r.GammaA}
}

// Dim returns d.
func (o normOperator) Dim() int {
	_, d := o.x.Dims()
	return d
}

// MulTo sets dst to the product with w, for which it holds two n×m blocks.
func (o normOperator) MulTo(dst, w *mat.Dense) {
	if o.gamma == 0 {
		dst.Scale(o.ridge, w)
		return
	}
	n, _ := o.x.Dims()
	_, m := w.Dims()
	f, lf := mat.NewDense(n, m, nil), mat.NewDense(n, m, nil)
	o.x.MulTo(f, w)
	o.l.MulTo(lf, f)
	o.x.MulTransTo(dst, lf)
	addScaled(dst, o.gamma, o.ridge, w)
}

// addScaled sets dst = a·dst + b·w.
func addScaled(dst *mat.Dense, a, b float64, w *mat.Dense) {
	rows, _ := dst.Dims()
	par.For(rows, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := dst.RawRowView(i)
			for j, v := range w.RawRowView(i) {
				to[j] = a*to[j] + b*v
			}
		}
	})
}

// ridgeOperator is X̃ᵀX̃/l + norm, X̃ the labeled points less their mean: what the
// normal equations of least squares are made of.
type ridgeOperator struct {
	normOperator
	labeled inBasis
	l       int
}

// MulTo sets dst to the product with w.
func (o ridgeOperator) MulTo(dst, w *mat.Dense) {
	d, m := w.Dims()
	f, part := mat.NewDense(o.l, m, nil), mat.NewDense(d, m, nil)
	o.labeled.MulTo(f, w)
	o.labeled.MulTransTo(part, f)
	o.normOperator.MulTo(dst, w)
	addScaled(dst, 1, 1/float64(o.l), part)
}

// conjugateGradients solves the equations of normalEquations by products.
func (w *labeledPart) conjugateGradients(ctx context.Context, m, before *Linear) error {
	s := m.Settings
	_, outputs := w.y.Dims()
	labeled := inBasis{x: w.x, mean: w.mean}
	a := ridgeOperator{w.p.norm(s.Regularizer, 1), labeled, w.l}
	b := mat.NewDense(w.d, outputs, nil)
	labeled.MulTransTo(b, w.y)
	b.Scale(1/float64(w.l), b)
	jacobi, err := cg.NewJacobi(w.diagonal(s.Regularizer, 1, 1/float64(w.l)))
	if err != nil {
		return err
	}
	settings := &cg.Settings{Tolerance: s.Tolerance, MaxIterations: s.MaxIterations, Preconditioner: jacobi, Block: outputs}
	if before != nil {
		settings.Start = before.Coefficients
	}
	res, err := cg.Solve(ctx, a, b, settings)
	if res == nil {
		return err
	}
	m.Iterations = res.MaxIterations()
	w.finish(m, res.X)
	return err
}

// newton minimizes over w itself.
func (w *labeledPart) newton(ctx context.Context, m, before *Linear) error {
	r := m.Settings.Regularizer
	curve := 2.0 // V'' of the squared hinge
	if m.Settings.Loss == HuberizedHinge {
		curve = 1 / (2 * m.Settings.Width)
	}
	return w.minimize(ctx, m, before, &solvers.NewtonProblem{
		X: w.x, Operator: w.p.norm(r, 2), Diagonal: w.diagonal(r, 2, curve/float64(w.l)),
	}, inBasis{})
}

// diagonal approximates that of factor·(γ_A I + γ_I s XᵀLᵖX) + weight·X̃ᵀX̃. For
// XᵀLᵖX it takes the diagonal of L to the power p alone, without the edges
// between points of one feature.
func (w *labeledPart) diagonal(r Regularizer, factor, weight float64) []float64 {
	out := make([]float64, w.d)
	addSquares(out, w.x, func(int) float64 { return weight })
	for j, mean := range w.mean {
		out[j] = max(0, out[j]-weight*float64(w.l)*mean*mean) + factor*r.GammaA
	}
	if r.GammaI > 0 {
		n, _ := w.p.x.Dims()
		gamma := factor * r.intrinsic(n)
		addSquares(out, w.p.design, func(i int) float64 {
			v := 1.0
			if w.p.l.Kind() == sparse.Combinatorial {
				v = w.p.l.Degrees()[i]
			}
			total := gamma
			for range r.Power {
				total *= v
			}
			return total
		})
	}
	return out
}

// addSquares adds Σ_i weight(i)·x_ij² to out[j].
func addSquares(out []float64, x solvers.Design, weight func(i int) float64) {
	if s, ok := x.(withTranspose); ok {
		for i := range s.x.Rows {
			col, val := s.x.Row(i)
			v := weight(i)
			for p, j := range col {
				if val == nil {
					out[j] += v
				} else {
					out[j] += v * val[p] * val[p]
				}
			}
		}
		return
	}
	points := x.(pointRows).Points
	n, d := points.Dims()
	row := make([]float64, d)
	for i := range n {
		data.RowTo(row, points, i)
		v := weight(i)
		for j, e := range row {
			out[j] += v * e * e
		}
	}
}
