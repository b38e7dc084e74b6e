package modeltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/stage"
)

// extends fits and returns the model if it answers for new points.
func (c *checker) extends(k kind) (models.Model, bool) {
	m := c.fit(k.name, c.input(blobs(sampleSize, false, 1), k))
	return m, m.Dim() > 0
}

// predict stops without an answer.
func (c *checker) predict(at string, m models.Model, x data.Points,
	s *models.PredictSettings) *models.Prediction {
	p, err := m.Predict(context.Background(), x, s)
	c.must(at, "Predict", err)
	return p
}

// checkOutput: the answers have the form that Output describes, and a query has a
// cost.
func (c *checker) checkOutput() {
	c.each(func(k kind) {
		in := c.input(blobs(sampleSize, false, 1), k)
		m := c.fit(k.name, in)
		if m.Name() != c.info.Name {
			c.fault(k.name, "the model is called %q", m.Name())
		}
		c.outputKind(k, m.Output(), in.Targets)
		if d := m.Dim(); d != 0 && d != sampleDim {
			c.fault(k.name, "the model takes points of %d columns", d)
		}
		if m.Dim() > 0 {
			c.shaped(k.name, m.Output(), c.predict(k.name, m, queries(false), nil), queryCount)
		}
		var last stage.Cost

		// The cost of a query does not shrink with the number of points, and nil settings are the
		// defaults.
		for _, n := range []int{1, 100, 100_000} {
			cost := m.QueryCost(n, nil)
			if cost.Bytes < max(0, last.Bytes) || cost.Operations < max(0, last.Operations) ||
				cost != m.QueryCost(n, &models.PredictSettings{}) {
				c.fault(k.name, "a query of %d points costs %+v, a smaller one %+v", n, cost, last)
			}
			last = cost
		}

		if m.Dim() > 0 && last.Bytes == 0 {
			c.fault(k.name, "a query of 100,000 points costs nothing")
		}
	})
}

// outputKind compares the form of the answers with the targets.
func (c *checker) outputKind(k kind, o models.Output, t *models.Targets) {
	_, cols := t.Y.Dims()
	ok := true
	switch k.learns {
	case models.LearnsClasses, models.LearnsShares, models.LearnsShares | models.LearnsWeights:
		ok = o.Kind == models.OutputClasses && slices.Equal(o.Classes, t.Classes) &&
			o.Columns == len(t.Classes)
	case models.LearnsValues:
		ok = o.Kind == models.OutputValues && o.Columns == cols
	case models.LearnsLabels:
		ok = o.Kind == models.OutputLabels && slices.Equal(o.Labels, t.Labels) && o.Columns == cols
	}

	// Classes and labels belong to their kinds of output, and to no others.
	if (o.Classes != nil) != (o.Kind == models.OutputClasses) ||
		(o.Labels != nil) != (o.Kind == models.OutputLabels) {
		ok = false
	}
	if !ok {
		c.fault(k.name, "the output is %+v for targets of %d columns, classes %v, labels %v", o, cols,
			t.Classes, t.Labels)
	}
}

// shaped demands answers for n points in the form of o.
func (c *checker) shaped(at string, o models.Output, p *models.Prediction, n int) {
	if p.Scores == nil {
		c.fault(at, "there are no scores")
		return
	}
	if rows, cols := p.Scores.Dims(); rows != n || cols != o.Columns || p.Len() != n {
		c.fault(at, "scores are %d×%d and the length %d for %d points and %d columns", rows, cols, p.Len(), n,
			o.Columns)
	}
	c.classed(at, o, p, n)
}

// classed demands classes in range, of models with classes alone.
func (c *checker) classed(at string, o models.Output, p *models.Prediction, n int) {
	if (p.Classes != nil) != (o.Kind == models.OutputClasses) || p.Classes != nil && len(p.Classes) != n {
		c.fault(at, "%d classes for %d points of the output %v", len(p.Classes), n, o.Kind)
	}
	for i, class := range p.Classes {
		if class < 0 || int(class) >= len(o.Classes) {
			c.fault(at, "point %d has class %d of %d", i, class, len(o.Classes))
			return
		}
	}
}

// checkTraining: answers that are kept for the training points have the form of
// all answers, with and without scores.
func (c *checker) checkTraining() {
	c.each(func(k kind) {
		m := c.fit(k.name, c.input(blobs(sampleSize, false, 1), k))
		trained, ok := m.(models.Trained)
		if !ok {
			if m.Dim() == 0 {
				c.fault(k.name, "it answers neither for its points nor for others")
			}
			return
		}
		with := trained.Training(true)
		without := trained.Training(false)
		c.shaped(k.name, m.Output(), with, sampleSize)
		c.classed(k.name, m.Output(), without, sampleSize)
		if !slices.Equal(with.Classes, without.Classes) {
			c.fault(k.name, "other classes with scores than without")
		}
		if without.Classes == nil && differs(with, without, 0) != "" {
			c.fault(k.name, "other values with scores than without")
		}
	})
}

// checkGraphAlone: a learner that asks for no points is content with a graph; its
// model then answers for the points of the graph alone, also when loaded.
func (c *checker) checkGraphAlone() {
	if !c.info.Transductive() {
		return
	}

	c.each(func(k kind) {
		in := c.input(blobs(sampleSize, false, 1), k)
		with := c.fit(k.name, in)
		in.Points, in.Graph = nil, models.NewGraph(in.Graph.W)
		m := c.fit(k.name, in)
		trained, ok := m.(models.Trained)
		if m.Dim() != 0 || !ok {
			c.must(k.name, "a graph without points",
				fmt.Errorf("the dimension is %d, the model is Trained: %v", m.Dim(), ok))
		}
		if also, ok := with.(models.Trained); !ok ||
			differs(also.Training(true), trained.Training(true), 0) != "" {
			c.fault(k.name, "a graph with and without points gives other answers, or none")
		}

		// Without points of the training there is nothing to compare a new point with.
		if _, err := m.Predict(context.Background(), queries(false), nil); !errors.Is(err,
			models.ErrNoPoints) {
			c.fault(k.name, "Predict without training points: %v; it must be ErrNoPoints", err)
		}
		if m.QueryCost(10, nil).Bytes < 0 {
			c.fault(k.name, "QueryCost is negative")
		}

		// A loaded model has no graph: it answers from what it kept.
		path := c.dir + "/graph.npz"
		c.must(k.name, "Save", models.Save(path, m, nil))
		back, _, err := c.load(path)
		c.must(k.name, "Load", err)
		if b, ok := back.(models.Trained); !ok || differs(b.Training(true), trained.Training(true), 0) != "" {
			c.fault(k.name, "other training answers after loading")
		}
	})
}

// checkSingle: the answer for a point does not depend on the others.
func (c *checker) checkSingle() {
	c.each(func(k kind) {
		m, ok := c.extends(k)
		if !ok {
			return
		}
		x := queries(false)
		all := c.predict(k.name, m, x, nil)
		tolerance := 0.0
		if t, ok := c.s.Tolerances[c.name]; ok {
			tolerance = t.Relative
		}

		// The first point, the last one, one twice, and an order of its own: batches must not
		// matter.
		for _, rows := range [][]int{{0}, {queryCount - 1}, {3, 3, 5}, {7, 2, 11, 0, 20}} {
			got := c.predict(k.name, m, data.Select(x, rows), nil)
			if d := differs(reordered(all, rows), got, tolerance); d != "" {
				c.fault(k.name, "the points %v among all and alone: %s", rows, d)
			}
		}
	})
}

// checkQuery: points of another dimension, no points and points that are not
// finite are errors.
func (c *checker) checkQuery() {
	c.first(func(k kind) {
		m, ok := c.extends(k)
		if !ok {
			return
		}
		x := queries(false)
		nan := converted[float64](x).(*data.Dense[float64])
		nan.Row(4)[2] = math.NaN()
		for what, query := range map[string]data.Points{
			"too many columns":        degenerate(x),
			"too few columns":         data.Columns(x, []int{0, 1}),
			"too many sparse columns": data.ToSparse(degenerate(x)),
			"no points":               data.NewDense[float64](0, sampleDim),
			"NaN":                     nan,
		} {
			c.try(what, func() {
				if p, err := m.Predict(context.Background(), query, nil); err == nil || p != nil {
					c.fault(what, "the answer is %v, the error %v", p != nil, err)
				}
			})
		}

		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		c.try("cancelled", func() {
			if _, err := m.Predict(ctx, x, nil); !errors.Is(err, context.Canceled) {
				c.fault("cancelled", "the error is %v", err)
			}
		})
	})
}

// checkSettings: settings that matter to the model are taken, bad ones refused,
// and others ignored; progress stays within its total.
func (c *checker) checkSettings() {
	c.first(func(k kind) {
		m, ok := c.extends(k)
		if !ok {
			return
		}
		x := queries(false)
		o := m.Output()
		want := c.predict(k.name, m, x, nil)
		few := &models.PredictSettings{Neighbors: 2}
		if got := c.predict(k.name, m, x, few); !o.Searches && differs(want, got, 0) != "" {
			c.fault("neighbors", "they do not matter to the model, but change its answers")
		}
		if cost := m.QueryCost(queryCount, few); cost.Bytes < 0 {
			c.fault("neighbors", "the cost is %+v", cost)
		}

		// More neighbours than there are points are all points; a negative number is a fault.
		if o.Searches {
			c.predict("neighbors", m, x, &models.PredictSettings{Neighbors: 10 * sampleSize})
			if _, err := m.Predict(context.Background(), x,
				&models.PredictSettings{Neighbors: -1}); err == nil {
				c.fault("neighbors", "−1 neighbours are accepted")
			}
		}

		got := c.predict("extension", m, x, &models.PredictSettings{Extension: models.Nystrom})
		if !o.Extends && differs(want, got, 0) != "" {
			c.fault("extension", "it does not matter to the model, but changes its answers")
		}
		var mu sync.Mutex
		c.predict("progress", m, x, &models.PredictSettings{OnProgress: func(done, total int) {
			mu.Lock()
			defer mu.Unlock()
			if done < 0 || done > total {
				c.fault("progress", "%d of %d", done, total)
			}
		}})
	})
}

// clients ask at the same time.
const clients = 8

// checkConcurrent: a model answers several callers at once, also just after it is
// loaded.
func (c *checker) checkConcurrent() {
	c.each(func(k kind) {
		fitted, path := c.saved(k, blobs(sampleSize, false, 1))
		want := c.ask(k.name, fitted, queries(false))
		loaded, _, err := c.load(path)
		c.must(k.name, "Load", err)
		for what, m := range map[string]models.Model{"fitted": fitted, "loaded": loaded} {
			var wg sync.WaitGroup
			faults := make([]*checker, clients)
			got := make([]answers, clients)

			// Each caller has a checker of its own, as faults are collected without a lock.
			for i := range clients {
				faults[i] = &checker{l: c.l, info: c.info, s: c.s}
				wg.Go(func() {
					faults[i].try(k.name,
						func() { got[i] = faults[i].ask(k.name, m, queries(false)) })
				})
			}
			wg.Wait()
			for i, f := range faults {
				c.faults = append(c.faults, f.faults...)
				if d := difference(want, got[i], 0); f.faults == nil && d != "" {
					c.fault(k.name, "%s, asked by %d at once: %s", what, clients, d)
				}
			}
		}
	})
}
