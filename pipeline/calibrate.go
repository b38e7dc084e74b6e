package pipeline

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/stage"
)

// [Pipeline.CalibrateByDefault] may take CalibrationShare of the operations of the fit and its graph,
// and LeastOperations, about a hundredth of a second, in any case. Operations are counted, not timed,
// so that a fit is the same on every machine.
const (
	CalibrationShare = 0.25
	LeastOperations  = 1e9
)

// foldTolerance is the relative residual at which solvers of the folds stop, unless the tolerance of
// the model is larger: probabilities need few digits.
const foldTolerance = 1e-3

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
	deal := selection.Deal{Folds: folds}
	cost, err := selection.HeldOutCost(l, fold, deal)
	if err != nil {
		return nil, err
	}
	return p.calibrate(ctx, l, m, fold, cost, deal)
}

// CalibrateByDefault returns m with probabilities or intervals at little cost beside the fit:
//
//   - A model that held labels out to make its choices ([models.Validated]), or whose required values
//     cross-validation chose ([models.Chosen]), is calibrated by the answers for these labels.
//   - A learner that can leave out every label by itself ([models.SelfChecker]) does so, by as many
//     blocks of 16 right-hand sides as the fit solves.
//   - Else labels are held out in 10 folds, in 5 or 3, or a third of them once: the most of them that
//     takes at most [CalibrationShare] of the fit. Solvers of the folds stop at a residual of 1e-3.
//   - Where there are too few labels, or one more fit takes too much, the probabilities are rough: a
//     rule makes them of the scores ([calibration.RoughClasses]), and a note says what to do.
//
// m is the model that l fitted to in. If there can be neither, as for points with several labels,
// the result is m.
func (p *Pipeline) CalibrateByDefault(ctx context.Context, l models.Learner, m models.Model,
	in *models.Input) (models.Model, error) {
	fold, err := calibrationInput(l, m, in)
	if err != nil {
		return m, nil
	}
	if held := heldOutOf(m, in); held != nil {
		c, err := selection.CalibrationOf(in.Targets, held)
		if few(err) {
			return p.roughly(ctx, m, in, tooFew)
		}
		if err != nil {
			return p.roughly(ctx, m, in, "as "+err.Error())
		}
		return models.WithCalibration(m, c)
	}

	loosen(l, fold.Values, foldTolerance)
	if out, err := p.calibrateBySelf(ctx, l, m, fold); out != nil || err != nil {
		return out, err
	}
	deal, cost, err := p.affordableFolds(l, fold)
	if err != nil {
		return m, nil
	}
	if deal.Folds == 0 && !selection.Enough(in.Targets) {
		return p.roughly(ctx, m, in, "as there are few labels")
	}
	if deal.Folds == 0 {
		return p.roughly(ctx, m, in, fmt.Sprintf("as held-out labels would take too long; %s %d holds some out",
			param.Name("calibrate"), selection.CalibrationFolds(len(in.Targets.Labeled))))
	}

	// Too few labels are no fault here: nobody asked for a calibration.
	out, err := p.calibrate(ctx, l, m, fold, cost, deal)
	switch {
	case few(err):
		return p.roughly(ctx, m, in, tooFew)
	case err != nil && ctx.Err() == nil:
		if !models.Usable(err) {
			return p.roughly(ctx, m, in, fmt.Sprintf("as a fit without some labels failed: %v", err))
		}
		p.Observed().Note(fmt.Sprintf("calibration: %v", err))
	}

	return out, ctx.Err()
}

// heldOutOf returns the answers for labels that the choices of a fit held out, nil if there are none.
func heldOutOf(m models.Model, in *models.Input) *models.HeldOut {
	if v, ok := models.Unnamed(m).(models.Validated); ok && v.HeldOut() != nil {
		return v.HeldOut()
	}
	if in.Chosen != nil {
		return in.Chosen.HeldOut
	}
	return nil
}

// selfChecker returns l as a learner that leaves out labels one by one, if it can, with scores on the
// scale of its model.
func selfChecker(l models.Learner, in *models.Input) (models.SelfChecker, bool) {
	checker, ok := l.(models.SelfChecker)
	return checker, ok && in.Targets.Classes != nil && in.Values["class-mass"] != "true"
}

// calibrateBySelf returns m with a calibration by labels that were left out one by one; nil if the
// learner cannot do it.
func (p *Pipeline) calibrateBySelf(ctx context.Context, l models.Learner, m models.Model,
	in *models.Input) (models.Model, error) {
	checker, ok := selfChecker(l, in)
	if !ok {
		return nil, nil
	}
	if few(selection.EnoughLeftOut(in.Targets)) {
		return p.roughly(ctx, m, in, tooFew)
	}
	if t, ok := models.Unnamed(m).(models.Trained); ok {
		in.Start = t.Training(true).Scores
	}
	cost, err := checker.LeaveOneOutCost(in, models.LeaveOutProbes(in.Targets))
	if err != nil || p.Memory > 0 && cost.Bytes > p.Memory {
		return nil, nil
	}
	if err := p.Observed().Announce("calibration", cost); err != nil {
		return nil, nil
	}

	p.Observed().Begin("calibration")
	scores, known, err := checker.LeaveOneOut(ctx, in, models.LeaveOutProbes(in.Targets))
	if !models.Usable(err) {
		return nil, err
	}
	c, err := selection.CalibrationOf(in.Targets, models.LeftOut(in.Targets, scores, known))
	if few(err) {
		return p.roughly(ctx, m, in, tooFew)
	}
	if err != nil {
		return nil, err
	}
	p.Observed().End(c.String())
	return models.WithCalibration(m, c)
}

// affordableFolds returns the folds for [Pipeline.CalibrateByDefault], none if they are not cheap, and
// their cost.
func (p *Pipeline) affordableFolds(l models.Learner, in *models.Input) (selection.Deal, stage.Cost, error) {
	fit, err := l.Cost(in)
	if err != nil {
		return selection.Deal{}, stage.Cost{}, err
	}
	most := CalibrationShare*(fit.Operations+graphOperations(in.Graph)) + LeastOperations
	for _, deal := range []selection.Deal{{Folds: 10}, {Folds: 5}, {Folds: 3}, {Folds: 3, Held: 1}} {
		deal.Folds = min(deal.Folds, len(in.Targets.Labeled))
		if deal.Folds < 2 {
			continue
		}
		cost, err := selection.HeldOutCost(l, in, deal)
		if err != nil {
			return selection.Deal{}, stage.Cost{}, err
		}
		if cost.Operations <= most && (p.Memory <= 0 || cost.Bytes <= p.Memory) {
			return deal, cost, nil
		}
	}
	return selection.Deal{}, stage.Cost{}, nil
}

// graphOperations estimates the operations of the search that made a graph; 0 if it is not known.
func graphOperations(g *models.Graph) float64 {
	if g == nil || g.Points == nil || g.Edges.K == 0 {
		return 0
	}
	w := choice.Work{X: g.Points, Metric: g.Metric, K: g.Edges.K}
	return w.Operations(g.Method)
}

// roughly returns m with rough probabilities and says why they are rough. Intervals of values have
// no such rule.
func (p *Pipeline) roughly(ctx context.Context, m models.Model, in *models.Input, why string) (models.Model,
	error) {
	if in.Targets.Classes == nil {
		p.Observed().Note("calibration: no intervals, " + why)
		return m, nil
	}
	scores, err := roughScores(ctx, m, in)
	if err != nil || scores == nil {
		return m, err
	}
	p.Observed().Note("calibration: the probabilities are rough, " + why)
	c := &calibration.Calibration{Classes: calibration.RoughClasses(scores, selection.Priors(in.Targets))}
	return models.WithCalibration(m, c)
}

// mostRough is the number of points whose scores decide on rough probabilities, of a model that
// keeps no scores.
const mostRough = 1000

// roughScores returns scores of training points; nil if the model has none.
func roughScores(ctx context.Context, m models.Model, in *models.Input) (*mat.Dense, error) {
	if t, ok := m.(models.Trained); ok {
		return t.Training(true).Scores, nil
	}
	if in.Points == nil {
		return nil, nil
	}
	n := in.Len()
	rows := make([]int, 0, mostRough)
	for k := range min(n, mostRough) {
		rows = append(rows, k*n/min(n, mostRough))
	}
	answer, err := m.Predict(ctx, data.Select(in.Points, rows), nil)
	if err != nil {
		return nil, err
	}
	return answer.Scores, nil
}

// calibrationInput returns in with the parameters in use in m, if m is not nil, or an error if there can be no
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
	if m != nil {
		fold.Values = m.Summary().Values
	}
	fold.Values = fold.Values.With(nil)
	fold.Start = nil
	return &fold, nil
}

// calibrate fits to folds and returns m with the calibration by the held-out answers.
func (p *Pipeline) calibrate(ctx context.Context, l models.Learner, m models.Model, fold *models.Input,
	cost stage.Cost, deal selection.Deal) (models.Model, error) {
	if err := selection.EnoughHeld(fold, deal); err != nil {
		return nil, err
	}
	if err := p.Observed().Announce("calibration", cost); err != nil {
		return nil, err
	}
	p.Observed().Begin("calibration")
	held, short := selection.NewHeldOut(ctx, l, fold, deal)
	if !models.Usable(short) {
		return nil, short
	}
	// Held-out answers of all folds are fitted together.
	c, err := held.Calibration()
	if few(err) {
		p.Observed().End("none")
	}
	if err != nil {
		return nil, err
	}

	p.Observed().End(c.String())
	out, err := models.WithCalibration(m, c)
	return out, errors.Join(short, err)
}

// tooFew says why probabilities are rough where [few] holds.
const tooFew = "as there are too few labels to hold some out"

// few reports whether err says that there are too few labels to hold some out.
func few(err error) bool {
	return errors.Is(err, calibration.ErrFew) || errors.Is(err, models.ErrOneClass)
}
