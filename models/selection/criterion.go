package selection

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
)

// Criterion of a cross-validation: the measure by which settings are compared.
type Criterion int

const (
	// DefaultCriterion is RMSECriterion for values and else ErrorCriterion.
	DefaultCriterion Criterion = iota
	// ErrorCriterion is the share of wrong classes, or of wrong labels; of soft or weighted labels the
	// expected one, [models.Targets.ExpectedError].
	ErrorCriterion
	// RMSECriterion is [metrics.RMSE], over all outputs of a regression.
	RMSECriterion
	// F1Criterion, PRBEPCriterion and AUCCriterion are [metrics.Confusion.F1], [metrics.PRBEP]
	// and [metrics.AUC] of the larger of two classes, or the mean over more classes, each
	// against all others, where it is defined. For several labels a point, F1 counts the
	// entries of all labels together and AUC is the mean over the labels.
	F1Criterion
	PRBEPCriterion
	AUCCriterion
)

// targetKind says for which targets a criterion measures answers.
type targetKind int

const (
	ofClasses targetKind = 1 << iota
	ofLabels
	ofValues
)

// criterionTable has a row for each criterion.
var criterionTable = [...]struct {
	name   string
	larger bool // larger values are the better ones
	of     targetKind
}{
	DefaultCriterion: {name: "default"},
	ErrorCriterion:   {name: "error", of: ofClasses | ofLabels},
	RMSECriterion:    {name: "rmse", of: ofValues},
	F1Criterion:      {name: "f1", larger: true, of: ofClasses | ofLabels},
	PRBEPCriterion:   {name: "prbep", larger: true, of: ofClasses},
	AUCCriterion:     {name: "auc", larger: true, of: ofClasses | ofLabels},
}

var criteria = enum.Of[Criterion]("metric", len(criterionTable),
	func(i int) string { return criterionTable[i].name })

// criteriaOf returns the criteria for targets of a kind.
func criteriaOf(kind targetKind) []Criterion {
	var out []Criterion
	for i := range criterionTable {
		if criterionTable[i].of&kind != 0 {
			out = append(out, Criterion(i))
		}
	}
	return out
}

// String returns the name used on the command line and in reports.
func (c Criterion) String() string { return criteria.String(c) }

// MarshalText returns the name.
func (c Criterion) MarshalText() ([]byte, error) { return criteria.Marshal(c) }

// UnmarshalText is the inverse of MarshalText.
func (c *Criterion) UnmarshalText(text []byte) error { return criteria.Unmarshal(c, text) }

// Larger tells whether larger values are the better ones.
func (c Criterion) Larger() bool { return criteria.Valid(c) && criterionTable[c].larger }

// of returns the criterion for targets, with the default replaced, or an error if it does not
// fit them.
func (c Criterion) of(y *models.Targets) (Criterion, error) {
	kind, what := ofClasses, "classes"
	switch {
	case y.Labels != nil:
		kind, what = ofLabels, "several labels a point"
	case y.Classes == nil:
		kind, what = ofValues, "values"
	}
	fitting := criteriaOf(kind)
	if c == DefaultCriterion {
		c = fitting[0]
	}
	if !slices.Contains(fitting, c) {
		return c, fmt.Errorf("selection: criterion %v; for %s take %s", c, what, enum.Or(fitting))
	}
	return c, nil
}

// Measure returns the criterion c, which must not be DefaultCriterion, of an answer for
// the points that s holds out of t; NaN where it is not defined for them. Of s it reads
// Held and Train.
func Measure(t *models.Targets, c Criterion, s *models.Split, a models.Answer) (float64, error) {
	switch {
	case t.Labels != nil:
		return measureLabels(t, c, s, a)
	case t.Classes == nil:
		return measureValues(t, s, a)
	}

	// Classes of the training part may be fewer, so positions are turned into class names.
	truth := make([]int64, len(s.Held))
	predicted := make([]int64, len(s.Held))
	for i, q := range s.Held {
		truth[i] = t.Classes[t.Class(q)]
		predicted[i] = s.Train.Classes[a.Classes[i]]
	}
	// The expected error by distributions and weights; the other criteria take the most probable class.
	if c == ErrorCriterion && !t.Plain() {
		answers := make([]int32, len(predicted))
		for i, class := range predicted {
			answers[i] = int32(slices.Index(t.Classes, class))
		}
		return t.ExpectedError(s.Held, answers), nil
	}
	r, err := metrics.NewReport(truth, predicted)
	if err != nil {
		return 0, err
	}
	if c == ErrorCriterion {
		return r.Error, nil
	}
	if err := r.AddScores(truth, a.Scores, s.Train.Classes); err != nil {
		return 0, err
	}

	// With more than two classes there is no positive class, and the mean over the classes
	// counts.
	if len(t.Classes) > 2 {
		return map[Criterion]float64{F1Criterion: r.MacroF1, PRBEPCriterion: float64(*r.MacroPRBEP),
			AUCCriterion: float64(*r.MacroAUC)}[c], nil
	}
	if r.SetPositive(t.Classes[1]) != nil {
		return math.NaN(), nil // no such point is held out, and none is predicted
	}
	return map[Criterion]float64{F1Criterion: r.Positive.F1, PRBEPCriterion: float64(*r.Positive.PRBEP),
		AUCCriterion: float64(*r.Positive.AUC)}[c], nil
}

// measureValues returns the RMSE over the values that are known.
func measureValues(t *models.Targets, s *models.Split, a models.Answer) (float64, error) {
	var truth, predicted []float64
	for i, q := range s.Held {
		for j, v := range t.Y.RawRowView(q) {
			if !math.IsNaN(v) {
				truth = append(truth, v)
				predicted = append(predicted, a.Scores.At(i, j))
			}
		}
	}

	if len(truth) == 0 {
		return math.NaN(), nil
	}
	return metrics.RMSE(truth, predicted)
}

// measureLabels takes the Hamming loss for the error, micro F1, and the mean AUC.
func measureLabels(t *models.Targets, c Criterion, s *models.Split, a models.Answer) (float64, error) {
	_, n := t.Y.Dims()
	truth := dense.Gather(mat.NewDense(len(s.Held), n, nil), t.Y, s.Held)
	r, err := metrics.NewMultiLabelReport(truth, a.Scores)
	if err != nil {
		return 0, err
	}
	return map[Criterion]float64{ErrorCriterion: float64(r.HammingLoss), F1Criterion: float64(r.MicroF1),
		AUCCriterion: float64(r.MeanAUC)}[c], nil
}
