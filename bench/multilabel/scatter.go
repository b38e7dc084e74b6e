package multilabel

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/results"
)

// scatterMost is the largest number of labels that have colours of their own. More colours
// could not be told apart.
const scatterMost = 8

// scatter draws Figure 2 of Minh & Sindhwani (2011): for each draw and label the area under
// the ROC curve on the test points over the area on the unlabeled points. The paper does not
// name its weights, and none are chosen here: one panel has the smallest weights of the grid,
// which is RLS, and one the largest, both with targets ±1.
func (e *Experiment) scatter(grid []*gridPoint) *results.Picture {
	out := &results.Picture{Title: "Areas under the ROC curve by label",
		Caption: "Figure 2 of Minh & Sindhwani (2011), targets ±1: a point for each label and draw. " +
			"The paper does not name its weights; these are the least and the largest of its grid, " +
			"chosen by no result."}
	var ends []*gridPoint
	for _, p := range grid {
		if p.targets != signTargets {
			continue
		}
		if len(ends) == 0 {
			ends = []*gridPoint{p, p}
		}
		// The grid ascends, so the first point has the smallest weights.
		if ends[1].gammaI <= p.gammaI && ends[1].gammaO <= p.gammaO {
			ends[1] = p
		}
	}

	for _, p := range ends {
		s := &chart.Scatter{Title: fmt.Sprintf("γ_I = %g, γ_O = %g", p.gammaI, p.gammaO),
			XLabel: "AUC of the unlabeled points, %", YLabel: "AUC of the test points, %"}
		_, labels := e.Labels.Dims()
		if labels <= scatterMost {
			for c := range labels {
				s.Classes = append(s.Classes, fmt.Sprintf("label %d", c+1))
			}
		}

		for draw, inside := range p.areas[0] {
			for c, v := range inside {
				// A label without positives or negatives has no area.
				x := 100 * float64(v)
				y := 100 * float64(p.areas[1][draw][c])
				if math.IsNaN(x) || math.IsNaN(y) {
					continue
				}
				s.X = append(s.X, x)
				s.Y = append(s.Y, y)
				if s.Classes != nil {
					s.Class = append(s.Class, c)
				}
			}
		}

		out.Charts = append(out.Charts, s)
	}

	return out
}
