// Package lanczos computes the smallest eigenpairs of large sparse symmetric
// operators, above all graph Laplacians.
//
// # Method
//
// The method is block Lanczos with thick restarts (Wu & Simon, SIAM J. Matrix Anal. Appl. 22,
// 2000) on a Chebyshev polynomial of the operator that is at least 1 on the wanted end of
// the spectrum and at most 1 in magnitude on the rest (Zhou & Saad, SIAM J. Matrix Anal.
// Appl. 29, 2007). The largest eigenvalue and the cut between wanted and unwanted ones come
// from a stochastic Lanczos estimate of the spectral density; there is nothing to tune.
//
// Every new block is orthogonalized against the whole basis twice, with matrix-matrix products.
// Random directions replace the missing ones of a dependent block, so that invariant subspaces
// and multiple eigenvalues do not stop the process. The null vectors of the components of a
// graph are known beforehand: they are kept apart from the basis and put in front of the
// result.
//
// An ill-conditioned graph (a long path, a tree, a strip, points on a surface) has a low end so
// dense that the polynomial would need a degree beyond 600, or beyond 60 where there is a
// small exact factor. Then the process runs on (L + σI)⁻¹ instead (Ericsson & Ruhe, Math. Comp.
// 35, 1980), for a Laplacian of power 1 without shift and with memory for a factor. Package cg
// solves the systems with that factor or an approximate one. Below the first Ritz values of the
// estimate the spectrum is assumed to grow as λ^α.
//
// Reported residuals and orthogonality are recomputed from the definition.
package lanczos

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/file/mapped"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// ErrNotConverged means that fewer pairs than asked have a residual within the
// tolerance. The Result that comes with it holds the best approximations.
var ErrNotConverged = errors.New("lanczos: not converged")

// Settings of [Solve] and [Laplacian].
type Settings struct {
	// K is the number of eigenpairs, at least 1. More than n means n.
	K int
	// Largest asks for the largest eigenvalues in place of the smallest. They
	// come in descending order.
	Largest bool
	// Tolerance bounds the residuals: ‖Av − λv‖₂ ≤ Tolerance·‖A‖₂. Default
	// 1e-8. Below about 1e-14 it cannot be met.
	Tolerance float64
	// MaxRestarts bounds the number of restarts. Default 60.
	MaxRestarts int
	// Basis is the largest number of basis vectors held, beside those known.
	// Default about 1.75·K, and at least K + 6 blocks.
	Basis int
	// MemoryLimit, if positive, makes the basis smaller than the default where
	// [Bytes] would exceed it. Fewer vectors mean more restarts.
	MemoryLimit int64
	// Seed of the random starting block. Any value, 0 included.
	Seed uint64
	// Known are eigenvectors from an earlier run, the columns of an n×q matrix:
	// of the same operator with a smaller K, or approximate ones. Those that are
	// accurate to the tolerance are kept, the others begin the search. With a tolerance of
	// 1e-3 or more they are refined instead, without the search for eigenvalues that were
	// left out; Certificate.Next is the next Ritz value then.
	Known *mat.Dense
	// OnRestart, if not nil, is called after every block of products, on the
	// calling goroutine. An error stops the run.
	OnRestart func(State) error
	// OnCheckpoint, if not nil, is called after every block. To save each time
	// takes longer than the run itself: see [Snapshot.Looked]. An error stops the
	// run.
	OnCheckpoint func(*Snapshot) error
	// Resume continues the run that made a snapshot and ends with the same bits.
	// The operator and all other settings must be the same; sizes and the settings
	// that the snapshot holds are compared.
	Resume *Snapshot
}

// State describes the progress of a run to OnRestart.
type State struct {
	Restart   int
	Basis     int     // vectors in the basis
	BasisMax  int     // vectors at which the basis is restarted
	Converged int     // pairs estimated to be within the tolerance, when last looked at
	Products  int     // products of the operator with one vector so far
	Residual  float64 // largest estimated residual of the wanted pairs, when last looked at
}

// Certificate describes the search for eigenvalues that were left out.
type Certificate struct {
	// Exact: the whole spectrum was computed.
	Exact bool
	// Next bounds the first eigenvalue that is not in the result from above, as
	// far as the search found: +Inf if there is none or no search was made.
	// Without Exact it comes from a run of the process on the complement of the
	// result, from an independent random block; it is not below the last value
	// of the result by more than the tolerance, unless Missed.
	Next float64
	// Missed: the search found pairs that the first convergence had left out,
	// because an eigenvalue has more copies than the block has vectors. They
	// are in the result, unless it comes with ErrNotConverged.
	Missed bool
}

// Result holds the smallest eigenpairs, ascending.
type Result struct {
	Values    []float64
	Vectors   *mat.Dense // n×k, orthonormal columns
	Residuals []float64  // ‖Av − λv‖₂, recomputed
	// Orthogonality is max |VᵀV − I|, recomputed.
	Orthogonality float64
	// Norm is the estimate of ‖A‖₂, not above it, that the tolerance refers to.
	Norm float64
	// Nullity is the number of exact null vectors put in front ([Laplacian]).
	Nullity     int
	Certificate Certificate
	Degree      int // degree of the filter; 0 for an inverse, or if there was no need for one
	Products    int // products of the operator with one vector
	Restarts    int
	// By names the program that found the pairs; "" for this one.
	By string
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
	Nullity int // exact null vectors, the first of the known ones
	n       int
	known   int    // eigenvectors known beforehand
	wanted  int    // K − known
	block   int    // vectors in a block
	basis   int    // largest number of basis vectors behind the known ones
	scratch string // folder for vectors in place of memory; "" for none
}

// columns returns the number of vectors that a process holds.
func (p *plan) columns() int { return p.known + p.basis + p.block }

// forSearch makes p the plan of a process that only searches for eigenvalues that were left out.
func (p *plan) forSearch() *plan {
	p.block = searchBlock
	p.basis = p.K + 6*searchBlock
	return p
}

// allocate returns an n×columns block of zeros: in memory, or in the scratch folder.
func (p *plan) allocate(columns int) *mat.Dense {
	if p.scratch != "" {
		if x, err := mapped.Scratch(p.scratch, p.n*columns); err == nil {
			return mat.NewDense(p.n, columns, x)
		}
	}
	return dense.New(p.n, columns)
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
		faults = append(faults,
			fmt.Errorf("lanczos: %d eigenpairs asked; the number must be at least 1", p.K))
	}
	if p.Tolerance < 0 || math.IsNaN(p.Tolerance) {
		faults = append(faults, fmt.Errorf("lanczos: tolerance %v; it must not be negative", p.Tolerance))
	}
	if p.Basis < 0 || p.MaxRestarts < 0 || p.MemoryLimit < 0 {
		faults = append(faults, fmt.Errorf("lanczos: basis %d, restarts %d and memory limit %d must "+
			"not be negative", p.Basis, p.MaxRestarts, p.MemoryLimit))
	}

	if s.Known != nil {
		if rows, _ := s.Known.Dims(); rows != n {
			faults = append(faults, fmt.Errorf("lanczos: known vectors of length %d for an operator "+
				"of dimension %d", rows, n))
		}
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
	p.setKnown(0)
	if need := p.bytes(); p.MemoryLimit > 0 && need > p.MemoryLimit {
		return nil, fmt.Errorf("lanczos: %d eigenpairs of dimension %d take at least %d bytes, %d "+
			"are allowed; ask for fewer pairs or allow more", p.K, n, need, p.MemoryLimit)
	}
	return p, nil
}

// setKnown makes p the plan for K − known pairs behind known ones, and chooses block and basis.
func (p *plan) setKnown(known int) {
	p.known = known
	p.wanted = p.K - known
	// A few pairs converge best with a long Krylov sequence of narrow blocks. Many pairs spend
	// their time in matrix products, which run at full speed from 16 and 32 columns on.
	switch {
	case p.wanted >= manyPairs:
		p.block = 32
	case p.wanted >= severalPairs:
		p.block = 16
	default:
		p.block = 8
	}

	// Six blocks beside the wanted vectors let the search for missed pairs take its steps. The
	// default of 1.75 times the wanted pairs balances the cost of orthogonalization, which
	// grows with the basis, against restarts, which become rarer.
	least := p.wanted + 6*p.block
	p.basis = p.Basis
	if p.basis == 0 {
		p.basis = p.wanted + max(p.wanted*3/4, 8*p.block)
	}
	p.basis = (max(p.basis, least) + p.block - 1) / p.block * p.block
	// Whole blocks only; a memory limit takes blocks away, and restarts become more frequent.
	for p.MemoryLimit > 0 && !p.dense() && p.bytes() > p.MemoryLimit && p.basis-p.block >= least {
		p.basis -= p.block
	}
}

// severalPairs is the number of pairs from which wide blocks and a stronger filter are faster.
const severalPairs = 64

// manyPairs is the number of pairs from which orthogonalization costs so much that it must be done
// by wide matrix products.
const manyPairs = 500

// denseLimit is the dimension up to which the dense method is always used: it takes a fraction of a
// second there and depends on no estimate.
const denseLimit = 800

// dense reports whether the whole spectrum is cheaper than the basis.
func (p *plan) dense() bool {
	return p.n <= denseLimit || p.columns() > p.n/2
}

// bytes returns the memory of a run: for the dense method four n×n matrices, otherwise the vectors,
// the blocks of work and four projected matrices.
func (p *plan) bytes() int64 {
	rows := int64(p.n)
	if p.dense() {
		return 8 * 4 * rows * rows
	}
	basis := int64(p.columns())
	return 8 * (rows*(basis+4*int64(p.block)+2*slabWidth) + 4*basis*basis)
}

// Bytes returns the memory that Solve with these settings needs beside an
// operator of dimension n.
func Bytes(n int, s *Settings) (int64, error) {
	p, err := newPlan(n, s)
	if err != nil {
		return 0, err
	}
	return p.bytes(), nil
}

// Solve returns the s.K smallest eigenpairs of a, multiple eigenvalues in full
// multiplicity.
//
// With dimension n, basis m, filter degree δ and block b it holds about
// n(m + 5b) values ([Bytes] is exact) and every b basis vectors cost δ
// products of a with an n×b block and 8nmb operations. [Laplacian] may take an inverse,
// with [cg.FactorBytes] and 72nb beside it if MemoryLimit
// allows them. For n ≤ 800, or if the
// basis would fill half the space, the dense n×n matrix is formed and fully
// decomposed instead.
//
// On [ErrNotConverged] the error comes with the Result reached. On a cancelled
// ctx and on an error from a hook, which is returned as it is, there is none.
func Solve(ctx context.Context, a sparse.Operator, s *Settings) (*Result, error) {
	return solve(ctx, a, nil, s)
}

// solve is Solve with exact null vectors of a, the columns of null.
func solve(ctx context.Context, a sparse.Operator, null *mat.Dense, s *Settings) (*Result, error) {
	p, err := newPlan(a.Dim(), s)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	// The largest eigenvalues of A are the smallest of −A.
	if p.Largest {
		r, err := p.solve(ctx, negated{a}, null)
		if r != nil {
			for j := range r.Values {
				r.Values[j] = -r.Values[j]
			}
			r.Certificate.Next = -r.Certificate.Next
		}
		return r, err
	}

	return p.solve(ctx, a, null)
}

// solve chooses the method: the dense one, a resumed run, refinement of known vectors, or the
// search by the Krylov process.
func (p *plan) solve(ctx context.Context, a sparse.Operator, null *mat.Dense) (*Result, error) {
	if null != nil {
		_, p.Nullity = null.Dims()
		p.setKnown(min(p.Nullity, p.K))
	}
	if p.Nullity < p.K && p.dense() {
		return solveDense(ctx, a, p, null)
	}

	if p.Resume != nil {
		k, err := p.Resume.continued(a, p)
		if err != nil {
			return nil, err
		}
		if r, err := k.run(ctx); !errors.Is(err, errLocked) {
			return r, err
		}
		return p.search(ctx, a, null, false)
	}

	// Rough vectors are refined in place. No result means that refinement did not come to an end.
	if p.Known != nil && p.Tolerance >= refineFrom {
		if r, err := p.refine(ctx, a, null); r != nil || err != nil {
			return r, err
		}
	}

	// The search may find that accurate known vectors are not the smallest; it is made again
	// without locking them then.
	r, err := p.search(ctx, a, null, true)
	if errors.Is(err, errLocked) {
		return p.search(ctx, a, null, false)
	}
	return r, err
}

// errLocked means that eigenvectors given by Settings.Known are accurate, but belong to other
// eigenvalues than the smallest.
var errLocked = errors.New("lanczos: the known eigenvectors are not the smallest")

// search finds the pairs behind the null vectors by the Krylov process. Known vectors begin it;
// with mayLock, accurate known vectors are kept as they are.
func (p *plan) search(ctx context.Context, a sparse.Operator, null *mat.Dense,
	mayLock bool) (*Result, error) {
	p.setKnown(min(p.Nullity, p.K))
	d := estimateDensity(a, null, p.Seed, densitySteps)
	norm := d.norm()
	known := null
	start := (*mat.Dense)(nil)
	if p.Known != nil && p.wanted > 0 {
		// A negative tolerance locks no vector.
		tolerance := p.Tolerance * norm
		if !mayLock {
			tolerance = -1
		}
		known, start = lock(a, null, p.Known, tolerance, p.K)
		if known != nil {
			_, locked := known.Dims()
			p.setKnown(locked)
		}
	}

	// All pairs are known: certify the null vectors, or have a search confirm the locked ones.
	if p.wanted <= 0 {
		first := mat.DenseCopyOf(known.Slice(0, p.n, 0, p.K))
		if p.Nullity >= p.K {
			return certify(a, first, p.K, norm), nil
		}
		return p.confirm(ctx, a, first, d)
	}

	if d.high-d.low <= 1e-13*norm {
		// One eigenvalue on the whole complement: any vectors will do.
		x := mat.NewDense(p.n, p.K, nil)
		rng := rand.New(rand.NewPCG(p.Seed, 0x666c6174)) // "flat"
		w := randomBlock(p.n, p.wanted, rng)
		orthonormalize(w, known, rng)
		if known != nil {
			x.Slice(0, p.n, 0, p.known).(*mat.Dense).Copy(known)
		}
		x.Slice(0, p.n, p.known, p.K).(*mat.Dense).Copy(w)
		r := certify(a, x, p.Nullity, norm)
		r.Certificate.Next = d.low
		return r, nil
	}

	return newKrylov(a, p, d, known, start).run(ctx)
}

// confirm makes a Result of K accurate eigenvectors x that were known, if the search
// for eigenvalues below the last one finds none.
func (p *plan) confirm(ctx context.Context, a sparse.Operator, x *mat.Dense, d density) (*Result, error) {
	p.setKnown(0)
	// Rounding brings back something of x, which the filter must not blow up.
	d.low = min(d.low, slices.Min(quotientsOf(a, x)))
	k := newKrylov(a, p, d, nil, nil)
	k.columns(0, p.K).Copy(x)
	res := certify(a, k.columns(0, p.K), p.Nullity, k.norm)
	found, err := k.missed(ctx, res, []float64{k.f.value(res.Values[p.K-1])})
	switch {
	case err != nil:
		return nil, err
	case found:
		return nil, errLocked
	}

	res.Degree = k.f.degree
	k.release(res)
	return res, nil
}

// lock splits given, approximate eigenvectors, in two: vectors that are accurate to tolerance,
// which it puts behind the null vectors, orthonormal, and the others, which it returns as start. At
// most k vectors are locked. They may belong to other eigenvalues than the smallest.
func lock(a sparse.Operator, null, given *mat.Dense, tolerance float64, k int) (locked, start *mat.Dense) {
	n, _ := given.Dims()
	x := mat.DenseCopyOf(given)
	if null != nil {
		project(x, null)
	}
	norms := columnNorms(x)
	scaleColumns(x, norms)
	res := residuals(a, x, func(int, []float64) {})
	var good, rest []int
	nullity := 0
	if null != nil {
		_, nullity = null.Dims()
	}

	// A vector that loses more than half of its length to the null vectors is one of them.
	for j, r := range res {
		switch {
		case !(norms[j] > 0.5): // a null vector, or nothing
		case r <= tolerance/2 && nullity+len(good) < k:
			good = append(good, j)
		default:
			rest = append(rest, j)
		}
	}

	if len(rest) > 0 {
		start = pick(x, rest)
	}
	if nullity+len(good) == 0 {
		return nil, start
	}
	v := mat.NewDense(n, nullity+len(good), nil)
	if null != nil {
		v.Slice(0, n, 0, nullity).(*mat.Dense).Copy(null)
	}

	// Locked vectors are never touched again, so they must be orthonormal to working accuracy.
	if len(good) > 0 {
		w := pick(x, good)
		if _, rank, err := dense.CholQR(w); err != nil || rank < len(good) {
			// Repeated vectors allow no certain conclusion.
			return null, x
		}
		v.Slice(0, n, nullity, nullity+len(good)).(*mat.Dense).Copy(w)
		if orthogonality(v) > 1e-12 {
			return null, x
		}
	}

	return v, start
}

// pick copies some columns of x.
func pick(x *mat.Dense, columns []int) *mat.Dense {
	n, _ := x.Dims()
	out := mat.NewDense(n, len(columns), nil)
	for i := range n {
		from := x.RawRowView(i)
		to := out.RawRowView(i)
		for j, c := range columns {
			to[j] = from[c]
		}
	}
	return out
}

// negated is the operator −A.
type negated struct{ a sparse.Operator }

func (o negated) Dim() int { return o.a.Dim() }

func (o negated) MulTo(dst, x *mat.Dense) {
	o.a.MulTo(dst, x)
	dst.Scale(-1, dst)
}

func (o negated) RecurTo(dst *mat.Dense, alpha float64, x *mat.Dense, beta, gamma float64, y *mat.Dense) {
	recurrer(o.a).RecurTo(dst, -alpha, x, beta, gamma, y)
}

// ConvergedPairs returns the number of pairs, from the first one on, within the
// tolerance relative to Norm.
func (r *Result) ConvergedPairs(tolerance float64) int {
	for j, v := range r.Residuals {
		if !(v <= tolerance*r.Norm) {
			return j
		}
	}
	return len(r.Residuals)
}

// KeepConverged cuts r, the smallest or largest pairs, down to its first pairs within the
// tolerance, and drops pairs beyond an eigenvalue that was missed. It reports whether any are left.
func (r *Result) KeepConverged(tolerance float64, largest bool) bool {
	sign := 1.0
	if largest {
		sign = -1
	}
	k := r.ConvergedPairs(tolerance)
	for k > 0 && sign*(r.Values[k-1]-r.Certificate.Next) > 2*tolerance*r.Norm {
		k--
	}
	if k == 0 || k == len(r.Values) {
		return k > 0
	}

	// The first pair that is cut away is the next eigenvalue that the result leaves out.
	if sign*(r.Values[k]-r.Certificate.Next) < 0 {
		r.Certificate.Next = r.Values[k]
	}
	// Move the rows together: the vectors keep their memory.
	r.Values = r.Values[:k]
	r.Residuals = r.Residuals[:k]
	r.Nullity = min(r.Nullity, k)
	n, _ := r.Vectors.Dims()
	raw := r.Vectors.RawMatrix()
	for i := range n {
		copy(raw.Data[i*k:(i+1)*k], raw.Data[i*raw.Stride:i*raw.Stride+k])
	}
	r.Vectors = mat.NewDense(n, k, raw.Data[:n*k])
	return true
}

// String describes the state in one line.
func (s State) String() string {
	return fmt.Sprintf("basis %d of %d, restart %d, %d converged", s.Basis, s.BasisMax, s.Restart,
		s.Converged)
}

// String summarizes the result in one line.
func (r *Result) String() string {
	relative := 0.0
	if r.Norm > 0 {
		relative = r.MaxResidual() / r.Norm
	}
	return fmt.Sprintf("%d pairs up to λ = %.4g, residual %.1e·‖A‖, orthogonality %.1e, %d products",
		len(r.Values), r.Values[len(r.Values)-1], relative, r.Orthogonality, r.Products)
}

// Operations estimates the floating-point operations of Solve for an operator of dimension n with
// nnz entries, counted as operations of float64 matrix products: two passes of orthogonalization
// for a basis, and filtered products, which run at memory speed and count fivefold.
func Operations(n, nnz int, s *Settings) float64 {
	p, err := newPlan(n, s)
	if err != nil {
		return 0
	}

	m := float64(p.basis)
	rows := float64(n)
	if p.dense() {
		return 10 * rows * rows * rows
	}

	// A usual degree of the filter; it is chosen from the density, which is not known here.
	const degree = 15
	return 4*rows*m*m + 5*2*degree*m*float64(nnz) + 2*rows*m*float64(p.K)
}
