package pipeline

import (
	"fmt"
	"math"
	"strings"

	"github.com/bigfit/bigfit/internal/chart"
	"github.com/bigfit/bigfit/models/active"
)

// CampaignChart draws the error of every rule over the number of labels, with the standard
// deviation over the draws.
func CampaignChart(learner string, rows []CampaignRow) *chart.Lines {
	out := &chart.Lines{Title: "Labels chosen for " + learner, XLabel: "labels", YLabel: "error %"}
	for _, rule := range rulesOf(rows) {
		s := chart.Series{Name: rule.String(), Dashed: rule == active.Random}
		for _, r := range rows {
			if r.Rule == rule {
				s.X, s.Y, s.Err = append(s.X, float64(r.Labels)), append(s.Y, r.Error), append(s.Err, r.Deviation)
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
			if !math.IsNaN(r.Ratio) && r.Rule != active.Random {
				ratio = fmt.Sprintf(" (%.2f)", r.Ratio)
			}
			fmt.Fprintf(&b, "  %6.2f ±%5.2f%s", r.Error, r.Deviation, ratio)
		}
	}
	return b.String()
}

// rulesOf returns the rules in the order of their rows.
func rulesOf(rows []CampaignRow) []active.Rule {
	var out []active.Rule
	for _, r := range rows {
		if len(out) == 0 || out[len(out)-1] != r.Rule {
			out = append(out, r.Rule)
		}
	}
	return out
}
