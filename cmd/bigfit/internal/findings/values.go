package findings

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/calibration"
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
	// A value is given, held out, or unknown; unknown ones count among the answers alone.
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
	}{{"given", given}, {"answers", all}, {"held out", truth}} {
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
	held, heldAnswers, what := truth, answer, "held out"
	if len(truth) == 0 {
		held, heldAnswers = f.heldOutValues(used)
		what = "left out"
	}
	if len(held) > 0 {
		// The dashed line spans both axes' values.
		low := min(slices.Min(held), slices.Min(heldAnswers))
		high := max(slices.Max(held), slices.Max(heldAnswers))
		blocks = append(blocks, &report.Figure{Title: "Answers and values " + what,
			Caption: "Answers of models that did not know the value. On the line answers are right.",
			Charts: []chart.Chart{&chart.Lines{XLabel: "value " + what, YLabel: "answer",
				Series: []chart.Series{{Name: "points", X: sampleOf(held), Y: sampleOf(heldAnswers),
					Points: true},
					{Name: "right", X: []float64{low, high}, Y: []float64{low, high}, Dashed: true}}}}})
	}

	sections := []report.Section{{Blocks: []report.Block{f.valuesHeadline(len(given), truth, answer)}},
		{Title: "Values", Blocks: blocks}}
	if list := f.outliers(); list != nil {
		sections = append(sections, report.Section{Title: "Points to look at", Blocks: []report.Block{list}})
	}
	if f.Plane == nil {
		return sections
	}
	step, _ := steps(all, false)
	view := report.View{Name: "answer", Scale: true,
		Classes: []string{"smallest fifth", "second", "third", "fourth", "largest fifth"}}
	m := &report.Map{Title: "Map of the points", Caption: f.Plane.How, X: f.Plane.X, Y: f.Plane.Y,
		XLabel: f.Plane.XName, YLabel: f.Plane.YName}
	for _, i := range f.Plane.Rows {
		view.Class = append(view.Class, step[i])
		m.Names = append(m.Names, f.name(i))
		words := "answer " + short(at(i))
		if v := known.At(i, 0); !math.IsNaN(v) {
			words += " · value " + short(v)
		}
		if f.Shown != nil {
			words += " · " + f.Shown.text(i, mostHovered)
		}
		m.Notes = append(m.Notes, words)
	}
	m.Views = []report.View{view}
	return append(sections, report.Section{Title: "The points in the plane", Blocks: []report.Block{m}})
}

// heldOutValues returns the first values of the points with held-out answers, and these answers.
func (f *Fit) heldOutValues(used *mat.Dense) (values, answers []float64) {
	if f.Calibration == nil || f.Calibration.Out == nil || f.Calibration.Out.Residuals == nil {
		return nil, nil
	}
	out := f.Calibration.Out
	n, _ := used.Dims()
	for k, i := range out.Points {
		if int(i) < n {
			v := used.At(int(i), 0)
			values = append(values, v)
			answers = append(answers, v-out.Residuals.At(k, 0))
		}
	}
	return values, answers
}

// outliers lists the values that are far from the answers of fits without them; nil without any.
func (f *Fit) outliers() report.Block {
	if len(f.Outliers) == 0 {
		return nil
	}
	t := &report.Table{Caption: "Suspicious values", Header: []string{"point", "value given", "answer", "score"},
		Note: fmt.Sprintf("%s far from the answer of a fit without the value. The score is the distance in units of "+
			"the usual distance.", areFar(len(f.Outliers)))}
	rows := make([]int, 0, mostListed)
	for _, o := range f.Outliers[:min(len(f.Outliers), mostListed)] {
		rows = append(rows, o.Point)
		t.Rows = append(t.Rows, []string{f.name(o.Point), short(o.Given[0]), short(o.Predicted[0]),
			fmt.Sprintf("%.1f", o.Score)})
	}
	if f.Shown != nil {
		f.Shown.add(t, rows)
	}
	return t
}

// areFar begins a sentence on values.
func areFar(n int) string {
	if n == 1 {
		return "1 value is"
	}
	return thousands(n) + " values are"
}

// usualLevel is the share of points that the interval of the headline covers.
const usualLevel = 0.9

// valuesHeadline sums up a regression: how far answers are from values that their models did not know.
func (f *Fit) valuesHeadline(given int, truth, answer []float64) report.Block {
	n, _ := f.Answers.Scores.Dims()
	h := &report.Headline{Text: fmt.Sprintf("%s, %s", count(n, "item"), count(given, "value"))}

	// Values that were held out count more than the folds of the calibration, as they were not drawn from
	// the values that the model knows.
	if len(truth) >= calibration.Fewest {
		off := make([]float64, len(truth))
		for k := range truth {
			off[k] = math.Abs(answer[k] - truth[k])
		}
		slices.Sort(off)
		h.Text += fmt.Sprintf(": 9 of 10 answers are off by at most %s.", short(off[(9*len(off)-1)/10]))
		h.Note = fmt.Sprintf("Measured on %s values that were held out of the fit.", thousands(len(truth)))
		return h
	}
	if c := f.Calibration; c != nil && c.Intervals != nil {
		if half, err := c.Intervals.Half(usualLevel); err == nil {
			h.Text += fmt.Sprintf(": 9 of 10 answers are off by at most %s.", short(half[0]))
			h.Note = fmt.Sprintf("Measured on %s values, each answered by a fit without it (%s).", thousands(c.Held),
				folds(c.Folds))
			return h
		}
	}
	h.Text += ": how far answers are off is not known yet."
	h.Note = fmt.Sprintf("At least %d values must be held out to tell.", calibration.Fewest)
	return h
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
