package labeling

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
)

// enoughJudged is the share of the labels that the answers of a fit must judge.
const enoughJudged = 0.9

// SuspectsOfFit lists the labels in t that disagree with the answers that m, the model of a fit to t,
// has for labels held out: see [calibration.Out]. It takes no further fit. The result is nil if m has no
// such answers, or has them for less than 90 % of the labels that can be judged: labels whose class has
// another one.
func SuspectsOfFit(m models.Model, t *models.Targets) *active.Suspects {
	c := models.CalibrationOf(m)
	if c == nil || c.Out == nil || c.Out.Probabilities == nil || t.Classes == nil {
		return nil
	}
	count := make([]int, len(t.Classes))
	for q := range t.Labeled {
		count[t.Class(q)]++
	}
	able := 0
	for _, labels := range count {
		if labels > 1 {
			able += labels
		}
	}

	shares := mat.NewDense(len(t.Labeled), len(t.Classes), nil)
	known := make([]bool, len(t.Labeled))
	judged := 0
	rows := RowsOf(m, t.Len)
	for q, i := range t.Labeled {
		at, ok := slices.BinarySearch(c.Out.Points, int32(rowAt(rows, i)))
		if !ok {
			continue
		}
		known[q] = true
		copy(shares.RawRowView(q), c.Out.Probabilities.RawRowView(at))
		judged++
	}
	if float64(judged) < enoughJudged*float64(able) || judged == 0 {
		return nil
	}

	out := active.Disagreeing(t, shares, known)
	out.Folds = c.Folds
	out.ByFit = true
	return out
}

// RowsOf returns the numbers that the n points which m keeps had in the fit; nil if n is another number,
// or if m keeps all points.
func RowsOf(m models.Model, n int) []int32 {
	if m == nil {
		return nil
	}
	u, ok := models.Unnamed(m).(models.Updater)
	if !ok || len(u.Kept().Rows) != n {
		return nil
	}
	return u.Kept().Rows
}

// rowAt returns the number that point i had in the fit, by [RowsOf].
func rowAt(rows []int32, i int) int {
	if rows == nil {
		return i
	}
	return int(rows[i])
}

// SuspectsOfProbabilities lists the labels in t that disagree with the probabilities of all points for the
// classes of t, by a model that did not know these labels.
func SuspectsOfProbabilities(t *models.Targets, p *mat.Dense) *active.Suspects {
	shares := mat.NewDense(len(t.Labeled), len(t.Classes), nil)
	known := make([]bool, len(t.Labeled))
	for q, i := range t.Labeled {
		known[q] = true
		copy(shares.RawRowView(q), p.RawRowView(i))
	}
	return active.Disagreeing(t, shares, known)
}

// OutliersOfFit lists the values in t that are far from the answers of m, the model of a fit to t, for
// values held out: see [active.Outliers]. It reports whether m has such answers for all values.
func OutliersOfFit(m models.Model, t *models.Targets) ([]active.Outlier, bool) {
	c := models.CalibrationOf(m)
	if c == nil || c.Out == nil || c.Out.Residuals == nil || t.Classes != nil || len(c.Out.Points) != len(t.Labeled) {
		return nil, false
	}
	return active.Outliers(t, c.Out.Residuals), true
}
