package main

import (
	"cmp"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// targetOptions say what a model is to learn.
type targetOptions struct {
	y          string
	labels     int // number to use; 0 for all
	regression bool
	asked      bool // --regression was given
	label      labelOptions
}

// learnsValues tells whether a learner can learn values.
func learnsValues(l models.Learner) bool { return l.Info().Learns.Has(models.LearnsValues) }

// readTargets reads the labels or values and draws those that are used. What can be
// known to be wrong before anything is computed is refused.
func (a *app) readTargets(o *targetOptions, l models.Learner, n int) (*pipeline.Targets, error) {
	info := l.Info()
	learns := info.Learns
	regression := o.regression
	// What cannot be read is for the reader of labels to complain about.
	how := &data.LabelFile{}
	numbers, notNumbers := a.readNumbers(o.y, n, how)
	switch {
	case o.asked && regression && !learnsValues(l):
		return nil, usagef("%s is no regression; %s are", info.Name, learnersThat(learnsValues))
	case o.asked && !regression && learns == models.LearnsValues:
		return nil, usagef("%s is a regression; leave --regression=false out", info.Name)
	case !o.asked && learns == models.LearnsValues:
		regression = true
	case !o.asked && notNumbers == nil && pipeline.HoldsFractions(numbers):
		if regression = learnsValues(l); !regression && !learns.Has(models.LearnsInside) {
			if _, err := o.label.read(a, o.y, n); err != nil {
				return nil, fmt.Errorf("%w; %s learns classes, and %s values too", err, info.Name, learnersThat(learnsValues))
			}
		}
	}
	switch {
	case regression && notNumbers != nil:
		return nil, notNumbers
	case regression:
		a.notes(how.Notes...)
		a.warn(how.Warnings...)
		return a.regression(o, numbers, learns)
	case learns.Has(models.LearnsLabels) && o.y == "":
		return nil, usagef("--label holds one label a point; %s learns several: give them with -y", info.Name)
	case learns.Has(models.LearnsLabels):
		return a.readLabelBlock(o)
	}
	y, err := o.label.read(a, o.y, n)
	if err != nil {
		return nil, err
	}
	if learns.Has(models.LearnsInside) {
		t, err := pipeline.InsideTargets(y, o.labels, a.seed)
		if err != nil {
			return nil, fmt.Errorf("%s: no point is labeled; the labeled ones are those to be inside", o.from(a))
		}
		return t, nil
	}
	if need := targetBytes(y, o.labels); need > int64(a.memory) {
		return nil, &npy.LimitError{What: o.from(a) + ": a number for each labeled point and class", Need: need, Limit: int64(a.memory)}
	}
	t, err := pipeline.ClassTargets(y, o.labels, a.seed)
	if t.Used() != nil {
		if err := pipeline.CheckTwoClasses(t.Used(), o.from(a)); err != nil {
			a.sayLabels(t, nil)
			return nil, err
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.from(a), err)
	}
	return t, nil
}

// from names the file of the labels, or the column of the points.
func (o *targetOptions) from(a *app) string { return cmp.Or(o.y, "--label "+a.points.label) }

// targetBytes is the memory of the targets of classes: see [models.Targets].
func targetBytes(y *data.Labels, labels int) int64 {
	l := len(y.Labeled())
	if labels > 0 {
		l = min(l, labels)
	}
	return 8 * int64(l) * int64(len(y.Classes))
}

// readNumbers reads the values of n points, without a path those in the file of the points.
func (a *app) readNumbers(path string, n int, how *data.LabelFile) (*mat.Dense, error) {
	if path == "" {
		return a.points.table.Values()
	}
	ids, err := a.points.identify(a)
	if err != nil {
		return nil, err
	}
	return data.ReadValues(path, data.ReadOptions{Limit: int64(a.memory), Points: n, IDs: ids, File: how})
}

// regression takes the values of a regression.
func (a *app) regression(o *targetOptions, values *mat.Dense, learns models.Learns) (*pipeline.Targets, error) {
	if o.label.unlabeled != nil {
		return nil, usagef("--unlabeled is for classes; in a regression NaN marks points without a value")
	}
	code := models.ValueTargets
	if learns.Has(models.LearnsLabels) {
		code = models.PartialTargets
	}
	t, err := pipeline.BlockTargets(values, code, o.labels, a.seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.from(a), err)
	}
	a.note("values: those of %d of %d points; the others are NaN or not listed", len(t.Labeled), t.Len)
	return t, nil
}

// readLabelBlock reads labels of which a point may have several.
func (a *app) readLabelBlock(o *targetOptions) (*pipeline.Targets, error) {
	if o.label.unlabeled != nil {
		return nil, usagef("--unlabeled is for classes; of several labels a point NaN marks what is not known")
	}
	y, err := pipeline.ReadMultiLabels(o.y, nil, "", int64(a.memory))
	if err != nil {
		return nil, err
	}
	t, err := pipeline.BlockTargets(y.Y, func(block *mat.Dense) (*models.Targets, error) {
		t, err := models.LabelTargets(block, y.Values)
		if err != nil && y.Values == nil {
			err = fmt.Errorf("%w; if it holds values of a regression, give --regression", err)
		}
		return t, err
	}, o.labels, a.seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.from(a), err)
	}
	return t, nil
}
