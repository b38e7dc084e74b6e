package lanczos

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
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
// m columns, and no search. It returns nothing where there are hardly more vectors than wanted ones, or for an operator
// that is no Laplacian of power 1.
func (p *plan) rough(ctx context.Context, a sparse.Operator, null *mat.Dense) (*Result, error) {
	l, ok := a.(*sparse.Laplacian)
	if !ok || l.Power() != 1 {
		return nil, nil
	}
	p.setKnown(min(p.Nullity, p.K))
	m := p.refined()
	if p.wanted < 1 || p.known+m >= p.n {
		return nil, nil
	}
	d := estimateDensity(a, null, p.Seed, refineSteps)
	rng := rand.New(rand.NewPCG(p.Seed, 0x726f756768)) // "rough"

	// The few steps of the density may see nothing of the low end.
	least := roughCut * (d.high - d.low)
	cut := math.Max(d.quantile(float64(m)/float64(p.n)), d.low+least)
	f := newFilter(math.Min(d.low, cut-2*least), cut, d.high, roughGrowth)
	state := State{Rough: true, BasisMax: m, Products: refineSteps * densityVectors}
	x, err := p.filterSigns(ctx, l, f, m, rng, &state)
	if err != nil {
		return nil, err
	}
	orthonormalize(x, wide(null), rng)
	theta, err := rayleighRitz(ctx, a, x)
	if err != nil {
		return nil, err
	}

	res := certify(a, wide(p.behindNull(null, x)), p.Nullity, d.norm(), nil)
	res.Rough = true
	res.Degree = f.degree
	res.Restarts = 1
	res.Products = state.Products + m + p.K
	res.Certificate.Next = theta[p.wanted]
	return res, ctx.Err()
}

// behindNull returns the null vectors with the first wanted columns of x behind them, in the memory of x, which has
// room for them and is overwritten.
func (p *plan) behindNull(null, x *mat.Dense) *mat.Dense {
	r := x.RawMatrix()
	data := r.Data[:p.n*max(r.Cols, p.K)]
	row := make([]float64, p.K)
	move := func(i int) {
		if null != nil {
			copy(row, null.RawRowView(i)[:p.known])
		}
		copy(row[p.known:], data[i*r.Cols:][:p.wanted])
		copy(data[i*p.K:], row)
	}

	// Rows that become shorter move to the front, the first one first; longer ones to the end, the last one first.
	if p.K <= r.Cols {
		for i := range p.n {
			move(i)
		}
	} else {
		for i := p.n - 1; i >= 0; i-- {
			move(i)
		}
	}
	return mat.NewDense(p.n, p.K, data[:p.n*p.K])
}

// filterSigns returns the filter f of l times m columns of random signs, scaled to the length one, with room for the
// vectors of the result, and reports each slab of them. It works in single precision: the filter multiplies the smallest eigenvalue's part by some 4,000, and
// a rounding of 10⁻⁷ is far below what it leaves of the others.
func (p *plan) filterSigns(ctx context.Context, l *sparse.Laplacian, f filter, m int, rng *rand.Rand,
	state *State) (*mat.Dense, error) {
	n := l.Dim()
	x := mat.NewDense(n, m, dense.Zeros[float64](n * max(m, p.K))[:n*m])
	s := l.Single(f.linear())
	prev := dense.Zeros[float32](n * slabWidth)
	cur := dense.Zeros[float32](n * slabWidth)
	for lo := 0; lo < m; lo += slabWidth {
		columns := x.Slice(0, n, lo, min(lo+slabWidth, m)).(*mat.Dense)
		_, b := columns.Dims()
		width := sparse.SingleWidth(b)
		prev, cur = prev[:n*width], cur[:n*width]
		randomSigns(prev, rng)
		prev, cur = f.applySingle(s, prev, cur, width)

		par.For(n, rowGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row := columns.RawRowView(i)
				for j := range row {
					row[j] = float64(cur[i*width+j])
				}
			}
		})
		scaleColumns(columns, columnNorms(columns))
		state.Basis += b
		state.Products += b * f.degree
		if err := p.report(ctx, *state); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// randomSigns sets the elements of x to 1 or −1, each with the probability ½.
func randomSigns(x []float32, rng *rand.Rand) {
	const one, sign = 0x3f800000, 0x80000000
	var bits uint64
	for i := range x {
		if i%64 == 0 {
			bits = rng.Uint64()
		}
		x[i] = math.Float32frombits(one | uint32(bits<<31)&sign)
		bits >>= 1
	}
}
