package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
)

// fitTargets are what a model is fitted to, and what was held back.
type fitTargets struct {
	n       int
	targets *models.Targets
	// Of classes: all that are given and those that are used.
	truth, y *data.Labels
	// Of values, and of labels of which a point may have several, the same, n×m, NaN
	// for none.
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
	switch {
	case regression:
		return a.fitValues(o, spec)
	case spec.targets == severalOrNumbers:
		return a.fitMultiLabels(o)
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
func (a *app) fitValues(o *fitOptions, spec *modelSpec) (*fitTargets, error) {
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
	if spec.targets == severalOrNumbers {
		return a.drawRows(o, values, models.PartialTargets)
	}
	return a.drawRows(o, values, models.ValueTargets)
}

// fitMultiLabels reads labels of which a point may have several.
func (a *app) fitMultiLabels(o *fitOptions) (*fitTargets, error) {
	if o.label.unlabeled != "" {
		return nil, usagef("--unlabeled is for classes; of several labels a point NaN marks what is not known")
	}
	y, err := a.readMultiLabels(o.y, nil, "")
	if err != nil {
		return nil, err
	}
	return a.drawRows(o, y.Y, func(block *mat.Dense) (*models.Targets, error) {
		t, err := models.LabelTargets(block, y.Values)
		if err != nil && y.Values == nil {
			err = fmt.Errorf("%w; if it holds values of a regression, give --regression", err)
		}
		return t, err
	})
}

// drawRows makes targets of the values of all points, or of as many as --labels
// says.
func (a *app) drawRows(o *fitOptions, values *mat.Dense, targets func(*mat.Dense) (*models.Targets, error)) (*fitTargets, error) {
	all, err := targets(values)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.y, err)
	}
	t := &fitTargets{n: all.Len, targets: all, values: values, used: values}
	if o.labels == 0 {
		return t, nil
	}
	given := make([]bool, t.n)
	for _, i := range all.Labeled {
		given[i] = true
	}
	drawn, err := data.NewLabels(make([]int64, t.n), given).Draw(o.labels, a.seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.y, err)
	}
	t.used = mat.DenseCopyOf(values)
	for i, c := range drawn.Index {
		if c == data.Unlabeled {
			blankRow(t.used, i)
		}
	}
	t.targets, err = targets(t.used)
	return t, err
}

// blankRow makes row i of values NaN.
func blankRow(values *mat.Dense, i int) {
	row := values.RawRowView(i)
	for j := range row {
		row[j] = math.NaN()
	}
}

// filled returns the numbers of the rows of values that are not all NaN.
func filled(values *mat.Dense) []int {
	var rows []int
	n, _ := values.Dims()
	for i := range n {
		if slices.ContainsFunc(values.RawRowView(i), func(v float64) bool { return !math.IsNaN(v) }) {
			rows = append(rows, i)
		}
	}
	return rows
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

// measured are answers beside the truth; nil where there is none.
type measured struct {
	Error *float64 `json:"error,omitempty"` // of classes, in percent
	RMSE  *float64 `json:"rmse,omitempty"`
	// MultiLabel is of points that may have several labels.
	MultiLabel *metrics.MultiLabelReport `json:"multilabel,omitempty"`
}

// measure compares answers with what was held back.
func (t *fitTargets) measure(p *models.Prediction) (measured, error) {
	if !t.heldBack() {
		return measured{}, nil
	}
	if t.values == nil {
		if e := 100 * metrics.ErrorRate(p.Classes, t.truth, t.y); !math.IsNaN(e) {
			return measured{Error: &e}, nil
		}
		return measured{}, nil
	}
	rest := mat.DenseCopyOf(t.values)
	for _, i := range t.targets.Labeled {
		blankRow(rest, i)
	}
	return measureValues(rest, p.Scores, t.targets.Labels)
}

// measureValues compares numbers with those of truth that are not NaN: scores of
// the labels of the columns, or, if labels is nil, values.
func measureValues(truth, predicted *mat.Dense, labels []int64) (measured, error) {
	if labels != nil {
		if len(filled(truth)) == 0 {
			return measured{}, nil
		}
		r, err := metrics.NewMultiLabelReport(truth, predicted)
		if r != nil {
			r.Labels = labels
		}
		return measured{MultiLabel: r}, err
	}
	var want, got []float64
	rows, _ := truth.Dims()
	for i := range rows {
		for j, v := range truth.RawRowView(i) {
			if !math.IsNaN(v) {
				want, got = append(want, v), append(got, predicted.At(i, j))
			}
		}
	}
	if len(want) == 0 {
		return measured{}, nil
	}
	e, err := metrics.RMSE(want, got)
	return measured{RMSE: &e}, err
}

// hash is that of what the model was fitted to.
func (t *fitTargets) hash() string {
	if t.values != nil {
		_, m := t.used.Dims()
		return data.HashPoints(&data.Dense[float64]{Rows: t.n, Cols: m, Data: t.used.RawMatrix().Data})
	}
	return data.HashPoints(&data.Dense[float64]{Rows: t.n, Cols: 1, Data: classValues(t.y)})
}
