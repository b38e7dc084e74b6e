package lanczos

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// descent finds few pairs where an inverse replaces the filter: LOBPCG (Knyazev, SIAM J. Sci. Comput. 23,
// 2001) with orthonormal bases (Hetmaniuk & Lehoucq, J. Comput. Phys. 218, 2006). A step applies the factor
// once to each vector, where the Krylov process solves a system to near rounding with it. One step is
//
//	R = AX − XΘ,   W = M⁻¹R
//	S = [X P W], orthonormal,   SᵀAS·C = C·Θ for the smallest values Θ
//	X ← S·C,   P ← S·C without the part of X, orthogonal to the new X
//
// where X holds the wanted vectors and some more, which make those converge that lie close together. The
// coefficients of P are made orthonormal, not its vectors, so that a step passes over W only to make it
// orthogonal.
//
// The vectors lie in the memory of the Krylov process: those known, then X, P and W.
type descent struct {
	*krylov
	locked   int // known vectors, in front
	m        int // columns of X
	p        int // columns of P: 0 or m
	w        *mat.Dense
	temp     *scratch
	theta    []float64  // quotients of X, ascending but for rounding
	residual []float64  // ‖Ax − θx‖
	energy   []float64  // √(rᵀM⁻¹r/θ): about the square root of the relative error of θ
	gram     *mat.Dense // [X P]ᵀA[X P]
}

const (
	// descentSpare is the least number of vectors beside the wanted ones.
	descentSpare = 4
	// descentEnergy bounds the energies of converged pairs, in units of the tolerance. At the default
	// tolerance the values are then accurate to about 1e-10, and vectors to 1e-5, relative to gaps.
	descentEnergy = 1000
	// descentSteps ends a run, in units of the restarts that are allowed.
	descentSteps = 10
	// descentTrial is the relative residual to which a trial solution measures the factor.
	descentTrial = 0.05
)

// descentWidth returns the columns of X for a process in k's memory, 0 if that is too narrow, as it is for
// many pairs: then the Krylov process is better.
func (k *krylov) descentWidth() int {
	m := (k.wanted + max(descentSpare, k.wanted/4) + searchBlock - 1) / searchBlock * searchBlock
	m = min(max(m, 2*searchBlock), (k.plan.columns()-k.known)/(3*searchBlock)*searchBlock)
	if m < max(k.wanted+descentSpare, 2*searchBlock) || 6*m > k.n {
		return 0
	}
	return m
}

// descend finds the pairs of k by descent, with blocks of m columns.
func (k *krylov) descend(ctx context.Context, m int, start *mat.Dense) (*Result, error) {
	for i := range k.work {
		k.work[i] = nil
	}
	d := &descent{krylov: k, locked: k.known, temp: newScratch(k.n, 2, slabWidth)}
	d.setWidth(m)
	d.draw()
	if start != nil {
		_, q := start.Dims()
		d.w.Slice(0, k.n, 0, min(q, m)).(*mat.Dense).Copy(start)
	}
	d.begin()

	limit := descentEnergy * k.Tolerance
	missed := false
	for most := descentSteps * k.MaxRestarts; ; {
		if err := d.run(ctx, limit, most); err != nil {
			return nil, err
		}
		res := certify(k.a, k.columns(0, k.K), k.Nullity, k.norm, nil)
		res.Certificate.Missed = missed
		res.Products = k.state.Products
		tolerance := k.Tolerance * k.norm
		spent := k.state.Restart >= most
		switch worst := res.MaxResidual(); {
		case spent || !(worst <= tolerance) && k.target <= tolerance/1000:
			k.release(res)
			return res, fmt.Errorf("%w: largest residual %.2e, tolerance %.2e (%.2e·‖A‖), after %d steps; raise "+
				"the tolerance, or the number of restarts", ErrNotConverged, worst, tolerance, k.Tolerance,
				k.state.Restart)
		case !(worst <= tolerance):
			// Rounding that the quotients do not show.
			k.target /= 10
			limit /= 10
			continue
		}

		found, err := d.missed(ctx, res, limit, most)
		if err != nil {
			return nil, err
		}
		if !found {
			res.Products = k.state.Products
			k.release(res)
			return res, nil
		}
		if k.known > k.Nullity &&
			res.Certificate.Next < slices.Max(quotientsOf(k.a, k.columns(0, k.known)))-2*tolerance {
			return nil, errLocked
		}
		// The vectors of the search stand behind the pairs found, and become part of X.
		missed = true
		d.p = 0
		copyBlock(d.w, d.x())
		d.begin()
	}
}

// setWidth makes X a block of m columns.
func (d *descent) setWidth(m int) {
	d.m = m
	d.p = 0
	d.w = dense.New(d.n, m)
	d.theta = make([]float64, m)
	d.residual = make([]float64, m)
	d.energy = make([]float64, m)
	d.gram = mat.NewDense(2*m, 2*m, nil)
}

// columns returns columns lo to hi of the vectors, which are of float64.
func (d *descent) columns(lo, hi int) *mat.Dense { return d.krylov.columns(lo, hi).double }

// x returns X.
func (d *descent) x() *mat.Dense { return d.columns(d.locked, d.locked+d.m) }

// before returns the known vectors and the first columns of S, nil if there are none.
func (d *descent) before(columns int) *mat.Dense {
	if d.locked+columns == 0 {
		return nil
	}
	return d.columns(0, d.locked+columns)
}

// draw makes w a random block to which the factor is applied once, as an inverse iteration would.
func (d *descent) draw() {
	x := randomBlock(d.n, d.m, d.rng)
	project(x, d.f.inverse.null)
	d.f.inverse.m.ApplyTo(d.w, x)
}

// begin makes X of w.
func (d *descent) begin() {
	orthonormalize(d.w, wide(d.before(0)), d.rng)
	copyBlock(d.x(), d.w)
}

// run takes steps until the wanted pairs are within the target and have energies of at most limit, or so
// many steps are spent.
func (d *descent) run(ctx context.Context, limit float64, most int) error {
	for {
		d.measure()
		d.state.Converged = d.locked + d.converged(limit)
		d.state.Residual = slices.Max(d.residual[:d.wanted])
		if err := d.report(ctx); err != nil {
			return err
		}
		if d.state.Converged == d.K || d.state.Restart >= most {
			return nil
		}
		if err := d.step(ctx); err != nil {
			return err
		}
	}
}

// report calls the hook with the number of steps as restarts.
func (d *descent) report(ctx context.Context) error {
	if err := ctx.Err(); err != nil || d.OnRestart == nil {
		return err
	}
	s := d.state
	s.Basis = 2*d.m + d.p
	s.BasisMax = 3 * d.m
	return d.OnRestart(s)
}

// converged counts the wanted pairs that have arrived.
func (d *descent) converged(limit float64) int {
	count := 0
	for j := range d.wanted {
		if d.residual[j] <= d.target && d.energy[j] <= d.attainable(j, limit) {
			count++
		}
	}
	return count
}

// attainable returns the energy that pair j is to have: rounding in Ax, about 1e-16·‖A‖, is worth 1/√θ in
// the energy.
func (d *descent) attainable(j int, limit float64) float64 {
	return math.Min(math.Max(limit, 4e-15*d.high/math.Max(d.theta[j], 1e-300)), 1e-2)
}

// measure computes the quotients of X, the residuals and W = M⁻¹R.
func (d *descent) measure() {
	x := d.x()
	for lo, hi := range d.temp.slabs(d.m) {
		b := d.temp.of(hi - lo)
		v, av := b[0], b[1]
		copyBlock(v, x.Slice(0, d.n, lo, hi).(*mat.Dense))
		d.a.MulTo(av, v)
		overlap, _ := dense.Sweep(av, x, nil, nil, true)
		for j := lo; j < hi; j++ {
			for i := range d.m {
				d.gram.Set(i, j, overlap.At(i, j-lo))
			}
			d.theta[j] = overlap.At(j, j-lo)
		}

		theta := d.theta[lo:hi]
		par.For(d.n, rowGrain, func(from, to int) {
			for i := from; i < to; i++ {
				ar := av.RawRowView(i)
				vr := v.RawRowView(i)
				for j, t := range theta {
					ar[j] -= t * vr[j]
				}
			}
		})
		copy(d.residual[lo:], columnNorms(av))
		w := d.w.Slice(0, d.n, lo, hi).(*mat.Dense)
		d.f.inverse.m.ApplyTo(w, av)
		for j, e := range columnDots(w, av) {
			d.energy[lo+j] = math.Sqrt(math.Max(e, 0) / math.Max(d.theta[lo+j], 1e-300))
		}
	}
	d.state.Products += d.m
}

// step replaces X and P, with W as measure made it.
func (d *descent) step(ctx context.Context) error {
	m := d.m
	before := m + d.p
	size := before + m
	orthonormalize(d.w, wide(d.before(before)), d.rng)
	copyBlock(d.columns(d.locked+before, d.locked+size), d.w)

	// SᵀAS: the part of X and P is there, the columns of W take products.
	s := d.columns(d.locked, d.locked+size)
	g := mat.NewDense(size, size, nil)
	g.Slice(0, before, 0, before).(*mat.Dense).Copy(d.gram.Slice(0, before, 0, before))
	for lo, hi := range d.temp.slabs(m) {
		aw := d.temp.of(hi - lo)[0]
		d.a.MulTo(aw, d.w.Slice(0, d.n, lo, hi).(*mat.Dense))
		overlap, _ := dense.Sweep(aw, s, nil, nil, true)
		g.Slice(0, size, before+lo, before+hi).(*mat.Dense).Copy(overlap)
	}
	d.state.Products += m
	for i := range before {
		for j := before; j < size; j++ {
			g.Set(j, i, g.At(i, j))
		}
	}
	dense.Symmetrize(g)

	_, c, err := dense.EigenSym(ctx, mat.DenseCopyOf(g))
	if err != nil {
		return fmt.Errorf("lanczos: the projected %d×%d problem: %w", size, size, err)
	}
	both := d.coefficients(c)
	dense.MulInPlace(s, both)

	// The projected matrix of the new X and P.
	half := mat.NewDense(size, 2*m, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, g, both, 0, half)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, both, half, 0, d.gram)
	d.p = m
	d.state.Restart++
	return nil
}

// coefficients returns the coefficients of the new X, the first m columns of c, and of the new P: those of X
// without the part of the old X, made orthonormal.
func (d *descent) coefficients(c *mat.Dense) *mat.Dense {
	m := d.m
	size, _ := c.Dims()
	x := mat.DenseCopyOf(c.Slice(0, size, 0, m))
	p := mat.DenseCopyOf(x)
	p.Slice(0, m, 0, m).(*mat.Dense).Zero()
	orthonormalize(p, wide(x), d.rng)
	both := mat.NewDense(size, 2*m, nil)
	both.Slice(0, size, 0, m).(*mat.Dense).Copy(x)
	both.Slice(0, size, m, 2*m).(*mat.Dense).Copy(p)
	return both
}

// missed looks for an eigenvalue below the last one of res, by a descent on the complement of its vectors
// from an independent random block. It reports whether there is one, and sets the next value.
//
// The search ends when its first value is below the last one, or when the first value is so accurate that
// its error does not reach the last one, after as many steps as a Krylov process with this inverse would
// take to show a missing direction ([filter.steps]), times the iterations that a solution with the factor
// takes for each: the factor may be approximate.
func (d *descent) missed(ctx context.Context, res *Result, limit float64, most int) (bool, error) {
	if d.K == d.n || d.counted(res) {
		return false, nil
	}
	trial, err := d.trial(ctx)
	if err != nil {
		return false, err
	}
	last := res.Values[d.K-1]
	margin := d.margin(last)
	least := trial * d.f.steps(last, d.n)

	search := *d
	p := *d.plan
	k := *d.krylov
	k.plan = &p
	search.krylov = &k
	search.locked = d.K
	search.setWidth(searchBlock)
	search.draw()
	search.begin()
	for step := 0; ; step++ {
		search.measure()
		d.state.Products = search.state.Products
		if err := d.report(ctx); err != nil {
			return false, err
		}
		next := slices.Min(search.theta)
		first := slices.Index(search.theta, next)
		res.Certificate.Next = next
		if next < last-margin {
			return true, nil
		}
		e := search.energy[first]
		above := next*e*e <= math.Max(next-last, margin)/4 || e <= d.attainable(0, limit)
		if step >= least && above {
			return false, nil
		}

		if step >= most {
			return false, fmt.Errorf("%w: the search for eigenvalues below the last one, %.6g, that were left out "+
				"came to no end; raise the number of restarts", ErrNotConverged, last)
		}
		if err := search.step(ctx); err != nil {
			return false, err
		}
	}
}

// counted reports whether the exact factor, if it is one, counts as many eigenvalues as there are pairs: below
// the middle between the last value and the first one that is not wanted, or somewhat below the last one
// where both are near.
func (d *descent) counted(res *Result) bool {
	last := res.Values[d.K-1]
	next := slices.Min(d.theta[d.wanted:])
	value := last - d.margin(last)
	want, _ := slices.BinarySearch(res.Values, value)
	if next-last > 1e-3*last {
		value = (last + next) / 2
		want = d.K
	}
	v := d.f.inverse
	if !v.exact || !(value > 0) {
		return false
	}
	count, ok := cg.CountBelow(v.shifted, value, v.m)
	if !ok || count != want {
		return false
	}
	res.Certificate.Counted = want == d.K
	res.Certificate.Next = math.Max(next, value)
	return true
}

// trial returns the number of iterations of conjugate gradients in which the factor solves a system of one
// random column roughly: 1 for an exact factor.
func (d *descent) trial(ctx context.Context) (int, error) {
	v := d.f.inverse
	b := randomBlock(d.n, 1, d.rng)
	project(b, v.null)
	s := cg.Settings{Tolerance: descentTrial, MaxIterations: inverseIterations, Preconditioner: v.m}
	r, err := cg.Laplacian(ctx, v.shifted, v.c, b, &cg.LaplacianSettings{Settings: s})
	if err != nil && !errors.Is(err, cg.ErrNotConverged) {
		return 0, err
	}
	d.state.Products += r.Products
	return max(1, r.MaxIterations()), nil
}
