package models

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/sparse"
)

// SolvePositive overwrites b with h⁻¹b and h with its factor.
func SolvePositive(h, b *mat.Dense, r Regularizer) error {
	if err := dense.Cholesky(h); err != nil {
		return fmt.Errorf("models: γ_A = %g is too small beside the data (and γ_I): %w", r.GammaA, err)
	}
	dense.SolveLower(dense.NoTrans, h, b)
	dense.SolveLower(dense.Transposed, h, b)
	return nil
}

// Scaling is a convention for the weight of the intrinsic norm.
type Scaling int

const (
	// Direct is γ_I·fᵀLᵖf: Sindhwani, Niyogi & Belkin (2005).
	Direct Scaling = iota
	// PerPair is γ_I/(l+u)²·fᵀLᵖf with l+u the number of points: Belkin, Niyogi
	// & Sindhwani (2006), equation (4).
	PerPair
)

var scalingNames = []string{"direct", "per-pair"}

// String returns the name used on the command line and in manifests.
func (s Scaling) String() string { return enum.String(scalingNames, s) }

// MarshalText returns the name.
func (s Scaling) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *Scaling) UnmarshalText(text []byte) error {
	return enum.Set(s, scalingNames, "scaling", text)
}

// Regularizer are the two norms of manifold regularization. Over f with loss V
// on the l labeled of n points, a model minimizes
//
//	1/l Σ V(f(x_i), y_i) + γ_A ‖f‖² + γ_I s fᵀLᵖf
//
// with s = 1 or 1/n² (see [Scaling]), ‖f‖ the norm of the space of functions and
// fᵀLᵖf taken over the values at all n points.
type Regularizer struct {
	// GammaA is γ_A, the weight of the ambient norm. It must be positive.
	GammaA float64 `json:"gamma_a"`
	// GammaI is γ_I, the weight of the intrinsic norm; 0 leaves the unlabeled
	// points without influence.
	GammaI float64 `json:"gamma_i"`
	// Power is the p of Lᵖ. Default 1.
	Power int `json:"power"`
	// Laplacian is the definition of L. Default combinatorial.
	Laplacian sparse.Kind `json:"laplacian"`
	// Scaling of γ_I. Default Direct.
	Scaling Scaling `json:"scaling"`
}

// Intrinsic returns γ_I·s, what fᵀLᵖf is multiplied with for n points.
func (r Regularizer) Intrinsic(n int) float64 {
	if r.Scaling == PerPair {
		return r.GammaI / float64(n) / float64(n)
	}
	return r.GammaI
}

// Fill returns r with its defaults, or all faults at once.
func (r Regularizer) Fill() (Regularizer, error) {
	var faults []error
	if !(r.GammaA > 0) || math.IsInf(r.GammaA, 0) {
		faults = append(faults, fmt.Errorf("models: γ_A is %v; it must be positive", r.GammaA))
	}
	if !(r.GammaI >= 0) || math.IsInf(r.GammaI, 0) {
		faults = append(faults, fmt.Errorf("models: γ_I is %v; it must not be negative", r.GammaI))
	}
	if r.Power < 0 {
		faults = append(faults, fmt.Errorf("models: power %d of the Laplacian; it must be at least 1", r.Power))
	}
	if r.Scaling < Direct || r.Scaling > PerPair {
		faults = append(faults, fmt.Errorf("models: scaling %v", r.Scaling))
	}
	if r.Laplacian < sparse.Combinatorial || r.Laplacian > sparse.RandomWalk {
		faults = append(faults, fmt.Errorf("models: Laplacian %v", r.Laplacian))
	}
	if r.Laplacian == sparse.RandomWalk {
		faults = append(faults, fmt.Errorf("models: fᵀLᵖf needs a symmetric Laplacian: combinatorial or normalized"))
	}
	if r.Power == 0 {
		r.Power = 1
	}
	return r, errors.Join(faults...)
}
