package bigfit

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// Predictions are the answers of a model for n points, numbered from 0 in their order. The
// methods that take the number of a point panic, as a slice does, for a number outside [0, n).
type Predictions struct {
	model  models.Model
	output models.Output
	answer *models.Prediction
	ids    *data.IDs // of the points; nil if they have numbers only
}

// Predict answers for points of [Model.Dim] coordinates, in batches. The answer for a point
// does not depend on the others.
//
// Predict may be called by several goroutines at once. A cancelled ctx ends the work with its
// error.
func (m *Model) Predict(ctx context.Context, x Points) (p *Predictions, err error) {
	defer plain(&err)
	points, err := x.get()
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := models.PredictSettings{Probabilities: pipeline.HasProbabilities(m.model)}
	answer, err := m.run.pipeline().Predict(ctx, m.model, points, s, true)
	if err != nil {
		return nil, err
	}
	return newPredictions(m.model, answer, x.ids), nil
}

// Training returns the answers for the points that the model was fitted to, in their order. The
// class of a labeled point is its label, except where the model says otherwise. A model from a
// file that keeps no answers for them is an error.
func (m *Model) Training(ctx context.Context) (p *Predictions, err error) {
	defer plain(&err)
	answer, err := pipeline.Training(m.model, true, pipeline.HasProbabilities(m.model))
	if err != nil {
		return nil, err
	}
	if answer != nil {
		return newPredictions(m.model, answer, models.IDsOf(m.model)), nil
	}
	if m.input == nil || m.input.Points == nil {
		return nil, fmt.Errorf("bigfit: the file of a %s model holds no answers for the points that it was fitted "+
			"to; give the points to Predict", m.model.Name())
	}
	points := FromData(m.input.Points)
	points.ids = m.input.IDs
	return m.Predict(ctx, points)
}

func newPredictions(m models.Model, answer *models.Prediction, ids *data.IDs) *Predictions {
	return &Predictions{model: m, output: m.Output(), answer: answer, ids: ids}
}

// Len returns the number of points.
func (p *Predictions) Len() int { return p.answer.Len() }

// ID returns the id of point i; "" if the points have numbers only.
func (p *Predictions) ID(i int) string {
	if p.ids == nil {
		return ""
	}
	return p.ids.Values[i]
}

// Name returns the name of the class of point i, of an integer its digits; "" if the model
// does not answer with classes.
func (p *Predictions) Name(i int) string {
	if p.answer.Classes == nil {
		return ""
	}
	return data.ClassName(p.output.Classes, p.output.Names, p.answer.Classes[i])
}

// Class returns the class of point i: the integer that [Classes] gave it, or the position of
// its name in [Model.Classes]; −1 if the model does not answer with classes.
func (p *Predictions) Class(i int) int {
	if p.answer.Classes == nil {
		return -1
	}
	return int(p.output.Classes[p.answer.Classes[i]])
}

// Probability returns the probability of the class of point i; NaN if the model has no
// probabilities: see [Model.Calibrated] and [Options.Folds].
func (p *Predictions) Probability(i int) float64 {
	if p.answer.Probabilities == nil {
		return math.NaN()
	}
	return p.answer.Probabilities.At(i, int(p.answer.Classes[i]))
}

// Probabilities returns the probabilities of all classes at point i, in the order of
// [Model.Classes]; nil if the model has none. The slice must not be changed.
func (p *Predictions) Probabilities(i int) []float64 {
	if p.answer.Probabilities == nil {
		return nil
	}
	return p.answer.Probabilities.RawRowView(i)
}

// Scores returns the scores of all classes at point i, in the order of [Model.Classes]. Their
// meaning depends on the model, see [Description]. A regression has its values as scores, and an
// embedding its coordinates. The slice must not be changed.
func (p *Predictions) Scores(i int) []float64 { return p.answer.Scores.RawRowView(i) }

// Value returns the value of point i, the first of several; NaN if the model answers with
// classes.
func (p *Predictions) Value(i int) float64 {
	if p.answer.Classes != nil {
		return math.NaN()
	}
	return p.answer.Scores.At(i, 0)
}

// Interval returns the ends of the interval around the value of point i, the first of several,
// that is meant to hold the true value with probability level, between 0 and 1. It is an error if
// the model is no regression, is not calibrated, or was calibrated by too few labels for the level.
func (p *Predictions) Interval(i int, level float64) (low, high float64, err error) {
	one := &models.Prediction{Scores: mat.NewDense(1, p.output.Columns, append([]float64(nil), p.Scores(i)...))}
	lows, highs, err := pipeline.Interval(p.model, one, level)
	if err != nil {
		return math.NaN(), math.NaN(), fmt.Errorf("bigfit: %w", err)
	}
	return lows.At(0, 0), highs.At(0, 0), nil
}

// Underlying returns the answers as packages models and pipeline know them: whole matrices of
// scores and probabilities, n×c.
func (p *Predictions) Underlying() *models.Prediction { return p.answer }
