package lanczos

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

const (
	// refineFrom is the tolerance from which known vectors are refined: vectors that are
	// that rough need no Krylov space.
	refineFrom = 1e-3
	// refineGuards are the least random columns beside the wanted ones: they stand for what
	// the known vectors leave out, and let the last pairs converge.
	refineGuards = 8
	// refinePasses bounds the filtered passes, and refineDegree the degree of a filter.
	refinePasses = 4
	refineDegree = 40
	// refineSteps is the number of Lanczos steps of the estimate of the norm: the norm alone needs
	// fewer than the density.
	refineSteps = 12
)

// refine improves p.Known to the tolerance by subspace iteration with a Chebyshev filter and the
// Rayleigh–Ritz procedure (Zhou, Saad, Tiago & Chelikowsky, J. Comput. Phys. 219, 2006). A pass
// with a filter of degree δ costs δ products for every column and 4nm² operations for m columns;
// vectors of a graph that has hardly changed take one or two. The residuals are within the
// tolerance. Only the guards tell whether an eigenvalue was left out: their smallest Ritz value is
// Certificate.Next.
//
// It returns nothing if it runs out of passes, or if the known vectors are fewer than the wanted
// ones by more than the guards: then the Krylov process begins with them.
func (p *plan) refine(ctx context.Context, a sparse.Operator, null *mat.Dense) (*Result, error) {
	x := p.beginRefined(null)
	if x == nil {
		return nil, nil
	}
	d := estimateDensity(a, null, p.Seed, refineSteps)
	norm := d.norm()
	tolerance := p.Tolerance * norm
	rng := rand.New(rand.NewPCG(p.Seed, 0x726566696e65)) // "refine"
	_, m := x.Dims()
	state := State{BasisMax: m, Basis: m, Products: refineSteps * densityVectors}

	// The quotients of the known vectors are above their eigenvalues, and the guards say
	// nothing before they were filtered.
	last := slices.Max(quotientsOf(a, wide(x).slice(0, p.wanted)))
	factor := 2.0 // by which the next filter must damp the residual
	degree := 0
	state.Products += p.wanted
	for pass := 1; pass <= refinePasses; pass++ {
		cut := last + 2*tolerance
		if cut >= d.high {
			return nil, nil
		}
		f := newFilter(last, cut, d.high, math.Log(2*factor))
		f.degree = min(f.degree, refineDegree)
		degree = max(degree, f.degree)
		state.Products += filterColumns(a, f, x)
		orthonormalize(x, wide(null), rng)
		theta, err := rayleighRitz(ctx, a, x)
		if err != nil {
			return nil, err
		}

		// True residuals decide.
		res := certify(a, wide(p.withNull(null, x)), p.Nullity, norm, nil)
		state.Products += m + p.K
		state.Restart = pass
		state.Residual = res.MaxResidual()
		state.Converged = res.ConvergedPairs(p.Tolerance)
		if err := p.report(ctx, state); err != nil {
			return nil, err
		}

		if state.Residual <= tolerance {
			res.Degree = degree
			res.Restarts = pass
			res.Products = state.Products
			res.Certificate.Next = theta[p.wanted]
			return res, nil
		}

		// The next filter has its cut behind the last wanted Ritz value, and is as strong as the
		// residual asks, with a factor of two to spare.
		last = theta[p.wanted-1]
		factor = 2 * state.Residual / tolerance
	}

	return nil, nil
}

// beginRefined returns the known vectors outside the null space, and random guards behind them; nil
// if too few are known.
func (p *plan) beginRefined(null *mat.Dense) *mat.Dense {
	_, q := p.Known.Dims()
	known := dense.New(p.n, q)
	copyBlock(known, p.Known)
	if null != nil {
		project(known, null)
	}
	var kept []int
	norms := columnNorms(known)
	for j, length := range norms {
		if length > 0.5 && len(kept) < p.wanted {
			kept = append(kept, j)
		}
	}

	m := p.refined()
	if p.wanted < 1 || len(kept)+refineGuards < p.wanted || p.known+m >= p.n {
		return nil
	}
	random := randomBlock(p.n, m-len(kept), rand.New(rand.NewPCG(p.Seed, 0x6775617264))) // "guard"
	scaleColumns(random, columnNorms(random))
	x := dense.New(p.n, m)
	par.For(p.n, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from := known.RawRowView(i)
			to := x.RawRowView(i)
			for j, c := range kept {
				to[j] = from[c] / norms[c]
			}
			copy(to[len(kept):], random.RawRowView(i))
		}
	})

	return x
}

// rayleighRitz replaces the orthonormal columns of x by Ritz vectors, and returns their Ritz
// values, ascending.
func rayleighRitz(ctx context.Context, a sparse.Operator, x *mat.Dense) ([]float64, error) {
	n, m := x.Dims()
	h := mat.NewDense(m, m, nil)
	buffers := newScratch(n, 2, m)
	for lo, hi := range buffers.slabs(m) {
		b := buffers.of(hi - lo)
		copyBlock(b[0], x.Slice(0, n, lo, hi).(*mat.Dense))
		a.MulTo(b[1], b[0])
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, x, b[1], 0, h.Slice(0, m, lo, hi).(*mat.Dense))
	}

	// XᵀAX is symmetric up to rounding; make it so exactly.
	for i := range m {
		for j := range i {
			mean := (h.At(i, j) + h.At(j, i)) / 2
			h.Set(i, j, mean)
			h.Set(j, i, mean)
		}
	}

	theta, z, err := dense.EigenSym(ctx, h)
	if err != nil {
		return nil, err
	}
	dense.MulInPlace(x, z)
	return theta, nil
}

// withNull returns the null vectors with the first wanted columns of x behind them.
func (p *plan) withNull(null, x *mat.Dense) *mat.Dense {
	out := dense.New(p.n, p.K)
	if null != nil {
		copyBlock(out.Slice(0, p.n, 0, p.known).(*mat.Dense), null.Slice(0, p.n, 0, p.known).(*mat.Dense))
	}
	copyBlock(out.Slice(0, p.n, p.known, p.K).(*mat.Dense), x.Slice(0, p.n, 0, p.wanted).(*mat.Dense))
	return out
}

// filterColumns overwrites x with f(a)x, some columns at a time, and returns the number
// of products.
func filterColumns(a sparse.Operator, f filter, x *mat.Dense) int {
	n, m := x.Dims()
	products := 0
	buffers := newScratch(n, 3, m)
	for lo, hi := range buffers.slabs(m) {
		columns := x.Slice(0, n, lo, hi).(*mat.Dense)
		t := buffers.of(hi - lo)
		copyBlock(t[0], columns)
		products += f.apply(a, t[0], t[1], t[2])
		scaleColumns(t[0], columnNorms(t[0]))
		copyBlock(columns, t[0])
	}

	return products
}

// report tells OnRestart how far the run is.
func (p *plan) report(ctx context.Context, s State) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.OnRestart != nil {
		return p.OnRestart(s)
	}
	return nil
}
