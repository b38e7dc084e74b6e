package lanczos

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/sparse"
)

// krylov is a running block Lanczos process for the largest eigenvalues θ of
// p(A) on the complement of the known null vectors.
//
// The columns of v are the null vectors, then size basis vectors, then the
// residual block of width block. With V the basis, p(A)V = V·T + Q·[0 … 0 R]
// where Q is the residual block.
type krylov struct {
	*plan
	a      sparse.Operator
	f      filter
	norm   float64
	rng    *rand.Rand
	v      *mat.Dense
	known  int
	size   int
	t      *mat.Dense // Basis×Basis, of which size×size is in use
	r      *mat.Dense // block×block
	work   [3]*mat.Dense
	state  State
}

// growth is the logarithm of the filter's largest value. A larger one means
// fewer basis vectors and more products for each; rounding in the filter limits
// it.
const growth = 8

func newKrylov(ctx context.Context, a sparse.Operator, null *mat.Dense, p *plan) (*krylov, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	k := &krylov{plan: p, a: a, rng: rand.New(rand.NewPCG(p.Seed, 0x6b72796c))} // "kryl"
	if null != nil {
		_, k.known = null.Dims()
	}
	k.v = mat.NewDense(p.n, k.known+p.Basis+p.block, nil)
	if null != nil {
		k.v.Slice(0, p.n, 0, k.known).(*mat.Dense).Copy(null)
	}
	k.t = mat.NewDense(p.Basis, p.Basis, nil)
	for i := range k.work {
		k.work[i] = mat.NewDense(p.n, p.block, nil)
	}
	d := estimateDensity(a, null, p.Seed)
	k.norm = math.Max(math.Abs(d.low), math.Abs(d.high))
	k.state.Products = densityVectors * min(densitySteps, p.n)
	// The cut lies beyond the last wanted pair, so that this one too is
	// amplified.
	wanted := p.K - k.known
	cut := d.quantile((1.3*float64(wanted) + float64(p.block)) / float64(p.n-k.known))
	k.setCut(d.low, cut, d.high)
	return k, nil
}

func (k *krylov) setCut(low, cut, high float64) {
	span := high - low
	cut = math.Min(math.Max(cut, low+1e-6*span), low+0.9*span)
	k.f = newFilter(low, cut, high, growth)
}

// columns returns columns lo to hi of v.
func (k *krylov) columns(lo, hi int) *mat.Dense {
	return k.v.Slice(0, k.n, lo, hi).(*mat.Dense)
}

// start puts a random orthonormal block behind the null vectors.
func (k *krylov) start() {
	k.size = 0
	w := randomBlock(k.n, k.block, k.rng)
	orthonormalize(w, k.leading(0), k.rng)
	k.columns(k.known, k.known+k.block).Copy(w)
}

// leading returns the null vectors and the first size basis vectors, nil if
// there are none.
func (k *krylov) leading(size int) *mat.Dense {
	if k.known+size == 0 {
		return nil
	}
	return k.columns(0, k.known+size)
}

// expand makes the residual block part of the basis and computes the next one.
// It returns roughly how many operations that took.
func (k *krylov) expand() float64 {
	w, b := k.work[0], k.block
	at := k.known + k.size
	w.Copy(k.columns(at, at+b))
	k.state.Products += k.f.apply(k.a, w, k.work[1], k.work[2])
	c, r, _ := orthonormalize(w, k.leading(k.size+b), k.rng)
	for i := range k.size + b {
		for j := range b {
			x := c.At(k.known+i, j)
			k.t.Set(i, k.size+j, x)
			k.t.Set(k.size+j, i, x)
		}
	}
	// The diagonal block is symmetric up to rounding; make it so exactly.
	for i := range b {
		for j := range i {
			x := (c.At(at+i, j) + c.At(at+j, i)) / 2
			k.t.Set(k.size+i, k.size+j, x)
			k.t.Set(k.size+j, k.size+i, x)
		}
	}
	k.size += b
	k.r = r
	k.columns(k.known+k.size, k.known+k.size+b).Copy(w)
	return float64(k.n) * float64(b) * float64(8*(k.known+k.size)+100*k.f.degree)
}

// ritz are the Ritz pairs of p(A) in the basis, largest θ first.
type ritz struct {
	theta    []float64
	s        *mat.Dense // size×size, columns in the same order
	residual []float64  // ‖p(A)u − θu‖ from the recurrence
}

func (k *krylov) ritz() (*ritz, error) {
	t := mat.DenseCopyOf(k.t.Slice(0, k.size, 0, k.size))
	values, vectors, err := dense.EigenSym(t)
	if err != nil {
		return nil, fmt.Errorf("lanczos: the projected %d×%d problem: %w", k.size, k.size, err)
	}
	m := k.size
	out := &ritz{theta: make([]float64, m), s: mat.NewDense(m, m, nil)}
	for i := range m {
		from, to := vectors.RawRowView(i), out.s.RawRowView(i)
		for j := range m {
			to[j] = from[m-1-j]
		}
	}
	for j := range m {
		out.theta[j] = values[m-1-j]
	}
	last := mat.NewDense(k.block, m, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, k.r, out.s.Slice(m-k.block, m, 0, m).(*mat.Dense), 0, last)
	out.residual = columnNorms(last)
	return out, nil
}

// assess counts the wanted pairs whose residual with A is estimated to be at
// most tolerance, and returns the largest estimate.
func (k *krylov) assess(z *ritz, wanted int, tolerance float64) (converged int, worst float64) {
	for j := range wanted {
		theta := z.theta[j]
		est := math.Inf(1)
		if theta > 1 {
			est = z.residual[j] * k.f.amplification(k.f.lambda(theta), theta)
		}
		if est <= tolerance {
			converged++
		}
		worst = max(worst, est)
	}
	return converged, worst
}

// restart replaces the basis by the first keep Ritz vectors.
func (k *krylov) restart(z *ritz, keep int) {
	basis := k.columns(k.known, k.known+k.size)
	dense.MulInPlace(basis, z.s.Slice(0, k.size, 0, keep).(*mat.Dense))
	residual := mat.DenseCopyOf(k.columns(k.known+k.size, k.known+k.size+k.block))
	k.columns(k.known+keep, k.known+keep+k.block).Copy(residual)
	k.t.Zero()
	for j := range keep {
		k.t.Set(j, j, z.theta[j])
	}
	k.size = keep
	k.state.Restart++
}

// report calls the hook and looks at ctx.
func (k *krylov) report(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if k.OnRestart == nil {
		return nil
	}
	k.state.Basis, k.state.BasisMax = k.size, k.Basis
	return k.OnRestart(k.state)
}

func (k *krylov) run(ctx context.Context) (*Result, error) {
	wanted := k.K - k.known
	tolerance := k.Tolerance * k.norm
	target := tolerance / 4 // of the estimates, which leave out rounding
	k.start()
	var unchecked float64 // operations since the Ritz values were last looked at
	for {
		unchecked += k.expand()
		if err := k.report(ctx); err != nil {
			return nil, err
		}
		full := k.size+k.block > k.Basis
		if !full && (k.size < wanted || unchecked < 6*ritzOperations(k.size)) {
			continue
		}
		unchecked = 0
		z, err := k.ritz()
		if err != nil {
			return nil, err
		}
		k.state.Converged, k.state.Residual = k.assess(z, wanted, target)
		if full && z.theta[wanted-1] < 1.5 && k.state.Restart < 8 {
			// The cut lies too low to tell the last wanted pairs from the rest.
			k.setCut(k.f.lambda(z.theta[0]), 1.5*k.f.lo, k.f.hi)
			k.state.Restart++
			k.t.Zero()
			k.start()
			continue
		}
		spent := full && k.state.Restart >= k.MaxRestarts
		if k.state.Converged == wanted || spent {
			res := k.result(z, wanted)
			worst := res.MaxResidual()
			switch {
			case worst <= tolerance:
				return res, nil
			case spent || target < tolerance/1000:
				return res, fmt.Errorf("%w: largest residual %.2e, tolerance %.2e (%.2e·‖A‖), after %d restarts; raise the tolerance or the number of restarts", ErrNotConverged, worst, tolerance, k.Tolerance, k.state.Restart)
			}
			target /= 10
		}
		if full {
			k.restart(z, min(wanted+(k.Basis-wanted)/3, k.Basis-k.block))
		}
	}
}

// ritzOperations is the cost of the Ritz pairs of a basis of m vectors.
func ritzOperations(m int) float64 { return 9 * float64(m) * float64(m) * float64(m) }

// result makes a Result of the null vectors and the first wanted Ritz vectors.
func (k *krylov) result(z *ritz, wanted int) *Result {
	x := mat.NewDense(k.n, k.K, nil)
	if k.known > 0 {
		x.Slice(0, k.n, 0, k.known).(*mat.Dense).Copy(k.columns(0, k.known))
	}
	s := z.s.Slice(0, k.size, 0, wanted).(*mat.Dense)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, k.columns(k.known, k.known+k.size), s, 0, x.Slice(0, k.n, k.known, k.K).(*mat.Dense))
	res := certify(k.a, x, k.known, k.norm)
	res.Degree, res.Restarts, res.Products = k.f.degree, k.state.Restart, k.state.Products
	return res
}
