package active

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
)

// Shares makes the scores of classes, n×c, into numbers that are not negative and add up
// to 1 in every row, for models whose scores are
//
//   - not negative, as votes, label spreading and harmonic functions have them: each
//     score by the sum of its row;
//   - for a class against the others, about 1 and −1, as least squares, machines and
//     Poisson learning have them: (1 + s)/2, cut to [0, 1], by the sum of the row.
//
// A row without information, whose scores are all equal or not finite, has equal shares.
// The order of the scores of a row stays, up to what is cut. Shares are no calibrated
// probabilities.
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

	for j := range dst {
		if dst[j] /= sum; !(sum > 0) || dst[j] != dst[j] {
			dst[j] = 1 / float64(len(dst))
		}
	}
}

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

// Margins returns for every row of scores, n×c with c ≥ 2, the difference of its two
// largest [Shares]: 0 where a model is least certain, 1 where it is most.
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
