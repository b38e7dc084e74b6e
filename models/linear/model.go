package linear

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/stage"
)

// Model is a fitted linear model f(x) = wᵀx + b with an output for each column
// of its targets. It is immutable.
type Model struct {
	Settings     Settings
	Classes      []int64    // nil for a regression
	Coefficients *mat.Dense // w of every output, d×m
	Intercepts   []float64  // b of every output
	Labeled      int        // number of points with a target
	// Iterations of Newton's method or conjugate gradients; 0 of a direct method.
	Iterations int
}

// Name depends on the loss and on whether γ_I is zero.
func (m *Model) Name() string {
	intrinsic := m.Settings.Regularizer.GammaI > 0
	switch {
	case m.Settings.Loss == LeastSquares && intrinsic:
		return LapRLSName
	case m.Settings.Loss == LeastSquares:
		return RLSName
	case intrinsic:
		return LapSVMName
	}
	return SVMName
}

// Output is the class of each point or its values.
func (m *Model) Output() models.Output { return models.OutputOf(m.Classes, len(m.Intercepts)) }

// Dim is the number of rows of Coefficients.
func (m *Model) Dim() int {
	d, _ := m.Coefficients.Dims()
	return d
}

// QueryCost returns the cost of the scores and of the points that are converted at a time.
func (m *Model) QueryCost(n int, _ *models.PredictSettings) stage.Cost {
	rows := int64(n)
	d := int64(m.Dim())
	outputs := int64(len(m.Intercepts))
	columns := int64(m.Output().Columns)
	return stage.Cost{
		Bytes:      8*(rows*(outputs+columns)+data.BlockRows*d) + 4*rows,
		Operations: 2 * float64(rows*d*outputs),
	}
}

// Predict answers for the points of x with 2·nnz·m operations, nnz the number of
// stored elements of x. Nothing in s matters to it.
func (m *Model) Predict(ctx context.Context, x data.Points,
	_ *models.PredictSettings) (*models.Prediction, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := models.CheckQuery(x, m.Dim()); err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	return models.NewPrediction(m.values(solvers.DenseDesign{Points: x}, n), m.Classes), nil
}

// values returns f at the n rows of x.
func (m *Model) values(x solvers.DenseDesign, n int) *mat.Dense {
	f := mat.NewDense(n, len(m.Intercepts), nil)
	x.MulTo(f, m.Coefficients)
	dense.AddRow(f, m.Intercepts)
	return f
}

// Summary names the loss and the norms.
func (m *Model) Summary() models.Summary {
	s := models.Summary{Labeled: m.Labeled, Values: m.params().Encode(&m.Settings)}
	s.Text = fmt.Sprintf("%d dimensions, %v loss, %s", m.Dim(), m.Settings.Loss,
		m.Settings.Regularizer.Describe())
	if m.Iterations > 0 {
		s.Text += fmt.Sprintf(", %d iterations", m.Iterations)
		s.Facts = append(s.Facts, models.Fact{Key: "iterations", Value: m.Iterations})
	}
	return s
}

// params are the parameters of the learner that the model is named for.
func (m *Model) params() models.Table[Settings] {
	return learner{hinge: m.Settings.Loss != LeastSquares,
		intrinsic: m.Settings.Regularizer.GammaI > 0}.table()
}

// fit is the part of a model in its manifest.
type fit struct {
	Labeled    int `json:"labeled"`
	Iterations int `json:"iterations"`
}

// Encode returns coefficients (d×m), intercepts (m), and classes (c) unless it is
// a regression.
func (m *Model) Encode() (*models.Encoded, error) {
	return &models.Encoded{Values: m.params().Encode(&m.Settings), Fit: fit{m.Labeled, m.Iterations},
		Arrays: m.arrays()}, nil
}

func (m *Model) arrays() []archive.Array {
	arrays := []archive.Array{models.MatrixEntry("coefficients", m.Coefficients),
		{Name: "intercepts", Data: m.Intercepts}}
	return append(arrays, models.ClassEntries(m.Classes)...)
}

// Decode is the inverse of [Model.Encode].
func (k learner) Decode(r *models.Reader) (models.Model, error) {
	var f fit
	if err := r.Fit(&f); err != nil {
		return nil, err
	}
	s, err := k.settings(r.Manifest.Params)
	if err != nil {
		return nil, err
	}
	m, err := decode(r, s, f)
	if err != nil {
		return nil, err
	}
	if m.Name() != k.name {
		return nil, fmt.Errorf("linear: the settings of %s in a model of %s", m.Name(), k.name)
	}
	return m, nil
}

// decode reads the arrays of a model with the given settings.
func decode(r *models.Reader, s Settings, f fit) (*Model, error) {
	s, err := s.fill()
	if err != nil {
		return nil, err
	}
	m := &Model{Settings: s, Labeled: f.Labeled, Iterations: f.Iterations}
	m.Coefficients = r.Matrix("coefficients")
	m.Intercepts = models.Numbers[float64](r, "intercepts")
	m.Classes = r.ReadClasses()
	if r.Err != nil {
		return nil, r.Err
	}
	return m, models.CheckOutputs(m.Coefficients, m.Intercepts, m.Classes, s.Loss != LeastSquares)
}
