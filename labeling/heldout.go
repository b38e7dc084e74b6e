package labeling

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
)

// HeldOutSuspects lists the labels of t that disagree with the held-out answers of a calibration, at no
// cost: the answers are those of the fit. Labels without such an answer count as unknown. It returns nil
// if the calibration keeps no answers.
func HeldOutSuspects(t *models.Targets, c *calibration.Calibration) *active.Suspects {
	if t.Classes == nil || c == nil || c.Out == nil {
		return nil
	}
	shares := mat.NewDense(len(t.Labeled), len(t.Classes), nil)
	known := make([]bool, len(t.Labeled))
	for k, i := range c.Out.Points {
		// The labels may have changed since the answers were held out.
		q, ok := slices.BinarySearch(t.Labeled, int(i))
		if !ok {
			continue
		}
		known[q] = true
		shares.SetRow(q, c.Out.Probabilities.RawRowView(k))
	}
	return active.Disagreeing(t, shares, known, c.Folds)
}
