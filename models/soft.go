package models

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Labels may be soft, a distribution over the classes for each labeled point, and may have weights.
// Both are parts of [Targets], so that folds, costs and files treat all labels alike. A row of Y is the
// mean of the codes of the classes: a least-squares learner fits it as it fits hard labels, and
//
//	Σ_c p_c (code(c) − f)² = (y − f)² + Σ_c p_c (code(c) − y)²
//
// says that it minimizes the expected loss of a label drawn from p. Other learners read the distribution by
// [Targets.SharesTo]. Hard labels are the distributions with one class, with the same bits.

// shareSlack is the largest difference of the sum of a distribution from one that is taken for rounding:
// float32 holds seven digits, and a hundred classes may add up their errors.
const shareSlack = 1e-3

// ShareTargets makes targets of an n×c block of distributions over c classes, a row a point, with elements in
// [0, 1] and the sum one (to 10⁻³; rows are divided by their sums). A row of NaN, or of zeros, is a point
// without a label. Any other row is an error that names the point, and so are fewer than two classes with a
// share. Classes without a share of any point are left out. names may be nil.
func ShareTargets(shares *mat.Dense, classes []int64, names []string) (*Targets, error) {
	n, c := shares.Dims()
	if len(classes) != c || names != nil && len(names) != c {
		return nil, fmt.Errorf("models: shares of %d columns for %d classes of %d names", c, len(classes), len(names))
	}
	t := &Targets{Len: n}
	mass := make([]float64, c)
	var rows []float64
	for i := range n {
		row := shares.RawRowView(i)
		sum, err := sumOfShares(row)
		if err != nil {
			return nil, fmt.Errorf("models: point %d: %w", i, err)
		}
		if sum == 0 {
			continue
		}
		t.Labeled = append(t.Labeled, i)
		for k, v := range row {
			// A row that sums to one keeps its bits.
			if math.Abs(sum-1) > 1e-12 {
				v /= sum
			}
			mass[k] += v
			rows = append(rows, v)
		}
	}

	var kept []int
	for k, v := range mass {
		if v > 0 {
			kept = append(kept, k)
			t.Classes = append(t.Classes, classes[k])
			if names != nil {
				t.Names = append(t.Names, names[k])
			}
		}
	}
	if names != nil { // numbers of the names that are left
		for k := range t.Classes {
			t.Classes[k] = int64(k)
		}
	}
	switch len(kept) {
	case 0:
		return nil, fmt.Errorf("models: no point is labeled; at least two classes must have a label")
	case 1:
		return nil, fmt.Errorf("models: all labels are of class %s; at least two classes must have a label",
			t.className(t.Classes[0]))
	}

	t.Y = mat.NewDense(len(t.Labeled), codeColumns(len(kept)), nil)
	own := make([]float64, len(kept))
	for q := range t.Labeled {
		for k, from := range kept {
			own[k] = rows[q*c+from]
		}
		t.setShares(q, own)
	}
	return t, nil
}

// sumOfShares returns the sum of a distribution, 0 for a point without one.
func sumOfShares(row []float64) (float64, error) {
	var sum float64
	missing := 0
	for k, v := range row {
		switch {
		case v != v:
			missing++
		case v < 0 || v > 1+shareSlack:
			return 0, fmt.Errorf("the share in column %d is %v; it must lie in [0, 1]", k, v)
		}
		sum += v
	}
	switch {
	case missing == len(row) || sum == 0:
		return 0, nil
	case missing > 0:
		return 0, fmt.Errorf("%d of its %d shares are NaN; a point without a label has NaN, or 0, in all columns",
			missing, len(row))
	case math.Abs(sum-1) > shareSlack:
		return 0, fmt.Errorf("its shares sum to %.6g, not to 1; a point without a label has NaN, or 0, in all columns", sum)
	}
	return sum, nil
}

// setShares sets row q of Y to the mean code of the distribution p.
func (t *Targets) setShares(q int, p []float64) {
	row := t.Y.RawRowView(q)
	if !slices.Contains(p, 1) {
		t.Soft = true
	}
	if len(row) == 1 {
		row[0] = p[1] - p[0]
		return
	}
	for k, v := range p {
		row[k] = 2*v - 1
	}
}

// SharesTo sets dst, one element a class, to the distribution of labeled point q, and returns it: one for
// the class of a hard label and zero for all others. A nil dst is made. The targets must be classes.
func (t *Targets) SharesTo(dst []float64, q int) []float64 {
	if dst == nil {
		dst = make([]float64, len(t.Classes))
	}
	row := t.Y.RawRowView(q)
	if len(row) == 1 {
		dst[0] = (1 - row[0]) / 2
		dst[1] = (1 + row[0]) / 2
		return dst
	}
	for k, v := range row {
		dst[k] = (1 + v) / 2
	}
	return dst
}

// Shares returns the distributions of all labeled points, l×c: see [Targets.SharesTo].
func (t *Targets) Shares() *mat.Dense {
	out := mat.NewDense(len(t.Labeled), len(t.Classes), nil)
	for q := range t.Labeled {
		t.SharesTo(out.RawRowView(q), q)
	}
	return out
}

// Weight returns the weight of labeled point q.
func (t *Targets) Weight(q int) float64 {
	if t.Weights == nil {
		return 1
	}
	return t.Weights[q]
}

// TotalWeight returns the sum of the weights, the number of labeled points without any.
func (t *Targets) TotalWeight() float64 {
	if t.Weights == nil {
		return float64(len(t.Labeled))
	}
	var sum float64
	for _, v := range t.Weights {
		sum += v
	}
	return sum
}

// LossShares returns the shares w_q/Σw of the labeled points in a mean loss; nil for 1/l each.
func (t *Targets) LossShares() []float64 {
	if t.Weights == nil {
		return nil
	}
	out := slices.Clone(t.Weights)
	floats.Scale(1/t.TotalWeight(), out)
	return out
}

// Masses returns Σ_q w_q p_qc for every class c, over the labeled points q with the weights w: the numbers
// of labels of the classes, if labels are hard and without weights.
func (t *Targets) Masses() []float64 {
	out := make([]float64, len(t.Classes))
	p := make([]float64, len(t.Classes))
	for q := range t.Labeled {
		for k, v := range t.SharesTo(p, q) {
			out[k] += t.Weight(q) * v
		}
	}
	return out
}

// Plain tells that labels are hard and have no weights.
func (t *Targets) Plain() bool { return !t.Soft && t.Weights == nil }

// Weighted returns the targets with weights, one for each of the Len points, finite and not negative; the
// weights of points without a label do not matter and may be NaN. A label of weight 0 is left out, as if it
// were not there, with classes of which nothing is left. Weights that are all one are none. Values of a
// regression have no weights.
//
// A weight w says that the label counts like w labels of the same point. What that means for a learner is
// in its documentation.
func (t *Targets) Weighted(weights []float64) (*Targets, error) {
	if t.Classes == nil {
		return nil, fmt.Errorf("models: weights are for labels of classes, and the targets are not classes")
	}
	if len(weights) != t.Len {
		return nil, fmt.Errorf("models: %d weights for %d points", len(weights), t.Len)
	}
	var kept []int
	ones := true
	for q, i := range t.Labeled {
		w := weights[i]
		if !(w >= 0) || math.IsInf(w, 1) {
			return nil, fmt.Errorf("models: the weight of the label of point %d is %v; it must be finite and not "+
				"negative, 0 for a label that does not count", i, w)
		}
		if w > 0 {
			kept = append(kept, q)
			ones = ones && w == 1
		}
	}

	if len(kept) == 0 {
		return nil, fmt.Errorf("models: all labels have the weight 0; at least two classes must have a label")
	}
	out := t.Keep(kept)
	if !ones {
		out.Weights = make([]float64, len(kept))
		for p, i := range out.Labeled {
			out.Weights[p] = weights[i]
		}
	}
	if len(kept) == len(t.Labeled) {
		return out, nil
	}
	left, err := out.present()
	if err != nil || t.Names == nil {
		return left, err
	}
	for k, class := range left.Classes {
		left.Names = append(left.Names, t.className(class))
		left.Classes[k] = int64(k)
	}
	return left, nil
}

// present returns t without the classes that no labeled point has a share of, and without names.
func (t *Targets) present() (*Targets, error) {
	out, err := ShareTargets(t.Shares(), t.Classes, nil)
	if err != nil {
		return nil, err
	}
	out.Len = t.Len
	out.Labeled = t.Labeled
	out.Weights = t.Weights
	return out, nil
}

// weightsAt returns the weights at positions in Labeled, nil for ones.
func (t *Targets) weightsAt(positions []int) []float64 {
	if t.Weights == nil {
		return nil
	}
	out := make([]float64, len(positions))
	for p, q := range positions {
		out[p] = t.Weights[q]
	}
	return out
}

// ExpectedError returns the expected share of wrong answers, Σ_q w_q (1 − p_q(a_q)) / Σ_q w_q, for answers a_q,
// positions in Classes or −1 for another class, to some labeled points, given by their positions in Labeled.
// Of hard labels without weights it is the share of the answers that are wrong.
func (t *Targets) ExpectedError(positions []int, answers []int32) float64 {
	var wrong, total float64
	p := make([]float64, len(t.Classes))
	for k, q := range positions {
		w := t.Weight(q)
		total += w
		share := 0.0
		if a := answers[k]; a >= 0 {
			share = t.SharesTo(p, q)[a]
		}
		wrong += w * (1 - share)
	}
	return wrong / total
}

// CheckTargets returns an error unless the learner can learn from the labels of t: at least one labeled point, of
// classes labels of two, and no distributions or weights that the learner does not take.
func (i *Info) CheckTargets(t *Targets) error {
	if err := t.checkLabeled(); err != nil {
		return err
	}
	switch {
	case t.Soft && !i.Learns.Has(LearnsShares):
		return fmt.Errorf("models: %s learns one class a point, and the labels are probabilities of classes; take "+
			"another learner, or the most probable class of each point", i.Name)
	case t.Weights != nil && !i.Learns.Has(LearnsWeights):
		return fmt.Errorf("models: %s has no weights of labels; take another learner, or leave the weights out", i.Name)
	}
	return nil
}
