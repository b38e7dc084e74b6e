package models

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
)

// Names of classes, ids of points and probabilities are added by a wrapper around a model. Learners
// know integers and scores only, so all of them mean the same for every learner. Probabilities are
// fitted to answers for labels that are held out in folds, by the parameters in use, on the
// graph and eigenpairs of the fit, which contain no label. Points that training points voted
// on get the mean of the voters' probabilities, because shares of a vote are no scores of the
// model. Intervals of values use residuals in the same way: see docs/probabilities.md.

// wrapping holds the content of a wrapper around a learner's own model: the names of its
// classes, the ids of the points that it was fitted to and the names of their columns, the
// calibration that makes probabilities or intervals of its answers, and the consensus that
// its labels come from.
type wrapping struct {
	names       []string
	ids         *data.IDs
	columns     []string
	calibration *calibration.Calibration
	consensus   *Consensus
}

// wrappingOf returns the wrapping of m, an empty one if there is none.
func wrappingOf(m Model) wrapping {
	switch m := m.(type) {
	case *wrappedModel:
		return m.wrapping
	case *wrappedTrained:
		return m.wrapping
	}
	return wrapping{}
}

// WithNames returns m with names for its classes, labels or values, or m itself if names is nil.
// Learners know them as integers or columns only. The wrapper shows the names in Output and in
// model files, and [Unnamed] takes it off. A number of names other than the number of classes is
// an error, and so is a name that appears twice.
func WithNames(m Model, names []string) (Model, error) {
	if names == nil {
		return m, nil
	}
	o := m.Output()
	have := max(len(o.Classes), len(o.Labels))
	if o.Kind == OutputValues {
		have = o.Columns
	}
	if have != len(names) {
		return nil, fmt.Errorf("models: %d names for %d classes", len(names), have)
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return nil, fmt.Errorf("models: two classes have the name %q", name)
		}
		seen[name] = true
	}

	w := wrappingOf(m)
	w.names = names
	return wrap(Unnamed(m), w), nil
}

// WithIDs returns m with the ids of the points that it was fitted to, or without ids if ids is nil.
// Ids belong to the wrapper, which writes them to model files. Their number must be
// [TrainingPoints], unless that is 0; otherwise there is an error.
func WithIDs(m Model, ids *data.IDs) (Model, error) {
	if n := TrainingPoints(m); ids != nil && n > 0 && n != ids.Len() {
		return nil, fmt.Errorf("models: %d ids for %d points", ids.Len(), n)
	}
	w := wrappingOf(m)
	w.ids = ids
	return wrap(Unnamed(m), w), nil
}

// IDsOf returns the ids of the points that m was fitted to, nil if they have numbers only.
func IDsOf(m Model) *data.IDs { return wrappingOf(m).ids }

// WithColumns returns m with the names of the columns of its points, or without them if names is nil. They belong to the
// wrapper, which writes them to model files, so that a table whose columns stand in another order is recognized. A number
// of names other than the model's columns is an error.
func WithColumns(m Model, names []string) (Model, error) {
	if names != nil && len(names) != m.Dim() {
		return nil, fmt.Errorf("models: %d names for %d columns", len(names), m.Dim())
	}
	w := wrappingOf(m)
	w.columns = names
	return wrap(Unnamed(m), w), nil
}

// ColumnsOf returns the names of the columns of the points that m was fitted to, nil if they have none.
func ColumnsOf(m Model) []string { return wrappingOf(m).columns }

// Counted is a [Trained] model that computes its answers when they are asked for: it says for how many points it has
// some without them.
type Counted interface {
	Points() int
}

// TrainingPoints returns the number of points that m keeps, or keeps answers for; 0 if it keeps
// neither.
func TrainingPoints(m Model) int {
	m = Unnamed(m)
	if c, ok := m.(Counted); ok {
		return c.Points()
	}
	if t, ok := m.(Trained); ok {
		return t.Training(false).Len()
	}
	if u, ok := m.(Updater); ok && u.Kept().Points != nil {
		n, _ := u.Kept().Points.Dims()
		return n
	}
	return 0
}

// WithCalibration returns m with the calibration c, by which it has probabilities or
// intervals, or without a calibration if c is nil. Like names, the calibration belongs to
// the wrapper, which shows it in Summary and in model files. A calibration for another
// output than m's is an error.
func WithCalibration(m Model, c *calibration.Calibration) (Model, error) {
	o := m.Output()
	if c != nil {
		if err := c.Check(len(o.Classes), o.Columns); err != nil {
			return nil, err
		}
	}
	w := wrappingOf(m)
	w.calibration = c
	return wrap(Unnamed(m), w), nil
}

// wrap puts a wrapping around a learner's own model.
func wrap(own Model, d wrapping) Model {
	if d.names == nil && d.ids == nil && d.columns == nil && d.calibration == nil && d.consensus == nil {
		return own
	}

	// A wrapper must be Trained where its model is. The probabilities of the training
	// points are computed at the first use.
	if t, ok := own.(Trained); ok {
		m := &wrappedTrained{Trained: t, wrapping: d}
		m.known = sync.OnceValue(func() *mat.Dense {
			scores := t.Training(true).Scores
			out := dense.New(scores.Dims())
			d.calibration.Classes.ProbabilitiesTo(out, scores)
			return out
		})
		return m
	}

	return &wrappedModel{own, d}
}

// Unnamed returns the learner's own model, which has neither names, ids nor a calibration.
func Unnamed(m Model) Model {
	switch m := m.(type) {
	case *wrappedModel:
		return m.Model
	case *wrappedTrained:
		return m.Trained
	}
	return m
}

// CalibrationOf returns the calibration of m, nil if it has none.
func CalibrationOf(m Model) *calibration.Calibration { return wrappingOf(m).calibration }

// ErrNotCalibrated is returned by a model without a calibration that is asked for
// probabilities.
var ErrNotCalibrated = errors.New("models: the model has no calibration, so that it gives no " +
	"probabilities")

// TrainingProbabilities returns the probabilities of the classes of the training points,
// n×c, of a model that is [Trained] and calibrated. They are computed once; the result is
// shared and must not be changed.
func TrainingProbabilities(m Model) (*mat.Dense, error) {
	t, ok := m.(*wrappedTrained)
	switch c := CalibrationOf(m); {
	case c == nil || c.Classes == nil:
		return nil, ErrNotCalibrated
	case !ok:
		return nil, fmt.Errorf("models: a %s model keeps no answers for its training points; ask for "+
			"their probabilities with Predict", m.Name())
	}
	return t.known(), nil
}

// wrappedModel is a model with its wrapping.
type wrappedModel struct {
	Model
	wrapping
}

// Output has the names.
func (m *wrappedModel) Output() Output { return m.output(m.Model) }

// Summary has the calibration.
func (m *wrappedModel) Summary() Summary { return m.summary(m.Model) }

// Encode has the arrays of the calibration.
func (m *wrappedModel) Encode() (*Encoded, error) { return m.encode(m.Model) }

// Predict adds probabilities.
func (m *wrappedModel) Predict(ctx context.Context, x data.Points, s *PredictSettings) (*Prediction, error) {
	p, err := m.Model.Predict(ctx, x, s)
	if err != nil || s == nil || !s.Probabilities {
		return p, err
	}
	return p, m.probabilities(p, nil)
}

// wrappedTrained is a [Trained] model with its wrapping.
type wrappedTrained struct {
	Trained
	wrapping
	known func() *mat.Dense // probabilities of the training points
}

// Output has the names.
func (m *wrappedTrained) Output() Output { return m.output(m.Trained) }

// Summary has the calibration.
func (m *wrappedTrained) Summary() Summary { return m.summary(m.Trained) }

// Encode has the arrays of the calibration.
func (m *wrappedTrained) Encode() (*Encoded, error) { return m.encode(m.Trained) }

// Predict adds probabilities.
func (m *wrappedTrained) Predict(ctx context.Context, x data.Points,
	s *PredictSettings) (*Prediction, error) {
	p, err := m.Trained.Predict(ctx, x, s)
	if err != nil || s == nil || !s.Probabilities {
		return p, err
	}
	return p, m.probabilities(p, m.known)
}

// output adds the names.
func (d *wrapping) output(m Model) Output {
	o := m.Output()
	o.Names = d.names
	return o
}

// summary adds the calibration.
func (d *wrapping) summary(m Model) Summary {
	s := m.Summary()
	if c := d.calibration; c != nil {
		s.Facts = append(s.Facts, Fact{"calibration", c})
		s.Text += "; " + c.String()
	}
	if c := d.consensus; c != nil {
		s.Facts = append(s.Facts, Fact{"consensus", c})
		s.Text += "; " + c.String()
	}
	return s
}

// probabilities adds the probabilities of the classes to p. It computes them from the scores
// of p, or, if training points voted, as the mean of the voters' probabilities.
func (d *wrapping) probabilities(p *Prediction, known func() *mat.Dense) error {
	if d.calibration == nil || d.calibration.Classes == nil {
		return ErrNotCalibrated
	}
	n, c := p.Scores.Dims()
	p.Probabilities = mat.NewDense(n, c, nil)
	if p.Voters == nil || known == nil {
		d.calibration.Classes.ProbabilitiesTo(p.Probabilities, p.Scores)
		return nil
	}

	// Every point has the same number of voters.
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

// residualsArray is the name of the residuals of a calibration in a model file: float64,
// calibration points × outputs.
const residualsArray = "calibration_residuals"

// The held-out answers of h labeled points in a model file.
const (
	heldPoints        = "held_points"        // int32, h
	heldProbabilities = "held_probabilities" // float64, h×c; of classes
	heldResiduals     = "held_residuals"     // float64, h×m; of m values
)

// The ids of n points in a model file: their texts in UTF-8, one behind the other, and the byte
// behind the last one of each. Both are deflated: names such as img_00017 and their ends have much in common.
const (
	idTexts = "id_texts" // uint8
	idEnds  = "id_ends"  // int64, n
)

// encode adds the arrays of the ids and of the calibration; [Manifest.Calibration] has the rest.
func (d *wrapping) encode(m Model) (*Encoded, error) {
	e, err := m.Encode()
	if err != nil || d.calibration == nil && d.ids == nil && d.consensus == nil {
		return e, err
	}
	// A full slice, so that append leaves the arrays of the model alone.
	out := *e
	out.Arrays = e.Arrays[:len(e.Arrays):len(e.Arrays)]
	if c := d.calibration; c != nil && c.Intervals != nil {
		out.Arrays = append(out.Arrays, MatrixEntry(residualsArray, c.Intervals.Residuals))
	}
	if c := d.calibration; c != nil && c.Out != nil {
		out.Arrays = append(out.Arrays, archive.Array{Name: heldPoints, Data: c.Out.Points})
		if c.Classes != nil {
			out.Arrays = append(out.Arrays, MatrixEntry(heldProbabilities, c.Out.Probabilities))
		} else {
			out.Arrays = append(out.Arrays, MatrixEntry(heldResiduals, c.Out.Residuals))
		}
	}
	out.Arrays = append(out.Arrays, d.consensus.entries()...)
	if d.ids != nil {
		size := 0
		ends := make([]int64, d.ids.Len())
		for i, id := range d.ids.Values {
			size += len(id)
			ends[i] = int64(size)
		}
		texts := make([]byte, 0, size)
		for _, id := range d.ids.Values {
			texts = append(texts, id...)
		}
		out.Arrays = append(out.Arrays, archive.Array{Name: idTexts, Data: texts, Compress: true},
			archive.Array{Name: idEnds, Data: ends, Compress: true})
	}
	return &out, nil
}

// ids returns the ids in the file, nil if it has none.
func (r *Reader) ids() (*data.IDs, error) {
	if !r.Has(idTexts) && !r.Has(idEnds) {
		return nil, nil
	}
	texts := string(Numbers[uint8](r, idTexts))
	ends := Numbers[int64](r, idEnds)
	if r.Err != nil {
		return nil, r.Err
	}
	// All ids share the memory of one text.
	out := &data.IDs{From: r.archive.Path(), Values: make([]string, len(ends)), Column: r.Manifest.IDColumn}
	begin := int64(0)
	for i, end := range ends {
		if end <= begin || end > int64(len(texts)) {
			return nil, fmt.Errorf("element %d of %s is %d, behind %d of %d bytes", i, idEnds, end, begin,
				len(texts))
		}
		out.Values[i] = texts[begin:end]
		begin = end
	}
	if begin != int64(len(texts)) {
		return nil, fmt.Errorf("%s has %d bytes and %s ends at %d", idTexts, len(texts), idEnds, begin)
	}
	return out, nil
}

// calibration returns the calibration in the file, nil if it has none.
func (r *Reader) calibration() (*calibration.Calibration, error) {
	c, residuals := r.Manifest.Calibration, r.Has(residualsArray)
	held := r.Has(heldPoints) || r.Has(heldProbabilities) || r.Has(heldResiduals)
	switch {
	case c == nil && !residuals && !held:
		return nil, nil
	case c == nil || residuals == (c.Classes != nil):
		return nil, errors.New("the manifest and the arrays contradict each other on the calibration")
	}

	if held {
		c.Out = &calibration.Out{Points: Numbers[int32](r, heldPoints)}
		if residuals {
			c.Out.Residuals = r.Matrix(heldResiduals)
		} else {
			c.Out.Probabilities = r.Matrix(heldProbabilities)
		}
		if r.Err != nil {
			return nil, r.Err
		}
	}
	if residuals {
		c.Intervals = &calibration.Intervals{Residuals: r.Matrix(residualsArray)}
	}
	return c, r.Err
}

// wrap puts the names, the ids, the columns and the calibration of the file around the learner's own model.
func (r *Reader) wrap(m Model) (Model, error) {
	m, err := WithNames(m, r.Manifest.Output.Names)
	if err != nil {
		return nil, err
	}
	ids, err := r.ids()
	if err != nil {
		return nil, err
	}
	if ids != nil {
		if m, err = WithIDs(m, ids); err != nil {
			return nil, err
		}
	}
	if r.Manifest.Columns != nil {
		if m, err = WithColumns(m, r.Manifest.Columns); err != nil {
			return nil, err
		}
	}
	agreed, err := r.consensus()
	if err != nil {
		return nil, err
	}
	if agreed != nil {
		if m, err = WithConsensus(m, agreed); err != nil {
			return nil, err
		}
	}
	c, err := r.calibration()
	if err != nil || c == nil {
		return m, err
	}
	return WithCalibration(m, c)
}
