package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// Fit fits one machine, exactly: [NewProblem], Warp and Fit in one
// call, for targets t of some of the points x. l is the Laplacian of the points'
// graph. With γ_I = 0 it may be nil, and only the labeled points cost anything:
// the quadratic programs then read rows of K as they need them, and hold no Gram
// matrix where a single program would not need most of it or where there is no
// room. s must give γ_A. If limit is positive, more memory for matrices is an
// error.
func Fit(ctx context.Context, x data.Points, k kernel.Kernel, l *sparse.Laplacian, t *models.Targets, s *Settings, limit int64) (*Machine, error) {
	if n, _ := x.Dims(); n != t.Len {
		return nil, fmt.Errorf("kernelmachine: targets for %d points, there are %d", t.Len, n)
	}
	if s == nil {
		s = &Settings{} // whose fault is named
	}
	filled, err := s.Fill()
	if err != nil {
		return nil, err
	}
	if s.GammaI == 0 {
		l = nil
		if k.Kind != kernel.Precomputed {
			x = data.Select(x, t.Labeled)
			inner := *t
			inner.Len, inner.Labeled = len(t.Labeled), make([]int, len(t.Labeled))
			for i := range inner.Labeled {
				inner.Labeled[i] = i
			}
			t = &inner
			if filled.byRows(x, t, limit) {
				return fitRows(ctx, x, k, t, &filled, limit)
			}
		}
	}
	p, err := NewProblem(x, k, l, limit)
	if err != nil {
		return nil, err
	}
	w, err := p.Warp(s.Regularizer, t.Labeled)
	if err != nil {
		return nil, err
	}
	return w.Fit(ctx, t, s)
}

// fewDimensions is how many dimensions a point may have for single rows of K to
// cost not much more than those of a Gram matrix, made by products of blocks.
const fewDimensions = 64

// byRows tells whether the programs of a machine without a graph are to read rows
// of K that are made when asked for.
func (s *Settings) byRows(x data.Points, t *models.Targets, limit int64) bool {
	if s.Method == RLS {
		return false
	}
	n, d := x.Dims()
	_, isSparse := x.(*sparse.CSR)
	return limit > 0 && kernel.GramBytes(n) > limit || s.columns(t) == 1 && (isSparse || d <= fewDimensions)
}

// columns is the number of functions to fit.
func (s *Settings) columns(t *models.Targets) int {
	if s.Method == OneClass {
		return 1
	}
	_, c := t.Y.Dims()
	return c
}

// fitRows fits a machine without a graph to points x that all have a target. One
// set of rows, within the limit, serves one program after the other.
func fitRows(ctx context.Context, x data.Points, k kernel.Kernel, t *models.Targets, s *Settings, limit int64) (*Machine, error) {
	side, err := kernel.New(k, x)
	if err != nil {
		return nil, err
	}
	n := side.Len()
	if limit <= 0 {
		limit = kernel.GramBytes(n)
	}
	m := newMachine(s, side.Kernel(), t)
	beta, err := m.Programs(ctx, solvers.CachedRows(side, limit), s.columns(t), t)
	if beta == nil {
		return nil, err
	}
	m.expand(x, beta)
	return m, err
}

func newMachine(s *Settings, k kernel.Kernel, t *models.Targets) *Machine {
	m := &Machine{Settings: *s, Kernel: k, Classes: t.Classes, Labeled: len(t.Labeled)}
	if s.Method == OneClass {
		m.Classes = []int64{-1, 1}
	}
	return m
}

// Fit fits a machine on points of w, for all columns of t. The ratio γ_I/γ_A, the
// power, and the scaling in s must be those that w was made for. KernelRLS costs
// a Cholesky factorization of order l, the others a quadratic program in l
// variables a column; the expansion costs 2nl operations a
// column. With solvers.ErrNotConverged the machine is usable.
func (w *Warped) Fit(ctx context.Context, t *models.Targets, s *Settings) (*Machine, error) {
	if s == nil {
		s = &Settings{}
	}
	filled, err := s.Fill()
	if err != nil {
		return nil, err
	}
	gram, positions, err := w.among(t, &filled)
	if err != nil {
		return nil, err
	}
	m := newMachine(&filled, w.problem.kernel, t)
	var beta *mat.Dense
	if filled.Method == RLS {
		beta, m.Bias, err = LeastSquares(gram, t.Y, filled.GammaA*float64(len(t.Labeled)), filled.Intercept)
	} else {
		beta, err = m.Programs(ctx, solvers.DenseRows(gram), 1, t)
	}
	if beta == nil {
		return nil, err
	}
	w.expansion(m, beta, positions)
	return m, err
}

// among returns K̃ among the labeled points of t and their positions in w.
func (w *Warped) among(t *models.Targets, s *Settings) (*mat.Dense, []int, error) {
	n, _ := w.problem.gram.Dims()
	ours, theirs := w.reg.Intrinsic(n)/w.reg.GammaA, s.Intrinsic(n)/s.GammaA
	switch {
	case t.Len != n:
		return nil, nil, fmt.Errorf("kernelmachine: targets for %d points, there are %d", t.Len, n)
	case !(math.Abs(ours-theirs) <= 1e-12*ours) || ours > 0 && (s.Power != w.reg.Power || s.Laplacian != w.reg.Laplacian):
		return nil, nil, fmt.Errorf("kernelmachine: the kernel was warped with γ_I/γ_A = %v, power %d and the %v Laplacian; the settings say %v, %d and %v",
			ours, w.reg.Power, w.reg.Laplacian, theirs, s.Power, s.Laplacian)
	}
	positions := make([]int, len(t.Labeled))
	for p, i := range t.Labeled {
		q, ok := slices.BinarySearch(w.points, i)
		if !ok {
			return nil, nil, fmt.Errorf("kernelmachine: point %d is labeled but was not among those the kernel was made for", i)
		}
		positions[p] = q
	}
	if len(positions) == len(w.points) {
		return w.Gram, positions, nil
	}
	g := mat.NewDense(len(positions), len(positions), nil)
	for i, a := range positions {
		for j, b := range positions {
			g.Set(i, j, w.Gram.At(a, b))
		}
	}
	return g, positions, nil
}

// LeastSquares returns β = (K̃ + ridge·I)⁻¹(Y − 1bᵀ), with b = 0, or such that the
// columns of β sum to zero: the stationarity of the squared loss in b.
func LeastSquares(gram, y *mat.Dense, ridge float64, intercept bool) (*mat.Dense, []float64, error) {
	l, c := y.Dims()
	a := mat.DenseCopyOf(gram)
	for i := range l {
		a.Set(i, i, a.At(i, i)+ridge)
	}
	if err := dense.Cholesky(a); err != nil {
		return nil, nil, fmt.Errorf("kernelmachine: K + γ_A l I: the kernel is not positive definite, or γ_A is too small: %w", err)
	}
	b := mat.NewDense(l, c+1, nil)
	b.Slice(0, l, 0, c).(*mat.Dense).Copy(y)
	for i := range l {
		b.Set(i, c, 1)
	}
	dense.SolveLower(dense.NoTrans, a, b)
	dense.SolveLower(dense.Transposed, a, b)
	beta, bias := mat.DenseCopyOf(b.Slice(0, l, 0, c)), make([]float64, c)
	if !intercept {
		return beta, bias, nil
	}
	ones := b.ColView(c)
	total := mat.Sum(ones)
	for j := range c {
		bias[j] = mat.Sum(beta.ColView(j)) / total
		for i := range l {
			beta.Set(i, j, beta.At(i, j)-bias[j]*ones.AtVec(i))
		}
	}
	return beta, bias, nil
}

// Programs solves the quadratic program of every column and sets Bias and Gap, so
// many columns one after the other. C is 1/(2γ_A l): the objective of Regularizer
// over 2γ_A.
func (m *Machine) Programs(ctx context.Context, rows solvers.Rows, together int, t *models.Targets) (*mat.Dense, error) {
	s := &m.Settings
	if s.Method == SVM && t.Classes == nil {
		return nil, errors.New("kernelmachine: a support vector machine separates classes; for values use svr")
	}
	l, c := rows.Dim(), s.columns(t)
	upper := 1 / (2 * s.GammaA * float64(l))
	results, faults := make([]*solvers.SMOResult, c), make([]error, c)
	par.For(c, together, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			var q *solvers.QP
			switch y := mat.Col(nil, j, t.Y); s.Method {
			case SVM:
				q = solvers.ClassificationQP(rows, y, upper)
			case SVR:
				q = solvers.RegressionQP(rows, y, upper, s.Epsilon)
			case OneClass:
				q = solvers.OneClassQP(rows, s.Nu)
			}
			results[j], faults[j] = solvers.SMO(ctx, q, &solvers.SMOSettings{Tolerance: s.Tolerance, MaxIterations: s.MaxIterations})
		}
	})
	beta := mat.NewDense(l, c, nil)
	m.Bias = make([]float64, c)
	for j, r := range results {
		if r == nil {
			return nil, faults[j]
		}
		beta.SetCol(j, r.V)
		m.Bias[j] = -r.Multiplier
		if r.Objective != 0 {
			m.Gap = max(m.Gap, r.Gap/math.Abs(r.Objective))
		}
	}
	return beta, errors.Join(faults...)
}

// expansion sets the coefficients α = (I + MK)⁻¹Eβ and the points they belong to.
func (w *Warped) expansion(m *Machine, beta *mat.Dense, positions []int) {
	n, _ := w.problem.gram.Dims()
	l, c := beta.Dims()
	whole := mat.NewDense(n, c, nil)
	if w.expand == nil {
		for i, p := range positions {
			copy(whole.RawRowView(w.points[p]), beta.RawRowView(i))
		}
	} else {
		padded := beta
		if l != len(w.points) {
			padded = mat.NewDense(len(w.points), c, nil)
			for i, p := range positions {
				copy(padded.RawRowView(p), beta.RawRowView(i))
			}
		}
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, w.expand, padded, 0, whole)
	}
	m.expand(w.problem.points, whole)
}

// expand makes m the expansion over points x with the given coefficients, of
// which it keeps those that are not zero; nil for a precomputed kernel.
func (m *Machine) expand(x data.Points, whole *mat.Dense) {
	m.Coefficients = whole
	if x == nil {
		return
	}
	n, c := whole.Dims()
	for i := range n {
		if slices.ContainsFunc(whole.RawRowView(i), func(v float64) bool { return v != 0 }) {
			m.rows = append(m.rows, i)
		}
	}
	if len(m.rows) == 0 {
		m.rows = []int{0} // all outputs are constant
	}
	m.Points = data.Select(x, m.rows)
	m.Coefficients = mat.NewDense(len(m.rows), c, nil)
	dense.Gather(m.Coefficients, whole, m.rows)
}
