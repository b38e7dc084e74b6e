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
	fmt.Fprintf(&b, "%s: %v by cross-validation, %d folds of %d labels", s.Model, s.Criterion, s.Folds,
		s.Labeled)
	if s.Repeats > 1 {
		fmt.Fprintf(&b, ", %d times", s.Repeats)
	}
	if s.Done < s.Total {
		fmt.Fprintf(&b, "; %d of %d fits done", s.Done, s.Total)
	}
	b.WriteString("\n\n")
	unit := " %"
	if s.Criterion == selection.RMSECriterion {
		unit = ""
	}
	// Only parameters that some setting has are columns.
	var columns []string
	for _, p := range append(all.Learner(s.Model).Params(), models.Param{Name: "neighbors", Axis: true}) {
		if p.Axis && slices.ContainsFunc(s.Scores,
			func(x selection.Score) bool { return valueOf(x.Setting, p.Name) != "" }) {
			columns = append(columns, p.Name)
		}
	}

	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")+"\t") }
	row(slices.Concat(columns, []string{s.Criterion.String() + unit, "± se", "folds"})...)
	faults := map[string]int{}
	unconverged := 0
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
			faults[p.Fault]++
			mean = "failed"
		}

		unconverged += p.Unconverged
		row(append(cells, mean, score(s.Criterion, p.StdErr), strconv.Itoa(p.Done))...)
	}

	w.Flush()
	// Settings that failed for one reason share a line.
	for _, fault := range slices.Sorted(maps.Keys(faults)) {
		fmt.Fprintf(&b, "\n%d failed: %s\n", faults[fault], fault)
	}
	if unconverged > 0 {
		fmt.Fprintf(&b, "\n%d fits did not converge; scores are of what was reached\n", unconverged)
	}
	if s.Best != "" {
		fmt.Fprintf(&b, "\n%s\n", s.Best)
	}
	return b.String()
}
