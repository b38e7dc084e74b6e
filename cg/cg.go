package cg

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// Settings of [Solve]. The zero value of every field is its default.
type Settings struct {
	// Tolerance bounds the relative residuals: ‖b_j − A·x_j‖₂ ≤ Tolerance·‖b_j‖₂
	// for every column j. Default 1e-8. About 1e-16·‖A‖·‖x_j‖/‖b_j‖ can be reached.
	Tolerance float64
	// MaxIterations bounds the iterations for a block of columns. Default
	// 10,000.
	MaxIterations int
	// Preconditioner, nil for none.
	Preconditioner Preconditioner
	// Start is a first approximation of X, n×m. Default zero.
	Start *mat.Dense
	// Null are orthonormal null vectors of A, the columns of an n×q matrix. The
	// solution is orthogonal to them. A right-hand side that is not gives a
	// [*NullComponentError] unless Project is set.
	Null *mat.Dense
	// Project takes from B its components along the null vectors. The tolerance
	// then refers to the rest of B.
	Project bool
	// Norm, if positive, is a bound on ‖A‖₂. With it a column that is not within the tolerance because of
	// rounding gives a [*RoundingError]. [Laplacian] knows it.
	Norm float64
	// Block is the largest number of columns that are solved together. Default
	// 16.
	Block int
	// MemoryLimit, if positive, makes Block smaller than the default where
	// [Bytes] would exceed it.
	MemoryLimit int64
	// OnIteration, if not nil, is called after every iteration, on the calling
	// goroutine. An error stops the run.
	OnIteration func(State) error
	// External, if not nil, is a solver in another program, which replaces the iterations of this
	// package. It returns X, n×m, for right-hand sides without components along null vectors, and
	// its number of iterations. The residuals are computed here. An error is returned as it is,
	// without a Result. Preconditioner and Start do not count.
	External func(ctx context.Context, b *mat.Dense) (x *mat.Dense, iterations int, err error)
}

// State describes the progress of a run to OnIteration.
type State struct {
	Iteration int     // in this block of columns
	From, To  int     // the columns in the block
	Columns   int     // columns of B
	Converged int     // columns estimated to be within the tolerance, of all
	Residual  float64 // largest estimated relative residual of the block
	Products  int     // products of the operator with one vector so far
}

// String describes the state in one line.
func (s State) String() string {
	return fmt.Sprintf("iteration %d, residual %.1e, %d of %d columns", s.Iteration, s.Residual, s.Converged,
		s.Columns)
}

// Result is a solution, or with an error the last iterate.
type Result struct {
	X *mat.Dense // n×m
	// Residuals are ‖b_j − A·x_j‖₂/‖b_j‖₂, recomputed from the definition; 0 for
	// a zero column.
	Residuals []float64
	// Iterations until column j was within the tolerance; all of its block's if it
	// never was.
	Iterations []int
	// Cycles is the largest number of cycles that a block took: 1 unless residuals
	// had to be corrected, 0 without iterations.
	Cycles   int
	Products int // products of the operator with one vector
	// Method is the preconditioner that [Laplacian] used.
	Method Method
}

// MaxResidual returns the largest residual.
func (r *Result) MaxResidual() float64 {
	var m float64
	for _, v := range r.Residuals {
		m = math.Max(m, v) // math.Max keeps NaN
	}
	return m
}

// MaxIterations returns the largest number of iterations of a column.
func (r *Result) MaxIterations() int {
	most := 0
	for _, v := range r.Iterations {
		most = max(most, v)
	}
	return most
}

// String summarizes the result in one line.
func (r *Result) String() string {
	return fmt.Sprintf("%d right-hand sides, residual %.1e, %d iterations, %d products", len(r.Residuals),
		r.MaxResidual(), r.MaxIterations(), r.Products)
}

// plan is Settings with everything filled in for one system.
type plan struct {
	Settings
	n, cols int
	core    *reduced // to be solved on first, if not nil; Preconditioner serves the whole system
}

func newPlan(n, m int, s *Settings) (*plan, error) {
	p := &plan{n: n, cols: m}
	if s != nil {
		p.Settings = *s
	}
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("cg: "+format, args...)) }
	if n < 1 {
		fault("the operator has dimension 0")
	}
	if p.Tolerance < 0 || p.Tolerance >= 1 || math.IsNaN(p.Tolerance) {
		fault("tolerance %v; it must lie in [0, 1)", p.Tolerance)
	}
	if p.MaxIterations < 0 || p.Block < 0 || p.MemoryLimit < 0 {
		fault("iterations %d, block %d and memory limit %d must not be negative", p.MaxIterations, p.Block,
			p.MemoryLimit)
	}

	if p.Norm < 0 || math.IsNaN(p.Norm) {
		fault("norm %v; it must not be negative", p.Norm)
	}
	if x := p.Start; x != nil {
		if rows, cols := x.Dims(); rows != n || cols != m {
			fault("the start is %d×%d, the solution %d×%d", rows, cols, n, m)
		} else if i, j, bad := firstNotFinite(x); bad {
			fault("row %d, column %d of the start is %v", i, j, x.At(i, j))
		}
	}

	if p.Null != nil {
		if err := checkOrthonormal(n, p.Null); err != nil {
			faults = append(faults, err)
		}
	}

	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if p.Tolerance == 0 {
		p.Tolerance = 1e-8
	}
	if p.MaxIterations == 0 {
		p.MaxIterations = 10000
	}

	// Sixteen columns fill the registers of the products; a limit on memory halves them.
	if p.Block == 0 {
		p.Block = 16
		for p.MemoryLimit > 0 && p.Block > 1 && p.bytes() > p.MemoryLimit {
			p.Block /= 2
		}
	}

	p.Block = min(p.Block, max(m, 1))
	if need := p.bytes(); p.MemoryLimit > 0 && need > p.MemoryLimit {
		return nil, fmt.Errorf("cg: %d right-hand sides of dimension %d take at least %d bytes, %d "+
			"are allowed; solve fewer at a time or allow more", m, n, need, p.MemoryLimit)
	}
	return p, nil
}

// bytes counts the solution, the projected right-hand sides, five blocks of the iteration and two
// of a preconditioner.
func (p *plan) bytes() int64 {
	blocks := int64(p.cols) + 7*int64(min(p.Block, max(p.cols, 1)))
	if p.Null != nil {
		blocks += int64(p.cols)
	}
	return 8 * int64(p.n) * blocks
}

// Bytes estimates the memory that Solve takes for an operator of dimension n and m
// right-hand sides, without the operator, the matrices in the settings and the
// preconditioner.
func Bytes(n, m int, s *Settings) (int64, error) {
	p, err := newPlan(n, m, s)
	if err != nil {
		return 0, err
	}
	return p.bytes(), nil
}

// checkOrthonormal returns an error unless the null vectors, the columns of v,
// have n elements and are orthonormal to 1e-8.
func checkOrthonormal(n int, v *mat.Dense) error {
	rows, k := v.Dims()
	if rows != n {
		return fmt.Errorf("cg: null vectors of length %d for an operator of dimension %d", rows, n)
	}
	g := gram(v, v)
	for i := range k {
		for j := range k {
			want := 0.0
			if i == j {
				want = 1
			}
			if !(math.Abs(g.At(i, j)-want) <= 1e-8) {
				return fmt.Errorf("cg: the null vectors are not orthonormal: the product of %d and %d is %v",
					i, j, g.At(i, j))
			}
		}
	}

	return nil
}

// Solve finds X with ‖b_j − A·x_j‖₂ ≤ Tolerance·‖b_j‖₂ for every column j of B
// (n×m), where A is symmetric and positive definite, or semidefinite and its null
// vectors are in the settings.
//
// B is not modified. A zero column yields a zero column in zero iterations.
// Columns are solved in blocks of Settings.Block; one that has converged goes on
// to improve while others of its block have not. An iteration for a block of b
// columns costs a product of A and one of M⁻¹ with an n×b block, and 14nb²
// operations; Solve holds five such blocks ([Bytes]).
//
// On [ErrNotConverged], which a [*RoundingError] is too, a [*BreakdownError], a cancelled ctx and an error from a
// hook the Result holds the last iterate with its recomputed residuals; on
// invalid input it is nil. A nil s means the defaults.
//
// O'Leary, Linear Algebra Appl. 29 (1980), 293–322; Dubrulle, ETNA 12 (2001),
// 216–233, algorithm BCGrQ.
func Solve(ctx context.Context, a sparse.Operator, b *mat.Dense, s *Settings) (*Result, error) {
	p, err := newPlan(a.Dim(), b.RawMatrix().Cols, s)
	if err != nil {
		return nil, err
	}
	if p.Null == nil {
		p.core, _ = p.Preconditioner.(*reduced)
		return solve(ctx, a, b, p, nil)
	}
	return solve(ctx, a, b, p, &denseNull{p.Null})
}
