package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/pipeline"
)

// row is the error of a rule at a number of labels: of the points without a label,
// in percent.
type row struct {
	Rule   active.Rule `json:"rule"`
	Labels int         `json:"labels"`
	Error  float64     `json:"error"` // mean over the draws
	// Deviation is the standard deviation over the draws, 0 of one.
	Deviation float64 `json:"deviation"`
	// Ratio is the mean error by that of random at the same number of labels; NaN
	// without it.
	Ratio  float64   `json:"-"`
	Errors []float64 `json:"errors"` // of the draws
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

// text is the table of a campaign: a row a number of labels, with the mean error in
// percent ± the standard deviation of each rule, and its ratio to that of random.
func text(rows []row) string {
	rules := rulesOf(rows)
	var b strings.Builder
	fmt.Fprintf(&b, "%8s", "labels")
	for _, rule := range rules {
		fmt.Fprintf(&b, "  %20s", rule)
	}
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

// answers are the rows as a file of answers: rule, labels, error and deviation.
func answers(learner string, rows []row) pipeline.Answers {
	rules, labels := make([]string, len(rows)), make([]int64, len(rows))
	means, deviations := make([]float64, len(rows)), make([]float64, len(rows))
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
