package selection

import (
	"math"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
)

// Criterion is what cross-validation measures.
type Criterion int

const (
	// DefaultCriterion is ErrorCriterion for classes and RMSECriterion for
	// values.
	DefaultCriterion Criterion = iota
	// ErrorCriterion is the share of wrong classes.
	ErrorCriterion
	// RMSECriterion is [metrics.RMSE], over all outputs of a regression.
	RMSECriterion
	// F1Criterion, PRBEPCriterion and AUCCriterion are [metrics.Confusion.F1], [metrics.PRBEP]
	// and [metrics.AUC] of the larger of two classes, or the mean over more classes, each
	// against all others, where it is defined.
	F1Criterion
	PRBEPCriterion
	AUCCriterion
)

var criterionNames = []string{"default", "error", "rmse", "f1", "prbep", "auc"}

// measure returns the criterion for the points held in s; NaN where it is not
// defined for them.
func measure(t *models.Targets, c Criterion, s *models.Split, a models.Answer) (float64, error) {
	if t.Classes == nil {
		var truth, predicted []float64
		for i, q := range s.Held {
			truth = append(truth, t.Y.RawRowView(q)...)
			predicted = append(predicted, a.Scores.RawRowView(i)...)
		}
		return metrics.RMSE(truth, predicted)
	}
	truth, predicted := make([]int64, len(s.Held)), make([]int64, len(s.Held))
	for i, q := range s.Held {
		truth[i], predicted[i] = t.Classes[t.Class(q)], s.Train.Classes[a.Classes[i]]
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
	if len(t.Classes) > 2 {
		return map[Criterion]float64{F1Criterion: r.MacroF1, PRBEPCriterion: float64(*r.MacroPRBEP), AUCCriterion: float64(*r.MacroAUC)}[c], nil
	}
	if r.SetPositive(t.Classes[1]) != nil {
		return math.NaN(), nil // no such point is held out, and none is predicted
	}
	return map[Criterion]float64{F1Criterion: r.Positive.F1, PRBEPCriterion: float64(*r.Positive.PRBEP), AUCCriterion: float64(*r.Positive.AUC)}[c], nil
}
