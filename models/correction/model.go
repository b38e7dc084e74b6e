package correction

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/stage"
)

// Model is a [Solution] with its base and what joins new points to its graph. It is immutable.
type Model struct {
	*Solution
	Settings Settings
	Classes  []int64
	// Labels are the classes of all points, positions in Classes: the given one where there is a hard one, else that of
	// the largest score.
	Labels []int32
	models.Neighborhood
	Given *models.Given

	learner Learner
	base    models.Model
}

// decide sets Labels.
func (m *Model) decide(t *models.Targets) {
	m.Labels = models.Decide(m.Scores)
	if t.Soft {
		return
	}
	for q, i := range t.Labeled {
		m.Labels[i] = int32(t.Class(q))
	}
}

// Name is [Name].
func (m *Model) Name() string { return Name }

// Output is the class of each point.
func (m *Model) Output() models.Output {
	o := models.OutputOf(m.Classes, len(m.Classes))
	o.Searches = true
	return o
}

// Kept has the graph and the labels; a fit anew begins with nothing.
func (m *Model) Kept() *models.Kept {
	return &models.Kept{Neighborhood: &m.Neighborhood, Targets: m.Given.Targets(len(m.Labels), m.Classes, m.Labels)}
}

// Training returns Labels and Scores.
func (m *Model) Training(scores bool) *models.Prediction {
	p := &models.Prediction{Classes: m.Labels}
	if scores {
		p.Scores = m.Scores
	}
	return p
}

// QueryCost returns the cost of the search, the answers of the base and the scores.
func (m *Model) QueryCost(n int, s *models.PredictSettings) stage.Cost {
	k, _ := m.Joined(s) // Predict returns the error
	c := m.Neighborhood.QueryCost(n, k)
	base := m.base.QueryCost(n, nil)
	c.Bytes = max(c.Bytes, base.Bytes) + 16*int64(n)*int64(len(m.Classes))
	c.Operations += base.Operations
	return c
}

// Predict answers for new points. For a point x with weights w_i to its nearest training points, found and weighted as
// edges of the graph, and d = Σ w_i, the equations of the method for a point without a label give
//
//	Ê(x) = α₁ Σ w_i Ê_i/√(d d_i)   or   Σ w_i Ê_i/d          autoscale, fixed
//	H(x) = α₂ Σ w_i H_i/√(d d_i) + (1 − α₂) G(x)
//
// with G(x) the prediction of the base and Ê(x), in its size, together. Where all weights are zero the base answers alone.
// s.Neighbors defaults to the k of the graph; s.Extension is ignored.
func (m *Model) Predict(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
	if m.Points == nil {
		return nil, models.ErrNoPoints
	}
	k, err := m.Joined(s)
	if err != nil {
		return nil, err
	}
	nb, recall, err := m.Nearest(ctx, x, k, s)
	if err != nil {
		return nil, err
	}
	w, err := m.Weights(ctx, nb)
	if err != nil {
		return nil, err
	}

	// The base was fitted to the points of the graph.
	if m.PCA != nil {
		if x, err = m.PCA.Apply(x); err != nil {
			return nil, err
		}
	}
	z, err := scoresOf(ctx, m.base, x)
	if err != nil {
		return nil, err
	}

	out := &models.Prediction{Scores: z, Recall: recall}
	par.For(nb.Len(), 256, func(lo, hi int) {
		errs := make([]float64, len(m.Classes))
		for i := lo; i < hi; i++ {
			index, _ := nb.Row(i)
			m.induce(z.RawRowView(i), errs, index, w[i*nb.K:(i+1)*nb.K])
		}
	})
	out.Classes = models.Decide(out.Scores)
	return out, nil
}

// induce turns the prediction z of the base at a point into H there, by edges of weights w to the given training points.
func (m *Model) induce(z, errs []float64, index []int32, w []float64) {
	alpha := m.Settings.SmoothAlpha
	var d float64
	for _, v := range w {
		d += v
	}
	clear(errs)
	for q, i := range index {
		v := 0.0
		switch {
		case w[q] == 0 || m.Degrees[i] == 0:
		case m.Settings.Correction == Fixed:
			v = w[q] / d
		default:
			v = m.Settings.CorrectAlpha * w[q] / math.Sqrt(d*m.Degrees[i])
		}
		for j, e := range m.Errors.RawRowView(int(i)) {
			errs[j] += v * e
		}
	}
	m.add(z, errs, &m.Settings)
	for j := range z {
		z[j] *= 1 - alpha
	}
	for q, i := range index {
		if w[q] == 0 || m.Degrees[i] == 0 {
			continue
		}
		v := alpha * w[q] / math.Sqrt(d*m.Degrees[i])
		for j, h := range m.Scores.RawRowView(int(i)) {
			z[j] += v * h
		}
	}
}

// Summary names the base, the weights and the errors at the labels.
func (m *Model) Summary() models.Summary {
	base := m.base.Summary()
	s := models.Summary{Labeled: len(m.Given.Points), Values: m.values(),
		Facts: []models.Fact{{Key: "base", Value: m.base.Name()}, {Key: "errors", Value: m.Size},
			{Key: "iterations", Value: m.Iterations}, {Key: "residual", Value: m.Residual}}}
	how := fmt.Sprintf("α₁ = %g", m.Settings.CorrectAlpha)
	if m.Settings.Correction == Fixed {
		how = fmt.Sprintf("s = %g", m.Settings.Factor)
	}
	s.Text = fmt.Sprintf("%s with γ_A = %g, errors of %.3g at the labels, %s, α₂ = %g, %d iterations to a residual of %.1e",
		m.base.Name(), m.Settings.GammaA, m.Size, how, m.Settings.SmoothAlpha, m.Iterations, m.Residual)
	s.Warnings = append(base.Warnings, models.OneSided(len(m.Classes), m.Labels, m.Given)...)
	return s
}

// values returns the parameters in use.
func (m *Model) values() models.Values { return m.learner.table().Encode(&m.Settings) }

// modelFit is the part of a model in its manifest that is no parameter. The arrays beside it, for n points, c classes and
// l labels, are
//
//	member           dtype    shape   meaning
//	scores           float64  n×c     H
//	errors           float64  n×c     Ê
//	classes          int64    c       names of the classes, as numbers, ascending
//	labels           int32    n       positions in classes
//	(given targets)                   see models.Given.Entries
//	(neighbourhood)                   see models.Neighborhood.Encode
//	base_NAME                         array NAME of the base
type modelFit struct {
	Size         float64         `json:"errors"`
	Residual     float64         `json:"residual"`
	Iterations   int             `json:"iterations"`
	Labeled      int             `json:"labeled"`
	Neighborhood models.RawState `json:"neighborhood"`
	Base         models.Manifest `json:"base"`
}

// basePrefix stands before the names of the arrays of the base.
const basePrefix = "base_"

// Encode returns what modelFit draws.
func (m *Model) Encode() (*models.Encoded, error) {
	state, arrays, err := m.Neighborhood.Encode()
	if err != nil {
		return nil, err
	}
	e, err := m.base.Encode()
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(e.Fit)
	if err != nil {
		return nil, fmt.Errorf("correction: %w", err)
	}
	base := models.Manifest{Learner: m.base.Name(), Output: m.base.Output(), Dim: m.base.Dim(), Params: e.Values, Fit: raw}
	base.Soft, base.Weighted = e.Soft()

	own := append(models.ClassEntries(m.Classes), models.MatrixEntry("scores", m.Scores),
		models.MatrixEntry("errors", m.Errors), archive.Array{Name: "labels", Data: m.Labels})
	all := slices.Concat(own, m.Given.Entries(), arrays)
	for _, a := range e.Arrays {
		a.Name = basePrefix + a.Name
		all = append(all, a)
	}
	return &models.Encoded{Values: m.values(), Arrays: all, Fit: modelFit{m.Size, m.Residual, m.Iterations,
		len(m.Given.Points), state, base}}, nil
}

// Decode is the inverse of [Model.Encode].
func (l Learner) Decode(r *models.Reader) (models.Model, error) {
	var f modelFit
	if err := r.Fit(&f); err != nil {
		return nil, err
	}
	s, err := l.settings(r.Manifest.Params)
	if err != nil {
		return nil, err
	}
	m := &Model{learner: l, Settings: s, Solution: &Solution{Corrected: &Corrected{Size: f.Size, solved: solved{f.Residual, f.Iterations}}}}
	m.Scores = r.Matrix("scores")
	m.Errors = r.Matrix("errors")
	m.Classes = r.ReadClasses()
	m.Labels = models.Numbers[int32](r, "labels")
	if r.Err != nil {
		return nil, r.Err
	}

	n, _ := m.Scores.Dims()
	if m.Given, err = r.Given(n, f.Labeled, 0); err != nil {
		return nil, err
	}
	if m.Neighborhood, err = r.Neighborhood(f.Neighborhood, n, true); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(l.Bases, func(b models.Learner) bool { return b.Info().Name == f.Base.Learner })
	if i < 0 {
		return nil, fmt.Errorf("correction: the base is an unknown model %q; the file may be of a later version of bigfit",
			f.Base.Learner)
	}
	own := r.Part(f.Base, &m.Neighborhood, func(name string) string { return basePrefix + name })
	if m.base, err = l.Bases[i].Decode(own); err != nil || own.Err != nil {
		return nil, fmt.Errorf("the base: %w", errors.Join(err, own.Err))
	}
	return m, m.check()
}

// check returns an error unless the parts of the model fit together.
func (m *Model) check() error {
	var faults []error
	expect := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("correction: "+format, args...))
		}
	}

	n, c := m.Scores.Dims()
	rows, columns := m.Errors.Dims()
	expect(len(m.Classes) == c && c > 1, "scores of %d columns for %d classes", c, len(m.Classes))
	expect(rows == n && columns == c, "errors of %d×%d for scores of %d×%d", rows, columns, n, c)
	expect(len(m.Labels) == n, "%d labels for %d points", len(m.Labels), n)
	expect(m.Size >= 0 && !math.IsInf(m.Size, 1), "errors of the size %v", m.Size)
	expect(!(m.Residual < 0) && m.Iterations >= 0, "%d iterations to a residual of %v", m.Iterations, m.Residual)
	if i := slices.IndexFunc(m.Labels, func(l int32) bool { return l < 0 || int(l) >= len(m.Classes) }); i >= 0 {
		expect(false, "label %d of point %d is not one of %d classes", m.Labels[i], i, len(m.Classes))
	}
	o := m.base.Output()
	expect(o.Kind == models.OutputClasses && slices.Equal(o.Classes, m.Classes) && o.Columns == c,
		"the base answers with %+v", o)
	expect(m.base.Name() == m.Settings.Base, "the base is %s and the settings name %s", m.base.Name(), m.Settings.Base)

	// The base may take principal components in place of the points.
	if m.Points != nil {
		_, d := m.Points.Dims()
		expect(m.base.Dim() == d, "the base is for points of %d columns, the graph has %d", m.base.Dim(), d)
	}
	return errors.Join(faults...)
}
