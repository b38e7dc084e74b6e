package main

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
)

// fitTargets are what a model is fitted to, and what was held back.
type fitTargets struct {
	n       int
	targets *models.Targets
	// Of classes: all that are given and those that are used.
	truth, y *data.Labels
	// Of values the same, n×m, NaN for none.
	values, used *mat.Dense
}

// fitTargets reads the labels or values and draws those that are used. What can
// be known to be wrong before anything is computed is refused. asked tells
// whether --regression was given.
func (a *app) fitTargets(o *fitOptions, spec *modelSpec, asked bool) (*fitTargets, error) {
	regression := o.regression
	switch {
	case asked && regression && !spec.takesNumbers():
		return nil, usagef("%s is no regression; %s are", spec.name, modelsThat((*modelSpec).takesNumbers))
	case asked && !regression && spec.targets == numbers:
		return nil, usagef("%s is a regression; leave --regression=false out", spec.name)
	case !asked && spec.targets == numbers:
		regression = true
	case !asked && holdsFractions(o.y, int64(a.memory)):
		if regression = spec.takesNumbers(); !regression && spec.targets != inside {
			if _, err := o.label.read(a, o.y); err != nil {
				return nil, fmt.Errorf("%w; %s learns classes, and %s values too", err, spec.name, modelsThat((*modelSpec).takesNumbers))
			}
		}
	}
	if regression {
		return a.fitValues(o)
	}
	t := &fitTargets{}
	var err error
	if t.truth, err = o.label.read(a, o.y); err != nil {
		return nil, err
	}
	t.n, t.y = t.truth.Len(), t.truth
	if o.labels > 0 && len(t.truth.Labeled()) > 0 {
		if t.y, err = t.truth.Draw(o.labels, a.seed); err != nil {
			return nil, fmt.Errorf("%s: %w", o.y, err)
		}
	}
	if p := o.own.eigenvectors; spec.base.eigenmap != nil && (p < 0 || p > t.n) {
		return nil, fmt.Errorf("--eigenvectors is %d and %s has %d points; it must be between 1 and %d, or 0 for the default", p, o.y, t.n, t.n)
	}
	if c := len(t.truth.Classes); spec.uses("priors") && len(o.own.priors) > 0 && len(o.own.priors) != c {
		return nil, usagef("--priors names %d shares and %s has %d classes", len(o.own.priors), o.y, c)
	}
	if spec.targets == inside {
		if t.targets, err = insideTargets(t.y); err != nil {
			return nil, fmt.Errorf("%s: no point is labeled; the labeled ones are those to be inside", o.y)
		}
		t.truth = t.y // nothing to compare with
		return t, nil
	}
	if err = o.label.twoClasses(a, t.y, o.y); err == nil {
		t.targets, err = models.ClassTargets(t.y)
	}
	return t, err
}

// holdsFractions tells whether a file holds numbers that are not all integers.
// What cannot be read is for the reader of labels to complain about.
func holdsFractions(path string, limit int64) bool {
	v, err := data.ReadValues(path, data.ReadOptions{Limit: limit})
	if err != nil {
		return false
	}
	for _, x := range v.RawMatrix().Data {
		if x != math.Trunc(x) && !math.IsNaN(x) {
			return true
		}
	}
	return false
}

// fitValues reads the values of a regression.
func (a *app) fitValues(o *fitOptions) (*fitTargets, error) {
	switch {
	case o.label.unlabeled != "":
		return nil, usagef("--unlabeled is for classes; in a regression NaN marks points without a value")
	case o.own.classMass:
		return nil, usagef("--class-mass is for classes, but %s holds values", o.y)
	}
	values, err := data.ReadValues(o.y, data.ReadOptions{Limit: int64(a.memory)})
	if err != nil {
		return nil, err
	}
	all, err := models.ValueTargets(values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.y, err)
	}
	t := &fitTargets{n: all.Len, targets: all, values: values, used: values}
	if o.labels > 0 {
		known := data.NewLabels(make([]int64, t.n), valued(values))
		drawn, err := known.Draw(o.labels, a.seed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.y, err)
		}
		t.used = mat.DenseCopyOf(values)
		for i, c := range drawn.Index {
			if c == data.Unlabeled {
				row := t.used.RawRowView(i)
				for j := range row {
					row[j] = math.NaN()
				}
			}
		}
		if t.targets, err = models.ValueTargets(t.used); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// valued tells of every row whether it is one of numbers.
func valued(values *mat.Dense) []bool {
	n, _ := values.Dims()
	out := make([]bool, n)
	for i := range out {
		out[i] = !math.IsNaN(values.At(i, 0))
	}
	return out
}

// insideTargets are the points with a label, whatever it is.
func insideTargets(y *data.Labels) (*models.Targets, error) {
	block := mat.NewDense(y.Len(), 1, nil)
	for i, c := range y.Index {
		if c == data.Unlabeled {
			block.Set(i, 0, math.NaN())
		}
	}
	return models.ValueTargets(block)
}

// heldBack tells whether there are labels that are not used.
func (t *fitTargets) heldBack() bool {
	if t.values != nil {
		return t.used != t.values
	}
	return t.y != t.truth
}

// errors returns the error in percent, or the RMSE, on what was held back; nil
// if nothing was.
func (t *fitTargets) errors(p *models.Prediction) (percent, rmse *float64, err error) {
	if !t.heldBack() {
		return nil, nil, nil
	}
	if t.values == nil {
		if e := 100 * models.ErrorRate(p.Classes, t.truth, t.y); !math.IsNaN(e) {
			return &e, nil, nil
		}
		return nil, nil, nil
	}
	rest := mat.DenseCopyOf(t.values)
	used := valued(t.used)
	for i := range used {
		if used[i] {
			rest.Set(i, 0, math.NaN())
		}
	}
	e, err := valueError(rest, p.Scores)
	return nil, e, err
}

// valueError returns the RMSE over the rows of truth that are numbers; nil if
// none is.
func valueError(truth, predicted *mat.Dense) (*float64, error) {
	var want, got []float64
	for i, ok := range valued(truth) {
		if ok {
			want, got = append(want, truth.RawRowView(i)...), append(got, predicted.RawRowView(i)...)
		}
	}
	if len(want) == 0 {
		return nil, nil
	}
	e, err := models.RMSE(want, got)
	return &e, err
}

// hash is that of what the model was fitted to.
func (t *fitTargets) hash() string {
	if t.values != nil {
		_, m := t.used.Dims()
		return data.HashPoints(&data.Dense[float64]{Rows: t.n, Cols: m, Data: t.used.RawMatrix().Data})
	}
	return data.HashPoints(&data.Dense[float64]{Rows: t.n, Cols: 1, Data: classValues(t.y)})
}
