package kernelmachine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/internal/simd"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
)

// Method is a loss, and with it a kernel machine.
type Method int

const (
	// KernelRLS is the squared loss (y − f)²: RLS and LapRLS. The function has
	// no bias, as in the paper, unless Intercept asks for an unpenalized one.
	RLS Method = iota
	// KernelSVM is the hinge loss (1 − y·f)₊ with an unpenalized bias: SVM and
	// LapSVM. It needs classes.
	SVM
	// KernelSVR is max(0, |y − f| − ε) with an unpenalized bias: support vector
	// regression.
	SVR
	// KernelOneClass finds where the labeled points are, whatever their labels:
	// class 1 inside and −1 outside, where at most a share ν of them is. It
	// minimizes ½‖f‖² + Σ max(0, ρ − f(x_i)) − νlρ in the norm of the (warped)
	// kernel, on which γ_A acts through γ_I/γ_A only.
	OneClass
)

// The models' names in manifests and on the command line, without and with an
// intrinsic norm.
const (
	RLSName         = "rls"
	SVMName         = "svm"
	SVRName         = "svr"
	OneClassName    = "oneclass"
	LapRLSName      = "laprls"
	LapSVMName      = "lapsvm"
	LapSVRName      = "lapsvr"
	LapOneClassName = "lap-oneclass"
)

var (
	kernelNames    = []string{RLSName, SVMName, SVRName, OneClassName}
	kernelLapNames = []string{LapRLSName, LapSVMName, LapSVRName, LapOneClassName}
)

// String returns the name of the method without an intrinsic norm.
func (m Method) String() string { return enum.String(kernelNames, m) }

// MarshalText returns the name.
func (m Method) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (m *Method) UnmarshalText(text []byte) error {
	return enum.Set(m, kernelNames, "kernel machine", text)
}

// Settings of the kernel machines.
type Settings struct {
	Method Method `json:"method"`
	models.Regularizer
	// Intercept adds an unpenalized constant to KernelRLS; the others always
	// have one.
	Intercept bool `json:"intercept"`
	// Epsilon is the ε of KernelSVR, in the unit of the targets. Default 0.1.
	Epsilon float64 `json:"epsilon,omitempty"`
	// Nu is the ν of KernelOneClass, above 0 and at most 1. Default 0.5.
	Nu float64 `json:"nu,omitempty"`
	// Tolerance of solvers.SMO. Default 1e-6.
	Tolerance float64 `json:"tolerance,omitempty"`
	// MaxIterations of solvers.SMO, whose default it has.
	MaxIterations int `json:"max_iterations,omitempty"`
}

// Fill returns s with its defaults, or all faults at once.
func (s Settings) Fill() (Settings, error) {
	r, err := s.Regularizer.Fill()
	s.Regularizer = r
	faults := []error{err}
	if s.Method < RLS || s.Method > OneClass {
		faults = append(faults, fmt.Errorf("kernelmachine: kernel machine %v", s.Method))
	}
	if s.Method == SVR && s.Epsilon == 0 {
		s.Epsilon = 0.1
	}
	if s.Method == OneClass && s.Nu == 0 {
		s.Nu = 0.5
	}
	if !(s.Epsilon >= 0) || math.IsInf(s.Epsilon, 0) {
		faults = append(faults, fmt.Errorf("kernelmachine: ε is %v; it must not be negative", s.Epsilon))
	}
	if !(s.Nu >= 0 && s.Nu <= 1) {
		faults = append(faults, fmt.Errorf("kernelmachine: ν is %v; it must be positive and at most 1", s.Nu))
	}
	if s.Tolerance == 0 {
		s.Tolerance = 1e-6
	}
	if !(s.Tolerance > 0) || math.IsInf(s.Tolerance, 0) || s.MaxIterations < 0 {
		faults = append(faults, fmt.Errorf("kernelmachine: tolerance %v and limit of %d steps must be positive", s.Tolerance, s.MaxIterations))
	}
	return s, errors.Join(faults...)
}

// Machine is a fitted kernel expansion
//
//	f_c(x) = Σ_i a_ic k(x, x_i) + b_c
//
// over the training points whose coefficients are not zero. It is immutable.
type Machine struct {
	Settings Settings
	Kernel   kernel.Kernel
	// Points are the x_i; nil for a precomputed kernel, where a point is given
	// by its values with all training points and no coefficient is left out.
	Points       data.Points
	Coefficients *mat.Dense // m×c
	Bias         []float64  // c
	Classes      []int64    // nil for a regression
	Labeled      int        // number of labeled points
	// Gap is the largest duality gap of the quadratic programs, relative to
	// their objectives; 0 for KernelRLS.
	Gap float64

	rows []int // of the expansion in the problem it was fitted on; nil after Load
}

// Name is rls, svm, svr or oneclass, and with γ_I > 0 laprls, lapsvm, lapsvr or
// lap-oneclass.
func (m *Machine) Name() string {
	if m.Settings.GammaI > 0 {
		return enum.String(kernelLapNames, m.Settings.Method)
	}
	return m.Settings.Method.String()
}

// Outcomes are the class values; nil for a regression.
func (m *Machine) Outcomes() []int64 { return m.Classes }

// Predict evaluates f. It takes the time of a product with the m×n kernel
// values, and the memory of 256 rows of them beside the points.
func (m *Machine) Predict(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
	_, d := x.Dims()
	size, _ := m.Coefficients.Dims()
	product := func(dst *mat.Dense, lo, hi int) error {
		precomputedProduct(dst, x, lo, m.Coefficients)
		return nil
	}
	if m.Points != nil {
		side, err := kernel.New(m.Kernel, m.Points)
		if err != nil {
			return nil, err
		}
		product = func(dst *mat.Dense, lo, hi int) error { return side.ProductTo(dst, x, lo, hi, m.Coefficients) }
	} else if d != size {
		return nil, fmt.Errorf("kernelmachine: %d kernel values a point, but there are %d training points", d, size)
	}
	return m.answer(ctx, x, s, product)
}

// answer makes the prediction for x by batches, of which product sets the rows lo
// to hi of the expansion without bias.
func (m *Machine) answer(ctx context.Context, x data.Points, s *models.PredictSettings, product func(dst *mat.Dense, lo, hi int) error) (*models.Prediction, error) {
	n, _ := x.Dims()
	if n == 0 {
		return nil, models.ErrNoQuery
	}
	_, c := m.Coefficients.Dims()
	f := mat.NewDense(n, c, nil)
	for lo := 0; lo < n; lo += data.BlockRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+data.BlockRows, n)
		if err := product(f.Slice(lo, hi, 0, c).(*mat.Dense), lo, hi); err != nil {
			return nil, err
		}
		if s != nil && s.OnProgress != nil {
			s.OnProgress(hi, n)
		}
	}
	dense.AddRow(f, m.Bias)
	return models.NewPrediction(f, m.Classes), nil
}

// precomputedProduct sets dst to the product of rows of kernel values, from lo on,
// with a.
func precomputedProduct(dst *mat.Dense, x data.Points, lo int, a *mat.Dense) {
	rows, _ := dst.Dims()
	n, _ := a.Dims()
	par.For(rows, 16, func(p, q int) {
		row := make([]float64, n)
		for i := p; i < q; i++ {
			data.RowTo(row, x, lo+i)
			out := dst.RawRowView(i)
			clear(out)
			for j, v := range row {
				simd.CombineRow(out, out, 1, a.RawRowView(j), v)
			}
		}
	})
}

// machineFile is what the manifest of a model file says.
type machineFile struct {
	Settings
	Kernel  kernel.Kernel `json:"kernel"`
	Labeled int           `json:"labeled"`
	Gap     float64       `json:"gap"`
}

// Save writes the model as a .npz file, whole or not at all: coefficients (m×c),
// bias (c), classes unless it is a regression, the points unless the kernel is
// precomputed, and the manifest. hashes name what the model was made from.
func (m *Machine) Save(path string, hashes map[string]string) error {
	return models.SaveFile(path, m.Name(), machineFile{m.Settings, m.Kernel, m.Labeled, m.Gap}, hashes, m.Entries())
}

// Entries are the arrays of the expansion.
func (m *Machine) Entries() []npy.Entry {
	entries := []npy.Entry{models.MatrixEntry("coefficients", m.Coefficients), {Name: "bias", Data: m.Bias}}
	return append(append(entries, models.ClassEntries(m.Classes)...), models.PointEntries(m.Points, nil)...)
}

// ReadExpansion reads what entries returns, of kernel k with its defaults.
func ReadExpansion(r *models.Reader, k kernel.Kernel) (*Machine, error) {
	k, err := k.Fill()
	if err != nil {
		return nil, err
	}
	m := ExpansionOf(k, nil, r.Matrix("coefficients"), models.Numbers[float64](r, "bias"), r.ReadClasses())
	m.Points = r.Points()
	return m, r.Err
}

// LoadKernel reads a [Machine] or a [Approximate], as the settings say.
func LoadKernel(r *models.Reader, settings json.RawMessage) (models.Model, error) {
	var f approximateFile
	if err := models.ReadSettings(settings, &f); err != nil {
		return nil, err
	}
	s, err := f.Settings.Fill()
	if err != nil {
		return nil, err
	}
	m, err := ReadExpansion(r, f.Kernel)
	if err != nil {
		return nil, err
	}
	m.Settings, m.Labeled, m.Gap = s, f.Labeled, f.Gap
	if f.Scale == nil {
		return m, m.Check()
	}
	scaled := &Approximate{Machine: *m, Scale: *f.Scale, Report: f.Report}
	if f.Scale.Approximation == Fourier {
		if scaled.Frequencies = r.Matrix("frequencies"); r.Err != nil {
			return nil, r.Err
		}
	}
	return scaled, scaled.check()
}

// Check returns an error unless the parts of the model fit together.
func (m *Machine) Check() error {
	if err := CheckExpansion(m.Kernel, m.Points, m.Coefficients); err != nil {
		return err
	}
	return m.checkOutputs()
}

func (m *Machine) checkOutputs() error {
	return models.CheckOutputs(m.Coefficients, m.Bias, m.Classes, m.Settings.Method == SVM || m.Settings.Method == OneClass)
}

// CheckExpansion returns an error unless every row of a has its point, or the
// kernel is precomputed and there are no points.
func CheckExpansion(k kernel.Kernel, z data.Points, a *mat.Dense) error {
	if (z == nil) != (k.Kind == kernel.Precomputed) {
		return fmt.Errorf("kernelmachine: a %v kernel with points %t", k.Kind, z != nil)
	}
	if z == nil {
		return nil
	}
	size, _ := a.Dims()
	if n, _ := z.Dims(); n != size {
		return fmt.Errorf("kernelmachine: %d points for %d coefficients", n, size)
	}
	return nil
}

// ExpansionOf is the function that a fitted model evaluates.
func ExpansionOf(k kernel.Kernel, z data.Points, a *mat.Dense, bias []float64, classes []int64) *Machine {
	return &Machine{Kernel: k, Points: z, Coefficients: a, Bias: bias, Classes: classes}
}
