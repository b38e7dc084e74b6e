// Package regularizer holds the two norms of manifold regularization and their weights γ_A and
// γ_I, for all families of learners that use them.
package regularizer

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// There is one convention for γ_A and γ_I, [Regularizer]; the scaling of the 2006 paper is a
// setting.

// SolvePositive overwrites b with h⁻¹b and h with its factor. A cancelled ctx is an error.
func SolvePositive(ctx context.Context, h, b *mat.Dense, r Regularizer) error {
	if err := dense.Cholesky(ctx, h); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
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
	// PerEdge is γ_I/Σ W_ij·fᵀLᵖf: the sum of the weights of the graph, each edge twice,
	// takes the place of (l+u)². The 2006 paper offers it for sparse graphs below equation
	// (4). It does not depend on the number of points. With the combinatorial Laplacian and
	// p = 1 it does not depend on the scale of the weights either.
	PerEdge
)

var scalings = enum.New[Scaling]("scaling", "direct", "per-pair", "per-edge")

// String returns the name used on the command line and in manifests.
func (s Scaling) String() string { return scalings.String(s) }

// MarshalText returns the name.
func (s Scaling) MarshalText() ([]byte, error) { return scalings.Marshal(s) }

// UnmarshalText is the inverse of MarshalText.
func (s *Scaling) UnmarshalText(text []byte) error { return scalings.Unmarshal(s, text) }

// Regularizer holds the weights of the two norms of manifold regularization. With a loss V on
// the l labeled of n points, a model minimizes over f
//
//	1/l Σ V(f(x_i), y_i) + γ_A ‖f‖² + γ_I s fᵀLᵖf
//
// with s = 1, 1/n² or 1/Σ W_ij (see [Scaling]), ‖f‖ the norm of the space of functions and
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

// Params are the parameters of a [Regularizer].
var Params = models.Table[Regularizer]{
	{Param: models.Param{Name: "gamma-a", Doc: "weight γ_A of the ambient norm", Required: true,
		Range: models.Positive(), Axis: true, Grid: gammaAGrid, Few: "0.01"},
		At: func(r *Regularizer) any { return &r.GammaA }},
	{Param: models.Param{Name: "gamma-i",
		Doc: "weight γ_I of the intrinsic norm fᵀLᵖf; 0 leaves the graph out", Required: true,
		Range: models.NotNegative(), Axis: true, Grid: gammaIGrid, Few: "0.0001"},
		At: func(r *Regularizer) any { return &r.GammaI }},
	{Param: models.Param{Name: "power", Doc: "power p of the Laplacian in fᵀLᵖf", Default: "1",
		Range: models.AtLeast(1), Axis: true, Smaller: true, Only: &models.Condition{Param: "gamma-i"}},
		At: func(r *Regularizer) any { return &r.Power }},
	{Param: models.Param{Name: "scaling", Doc: "take γ_I as it is, or divided by the square of the " +
		"number of points, or by the sum Σ W_ij of the weights of the graph", Default: "direct",
		Choices: scalings.All(), Only: &models.Condition{Param: "gamma-i"}},
		At: func(r *Regularizer) any { return &r.Scaling }},
	{Param: models.Param{Name: "laplacian", Doc: "definition of the Laplacian L: combinatorial is D − W; " +
		"normalized is I − D^-½WD^-½, with which the experiments of the 2006 paper were made", Default: "combinatorial",
		Choices: []string{"combinatorial", "normalized"}, Why: "fᵀLᵖf needs a symmetric Laplacian",
		Only: &models.Condition{Param: "gamma-i"}}, At: func(r *Regularizer) any { return &r.Laplacian }},
}

// The grids of the weights suit kernels with values of about 1 and graphs with weights of
// about 1. The loss is a mean over the labels, so γ_A does not depend on their number. fᵀLᵖf
// is a sum over the edges, so the best γ_I is smaller for more points.
var (
	gammaAGrid = []string{"1e-06", "0.0001", "0.01", "1"}
	gammaIGrid = []string{"1e-06", "0.0001", "0.01", "1"}
)

// Ambient lists the parameters of a model without an intrinsic norm.
var Ambient = Params[:1]

// Intrinsic returns γ_I·s, the factor of fᵀLᵖf, for the n points of l. Only PerEdge looks at
// l, at the cost of O(n). Without edges it returns 0, as fᵀLᵖf is 0 too.
func (r Regularizer) Intrinsic(n int, l *sparse.Laplacian) float64 {
	var volume float64
	if r.GammaI > 0 && r.Scaling == PerEdge {
		volume = floats.Sum(l.Degrees())
	}
	return r.IntrinsicOf(n, volume)
}

// IntrinsicOf is [Regularizer.Intrinsic] for n points; volume is the sum of their degrees.
func (r Regularizer) IntrinsicOf(n int, volume float64) float64 {
	switch {
	case r.GammaI == 0:
		return 0
	case r.Scaling == PerPair:

		return r.GammaI / float64(n) / float64(n)
	case r.Scaling == PerEdge && volume > 0:
		return r.GammaI / volume
	case r.Scaling == PerEdge:
		// Without edges fᵀLᵖf is 0, and 1/volume would be infinite.
		return 0
	}

	return r.GammaI
}

// Describe names the weights in a few words.
func (r Regularizer) Describe() string {
	text := fmt.Sprintf("γ_A = %g", r.GammaA)
	if r.GammaI > 0 {
		text += fmt.Sprintf(", γ_I = %g (%v, %v Laplacian", r.GammaI, r.Scaling, r.Laplacian)
		if r.Power > 1 {
			text += fmt.Sprintf(" to the power %d", r.Power)
		}
		text += ")"
	}
	return text
}

// Fill returns r with its defaults, or all faults at once.
func (r Regularizer) Fill() (Regularizer, error) {
	err := Params.Check(&r)
	if r.Power == 0 {
		r.Power = 1
	}
	return r, err
}
