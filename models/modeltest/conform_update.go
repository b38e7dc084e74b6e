package modeltest

import (
	"reflect"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
)

// updateTolerance is the relative difference of scores that begin at different places.
const updateTolerance = 1e-5

// checkUpdate: a model that is a [models.Updater] keeps the targets of its fit, in its
// file too, and a fit that begins with what it keeps ends where the first did.
func (c *checker) checkUpdate() {
	c.each(func(k kind) {
		in := c.input(blobs(sampleSize, false, 1), k)
		m := c.fit(k.name, in)
		u, ok := m.(models.Updater)
		if !ok {
			return
		}
		kept := u.Kept()
		c.keeps(k.name, "the model", kept, in)
		_, path := c.saved(k, blobs(sampleSize, false, 1))
		back, _, err := c.load(path)
		c.must(k.name, "Load", err)

		// An update begins with a file in practice, so the loaded model must keep the same.
		again, ok := back.(models.Updater)
		if !ok {
			c.fault(k.name, "a loaded model is a %T and no Updater", back)
			return
		}

		c.keeps(k.name, "the loaded model", again.Kept(), in)
		if kept.Start == nil {
			return
		}

		// The scores still belong to the first model, so the second fit must not write to them.
		start := kept.StartFor(in.Targets.Classes)
		before := mat.DenseCopyOf(start)
		next := c.input(blobs(sampleSize, false, 1), k)
		next.Start = start
		if d := difference(c.ask(k.name, m, queries(false)), c.answer(k.name, next, queries(false)),
			updateTolerance); d != "" {
			c.fault(k.name, "a fit that begins with the scores of another: %s", d)
		}
		if !mat.Equal(start, before) {
			c.fault(k.name, "the fit changed its start")
		}
	})
}

// keeps compares what a model keeps with its input.
func (c *checker) keeps(at, what string, kept *models.Kept, in *models.Input) {
	n := in.Len()
	if kept.Points == nil {
		c.fault(at, "%s keeps no points", what)
		return
	}
	if rows, _ := kept.Points.Dims(); in.Graph != nil && rows != n {
		c.fault(at, "%s keeps %d of %d points", what, rows, n)
	}
	if in.Graph != nil {
		h, err := kept.WithLists()
		c.must(at, "WithLists", err)
		if !reflect.DeepEqual(h.Lists, in.Graph.Lists) {
			c.fault(at, "%s keeps other neighbours", what)
		}
	}

	if kept.Start != nil {
		if rows, _ := kept.Start.Dims(); rows != n {
			c.fault(at, "%s has a start of %d rows for %d points", what, rows, n)
		}
	}

	// A model on labeled points alone keeps targets of their number, and numbers them anew.
	t := kept.Targets
	if t == nil {
		c.fault(at, "%s does not know its targets", what)
		return
	}
	if !slices.Equal(t.Classes, in.Targets.Classes) || !mat.Equal(t.Y, in.Targets.Y) {
		c.fault(at, "%s keeps the targets %v of the classes %v", what, t.Y.RawMatrix().Data, t.Classes)
	}
	if t.Len == n && !slices.Equal(t.Labeled, in.Targets.Labeled) {
		c.fault(at, "%s keeps the targets of the points %v", what, t.Labeled)
	}
}
