package linear

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// Loss is the loss V of a linear model.
type Loss int

const (
	// LeastSquares is V = (y − f)²: RLS and LapRLS, for classes and values.
	LeastSquares Loss = iota
	// SquaredHinge is V = (1 − y·f)₊²: SVM and LapSVM.
	SquaredHinge
	// HuberizedHinge is the hinge (1 − y·f)₊ of the papers with its corner
	// rounded; see LinearSettings.Width.
	HuberizedHinge
)

var lossNames = []string{"squared", "squared-hinge", "huberized-hinge"}

// String returns the name used on the command line and in manifests.
func (l Loss) String() string { return enum.String(lossNames, l) }

// MarshalText returns the name.
func (l Loss) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (l *Loss) UnmarshalText(text []byte) error {
	return enum.Set(l, lossNames, "loss", text)
}

// The names of linear models in manifests and on the command line. The last two
// are the first two with γ_I = 0.
const (
	LapRLSName = "laprls-linear"
	LapSVMName = "lapsvm-linear"
	RLSName    = "rls-linear"
	SVMName    = "svm-linear"
)

// Settings of [Fit].
type Settings struct {
	Regularizer models.Regularizer `json:"regularizer"`
	// Loss defaults to LeastSquares.
	Loss Loss `json:"loss"`
	// Width h of HuberizedHinge: V is quadratic where |1 − y·f| < h, and exceeds
	// the hinge by at most h/4. Default 0.1; at most 1.
	Width float64 `json:"width,omitempty"`
	// Tolerance of what is solved by iteration: the residual of a linear system
	// relative to its right-hand side, or the norm of the gradient relative to
	// that of f = 0. Default 1e-8.
	Tolerance float64 `json:"tolerance"`
	// MaxIterations bounds the conjugate gradient steps of least squares, by
	// default 10000, or the Newton steps of the hinges, by default 200.
	MaxIterations int `json:"max_iterations"`
}

// fill returns s with its defaults, or all faults at once.
func (s Settings) fill() (Settings, error) {
	var faults []error
	var err error
	if s.Regularizer, err = s.Regularizer.Fill(); err != nil {
		faults = append(faults, err)
	}
	if s.Loss < LeastSquares || s.Loss > HuberizedHinge {
		faults = append(faults, fmt.Errorf("linear: loss %v", s.Loss))
	}
	if !(s.Width >= 0 && s.Width <= 1) {
		faults = append(faults, fmt.Errorf("linear: width %v of the Huberized hinge; it must be positive and at most 1, or 0 for the default", s.Width))
	}
	if s.Loss != HuberizedHinge && s.Width != 0 {
		faults = append(faults, fmt.Errorf("linear: width %v is for the Huberized hinge only", s.Width))
	}
	if !(s.Tolerance >= 0 && s.Tolerance < 1) {
		faults = append(faults, fmt.Errorf("linear: tolerance %v; it must be positive and less than 1, or 0 for the default", s.Tolerance))
	}
	if s.MaxIterations < 0 {
		faults = append(faults, fmt.Errorf("linear: limit of %d iterations; it must be positive, or 0 for the default", s.MaxIterations))
	}
	if s.Loss == HuberizedHinge && s.Width == 0 {
		s.Width = 0.1
	}
	if s.Tolerance == 0 {
		s.Tolerance = 1e-8
	}
	if s.MaxIterations == 0 {
		s.MaxIterations = 200
		if s.Loss == LeastSquares {
			s.MaxIterations = 10000
		}
	}
	return s, errors.Join(faults...)
}

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

// Fit finds the linear functions f(x) = wᵀx + b, one for each column of
// y, that minimize
//
//	1/l Σ V(f(x_i), y_i) + γ_A ‖w‖² + γ_I s (Xw)ᵀLᵖ(Xw),
//
// Belkin, Niyogi & Sindhwani (2006), sections 4.2 and 4.4, with K = XXᵀ solved
// in the primal. b costs nothing: the intrinsic norm is that of Xw, as in the
// paper's problem with a bias. For the combinatorial Laplacian that is the norm
// of f, since L takes constants to zero. For the normalized one it is not, and
// the origin of x matters.
//
// x is n×d, l the Laplacian of a graph on the n points (nil if γ_I = 0; a shift
// it has is left out), and y names the labeled ones. s must give γ_A. It is
// [NewProblem] and Fit, which see for the cost; where several fits share
// points and graph, use those.
func Fit(ctx context.Context, x data.Points, l *sparse.Laplacian, y *models.Targets, s *Settings) (*Model, error) {
	if s == nil {
		s = &Settings{}
	}
	filled, err := s.fill()
	if err != nil {
		return nil, err
	}
	if filled.Regularizer.GammaI == 0 {
		l = nil
	}
	p, err := NewProblem(ctx, x, l, filled.Regularizer.Power)
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, y, s)
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

// Outcomes are the class values; nil for a regression.
func (m *Model) Outcomes() []int64 { return m.Classes }

// Predict answers for the points of x with 2·nnz·m operations, nnz the number of
// stored elements of x. Nothing in s matters to it.
func (m *Model) Predict(ctx context.Context, x data.Points, _ *models.PredictSettings) (*models.Prediction, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	if have, _ := m.Coefficients.Dims(); d != have {
		return nil, fmt.Errorf("linear: points of %d dimensions for a model of %d", d, have)
	}
	if n == 0 {
		return nil, models.ErrNoQuery
	}
	return models.NewPrediction(m.values(solvers.DenseDesign{Points: x}, n), m.Classes), nil
}

// values returns f at the n rows of x.
func (m *Model) values(x solvers.DenseDesign, n int) *mat.Dense {
	f := mat.NewDense(n, len(m.Intercepts), nil)
	x.MulTo(f, m.Coefficients)
	dense.AddRow(f, m.Intercepts)
	return f
}

// loss returns V at output f for target y.
func (s *Settings) loss(y, f float64) float64 {
	gap := 1 - y*f
	switch {
	case s.Loss == LeastSquares:
		return (y - f) * (y - f)
	case s.Loss == SquaredHinge:
		return math.Pow(math.Max(0, gap), 2)
	case gap <= -s.Width:
		return 0
	case gap >= s.Width:
		return gap
	}
	return (gap + s.Width) * (gap + s.Width) / (4 * s.Width)
}
