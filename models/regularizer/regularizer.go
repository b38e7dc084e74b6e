// Package regularizer holds the two norms of manifold regularization and their weights γ_A and
// γ_I, for all families of learners that use them.
package regularizer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

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
	// Coefficients, if there are any, are the c_p of the intrinsic norm fᵀr(L)f with r(λ) = Σ_p c_p λᵖ in
	// place of fᵀLᵖf: powers of the Laplacian and their linear combinations (Belkin, Niyogi & Sindhwani
	// 2006, Remark 1 of section 2.2), and with c₀ > 0 and c₁ = 1 the regularized Laplacian, whose kernel
	// has the eigenvalues 1/(λ + c₀) (Belkin & Niyogi 2004, section 7.1). They must be finite and not
	// negative, and one of them positive; Power must be 1. See [sparse.Polynomial].
	Coefficients []float64 `json:"coefficients,omitempty"`
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
	{Param: models.Param{Name: "penalty-coefficients",
		Doc:     "c₀,c₁,c₂,… of the intrinsic norm fᵀr(L)f, r(λ) = c₀ + c₁λ + c₂λ² + …, in place of fᵀLᵖf",
		Default: "none: fᵀLᵖf", Range: models.NotNegative(), Only: &models.Condition{Param: "gamma-i"}},
		At: func(r *Regularizer) any { return &r.Coefficients }},
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
		switch {
		case r.Coefficients != nil:
			text += ", r(L) = " + polynomialText(r.Coefficients)
		case r.Power > 1:
			text += fmt.Sprintf(" to the power %d", r.Power)
		}
		text += ")"
	}
	return text
}

// polynomialText writes Σ c_p Lᵖ.
func polynomialText(c []float64) string {
	var terms []string
	for p, v := range c {
		switch {
		case v == 0:
		case p == 0:
			terms = append(terms, fmt.Sprintf("%g", v))
		case p == 1:
			terms = append(terms, fmt.Sprintf("%g·L", v))
		default:
			terms = append(terms, fmt.Sprintf("%g·L^%d", v, p))
		}
	}
	return strings.Join(terms, " + ")
}

// Fill returns r with its defaults and a copy of its coefficients, or all faults at once. With γ_I = 0
// what else r says of the intrinsic norm does not matter, and is dropped.
func (r Regularizer) Fill() (Regularizer, error) {
	err := errors.Join(Params.Check(&r), r.CheckNorm())
	if r.GammaI == 0 {
		return Regularizer{GammaA: r.GammaA, Power: 1}, err
	}
	r.Power = max(r.Power, 1)
	r.Coefficients = slices.Clone(r.Coefficients)
	return r, err
}

// CheckNorm returns the faults of r(L) that no single parameter shows.
func (r Regularizer) CheckNorm() error {
	if r.Coefficients == nil {
		return nil
	}
	var faults []error
	if r.Power > 1 {
		faults = append(faults, &models.ParamError{Name: "power", Value: strconv.Itoa(r.Power),
			Must: "1 with penalty-coefficients"})
	}
	if !slices.ContainsFunc(r.Coefficients, func(c float64) bool { return c > 0 }) {
		faults = append(faults, &models.ParamError{Name: "penalty-coefficients",
			Value: models.FormatFloats(r.Coefficients), Must: "numbers of which one is positive"})
	}
	return errors.Join(faults...)
}

// Norm returns r(L) for the graph of l, the power and the shift of which do not matter: Lᵖ, or Σ c_p Lᵖ.
func (r Regularizer) Norm(l *sparse.Laplacian) (sparse.Operator, error) {
	if r.Coefficients != nil {
		return sparse.NewPolynomial(l, r.Coefficients)
	}
	return l.With(max(r.Power, 1), 0), nil
}

// Weights returns the coefficients of r(λ) = Σ_p c_p λᵖ, which are 0 and one 1 for Lᵖ.
func (r Regularizer) Weights() []float64 {
	if r.Coefficients != nil {
		return r.Coefficients
	}
	c := make([]float64, max(r.Power, 1)+1)
	c[len(c)-1] = 1
	return c
}

// At returns r(λ).
func (r Regularizer) At(lambda float64) float64 {
	if r.Coefficients == nil {
		return math.Pow(lambda, float64(max(r.Power, 1)))
	}
	var sum float64
	for _, c := range slices.Backward(r.Coefficients) {
		sum = sum*lambda + c
	}
	return sum
}

// Degree returns the number of passes over the graph that a product with r(L) takes.
func (r Regularizer) Degree() int {
	c := r.Weights()
	p := len(c) - 1
	for p > 0 && c[p] == 0 {
		p--
	}
	return p
}

// SameNorm tells whether r and other have the same r(L) for every graph.
func (r Regularizer) SameNorm(other Regularizer) bool {
	return r.Laplacian == other.Laplacian && slices.Equal(r.Weights(), other.Weights())
}

// DescribeNorm names r(L).
func (r Regularizer) DescribeNorm() string {
	if r.Coefficients != nil {
		return fmt.Sprintf("r(L) = %s of the %v Laplacian", polynomialText(r.Coefficients), r.Laplacian)
	}
	return fmt.Sprintf("power %d of the %v Laplacian", max(r.Power, 1), r.Laplacian)
}
