package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
)

const (
	// bins is the number of bins of probabilities of equal width, as in eval --proba.
	bins = 15
	// fewHeld is the number of checked labels below which nothing is drawn.
	fewHeld = 30
	// curvePoints is the number of points of the curve of errors.
	curvePoints = 40
)

// reliability compares answers with labels that their models did not know: which classes are taken
// for which, probabilities with the shares of right answers, and the error among the most certain
// answers.
func (v *view) reliability() []report.Block {
	if v.answers == nil {
		return nil
	}
	// With fewer than 30 points the standard error of a share is about 9 %.
	e := v.checked
	if e.count() < fewHeld {
		return []report.Block{report.Paragraph(fmt.Sprintf("%s could be checked against answers of models that did "+
			"not know them; at least %d are needed to tell how often answers of a given certainty are right. %s",
			count(e.count(), "label"), fewHeld, v.uncheckedWhy()))}
	}

	blocks := []report.Block{v.mistaken()}
	if e.sure == nil {
		return blocks
	}
	if e.probable {
		blocks = append(blocks, e.diagram())
	}
	// Without a mistake the curve is a line at 0.
	if wrong, _ := e.wrongAbove(0); wrong > 0 {
		blocks = append(blocks, e.coverage())
	}
	return blocks
}

// uncheckedWhy says why few labels were checked, and what to do.
func (v *view) uncheckedWhy() string {
	switch _, all := v.tallies(); {
	case all.labels < fewHeld:
		return "Give more labels."
	case v.Calibration == nil || v.Calibration.Rough():
		return "This fit held none out; --calibrate 10 does, at the cost of ten more fits."
	}
	return "Classes with a single label cannot be checked; give more labels of each."
}

// diagram draws the share of right answers over the probability, in bins.
func (e *evidence) diagram() report.Block {
	var count, right, sum [bins]float64
	// A probability of 1 belongs to the last bin.
	for k, p := range e.sure {
		b := min(int(p*bins), bins-1)
		count[b]++
		sum[b] += p
		if e.right(k) {
			right[b]++
		}
	}

	s := chart.Series{Name: "answers", Points: true}
	gap := 0.0
	for b, n := range count {
		if n == 0 {
			continue
		}
		// The calibration error is Σ (n_b/n)·|mean probability − share|; n_b cancels.
		share := right[b] / n
		gap += math.Abs(sum[b]-right[b]) / float64(len(e.points))
		s.X = append(s.X, sum[b]/n)
		s.Y = append(s.Y, share)
		s.Err = append(s.Err, math.Sqrt(share*(1-share)/n))
	}

	return &report.Figure{Title: "Probability and share of right answers",
		Charts: []chart.Chart{&chart.Lines{XLabel: "mean probability", YLabel: "share right",
			Series: []chart.Series{s, {Name: "as promised", X: []float64{0, 1}, Y: []float64{0, 1},
				Dashed: true}}}},
		Caption: fmt.Sprintf("%s %s, in %d bins by the probability of the answer; the bars are one "+
			"standard error. Below the dashed line answers are less often right than promised. Mean "+
			"distance from it, the expected calibration error: %.3f.", thousands(len(e.points)), e.how, bins, gap)}
}

// coverage draws the error among the most certain answers over their share.
func (e *evidence) coverage() report.Block {
	order := data.Range(0, len(e.points))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(e.sure[b], e.sure[a]) })
	s := chart.Series{Name: "error"}
	wrong := 0
	next := 1
	// The curve has a point for each fortieth of the labels.
	for at, k := range order {
		if !e.right(k) {
			wrong++
		}
		last := at+1 == len(order)
		if !last && (at+1)*curvePoints < next*len(order) || !last && e.sure[order[at+1]] == e.sure[k] {
			continue // points of equal certainty are taken together
		}
		for (at+1)*curvePoints >= next*len(order) {
			next++
		}
		s.X = append(s.X, 100*float64(at+1)/float64(len(order)))
		s.Y = append(s.Y, 100*float64(wrong)/float64(at+1))
	}

	return &report.Figure{Title: "Error of the most certain answers",
		Charts: []chart.Chart{&chart.Lines{XLabel: "share of the points answered, %", YLabel: "error, %",
			Series: []chart.Series{s}}},
		Caption: "Of the same labels: the error if only this share of the points, the most certain ones, is " +
			"answered and the others are left to a person."}
}
