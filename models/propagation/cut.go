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
	penalty = 1.0
	// innerSteps of a Chebyshev iteration in each round. Its matrix has a condition of 3.2, so that two
	// steps leave a sixth of the error. One step takes more rounds than it saves.
	innerSteps = 2
	cutGrain   = 1024
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
// A round moves classes little, and the start decides at which of many minima they end. With three classes and more
// the start is therefore where pairs are divided anew and sizes are let go, as in [Problem.FitPoissonMBO], with
// KeepPairs and KeepSizes alike. m are then the sizes that this came to.
//
// A round costs two passes over the graph for all classes at once and some eight over blocks. It holds
// seven n×C blocks beside those of Poisson learning.
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
	for b.out.Rounds < rounds && len(c.fixed) < p.Len() {
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

	u := c.scores(b.draw)
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

// cut is the state of [Problem.FitCut]. Its unknowns are the points without a label in components with one,
// the free points; blocks are zero elsewhere. Blocks are in the coordinates V = D^½X.
type cut struct {
	l       *sparse.Laplacian // N
	fixed   []int32           // points that are not free
	root    []float64         // D^½ of free points, 0 of others
	inverse []float64         // D^-½ of free points, 0 of others
	shift   float64           // ρ − s
	sizes   []float64         // wanted free points of each class

	rows []float64 // (N + (ρ−s)I) D^½1: the sum of each row of a right-hand side that keeps X1 = 1
	z    []float64 // (N + (ρ−s)I)⁻¹ D^-½1: what a multiplier of a size adds to its column
	mass float64   // 1ᵀD^-½z
	mu   []float64 // multipliers of the sizes

	flow    *mat.Dense                   // D^-½ W_ul Y_l
	v, copy *mat.Dense                   // D^½X and D^½Z
	dual    *mat.Dense                   // D^½Λ
	b, r, d *mat.Dense                   // scratch: right-hand side, residual, direction
	wide    struct{ v, b, r *mat.Dense } // the blocks that v, b and r are views of: see [sparse.Wide]
}

// newCut prepares rounds for the sizes of v. It returns nil and an error, or a state and a nil error or
// [cg.ErrNotConverged].
func newCut(ctx context.Context, d *draw, v *volumes, shift float64) (*cut, error) {
	n, classes := d.problem.Len(), len(v.shares)
	c := &cut{l: d.problem.laplacian(sparse.Normalized), shift: shift, root: make([]float64, n),
		inverse: make([]float64, n), mu: make([]float64, classes)}
	c.wide.v, c.v = sparse.Wide(n, classes)
	c.wide.b, c.b = sparse.Wide(n, classes)
	c.wide.r, c.r = sparse.Wide(n, classes)
	c.copy = mat.NewDense(n, classes, nil)
	c.dual = mat.NewDense(n, classes, nil)
	c.d = mat.NewDense(n, classes, nil)

	// Points with a label and points that no label reaches are fixed.
	fixed := make([]bool, n)
	for _, i := range d.at {
		fixed[i] = true
	}
	for i, degree := range c.l.Degrees() {
		if fixed[i] = fixed[i] || v.live != nil && !v.live[i]; fixed[i] {
			c.fixed = append(c.fixed, int32(i))
			continue
		}
		c.root[i] = math.Sqrt(degree)
		c.inverse[i] = 1 / c.root[i]
	}
	c.sizes = freeSizes(v.shares, d.counts(), n-len(c.fixed))
	c.flow = d.inflow(d.at, d.y, fixed)
	dense.ScaleRows(c.flow, c.inverse)

	// What the constraints need of the matrix.
	rows := mat.NewDense(n, 1, nil)
	c.MulTo(rows, mat.NewDense(n, 1, c.root))
	c.rows = rows.RawMatrix().Data
	r, err := cg.Solve(ctx, c, mat.NewDense(n, 1, c.inverse), &cg.Settings{Tolerance: 1e-8})
	if r == nil || !models.Usable(err) {
		return nil, err
	}
	c.z = r.X.RawMatrix().Data
	for i, z := range c.z {
		c.mass += c.inverse[i] * z
	}
	return c, err
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

// Dim returns n.
func (c *cut) Dim() int { return c.l.Dim() }

// MulTo sets dst to (N + (ρ−s)I)x over the free points, for x that is zero at the others.
func (c *cut) MulTo(dst, x *mat.Dense) {
	c.l.RecurTo(dst, 1, x, c.shift, 0, x)
	for _, i := range c.fixed {
		clear(dst.RawRowView(int(i)))
	}
}

// begin sets both copies to the unit vectors of the labels.
func (c *cut) begin(labels []int32) {
	for i, class := range labels {
		c.v.Set(i, int(class), c.root[i])
	}
	c.copy.Copy(c.v)
}

// each calls f for the free points.
func (c *cut) each(f func(i int)) {
	par.For(len(c.root), cutGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if c.root[i] != 0 {
				f(i)
			}
		}
	})
}

// round is one round of ADMM.
func (c *cut) round() {
	classes := float64(len(c.sizes))
	c.each(func(i int) {
		b := c.b.RawRowView(i)
		z, dual, flow := c.copy.RawRowView(i), c.dual.RawRowView(i), c.flow.RawRowView(i)
		var sum float64
		for k := range b {
			b[k] = flow[k] + penalty*(z[k]-dual[k]) - c.inverse[i]*c.mu[k]
			sum += b[k]
		}

		// The multiplier of the row's sum moves all its values alike.
		shift := (c.rows[i] - sum) / classes
		for k := range b {
			b[k] += shift
		}
	})
	c.improve()

	// The multipliers of the sizes move each column along z.
	move := c.sums()
	for k := range move {
		move[k] = (move[k] - c.sizes[k]) / c.mass
		c.mu[k] += move[k]
	}
	c.each(func(i int) {
		v, z, dual := c.v.RawRowView(i), c.copy.RawRowView(i), c.dual.RawRowView(i)
		for k := range v {
			v[k] -= c.z[i] * move[k]
			sum := v[k] + dual[k]
			z[k] = max(sum, 0)
			dual[k] = sum - z[k]
		}
	})
}

// improve takes Chebyshev steps from v towards the solution of (N + (ρ−s)I)v = b (Saad, Iterative
// Methods for Sparse Linear Systems, Algorithm 12.1). Eigenvalues lie between ρ−s and 2+ρ−s.
func (c *cut) improve() {
	theta, delta := 1+c.shift, 1.0
	var last float64
	for step := range innerSteps {
		c.l.RecurTo(c.wide.r, -1, c.wide.v, -c.shift, 1, c.wide.b)
		factor := delta / theta
		old, now := 0.0, 1/theta
		if step > 0 {
			factor = 1 / (2*theta/delta - last)
			old, now = factor*last, 2*factor/delta
		}
		last = factor

		c.each(func(i int) {
			d, r, v := c.d.RawRowView(i), c.r.RawRowView(i), c.v.RawRowView(i)
			for k := range d {
				d[k] = old*d[k] + now*r[k]
				v[k] += d[k]
			}
		})
	}
}

// sums returns Xᵀ1 over the free points.
func (c *cut) sums() []float64 {
	n := len(c.root)
	parts := make([][]float64, par.Chunks(n, cutGrain))
	par.For(n, cutGrain, func(lo, hi int) {
		sums := make([]float64, len(c.sizes))
		for i := lo; i < hi; i++ {
			for k, v := range c.v.RawRowView(i) {
				sums[k] += c.inverse[i] * v
			}
		}
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

// labels returns the classes of the largest values; of points that are not free, class 0.
func (c *cut) labels() []int32 {
	out := make([]int32, len(c.root))
	c.each(func(i int) {
		row := c.copy.RawRowView(i)
		out[i] = int32(slices.Index(row, slices.Max(row)))
	})
	return out
}

// scores returns Z, with the labels in it.
func (c *cut) scores(d *draw) *mat.Dense {
	out := mat.DenseCopyOf(c.copy)
	dense.ScaleRows(out, c.inverse)
	for q, i := range d.at {
		copy(out.RawRowView(int(i)), d.y.RawRowView(q))
	}
	return out
}
