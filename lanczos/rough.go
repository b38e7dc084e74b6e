package lanczos

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

const (
	// roughGrowth is the logarithm of twice what the filter of a rough search multiplies the smallest eigenvalue's
	// part of a random vector by. The parts of all others, n of them at most 1 large, must stay small beside it.
	roughGrowth = 9
	// roughCut is half of the least distance of the cut of the filter from the eigenvalue that it is made for, as a share
	// of the spectrum. It bounds the degree by 30.
	roughCut = 0.0112
)

// rough finds vectors near the span of the wanted eigenvectors: random ones, filtered once, then the Rayleigh–Ritz
// procedure. It costs the degree of the filter, at most 30, in products for every column, and 4nm² operations for
// m columns, and no search. It returns nothing where there are hardly more vectors than wanted ones.
func (p *plan) rough(ctx context.Context, a sparse.Operator, null *mat.Dense) (*Result, error) {
	p.setKnown(min(p.Nullity, p.K))
	m := p.refined()
	if p.wanted < 1 || p.known+m >= p.n {
		return nil, nil
	}
	d := estimateDensity(a, null, p.Seed, refineSteps)
	rng := rand.New(rand.NewPCG(p.Seed, 0x726f756768)) // "rough"
	x := randomBlock(p.n, m, rng)
	if null != nil {
		project(x, null)
	}

	// The few steps of the density may see nothing of the low end.
	least := roughCut * (d.high - d.low)
	cut := math.Max(d.quantile(float64(m)/float64(p.n)), d.low+least)
	f := newFilter(math.Min(d.low, cut-2*least), cut, d.high, roughGrowth)
	state := State{BasisMax: m, Basis: m, Restart: 1, Products: refineSteps*densityVectors + filterColumns(a, f, x)}
	orthonormalize(x, null, rng)
	theta, err := rayleighRitz(ctx, a, x)
	if err != nil {
		return nil, err
	}

	res := certify(a, p.withNull(null, x), p.Nullity, d.norm())
	res.Rough = true
	res.Degree = f.degree
	res.Restarts = 1
	res.Products = state.Products + m + p.K
	res.Certificate.Next = theta[p.wanted]
	state.Residual = res.MaxResidual()
	return res, p.report(ctx, state)
}
