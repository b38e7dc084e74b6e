package summary

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/selection"
)

// valueOf returns a value of a setting, empty if it has none.
func valueOf(s selection.Setting, name string) string {
	if name == "neighbors" && s.Neighbors > 0 {
		return strconv.Itoa(s.Neighbors)
	}
	return s.Values[name]
}

// Tune is the output of tune.
type Tune struct {
	Model string `json:"model"`
	*selection.Result
	Labels   *data.LabelSummary `json:"labels,omitempty"`
	Warnings []string           `json:"warnings,omitempty"` // of the input
	// Best is the command line that fits the first of Scores; empty after an
	// interrupt.
	Best string `json:"best,omitempty"`
}

// score writes a value of a criterion; shares are in percent.
func score(c selection.Criterion, v metrics.Number) string {
	switch {
	case math.IsNaN(float64(v)):
		return "–"
	case c == selection.RMSECriterion:
		return fmt.Sprintf("%.6g", float64(v))
	}
	return fmt.Sprintf("%.2f", 100*float64(v))
}

// String is the table, best first.
func (s Tune) String() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %v by %s", s.Model, s.Criterion, s.how())
	if s.Done < s.Total {
		fmt.Fprintf(&b, "; %d of %d fits done", s.Done, s.Total)
	}
	b.WriteString("\n\n")
	unit := s.unit()
	if unit != "" {
		unit = " " + unit
	}
	columns := s.axes()
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")+"\t") }
	row(slices.Concat(columns, []string{s.Criterion.String() + unit, "± se", "folds"})...)
	for _, p := range s.Scores {
		var cells []string
		for _, name := range columns {
			// Numbers are shortened for the table; JSON and the command line have all digits.
			v := valueOf(p.Setting, name)
			if x, err := strconv.ParseFloat(v, 64); err == nil {
				v = strconv.FormatFloat(x, 'g', 6, 64)
			} else if v == "" {
				v = "–"
			}
			cells = append(cells, v)
		}

		mean := score(s.Criterion, p.Mean)
		if p.Fault != "" {
			mean = "failed"
		}
		row(append(cells, mean, score(s.Criterion, p.StdErr), strconv.Itoa(p.Done))...)
	}

	w.Flush()
	for _, line := range s.notes() {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	return b.String()
}

// how describes the cross-validation.
func (s Tune) how() string {
	text := fmt.Sprintf("cross-validation, %d folds of %d labels", s.Folds, s.Labeled)
	if s.Repeats > 1 {
		text += fmt.Sprintf(", %d times", s.Repeats)
	}
	return text
}

// unit returns the unit of the scores in print; empty if they have none.
func (s Tune) unit() string {
	if s.Criterion == selection.RMSECriterion {
		return ""
	}
	return "%"
}

// axes lists the parameters that some setting has.
func (s Tune) axes() []string {
	var out []string
	for _, p := range append(all.Learner(s.Model).Params(), models.Param{Name: "neighbors", Axis: true}) {
		if p.Axis && slices.ContainsFunc(s.Scores,
			func(x selection.Score) bool { return valueOf(x.Setting, p.Name) != "" }) {
			out = append(out, p.Name)
		}
	}
	return out
}

// notes returns the lines below the table.
func (s Tune) notes() []string {
	faults := map[string]int{}
	unconverged := 0
	for _, p := range s.Scores {
		unconverged += p.Unconverged
		if p.Fault != "" {
			faults[p.Fault]++
		}
	}

	var out []string
	// Settings that failed for one reason share a line.
	for _, fault := range slices.Sorted(maps.Keys(faults)) {
		out = append(out, fmt.Sprintf("%d failed: %s", faults[fault], fault))
	}
	if unconverged > 0 {
		out = append(out, fmt.Sprintf("%s did not converge; scores are of what was reached",
			enum.Count(unconverged, "fit")))
	}
	if s.Best != "" {
		out = append(out, s.Best)
	}
	return out
}

// Table returns the scores as a table, best first, for files. Scores that are shares are in percent.
func (s Tune) Table() *results.Table {
	digits, scale, what := "%.6g", 1.0, s.Criterion.String()
	if s.unit() != "" {
		digits = "%.2f"
		scale = 100
		what += " in " + s.unit()
	}
	t := &results.Table{Notes: s.notes()}
	caption := fmt.Sprintf("%s of %s by %s, mean ± standard error", what, s.Model, s.how())
	view := results.View{Caption: caption, Label: "tune", Mark: "mean",
		MarkLeast: !s.Criterion.Larger(), MarkMost: s.Criterion.Larger()}

	// A parameter with names among its values is a column of texts.
	axes := s.axes()
	for _, name := range axes {
		kind := results.Numbers
		for _, x := range s.Scores {
			if _, err := strconv.ParseFloat(valueOf(x.Setting, name), 64); err != nil &&
				valueOf(x.Setting, name) != "" {
				kind = results.Texts
			}
		}
		t.Columns = append(t.Columns, results.Column{Key: name, Name: name, Kind: kind,
			Format: results.Format{Number: "%.6g"}})
	}
	t.Columns = append(t.Columns,
		results.Column{Key: "mean", Deviation: "std_err", Name: s.Criterion.String(), Unit: s.unit(),
			Kind: results.Numbers, Format: results.Format{Number: digits, Deviation: digits},
			MoreIsBetter: s.Criterion.Larger()},
		results.Column{Key: "folds", Name: "folds", Kind: results.Integers})
	for _, c := range t.Columns {
		view.Show = append(view.Show, c.Key)
	}
	t.Views = []results.View{view}

	for _, x := range s.Scores {
		var row results.Record
		for i, name := range axes {
			row = append(row, axisValue(valueOf(x.Setting, name), t.Columns[i].Kind))
		}
		mean := results.Number(scale * float64(x.Mean))
		mean.Deviation = scale * float64(x.StdErr)
		switch {
		case x.Fault != "":
			mean.Text = "failed"
		case math.IsNaN(float64(x.Mean)):
			mean.Text = "–"
		}
		t.Add(append(row, mean, results.Integer(x.Done))...)
	}
	return t
}

// axisValue is a value of a parameter in a column of a kind; a dash if there is none.
func axisValue(text string, kind results.Kind) results.Value {
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case text == "":
		return results.Value{Text: "–", Number: math.NaN(), Deviation: math.NaN(), Published: math.NaN()}
	case kind == results.Texts || err != nil:
		return results.Text(text)
	}
	return results.Number(x)
}
