package models

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/bigfit/bigfit/data"
)

// Folds deals the labeled points of t into k folds: disjoint sets of positions in t.Labeled,
// ascending, that cover all labeled points. The sizes of two folds differ by at most one,
// and so do their numbers of points of any class. The seed decides the random order within
// a class, or of all points of a regression. k is at least 2 and at most the number of
// labeled points, where every fold is one point.
func (t *Targets) Folds(k int, seed uint64) ([][]int, error) {
	folds, err := t.Deal(k, seed)
	for _, f := range folds {
		slices.Sort(f)
	}
	return folds, err
}

// Deal is Folds with the positions of a fold in the order in which they were dealt.
func (t *Targets) Deal(k int, seed uint64) ([][]int, error) {
	l := len(t.Labeled)
	if k < 2 || k > l {
		return nil, fmt.Errorf("models: %d folds of %d labeled points; there must be at least 2 and "+
			"at most one a point", k, l)
	}
	order := data.Range(0, l)
	rng := rand.New(rand.NewPCG(seed, 0x666f6c6473)) // "folds"
	rng.Shuffle(l, func(i, j int) { order[i], order[j] = order[j], order[i] })
	if t.Classes != nil {
		// Sorted by class and dealt out in turn, every fold has its share of each.
		slices.SortStableFunc(order, func(a, b int) int { return t.Class(a) - t.Class(b) })
	}

	// Dealing goes on from class to class, so that no fold gets the surplus of each.
	folds := make([][]int, k)
	for at, q := range order {
		folds[at%k] = append(folds[at%k], q)
	}
	return folds, nil
}

// Class returns the position in Classes of the class of labeled point q, of a distribution the most
// probable class, the first of equals.
func (t *Targets) Class(q int) int {
	row := t.Y.RawRowView(q)
	if len(t.Classes) != 2 {
		if t.Soft {
			return slices.Index(row, slices.Max(row))
		}
		return slices.Index(row, 1)
	}
	if row[0] > 0 {
		return 1
	}
	return 0
}

// Split is a fold held out and the rest to train on.
type Split struct {
	Train  *Targets
	Labels *data.Labels // labels of Train; nil for a regression
	Kept   []int        // positions in Labeled of the points in Train, ascending
	Held   []int        // positions in Labeled of the points held out, ascending
	Points []int        // numbers of the points held out
}

// Splits returns a split for every fold of every repetition. A class without a label to
// train on is not among the classes of that split: its points held out count as wrong. At
// least two classes must be left.
func (t *Targets) Splits(folds, repeats int, seed uint64) ([]*Split, error) {
	dealt, err := t.RepeatedFolds(folds, repeats, seed)
	if err != nil {
		return nil, err
	}
	var out []*Split
	for _, held := range dealt {
		s, err := t.SplitAt(t.Except(held))
		if err != nil {
			return nil, fmt.Errorf("models: without one of %d folds %w; at least two classes need "+
				"two labels each", folds, err)
		}
		out = append(out, s)
	}

	return out, nil
}

// ErrOneClass is the error of a split in which all labels to train on are of one class.
var ErrOneClass = errors.New("all labels are of class")

// SplitAt returns the split that trains on the labeled points at the given positions in
// Labeled, and holds out all others. A class without a label to train on is not among the
// classes of Train: its points held out count as wrong. Labels of one class are an error.
func (t *Targets) SplitAt(kept []int) (*Split, error) {
	s := &Split{Kept: slices.Sorted(slices.Values(kept))}
	s.Held = t.Except(s.Kept)
	for _, q := range s.Held {
		s.Points = append(s.Points, t.Labeled[q])
	}
	if t.Classes == nil {
		s.Train = t.Keep(s.Kept)
		return s, nil
	}

	// Distributions keep the classes that a point trained on has a share of.
	if t.Soft {
		var err error
		if s.Train, err = t.Keep(s.Kept).present(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrOneClass, err)
		}
		s.Labels = s.Train.ClassLabels()
		return s, nil
	}

	// New labels hold only the classes that are left, so that a learner never sees a class
	// without a label.
	s.Labels = t.labels(s.Kept)
	if len(s.Labels.Classes) == 1 {
		return nil, fmt.Errorf("%w %s", ErrOneClass, t.className(s.Labels.Classes[0]))
	}
	var err error
	if s.Train, err = ClassTargets(s.Labels); err == nil {
		s.Train.Weights = t.weightsAt(s.Kept)
	}
	return s, err
}

// className returns the name of a class, or its integer.
func (t *Targets) className(class int64) string {
	return data.ClassName(t.Classes, t.Names, int32(slices.Index(t.Classes, class)))
}

// RepeatedFolds returns the folds of all repetitions, one after the other.
func (t *Targets) RepeatedFolds(k, repeats int, seed uint64) ([][]int, error) {
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

// Except returns the positions in t.Labeled that are not in fold.
func (t *Targets) Except(fold []int) []int {
	return slices.DeleteFunc(data.Range(0, len(t.Labeled)),
		func(q int) bool { _, in := slices.BinarySearch(fold, q); return in })
}

// labels returns the labels of the points at the given positions in Labeled. A class without
// a label among them is left out.
func (t *Targets) labels(positions []int) *data.Labels {
	values := make([]int64, t.Len)
	known := make([]bool, t.Len)
	for _, q := range positions {
		i := t.Labeled[q]
		values[i] = t.Classes[t.Class(q)]
		known[i] = true
	}
	return data.NewLabels(values, known)
}
