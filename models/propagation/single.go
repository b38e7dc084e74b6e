package propagation

import (
	"math"

	"github.com/bigfit/bigfit/internal/num/par"
)

// Scores of a fit to few digits are rounded to float32: the solver errs by a thousandth, the rounding by
// 6·10⁻⁸, and a model file holds them in half of the bytes with the bits that the model in memory has.

// leastRow is the least size of the largest score of a row that is rounded: parts of it down to 10⁻⁸ are
// normal numbers of float32.
const leastRow = 1e-30

// round makes the scores of a fit to few digits numbers of float32. Scores of which some row is too small
// or too large for that stay as they are, and so do values, which are kept exactly at labeled points.
func (g *Solution) round() {
	if g.Classes == nil || !(g.Settings.Tolerance >= fewDigits) {
		return
	}
	n, _ := g.Scores.Dims()
	const grain = 1024
	unfit := make([]bool, par.Chunks(n, grain))
	par.For(n, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			most := 0.
			for _, v := range g.Scores.RawRowView(i) {
				most = max(most, math.Abs(v)) // NaN stays NaN
			}
			if most != 0 && !(most >= leastRow && most < math.MaxFloat32) {
				unfit[lo/grain] = true
			}
		}
	})
	for _, is := range unfit {
		if is {
			return
		}
	}

	par.For(n, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := g.Scores.RawRowView(i)
			for c, v := range row {
				row[c] = float64(float32(v))
			}
		}
	})
}
