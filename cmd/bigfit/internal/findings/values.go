package findings

import (
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
)

// values are the sections of a regression: of one value a point, and of several the
// first.
func (f *Fit) values() []report.Section {
	known, used := f.Targets.Values()
	if known == nil || f.Answers == nil || f.Answers.Scores == nil {
		return nil
	}
	n, columns := f.Answers.Scores.Dims()
	at := func(i int) float64 { return f.Answers.Scores.At(i, 0) }
	var given, truth, answer []float64
	// A value is given, held back, or unknown; unknown ones count among the answers alone.
	for i := range n {
		switch {
		case !math.IsNaN(used.At(i, 0)):
			given = append(given, used.At(i, 0))
		case !math.IsNaN(known.At(i, 0)):
			truth, answer = append(truth, known.At(i, 0)), append(answer, at(i))
		}
	}

	all := make([]float64, n)
	for i := range all {
		all[i] = at(i)
	}
	table := &report.Table{Header: []string{"values", "points", "least", "median", "largest"}}
	for _, c := range []struct {
		name string
		of   []float64
	}{{"given", given}, {"answers", all}, {"held back", truth}} {
		if len(c.of) > 0 {
			sorted := slices.Sorted(slices.Values(c.of))
			table.Rows = append(table.Rows, []string{c.name, fmt.Sprint(len(sorted)), short(sorted[0]),
				short(sorted[len(sorted)/2]), short(sorted[len(sorted)-1])})
		}
	}

	// The median is the upper one of two, so that it is a value that occurs.
	blocks := []report.Block{table}
	if columns > 1 {
		blocks = append(blocks, report.Paragraph(
			fmt.Sprintf("Answers have %d columns; this report is on the first.", columns)))
	}
	if len(truth) > 0 {
		// The dashed line spans both axes' values.
		low := min(slices.Min(truth), slices.Min(answer))
		high := max(slices.Max(truth), slices.Max(answer))
		blocks = append(blocks, &report.Figure{Title: "Answers and values held back",
			Caption: "On the line answers are right.",
			Charts: []chart.Chart{&chart.Lines{XLabel: "value held back", YLabel: "answer",
				Series: []chart.Series{{Name: "points", X: sampleOf(truth), Y: sampleOf(answer),
					Points: true},
					{Name: "right", X: []float64{low, high}, Y: []float64{low, high}, Dashed: true}}}}})
	}

	sections := []report.Section{{Title: "Values", Blocks: blocks}}
	if f.Plane == nil {
		return sections
	}
	step, _ := steps(all, false)
	p := chart.Points{X: f.Plane.X, Y: f.Plane.Y, Scale: true,
		Classes: []string{"smallest fifth", "second", "third", "fourth", "largest fifth"}}
	for _, i := range f.Plane.Rows {
		p.Class = append(p.Class, step[i])
	}
	return append(sections, report.Section{Title: "The points in the plane", Blocks: []report.Block{
		&report.Figure{Title: "Coloured by answer", Caption: f.Plane.How,
			Charts: []chart.Chart{&chart.Scatter{XLabel: f.Plane.XName, YLabel: f.Plane.YName, Points: p}}}}})
}

// short writes a value with four significant digits.
func short(x float64) string { return fmt.Sprintf("%.4g", x) }

// mostValues bounds the points of a chart of values: each of them is an element of the page.
const mostValues = 2000

// sampleOf returns x, or mostValues of its values at equal distances.
func sampleOf(x []float64) []float64 {
	if len(x) <= mostValues {
		return x
	}
	out := make([]float64, mostValues)
	for i := range out {
		out[i] = x[i*len(x)/mostValues]
	}
	return out
}

// sampled says that a figure shows a part of the points.
func sampled(shown, of int) string {
	return fmt.Sprintf(" %d of %d points are drawn, those with labels first.", shown, of)
}

// labels are the sections of points that may have several labels.
func (f *Fit) labels() []report.Section {
	_, used := f.Targets.Values()
	if used == nil || f.Answers == nil || f.Answers.Scores == nil {
		return nil
	}
	table := &report.Table{Header: []string{"label", "points given", "have it", "share",
		"answers that have it", "share"}}
	n, _ := f.Answers.Scores.Dims()
	// Positive scores stand for the label, as in eval --multilabel.
	for j, label := range f.Targets.Labels {
		known := 0
		has := 0
		answered := 0
		for i := range n {
			if y := used.At(i, j); !math.IsNaN(y) {
				known++
				if y > 0 {
					has++
				}
			}
			if f.Answers.Scores.At(i, j) > 0 {
				answered++
			}
		}

		table.Rows = append(table.Rows, []string{fmt.Sprint(label), fmt.Sprint(known), fmt.Sprint(has),
			percent(has, known), fmt.Sprint(answered), percent(answered, n)})
	}

	return []report.Section{{Title: "Labels", Blocks: []report.Block{table}}}
}
