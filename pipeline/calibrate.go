package pipeline

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/stage"
)

// CalibrationOperations is the number of operations up to which [Pipeline.CalibrateIfCheap]
// fits to folds: about a second. Operations are counted, not timed, so that a fit is the same
// on every machine.
const CalibrationOperations = 5e10

// Calibrate returns m with a calibration: see [models.WithCalibration]. m is the model that l
// fitted to in. The labels of in are dealt into folds; folds = 0 means
// [selection.CalibrationFolds]. For each fold l is fitted to the other folds, with the
// parameters in use in m, the graph and the eigenpairs of in.
//
// It is an error if there are too few labels (calibration.ErrFew), if points may have several
// labels, or if labels are of one side only ([models.LearnsInside]). An error that is
// [models.Usable] comes with the model.
func (p *Pipeline) Calibrate(ctx context.Context, l models.Learner, m models.Model, in *models.Input,
	folds int) (models.Model, error) {
	fold, err := calibrationInput(l, m, in)
	if err != nil {
		return nil, err
	}
	cost, err := selection.HeldOutCost(l, fold, folds)
	if err != nil {
		return nil, err
	}
	return p.calibrate(ctx, l, m, fold, cost, folds)
}

// CalibrateIfCheap is [Pipeline.Calibrate] if the fits to folds take at most
// [CalibrationOperations] and the memory that is left. Otherwise, or if there can be no
// calibration, it returns m. A note gives the reason if the caller can do something about it.
func (p *Pipeline) CalibrateIfCheap(ctx context.Context, l models.Learner, m models.Model,
	in *models.Input) (models.Model, error) {
	fold, err := calibrationInput(l, m, in)
	if err != nil {
		return m, nil
	}
	cost, err := selection.HeldOutCost(l, fold, 0)
	if err != nil {
		return m, nil
	}
	// What would take long is named, with the flag that asks for it.
	folds := selection.CalibrationFolds(len(in.Targets.Labeled))
	switch {
	case cost.Operations > CalibrationOperations:
		p.Observed().Note(fmt.Sprintf("calibration: left out, as %d more fits and their "+
			"probabilities take %.0e operations; give %s %d for them", folds,
			cost.Operations, param.Name("calibrate"), folds))
		return m, nil
	case p.Memory > 0 && cost.Bytes > p.Memory:
		p.Observed().Note(fmt.Sprintf("calibration: left out, as %d more fits take too much memory; "+
			"give %s %d for probabilities or intervals", folds, param.Name("calibrate"), folds))
		return m, nil
	}

	// Too few labels are no fault here: nobody asked for a calibration.
	out, err := p.calibrate(ctx, l, m, fold, cost, 0)
	switch {
	case errors.Is(err, calibration.ErrFew), errors.Is(err, models.ErrOneClass):
		return m, nil
	case err != nil && ctx.Err() == nil:
		p.Observed().Note(fmt.Sprintf("calibration: %v", err))
		if !models.Usable(err) {
			return m, nil
		}
	}

	return out, ctx.Err()
}

// calibrationInput returns in with the parameters in use in m, or an error if there can be no
// calibration.
func calibrationInput(l models.Learner, m models.Model, in *models.Input) (*models.Input, error) {
	info := l.Info()
	switch {
	case in.Targets.Labels != nil:
		return nil, fmt.Errorf("pipeline: probabilities are those of one class a point, and %s was "+
			"fitted to several labels a point", info.Name)
	case in.Targets.Classes == nil && mat.Sum(in.Targets.Y) != mat.Sum(in.Targets.Y):
		return nil, errors.New("pipeline: some values of labeled points are NaN; intervals need all " +
			"values of each")
	case info.Learns.Has(models.LearnsInside):
		return nil, fmt.Errorf("pipeline: %s knows no points outside, so that there is nothing to "+
			"take the probability of being inside from", info.Name)
	}

	// The folds fit with the values in use, also those that were chosen.
	fold := *in
	fold.Values, fold.Start = m.Summary().Values, nil
	return &fold, nil
}

// calibrate fits to folds and returns m with the calibration by the held-out answers.
func (p *Pipeline) calibrate(ctx context.Context, l models.Learner, m models.Model, fold *models.Input,
	cost stage.Cost, folds int) (models.Model, error) {
	if err := p.Observed().Announce("calibration", cost); err != nil {
		return nil, err
	}
	p.Observed().Begin("calibration")
	held, short := selection.NewHeldOut(ctx, l, fold, folds)
	if !models.Usable(short) {
		return nil, short
	}
	// Held-out answers of all folds are fitted together.
	c, err := held.Calibration()
	if err != nil {
		return nil, err
	}

	p.Observed().End(c.String())
	out, err := models.WithCalibration(m, c)
	return out, errors.Join(short, err)
}
