package linear

import (
	"context"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
)

// tsvmChoice are the settings of a tsvm-linear as users give them.
type tsvmChoice struct {
	Settings
	TransductionChoice
}

// tsvmParams are the parameters of tsvmChoice.
var tsvmParams = slices.Concat(
	models.Part(norms[:len(regularizer.Ambient)], (*tsvmChoice).machine),
	models.Part(TransductionParams, func(c *tsvmChoice) *TransductionChoice { return &c.TransductionChoice }),
	models.Part(slices.Concat(hinges, iterations), (*tsvmChoice).machine),
).Change("tolerance", func(p *models.Param) { p.Default = "1e-5" }).Change("max-iterations",
	func(p *models.Param) { p.Default = "200" })

func (c *tsvmChoice) machine() *Settings { return &c.Settings }

// tsvmLearner fits a [TSVM].
type tsvmLearner struct{}

// Info describes the learner.
func (tsvmLearner) Info() models.Info {
	return models.Info{Name: TSVMName, Help: "svm-linear that assigns classes to the other points",
		Formula: "min over w, b and signs y of the points without a label\n" +
			"1/l (Σ over labels of max(0, 1 − y_i f(x_i))² + C* Σ over the others of the same) + γ_A ‖w‖²,\n" +
			"f(x) = wᵀx + b, a given share of the signs positive",
		Source: "Sindhwani & Keerthi 2006, section 3",
		Scores: "margin f of the class against the others: ±1 at the edge of the margin",
		Learns: models.LearnsClasses, Needs: models.NeedsPoints}
}

// Params lists the parameters.
func (tsvmLearner) Params() []models.Param { return tsvmParams.Params() }

// Fit is [FitTSVM].
func (k tsvmLearner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	info := k.Info()
	if err := info.Check(in); err != nil {
		return nil, err
	}
	c, err := tsvmParams.Decode(in.Values)
	if err != nil {
		return nil, err
	}
	s := &TSVMSettings{Settings: c.Settings}
	if s.Transduction, err = c.TransductionChoice.On(in.Targets); err != nil {
		return nil, err
	}

	m, err := FitTSVM(ctx, in.Points, in.Targets, s, in.Report)
	if m == nil {
		return nil, err
	}
	return m, err
}

// Name is [TSVMName].
func (m *TSVM) Name() string { return TSVMName }

// Summary returns the summary of the function and of the fit.
func (m *TSVM) Summary() models.Summary {
	s := m.Model.Summary()
	s.Values = m.values()
	m.Describe(&s, m.Settings.Transduction)
	return s
}

func (m *TSVM) values() models.Values {
	return tsvmParams.Encode(&tsvmChoice{m.Settings.Settings, m.Settings.Choice()})
}

// fitTSVM is the part of a model in its manifest.
type fitTSVM struct {
	Iterations int       `json:"iterations"`
	Positive   []float64 `json:"positive"`
	FileFit
}

// Encode returns the arrays of [Model.Encode], and unlabeled (u) and assigned (u×m).
func (m *TSVM) Encode() (*models.Encoded, error) {
	return &models.Encoded{Values: m.values(),
		Fit:    fitTSVM{m.Iterations, m.Settings.Positive, m.File(m.Labeled)},
		Arrays: append(m.Model.arrays(), m.Transduced.Entries()...)}, nil
}

// Decode is the inverse of [TSVM.Encode].
func (tsvmLearner) Decode(r *models.Reader) (models.Model, error) {
	var f fitTSVM
	if err := r.Fit(&f); err != nil {
		return nil, err
	}
	c, err := tsvmParams.Decode(r.Manifest.Params)
	if err != nil {
		return nil, err
	}
	if c.Loss == LeastSquares || !(c.Weight > 0) {
		return nil, fmt.Errorf("linear: a transductive machine of the %v loss and weight %v",
			c.Loss, c.Weight)
	}

	function, err := decode(r, c.Settings, fit{f.Labeled, f.Iterations})
	if err != nil {
		return nil, err
	}
	m := &TSVM{Model: function, Settings: TSVMSettings{function.Settings, Transduction{c.Weight, f.Positive}}}
	if err := m.Settings.checkShares(len(m.Intercepts)); err != nil {
		return nil, err
	}
	m.Transduced, err = ReadTransduced(r, f.FileFit, len(m.Intercepts))
	return m, err
}
