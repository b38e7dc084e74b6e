package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/stage"
)

// Approximation is how a kernel machine is fitted where the n² values and n³
// operations of a [Problem] are too much.
type Approximation int

const (
	// Nystrom looks for f = Σ_j a_j k(·, z_j) over m of the points, the landmarks.
	Nystrom Approximation = iota
	// Fourier replaces the kernel by random Fourier features.
	Fourier
	// MatrixFree is the exact machine by products with the Gram matrix, which is
	// never held. Least squares only.
	MatrixFree
	// Exact is none: the machine of a [Problem].
	Exact
)

var approximations = enum.New[Approximation]("approximation of a kernel machine", "nystrom", "fourier",
	"matrix-free", "exact")

// String returns the name used on the command line and in manifests.
func (m Approximation) String() string { return approximations.String(m) }

// MarshalText returns the name.
func (m Approximation) MarshalText() ([]byte, error) { return approximations.Marshal(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *Approximation) UnmarshalText(text []byte) error { return approximations.Unmarshal(m, text) }

// ApproximationSettings of [FitApproximate].
type ApproximationSettings struct {
	// Approximation defaults to Nystrom. Exact is for [Fit].
	Approximation Approximation
	// Landmarks is m, of MatrixFree the number that its preconditioner is made of.
	// The default is √n·ln n rounded up, at least 500, at most 4000, such that n·m
	// values take no more than 4 GiB, and at most n.
	Landmarks int
	// Sampling is how the landmarks are chosen. Default solvers.RandomPivots.
	Sampling solvers.Sampling
	// Features is the number D of Fourier features, even. Default 2000.
	Features int
	// Seed of all random choices. Any value, 0 included.
	Seed uint64
}

// fill returns s with its defaults for n points, or all faults at once.
func (s ApproximationSettings) fill(n int) (ApproximationSettings, error) {
	var faults []error
	if s.Approximation < Nystrom || s.Approximation > MatrixFree {
		faults = append(faults, fmt.Errorf("kernelmachine: approximation %v", s.Approximation))
	}
	if s.Landmarks < 0 {
		faults = append(faults, fmt.Errorf("kernelmachine: %d landmarks; the number must be "+
			"positive, or 0 for the default", s.Landmarks))
	}
	if s.Features < 0 || s.Features%2 != 0 {
		faults = append(faults, fmt.Errorf("kernelmachine: %d Fourier features; the number must be "+
			"even and positive, or 0 for the default", s.Features))
	}
	if s.Sampling < solvers.RandomPivots || s.Sampling > solvers.PlusPlus {
		faults = append(faults, fmt.Errorf("kernelmachine: choice of landmarks %v", s.Sampling))
	}

	if s.Approximation == Fourier {
		s.Landmarks = 0
		if s.Features == 0 {
			s.Features = 2000
		}
		return s, errors.Join(faults...)
	}

	s.Features = 0
	if s.Landmarks == 0 {
		m := int(math.Ceil(math.Sqrt(float64(n)) * math.Log(float64(n))))
		s.Landmarks = max(1, min(max(m, 500), 4000, 1<<29/max(n, 1)))
	}

	s.Landmarks = min(s.Landmarks, n)
	return s, errors.Join(faults...)
}

// ApproximationReport says how well a machine stands for the exact one.
type ApproximationReport struct {
	// Landmarks is the number in use: less than asked for where the points have no more to give.
	// For MatrixFree it counts the landmarks of the preconditioner.
	Landmarks int `json:"landmarks,omitempty"`
	// KernelError is the part of the kernel that is left out: tr(K − K̂)/tr K of
	// landmarks, and the root mean square of k − k̂ over 1000 pairs of points for
	// Fourier features; 0 of MatrixFree.
	KernelError float64 `json:"kernel_error"`
	// Change is the relative root mean square of what f would change by with half the landmarks or
	// features, at up to 5000 of the points, and Flips the share of these points that would change
	// class: the part of the error that is due to m is usually below them. For the hinge both are
	// estimated by least squares. Zero where not estimated; see [ApproximateProblem.Path].
	Change float64 `json:"change,omitempty"`
	Flips  float64 `json:"flips,omitempty"`
	// Iterations of conjugate gradients or Newton's method; 0 of a direct method.
	Iterations int `json:"iterations,omitempty"`
	// Residual of conjugate gradients is the largest relative residual of
	// (γ_A I + BK)α = Jy/l over the outputs, from the definition; see
	// [FitApproximate]. 0 of other methods.
	Residual float64 `json:"residual,omitempty"`
}

// Approximate is a kernel machine fitted by an approximation. With Fourier
//
//	f_c(x) = Σ_j w_jc φ_j(x) + b_c
//
// has the D×c matrix w as Coefficients, and Points is nil. It is immutable.
type Approximate struct {
	Machine
	ApproximationSettings
	Report ApproximationReport
	// Frequencies are the ω_j of the features, d×D/2; nil for other approximations.
	Frequencies *mat.Dense
}

// FitApproximate fits one machine to targets t of some of the n points x: it
// minimizes
//
//	1/l Σ V(f(x_i), y_i) + γ_A ‖f‖² + γ_I s fᵀr(L)f
//
// over f = Σ_j a_j k(·, z_j), where ‖f‖² = aᵀK_mm a and f = K_nm a at the points.
// The loss V is the square of [RLS], or for [SVM] the squared hinge
// (1 − y·f)₊² with an unpenalized intercept; the hinge itself, support vector
// regression and one class are for [Fit]. r must give γ_A; a nil s means the
// defaults. [NewApproximateProblem] has the methods and their cost; MatrixFree is
// exact.
func FitApproximate(ctx context.Context, d *Data, t *models.Targets, r *Settings,
	s *ApproximationSettings) (*Approximate, error) {
	if r == nil {
		r = &Settings{} // the check names the fault
	}
	filled, err := r.fill()
	if err != nil {
		return nil, err
	}
	p, err := NewApproximateProblem(ctx, d.plain(&filled.Regularizer), filled.Regularizer, s)
	if err != nil {
		return nil, err
	}

	// A path of one setting comes with the estimates of its error.
	models, err := p.Path(ctx, t, []Settings{filled})
	if models == nil {
		return nil, err
	}
	return models[0], err
}

// Dim returns the number of columns of points that Predict takes.
func (m *Approximate) Dim() int {
	if m.Frequencies != nil {
		d, _ := m.Frequencies.Dims()
		return d
	}
	return m.Machine.Dim()
}

// QueryCost returns the cost of the expansion, or of the features.
func (m *Approximate) QueryCost(n int, s *models.PredictSettings) stage.Cost {
	if m.Frequencies == nil {
		return m.Machine.QueryCost(n, s)
	}
	d, half := m.Frequencies.Dims()
	_, c := m.Coefficients.Dims()
	return stage.Cost{Bytes: 8*data.BlockRows*int64(d+3*half) + expansion.AnswerBytes(n, c, len(m.Classes)),
		Operations: 2 * float64(n) * float64(half) * float64(d+2*c+40)}
}

// Predict evaluates f, by batches: it holds 256 rows of kernel values, or 2048 rows of features,
// beside the points.
func (m *Approximate) Predict(ctx context.Context, x data.Points,
	s *models.PredictSettings) (*models.Prediction, error) {
	if m.Frequencies == nil {
		return m.Machine.Predict(ctx, x, s)
	}
	if err := models.CheckQuery(x, m.Dim()); err != nil {
		return nil, err
	}
	// One block of features serves all batches.
	n, _ := x.Dims()
	size, _ := m.Coefficients.Dims()
	phi := mat.NewDense(min(data.BlockRows, n), size, nil)
	return m.Evaluate(ctx, x, s, func(dst *mat.Dense, lo, hi int) error {
		rows := phi.Slice(0, hi-lo, 0, size).(*mat.Dense)
		kernel.FourierTo(rows, x, lo, hi, m.Frequencies)
		dense.SteadyProduct(dst, rows, m.Coefficients)
		return nil
	})
}

// Summary names what the approximation costs, the kernel and the norms.
func (m *Approximate) Summary() models.Summary {
	size, _ := m.Coefficients.Dims()
	s := models.Summary{Labeled: m.Labeled, Values: m.options().values()}
	s.Facts = append(s.Facts, m.KernelFact())
	if m.Frequencies == nil {
		s.Facts = append(s.Facts, models.Fact{Key: "expansion", Value: size})
	}
	s.Facts = append(s.Facts, models.Fact{Key: "approximation_report", Value: m.Report})
	s.Text = fmt.Sprintf("%s, %s, %s", m.describe(), m.DescribeKernel(), m.Settings.Regularizer.Describe())
	m.tellShares(&s)
	m.tellUnreached(&s)
	return s
}

// describe says how far the machine is from the exact one.
func (m *Approximate) describe() string {
	r := m.Report
	var text string
	switch m.Approximation {
	case Nystrom:
		text = fmt.Sprintf("%d landmarks (%v), kernel error %.2g", r.Landmarks, m.Sampling, r.KernelError)
	case Fourier:
		size, _ := m.Coefficients.Dims()
		text = fmt.Sprintf("%d Fourier features, kernel error %.2g", size, r.KernelError)
	case MatrixFree:
		text = fmt.Sprintf("matrix-free, preconditioned by %d landmarks", r.Landmarks)
	}

	// The change by half the basis is the estimate of the error that a user can act on.
	if r.Change > 0 {
		text += fmt.Sprintf(", half of them would change f by %.2g %%", 100*r.Change)
		if m.Classes != nil {
			text += fmt.Sprintf(" and %.2g %% of the classes", 100*r.Flips)
		}
	}

	if m.Settings.Method == SVM {
		text += ", squared hinge"
	}
	if r.Iterations > 0 {
		text += fmt.Sprintf(", %d iterations", r.Iterations)
		if r.Residual > 0 {
			text += fmt.Sprintf(" to a residual of %.1e", r.Residual)
		}
	}

	return text
}

func (m *Approximate) options() *options {
	o := m.Machine.options()
	o.ApproximationSettings = m.ApproximationSettings
	return o
}

// Encode returns the arrays of the expansion, with the frequencies (d×D/2) if
// there are any in place of the points.
func (m *Approximate) Encode() (*models.Encoded, error) {
	arrays := m.Arrays()
	if m.Frequencies != nil {
		arrays = append(arrays, models.MatrixEntry("frequencies", m.Frequencies))
	}
	return &models.Encoded{Values: m.options().values(), Fit: machineFit{Labeled: m.Labeled, Gap: m.Gap,
		Seed: m.Seed, Report: &m.Report, farFit: m.far(), Shared: m.Shared}, Arrays: arrays}, nil
}

// check returns an error unless the parts of the model fit together.
func (m *Approximate) check() error {
	if m.Settings.Method > SVM {
		return fmt.Errorf("kernelmachine: %v by %v", m.Settings.Method, m.Approximation)
	}
	if m.Frequencies == nil {
		return m.Machine.check()
	}
	// Each frequency makes two features, a cosine and a sine.
	size, _ := m.Coefficients.Dims()
	if _, w := m.Frequencies.Dims(); size != 2*w || m.Points != nil {
		return fmt.Errorf("kernelmachine: %d coefficients for %d frequencies, with points %t", size, w,
			m.Points != nil)
	}
	return m.checkOutputs()
}
