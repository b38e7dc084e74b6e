// Package linear fits linear functions f(x) = wᵀx + b to labels and, through a
// graph or by transduction, to points without one: regularized least squares and
// support vector machines, plain (rls-linear, svm-linear), with an intrinsic norm
// (laprls-linear, lapsvm-linear) and transductive (tsvm-linear).
//
// [Problem] holds what fits to one set of points share and is the way to fit many
// of them; [Labeled] holds what fits to the same targets share as well.
//
// M. Belkin, P. Niyogi and V. Sindhwani, Manifold regularization, JMLR 7 (2006),
// 2399–2434. V. Sindhwani, P. Niyogi and M. Belkin, Linear manifold regularization
// for large scale semi-supervised learning, ICML 2005 workshop. V. Sindhwani and
// S. S. Keerthi, Large scale semi-supervised linear SVMs, SIGIR 2006, 477–484.
package linear

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
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
	// rounded; see Settings.Width.
	HuberizedHinge
)

var losses = enum.New[Loss]("loss", "squared", "squared-hinge", "huberized-hinge")

// String returns the name used on the command line and in manifests.
func (l Loss) String() string { return losses.String(l) }

// MarshalText returns the name.
func (l Loss) MarshalText() ([]byte, error) { return losses.Marshal(l) }

// UnmarshalText is the inverse of MarshalText.
func (l *Loss) UnmarshalText(text []byte) error { return losses.Unmarshal(l, text) }

// The names of learners and their models. The first two are the last two with
// γ_I = 0.
const (
	RLSName    = "rls-linear"
	SVMName    = "svm-linear"
	LapRLSName = "laprls-linear"
	LapSVMName = "lapsvm-linear"
)

// Settings of [Fit].
type Settings struct {
	// Regularizer must give γ_A. With γ_I = 0 what else it says of the intrinsic norm
	// does not matter and is dropped.
	Regularizer regularizer.Regularizer
	// Loss defaults to LeastSquares.
	Loss Loss
	// Width h of HuberizedHinge: V is quadratic where |1 − y·f| < h, and exceeds
	// the hinge by at most h/4. Default 0.1; at most 1.
	Width float64
	// Tolerance of iterations: the residual of a linear system relative to its right-hand side, or
	// the norm of the gradient relative to its norm at f = 0. Default 1e-8.
	Tolerance float64
	// MaxIterations bounds the conjugate gradient steps of least squares, by
	// default 10000, or the Newton steps of the hinges, by default 200.
	MaxIterations int
}

// fill returns s with its defaults, or all faults at once.
func (s Settings) fill() (Settings, error) {
	var faults []error
	table := tables[[2]bool{s.Loss != LeastSquares, true}]
	if err := table.Check(&s); err != nil {
		faults = append(faults, err)
	}
	if s.Loss != HuberizedHinge && s.Width != 0 {
		faults = append(faults, fmt.Errorf("linear: width %v is for the Huberized hinge only", s.Width))
	}

	faults = append(faults, s.Regularizer.CheckNorm())
	s.Regularizer, _ = s.Regularizer.Fill() // its other faults are among those of the table
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

// Fit finds the linear functions f(x) = wᵀx + b, one for each column of
// y, that minimize
//
//	1/l Σ V(f(x_i), y_i) + γ_A ‖w‖² + γ_I s (Xw)ᵀr(L)(Xw),
//
// Belkin, Niyogi & Sindhwani (2006), sections 4.2 and 4.4, with K = XXᵀ solved in the primal; r(L) is Lᵖ
// or a polynomial, as s says. b costs nothing: the intrinsic norm is the norm of Xw, as in the paper's problem with a bias. For
// the combinatorial Laplacian that is the norm of f, since L takes constants to zero. For the
// normalized one it is not, and the origin of x matters.
//
// x is n×d, l the Laplacian of a graph on the n points (nil if γ_I = 0; a shift
// it has is left out), and y names the labeled ones. s must give γ_A; progress may
// be nil. Fit is [NewProblem] and [Problem.Fit], which have the cost; where several
// fits share points and graph, use those.
func Fit(ctx context.Context, x data.Points, l *sparse.Laplacian, y *models.Targets, s *Settings,
	progress Progress) (*Model, error) {
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
	p, err := newProblem(ctx, x, l, filled.Regularizer, progress)
	if err != nil {
		return nil, err
	}
	return p.Fit(ctx, y, s)
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
