package metrics

import (
	"math"
	"slices"
	"sort"
)

// Break is the break-even point of precision and recall.
type Break struct {
	// PRBEP is both of them there, the share of the r highest scores that are of positive
	// points, r being the number of positive points. Of points of one score that the cut
	// separates, each counts for its share: it is the mean over all orders among them. NaN if
	// no point is positive.
	PRBEP float64
	// Error is the share of all n points on the wrong side: each positive point that is missed
	// has a point in its place that is not positive, which makes 2(1 − PRBEP)r/n.
	Error float64
	// Threshold is the score from which on a point is called positive: see [Cut].
	Threshold float64
}

// BreakEven returns the break-even point of precision and recall: where the cut through
// the points in order of their score is such that both are equal. That is where as many
// points are above it as there are positive ones. Lengths that differ, no points and NaN
// among the scores are errors. O(n log n).
func BreakEven(scores []float64, positive []bool) (Break, error) {
	groups, err := tied(scores, positive)
	if err != nil {
		return Break{}, err
	}
	var r int
	for _, g := range groups {
		r += g.positive
	}
	var found float64

	// As many points as there are positive ones are taken, the highest scores first; tied points
	// count in part.
	left := r
	for _, g := range groups {
		take := min(left, g.points)
		found += float64(g.positive) * float64(take) / float64(g.points)
		left -= take
	}

	p := found / float64(r)
	return Break{p, 2 * (1 - p) * float64(r) / float64(len(scores)), Cut(scores, r)}, nil
}

// PRBEP returns the precision–recall break-even point of [BreakEven].
func PRBEP(scores []float64, positive []bool) (float64, error) {
	b, err := BreakEven(scores, positive)
	return b.PRBEP, err
}

// Cut returns a threshold that r of the scores reach: half way between the r-th highest
// and the next. Where these two are equal no threshold does that, and it is the one that the
// number nearest to r reach; of two as near, the lower. With r = 0 it is above all scores,
// with r = n the lowest. scores must not be empty, they are finite, and 0 ≤ r ≤ n.
func Cut(scores []float64, r int) float64 {
	s := slices.Sorted(slices.Values(scores)) // ascending: the r highest begin at first
	first := len(s) - r
	if 0 < first && first < len(s) {
		lo := sort.SearchFloat64s(s, s[first])
		hi := sort.SearchFloat64s(s, math.Nextafter(s[first], math.Inf(1)))
		if lo < first && hi-first < first-lo {
			first = hi
		} else {
			first = lo
		}
	}

	switch {
	case first == 0:
		return s[0]
	case first == len(s):
		return math.Nextafter(s[len(s)-1], math.Inf(1))
	}

	// The middle may round to the lower score, which must not reach the threshold.
	below := s[first-1]
	above := s[first]
	if mid := below/2 + above/2; mid > below {
		return mid
	}
	return above
}
