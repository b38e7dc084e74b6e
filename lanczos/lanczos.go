// Package lanczos computes the smallest eigenpairs of large sparse symmetric
// operators, above all graph Laplacians.
//
// The method is block Lanczos with thick restarts (Wu & Simon, SIAM J. Matrix
// Anal. Appl. 22, 2000) on a Chebyshev polynomial of the operator that is large
// on the wanted end of the spectrum and at most 1 on the rest (Zhou & Saad,
// SIAM J. Matrix Anal. Appl. 29, 2007). Every new block is orthogonalized
// against the whole basis twice, with matrix-matrix products. The end of the
// spectrum and the cut between wanted and unwanted come from a stochastic
// Lanczos estimate of the spectral density; there is nothing to tune.
//
// Reported residuals and orthogonality are recomputed from the definition.
package lanczos

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// ErrNotConverged means that fewer pairs than asked have a residual within the
// tolerance. The Result that comes with it holds the best approximations.
var ErrNotConverged = errors.New("lanczos: not converged")

// Settings of [Solve] and [Laplacian].
type Settings struct {
	// K is the number of eigenpairs, at least 1. More than n means n.
	K int
	// Tolerance bounds the residuals: ‖Av − λv‖₂ ≤ Tolerance·‖A‖₂. Default
	// 1e-8.
	Tolerance float64
	// MaxRestarts bounds the number of restarts. Default 60.
	MaxRestarts int
	// Basis is the largest number of basis vectors held. Default about
	// 1.75·K, and at least K + 6 blocks.
	Basis int
	// Seed of the random starting block. Any value, 0 included.
	Seed uint64
	// OnRestart, if not nil, is called after every block of products, on the
	// calling goroutine. An error stops the run.
	OnRestart func(State) error
}

// State is what OnRestart is told.
type State struct {
	Restart   int
	Basis     int     // vectors in the basis
	BasisMax  int     // vectors at which the basis is restarted
	Converged int     // pairs estimated to be within the tolerance, at the last restart
	Products  int     // products of the operator with one vector so far
	Residual  float64 // largest estimated residual of the wanted pairs, at the last restart
}

// Result holds the smallest eigenpairs, ascending.
type Result struct {
	Values    []float64
	Vectors   *mat.Dense // n×k, orthonormal columns
	Residuals []float64  // ‖Av − λv‖₂, recomputed
	// Orthogonality is max |VᵀV − I|, recomputed.
	Orthogonality float64
	// Norm is the bound on ‖A‖₂ that the tolerance refers to.
	Norm float64
	// Nullity is the number of exact null vectors put in front ([Laplacian]).
	Nullity  int
	Degree   int // degree of the filter; 0 if the dense method was used
	Products int // products of the operator with one vector
	Restarts int
}

// MaxResidual returns the largest residual.
func (r *Result) MaxResidual() float64 {
	var m float64
	for _, v := range r.Residuals {
		m = math.Max(m, v) // math.Max keeps NaN
	}
	return m
}

// plan is Settings with everything filled in for one operator.
type plan struct {
	Settings
	n, block int
}

func newPlan(n int, s *Settings) (*plan, error) {
	if s == nil {
		return nil, errors.New("lanczos: settings must name the number of eigenpairs")
	}
	p := &plan{Settings: *s, n: n}
	var faults []error
	if n < 1 {
		faults = append(faults, errors.New("lanczos: the operator has dimension 0"))
	}
	if p.K < 1 {
		faults = append(faults, fmt.Errorf("lanczos: %d eigenpairs asked; the number must be at least 1", p.K))
	}
	if p.Tolerance < 0 || math.IsNaN(p.Tolerance) {
		faults = append(faults, fmt.Errorf("lanczos: tolerance %v; it must not be negative", p.Tolerance))
	}
	if p.Basis < 0 || p.MaxRestarts < 0 {
		faults = append(faults, fmt.Errorf("lanczos: basis %d and restarts %d must not be negative", p.Basis, p.MaxRestarts))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	p.K = min(p.K, n)
	if p.Tolerance == 0 {
		p.Tolerance = 1e-8
	}
	if p.MaxRestarts == 0 {
		p.MaxRestarts = 60
	}
	// Few pairs want a long Krylov sequence, many want matrix products that are
	// not narrow.
	switch {
	case p.K >= 500:
		p.block = 32
	case p.K >= 64:
		p.block = 16
	default:
		p.block = 8
	}
	if p.Basis == 0 {
		p.Basis = p.K + p.K*3/4
	}
	p.Basis = max(p.Basis, p.K+6*p.block)
	p.Basis = (p.Basis + p.block - 1) / p.block * p.block
	return p, nil
}

// denseLimit is the dimension up to which the dense method is always used.
const denseLimit = 800

// dense reports whether the whole spectrum is cheaper than the basis.
func (p *plan) dense() bool {
	return p.n <= denseLimit || p.Basis+p.block > p.n/2
}

// Bytes returns the memory that Solve with these settings needs beside an
// operator of dimension n.
func Bytes(n int, s *Settings) (int64, error) {
	p, err := newPlan(n, s)
	if err != nil {
		return 0, err
	}
	rows := int64(n)
	if p.dense() {
		return 8 * 4 * rows * rows, nil
	}
	basis := int64(p.Basis + p.block)
	return 8 * (rows*(basis+int64(p.K)+5*int64(p.block)) + 4*basis*basis), nil
}

// Solve returns the s.K smallest eigenpairs of a.
//
// With dimension n, basis m, filter degree δ and block b it holds about
// n(m + k + 5b) values ([Bytes] says exactly) and every b basis vectors cost δ
// products of a with an n×b block and 8nmb operations. For n ≤ 800, or if the
// basis would fill half the space, the dense n×n matrix is formed and fully
// decomposed instead.
//
// On [ErrNotConverged], a cancelled ctx or an error from OnRestart the error
// comes with the Result reached, nil if there is none yet.
func Solve(ctx context.Context, a sparse.Operator, s *Settings) (*Result, error) {
	return solve(ctx, a, nil, s)
}

// solve is Solve with known null vectors of a, the columns of null.
func solve(ctx context.Context, a sparse.Operator, null *mat.Dense, s *Settings) (*Result, error) {
	p, err := newPlan(a.Dim(), s)
	if err != nil {
		return nil, err
	}
	known := 0
	if null != nil {
		_, known = null.Dims()
	}
	if known >= p.K {
		x := mat.DenseCopyOf(null.Slice(0, p.n, 0, p.K))
		return certify(a, x, p.K, spectrumBound(a, p, null)), nil
	}
	if p.dense() {
		return solveDense(a, null, p)
	}
	k, err := newKrylov(ctx, a, null, p)
	if err != nil {
		return nil, err
	}
	return k.run(ctx)
}

// String says in a few words how far the run is.
func (s State) String() string {
	return fmt.Sprintf("basis %d of %d, restart %d, %d converged", s.Basis, s.BasisMax, s.Restart, s.Converged)
}

// String says in a few words what was computed and how well.
func (r *Result) String() string {
	return fmt.Sprintf("%d pairs up to λ = %.4g, residual %.1e·‖A‖, orthogonality %.1e, %d products",
		len(r.Values), r.Values[len(r.Values)-1], r.MaxResidual()/r.Norm, r.Orthogonality, r.Products)
}

// Operations returns a rough number of floating-point operations of Solve for an
// operator of dimension n with nnz entries, in float64 matrix products: two
// passes of orthogonalization for a basis, and filtered products, which run at
// memory speed and count fivefold.
func Operations(n, nnz int, s *Settings) float64 {
	p, err := newPlan(n, s)
	if err != nil {
		return 0
	}
	m, rows := float64(p.Basis), float64(n)
	if p.dense() {
		return 10 * rows * rows * rows
	}
	const degree = 20
	return 4*rows*m*m + 5*2*degree*m*float64(nnz) + 2*rows*m*float64(p.K)
}
