package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// Approximation is how a kernel machine is fitted where the exact way of
// [Problem], n² values and n³ operations, is too much.
type Approximation int

const (
	// ByLandmarks looks for f = Σ_j a_j k(·, z_j) over m of the points.
	Nystrom Approximation = iota
	// ByFeatures replaces the kernel by random Fourier features.
	Fourier
	// MatrixFree is the exact machine by products with the Gram matrix, which is
	// never held. Least squares only.
	MatrixFree
)

var approximationNames = []string{"landmarks", "features", "matrix-free"}

// String returns the name used on the command line and in manifests.
func (m Approximation) String() string { return enum.String(approximationNames, m) }

// MarshalText returns the name.
func (m Approximation) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (m *Approximation) UnmarshalText(text []byte) error {
	return enum.Set(m, approximationNames, "means to fit a kernel machine", text)
}

// ApproximationSettings say how a kernel machine is fitted.
type ApproximationSettings struct {
	// Means defaults to ByLandmarks.
	Approximation Approximation `json:"means"`
	// Landmarks is m, of MatrixFree the number that its preconditioner is made of.
	// The default is √n·ln n rounded up, at least 500, at most 4000, such that n·m
	// values take no more than 4 GiB, and at most n.
	Landmarks int `json:"landmarks,omitempty"`
	// Sampling is how the landmarks are chosen. Default solvers.RandomPivots.
	Sampling solvers.Sampling `json:"sampling"`
	// Features is the number D of Fourier features, even. Default 2000.
	Features int `json:"features,omitempty"`
	// Seed of all random choices. Any value, 0 included.
	Seed uint64 `json:"seed"`
}

// fill returns s with its defaults for n points, or all faults at once.
func (s ApproximationSettings) fill(n int) (ApproximationSettings, error) {
	var faults []error
	if s.Approximation < Nystrom || s.Approximation > MatrixFree {
		faults = append(faults, fmt.Errorf("kernelmachine: means %v", s.Approximation))
	}
	if s.Landmarks < 0 {
		faults = append(faults, fmt.Errorf("kernelmachine: %d landmarks; the number must be positive, or 0 for the default", s.Landmarks))
	}
	if s.Features < 0 || s.Features%2 != 0 {
		faults = append(faults, fmt.Errorf("kernelmachine: %d Fourier features; the number must be even and positive, or 0 for the default", s.Features))
	}
	if s.Sampling < solvers.RandomPivots || s.Sampling > solvers.PlusPlus {
		faults = append(faults, fmt.Errorf("kernelmachine: choice of landmarks %v", s.Sampling))
	}
	if s.Landmarks == 0 {
		m := int(math.Ceil(math.Sqrt(float64(n)) * math.Log(float64(n))))
		s.Landmarks = max(1, min(max(m, 500), 4000, 1<<29/max(n, 1)))
	}
	s.Landmarks = min(s.Landmarks, n)
	if s.Features == 0 {
		s.Features = 2000
	}
	return s, errors.Join(faults...)
}

// ApproximationReport says how well a machine stands for the exact one.
type ApproximationReport struct {
	// Landmarks is the number in use: less than asked for where the points have
	// no more to give. Of MatrixFree it is that of the preconditioner.
	Landmarks int `json:"landmarks,omitempty"`
	// KernelError is the part of the kernel that is left out: tr(K − K̂)/tr K of
	// landmarks, and the root mean square of k − k̂ over 1000 pairs of points for
	// Fourier features; 0 of MatrixFree.
	KernelError float64 `json:"kernel_error"`
	// Change is the relative root mean square of what f would change by with half
	// the landmarks or features, at up to 5000 of the points, and Flips the share
	// of these points that would change class: the part of the error that is due
	// to m is usually below them. Those of the hinge are taken from least
	// squares. Zero where not estimated; see [ApproximateProblem.Path].
	Change float64 `json:"change,omitempty"`
	Flips  float64 `json:"flips,omitempty"`
	// Iterations of conjugate gradients or Newton's method; 0 of a direct method.
	Iterations int `json:"iterations,omitempty"`
	// Residual of conjugate gradients is the largest relative residual of
	// (γ_A I + BK)α = Jy/l over the outputs, from the definition; see
	// [FitApproximate]. 0 of other methods.
	Residual float64 `json:"residual,omitempty"`
}

// Approximate is a kernel machine fitted by the given means. With ByFeatures
//
//	f_c(x) = Σ_j w_jc φ_j(x) + b_c
//
// has the D×c matrix w as Coefficients, and Points is nil. It is immutable.
type Approximate struct {
	Machine
	Scale  ApproximationSettings
	Report ApproximationReport
	// Frequencies are the ω_j of the features, d×D/2; nil for other means.
	Frequencies *mat.Dense
}

// FitApproximate fits one machine to targets t of some of the n points x: it
// minimizes
//
//	1/l Σ V(f(x_i), y_i) + γ_A ‖f‖² + γ_I s fᵀLᵖf
//
// over f = Σ_j a_j k(·, z_j), where ‖f‖² = aᵀK_mm a and f = K_nm a at the points.
// The loss V is the square of [RLS], or for [SVM] the squared hinge
// (1 − y·f)₊² with an unpenalized bias; the hinge itself, support vector
// regression and one class are for [Fit]. l is the Laplacian of the points'
// graph, its power and shift do not matter; it may be nil if γ_I = 0. r and s may
// not be, or s may for the defaults. If limit is positive, more memory for
// matrices is an error. See [NewApproximateProblem] for the way and its cost; MatrixFree
// is exact.
func FitApproximate(ctx context.Context, x data.Points, k kernel.Kernel, l *sparse.Laplacian, t *models.Targets, r *Settings, s *ApproximationSettings, limit int64) (*Approximate, error) {
	if r == nil {
		r = &Settings{} // whose fault is named
	}
	filled, err := r.Fill()
	if err != nil {
		return nil, err
	}
	if filled.GammaI == 0 {
		l = nil
	}
	p, err := NewApproximateProblem(ctx, x, k, l, filled.Power, s, limit)
	if err != nil {
		return nil, err
	}
	models, err := p.Path(ctx, t, []Settings{filled})
	if models == nil {
		return nil, err
	}
	return models[0], err
}

// Predict evaluates f, by batches: the memory is that of 256 rows of kernel
// values, or of 2048 rows of features, beside the points.
func (m *Approximate) Predict(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
	if m.Frequencies == nil {
		return m.Machine.Predict(ctx, x, s)
	}
	n, d := x.Dims()
	if n == 0 {
		return nil, models.ErrNoQuery
	}
	if have, _ := m.Frequencies.Dims(); d != have {
		return nil, fmt.Errorf("kernelmachine: points of %d dimensions for a model of %d", d, have)
	}
	size, _ := m.Coefficients.Dims()
	phi := mat.NewDense(min(data.BlockRows, n), size, nil)
	return m.answer(ctx, x, s, func(dst *mat.Dense, lo, hi int) error {
		rows := phi.Slice(0, hi-lo, 0, size).(*mat.Dense)
		kernel.FourierTo(rows, x, lo, hi, m.Frequencies)
		dense.SteadyProduct(dst, rows, m.Coefficients)
		return nil
	})
}

// approximateFile is what the manifest of a model file says; of a [Machine] it
// has no scale.
type approximateFile struct {
	machineFile
	Scale  *ApproximationSettings `json:"scale"`
	Report ApproximationReport    `json:"report"`
}

// Save writes the model as a .npz file, whole or not at all: what
// [Machine.Save] does, with the frequencies (d×D/2) if there are any in
// place of the points.
func (m *Approximate) Save(path string, hashes map[string]string) error {
	entries := m.Entries()
	if m.Frequencies != nil {
		entries = append(entries, models.MatrixEntry("frequencies", m.Frequencies))
	}
	file := approximateFile{machineFile{m.Settings, m.Kernel, m.Labeled, m.Gap}, &m.Scale, m.Report}
	return models.SaveFile(path, m.Name(), file, hashes, entries)
}

// check returns an error unless the parts of the model fit together.
func (m *Approximate) check() error {
	if m.Settings.Method > SVM {
		return fmt.Errorf("kernelmachine: %v by %v", m.Settings.Method, m.Scale.Approximation)
	}
	if m.Frequencies == nil {
		return m.Machine.Check()
	}
	size, _ := m.Coefficients.Dims()
	if _, w := m.Frequencies.Dims(); size != 2*w || m.Points != nil {
		return fmt.Errorf("kernelmachine: %d coefficients for %d frequencies, with points %t", size, w, m.Points != nil)
	}
	return m.checkOutputs()
}
