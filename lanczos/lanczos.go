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
// Every new block is orthogonalized against the two blocks before it and then against the whole basis, with
// matrix-matrix products: against the basis once, and twice where more than rounding is left.
// Random directions replace the missing ones of a dependent block, so that invariant subspaces
// and multiple eigenvalues do not stop the process. The null vectors of the components of a
// graph are known beforehand: they are kept apart from the basis and put in front of the
// result.
//
// An ill-conditioned graph (a long path, a tree, a strip, points on a surface) has a low end so
// dense that the polynomial would need a degree beyond 600, or beyond 50 where there is a
// small exact factor. Then the process runs on (L + σI)⁻¹ instead (Ericsson & Ruhe, Math. Comp.
// 35, 1980), for a Laplacian of power 1 without shift and with memory for a factor. Package cg
// solves the systems with that factor or an approximate one. Below the first Ritz values of the
// estimate the spectrum is assumed to grow as λ^α. Few pairs of a large graph, up to about 28, need no solutions: LOBPCG
// (Knyazev, SIAM J. Sci. Comput. 23, 2001) applies the factor once a step to each vector. With an exact
// factor the inertia of a shifted matrix then counts the eigenvalues, in place of a search for missed ones.
//
// Reported residuals and orthogonality are recomputed from the definition.
package lanczos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

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
	// MaxRestarts bounds the number of restarts. Default 60. LOBPCG takes steps in place of restarts, ten for
	// each.
	MaxRestarts int
	// DescentFrom is the number of vertices from which few pairs by an inverse are found by LOBPCG, without
	// snapshots, and by a Krylov process below it. Default 50,000: smaller graphs take seconds either way.
	DescentFrom int
	// Basis is the largest number of basis vectors held, beside those known.
	// Default about 1.75·K, of 500 pairs and more 1.9·K, and at least K + 6 blocks.
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
	// Rough asks for vectors near the span of the eigenvectors in place of eigenpairs, in one pass: Values are
	// their Rayleigh quotients, residuals say how near they are, and Tolerance is not met. It is ignored of operators
	// that are no Laplacian of power 1.
	Rough bool
	// Single keeps vectors in float32, in half of the memory: the basis of the process and [Result.Single]. Polynomials
	// of a Laplacian of power 1 are applied in float32 too, as long as their rounding is expected to stay within Tolerance:
	// up to the degree 20 at 1e-6. A product then reads half of the bytes. If residuals end above Tolerance all the same, the run
	// begins anew with polynomials in float64. Projected matrices and residuals are of float64, so values are as good as
	// residuals say. Rounding leaves residuals of up to some 1e-6·‖A‖: Tolerance is 1e-6 by default, 2e-7 at least.
	// Known and Rough are refused. LOBPCG is not used: the process runs on the inverse instead.
	Single bool
	// OnRestart, if not nil, is called after every block of products, on the
	// calling goroutine. An error stops the run.
	OnRestart func(State) error
	// OnCheckpoint, if not nil, is called after every block. To save each time
	// takes longer than the run itself: see [Snapshot.Looked]. An error stops the
	// run. LOBPCG, of seconds to minutes, has no snapshots: see DescentFrom.
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
	Rough     bool    // vectors of [Settings.Rough], of which none has to converge
}

// Solve returns the s.K smallest eigenpairs of a, multiple eigenvalues in full
// multiplicity.
//
// With dimension n, basis m, filter degree δ and block b it holds about
// n(m + 3b) values, those of the basis of 4 bytes with s.Single ([Bytes] is exact), and every b basis vectors cost δ
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
	l, ok := a.(*sparse.Laplacian)
	p.narrow = p.narrow && ok && l.Power() == 1
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

	if p.Rough {
		if r, err := p.rough(ctx, a, null); r != nil || err != nil {
			return r, err
		}
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
			return certify(a, p.stored(first), p.K, norm, nil), nil
		}
		return p.confirm(ctx, a, first, d)
	}

	if d.high-d.low <= 1e-13*norm {
		// One eigenvalue on the whole complement: any vectors will do.
		x := dense.New(p.n, p.K)
		rng := rand.New(rand.NewPCG(p.Seed, 0x666c6174)) // "flat"
		w := randomBlock(p.n, p.wanted, rng)
		orthonormalize(w, wide(known), rng)
		if known != nil {
			x.Slice(0, p.n, 0, p.known).(*mat.Dense).Copy(known)
		}
		x.Slice(0, p.n, p.known, p.K).(*mat.Dense).Copy(w)
		r := certify(a, p.stored(x), p.Nullity, norm, nil)
		r.Certificate.Next = d.low
		return r, nil
	}

	k := newKrylov(a, p, d, known, start)
	if k.f.inverts() && k.n >= p.DescentFrom && !p.Single {
		if m := k.descentWidth(); m > 0 {
			return k.descend(ctx, m, start)
		}
	}
	return k.run(ctx)
}

// confirm makes a Result of K accurate eigenvectors x that were known, if the search
// for eigenvalues below the last one finds none.
func (p *plan) confirm(ctx context.Context, a sparse.Operator, x *mat.Dense, d density) (*Result, error) {
	p.setKnown(0)
	// Rounding brings back something of x, which the filter must not blow up.
	d.low = min(d.low, slices.Min(quotientsOf(a, wide(x))))
	k := newKrylov(a, p, d, nil, nil)
	k.columns(0, p.K).save(x)
	res := certify(a, k.columns(0, p.K), p.Nullity, k.norm, k.scratch())
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

// String describes the state in one line.
func (s State) String() string {
	if s.Rough {
		return fmt.Sprintf("%d of %d vectors filtered", s.Basis, s.BasisMax)
	}
	return fmt.Sprintf("basis %d of %d, restart %d, %d converged", s.Basis, s.BasisMax, s.Restart,
		s.Converged)
}
