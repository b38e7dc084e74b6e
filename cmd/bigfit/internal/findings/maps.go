package findings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
)

// maps shows the points in the plane: by answer, or by label where there are no answers, and by
// certainty.
func (v *view) maps() []report.Block {
	if v.Plane == nil {
		return nil
	}
	var marked []int
	m := &report.Map{Title: "Map of the points", X: v.Plane.X, Y: v.Plane.Y, XLabel: v.Plane.XName,
		YLabel: v.Plane.YName, MarkedName: "label given"}
	for at, i := range v.Plane.Rows {
		m.Names = append(m.Names, v.name(i))
		m.Notes = append(m.Notes, v.words(i))
		if v.used.Index[i] != data.Unlabeled {
			marked = append(marked, at)
		}
	}
	// Many rings hide the points.
	if 8*len(marked) <= len(v.Plane.Rows) {
		m.Marked = marked
	}

	// The caption tells when only a sample of the points is drawn.
	m.Caption = v.Plane.How
	if n := len(v.used.Index); len(v.Plane.Rows) < n {
		m.Caption += sampled(len(v.Plane.Rows), n)
	}
	add := func(view report.View, class func(i int) int) {
		for _, i := range v.Plane.Rows {
			view.Class = append(view.Class, class(i))
		}
		m.Views = append(m.Views, view)
	}
	if v.answers == nil {
		add(report.View{Name: "label", Classes: v.names()}, func(i int) int { return int(v.used.Index[i]) })
		return []report.Block{m}
	}
	add(report.View{Name: "answer", Classes: v.names()}, func(i int) int { return int(v.answers[i]) })
	if v.sure == nil {
		return []report.Block{m}
	}

	// Certainty is drawn in five steps: a page tells five shades apart, and no more.
	step, names := steps(v.sure, v.Probabilities != nil)
	caption := "The darker, on a dark page the lighter, the less certain: by the probability p of the answer."
	if v.Probabilities == nil {
		caption = "The darker, on a dark page the lighter, the less certain: by the largest score " +
			"less the second, in fifths of the points."
	}
	add(report.View{Name: "certainty", Caption: caption, Classes: names, Scale: true},
		func(i int) int { return step[i] })
	return []report.Block{m}
}

// words is the text under the pointer for point i, beside its name and its answer.
func (v *view) words(i int) string {
	var parts []string
	if v.sure != nil && v.Probabilities != nil {
		parts = append(parts, fmt.Sprintf("p = %.2f", v.sure[i]))
	}
	if c := v.known.Index[i]; c != data.Unlabeled && v.answers != nil {
		parts = append(parts, "label: "+v.known.Name(c))
	}
	if v.Shown != nil {
		if text := v.Shown.text(i, mostHovered); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " · ")
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
