package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
)

// Number is a float64 with null for NaN in JSON.
type Number float64

// MarshalJSON writes NaN as null.
func (x Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(x)) {
		return []byte("null"), nil
	}
	return fmt.Appendf(nil, "%g", float64(x)), nil
}

// Confusion counts how often points of one class are taken for another one.
type Confusion struct {
	// Classes are the class values that occur in truth or prediction, ascending.
	Classes []int64 `json:"-"`
	// Names stands for Classes in JSON: the integers, or strings after
	// [Report.SetNames].
	Names any `json:"classes"`
	// Counts[i][j] is the number of points of Classes[i] that were predicted to
	// be of Classes[j].
	Counts [][]int `json:"counts"`
}

// NewConfusion counts n true classes against n predicted ones, in O(n log n).
// It is an error if n is 0 or the lengths differ.
func NewConfusion(truth, predicted []int64) (*Confusion, error) {
	if err := samePoints(len(truth), len(predicted), "predictions"); err != nil {
		return nil, err
	}
	m := &Confusion{Classes: slices.Concat(truth, predicted)}
	slices.Sort(m.Classes)
	m.Classes = slices.Clip(slices.Compact(m.Classes))
	m.Names = m.Classes
	m.Counts = make([][]int, len(m.Classes))
	for i := range m.Counts {
		m.Counts[i] = make([]int, len(m.Classes))
	}

	// Both lookups succeed, as Classes has all values.
	for p, c := range truth {
		i, _ := slices.BinarySearch(m.Classes, c)
		j, _ := slices.BinarySearch(m.Classes, predicted[p])
		m.Counts[i][j]++
	}
	return m, nil
}

// samePoints returns an error unless both numbers of points are the same and
// positive; what names the second.
func samePoints(n, m int, what string) error {
	switch {
	case n != m:
		return fmt.Errorf("metrics: %d true values for %d %s", n, m, what)
	case n == 0:
		return fmt.Errorf("metrics: there are no points to measure on")
	}
	return nil
}

// Error returns the share of the points with a wrong prediction.
func (m *Confusion) Error() float64 {
	right, total := 0, 0
	for i, row := range m.Counts {
		right += row[i]
		for _, v := range row {
			total += v
		}
	}
	return float64(total-right) / float64(total)
}

// tally returns for class c the numbers of points that are of c and predicted to
// be (tp), are of c (support), and are predicted to be of c.
func (m *Confusion) tally(c int) (tp, support, predicted int) {
	for i, row := range m.Counts {
		support += m.Counts[c][i]
		predicted += row[c]
	}
	return m.Counts[c][c], support, predicted
}

// Precision returns the share of the points predicted to be of class number c
// that are; NaN if there are none.
func (m *Confusion) Precision(c int) float64 {
	tp, _, predicted := m.tally(c)
	return float64(tp) / float64(predicted)
}

// Recall returns the share of the points of class number c that are predicted to
// be; NaN if there are none.
func (m *Confusion) Recall(c int) float64 {
	tp, support, _ := m.tally(c)
	return float64(tp) / float64(support)
}

// F1 returns the harmonic mean of precision and recall of class number c,
//
//	F₁ = 2·tp / (points of c + points predicted to be of c)
//
// which is 0 where one of the two is not defined.
func (m *Confusion) F1(c int) float64 {
	tp, support, predicted := m.tally(c)
	return 2 * float64(tp) / float64(support+predicted)
}

// MacroF1 returns the mean of F1 over the classes: every class counts the same.
func (m *Confusion) MacroF1() float64 {
	var sum float64
	for c := range m.Classes {
		sum += m.F1(c)
	}
	return sum / float64(len(m.Classes))
}

// MicroF1 returns F₁ of the tp, points and predictions of all classes added up.
// With one class a point this is 1 − Error().
func (m *Confusion) MicroF1() float64 {
	var right, all int
	for c := range m.Classes {
		tp, support, predicted := m.tally(c)
		right += tp
		all += support + predicted
	}
	return 2 * float64(right) / float64(all)
}

// AUC returns the area under the receiver operating characteristic, which is the share of the pairs
// of a positive and a negative point in which the positive one has the higher score; equal scores
// count one half. NaN if all points are positive or none is. Errors and cost are the same as for
// PRBEP.
func AUC(scores []float64, positive []bool) (float64, error) {
	groups, err := tied(scores, positive)
	if err != nil {
		return 0, err
	}

	// All numbers of pairs are exact: they are below 2⁵³ for any n below 10⁸.
	var above, won, positives float64
	// Every negative point of the group loses against the positive ones above, and half against
	// its own.
	for _, g := range groups {
		p := float64(g.positive)
		q := float64(g.points - g.positive)
		won += q * (above + p/2)
		above += p
		positives += p
	}

	return won / (positives * (float64(len(scores)) - positives)), nil
}

// group are the points of one score.
type group struct{ points, positive int }

// tied returns the points in groups of equal scores, highest first.
func tied(scores []float64, positive []bool) ([]group, error) {
	if err := samePoints(len(positive), len(scores), "scores"); err != nil {
		return nil, err
	}
	order := make([]int, len(scores))
	for i, v := range scores {
		if math.IsNaN(v) {
			return nil, fmt.Errorf("metrics: score %d is NaN", i)
		}
		order[i] = i
	}

	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var groups []group
	for at, i := range order {
		if at == 0 || scores[i] != scores[order[at-1]] {
			groups = append(groups, group{})
		}
		g := &groups[len(groups)-1]
		g.points++
		if positive[i] {
			g.positive++
		}
	}

	return groups, nil
}

// RMSE returns the root of the mean squared error, √(1/n Σ (tᵢ − pᵢ)²). Lengths
// that differ and no points are errors. O(n).
func RMSE(truth, predicted []float64) (float64, error) {
	if err := samePoints(len(truth), len(predicted), "predictions"); err != nil {
		return 0, err
	}
	return meanError(truth, predicted, 2), nil
}

// MAE returns the mean absolute error, 1/n Σ |tᵢ − pᵢ|; see RMSE.
func MAE(truth, predicted []float64) (float64, error) {
	if err := samePoints(len(truth), len(predicted), "predictions"); err != nil {
		return 0, err
	}
	return meanError(truth, predicted, 1), nil
}

// R2 returns the coefficient of determination, 1 − Σ (tᵢ − pᵢ)² / Σ (tᵢ − t̄)²: 1 for perfect
// predictions, 0 for those no better than the mean t̄. NaN if all true values are equal; errors are
// the same as for RMSE.
func R2(truth, predicted []float64) (float64, error) {
	if err := samePoints(len(truth), len(predicted), "predictions"); err != nil {
		return 0, err
	}
	var mean float64
	for _, v := range truth {
		mean += v / float64(len(truth))
	}
	// The mean is the prediction that knows nothing.
	means := slices.Repeat([]float64{mean}, len(truth))
	if slices.Min(truth) == slices.Max(truth) {
		return math.NaN(), nil
	}

	ratio := meanError(truth, predicted, 2) / meanError(truth, means, 2)
	return 1 - ratio*ratio, nil
}

// meanError returns (1/n Σ |aᵢ − bᵢ|ᵖ)^(1/p) for p = 1 or 2. Where the sum overflows or
// vanishes, the differences are divided by the largest first.
func meanError(a, b []float64, p int) float64 {
	mean := func(scale float64) float64 {
		var sum float64
		for i, v := range a {
			d := math.Abs(v-b[i]) / scale
			if p == 2 {
				d *= d
			}
			sum += d
		}

		if sum /= float64(len(a)); p == 2 {
			return math.Sqrt(sum)
		}
		return sum
	}

	out := mean(1)
	if out > 0 && !math.IsInf(out, 0) {
		return out
	}
	// Differences relative to the largest neither overflow nor vanish when squared.
	var top float64
	for i, v := range a {
		top = math.Max(top, math.Abs(v-b[i]))
	}
	if top == 0 || math.IsInf(top, 0) || math.IsNaN(top) {
		return top
	}
	return top * mean(top)
}

// ErrorRate returns the share of wrong predictions among the points without a label in drawn: the
// error on the unlabeled part, as the papers report it. A nil drawn has no labels. Points that
// truth does not know are left out; NaN if none are left.
func ErrorRate(predicted []int32, truth, drawn *data.Labels) float64 {
	var wrong, total float64
	for i, c := range truth.Index {
		if c == data.Unlabeled || drawn != nil && drawn.Index[i] != data.Unlabeled {
			continue
		}
		total++
		if predicted[i] != c {
			wrong++
		}
	}

	return wrong / total
}
