package models

import (
	"errors"
	"fmt"

	"github.com/bigfit/bigfit/data"
)

// Check returns all faults of an input at once, before anything is computed: what
// the learner needs and the input lacks, lengths that differ, no labeled point,
// labels of fewer than two classes, and coordinates that are not finite. It reads
// the points once.
func (i *Info) Check(in *Input) error {
	if in.Targets == nil {
		return errors.New("models: there are no targets")
	}
	faults := []error{in.Check(), in.Targets.checkLabeled()}
	lacks := func(what string) { faults = append(faults, fmt.Errorf("models: %s needs %s", i.Name, what)) }
	switch {
	case in.Points != nil:
		faults = append(faults, data.CheckFinite("models: the points", in.Points))
	case i.Needs.Has(NeedsPoints):
		lacks("points")
	}

	if i.UsesGraph(in.Values) && (in.Graph == nil || in.Graph.W == nil) {
		lacks("a graph")
	}
	if i.Needs.Has(NeedsEigenpairs) && in.Pairs == nil {
		lacks("eigenpairs")
	}
	return errors.Join(faults...)
}

// checkLabeled returns an error unless a point has a target, and, of classes, two
// of them have one.
func (t *Targets) checkLabeled() error {
	if len(t.Labeled) == 0 {
		return errors.New("models: no point is labeled")
	}
	if t.Classes == nil {
		return nil
	}
	first := t.Class(0)
	for q := range t.Labeled {
		if t.Class(q) != first {
			return nil
		}
	}
	return fmt.Errorf("models: all labels are of class %s; at least two classes must have a label",
		data.ClassName(t.Classes, t.Names, int32(first)))
}

// CheckQuery returns an error unless x are points that a model of the given number
// of columns answers for: at least one, of as many columns, all of them finite. It
// reads x once.
func CheckQuery(x data.Points, dim int) error {
	if dim == 0 {
		return ErrNoPoints
	}
	n, d := x.Dims()
	switch {
	case n == 0:
		return ErrNoQuery
	case d != dim:
		return fmt.Errorf("models: points of %d columns for a model of %d", d, dim)
	}

	return data.CheckFinite("models: the points asked for", x)
}
