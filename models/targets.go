package models

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
)

// BothClasses turns one column of scores, for the larger of two classes, into two columns.
// A score of zero goes to the larger class: Belkin & Niyogi (2004), section 4, step 4.
func BothClasses(f *mat.Dense) *mat.Dense {
	rows, c := f.Dims()
	if c != 1 {
		return f
	}
	out := mat.NewDense(rows, 2, nil)
	for i := range rows {
		v := f.At(i, 0)
		out.Set(i, 0, -v)
		out.Set(i, 1, v)
	}
	return out
}

// Difference returns half the difference of the scores of two classes, (s₁ − s₀)/2. It is f
// for the scores −f and f.
func Difference(scores []float64) float64 { return scores[1]/2 - scores[0]/2 }

// Decide returns the class of every row of scores by [Argmax]. Of two classes with equal
// scores it takes the second, as Belkin & Niyogi (2004), step 4, do for f = 0.
func Decide(scores *mat.Dense) []int32 {
	_, c := scores.Dims()
	out := Argmax(scores)
	// Argmax has taken the first of equals; for two classes the second is wanted.
	if c == 2 {
		for i := range out {
			if a, b := scores.At(i, 0), scores.At(i, 1); a == b ||
				math.Abs(a-b) <= scoreTie*max(math.Abs(a), math.Abs(b)) {
				out[i] = 1
			}
		}
	}
	return out
}

// Targets are the numbers for some of n points that a model learns from: classes in
// one-against-all coding, or the values of a regression.
type Targets struct {
	// Len is the number n of points.
	Len int
	// Labeled are the numbers of the points with a target, ascending.
	Labeled []int
	// Y is the l×m block of their targets, in the order of Labeled. With two
	// classes it is one column, −1 for the first and +1 for the second; with
	// more a column each, +1 for the class and −1 for all others.
	Y *mat.Dense
	// Classes holds the class values; nil for a regression and for points that may have
	// several labels.
	Classes []int64
	// Names are the names of the classes, labels or values; nil if they have none.
	Names []string
	// Labels holds the labels of the columns, ascending, if points may have several; else
	// nil.
	Labels []int64
	// Soft tells that the class of some labeled point is a distribution p and no single class. Its
	// row of Y is then the mean of the codes, Σ_c p_c code(c): 2p_c − 1 in column c, or, of two
	// classes, p₁ − p₀. See [ShareTargets] and [Targets.SharesTo].
	Soft bool
	// Weights holds the weights of the labeled points, positive, in the order of Labeled; nil for
	// ones. See [Targets.Weighted].
	Weights []float64
}

// ClassTargets codes classes. At least two must have a labeled point.
func ClassTargets(y *data.Labels) (*Targets, error) {
	if err := CheckLabels(y, y.Len()); err != nil {
		return nil, err
	}
	t := &Targets{Len: y.Len(), Labeled: y.Labeled(), Classes: y.Classes, Names: y.Names}
	t.Y = mat.NewDense(len(t.Labeled), codeColumns(len(y.Classes)), nil)
	for p, i := range t.Labeled {
		codeClass(t.Y.RawRowView(p), y.Index[i])
	}
	return t, nil
}

// codeClass sets row to the code of class c, as in [Targets.Y].
func codeClass(row []float64, c int32) {
	for j := range row {
		row[j] = -1
	}
	switch {
	case len(row) > 1:
		row[c] = 1
	case c == 1:
		row[0] = 1
	}
}

// codeColumns is the number of columns that code c classes.
func codeColumns(c int) int {
	if c == 2 {
		return 1
	}
	return c
}

// CheckOutputs returns an error unless there is an intercept for every column of
// coefficients, and the number of columns is the one that codes the classes. needed says that
// there must be classes.
func CheckOutputs(coefficients *mat.Dense, intercepts []float64, classes []int64, needed bool) error {
	_, outputs := coefficients.Dims()
	if len(intercepts) != outputs {
		return fmt.Errorf("models: %d intercepts for %d outputs", len(intercepts), outputs)
	}
	if c := len(classes); (classes != nil || needed) && (c < 2 || outputs != codeColumns(c)) {
		return fmt.Errorf("models: %d outputs for %d classes", outputs, c)
	}
	return nil
}

// MaxTarget bounds the magnitude of a value to learn: its square, 1e300, is still finite.
const MaxTarget = 1e150

// ValueTargets takes the values of a regression, an n×m block; a row of NaN is a
// point without a target. A row that is NaN in part is an error, and so are
// infinities.
func ValueTargets(y *mat.Dense) (*Targets, error) {
	n, m := y.Dims()
	t := &Targets{Len: n}
	var values []float64
	for i := range n {
		row := y.RawRowView(i)
		missing := 0
		for j, v := range row {
			if math.Abs(v) > MaxTarget {
				return nil, fmt.Errorf("models: the target of point %d, column %d, is %v; beyond ±%g "+
					"its square overflows: scale the targets", i, j, v, MaxTarget)
			}
			if math.IsNaN(v) {
				missing++
			}
		}

		// A row without any target is an unlabeled point.
		switch missing {
		case 0:
			t.Labeled = append(t.Labeled, i)
			values = append(values, row...)
		case m:
		default:
			return nil, fmt.Errorf("models: point %d has %d of %d targets; it must have all or none", i,
				m-missing, m)
		}
	}

	if len(t.Labeled) == 0 {
		return nil, fmt.Errorf("models: no point has a target")
	}
	t.Y = mat.NewDense(len(t.Labeled), m, values)
	return t, nil
}

// Keep returns the targets of the labeled points at the given positions in
// Labeled only.
func (t *Targets) Keep(positions []int) *Targets {
	// Labeled must ascend.
	positions = slices.Sorted(slices.Values(positions))
	_, m := t.Y.Dims()
	out := &Targets{Len: t.Len, Classes: t.Classes, Names: t.Names, Labels: t.Labels, Soft: t.Soft,
		Y: mat.NewDense(len(positions), m, nil), Weights: t.weightsAt(positions)}
	for p, q := range positions {
		out.Labeled = append(out.Labeled, t.Labeled[q])
		copy(out.Y.RawRowView(p), t.Y.RawRowView(q))
	}
	return out
}

// NewPrediction makes an answer of raw outputs, which have the columns of [Targets.Y]. Two
// classes get scores of opposite signs.
func NewPrediction(raw *mat.Dense, classes []int64) *Prediction {
	if classes == nil {
		return &Prediction{Scores: raw}
	}
	scores := BothClasses(raw)
	return &Prediction{Classes: Decide(scores), Scores: scores}
}

// FallBack gives the points whose scores are all 0, of which a model knows nothing, the class at the
// given position: the most frequent one of the labels, see [Targets.Majority].
func (p *Prediction) FallBack(class int32) {
	for i := range p.Classes {
		if !slices.ContainsFunc(p.Scores.RawRowView(i), func(v float64) bool { return v != 0 }) {
			p.Classes[i] = class
		}
	}
}

// Majority returns the position of the most frequent class of the labels, by [Targets.Masses]; of
// equally frequent classes the first one, and 0 for other targets.
func (t *Targets) Majority() int32 {
	if t.Classes == nil {
		return 0
	}
	masses := t.Masses()
	return int32(slices.Index(masses, slices.Max(masses)))
}

// ClassLabels returns the classes of all points; those without a target have
// none. It is the inverse of [ClassTargets], and nil for other targets. A point with a distribution
// gets its most probable class.
func (t *Targets) ClassLabels() *data.Labels {
	if t.Classes == nil {
		return nil
	}
	y := &data.Labels{Classes: t.Classes, Names: t.Names,
		Index: slices.Repeat([]int32{data.Unlabeled}, t.Len)}
	for q, i := range t.Labeled {
		y.Index[i] = int32(t.Class(q))
	}
	return y
}
