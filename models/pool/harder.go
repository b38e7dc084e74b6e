package pool

import (
	"context"
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
	// harderShare is how much less certain the labels must be as a multiple of the others. A label that is held out is
	// less certain than one that is there, and of many labels the smallest difference is far from chance: 2,500 random
	// ones of 1,500,000 points were less certain by 1.015 times and 6 standard errors. Labels that next chose were
	// by 1.27 to 8.3 times (digits of scikit-learn and MNIST, 24 fits to 80 to 230 labels).
	harderShare = 1.1
	// harderLabels is the least number of labels that are compared, and harderPerClass that of a class on average: of
	// fewer a fold leaves out so large a part that all answers are less certain.
	harderLabels, harderPerClass = 10, 5
)

// harder tells whether the labels that were held out are less certain than the points without a label: whether the mean
// of 1 − max_c p_c over them is larger by harderBy standard errors, and harderShare times as large.
func harder(held, points *mat.Dense, labeled []int) bool {
	l, classes := held.Dims()
	n, _ := points.Dims()
	if l < max(harderLabels, harderPerClass*classes) || n <= len(labeled) {
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
	return mean > harderShare*others && mean-others > harderBy*spread/math.Sqrt(float64(l))
}

// joinLater compares the members that join where labels are harder, as far as their cost allows, and reports whether
// there are any.
//
// The labels that next asks for lie where classes meet. A cross-validation by them says how members do there, and little
// of the points in between, which the members with sizes of the classes answer well.
func (f *fit) joinLater(ctx context.Context) (bool, error) {
	if f.alone {
		return false, nil
	}
	members, _, err := f.affordableLater()
	if err != nil {
		return false, err
	}
	before := len(f.candidates)
	if err := f.add(members); err != nil {
		return false, err
	}
	if err := f.compare(ctx, f.candidates[before:]); err != nil {
		return false, err
	}
	f.candidates = slices.DeleteFunc(f.candidates, func(c *candidate) bool { return c.fault != nil })
	return len(f.candidates) > before, nil
}

// affordableLater returns the positions of the members that may join and take at most MostOperations beside the others,
// and the largest memory of one.
func (f *fit) affordableLater() (members []int, bytes int64, err error) {
	operations := 0.0
	for _, i := range f.learner.later(f.in) {
		if f.among(members, i) {
			members = append(members, i)
			continue
		}
		c, err := f.cost(&f.learner.Members[i])
		if err != nil {
			return nil, 0, err
		}
		if operations += c.Operations; operations > MostOperations {
			break
		}
		members = append(members, i)
		bytes = max(bytes, c.Bytes)
	}
	return members, bytes, nil
}
