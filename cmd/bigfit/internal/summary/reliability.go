package summary

import (
	"math"

	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/models/metrics"
)

// Reliability is the diagram of probabilities: over the mean probability of the points of
// each bin the share of right ones, with its standard error, beside the diagonal, on which
// probabilities are right.
func Reliability(r *metrics.ProbabilityReport) *chart.Lines {
	measured := chart.Series{Name: "measured"}
	for _, b := range r.Bins {
		if b.Points == 0 {
			continue
		}
		// The standard error of a binomial share, √(p(1−p)/n).
		share := float64(b.Right)
		measured.X = append(measured.X, float64(b.Mean))
		measured.Y = append(measured.Y, share)
		measured.Err = append(measured.Err, math.Sqrt(share*(1-share)/float64(b.Points)))
	}

	return &chart.Lines{Title: "Reliability", XLabel: "probability of the class",
		YLabel: "share of right answers",
		Series: []chart.Series{measured, {Name: "perfect", X: []float64{0, 1}, Y: []float64{0, 1},
			Dashed: true}}}
}
