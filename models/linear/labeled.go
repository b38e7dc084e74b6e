package linear

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
)

// Labeled holds what fits to the same targets share.
type Labeled struct {
	p       *Problem
	Targets *models.Targets
	Dim     int
	Sums                   // Gram and Moments of least squares with l ≥ d
	x       solvers.Design // the labeled rows
	Centred *mat.Dense     // targets less their means
	rows    *mat.Dense     // X̃U, if it is small
	// roots are √(lw_i/Σw) of the weights of the labels: what rows of X̃ and Centred are multiplied by, so
	// that all else is as without weights. Nil for ones.
	roots []float64
}

// SmallRows is the number of elements up to which X̃U is formed though l ≥ d.
const SmallRows = 1 << 23

// NewLabeled selects the labeled points and centres their targets. Weights of the labels are for
// least squares alone.
func NewLabeled(p *Problem, t *models.Targets) *Labeled {
	x := data.Select(p.x, t.Labeled)
	w := &Labeled{p: p, Targets: t, x: solvers.NewDesign(x)}
	w.Rows, w.Dim = x.Dims()
	w.Mean = make([]float64, w.Dim)
	row := make([]float64, w.Dim)
	for i := range w.Rows {
		data.RowTo(row, x, i)
		if t.Weights != nil {
			floats.Scale(t.Weights[i], row)
		}
		floats.Add(w.Mean, row)
	}

	total := t.TotalWeight()
	for j := range w.Mean {
		w.Mean[j] /= total
	}
	if t.Weights != nil {
		w.roots = make([]float64, w.Rows)
		for i, v := range t.Weights {
			w.roots[i] = math.Sqrt(v * float64(w.Rows) / total)
		}
	}
	// Points and targets less their means eliminate the intercept.
	w.TargetMean = dense.WeightedMeans(t.Y, t.LossShares())
	w.centre()
	return w
}

// centre makes Centred of the targets and their means.
func (w *Labeled) centre() {
	w.Centred = mat.DenseCopyOf(w.Targets.Y)
	for i := range w.Rows {
		floats.Sub(w.Centred.RawRowView(i), w.TargetMean)
	}
	if w.roots != nil {
		dense.ScaleRows(w.Centred, w.roots)
	}
}

// ThroughOrigin takes means of zero, for functions without an intercept.
func (w *Labeled) ThroughOrigin() {
	clear(w.Mean)
	clear(w.TargetMean)
	w.centre()
}

// Fit fills in m; before is the model of the step before or nil.
func (w *Labeled) Fit(ctx context.Context, m, before *Model) error {
	switch direct := w.p.direct(); {
	case direct && m.Settings.Loss == LeastSquares && w.Rows >= w.Dim:
		if err := w.sumMoments(ctx); err != nil {
			return err
		}
		return w.NormalEquations(ctx, m)
	case direct && m.Settings.Loss == LeastSquares:
		if _, _, err := w.inEigenbasis(ctx); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return w.Dual(ctx, m)
	case direct:
		return w.newtonInBasis(ctx, m, before)
	case m.Settings.Loss == LeastSquares:
		return w.conjugateGradients(ctx, m, before)
	}

	return w.newton(ctx, m, before)
}

// finish sets the coefficients of least squares and the intercepts that go with
// them: f has the mean of the targets over the labeled points.
func (w *Labeled) finish(m *Model, coefficients *mat.Dense) {
	m.Coefficients = coefficients
	m.Intercepts = MeanProduct(w.Mean, coefficients)
	for j, v := range w.TargetMean {
		m.Intercepts[j] = v - m.Intercepts[j]
	}
}

// sumMoments sets Gram and Moments unless they are.
func (w *Labeled) sumMoments(ctx context.Context) error {
	if w.Gram != nil {
		return nil
	}
	_, outputs := w.Centred.Dims()
	gram := mat.NewDense(w.Dim, w.Dim, nil)
	moments := mat.NewDense(w.Dim, outputs, nil)
	var buffer []float64
	// Blocks of centred rows are added up, so that X̃ is never held.
	for lo := 0; lo < w.Rows; lo += data.BlockRows {
		w.p.report(float64(lo), float64(w.Rows), "labeled points")
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+data.BlockRows, w.Rows)
		var block *mat.Dense
		block, buffer = w.centred(buffer, lo, hi)
		dense.Syrk(dense.Transposed, 1, block, 1, gram)
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, block,
			w.Centred.Slice(lo, hi, 0, outputs).(*mat.Dense), 1, moments)
	}

	w.Gram, w.Moments = gram, moments
	return nil
}

// NormalEquations solves
//
//	(X̃ᵀX̃/l + γ_A I + γ_I s M) w = X̃ᵀỸ/l
//
// by Cholesky factorization; X̃ and Ỹ are the labeled points and their targets
// less their means, which eliminates b.
func (w *Labeled) NormalEquations(ctx context.Context, m *Model) error {
	if err := w.sumMoments(ctx); err != nil {
		return err
	}
	_, outputs := w.Moments.Dims()
	r := m.Settings.Regularizer
	h := mat.NewDense(w.Dim, w.Dim, nil)
	h.Scale(1/float64(w.Rows), w.Gram)
	gamma := w.p.intrinsic(r)
	for i := range w.Dim {
		if r.GammaI > 0 {
			row := h.RawRowView(i)
			for j, v := range w.p.Norm.RawRowView(i) {
				row[j] += gamma * v
			}
		}
		h.Set(i, i, h.At(i, i)+r.GammaA)
	}

	// One factorization serves all outputs.
	c := mat.NewDense(w.Dim, outputs, nil)
	c.Scale(1/float64(w.Rows), w.Moments)
	if err := regularizer.SolvePositive(ctx, h, c, r); err != nil {
		return err
	}
	w.finish(m, c)
	return nil
}

// centred returns the labeled rows lo to hi less the mean, times their roots, in buffer, which is
// grown if it has to be and returned.
func (w *Labeled) centred(buffer []float64, lo, hi int) (block *mat.Dense, grown []float64) {
	if size := (hi - lo) * w.Dim; cap(buffer) < size {
		buffer = make([]float64, size)
	}
	points := w.x.(solvers.DenseDesign).Points
	block = mat.NewDense(hi-lo, w.Dim, buffer[:(hi-lo)*w.Dim])
	par.For(hi-lo, 128, func(a, b int) {
		for i := a; i < b; i++ {
			row := block.RawRowView(i)
			data.RowTo(row, points, lo+i)
			floats.Sub(row, w.Mean)
			if w.roots != nil {
				floats.Scale(w.roots[lo+i], row)
			}
		}
	})

	return block, buffer
}

// inEigenbasis returns Z = X̃U and the eigenvalues λ of M.
func (w *Labeled) inEigenbasis(ctx context.Context) (z *mat.Dense, values []float64, err error) {
	values, u, err := w.p.Eigen(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("linear: eigenvectors of Xᵀr(L)X: %w", err)
	}

	// Z does not depend on the weights, so it is kept for the path.
	if w.rows == nil {
		w.rows, _ = w.centred(nil, 0, w.Rows)
		if u != nil {
			z := mat.NewDense(w.Rows, w.Dim, nil)
			dense.Gemm(dense.NoTrans, dense.NoTrans, 1, w.rows, u, 0, z)
			w.rows = z
		}
	}

	return w.rows, values, nil
}

// norms returns γ_A + γ_I s λ for the eigenvalues λ of M.
func (w *Labeled) norms(r regularizer.Regularizer, values []float64) []float64 {
	out := make([]float64, len(values))
	gamma := w.p.intrinsic(r)
	for j, v := range values {
		out[j] = r.GammaA + gamma*v
	}
	return out
}

// Dual solves the same equations as NormalEquations on the labeled points: with
// D = diag(γ_A + γ_I s λ) and Z = X̃U it is
//
//	w = U D⁻¹Zᵀβ,   (Z D⁻¹Zᵀ + l I) β = Ỹ,
//
// where Z D⁻¹Zᵀ is the warped kernel of Sindhwani, Niyogi & Belkin (2005).
func (w *Labeled) Dual(ctx context.Context, m *Model) error {
	z, values, err := w.inEigenbasis(ctx)
	if err != nil {
		return err
	}
	norms := w.norms(m.Settings.Regularizer, values)
	scaled := mat.DenseCopyOf(z)
	for i := range w.Rows {
		row := scaled.RawRowView(i)
		for j, v := range norms {
			row[j] /= math.Sqrt(v)
		}
	}

	// ZD⁻¹Zᵀ + lI is of the order of the labeled points.
	g := mat.NewDense(w.Rows, w.Rows, nil)
	dense.Syrk(dense.NoTrans, 1, scaled, 0, g)
	for i := range w.Rows {
		g.Set(i, i, g.At(i, i)+float64(w.Rows))
	}
	beta := mat.DenseCopyOf(w.Centred)
	if err := regularizer.SolvePositive(ctx, g, beta, m.Settings.Regularizer); err != nil {
		return err
	}

	// w = UD⁻¹Zᵀβ.
	_, outputs := beta.Dims()
	v := mat.NewDense(w.Dim, outputs, nil)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, z, beta, 0, v)
	for j := range norms {
		norms[j] = 1 / norms[j]
	}
	w.finish(m, inBasis{u: w.p.basis, scale: norms}.expand(v))
	return nil
}

// newtonInBasis minimizes over u, w = U D^-½ u with D = 2(γ_A + γ_I s λ), where
// both norms together are ½‖u‖².
func (w *Labeled) newtonInBasis(ctx context.Context, m, before *Model) error {
	values, u, err := w.p.Eigen(ctx)
	if err != nil {
		return fmt.Errorf("linear: eigenvectors of Xᵀr(L)X: %w", err)
	}
	scale := w.norms(m.Settings.Regularizer, values)
	for j, v := range scale {
		scale[j] = 1 / math.Sqrt(2*v)
	}
	// Where Z is small it is formed; otherwise products go through X and U.
	x := inBasis{x: w.x, mean: w.Mean, u: u, scale: scale}
	if w.Rows < w.Dim || w.Rows*w.Dim <= SmallRows {
		z, _, err := w.inEigenbasis(ctx)
		if err != nil {
			return err
		}
		x = inBasis{x: solvers.DenseDesign{Points: &data.Dense[float64]{Rows: w.Rows, Cols: w.Dim,
			Data: z.RawMatrix().Data}}, scale: scale}
	}

	problem := &solvers.NewtonProblem{X: x, Ridge: 1}
	return w.minimize(ctx, m, before, problem, inBasis{mean: w.Mean, u: u, scale: scale})
}

// minimize runs Newton's method from the model before, if there is one. problem has the coordinates
// of b.
func (w *Labeled) minimize(ctx context.Context, m, before *Model, problem *solvers.NewtonProblem,
	b inBasis) error {
	s := m.Settings
	problem.Y = w.Targets.Y
	problem.C = 1 / float64(w.Rows)
	problem.Width = s.Width
	if s.Loss == HuberizedHinge {
		problem.Loss = solvers.HuberizedHinge
	}
	newton := &solvers.NewtonSettings{Tolerance: s.Tolerance, MaxIterations: s.MaxIterations,
		OnIteration: func(at solvers.NewtonState) error {
			w.p.report(float64(at.Converged), float64(at.Columns), at.String())
			return nil
		}}
	if before != nil {
		newton.StartW, newton.StartB = b.coordinates(before)
	}
	res, err := solvers.Newton(ctx, problem, newton)
	if res == nil {
		return err
	}

	// The solution goes back to the coordinates of the points, and the mean into the intercepts.
	m.Coefficients = b.expand(res.W)
	m.Intercepts = res.B
	m.Iterations = res.Iterations
	if b.mean != nil {
		for j, v := range MeanProduct(b.mean, m.Coefficients) {
			m.Intercepts[j] -= v
		}
	}
	return err
}

// coordinates are the inverse of what minimize does to a solution.
func (b inBasis) coordinates(m *Model) (*mat.Dense, []float64) {
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

	// The intercept of centred points is the value of f at their mean.
	shift := append([]float64{}, m.Intercepts...)
	if b.mean != nil {
		for j, v := range MeanProduct(b.mean, m.Coefficients) {
			shift[j] += v
		}
	}
	return w, shift
}
