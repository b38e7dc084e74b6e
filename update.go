package bigfit

import (
	"context"
	"errors"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

// Update returns a model of the points and labels of m together with new points, new labels or
// both; m does not change. The settings of m stay. The graph of m grows by the new points, and the
// solver begins with the answers of m, so the work is less than that of a fit.
//
// x are new points, which get the numbers after those of m; the zero Points adds none. y are the
// labels of the new points, or of all points, the old ones first, which then replace the labels
// of m; the zero Labels adds none. A class that m does not know is a new one.
//
// Where the points of m have ids, new points need ids as well ([Points.WithIDs]), and labels by id
// ([NamesByID]) join the labels of m: each counts for its point, old or new, and all others stay.
//
// Update is for auto, eigenmap, harmonic, lgc, tikhonov, poisson, reweighted, knn, geodesic and
// correct-and-smooth.
// Others are to be fitted anew. A knn model keeps the labeled points alone: its labels of
// all points are labels of these. An error that is [Usable] comes with the model that was reached.
func (m *Model) Update(ctx context.Context, x Points, y Labels) (updated *Model, err error) {
	defer plain(&err)
	growth, err := m.growth(x, y)
	if err != nil {
		return nil, err
	}
	return m.update(ctx, growth)
}

// update returns the model with what joins it and without what it forgets.
func (m *Model) update(ctx context.Context, growth *pipeline.Growth) (*Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := all.Learner(m.model.Name())
	if l == nil {
		return nil, fmt.Errorf("bigfit: a %s model takes no points or labels; make it anew", m.model.Name())
	}
	u, err := m.run.pipeline().Update(ctx, l, m.model, growth)
	if !Usable(err) {
		return nil, err
	}
	return &Model{run: m.run, model: u.Model, input: u.Input}, err
}

// growth collects the points and labels that join the model, and checks them against it.
func (m *Model) growth(x Points, y Labels) (*pipeline.Growth, error) {
	if x.none() && y.none() {
		return nil, errors.New("bigfit: neither points nor labels are given; nothing joins the model")
	}
	growth := &pipeline.Growth{}
	added := 0
	if !x.none() {
		var err error
		if growth.Points, err = x.get(); err != nil {
			return nil, err
		}
		var d int
		if added, d = growth.Points.Dims(); d != m.Dim() {
			return nil, fmt.Errorf("bigfit: points of %d numbers for a model of points of %d", d, m.Dim())
		}
		if x.ids != nil {
			growth.IDs = &data.IDs{From: "the new points", Values: x.ids.Values}
		}
	}
	ids, err := pipeline.AppendIDs(models.IDsOf(m.model), growth.IDs, added)
	if err != nil {
		return nil, fmt.Errorf("bigfit: %w", err)
	}
	if y.none() {
		return growth, nil
	}

	// Labels by id may all be marks for none, which take labels away.
	growth.Joined = y.ids != nil
	if y, growth.Listed, err = y.placed(ids); err != nil {
		return nil, err
	}
	if !growth.Joined || len(growth.Listed) == 0 {
		if err := y.check(); err != nil {
			return nil, err
		}
	}
	classes := m.model.Output().Kind == models.OutputClasses
	if y.weights != nil {
		return nil, errors.New("bigfit: labels of an update have no weights; fit anew with the weights of all labels")
	}
	if classes != (y.classes != nil || y.shares != nil) {
		return nil, fmt.Errorf("bigfit: %s answers with %v; give labels of the same kind",
			m.model.Name(), m.model.Output().Kind)
	}
	growth.Labels = y.classes
	growth.Values = y.values
	growth.Shares = y.shares
	return growth, nil
}
