package propagation

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

const (
	// defaultPerturbation is s, the paper's.
	defaultPerturbation = 0.1
	// defaultCutRounds bounds the rounds: the paper's.
	defaultCutRounds = 400
	// usualCutRounds is the number of rounds in announced costs. MNIST takes 150 to 400.
	usualCutRounds = 300
	// cutWindow rounds lie between two looks at the classes.
	cutWindow = 10
	// penalty is ρ of [Problem.FitCut]. On MNIST at one and three labels a class, 0.7 still changes 0.2 % of
	// the classes after 400 rounds and 0.5 swings; 1 settles in 200 to 300, and 2 takes longer.
	penalty  = 1.0
	cutGrain = 1024
	// leastDegree is the degree of a far point, relative to the median, as outliers have by a heat kernel. One very heavy
	// edge makes a mean large, and no median.
	leastDegree = 1e-4
)

// FitCut is CutSSL, for very few labels and classes whose sizes are known about: the smallest cut of
// the graph such that labeled points keep their classes and each class gets its share of the points
// (Holtz, Chen, Mishne & Cloninger, NeurIPS 2024). It seeks X, n×C, with
//
//	min ½ tr Xᵀ(L − sD)X   such that   X1 = 1,  Xᵀ1 = m,  X ≥ 0,  X_l = Y_l
//
// L = D − W, m the numbers of points of the classes and s the Perturbation, which drives rows of X to
// unit vectors. The method is ADMM with a copy Z ≥ 0 of X; a round is
//
//	X ← argmin ½ tr Xᵀ(L − sD)X + ρ/2 ‖D^½(X − Z + Λ)‖²   such that   X1 = 1, Xᵀ1 = m, X_l = Y_l
//	Z ← max(X + Λ, 0),   Λ ← Λ + X − Z
//
// It ends when at most 10⁻⁴ of the points change their class in ten rounds, or after Rounds, 400 by default.
// Scores are Z, which lies in [0, 1], times a factor for each class such that the classes get their sizes: at
// points whose row is no unit vector the largest value alone would miss them by some points in a hundred.
//
// Three things differ from the paper's program. The penalty has D in it, which makes the system of X
// well-conditioned on all graphs and independent of the unit of the weights: N + (ρ − s)I in D^½X, N the
// normalized Laplacian. Two Chebyshev steps a round, from the last X, take the place of conjugate gradients; X1 = 1
// holds exactly in each, and Xᵀ1 = m by one vector that is solved for once. The start is Poisson
// learning with the sizes, in place of a hundred rounds with s = 0: with few labels these move away from good
// classes (MNIST, one label: from 9 to 18 % of errors and back), and both ends agree.
//
// Points whose degree is below 10⁻⁴ of the median keep the class of the start, with a score of 1. The multipliers of the
// sizes move values by 1/D: two points with edges of 10⁻⁶⁰ took all of it, and three in four digits were wrong.
//
// A round moves classes little, and the start decides at which of many minima they end. With three classes and more
// the start is therefore where pairs are divided anew and sizes are let go, as in [Problem.FitPoissonMBO], with
// KeepPairs and KeepSizes alike. m are then the sizes that this came to.
//
// A round costs two passes over the graph for all classes at once and some three over blocks. It holds
// five n×C blocks of single precision and the matrix beside those of Poisson learning.
func (p *Problem) FitCut(ctx context.Context, y *models.Targets, s *SizedSettings) (*SizedSolution, error) {
	rounds, perturbation := s.Rounds, s.Perturbation
	if rounds == 0 {
		rounds = defaultCutRounds
	}
	if perturbation == 0 {
		perturbation = defaultPerturbation
	}
	b, short := p.beginSized(ctx, y, s)
	if b == nil {
		return nil, short
	}

	if err := b.searchCut(ctx, s); err != nil {
		return nil, err
	}
	c, err := newCut(ctx, b.draw, b.volumes, penalty-perturbation)
	if c == nil {
		return nil, err
	}
	short = errors.Join(short, err)
	c.begin(b.volumes.labels)
	before := c.labels()
	for b.out.Rounds < rounds && c.count > 0 {
		c.round()
		b.out.Rounds++
		if b.out.Rounds%cutWindow == 0 || b.out.Rounds == rounds {
			now := c.labels()
			b.out.Changed = changedShare(before, now)
			before = now
		}
		if err := b.report(ctx, s, b.out.Rounds, rounds); err != nil {
			return nil, err
		}
		if b.out.Rounds%cutWindow == 0 && b.out.Changed <= steadyShare {
			break
		}
	}

	u := c.scores(b.draw, b.volumes.labels)
	clear(b.volumes.log) // the factors of Poisson learning
	b.out.Off = b.volumes.project(u)
	b.volumes.scale(u)
	return b.end(u, y), short
}

// searchCut takes the start to where the search of PoissonMBO ends, its sizes too where they are let go. The rounds of s
// bound the rounds of the cut, not those of this search.
func (b *sizedStart) searchCut(ctx context.Context, s *SizedSettings) error {
	if !s.searches(len(b.volumes.shares)) {
		return nil
	}
	mbo := *s
	mbo.Rounds = 0
	if err := newMBO(b, &mbo).search(ctx); err != nil {
		return err
	}
	b.volumes.shares = b.out.Shares
	b.out.Rounds, b.out.Changed = 0, 0
	return nil
}

// cut is the state of [Problem.FitCut]. Its unknowns are the points without a label in components with one, far points
// left out: the free points. Blocks are zero elsewhere. Blocks are in the coordinates V = D^½X and of single precision, as those
// of heat: a round moves classes by much more than its rounding, and reads half of the bytes. Degrees are divided by the
// largest one, so that no unit of the weights is too large or too small for it.
type cut struct {
	matrix *sparse.Pinned // N + (ρ−s)I over the free points, N the normalized Laplacian
	count  int            // free points
	far    []int32        // far points
	root   []float32      // D^½ of free points, 0 of others
	invert []float32      // D^-½ of free points, 0 of others
	shift  float64        // ρ − s
	sizes  []float64      // wanted free points of each class

	rows []float32 // (N + (ρ−s)I) D^½1: the sum of each row of a right-hand side that keeps X1 = 1
	z    []float32 // (N + (ρ−s)I)⁻¹ D^-½1: what a multiplier of a size adds to its column
	mass float64   // 1ᵀD^-½z
	mu   []float64 // multipliers of the sizes

	width int       // columns of the blocks: the classes, then zeros where products like them
	flow  []float32 // D^-½ W_ul Y_l
	v     []float32 // D^½X
	sum   []float32 // D^½(X + Λ): its positive part is D^½Z, its negative part D^½Λ of the next round
	b     []float32 // scratch: right-hand side
	next  []float32 // scratch: the v of every other step
}

// newCut prepares rounds for the sizes of v. It returns nil and an error, or a state and a nil error or
// [cg.ErrNotConverged].
func newCut(ctx context.Context, d *draw, v *volumes, shift float64) (*cut, error) {
	n, classes := d.problem.Len(), len(v.shares)
	f := newFreeSystem(d, v, shift)
	c := &cut{matrix: f.l.Single(-1, shift).Pin(f.isFixed), count: n - len(f.fixed), root: make([]float32, n),
		invert: make([]float32, n), shift: shift, mu: make([]float64, classes), width: sparse.SingleWidth(classes)}
	c.far = f.far
	c.sizes = freeSizes(v.shares, d.counts(), c.count)
	for _, block := range []*[]float32{&c.flow, &c.v, &c.sum, &c.b, &c.next} {
		*block = dense.Zeros[float32](n * c.width)
	}
	flow := d.inflow(d.at, d.y, f.isFixed)
	for i, root := range f.root {
		if root == 0 {
			continue
		}
		c.root[i] = float32(root)
		c.invert[i] = float32(1 / root)
		to := c.row(c.flow, i)
		for k, v := range flow.RawRowView(i) {
			to[k] = float32(v / (root * f.largest))
		}
	}

	// What the constraints need of the matrix.
	rows, inverse := mat.NewDense(n, 1, nil), mat.NewDense(n, 1, nil)
	f.MulTo(rows, mat.NewDense(n, 1, f.root))
	for i, root := range f.root {
		if root != 0 {
			inverse.Set(i, 0, 1/root)
		}
	}
	r, err := cg.Solve(ctx, f, inverse, &cg.Settings{Tolerance: 1e-8})
	if r == nil || !models.Usable(err) {
		return nil, err
	}
	z := r.X.RawMatrix().Data
	for i, z := range z {
		c.mass += inverse.At(i, 0) * z
	}
	c.rows = toSingle(rows.RawMatrix().Data)
	c.z = toSingle(z)
	return c, err
}

// toSingle returns x in single precision.
func toSingle(x []float64) []float32 {
	out := make([]float32, len(x))
	simd.ToSingle(out, x)
	return out
}

// freeSystem is N + (ρ−s)I over the free points of a cut.
type freeSystem struct {
	l       *sparse.Laplacian // N
	shift   float64           // ρ − s
	fixed   []int32           // points that are not free
	far     []int32           // those of them that are far
	isFixed []bool
	root    []float64 // D^½ of free points, D divided by the largest degree; 0 of others
	largest float64   // the largest degree of a free point
}

// newFreeSystem returns the system whose free points have no label and are where a label reaches them.
func newFreeSystem(d *draw, v *volumes, shift float64) *freeSystem {
	n := d.problem.Len()
	f := &freeSystem{l: d.problem.laplacian(sparse.Normalized), shift: shift, isFixed: make([]bool, n),
		root: make([]float64, n)}
	for _, i := range d.at {
		f.isFixed[i] = true
	}
	degrees := f.l.Degrees()
	least := leastDegree * slices.Sorted(slices.Values(degrees))[n/2]
	for i, degree := range degrees {
		alone := v.live != nil && !v.live[i]
		if !alone && !f.isFixed[i] && degree < least {
			f.far = append(f.far, int32(i))
		}
		if f.isFixed[i] = f.isFixed[i] || alone || degree < least; f.isFixed[i] {
			f.fixed = append(f.fixed, int32(i))
		} else {
			f.largest = max(f.largest, degree)
		}
	}
	for i, degree := range degrees {
		if !f.isFixed[i] {
			f.root[i] = math.Sqrt(degree / f.largest)
		}
	}
	return f
}

// Dim returns n.
func (f *freeSystem) Dim() int { return f.l.Dim() }

// MulTo sets dst to (N + (ρ−s)I)x over the free points, for x that is zero at the others.
func (f *freeSystem) MulTo(dst, x *mat.Dense) {
	f.l.RecurTo(dst, 1, x, f.shift, 0, x)
	for _, i := range f.fixed {
		clear(dst.RawRowView(int(i)))
	}
}

// freeSizes returns how many of the free points each class gets, for the given shares of all points
// that labels reach: its share without its labels, and at least half a point.
func freeSizes(shares, labels []float64, free int) []float64 {
	all := float64(free)
	for _, count := range labels {
		all += count
	}
	out := make([]float64, len(shares))
	var sum float64
	for k, share := range shares {
		out[k] = max(share*all-labels[k], 0.5)
		sum += out[k]
	}
	for k := range out {
		out[k] *= float64(free) / sum
	}
	return out
}

// row returns the values of the classes in row i of a block.
func (c *cut) row(block []float32, i int) []float32 { return block[i*c.width:][:len(c.sizes)] }

// begin sets X to the unit vectors of the labels, and Λ to zero.
func (c *cut) begin(labels []int32) {
	for i, class := range labels {
		c.v[i*c.width+int(class)] = c.root[i]
	}
	copy(c.sum, c.v)
}

// each calls f for the free points lo ≤ i < hi.
func (c *cut) each(lo, hi int, f func(i int)) {
	for i := lo; i < hi; i++ {
		if c.root[i] != 0 {
			f(i)
		}
	}
}

// round is one round of ADMM.
func (c *cut) round() {
	c.aim()
	sums := c.improve()

	// The multipliers of the sizes move each column along z.
	for k, size := range c.sizes {
		sums[k] = (sums[k] - size) / c.mass
		c.mu[k] += sums[k]
	}
	c.part(toSingle(sums))
}

// aim sets b to the right-hand side of the system of X.
func (c *cut) aim() {
	mu := toSingle(c.mu)
	par.For(len(c.root), cutGrain, func(lo, hi int) {
		c.each(lo, hi, func(i int) {
			b, sum, flow := c.row(c.b, i), c.row(c.sum, i), c.row(c.flow, i)
			inverse := c.invert[i]
			var total float32
			for k := range b {
				// Z − Λ is the positive part less the negative one, the absolute value.
				v := flow[k] + penalty*abs(sum[k]) - inverse*mu[k]
				b[k] = v
				total += v
			}

			// The multiplier of the row's sum moves all its values alike.
			shift := (c.rows[i] - total) / float32(len(b))
			for k := range b {
				b[k] += shift
			}
		})
	})
}

// abs returns |x|, without a branch.
func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// improve takes two Chebyshev steps from v towards the solution of (N + (ρ−s)I)v = b (Saad, Iterative
// Methods for Sparse Linear Systems, Algorithm 12.1), and returns Xᵀ1 over the free points. Eigenvalues lie between ρ−s
// and 2+ρ−s: the condition is 3.2, so that two steps leave a sixth of the error. One step takes more rounds than it saves.
func (c *cut) improve() []float64 {
	// v₁ = v₀ + d₀ and v₂ = v₁ + d₁ with d₀ = (b − Mv₀)/θ and d₁ = old·d₀ + now·(b − Mv₁), the second in place of v₀.
	theta, delta := 1+c.shift, 1.0
	first := delta / theta
	factor := 1 / (2*theta/delta - first)
	old, now := factor*first, 2*factor/delta
	c.matrix.Descend(c.next, c.v, c.b, float32(1/theta), 1, 0)
	c.matrix.Descend(c.v, c.next, c.b, float32(now), float32(1+old), float32(-old))

	parts := make([][]float64, par.Chunks(len(c.root), cutGrain))
	par.For(len(c.root), cutGrain, func(lo, hi int) {
		sums := make([]float64, len(c.sizes))
		c.each(lo, hi, func(i int) {
			inverse := float64(c.invert[i])
			for k, v := range c.row(c.v, i) {
				sums[k] += inverse * float64(v)
			}
		})
		parts[lo/cutGrain] = sums
	})
	sums := make([]float64, len(c.sizes))
	for _, part := range parts {
		for k, v := range part {
			sums[k] += v
		}
	}
	return sums
}

// part moves each column of v against z, by so much, and sets the sum for it, from the Λ that the last one left.
func (c *cut) part(by []float32) {
	par.For(len(c.root), cutGrain, func(lo, hi int) {
		c.each(lo, hi, func(i int) {
			v, sum := c.row(c.v, i), c.row(c.sum, i)
			z := c.z[i]
			for k := range v {
				x := v[k] - z*by[k]
				v[k] = x
				sum[k] = x + (sum[k]-abs(sum[k]))/2
			}
		})
	})
}

// labels returns the classes of the largest values; of points that are not free, class 0.
func (c *cut) labels() []int32 {
	out := make([]int32, len(c.root))
	par.For(len(out), cutGrain, func(lo, hi int) {
		c.each(lo, hi, func(i int) {
			row := c.row(c.sum, i)
			out[i] = int32(slices.Index(row, slices.Max(row)))
		})
	})
	return out
}

// scores returns Z, with the labels and, at far points, the classes of the start in it.
func (c *cut) scores(d *draw, start []int32) *mat.Dense {
	n := len(c.root)
	out := mat.NewDense(n, len(c.sizes), nil)
	c.each(0, n, func(i int) {
		to := out.RawRowView(i)
		for k, v := range c.row(c.sum, i) {
			to[k] = float64(max(v, 0) * c.invert[i])
		}
	})
	for _, i := range c.far {
		out.Set(int(i), int(start[i]), 1)
	}
	for q, i := range d.at {
		copy(out.RawRowView(int(i)), d.y.RawRowView(q))
	}
	return out
}
