package pipeline

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
)

// Targets holds the targets of a fit and the targets held back to measure the model.
type Targets struct {
	*models.Targets
	// truth holds all known classes, used the classes in use; nil for other targets.
	truth, used *data.Labels
	// values holds all known values, usedValues the values in use, n×m with NaN for none.
	// Labels of points that may have several are values too; both are nil for classes.
	values, usedValues *mat.Dense
	// Drawn tells that fits draw from the targets. Then it is no mistake if all points have
	// a target.
	Drawn bool
	// Answers of the annotators that the labels come from; nil if they come from none.
	Answers *data.Annotations
}

// ClassTargets makes targets of the classes y, or of labels of them drawn by seed; 0 labels
// means all.
func ClassTargets(y *data.Labels, labels int, seed uint64) (*Targets, error) {
	t, err := drawClasses(y, labels, seed)
	if err == nil {
		t.Targets, err = models.ClassTargets(t.used)
	}
	return t, err
}

// drawClasses draws labels of y, without the targets of the learner.
func drawClasses(y *data.Labels, labels int, seed uint64) (*Targets, error) {
	t := &Targets{truth: y, used: y}
	if labels > 0 && len(y.Labeled()) > 0 {
		var err error
		if t.used, err = y.Draw(labels, seed); err != nil {
			return t, err
		}
	}
	return t, nil
}

// InsideTargets makes targets of the points with a label, whatever the label.
func InsideTargets(y *data.Labels, labels int, seed uint64) (*Targets, error) {
	t, err := drawClasses(y, labels, seed)
	if err != nil {
		return t, err
	}
	block := mat.NewDense(y.Len(), 1, nil)
	for i, c := range t.used.Index {
		if c == data.Unlabeled {
			block.Set(i, 0, math.NaN())
		}
	}

	// There is no second class to compare answers with.
	t.truth = t.used
	t.Targets, err = models.ValueTargets(block)
	return t, err
}

// BlockTargets makes targets of an n×m block by code, or of labels of its known rows drawn by
// seed; 0 labels means all.
func BlockTargets(values *mat.Dense, code func(*mat.Dense) (*models.Targets, error), labels int,
	seed uint64) (*Targets, error) {
	all, err := code(values)
	if err != nil {
		return nil, err
	}
	t := &Targets{Targets: all, values: values, usedValues: values}
	if labels == 0 {
		return t, nil
	}
	// Rows are drawn as labels of one class would be, so that a seed draws the same points.
	given := make([]bool, all.Len)
	for _, i := range all.Labeled {
		given[i] = true
	}
	drawn, err := data.NewLabels(make([]int64, all.Len), given).Draw(labels, seed)
	if err != nil {
		return nil, err
	}

	t.usedValues = mat.DenseCopyOf(values)
	for i, c := range drawn.Index {
		if c == data.Unlabeled {
			blankRow(t.usedValues, i)
		}
	}

	t.Targets, err = code(t.usedValues)
	return t, err
}

// KnownTargets returns targets of which all are used, as a model keeps them.
func KnownTargets(t *models.Targets) *Targets {
	if t.Classes != nil {
		y := t.ClassLabels()
		return &Targets{Targets: t, truth: y, used: y}
	}

	_, m := t.Y.Dims()
	values := mat.NewDense(t.Len, m, nil)
	for i := range t.Len {
		blankRow(values, i)
	}
	for q, i := range t.Labeled {
		values.SetRow(i, t.Y.RawRowView(q))
	}
	return &Targets{Targets: t, values: values, usedValues: values}
}

// Used returns the classes that are used; nil for other targets.
func (t *Targets) Used() *data.Labels { return t.used }

// Known returns all known classes, including classes held back; nil for other targets.
func (t *Targets) Known() *data.Labels { return t.truth }

// Values returns the known values and the values in use, n×m with NaN for none; nil for
// classes.
func (t *Targets) Values() (known, used *mat.Dense) { return t.values, t.usedValues }

// HeldBack tells whether there are labels that are not used.
func (t *Targets) HeldBack() bool {
	if t.values != nil {
		return t.usedValues != t.values
	}
	return t.used != t.truth
}

// farFromZero is the number of standard deviations from which on a mean is far from 0.
const farFromZero = 2

// FarFromZero returns a column of the values in use whose mean is more than two standard deviations from 0, the farthest,
// with both; ok is false if there is none.
func (t *Targets) FarFromZero() (column int, mean, deviation float64, ok bool) {
	if t.usedValues == nil {
		return 0, 0, 0, false
	}
	n, m := t.usedValues.Dims()
	most := float64(farFromZero)
	for j := range m {
		var known []float64
		for i := range n {
			if v := t.usedValues.At(i, j); !math.IsNaN(v) {
				known = append(known, v)
			}
		}
		if len(known) < 2 {
			continue
		}
		at, d := stat.MeanStdDev(known, nil)
		if far := math.Abs(at) / d; d > 0 && far > most {
			most = far
			column, mean, deviation, ok = j, at, d, true
		}
	}
	return column, mean, deviation, ok
}

// Measured compares answers with the truth; nil fields do not apply.
type Measured struct {
	Error *float64 `json:"error,omitempty"` // share of wrong classes, in percent
	RMSE  *float64 `json:"rmse,omitempty"`
	// MultiLabel measures points that may have several labels.
	MultiLabel *metrics.MultiLabelReport `json:"multilabel,omitempty"`
}

// Measure compares answers for all points with the targets held back.
func (t *Targets) Measure(p *models.Prediction) (Measured, error) {
	if !t.HeldBack() {
		return Measured{}, nil
	}
	if t.values == nil {
		if e := 100 * metrics.ErrorRate(p.Classes, t.truth, t.used); !math.IsNaN(e) {
			return Measured{Error: &e}, nil
		}
		return Measured{}, nil
	}

	// Values that were used count as unknown.
	rest := mat.DenseCopyOf(t.values)
	for _, i := range t.Labeled {
		blankRow(rest, i)
	}
	m, err := MeasureValues(rest, p.Scores, t.Labels)
	return m.Named(t.Names), err
}

// Named returns m with names of labels.
func (m Measured) Named(names []string) Measured {
	if m.MultiLabel != nil && names != nil {
		m.MultiLabel.Labels = nil
		m.MultiLabel.Names = names
	}
	return m
}

// MeasureValues compares predicted with the entries of truth that are not NaN: scores of the
// labels of the columns, or values if labels is nil.
func MeasureValues(truth, predicted *mat.Dense, labels []int64) (Measured, error) {
	if labels != nil {
		if len(KnownRows(truth)) == 0 {
			return Measured{}, nil
		}
		r, err := metrics.NewMultiLabelReport(truth, predicted)
		if r != nil {
			r.Labels = labels
		}
		return Measured{MultiLabel: r}, err
	}

	// Only values that are known are measured.
	var want, got []float64
	rows, _ := truth.Dims()
	for i := range rows {
		for j, v := range truth.RawRowView(i) {
			if !math.IsNaN(v) {
				want = append(want, v)
				got = append(got, predicted.At(i, j))
			}
		}
	}

	if len(want) == 0 {
		return Measured{}, nil
	}
	e, err := metrics.RMSE(want, got)
	return Measured{RMSE: &e}, err
}

// Hash returns the hash of the targets that the model is fitted to.
func (t *Targets) Hash() string {
	if t.values != nil {
		n, m := t.usedValues.Dims()
		return data.HashPoints(&data.Dense[float64]{Rows: n, Cols: m, Data: t.usedValues.RawMatrix().Data})
	}
	// Equal numbers with other names are other labels.
	values := ClassValues(t.used)
	hash := data.HashPoints(&data.Dense[float64]{Rows: len(values), Cols: 1, Data: values})
	if !t.Plain() {
		soft := slices.Concat(t.Shares().RawMatrix().Data, t.Weights)
		hash = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %x", hash, soft)))
	}
	if t.used.Names != nil {
		hash = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %q", hash, t.used.Names)))
	}
	return hash
}

// ClassValues returns the class values with NaN for none.
func ClassValues(y *data.Labels) []float64 {
	out := make([]float64, y.Len())
	for i, c := range y.Index {
		out[i] = math.NaN()
		if c != data.Unlabeled {
			out[i] = float64(y.Classes[c])
		}
	}
	return out
}

// KnownRows returns the numbers of the rows that are not all NaN.
func KnownRows(values *mat.Dense) []int {
	var rows []int
	n, _ := values.Dims()
	for i := range n {
		if slices.ContainsFunc(values.RawRowView(i), func(v float64) bool { return !math.IsNaN(v) }) {
			rows = append(rows, i)
		}
	}
	return rows
}

// blankRow makes row i of values NaN.
func blankRow(values *mat.Dense, i int) {
	row := values.RawRowView(i)
	for j := range row {
		row[j] = math.NaN()
	}
}
