package bigfit

import (
	"context"
	"errors"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// Fit fits a model to n points x, some of which have a label in y.
//
// The default model, "auto", makes the graph of nearest neighbours of the points and chooses
// among models by cross-validation on the labels. Neither x nor y is changed.
// The model keeps ids that x has.
// An unknown model or parameter, numbers that are not finite, lengths that differ and labels of
// fewer than two classes are errors that name the place and the value.
//
// A cancelled ctx ends the work with its error. An error that is [Usable] comes with a model, for
// example when an iteration did not converge.
func Fit(ctx context.Context, x Points, y Labels, o *Options) (fitted *Model, err error) {
	defer plain(&err)
	if o == nil {
		o = &Options{}
	}

	// All checks come before any work.
	plan, err := o.plan()
	if err != nil {
		return nil, err
	}
	in, err := input(plan, x, y)
	if err != nil {
		return nil, err
	}
	g, err := plan.graph(in.Points)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	// The pipeline makes the graph and whatever else the model needs, in copies of in.
	m := &Model{run: o.run()}
	_, decided := plan.ofGraph["standardize"]
	if s := data.ScaleOf(in.Points); s != nil && !decided && !g.Standardize {
		m.units = s.Warning(nil)
	}
	p := m.run.pipeline()
	learned, complete, short := p.FitComplete(ctx, plan.learner, in, g)
	if !Usable(short) {
		return nil, short
	}
	m.model = learned
	m.input = complete

	err = m.calibrate(ctx, p, plan, g)
	if !Usable(err) {
		return nil, err
	}
	return m, errors.Join(short, err)
}

// input puts points and labels together.
func input(p *plan, x Points, y Labels) (*models.Input, error) {
	points, err := x.get()
	if err != nil {
		return nil, err
	}
	if y, _, err = y.placed(x.ids); err != nil {
		return nil, err
	}
	t, err := y.targets(p.learner.Info())
	if err != nil {
		return nil, err
	}
	if err := sameLength(points, y); err != nil {
		return nil, err
	}
	return &models.Input{Points: points, IDs: x.ids, Targets: t, Values: p.own}, nil
}

// sameLength returns an error unless there is a label, or the mark for none, for each point.
func sameLength(x data.Points, y Labels) error {
	if n, _ := x.Dims(); n != y.len() {
		return fmt.Errorf("bigfit: %d labels for %d points; give one for each, and mark those without", y.len(), n)
	}
	return nil
}

// calibrate gives m probabilities or intervals, as the plan asks.
func (m *Model) calibrate(ctx context.Context, p *pipeline.Pipeline, plan *plan, g *pipeline.GraphSettings) error {
	// Class weights make a graph of all labels, which leaves none to hold out.
	if plan.folds == NoCalibration || plan.folds == 0 && g.ClassWeights != nil {
		return nil
	}
	var calibrated models.Model
	var err error
	switch {
	case g.ClassWeights != nil:
		return errors.New("bigfit: class-weights make a graph of all labels, so that none can be held out in Folds")
	case plan.folds == 0:
		calibrated, err = p.CalibrateByDefault(ctx, plan.learner, m.model, m.input)
	default:
		calibrated, err = p.Calibrate(ctx, plan.learner, m.model, m.input, plan.folds)
	}
	if Usable(err) {
		m.model = calibrated
	}
	return err
}
