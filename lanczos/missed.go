package lanczos

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// A Krylov space of b starting vectors holds at most b copies of a multiple eigenvalue. After
// convergence the same process therefore runs from an independent random block on the complement of
// the result; every pair it finds below the last value joins the basis, and the run goes on. The
// search is restarted until it is certain, and a search that does not end gives no certificate.

// searchBlock is the largest block of the search for missed eigenvalues.
const searchBlock = 8

// searchRestarts bounds the restarts of the search for missed eigenvalues.
const searchRestarts = 40

// missed reports whether there is an eigenvalue below the last one found: a Krylov space of b
// starting vectors holds at most b copies of a multiple eigenvalue, so a converged basis may lack
// some. theta are the Ritz values of the pairs found.
//
// In outline:
//
//  1. searcher begins a process on the complement of the vectors found, from an independent random block.
//  2. It expands until there are enough steps for an answer, and looks at its first Ritz pair after each.
//  3. A Ritz value below the last one found ends the search: it bounds an eigenvalue from above.
//  4. A Ritz value above it ends the search once it is accurate enough to rule an eigenvalue out, and
//     so many steps were made that a missing direction would have appeared (filter.steps).
//  5. A full basis is restarted, at most searchRestarts times; then there is no certificate, and
//     the error is ErrNotConverged.
//
// In case 3 the Ritz vectors of the search become the next block of the basis of k, whose other
// vectors are the pairs found.
func (k *krylov) missed(ctx context.Context, res *Result, theta []float64) (bool, error) {
	defer func() { res.Products = k.state.Products }()
	if k.K == k.n {
		return false, nil
	}
	last := res.Values[k.K-1]
	search := k.searcher(last)
	p := search.plan
	steps := min(p.basis/p.block, search.f.steps(last, k.n))
	lastTheta := search.f.value(last)
	margin := k.margin(last)

	// An answer takes three steps, and the basis needs a block of Ritz vectors from the search.
	least := max(min(3, steps)*p.block, k.block)
	var z *ritz
	done := false
	for restarts := 0; !done; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if _, err := search.expand(ctx); err != nil {
			return false, err
		}
		if search.size < least {
			continue
		}

		var err error
		if z, err = search.ritz(ctx); err != nil {
			return false, err
		}
		// Without an amplified Ritz value, the smallest eigenvalue is at the cut or beyond.
		next := search.f.lo
		if !search.f.selects() || z.theta[0] > 1 {
			next = search.f.lambda(z.theta[0])
		}
		res.Certificate.Next = next

		// The error of next must not reach the last value, or be small beside the spread of the
		// values found; a θ that is below the filter at the last value by more than its
		// residual is certain by itself.
		uncertain := z.residual[0] * search.f.amplification(next, z.theta[0])
		long := restarts > 0 || search.size >= steps*p.block
		above := uncertain <= max(next-last, (last-k.low)/10, k.Tolerance*k.norm) ||
			search.f.degree != 1 && z.theta[0]+z.residual[0] < lastTheta
		done = next < last-margin || long && above
		if done || search.size+p.block <= p.basis {
			continue
		}

		if restarts++; restarts > searchRestarts {
			return false, fmt.Errorf("%w: the search for eigenvalues below the last one, %.6g, that "+
				"were left out came to no end; allow more memory, or ask for fewer pairs",
				ErrNotConverged, last)
		}
		// Keep a third of the basis, in whole blocks.
		search.compress(z, p.basis/p.block/3*p.block)
	}

	// The basis of k is the Ritz vectors again; the search used the memory behind them.
	k.state.Products = search.state.Products
	k.setRitz(theta)
	if res.Certificate.Next >= last-margin {
		return false, nil
	}
	res.Certificate.Missed = true
	search.compress(z, k.block)
	return true, nil
}

// searcher returns a process on the complement of the K vectors found, in the memory of the basis
// behind them. It has the filter of k, or if that does not amplify last, the last value found, one
// that does.
//
// The copy shares pcg and rng with k on purpose: the search draws the numbers that k would draw
// next, so that its block is independent of all before, and a snapshot of k after the search
// continues the same sequence.
func (k *krylov) searcher(last float64) *krylov {
	p := *k.plan
	p.known = k.K
	p.block = min(k.block, searchBlock)
	p.basis = (k.basis - k.wanted) / p.block * p.block
	search := *k
	search.plan = &p
	for i, w := range k.work {
		if w != nil { // a third block belongs to the one of the two that needs it
			search.work[i] = mat.NewDense(k.n, p.block, w.RawMatrix().Data[:k.n*p.block])
		}
	}
	search.t = mat.NewDense(p.basis, p.basis, nil)

	if search.f.degree == 1 || search.f.selects() && search.f.value(last) < amplified {
		search.widened = 0
		search.setCut(last, last)
	}
	search.begin(nil)
	return &search
}
