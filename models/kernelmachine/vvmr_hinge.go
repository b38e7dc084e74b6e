package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/solvers"
)

// VVMRLoss is the loss V of a [VVMR].
type VVMRLoss int

const (
	// SquaredLoss is ‖f − y‖².
	SquaredLoss VVMRLoss = iota
	// HingeLoss is Σ_c (1 − y_c f_c)₊ for labels y_c of ±1.
	HingeLoss
)

var vvmrLosses = enum.New[VVMRLoss]("loss", "squared", "hinge")

// String returns the name used on the command line and in manifests.
func (l VVMRLoss) String() string { return vvmrLosses.String(l) }

// MarshalText returns the name.
func (l VVMRLoss) MarshalText() ([]byte, error) { return vvmrLosses.Marshal(l) }

// UnmarshalText is the inverse of MarshalText.
func (l *VVMRLoss) UnmarshalText(text []byte) error { return vvmrLosses.Unmarshal(l, text) }

// checkLoss returns the faults of parameters that do not go with the hinge.
func (o *vvmrOptions) checkLoss() error {
	if o.Loss != HingeLoss {
		return nil
	}
	if o.Approximation.Approximation != Exact {
		return models.Faultf("%s hinge is for %s exact; take squared, or lapsvm for each label",
			param.Name("loss"), param.Name("approximation"))
	}
	return nil
}

// checkHinge returns an error unless the hinge has a function for t, o and s.
func checkHinge(t *models.Targets, o *solvers.Outputs, s *VVMRSettings, a *ApproximationSettings) error {
	switch {
	case a != nil:
		return errors.New("kernelmachine: the hinge is for exact machines")
	case o == nil && s.GammaO > 0:
		return errors.New("kernelmachine: γ_O is positive, but there is no graph of outputs")
	case o != nil && o.Penalty != nil:
		return errors.New("kernelmachine: the hinge has no matrices of the outputs for M")
	case o != nil && len(o.Values) != t.Y.RawMatrix().Cols:
		return fmt.Errorf("kernelmachine: a graph of %d outputs for %d columns of targets", len(o.Values),
			t.Y.RawMatrix().Cols)
	}
	return nil
}

// hinges is the problem of [VVMRSettings] with HingeLoss: equation (11) of Minh & Sindhwani (2011) for labels.
type hinges struct {
	*Problem
	targets  *models.Targets
	settings VVMRSettings
	points   int   // of the problem: those with labels alone if γ_I is 0
	labeled  []int // among them
}

// fitHinges minimizes over functions f_c + b_c, one for each of n labels, f in the space of the kernel k(x, z)Q,
//
//	Σ_c 1/l_c Σ_i (1 − y_ic (f_c(x_i) + b_c))₊ + γ_A ‖f‖² + γ_I s Σ_c f_cᵀr(L)f_c,
//
// the first sum over the l_c points where label c is known. A nil o stands for Q = I: see independent, else coupled.
// A label of which only one sign is known is an error. With solvers.ErrNotConverged the function is usable.
func fitHinges(ctx context.Context, d *Data, t *models.Targets, o *solvers.Outputs, s VVMRSettings) (*VVMR, error) {
	_, all, err := d.check()
	if err != nil {
		return nil, err
	}
	h, err := newHinges(ctx, all, t, s)
	if err != nil {
		return nil, err
	}

	l, _ := t.Y.Dims()
	out := &VVMR{Settings: s, Expansion: all.expansion(&models.Targets{}), Labeled: l, Labels: t.Labels}
	var whole *mat.Dense
	var fault error
	if o == nil {
		whole, fault = h.independent(ctx, out)
	} else {
		whole, fault = h.coupled(ctx, o, out)
	}
	if whole == nil || !models.Usable(fault) {
		return nil, fault
	}

	kept := &Machine{}
	kept.keep(h.data.Points, whole)
	out.Coefficients, out.Points = kept.Coefficients, kept.Points
	f, err := out.Predict(ctx, all.Source().Rows(), nil)
	if err != nil {
		return nil, err
	}
	out.Values = f.Scores
	return out, fault
}

// newHinges evaluates the Gram matrix of the points that matter.
func newHinges(ctx context.Context, d *Data, t *models.Targets, s VVMRSettings) (*hinges, error) {
	points, _ := d.Source().Rows().Dims()
	if points != t.Len {
		return nil, fmt.Errorf("kernelmachine: targets for %d points, there are %d", t.Len, points)
	}

	// Without a graph the other points do not matter.
	h := &hinges{targets: t, settings: s, points: points, labeled: t.Labeled}
	d = d.plain(&s.Regularizer)
	if s.GammaI == 0 && d.Values == nil {
		inner := *d
		inner.Points = data.Select(d.Points, t.Labeled)
		d = &inner
		h.points = len(t.Labeled)
		h.labeled = data.Range(0, h.points)
	}
	var err error
	h.Problem, err = NewProblem(ctx, d)
	return h, err
}

// independent fits Q = I: every label is a lapsvm of its own, or svm if γ_I is 0,
//
//	f_c = Σ_i a_ic k(·, x_i) + b_c.
//
// All labels share the Gram matrix and one factorization, 2n³/3 operations, as in [Problem.Warp]; a label takes
// a quadratic program in l_c variables. It returns the a of all points, and sets what m says of the fit.
func (h *hinges) independent(ctx context.Context, m *VVMR) (whole *mat.Dense, err error) {
	s := &h.settings
	w, err := h.Warp(ctx, s.Regularizer, h.labeled)
	if err != nil {
		return nil, err
	}

	_, n := h.targets.Y.Dims()
	whole = mat.NewDense(h.points, n, nil)
	m.Intercepts = make([]float64, n)
	var unfinished []error
	for c := range n {
		one, err := labelTargets(h.targets, c, h.points, h.labeled, m.labelName(c))
		if err != nil {
			return nil, err
		}
		alone, err := w.Fit(ctx, one, &Settings{Method: SVM, Regularizer: s.Regularizer, Tolerance: s.Tolerance,
			MaxIterations: s.MaxIterations})
		if alone == nil || !models.Usable(err) {
			return nil, err
		}
		if err != nil {
			unfinished = append(unfinished, fmt.Errorf("label %s: %w", m.labelName(c), err))
		}

		m.Intercepts[c] = alone.Intercepts[0]
		m.Gap = max(m.Gap, alone.Gap)
		m.Residual = max(m.Residual, alone.Residual)
		for q, v := range mat.Col(nil, 0, alone.Coefficients) {
			i := q
			if alone.rows != nil {
				i = alone.rows[q]
			}
			whole.Set(i, c, v)
		}
	}
	return whole, errors.Join(unfinished...)
}

// coupled fits with a likeness of the outputs. In the eigenvectors u_q of Q, with the eigenvalues θ_q, the norms come
// apart, and each has a warped kernel of its own among the labeled points,
//
//	K̃_q = EᵀK(I + M_qK)⁻¹E,  M_q = (θ_q γ_I s/γ_A) r(L),
//
// so that the dual is a [solvers.OutputQP] with the kernel Σ_q θ_q K̃_q ⊗ u_q u_qᵀ and the bounds 1/(2γ_A l_c). It
// gives V, l×n, and
//
//	f = KAQ,  A = Σ_q (I + M_qK)⁻¹E V u_q u_qᵀ,  A + (γ_I s/γ_A) r(L)KAQ = EV,
//
// the last being (15) of the paper for any loss; Residual is ‖EV − A − (γ_I s/γ_A) r(L)KAQ‖/‖EV‖. Every θ_q > 0 costs
// a factorization, 2n³/3 operations, and holds nl + l² values. It returns AQ, and sets what m says of the fit.
func (h *hinges) coupled(ctx context.Context, o *solvers.Outputs, m *VVMR) (whole *mat.Dense, err error) {
	s := &h.settings
	qp := &solvers.OutputQP{Theta: o.Scaled(s.GammaO), Vectors: o.Vectors, Y: h.targets.Y}
	if qp.Bounds, err = h.bounds(m); err != nil {
		return nil, err
	}
	warped, err := h.warpEach(ctx, qp.Theta)
	if err != nil {
		return nil, err
	}
	for _, w := range warped {
		k, err := w.Values(ctx)
		if err != nil {
			return nil, fmt.Errorf("%w; take a larger %s or a smaller %s", err, param.Name("gamma-a"), param.Name("gamma-i"))
		}
		qp.Grams = append(qp.Grams, k)
	}

	h.data.report(0, 1, "quadratic programs")
	found, unfinished := qp.Solve(ctx, &solvers.SMOSettings{Tolerance: s.Tolerance, MaxIterations: s.MaxIterations})
	if found == nil {
		return nil, unfinished
	}
	m.Intercepts, m.Gap, m.Iterations = found.Intercepts, found.Gap, found.Sweeps

	a, aq := h.coefficients(warped, qp, found.V)
	m.Residual = h.residual(found.V, a, aq)
	return aq, unfinished
}

// bounds returns 1/(2γ_A l_c) of each label c.
func (h *hinges) bounds(m *VVMR) ([]float64, error) {
	_, n := h.targets.Y.Dims()
	var out []float64
	for c := range n {
		one, err := labelTargets(h.targets, c, h.points, h.labeled, m.labelName(c))
		if err != nil {
			return nil, err
		}
		out = append(out, 1/(2*h.settings.GammaA*float64(len(one.Labeled))))
	}
	return out, nil
}

// warpEach returns the warped kernel of every eigenvalue of Q; equal ones share it, and so do all without γ_I. The
// kernel of θ = 0 does not matter.
func (h *hinges) warpEach(ctx context.Context, theta []float64) ([]*Warped, error) {
	// Rounding sets equal eigenvalues apart.
	const same = 1e-12
	largest := slices.Max(theta)
	out := make([]*Warped, len(theta))
	for q, v := range theta {
		for p := range q {
			if math.Abs(theta[p]-v) <= same*largest || h.settings.GammaI == 0 || v == 0 {
				out[q] = out[p]
				break
			}
		}
		if out[q] != nil {
			continue
		}

		h.data.report(float64(q), float64(len(theta)), "kernels of the eigenvalues of Q")
		r := h.settings.Regularizer
		if v > 0 {
			r.GammaA /= v
		}
		var err error
		if out[q], err = h.Warp(ctx, r, h.labeled); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// coefficients returns A and AQ for V.
func (h *hinges) coefficients(warped []*Warped, qp *solvers.OutputQP, v *mat.Dense) (a, aq *mat.Dense) {
	l, n := v.Dims()
	a = mat.NewDense(h.points, n, nil)
	aq = mat.NewDense(h.points, n, nil)
	part := mat.NewVecDense(l, nil)
	for q, w := range warped {
		u := qp.Vectors.ColView(q)
		part.MulVec(v, u)
		alpha := mat.NewVecDense(h.points, nil)
		if w.expand != nil {
			alpha.MulVec(w.expand, part)
		} else {
			for p, i := range h.labeled {
				alpha.SetVec(i, part.AtVec(p))
			}
		}
		a.RankOne(a, 1, alpha, u)
		aq.RankOne(aq, qp.Theta[q], alpha, u)
	}
	return a, aq
}

// residual returns ‖EV − A − (γ_I s/γ_A) r(L)KAQ‖/‖EV‖.
func (h *hinges) residual(v, a, aq *mat.Dense) float64 {
	_, n := v.Dims()
	e := mat.NewDense(h.points, n, nil)
	s := &h.settings
	if s.GammaI > 0 {
		norm, err := s.Norm(h.data.Laplacian)
		if err != nil {
			return math.NaN() // Warp has made it before
		}
		f := mat.NewDense(h.points, n, nil)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, h.gram, aq, 0, f)
		norm.MulTo(e, f)
		dense.Multiply(e, -s.Intrinsic(h.points, h.data.Laplacian)/s.GammaA)
	}

	dense.AddScaled(e, 1, -1, a)
	for p, i := range h.labeled {
		for c, x := range v.RawRowView(p) {
			e.Set(i, c, e.At(i, c)+x)
		}
	}
	size := mat.Norm(v, 2)
	if size == 0 {
		return 0
	}
	return mat.Norm(e, 2) / size
}

// labelTargets returns the targets of label c at the points where it is known. The labeled points of t are those
// in labeled, of so many points.
func labelTargets(t *models.Targets, c, points int, labeled []int, name string) (*models.Targets, error) {
	one := &models.Targets{Len: points, Classes: []int64{-1, 1}}
	var y []float64
	signs := map[float64]bool{}
	for q, i := range labeled {
		v := t.Y.At(q, c)
		if math.IsNaN(v) {
			continue
		}
		if math.Abs(v) != 1 {
			return nil, models.Faultf("output %s of point %d is %v; %s hinge takes labels of 1 and −1", name,
				t.Labeled[q], v, param.Name("loss"))
		}
		signs[v] = true
		one.Labeled = append(one.Labeled, i)
		y = append(y, v)
	}
	if len(signs) < 2 {
		return nil, models.Faultf("label %s has one sign at all points where it is known; %s hinge needs points with "+
			"and without it: label more points, or leave the column out", name, param.Name("loss"))
	}
	one.Y = mat.NewDense(len(y), 1, y)
	return one, nil
}
