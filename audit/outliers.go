package audit

import (
	"cmp"
	"math"
	"slices"

	"github.com/bigfit/bigfit/knn"
)

const (
	// FarSpreads is the number of spreads of log r above its median from which on a point is an outlier.
	FarSpreads = 4
	// LeastRatio is the ratio r that an outlier has at least.
	LeastRatio = 1.5
)

// Outliers are points that lie farther from their neighbours than these neighbours from theirs, as in the local
// outlier factor (Breunig et al. 2000), with means and medians of distances in place of densities:
//
//	mᵢ = mean of the distances of point i to its k neighbours
//	tᵢ = median of the mⱼ > 0 over the neighbours j of i; the median of all m if there are none
//	rᵢ = mᵢ/tᵢ
//	score = rᵢ/(1+rᵢ)
//
// The score is in [0, 1]: 1/2 is typical of the place, 0.75 three times as far. Dense and sparse regions compare.
// More than k outliers that lie together are a region of their own and have typical scores.
type Outliers struct {
	Score []float64 // NaN for points that take no part
	// Rows are the points with r ≥ [LeastRatio] and log r more than [FarSpreads] spreads above the median of
	// log r, the largest score first; a spread is 1.4826 times the median of the deviations.
	Rows []int
	// Threshold is the score from which on points are listed.
	Threshold float64
}

// outliersOf scores points by their mean distances.
func outliersOf(lists *knn.Neighbors, mean []float64, typical float64) Outliers {
	n := len(mean)
	ratio := make([]float64, n)
	logs := make([]float64, 0, n)
	around := make([]float64, 0, lists.K)
	for i, m := range mean {
		// Beside more than k equal points every point would be infinitely far: their m is 0.
		index, _ := lists.Row(i)
		around = around[:0]
		for _, j := range index {
			if mean[j] > 0 {
				around = append(around, mean[j])
			}
		}
		local := typical
		if len(around) > 0 {
			local = median(around)
		}
		switch {
		case m == 0:
		case local == 0: // all but some points coincide
			ratio[i] = math.Inf(1)
		default:
			ratio[i] = m / local
			logs = append(logs, math.Log(ratio[i]))
		}
	}

	least := LeastRatio
	if len(logs) > 0 {
		centre := median(logs)
		deviations := make([]float64, len(logs))
		for p, v := range logs {
			deviations[p] = math.Abs(v - centre)
		}
		const normal = 1.4826 // the standard deviation of normal numbers in units of that median
		least = max(least, math.Exp(centre+FarSpreads*normal*median(deviations)))
	}
	out := Outliers{Score: make([]float64, n), Threshold: score(least)}
	for i, v := range ratio {
		out.Score[i] = score(v)
		if v >= least {
			out.Rows = append(out.Rows, i)
		}
	}
	slices.SortStableFunc(out.Rows, func(a, b int) int { return cmp.Compare(out.Score[b], out.Score[a]) })
	return out
}

// score returns r/(1+r).
func score(r float64) float64 {
	if math.IsInf(r, 1) {
		return 1
	}
	return r / (1 + r)
}
