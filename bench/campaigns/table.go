package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/pipeline"
)

// row holds the error of a rule at a number of labels, in percent of the points without a
// label.
type row struct {
	Rule   active.Rule `json:"rule"`
	Labels int         `json:"labels"`
	Error  float64     `json:"error"` // mean over the draws
	// Deviation is the standard deviation over the draws, 0 for a single draw.
	Deviation float64 `json:"deviation"`
	// Ratio is the mean error divided by the mean error of the rule random at the same
	// number of labels, NaN if random does not take part.
	Ratio  float64   `json:"-"`
	Errors []float64 `json:"errors"` // one for each draw
}

// curves draws the error of every rule over the number of labels, with the standard
// deviation over the draws.
func curves(learner string, rows []row) *chart.Lines {
	out := &chart.Lines{Title: "Labels chosen for " + learner, XLabel: "labels", YLabel: "error %"}
	for _, rule := range rulesOf(rows) {
		s := chart.Series{Name: rule.String(), Dashed: rule == active.Random}
		for _, r := range rows {
			if r.Rule == rule {
				s.X = append(s.X, float64(r.Labels))
				s.Y = append(s.Y, r.Error)
				s.Err = append(s.Err, r.Deviation)
			}
		}
		out.Series = append(out.Series, s)
	}
	return out
}

// text returns the table of a campaign. A line holds a number of labels, and for each rule
// the mean error in percent ± its standard deviation, and in brackets Ratio.
func text(rows []row) string {
	rules := rulesOf(rows)
	var b strings.Builder
	fmt.Fprintf(&b, "%8s", "labels")
	for _, rule := range rules {
		fmt.Fprintf(&b, "  %20s", rule)
	}
	// The rows are ordered by rule and then by labels, each rule with the same labels.
	perRule := len(rows) / max(len(rules), 1)
	for at := range perRule {
		fmt.Fprintf(&b, "\n%8d", rows[at].Labels)
		for k := range rules {
			r := rows[k*perRule+at]
			ratio := strings.Repeat(" ", 7)
			if !math.IsNaN(r.Ratio) && r.Rule != active.Random {
				ratio = fmt.Sprintf(" (%.2f)", r.Ratio)
			}
			fmt.Fprintf(&b, "  %6.2f ±%5.2f%s", r.Error, r.Deviation, ratio)
		}
	}
	return b.String()
}

// answers returns the rows as a table for a file, with the columns rule (text), labels
// (int64), error and deviation (float64, percent).
func answers(learner string, rows []row) pipeline.Answers {
	rules := make([]string, len(rows))
	labels := make([]int64, len(rows))
	means := make([]float64, len(rows))
	deviations := make([]float64, len(rows))
	for q, r := range rows {
		rules[q] = r.Rule.String()
		labels[q] = int64(r.Labels)
		means[q] = r.Error
		deviations[q] = r.Deviation
	}
	return pipeline.Answers{
		Settings: pipeline.AnswerSettings{Answers: "campaign", Learner: learner},
		Columns: []pipeline.Column{
			{Name: "rule", Values: rules},
			{Name: "labels", Values: labels},
			{Name: "error", Values: means},
			{Name: "deviation", Values: deviations},
		},
	}
}

// rulesOf returns the rules in the order of their rows.
func rulesOf(rows []row) []active.Rule {
	var out []active.Rule
	for _, r := range rows {
		if len(out) == 0 || out[len(out)-1] != r.Rule {
			out = append(out, r.Rule)
		}
	}
	return out
}
