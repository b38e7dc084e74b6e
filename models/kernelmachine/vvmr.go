package kernelmachine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/solvers"
)

// VVMRName is the model's name in manifests and on the command line.
const VVMRName = "vvmr"

// VVMRSettings of [VVMRProblem.Fit].
type VVMRSettings struct {
	models.Regularizer
	// GammaO is γ_O, from 0 for independent outputs to 1.
	GammaO float64 `json:"gamma_o"`
	// Tolerance of the conjugate gradients. Default 1e-10.
	Tolerance float64 `json:"tolerance"`
	// MaxIterations of the conjugate gradients. Default 1000.
	MaxIterations int `json:"max_iterations"`
}

// fill returns s with its defaults, or all faults at once.
func (s VVMRSettings) fill() (VVMRSettings, error) {
	r, err := s.Regularizer.Fill()
	s.Regularizer = r
	faults := []error{err}
	if !(s.GammaO >= 0 && s.GammaO <= 1) {
		faults = append(faults, fmt.Errorf("kernelmachine: γ_O is %v; it must be between 0 and 1", s.GammaO))
	}
	if !(s.Tolerance >= 0 && s.Tolerance < 1) {
		faults = append(faults, fmt.Errorf("kernelmachine: tolerance %v; it must be positive and less than 1, or 0 for the default", s.Tolerance))
	}
	if s.MaxIterations < 0 {
		faults = append(faults, fmt.Errorf("kernelmachine: limit of %d iterations; it must be positive, or 0 for the default", s.MaxIterations))
	}
	if s.Tolerance == 0 {
		s.Tolerance = 1e-10
	}
	if s.MaxIterations == 0 {
		s.MaxIterations = 1000
	}
	return s, errors.Join(faults...)
}

// VVMR is a fitted function with n outputs,
//
//	f(x) = Σ_i k(x, x_i) c_i,  c_i = Q a_i in the notation of the paper,
//
// or, for the linear kernel, f(x) = Cᵀx. It is immutable.
type VVMR struct {
	Settings VVMRSettings
	Kernel   kernel.Kernel
	// Points are the x_i; nil for the linear kernel with C of d×n, and for a
	// precomputed one, where a point is given by its values with all training
	// points.
	Points       data.Points
	Coefficients *mat.Dense // C
	Labeled      int        // number l of labeled points
	// Labels are the labels of the outputs, ascending; nil for a regression.
	Labels []int64
	// Residual is ‖Y/(lγ_A) − (JG + lγ_I LᵖG)AQ/(lγ_A) − A‖/‖Y/(lγ_A)‖ of equation
	// (17), recomputed from the definition with the kernel in use, that of the
	// landmarks included; J has a zero for every missing entry of Y.
	Residual   float64
	Iterations int // of the conjugate gradients that polish the direct solution
	// Scale are the means in use, nil for exact, and KernelError the part of the
	// kernel that landmarks leave out, tr(K − K̂)/tr K.
	Scale       *ApproximationSettings
	KernelError float64
	// Values are f at the training points, N×n; nil after Load.
	Values *mat.Dense
}

// Name is vvmr.
func (m *VVMR) Name() string { return VVMRName }

// Outcomes are nil: an answer is scores, whose signs are the labels.
func (m *VVMR) Outcomes() []int64 { return nil }

// Predict evaluates f: Scores is m×n, Classes nil. It costs a product with the
// kernel values, and holds 256 rows of them.
func (m *VVMR) Predict(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
	size, outputs := m.Coefficients.Dims()
	if m.Points != nil {
		return ExpansionOf(m.Kernel, m.Points, m.Coefficients, make([]float64, outputs), nil).Predict(ctx, x, s)
	}
	n, d := x.Dims()
	if d != size {
		return nil, fmt.Errorf("kernelmachine: points of %d dimensions for a model of %d", d, size)
	}
	if n == 0 {
		return nil, errors.New("kernelmachine: no points to answer for")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f := mat.NewDense(n, outputs, nil)
	solvers.DenseDesign{Points: x}.MulTo(f, m.Coefficients)
	return &models.Prediction{Scores: f}, nil
}

// vvmrFile is what the manifest of a model file says.
type vvmrFile struct {
	VVMRSettings
	Kernel     kernel.Kernel `json:"kernel"`
	Labeled    int           `json:"labeled"`
	Labels     []int64       `json:"labels,omitempty"`
	Residual   float64       `json:"residual"`
	Iterations int           `json:"iterations"`

	Scale       *ApproximationSettings `json:"scale,omitempty"`
	KernelError float64                `json:"kernel_error,omitempty"`
}

// Save writes the model as a .npz file, whole or not at all: coefficients, the
// points if there are any, and the manifest. hashes name what it was made from.
func (m *VVMR) Save(path string, hashes map[string]string) error {
	f := vvmrFile{m.Settings, m.Kernel, m.Labeled, m.Labels, m.Residual, m.Iterations, m.Scale, m.KernelError}
	return models.SaveFile(path, VVMRName, f, hashes, append([]npy.Entry{models.MatrixEntry("coefficients", m.Coefficients)}, models.PointEntries(m.Points, nil)...))
}

func LoadVVMR(r *models.Reader, settings json.RawMessage) (models.Model, error) {
	var f vvmrFile
	if err := models.ReadSettings(settings, &f); err != nil {
		return nil, err
	}
	s, err := f.VVMRSettings.fill()
	if err != nil {
		return nil, err
	}
	k, err := f.Kernel.Fill()
	if err != nil {
		return nil, err
	}
	if r.Archive.Has("classes") {
		return nil, fmt.Errorf("kernelmachine: %s has no classes", VVMRName)
	}
	m := &VVMR{Settings: s, Kernel: k, Labeled: f.Labeled, Labels: f.Labels, Residual: f.Residual, Iterations: f.Iterations, Scale: f.Scale, KernelError: f.KernelError}
	m.Coefficients, m.Points = r.Matrix("coefficients"), r.Points()
	if r.Err != nil {
		return nil, r.Err
	}
	if m.Labeled < 1 || !(m.Residual >= 0) || math.IsInf(m.Residual, 0) {
		return nil, fmt.Errorf("kernelmachine: %d labeled points and a residual of %v", m.Labeled, m.Residual)
	}
	size, outputs := m.Coefficients.Dims()
	if m.Labels != nil && len(m.Labels) != outputs {
		return nil, fmt.Errorf("kernelmachine: %d labels for %d outputs", len(m.Labels), outputs)
	}
	if m.Points == nil {
		if k.Kind != kernel.Linear && k.Kind != kernel.Precomputed {
			return nil, fmt.Errorf("kernelmachine: a %v kernel without points", k.Kind)
		}
		return m, nil
	}
	if n, _ := m.Points.Dims(); n != size || k.Kind == kernel.Precomputed {
		return nil, fmt.Errorf("kernelmachine: %d points for %d coefficients of a %v kernel", n, size, k.Kind)
	}
	return m, nil
}
