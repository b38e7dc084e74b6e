package active

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
)

// Shares turns the scores of classes, n×c, into nonnegative numbers that add up to 1 in every
// row. There are two kinds of scores:
//
//   - Nonnegative scores, from votes, label spreading and harmonic functions: each score is
//     divided by the sum of its row.
//   - Scores of about 1 and −1 for a class against the others, from least squares, machines
//     and Poisson learning: (1 + s)/2, cut to [0, 1], is divided by the sum of the row.
//
// A row of equal scores, or of scores that are not finite, has no information and gets equal
// shares. Shares have the order of the scores, except among scores that are cut. Shares are
// no calibrated probabilities.
func Shares(scores *mat.Dense) *mat.Dense {
	n, c := scores.Dims()
	against := anyNegative(scores)
	out := mat.NewDense(n, c, nil)
	par.For(n, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			share(out.RawRowView(i), scores.RawRowView(i), against)
		}
	})
	return out
}

// share sets dst to the shares of a row.
func share(dst, row []float64, against bool) {
	var sum float64
	for j, v := range row {
		if against {
			v = min(max((1+v)/2, 0), 1)
		}
		dst[j] = v
		sum += v
	}

	// 0/0 and NaN make equal shares; x ≠ x is the test for NaN.
	for j := range dst {
		if dst[j] /= sum; !(sum > 0) || dst[j] != dst[j] {
			dst[j] = 1 / float64(len(dst))
		}
	}
}

// anyNegative tells whether a score is negative. Each chunk has a place of its own for the
// answer, so that threads do not write to one variable.
func anyNegative(scores *mat.Dense) bool {
	n, _ := scores.Dims()
	parts := make([]bool, par.Chunks(n, grain))
	par.For(n, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for _, v := range scores.RawRowView(i) {
				if v < 0 {
					parts[lo/grain] = true
				}
			}
		}
	})

	for _, negative := range parts {
		if negative {
			return true
		}
	}
	return false
}

// Margins returns the difference of the two largest [Shares] of every row of scores, n×c with
// c ≥ 2. It is 0 where a model is least certain and 1 where it is most certain.
func Margins(scores *mat.Dense) []float64 {
	shares := Shares(scores)
	n, _ := shares.Dims()
	out := make([]float64, n)
	par.For(n, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			var first, second float64
			for _, v := range shares.RawRowView(i) {
				if v > first {
					first, second = v, first
				} else if v > second {
					second = v
				}
			}
			out[i] = min(first-second, 1)
		}
	})

	return out
}
