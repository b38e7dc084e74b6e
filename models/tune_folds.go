package models

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
)

// Criterion is what cross-validation measures.
type Criterion int

const (
	// DefaultCriterion is ErrorCriterion for classes and RMSECriterion for
	// values.
	DefaultCriterion Criterion = iota
	// ErrorCriterion is the share of wrong classes.
	ErrorCriterion
	// RMSECriterion is [RMSE], over all outputs of a regression.
	RMSECriterion
	// F1Criterion, PRBEPCriterion and AUCCriterion are [Confusion.F1], [PRBEP]
	// and [AUC] of the larger of two classes, or the mean over more classes, each
	// against all others, where it is defined.
	F1Criterion
	PRBEPCriterion
	AUCCriterion
)

var criterionNames = []string{"default", "error", "rmse", "f1", "prbep", "auc"}

// String returns the name used on the command line and in reports.
func (c Criterion) String() string { return enum.String(criterionNames, c) }

// MarshalText returns the name.
func (c Criterion) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (c *Criterion) UnmarshalText(text []byte) error {
	return enum.Set(c, criterionNames, "metric", text)
}

// Larger tells whether larger values are the better ones.
func (c Criterion) Larger() bool { return c >= F1Criterion }

// Folds deals the labeled points of t into k folds: disjoint sets of positions
// in t.Labeled, ascending, that cover all. Their sizes differ by at most one, and
// so do the numbers of points of any class in them. The order within a class, or
// of all points of a regression, is random by the seed. k is at least 2 and at
// most the number of labeled points, where every fold is one point.
func (t *Targets) Folds(k int, seed uint64) ([][]int, error) {
	l := len(t.Labeled)
	if k < 2 || k > l {
		return nil, fmt.Errorf("models: %d folds of %d labeled points; there must be at least 2 and at most one a point", k, l)
	}
	order := span(0, l)
	rng := rand.New(rand.NewPCG(seed, 0x666f6c6473)) // "folds"
	rng.Shuffle(l, func(i, j int) { order[i], order[j] = order[j], order[i] })
	if t.Classes != nil {
		// Sorted by class and dealt out in turn, every fold has its share of each.
		slices.SortStableFunc(order, func(a, b int) int { return t.class(a) - t.class(b) })
	}
	folds := make([][]int, k)
	for at, q := range order {
		folds[at%k] = append(folds[at%k], q)
	}
	for _, f := range folds {
		slices.Sort(f)
	}
	return folds, nil
}

// class returns the position in Classes of the class of labeled point q.
func (t *Targets) class(q int) int {
	row := t.Y.RawRowView(q)
	if len(t.Classes) != 2 {
		return slices.Index(row, 1)
	}
	if row[0] > 0 {
		return 1
	}
	return 0
}

// split is a fold held out and the rest to train on.
type split struct {
	train  *Targets
	labels *data.Labels // of train; nil for a regression
	kept   []int        // positions in Labeled that train has
	held   []int        // and those it lacks
	points []int        // numbers of the points held
}

// splits returns a split for every fold of every repetition. A class of which no
// label is left to train on is not among the classes of that split: its points
// held out count as wrong. At least two classes must be left.
func (t *Targets) splits(folds, repeats int, seed uint64) ([]*split, error) {
	dealt, err := t.repeatedFolds(folds, repeats, seed)
	if err != nil {
		return nil, err
	}
	var out []*split
	for _, held := range dealt {
		s := &split{held: held, kept: t.except(held)}
		for _, q := range held {
			s.points = append(s.points, t.Labeled[q])
		}
		if t.Classes == nil {
			s.train = t.Keep(s.kept)
		} else {
			s.labels = t.labels(s.kept)
			if len(s.labels.Classes) < 2 {
				return nil, fmt.Errorf("models: without one of %d folds all labels are of class %d; at least two classes need two labels each", folds, s.labels.Classes[0])
			}
			if s.train, err = ClassTargets(s.labels); err != nil {
				return nil, err
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// repeatedFolds returns the folds of all repetitions, one after the other.
func (t *Targets) repeatedFolds(k, repeats int, seed uint64) ([][]int, error) {
	var out [][]int
	for r := range repeats {
		folds, err := t.Folds(k, seed+uint64(r))
		if err != nil {
			return nil, err
		}
		out = append(out, folds...)
	}
	return out, nil
}

// except returns the positions in t.Labeled that are not in fold.
func (t *Targets) except(fold []int) []int {
	return slices.DeleteFunc(span(0, len(t.Labeled)), func(q int) bool { _, in := slices.BinarySearch(fold, q); return in })
}

// labels returns the classes of the labeled points at the given positions; those
// without a label are left out.
func (t *Targets) labels(positions []int) *data.Labels {
	values, known := make([]int64, t.Len), make([]bool, t.Len)
	for _, q := range positions {
		i := t.Labeled[q]
		values[i], known[i] = t.Classes[t.class(q)], true
	}
	return data.NewLabels(values, known)
}

// measure returns the criterion for the points held in s; NaN where it is not
// defined for them.
func (t *Targets) measure(c Criterion, s *split, a answer) (float64, error) {
	if t.Classes == nil {
		var truth, predicted []float64
		for i, q := range s.held {
			truth = append(truth, t.Y.RawRowView(q)...)
			predicted = append(predicted, a.scores.RawRowView(i)...)
		}
		return RMSE(truth, predicted)
	}
	truth, predicted := make([]int64, len(s.held)), make([]int64, len(s.held))
	for i, q := range s.held {
		truth[i], predicted[i] = t.Classes[t.class(q)], s.train.Classes[a.classes[i]]
	}
	r, err := NewReport(truth, predicted)
	if err != nil {
		return 0, err
	}
	if c == ErrorCriterion {
		return r.Error, nil
	}
	if err := r.AddScores(truth, a.scores, s.train.Classes); err != nil {
		return 0, err
	}
	if len(t.Classes) > 2 {
		return map[Criterion]float64{F1Criterion: r.MacroF1, PRBEPCriterion: float64(*r.MacroPRBEP), AUCCriterion: float64(*r.MacroAUC)}[c], nil
	}
	if r.SetPositive(t.Classes[1]) != nil {
		return math.NaN(), nil // no such point is held out, and none is predicted
	}
	return map[Criterion]float64{F1Criterion: r.Positive.F1, PRBEPCriterion: float64(*r.Positive.PRBEP), AUCCriterion: float64(*r.Positive.AUC)}[c], nil
}

// answer is what a model says about the points held in a split.
type answer struct {
	scores  *mat.Dense // a row each
	classes []int32    // positions in the classes of the split; nil for a regression
	err     error      // scores are usable with one of convergence
}
