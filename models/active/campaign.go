package active

import (
	"fmt"
	"math"
	"strings"

	"github.com/bigfit/bigfit/internal/view/chart"
)

// CampaignRow is the error of a rule at a number of labels: of the points without a label,
// in percent.
type CampaignRow struct {
	Rule   Rule    `json:"rule"`
	Labels int     `json:"labels"`
	Error  float64 `json:"error"` // mean over the draws
	// Deviation is the standard deviation over the draws, 0 of one.
	Deviation float64 `json:"deviation"`
	// Ratio is the mean error by that of Random at the same number of labels; NaN
	// without it.
	Ratio  float64   `json:"-"`
	Errors []float64 `json:"errors"` // of the draws
}

// CampaignChart draws the error of every rule over the number of labels, with the standard
// deviation over the draws.
func CampaignChart(learner string, rows []CampaignRow) *chart.Lines {
	out := &chart.Lines{Title: "Labels chosen for " + learner, XLabel: "labels", YLabel: "error %"}
	for _, rule := range rulesOf(rows) {
		s := chart.Series{Name: rule.String(), Dashed: rule == Random}
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

// CampaignText is the table of a campaign: a row a number of labels, with the mean error in
// percent ± the standard deviation of each rule, and its ratio to that of random.
func CampaignText(rows []CampaignRow) string {
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
			if !math.IsNaN(r.Ratio) && r.Rule != Random {
				ratio = fmt.Sprintf(" (%.2f)", r.Ratio)
			}
			fmt.Fprintf(&b, "  %6.2f ±%5.2f%s", r.Error, r.Deviation, ratio)
		}
	}

	return b.String()
}

// rulesOf returns the rules in the order of their rows.
func rulesOf(rows []CampaignRow) []Rule {
	var out []Rule
	for _, r := range rows {
		if len(out) == 0 || out[len(out)-1] != r.Rule {
			out = append(out, r.Rule)
		}
	}
	return out
}
