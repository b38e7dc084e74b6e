package models

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/solvers"
)

// labeledPart is what fits to the same targets have in common.
type labeledPart struct {
	p    *LinearProblem
	t    *Targets
	l, d int
	x    solvers.Design // the labeled rows
	mean []float64      // of them
	yBar []float64      // of the targets
	y    *mat.Dense     // targets less their means

	gram, xy *mat.Dense // X̃ᵀX̃ and X̃ᵀỸ, centred; of least squares with l ≥ d
	rows     *mat.Dense // X̃U, if it is small
}

// smallRows is the number of elements up to which X̃U is formed though l ≥ d.
const smallRows = 1 << 23

func newLabeledPart(p *LinearProblem, t *Targets) *labeledPart {
	x := data.Select(p.x, t.Labeled)
	w := &labeledPart{p: p, t: t, x: newDesign(x)}
	w.l, w.d = x.Dims()
	w.mean = make([]float64, w.d)
	row := make([]float64, w.d)
	for i := range w.l {
		data.RowTo(row, x, i)
		for j, v := range row {
			w.mean[j] += v
		}
	}
	for j := range w.mean {
		w.mean[j] /= float64(w.l)
	}
	w.yBar = columnMeans(t.Y)
	w.y = mat.DenseCopyOf(t.Y)
	for i := range w.l {
		for j, v := range w.yBar {
			w.y.Set(i, j, w.y.At(i, j)-v)
		}
	}
	return w
}

// fit fills in m; before is the model of the step before or nil.
func (w *labeledPart) fit(ctx context.Context, m, before *Linear) error {
	switch direct := w.p.direct(); {
	case direct && m.Settings.Loss == LeastSquares && w.l >= w.d:
		return w.normalEquations(m)
	case direct && m.Settings.Loss == LeastSquares:
		return w.dual(m)
	case direct:
		return w.newtonInBasis(ctx, m, before)
	case m.Settings.Loss == LeastSquares:
		return w.conjugateGradients(ctx, m, before)
	}
	return w.newton(ctx, m, before)
}

// finish sets the coefficients of least squares and the intercepts that go with
// them: f has the mean of the targets over the labeled points.
func (w *labeledPart) finish(m *Linear, coefficients *mat.Dense) {
	m.Coefficients = coefficients
	m.Intercepts = meanProduct(w.mean, coefficients)
	for j, v := range w.yBar {
		m.Intercepts[j] = v - m.Intercepts[j]
	}
}

// normalEquations solves
//
//	(X̃ᵀX̃/l + γ_A I + γ_I s M) w = X̃ᵀỸ/l
//
// by Cholesky factorization; X̃ and Ỹ are the labeled points and their targets
// less their means, which eliminates b.
func (w *labeledPart) normalEquations(m *Linear) error {
	_, outputs := w.y.Dims()
	if w.gram == nil {
		w.gram, w.xy = mat.NewDense(w.d, w.d, nil), mat.NewDense(w.d, outputs, nil)
		for lo := 0; lo < w.l; lo += blockRows {
			hi := min(lo+blockRows, w.l)
			block := w.centred(lo, hi)
			dense.Syrk(dense.Transposed, 1, block, 1, w.gram)
			dense.Gemm(dense.Transposed, dense.NoTrans, 1, block, w.y.Slice(lo, hi, 0, outputs).(*mat.Dense), 1, w.xy)
		}
	}
	r := m.Settings.Regularizer
	n, _ := w.p.x.Dims()
	h := mat.NewDense(w.d, w.d, nil)
	h.Scale(1/float64(w.l), w.gram)
	for i := range w.d {
		if r.GammaI > 0 {
			row, gamma := h.RawRowView(i), r.intrinsic(n)
			for j, v := range w.p.m.RawRowView(i) {
				row[j] += gamma * v
			}
		}
		h.Set(i, i, h.At(i, i)+r.GammaA)
	}
	c := mat.NewDense(w.d, outputs, nil)
	c.Scale(1/float64(w.l), w.xy)
	if err := solvePositive(h, c, r); err != nil {
		return err
	}
	w.finish(m, c)
	return nil
}

// solvePositive overwrites b with h⁻¹b and h with its factor.
func solvePositive(h, b *mat.Dense, r Regularizer) error {
	if err := dense.Cholesky(h); err != nil {
		return fmt.Errorf("models: γ_A = %g is too small beside the data (and γ_I): %w", r.GammaA, err)
	}
	dense.SolveLower(dense.NoTrans, h, b)
	dense.SolveLower(dense.Transposed, h, b)
	return nil
}

// centred returns the labeled rows lo to hi less the mean.
func (w *labeledPart) centred(lo, hi int) *mat.Dense {
	block, _ := pointBlock(w.x.(pointRows).Points, nil, lo, hi, 0, w.d)
	if _, shared := w.x.(pointRows).Points.(*data.Dense[float64]); shared {
		block = mat.DenseCopyOf(block)
	}
	for i := range hi - lo {
		row := block.RawRowView(i)
		for j, v := range w.mean {
			row[j] -= v
		}
	}
	return block
}

// inEigenbasis returns Z = X̃U and the eigenvalues λ of M.
func (w *labeledPart) inEigenbasis() (z *mat.Dense, values []float64, err error) {
	values, u, err := w.p.eigen()
	if err != nil {
		return nil, nil, fmt.Errorf("models: eigenvectors of XᵀLᵖX: %w", err)
	}
	if w.rows == nil {
		w.rows = w.centred(0, w.l)
		if u != nil {
			z := mat.NewDense(w.l, w.d, nil)
			dense.Gemm(dense.NoTrans, dense.NoTrans, 1, w.rows, u, 0, z)
			w.rows = z
		}
	}
	return w.rows, values, nil
}

// norms returns γ_A + γ_I s λ for the eigenvalues λ of M.
func (w *labeledPart) norms(r Regularizer, values []float64) []float64 {
	n, _ := w.p.x.Dims()
	out := make([]float64, len(values))
	for j, v := range values {
		out[j] = r.GammaA + r.intrinsic(n)*v
	}
	return out
}

// dual solves the same equations as normalEquations on the labeled points: with
// D = diag(γ_A + γ_I s λ) and Z = X̃U it is
//
//	w = U D⁻¹Zᵀβ,   (Z D⁻¹Zᵀ + l I) β = Ỹ,
//
// where Z D⁻¹Zᵀ is the warped kernel of Sindhwani, Niyogi & Belkin (2005).
func (w *labeledPart) dual(m *Linear) error {
	z, values, err := w.inEigenbasis()
	if err != nil {
		return err
	}
	norms := w.norms(m.Settings.Regularizer, values)
	scaled := mat.DenseCopyOf(z)
	for i := range w.l {
		row := scaled.RawRowView(i)
		for j, v := range norms {
			row[j] /= math.Sqrt(v)
		}
	}
	g := mat.NewDense(w.l, w.l, nil)
	dense.Syrk(dense.NoTrans, 1, scaled, 0, g)
	for i := range w.l {
		g.Set(i, i, g.At(i, i)+float64(w.l))
	}
	beta := mat.DenseCopyOf(w.y)
	if err := solvePositive(g, beta, m.Settings.Regularizer); err != nil {
		return err
	}
	_, outputs := beta.Dims()
	v := mat.NewDense(w.d, outputs, nil)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, z, beta, 0, v)
	for j := range norms {
		norms[j] = 1 / norms[j]
	}
	w.finish(m, inBasis{u: w.p.basis, scale: norms}.expand(v))
	return nil
}

// newtonInBasis minimizes over u, w = U D^-½ u with D = 2(γ_A + γ_I s λ), where
// both norms together are ½‖u‖².
func (w *labeledPart) newtonInBasis(ctx context.Context, m, before *Linear) error {
	values, u, err := w.p.eigen()
	if err != nil {
		return fmt.Errorf("models: eigenvectors of XᵀLᵖX: %w", err)
	}
	scale := w.norms(m.Settings.Regularizer, values)
	for j, v := range scale {
		scale[j] = 1 / math.Sqrt(2*v)
	}
	x := inBasis{w.x, w.mean, u, scale}
	if w.l < w.d || w.l*w.d <= smallRows {
		z, _, err := w.inEigenbasis()
		if err != nil {
			return err
		}
		x = inBasis{x: pointRows{&data.Dense[float64]{Rows: w.l, Cols: w.d, Data: z.RawMatrix().Data}}, scale: scale}
	}
	problem := &solvers.NewtonProblem{X: x, Ridge: 1}
	return w.minimize(ctx, m, before, problem, inBasis{mean: w.mean, u: u, scale: scale})
}

// minimize runs Newton's method from the model before, if there is one. The
// coordinates of problem are those of b.
func (w *labeledPart) minimize(ctx context.Context, m, before *Linear, problem *solvers.NewtonProblem, b inBasis) error {
	s := m.Settings
	problem.Y, problem.C, problem.Width = w.t.Y, 1/float64(w.l), s.Width
	if s.Loss == HuberizedHinge {
		problem.Loss = solvers.HuberizedHinge
	}
	newton := &solvers.NewtonSettings{Tolerance: s.Tolerance, MaxIterations: s.MaxIterations}
	if before != nil {
		newton.StartW, newton.StartB = b.coordinates(before)
	}
	res, err := solvers.Newton(ctx, problem, newton)
	if res == nil {
		return err
	}
	m.Coefficients, m.Intercepts, m.Iterations = b.expand(res.W), res.B, res.Iterations
	if b.mean != nil {
		for j, v := range meanProduct(b.mean, m.Coefficients) {
			m.Intercepts[j] -= v
		}
	}
	return err
}

// coordinates are the inverse of what minimize does to a solution.
func (b inBasis) coordinates(m *Linear) (*mat.Dense, []float64) {
	w := mat.DenseCopyOf(m.Coefficients)
	if b.u != nil {
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, b.u, m.Coefficients, 0, w)
	}
	for i, v := range b.scale {
		row := w.RawRowView(i)
		for j := range row {
			row[j] /= v
		}
	}
	shift := append([]float64{}, m.Intercepts...)
	if b.mean != nil {
		for j, v := range meanProduct(b.mean, m.Coefficients) {
			shift[j] += v
		}
	}
	return w, shift
}
