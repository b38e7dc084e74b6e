package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
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
	var faults []error
	only := &models.Condition{Param: "loss", In: []string{SquaredLoss.String()}}
	if o.GammaO > 0 {
		faults = append(faults, &models.UnusedError{Name: "gamma-o", Only: only, Is: o.Loss.String()})
	}
	if o.Approximation.Approximation != Exact {
		faults = append(faults, models.Faultf("%s hinge is for %s exact; take squared, or lapsvm for each label",
			param.Name("loss"), param.Name("approximation")))
	}
	return errors.Join(faults...)
}

// fitHinges minimizes (11) of Minh & Sindhwani (2011) with the hinge and without a likeness of the outputs, Q = I:
// every label is a lapsvm of its own, or svm if γ_I is 0, over the points where it is known,
//
//	1/l_c Σ (1 − y_ic f_c(x_i))₊ + γ_A ‖f_c‖² + γ_I s f_cᵀr(L)f_c,  f_c = Σ_i a_ic k(·, x_i) + b_c.
//
// All labels share the Gram matrix and one factorization, 2n³/3 operations, as in [Problem.Warp]; a label takes
// a quadratic program in l_c variables. A label of which only one sign is known is an error. With
// solvers.ErrNotConverged the function is usable.
func fitHinges(ctx context.Context, d *Data, t *models.Targets, s VVMRSettings) (*VVMR, error) {
	points, d, err := d.check()
	if err != nil {
		return nil, err
	}
	if points != t.Len {
		return nil, fmt.Errorf("kernelmachine: targets for %d points, there are %d", t.Len, points)
	}
	l, n := t.Y.Dims()
	out := &VVMR{Settings: s, Expansion: d.expansion(&models.Targets{}), Labeled: l, Labels: t.Labels}
	all := d

	// Without a graph the other points do not matter.
	d = d.plain(&s.Regularizer)
	labeled := t.Labeled
	if s.GammaI == 0 && d.Values == nil {
		inner := *d
		inner.Points = data.Select(d.Points, labeled)
		labeled = data.Range(0, l)
		points = l
		d = &inner
	}
	p, err := NewProblem(ctx, d)
	if err != nil {
		return nil, err
	}
	w, err := p.Warp(ctx, s.Regularizer, labeled)
	if err != nil {
		return nil, err
	}

	whole := mat.NewDense(points, n, nil)
	out.Intercepts = make([]float64, n)
	var unfinished []error
	for c := range n {
		one, err := labelTargets(t, c, points, labeled, out.labelName(c))
		if err != nil {
			return nil, err
		}
		m, err := w.Fit(ctx, one, &Settings{Method: SVM, Regularizer: s.Regularizer, Tolerance: s.Tolerance,
			MaxIterations: s.MaxIterations})
		if m == nil || !models.Usable(err) {
			return nil, err
		}
		if err != nil {
			unfinished = append(unfinished, fmt.Errorf("label %s: %w", out.labelName(c), err))
		}
		out.Intercepts[c] = m.Intercepts[0]
		out.Gap = max(out.Gap, m.Gap)
		out.Residual = max(out.Residual, m.Residual)
		for q, v := range mat.Col(nil, 0, m.Coefficients) {
			i := q
			if m.rows != nil {
				i = m.rows[q]
			}
			whole.Set(i, c, v)
		}
	}

	kept := &Machine{}
	kept.keep(d.Points, whole)
	out.Coefficients, out.Points = kept.Coefficients, kept.Points
	f, err := out.Predict(ctx, all.Source().Rows(), nil)
	if err != nil {
		return nil, err
	}
	out.Values = f.Scores
	return out, errors.Join(unfinished...)
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
