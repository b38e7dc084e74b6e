package linear

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// normOperator is ridge·I + gamma·Xᵀr(L)X, multiplied from right to left.
type normOperator struct {
	x            solvers.Design
	m            sparse.Operator // r(L)
	gamma, ridge float64
}

// norm returns factor·(γ_A I + γ_I s Xᵀr(L)X).
func (p *Problem) norm(r regularizer.Regularizer, factor float64) normOperator {
	return normOperator{p.design, p.m, factor * p.intrinsic(r), factor * r.GammaA}
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
	// Xᵀr(L)Xw, from the right to the left.
	n, _ := o.x.Dims()
	_, m := w.Dims()
	f := mat.NewDense(n, m, nil)
	lf := mat.NewDense(n, m, nil)
	o.x.MulTo(f, w)
	o.m.MulTo(lf, f)
	o.x.MulTransTo(dst, lf)
	dense.AddScaled(dst, o.gamma, o.ridge, w)
}

// ridgeOperator is X̃ᵀX̃/l + norm, X̃ the labeled points less their mean: the matrix
// of the normal equations of least squares.
type ridgeOperator struct {
	normOperator
	labeled inBasis
	l       int
}

// MulTo sets dst to the product with w.
func (o ridgeOperator) MulTo(dst, w *mat.Dense) {
	d, m := w.Dims()
	f := mat.NewDense(o.l, m, nil)
	part := mat.NewDense(d, m, nil)
	o.labeled.MulTo(f, w)
	o.labeled.MulTransTo(part, f)
	o.normOperator.MulTo(dst, w)
	dense.AddScaled(dst, 1, 1/float64(o.l), part)
}

// conjugateGradients solves the equations of NormalEquations by products.
func (w *Labeled) conjugateGradients(ctx context.Context, m, before *Model) error {
	s := m.Settings
	_, outputs := w.Centred.Dims()
	labeled := inBasis{x: w.x, mean: w.Mean, roots: w.roots}
	a := ridgeOperator{w.p.norm(s.Regularizer, 1), labeled, w.Rows}
	b := mat.NewDense(w.Dim, outputs, nil)
	labeled.MulTransTo(b, w.Centred)
	b.Scale(1/float64(w.Rows), b)
	jacobi, err := cg.NewJacobi(w.diagonal(s.Regularizer, 1, 1/float64(w.Rows)))
	if err != nil {
		return err
	}

	// All outputs are one block, so that a pass over X serves them together.
	settings := &cg.Settings{Tolerance: s.Tolerance, MaxIterations: s.MaxIterations, Preconditioner: jacobi,
		Block: outputs, OnIteration: func(at cg.State) error {
			w.p.report(float64(at.Converged), float64(at.Columns), at.String())
			return nil
		}}
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
func (w *Labeled) newton(ctx context.Context, m, before *Model) error {
	r := m.Settings.Regularizer
	curve := 2.0 // V'' of the squared hinge
	if m.Settings.Loss == HuberizedHinge {
		curve = 1 / (2 * m.Settings.Width)
	}
	return w.minimize(ctx, m, before, &solvers.NewtonProblem{
		X: w.x, Operator: w.p.norm(r, 2), Diagonal: w.diagonal(r, 2, curve/float64(w.Rows)),
	}, inBasis{})
}

// diagonal approximates the diagonal of factor·(γ_A I + γ_I s Xᵀr(L)X) + weight·X̃ᵀX̃. For Xᵀr(L)X it
// takes r of the diagonal of L alone, without the edges between points of one feature.
func (w *Labeled) diagonal(r regularizer.Regularizer, factor, weight float64) []float64 {
	out := make([]float64, w.Dim)
	solvers.AddSquares(out, w.x, func(i int) float64 {
		if w.roots == nil {
			return weight
		}
		return weight * w.roots[i] * w.roots[i]
	})
	// The diagonal of centred rows: Σx² − lμ².
	for j, mean := range w.Mean {
		out[j] = max(0, out[j]-weight*float64(w.Rows)*mean*mean) + factor*r.GammaA
	}
	if r.GammaI > 0 {
		gamma := factor * w.p.intrinsic(r)
		solvers.AddSquares(out, w.p.design, func(i int) float64 {
			v := 1.0
			if w.p.l.Kind() == sparse.Combinatorial {
				v = w.p.l.Degrees()[i]
			}
			return gamma * r.At(v)
		})
	}

	return out
}
