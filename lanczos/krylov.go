package lanczos

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// krylov is a block Lanczos process for the largest eigenvalues θ of the filter p(A) on the
// complement of the known eigenvectors.
//
// The columns of v are the known vectors, then size basis vectors, then the residual block of width
// block. With V the basis, p(A)V = V·T + Q·[0 … 0 R] where Q is the residual block.
type krylov struct {
	*plan
	a     sparse.Operator
	f     filter
	low   float64 // estimate of the smallest eigenvalue
	high  float64 // bound on the largest
	norm  float64 // estimate of ‖A‖, not above it
	pcg   *rand.PCG
	rng   *rand.Rand // draws from pcg
	v     vectors
	size  int
	t     *mat.Dense    // T; its leading size×size part is in use
	r     *mat.Dense    // R, block×block
	work  [3]*mat.Dense // n×block; the last one is nil until it is needed
	m     *narrowed     // applies polynomials in single precision; nil if none are, or no longer
	state State
	// target bounds the estimated residuals of converged pairs. It is below the
	// tolerance, because estimates leave out rounding.
	target  float64
	widened int // times that widen moved the cut
	kept    int // accurate pairs at the last random block, see keepAccurate
	// unchecked are the operations since the Ritz values were last looked at.
	unchecked float64
	looked    int // size at that look; 0 for none since the start or a restart
	expected  int // size at which all pairs are expected to be converged; 0 if that is not known
}

// growth is the logarithm of the filter's largest value. A larger value means fewer basis vectors
// and more products in all; rounding in the filter limits it to about e^12. A few pairs have a
// basis that costs little. Of 5 to 12 these values took the least time over 10 to 1000 pairs of the graphs of
// MNIST and of 10⁵ and 10⁶ points of a manifold.
func (p *plan) growth() float64 {
	if p.wanted < severalPairs {
		return fewGrowth
	}
	return 10
}

const fewGrowth = 7

// newKrylov prepares a process behind the known eigenvectors, the columns of known (nil if there
// are none). The density d of the spectrum decides between a polynomial and an inverse. start, if
// not nil, is a guess at the wanted eigenvectors.
func newKrylov(a sparse.Operator, p *plan, d density, known, start *mat.Dense) *krylov {
	v := p.basisVectors()
	low := d.low
	if known != nil {
		v.slice(0, p.known).save(known)
		// What rounding brings back of the known vectors is amplified too.
		low = min(low, slices.Min(quotientsOf(a, wide(known))))
	}

	k := newProcess(a, p, d, v)
	k.setFilter(d, low)
	k.begin(start)
	return k
}

// newProcess is [newKrylov] with the vectors in v, which holds the known ones, without filter and
// basis.
func newProcess(a sparse.Operator, p *plan, d density, v vectors) *krylov {
	k := &krylov{plan: p, a: a, v: v, norm: d.norm(), high: d.high}
	k.pcg = rand.NewPCG(p.Seed, 0x6b72796c) // "kryl"
	k.rng = rand.New(k.pcg)
	k.t = mat.NewDense(p.basis, p.basis, nil)
	k.prepare()
	k.state.Products = densityVectors * min(densitySteps, p.n)
	k.target = p.Tolerance * k.norm / 4
	return k
}

// prepare allocates the blocks of work.
func (k *krylov) prepare() {
	if k.narrow {
		k.m = &narrowed{l: k.a.(*sparse.Laplacian)}
	}
	for i := range k.work[:2] {
		k.work[i] = dense.New(k.n, k.block)
	}
}

// setFilter chooses the filter by the density of the complement of the null vectors, and an
// estimate of the smallest eigenvalue.
func (k *krylov) setFilter(d density, low float64) {
	k.low = low
	// The cut lies a block and three tenths of the wanted pairs beyond the last wanted one, because
	// the density is an estimate from eight random vectors: a cut below the last wanted eigenvalue
	// would suppress it, whereas a cut too far beyond it costs some products.
	others := float64(k.n - k.Nullity)
	last := float64(k.K - k.Nullity)
	beyond := (last + 0.3*float64(k.wanted) + float64(k.block)) / others
	k.setCut(d.quantile(last/others), d.quantile(beyond))
	// An inverse replaces the polynomial where the low end is too dense for it.
	if f, ok := inverseFilter(k.a, k.plan, &d, last/others, beyond); ok {
		k.f = f
	}
}

// setCut chooses the polynomial. last estimates the last wanted eigenvalue and cut one that lies
// beyond it.
func (k *krylov) setCut(last, cut float64) {
	span := k.high - k.low
	// The last wanted eigenvalue must be amplified too, by e^(growth/3) at
	// least: about √((cut−last)/(cut−low)) is the share of the growth it gets.
	growth := k.growth()
	cut = math.Max(cut, last+(last-k.low)/8)

	// The bound on the degree keeps the cut away from low.
	cut = math.Max(cut, k.low+span*(math.Cosh(growth/maxDegree)-1)/2)
	if cut > k.low+span/2 || k.widened > 3 {
		// So large a part of the spectrum, or one so unevenly spread, leaves a
		// filter nothing to suppress.
		k.f = linearFilter(k.low, k.high)
		return
	}
	k.f = newFilter(k.low, cut, k.high, growth)
}

// columns returns columns lo to hi of v.
func (k *krylov) columns(lo, hi int) vectors { return k.v.slice(lo, hi) }

// begin empties the basis and puts an orthonormal block behind the known
// vectors: a random one, or random combinations of the columns of start.
func (k *krylov) begin(start *mat.Dense) {
	k.size = 0
	k.looked, k.expected = 0, 0
	w := k.work[0]
	if start == nil {
		randomize(w, k.rng)
	} else {
		_, q := start.Dims()
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, start, randomBlock(q, k.block, k.rng), 0, w)
	}

	orthonormalize(w, k.leading(0), k.rng)
	k.columns(k.known, k.known+k.block).save(w)
}

// leading returns the known vectors and the first size basis vectors.
func (k *krylov) leading(size int) vectors {
	if k.known+size == 0 {
		return vectors{}
	}
	return k.columns(0, k.known+size)
}

// expand makes the residual block part of the basis and computes the next one.
// It returns the approximate number of operations.
func (k *krylov) expand(ctx context.Context) (float64, error) {
	w := k.work[0]
	b := k.block
	at := k.known + k.size
	k.columns(at, at+b).load(w)
	products, err := k.applyTo(ctx, w)
	if err != nil {
		return 0, err
	}
	// The coefficients against the basis are the new columns of T, and the triangle of the rest
	// becomes the coupling R to the next block.
	c, r := k.orthogonalize(w)
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

	// The orthonormal rest is the next residual block.
	k.size += b
	k.r = r
	k.columns(k.known+k.size, k.known+k.size+b).save(w)
	return float64(k.n) * float64(8*b*(k.known+k.size)+100*products), nil
}

// orthogonalize is [orthonormalize] for w = p(A)q, with q the residual block, against all vectors up to q.
//
// Without rounding the symmetric p(A) gives w components along q and the block before it alone, but for the first
// block after a restart. These are taken out first, which costs little. What is left is nearly orthogonal to the whole
// basis, so that one pass of updates over it is enough in place of two.
func (k *krylov) orthogonalize(w *mat.Dense) (c, r *mat.Dense) {
	b := k.block
	end := k.known + k.size + b
	first := max(end-2*b, k.known)
	near := k.columns(first, end)
	overlap, gram := near.sweep(w, nil, nil, true)
	reference := columnLengths(gram)
	dense.Gemm(dense.Transposed, dense.NoTrans, -1, overlap, overlap, 1, gram)

	// A Gram matrix that is mostly rounding says nothing of the difference: only project then.
	step := whitening(gram, reference)
	if !(step.spread > 1e-6) {
		step.forth = nil
		step.back = identity(b)
	}
	near.sweep(w, overlap, step.forth, false)

	// w_before = near·overlap + w·back, and w = basis·rest + w_after·r.
	rest, r, _ := orthonormalize(w, k.leading(k.size+b), k.rng)
	c = mat.NewDense(end, b, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, rest, step.back, 0, c)
	last := c.Slice(first, end, 0, b).(*mat.Dense)
	last.Add(last, overlap)
	next := mat.NewDense(b, b, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, r, step.back, 0, next)
	return c, next
}

// applyTo overwrites the block w with p(A)w and returns and counts the products.
func (k *krylov) applyTo(ctx context.Context, w *mat.Dense) (products int, err error) {
	// An inverse is a block solve; a polynomial is a three-term recurrence.
	switch {
	case k.f.inverts():
		products, err = k.f.inverse.apply(ctx, w)
	case k.m.allows(k.f, k.Tolerance):
		products = k.m.apply(k.f, w, k.work[1])
	default:
		if k.work[2] == nil {
			k.work[2] = dense.New(k.n, k.block)
		}
		products = k.f.apply(k.a, w, k.work[1], k.work[2])
	}
	k.state.Products += products
	return products, err
}

// margin is the amount by which a value must fall below last, the last one found, to count as an
// eigenvalue that was left out. Values of an inverse are within the tolerance relative to
// themselves, beside rounding.
func (k *krylov) margin(last float64) float64 {
	if k.f.inverts() {
		return math.Min(2*k.Tolerance*(last+k.f.sigma)+1e-14*k.norm, 2*k.Tolerance*k.norm)
	}
	return 2 * k.Tolerance * k.norm
}

// A ritz holds the Ritz pairs of p(A) in the basis, largest θ first.
type ritz struct {
	theta    []float64
	s        *mat.Dense // size×size, columns in the same order
	residual []float64  // ‖p(A)u − θu‖ from the recurrence
}

func (k *krylov) ritz(ctx context.Context) (*ritz, error) {
	m := k.size
	values, vectors, err := dense.EigenSym(ctx, mat.DenseCopyOf(k.t.Slice(0, m, 0, m)))
	if err != nil {
		return nil, fmt.Errorf("lanczos: the projected %d×%d problem: %w", m, m, err)
	}
	// EigenSym sorts ascending; the largest θ belongs to the smallest λ and comes first here.
	out := &ritz{theta: make([]float64, m), s: mat.NewDense(m, m, nil)}
	for i := range m {
		from := vectors.RawRowView(i)
		to := out.s.RawRowView(i)
		for j := range m {
			to[j] = from[m-1-j]
		}
	}

	for j := range m {
		out.theta[j] = values[m-1-j]
	}
	// p(A)u − θu = Q·R·(last block of rows of s), so its norm needs no product with A.
	last := mat.NewDense(k.block, m, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, k.r, out.s.Slice(m-k.block, m, 0, m).(*mat.Dense), 0, last)
	out.residual = columnNorms(last)
	return out, nil
}

// ritzOperations is the cost of the Ritz pairs of a basis of m vectors.
func ritzOperations(m int) float64 { return 9 * float64(m) * float64(m) * float64(m) }

// assess counts the wanted pairs with an estimated residual with A of at most target, and notes the
// largest estimate.
func (k *krylov) assess(z *ritz) {
	k.state.Converged = k.known
	k.state.Residual = 0
	for j := range k.wanted {
		theta := z.theta[j]
		// A Ritz value in [−1, 1] belongs to the suppressed part, or is not yet amplified: it says
		// nothing about a wanted pair.
		est := math.MaxFloat64
		if theta > 1 {
			est = z.residual[j] * k.f.amplification(k.f.lambda(theta), theta)
			if k.f.inverts() {
				est /= inverseSmooth
			}
		}
		if est <= k.target {
			k.state.Converged++
		}
		k.state.Residual = math.Max(k.state.Residual, est)
	}
}

// compress replaces the basis by the first keep Ritz vectors and keeps the
// residual block.
func (k *krylov) compress(z *ritz, keep int) {
	k.columns(k.known, k.known+k.size).mulInPlace(z.s.Slice(0, k.size, 0, keep).(*mat.Dense))
	// The residual block stays coupled to all kept vectors; expand computes the couplings anew,
	// which makes this a thick restart (Wu & Simon).
	residual := k.work[0]
	k.columns(k.known+k.size, k.known+k.size+k.block).load(residual)
	k.columns(k.known+keep, k.known+keep+k.block).save(residual)
	k.setRitz(z.theta[:keep])
}

// setRitz makes the basis one of len(theta) Ritz vectors. expand computes their coupling to the
// next block.
func (k *krylov) setRitz(theta []float64) {
	k.t.Zero()
	for j, v := range theta {
		k.t.Set(j, j, v)
	}
	k.size = len(theta)
	k.looked, k.expected = 0, 0
}

// report calls the hook and looks at ctx.
func (k *krylov) report(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if k.OnRestart == nil {
		return nil
	}
	k.state.Basis = k.size
	k.state.BasisMax = k.basis
	return k.OnRestart(k.state)
}

// run iterates until all wanted pairs are found, certified and complete.
func (k *krylov) run(ctx context.Context) (*Result, error) {
	for {
		operations, err := k.expand(ctx)
		if err != nil {
			return nil, err
		}
		k.unchecked += operations
		if err := k.report(ctx); err != nil {
			return nil, err
		}
		full := k.size+k.block > k.basis
		if !full && !k.mayBeDone() {
			if err := k.checkpoint(); err != nil {
				return nil, err
			}
			continue
		}

		// Examine the basis, then go on in one of three ways.
		k.unchecked = 0
		z, err := k.ritz(ctx)
		if err != nil {
			return nil, err
		}
		k.expect(z)
		spent := full && k.state.Restart >= k.MaxRestarts
		switch {
		case full && z.theta[k.wanted-1] < amplified && k.f.selects():
			if !k.keepAccurate(z) {
				k.widen()
			}
		case k.state.Converged == k.K || spent:
			res, err := k.certified(ctx, z, spent)
			if res != nil || err != nil {
				return res, err
			}
		case full:
			// A thick restart keeps a third of the spare vectors beside the wanted ones, so that
			// the vectors that converge next are not lost.
			k.state.Restart++
			k.compress(z, min(k.wanted+(k.basis-k.wanted)/3, k.basis-k.block))
		}

		if err := k.checkpoint(); err != nil {
			return nil, err
		}
	}
}

// mayBeDone reports whether a basis that is not full is worth a look, which costs its Ritz pairs. It has to hold the
// wanted pairs, and the products since the last look to have cost six times as much, or as much once all pairs are expected
// to be converged. So early looks take a sixth of the time.
func (k *krylov) mayBeDone() bool {
	price := ritzOperations(k.size)
	return k.size >= k.wanted && (k.unchecked >= 6*price ||
		k.expected > 0 && k.size >= k.expected && k.unchecked >= price)
}

// expect assesses z and continues the line through the numbers of converged pairs at this look and at the one before, in
// the same basis, to the size at which there are K. Pairs converge ever faster, so the line is late rather than early.
func (k *krylov) expect(z *ritz) {
	before := k.state.Converged
	k.assess(z)
	k.expected = 0
	if more := k.state.Converged - before; k.looked > 0 && more > 0 {
		k.expected = k.size + (k.K-k.state.Converged)*(k.size-k.looked)/more
	}
	k.looked = k.size
}

// amplified is the least Ritz value that counts as one of a wanted pair. The filter is at most 1
// beyond the cut and grows steeply below it; a pair between 1 and amplified is so near to
// the cut that it would converge slowly.
const amplified = 1.5

// keepAccurate goes on from a full basis in which the filter amplifies fewer Ritz values than are
// wanted: it keeps the accurate pairs and appends a random block. This helps where the spectrum
// consists of many copies of few eigenvalues, because a Krylov space of b starting vectors
// holds at most b copies of each. It reports false, and changes nothing, if less than a
// block is accurate, or no more than the last time.
func (k *krylov) keepAccurate(z *ritz) bool {
	accurate := 0
	for accurate < k.wanted && z.theta[accurate] >= amplified &&
		z.residual[accurate]*k.f.amplification(k.f.lambda(z.theta[accurate]), z.theta[accurate]) <= k.target {
		accurate++
	}
	if accurate < k.block || accurate <= k.kept {
		return false
	}

	k.kept = accurate
	k.compress(z, accurate)
	w := k.work[0]
	randomize(w, k.rng)
	orthonormalize(w, k.leading(accurate), k.rng)
	k.columns(k.known+accurate, k.known+accurate+k.block).save(w)
	return true
}

// widen doubles the interval below the cut and begins anew: the cut lay too low to tell the last
// wanted pairs from the rest.
func (k *krylov) widen() {
	k.widened++
	k.setCut(k.low, k.low+2*(k.f.lo-k.low))
	k.beginAnew()
}

// beginAnew begins with a random block, after a change of what is applied.
func (k *krylov) beginAnew() {
	k.kept = 0
	k.t.Zero()
	k.begin(nil)
}

// scratch returns two slabs in the memory of work.
func (k *krylov) scratch() *scratch {
	s := &scratch{n: k.n, width: min(k.block, slabWidth)}
	for _, w := range k.work[:2] {
		s.slab = append(s.slab, w.RawMatrix().Data)
	}
	return s
}

// checkpoint calls the hook.
func (k *krylov) checkpoint() error {
	if k.OnCheckpoint == nil {
		return nil
	}
	return k.OnCheckpoint(&Snapshot{k})
}

// certified compresses the basis to the wanted Ritz vectors, computes their true residuals and
// looks for eigenvalues that were missed. It returns the result, or nil if the process has to go
// on. With final it must not go on: a fault is then returned as [ErrNotConverged] with the result.
func (k *krylov) certified(ctx context.Context, z *ritz, final bool) (*Result, error) {
	k.compress(z, k.wanted)
	theta := z.theta[:k.wanted]
	res := certify(k.a, k.columns(0, k.K), k.Nullity, k.norm, k.scratch())
	res.Degree = k.f.degree
	res.Restarts = k.state.Restart
	res.Products = k.state.Products
	// The recurrence leaves out rounding, so the true residual may be above the estimate. Then the run begins anew with
	// polynomials in double precision, or the target of the estimates falls and the run goes on, at most to a
	// thousandth of the tolerance.
	tolerance := k.Tolerance * k.norm
	worst := res.MaxResidual()
	if !(worst <= tolerance) {
		if !final && k.m.allows(k.f, k.Tolerance) {
			k.m = nil
			k.beginAnew()
			return nil, nil
		}
		if !final && k.target > tolerance/1000 {
			k.target /= 10
			return nil, nil
		}
		k.release(res)
		return res, fmt.Errorf("%w: largest residual %.2e, tolerance %.2e (%.2e·‖A‖), after %d "+
			"restarts; rounding allows about %.0e·‖A‖: raise the tolerance, or the number of "+
			"restarts if that is what ended the run",
			ErrNotConverged, worst, tolerance, k.Tolerance, k.state.Restart, 1e-15)
	}

	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, err := k.missed(ctx, res, theta)
	if err != nil {
		return nil, err
	}

	if found {
		// A missed value below a locked vector given by the caller means that the locked ones are
		// not the smallest: the run must begin without them.
		if k.known > k.Nullity && res.Certificate.Next < slices.Max(quotientsOf(k.a, k.columns(0, k.known)))-
			2*tolerance {
			return nil, errLocked
		}
		if !final {
			return nil, nil
		}
		k.release(res)
		return res, fmt.Errorf("%w: an eigenvalue of about %.6g was missed and there are no restarts "+
			"left; raise their number", ErrNotConverged, res.Certificate.Next)
	}

	k.release(res)
	return res, nil
}

// collectFrom is the size in bytes of a block of work whose memory is collected at once.
const collectFrom = 4 << 20

// release makes the first K columns of v the vectors of r, as [vectors.narrow] does, and gives v and the blocks of work up.
func (k *krylov) release(r *Result) {
	// The vectors of the result may get memory of their own: that of large blocks is collected before. There may be
	// thousands of small components, each with a process.
	k.work = [3]*mat.Dense{}
	k.m = nil
	if 8*k.n*k.block >= collectFrom {
		runtime.GC()
	}
	r.setVectors(k.v.narrow(k.K))
	k.v = vectors{}
}
