package models

import (
	"errors"
	"fmt"

	"github.com/bigfit/bigfit/data"
)

// Check returns all faults of an input at once, before anything is computed: inputs that
// the learner needs and that are missing, lengths that differ, no labeled point, labels of
// fewer than two classes, and coordinates that are not finite. It reads the points once.
func (i *Info) Check(in *Input) error {
	if in.Targets == nil {
		return errors.New("models: there are no targets")
	}
	faults := []error{in.Check(), i.CheckTargets(in.Targets)}
	lacks := func(what string) { faults = append(faults, fmt.Errorf("models: %s needs %s", i.Name, what)) }

	// Points that are given are checked even if the learner uses the graph alone.
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

// checkLabeled returns an error unless a point has a target. Targets of classes need
// labeled points of two classes, or shares of two.
func (t *Targets) checkLabeled() error {
	if len(t.Labeled) == 0 {
		return errors.New("models: no point is labeled")
	}
	if t.Classes == nil {
		return nil
	}
	if t.Soft {
		present := 0
		for _, mass := range t.Masses() {
			if mass > 0 {
				present++
			}
		}
		if present > 1 {
			return nil
		}
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

// CheckQuery returns an error unless a model of dim columns can answer for x: at least one
// point, dim columns, all coordinates finite. It reads x once.
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
