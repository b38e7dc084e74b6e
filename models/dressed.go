package models

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/data"
)

// Names of classes, and probabilities, stand around a model: learners know integers and scores
// only, so that both mean the same for every classifier. Probabilities are fitted to answers
// for labels that are held out in folds, by the parameters in use, on the graph and eigenpairs
// of the fit, which contain no label. Points that training points voted on get the mean of the
// voters, because shares of a vote are no scores of the model. Intervals of values use
// residuals in the same way: see docs/probabilities.md.

// dress is what stands around a learner's own model: the names of its classes, and what
// makes probabilities or intervals of its answers.
type dress struct {
	names       []string
	calibration *calibration.Calibration
}

// WithNames returns m with names for its classes, or m itself if names is nil. Learners
// know classes as integers only: the names stand around their models, in Output and in
// model files, and [Unnamed] takes them off. It is an error if there is not one name a
// class, or one is there twice.
func WithNames(m Model, names []string) (Model, error) {
	if names == nil {
		return m, nil
	}
	if have := len(m.Output().Classes); have != len(names) {
		return nil, fmt.Errorf("models: %d names for %d classes", len(names), have)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return nil, fmt.Errorf("models: two classes have the name %q", name)
		}
		seen[name] = true
	}

	return dressed(Unnamed(m), dress{names, CalibrationOf(m)}), nil
}

// WithCalibration returns m with a calibration, or, if c is nil, without the one it has. As
// names do it stands around the learner's own model, in Summary and in model files; with it
// m has probabilities, or intervals. One that is not for the output of m is an error.
func WithCalibration(m Model, c *calibration.Calibration) (Model, error) {
	o := m.Output()
	if c != nil {
		if err := c.Check(len(o.Classes), o.Columns); err != nil {
			return nil, err
		}
	}
	return dressed(Unnamed(m), dress{o.Names, c}), nil
}

// dressed puts a dress around a learner's own model.
func dressed(own Model, d dress) Model {
	if d.names == nil && d.calibration == nil {
		return own
	}

	if t, ok := own.(Trained); ok {
		m := &dressedTrained{Trained: t, dress: d}
		m.known = sync.OnceValue(func() *mat.Dense {
			out := mat.DenseCopyOf(t.Training(true).Scores)
			d.calibration.Classes.ProbabilitiesTo(out, out)
			return out
		})
		return m
	}

	return &dressedModel{own, d}
}

// Unnamed returns the learner's own model, which has neither names nor a calibration.
func Unnamed(m Model) Model {
	switch m := m.(type) {
	case *dressedModel:
		return m.Model
	case *dressedTrained:
		return m.Trained
	}
	return m
}

// CalibrationOf returns the calibration of m, nil if it has none.
func CalibrationOf(m Model) *calibration.Calibration {
	switch m := m.(type) {
	case *dressedModel:
		return m.calibration
	case *dressedTrained:
		return m.calibration
	}
	return nil
}

// ErrNotCalibrated is that of a model that is asked for probabilities and has no calibration.
var ErrNotCalibrated = errors.New("models: the model has no calibration, so that it gives no probabilities")

// TrainingProbabilities returns the probabilities of the classes of the training points,
// n×c, of a model that is [Trained] and calibrated. They are computed once; the result is
// shared and must not be changed.
func TrainingProbabilities(m Model) (*mat.Dense, error) {
	t, ok := m.(*dressedTrained)
	switch c := CalibrationOf(m); {
	case c == nil || c.Classes == nil:
		return nil, ErrNotCalibrated
	case !ok:
		return nil, fmt.Errorf("models: a %s model keeps no answers for its training points; ask for "+
			"their probabilities with Predict", m.Name())
	}
	return t.known(), nil
}

// dressedModel is a model in a dress.
type dressedModel struct {
	Model
	dress
}

// Output has the names.
func (m *dressedModel) Output() Output { return m.output(m.Model) }

// Summary has the calibration.
func (m *dressedModel) Summary() Summary { return m.summary(m.Model) }

// Encode has the arrays of the calibration.
func (m *dressedModel) Encode() (*Encoded, error) { return m.encode(m.Model) }

// Predict adds probabilities.
func (m *dressedModel) Predict(ctx context.Context, x data.Points, s *PredictSettings) (*Prediction, error) {
	p, err := m.Model.Predict(ctx, x, s)
	if err != nil || s == nil || !s.Probabilities {
		return p, err
	}
	return p, m.probabilities(p, nil)
}

// dressedTrained is the same of a model that keeps its answers.
type dressedTrained struct {
	Trained
	dress
	known func() *mat.Dense // probabilities of the training points
}

// Output has the names.
func (m *dressedTrained) Output() Output { return m.output(m.Trained) }

// Summary has the calibration.
func (m *dressedTrained) Summary() Summary { return m.summary(m.Trained) }

// Encode has the arrays of the calibration.
func (m *dressedTrained) Encode() (*Encoded, error) { return m.encode(m.Trained) }

// Predict adds probabilities.
func (m *dressedTrained) Predict(ctx context.Context, x data.Points,
	s *PredictSettings) (*Prediction, error) {
	p, err := m.Trained.Predict(ctx, x, s)
	if err != nil || s == nil || !s.Probabilities {
		return p, err
	}
	return p, m.probabilities(p, m.known)
}

// output adds the names.
func (d *dress) output(m Model) Output {
	o := m.Output()
	o.Names = d.names
	return o
}

// summary adds the calibration.
func (d *dress) summary(m Model) Summary {
	s := m.Summary()
	if c := d.calibration; c != nil {
		s.Facts = append(s.Facts, Fact{"calibration", c})
		s.Text += "; " + c.String()
	}
	return s
}

// probabilities adds them to p: those of its scores, or the mean of those of the training
// points that voted.
func (d *dress) probabilities(p *Prediction, known func() *mat.Dense) error {
	if d.calibration == nil || d.calibration.Classes == nil {
		return ErrNotCalibrated
	}
	n, c := p.Scores.Dims()
	p.Probabilities = mat.NewDense(n, c, nil)
	if p.Voters == nil || known == nil {
		d.calibration.Classes.ProbabilitiesTo(p.Probabilities, p.Scores)
		return nil
	}

	all := known()
	votes := len(p.Voters) / n
	for i := range n {
		row := p.Probabilities.RawRowView(i)
		for _, at := range p.Voters[i*votes : (i+1)*votes] {
			for j, v := range all.RawRowView(int(at)) {
				row[j] += v / float64(votes)
			}
		}
	}

	return nil
}

// residualsArray holds the residuals of a calibration in a model file.
const residualsArray = "calibration_residuals"

// encode adds the arrays of the calibration; [Manifest.Calibration] has the rest.
func (d *dress) encode(m Model) (*Encoded, error) {
	e, err := m.Encode()
	if err != nil || d.calibration == nil {
		return e, err
	}
	out := *e
	out.Arrays = e.Arrays[:len(e.Arrays):len(e.Arrays)]
	if c := d.calibration.Intervals; c != nil {
		out.Arrays = append(out.Arrays, MatrixEntry(residualsArray, c.Residuals))
	}
	return &out, nil
}

// calibration returns that of the file, nil if it has none.
func (r *Reader) calibration() (*calibration.Calibration, error) {
	c, residuals := r.Manifest.Calibration, r.Has(residualsArray)
	switch {
	case c == nil && !residuals:
		return nil, nil
	case c == nil || residuals == (c.Classes != nil):
		return nil, errors.New("the manifest and the arrays contradict each other on the calibration")
	}

	if residuals {
		c.Intervals = &calibration.Intervals{Residuals: r.Matrix(residualsArray)}
	}
	return c, r.Err
}

// dress puts what the file holds of names and a calibration around the learner's own model.
func (r *Reader) dress(m Model) (Model, error) {
	m, err := WithNames(m, r.Manifest.Output.Names)
	if err != nil {
		return nil, err
	}
	c, err := r.calibration()
	if err != nil || c == nil {
		return m, err
	}
	return WithCalibration(m, c)
}
