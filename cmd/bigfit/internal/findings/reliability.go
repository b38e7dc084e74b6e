package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
)

const (
	// bins is the number of bins of probabilities of equal width, as in eval --proba.
	bins = 15
	// fewHeld is the number of labels held back below which nothing is measured.
	fewHeld = 30
	// curvePoints is the number of points of the curve of errors.
	curvePoints = 40
)

// reliability compares certainty with the labels that were held back: probabilities
// with the shares of right answers, and the error among the most certain answers.
func (v *view) reliability() []report.Block {
	var held []int
	for i := range v.used.Index {
		if v.held(i) {
			held = append(held, i)
		}
	}

	if v.sure == nil {
		return nil
	}
	// With fewer than 30 points the standard error of a share is about 9 %.
	if len(held) < fewHeld {
		return []report.Block{report.Paragraph(fmt.Sprintf("The labels of %d points were held back; "+
			"at least %d are needed to tell how often answers of a given certainty are right. Give "+
			"more labels and let the fit use a part of them.", len(held), fewHeld))}
	}
	var blocks []report.Block
	if v.Probabilities != nil {
		blocks = append(blocks, v.diagram(held))
	}
	return append(blocks, v.coverage(held))
}

// diagram draws the share of right answers over the probability, in bins.
func (v *view) diagram(held []int) report.Block {
	var count, right, sum [bins]float64
	// A probability of 1 belongs to the last bin.
	for _, i := range held {
		b := min(int(v.sure[i]*bins), bins-1)
		count[b]++
		sum[b] += v.sure[i]
		if !v.wrong(i) {
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
		gap += math.Abs(sum[b]-right[b]) / float64(len(held))
		s.X, s.Y = append(s.X, sum[b]/n), append(s.Y, share)
		s.Err = append(s.Err, math.Sqrt(share*(1-share)/n))
	}

	return &report.Figure{Title: "Probability and share of right answers",
		Charts: []chart.Chart{&chart.Lines{XLabel: "mean probability", YLabel: "share right",
			Series: []chart.Series{s, {Name: "as promised", X: []float64{0, 1}, Y: []float64{0, 1},
				Dashed: true}}}},
		Caption: fmt.Sprintf("The %d points whose labels were held back, in %d bins by the "+
			"probability of the answer; the bars are one standard error. Below the dashed line "+
			"answers are less often right than promised. Mean distance from it, the expected "+
			"calibration error: %.3f.", len(held), bins, gap)}
}

// coverage draws the error among the most certain answers over their share.
func (v *view) coverage(held []int) report.Block {
	order := slices.Clone(held)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(v.sure[b], v.sure[a]) })
	s := chart.Series{Name: "error"}
	wrong, next := 0, 1
	// The curve has a point for each fortieth of the held labels.
	for at, i := range order {
		if v.wrong(i) {
			wrong++
		}
		last := at+1 == len(order)
		if !last && (at+1)*curvePoints < next*len(order) || !last && v.sure[order[at+1]] == v.sure[i] {
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
		Caption: "Of the points whose labels were held back: the error if only so many, the most " +
			"certain ones, are answered and the others are left to a person."}
}
