package findings

import (
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
)

// maps shows the points in the plane: by answer, or by label where there are no
// answers, and by certainty.
func (v *view) maps() []report.Block {
	if v.Plane == nil {
		return nil
	}
	var marked []int
	for at, i := range v.Plane.Rows {
		if v.used.Index[i] != data.Unlabeled {
			marked = append(marked, at)
		}
	}

	if 8*len(marked) > len(v.Plane.Rows) {
		marked = nil // many rings hide the points
	}
	draw := func(class func(i int) int, classes []string, scale bool) []chart.Chart {
		p := chart.Points{X: v.Plane.X, Y: v.Plane.Y, Classes: classes, Scale: scale, Marked: marked,
			MarkedName: "label given"}
		for _, i := range v.Plane.Rows {
			p.Class = append(p.Class, class(i))
		}
		return []chart.Chart{&chart.Scatter{XLabel: v.Plane.XName, YLabel: v.Plane.YName, Points: p}}
	}

	// The caption tells when only a sample of the points is drawn.
	where := v.Plane.How
	if n := len(v.used.Index); len(v.Plane.Rows) < n {
		where += sampled(len(v.Plane.Rows), n)
	}
	if v.answers == nil {
		return []report.Block{&report.Figure{Title: "Coloured by label", Caption: where,
			Charts: draw(func(i int) int { return int(v.used.Index[i]) }, v.names(), false)}}
	}
	blocks := []report.Block{&report.Figure{Title: "Coloured by answer", Caption: where,
		Charts: draw(func(i int) int { return int(v.answers[i]) }, v.names(), false)}}
	if v.sure == nil {
		return blocks
	}

	// Certainty is drawn in five steps: a page tells five shades apart, and no more.
	step, names := steps(v.sure, v.Probabilities != nil)
	caption := "The darker, on a dark page the lighter, the less certain: by the probability p of the answer."
	if v.Probabilities == nil {
		caption = "The darker, on a dark page the lighter, the less certain: by the largest score " +
			"less the second, in fifths of the points."
	}
	return append(blocks, &report.Figure{Title: "Coloured by certainty", Caption: caption,
		Charts: draw(func(i int) int { return step[i] }, names, true)})
}

// limits are the probabilities between the steps of certainty.
var limits = [chart.MaxSteps - 1]float64{0.5, 0.7, 0.9, 0.99}

// steps returns the step of each certainty, the least certain first, and what the steps
// are called: by limits of probabilities, or by fifths.
func steps(sure []float64, probabilities bool) (step []int, names []string) {
	bounds := limits
	names = []string{"p < 0.5", "0.5 to 0.7", "0.7 to 0.9", "0.9 to 0.99", "p ≥ 0.99"}
	if !probabilities {
		// Margins of scores have no scale of their own, so each step holds a fifth of the points.
		sorted := slices.Sorted(slices.Values(sure))
		for k := range bounds {
			bounds[k] = sorted[(k+1)*len(sorted)/chart.MaxSteps]
		}
		names = []string{"least certain fifth", "second", "third", "fourth", "most certain fifth"}
	}

	step = make([]int, len(sure))
	for i, s := range sure {
		for step[i] < len(bounds) && s >= bounds[step[i]] {
			step[i]++
		}
	}
	return step, names
}
