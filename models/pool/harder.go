package pool

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Labels that a rule of next asked for are harder than the points without one: an error of 38 % of the labels held
// out stood beside one of 6 % of all others (USPS, 100 labels by the rule combined). The probabilities show
// it, as the labels held out are less certain there than the other points.

const (
	// harderBy is the number of standard errors by which the labels must be less certain. By the mean of all members of
	// auto, the largest of 26 fits to labels drawn at random on four sets was 1.2, and the least of 28 fits to labels
	// that next chose 4.4.
	harderBy = 4
	// harderLabels is the least number of labels that are compared.
	harderLabels = 10
)

// harder tells whether the labels that were held out are less certain than the points without a label: whether the mean
// of 1 − max_c p_c over them is larger by harderBy standard errors.
func harder(held, points *mat.Dense, labeled []int) bool {
	l, _ := held.Dims()
	n, _ := points.Dims()
	if l < harderLabels || n <= len(labeled) {
		return false
	}
	doubts := make([]float64, l)
	for i := range doubts {
		doubts[i] = 1 - slices.Max(held.RawRowView(i))
	}
	known := make([]bool, n)
	for _, i := range labeled {
		known[i] = true
	}
	var others float64
	for i, is := range known {
		if !is {
			others += 1 - slices.Max(points.RawRowView(i))
		}
	}

	others /= float64(n - len(labeled))
	mean, spread := stat.MeanStdDev(doubts, nil)
	return mean-others > harderBy*spread/math.Sqrt(float64(l))
}
