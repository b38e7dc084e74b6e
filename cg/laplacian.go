package cg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// LaplacianSettings configures [Laplacian]. The zero value of every field is its default.
type LaplacianSettings struct {
	Settings
	// Method is the preconditioner to make if Settings.Preconditioner is nil.
	Method Method
	// Seed of the random choices of [ApproximateCholesky]. Any value, 0 included.
	Seed uint64
}

// Laplacian solves (L + cI)ᵖX = B for the Laplacian l with its shift c ≥ 0 and power p; see [Solve]
// for B, X and errors. sparse.RandomWalk acts like sparse.Normalized: for (I − D⁻¹W + cI)X = B
// solve with D^½B and take D^-½X.
//
// c are the components of the graph, nil to have them found. Their null vectors V are eigenvectors
// for every shift: with c > 0 the part VVᵀB of B is divided by cᵖ; with c = 0 it must be zero, or
// Project be set, and the solution is the one orthogonal to V. Neither needs V as a matrix.
//
// [Auto] estimates the condition of D⁻¹(L + cI) from the shift, from the longest path through the
// graph and from the Rayleigh quotient of a wave along it. Below 2000 it chooses [Chebyshev]: a
// polynomial with a degree of about three times the root of the condition, evaluated in single
// precision. Above 2000 it chooses [ApproximateCholesky] for one right-hand side and p = 1, and otherwise
// [Cholesky], which serves at any condition after a setup that costs as much as some hundred products. So it
// does from 50 on where the graph itself is ill-conditioned ([Hard]) and has an exact factor, and where pairs
// of vertices have edges that are much heavier than all others. The estimates may miss what makes a graph
// hard: where the polynomial does not come to an end in chebyshevPatience iterations, [ApproximateCholesky]
// takes its place and goes on. Powers apply the preconditioner of L + cI p times; a polynomial then needs a
// condition of (L + cI)ᵖ below 10⁵.
//
// Before a factor is made, vertices of up to four neighbours are eliminated exactly, where a quarter of all
// have so few: the iterations go on the Schur complement of the others, and then the residuals of the whole
// system are computed. This leaves half of the vertices of a grid, and fewer of roads and trees. Graphs in space of
// 100,000 vertices and more are eliminated in up to eight slabs, at once, where a breadth-first search has narrow levels.
func Laplacian(ctx context.Context, l *sparse.Laplacian, c *sparse.Components, b *mat.Dense,
	s *LaplacianSettings) (*Result, error) {
	var set LaplacianSettings
	if s != nil {
		set = *s
	}
	shift := l.Shift()
	var faults []error
	if !(shift >= 0) || math.IsInf(shift, 1) {
		faults = append(faults,
			fmt.Errorf("cg: the Laplacian is shifted by %v; it must not be negative", shift))
	}
	if !methods.Valid(set.Method) {
		faults = append(faults, fmt.Errorf("cg: preconditioner %v", set.Method))
	}
	if c != nil && len(c.Of) != l.Dim() {
		faults = append(faults, fmt.Errorf("cg: components of %d vertices for a graph of %d",
			len(c.Of), l.Dim()))
	}
	if set.Null != nil {
		faults = append(faults, errors.New("cg: the null vectors of a Laplacian are known; leave Null out"))
	}
	if f, ok := set.Preconditioner.(*Factor); ok {
		if err := f.fits(l); err != nil {
			faults = append(faults, err)
		}
	}
	p, err := newPlan(l.Dim(), b.RawMatrix().Cols, &set.Settings)
	if err := errors.Join(append(faults, err)...); err != nil {
		return nil, err
	}

	if c == nil {
		c = l.Graph().Components()
	}

	if p.Norm == 0 {
		p.Norm = l.UpperBound()
	}

	t := trial{l: l, known: newComponentNull(l, c), b: b, plan: p}
	if shift == 0 && !p.Project {
		// Before a factor is made, which may take long.
		if err := checkNull(t.known.coefficients(b), columnNorms(b), min(p.Tolerance, nullLimit)); err != nil {
			return nil, err
		}
	}

	// A preconditioner of the caller stands for all powers; ours, and a factor, are for L + cI and are
	// repeated.
	method := set.Method
	m := p.Preconditioner
	power := 1
	switch {
	case p.External != nil, m == nil && isZero(b):
		method = None
		m = identity{}
	case m == nil:
		method, m = precondition(l, set.Method, func(s *system, method Method, most int) (Method, Preconditioner) {
			if set.Method == Auto && single(l, p.cols) {
				method = ApproximateCholesky
			}
			made := form{deflated: true, copies: copiesFor(p.cols), seed: set.Seed}
			c := t.core(s)
			if c == nil {
				return made.factor(s, method, most)
			}
			made.deflated = l.Shift() == 0
			method, rest := made.factor(&c.system, method, most)
			return method, &reduced{c, rest}
		})
		power = l.Power()
	}
	if f, ok := p.Preconditioner.(*Factor); ok && p.External == nil {
		method = f.Method()
		power = l.Power()
	}

	if set.Method != Auto || method != Chebyshev || p.MaxIterations <= chebyshevPatience {
		return t.run(ctx, method, m, power)
	}

	// The polynomial was chosen by estimates, and the iterations tell whether they were right.
	most := p.MaxIterations
	p.MaxIterations = chebyshevPatience
	before, err := t.run(ctx, method, m, power)
	if !errors.Is(err, ErrNotConverged) || before.MaxIterations() < chebyshevPatience {
		return before, err
	}
	method, m = Precondition(l, ApproximateCholesky, set.Seed)
	return t.goOn(ctx, before, most, method, m)
}

// chebyshevPatience is the number of iterations in which a polynomial has to solve a system. Graphs of
// neighbours take 4 to 6 to 1e-8 (MNIST, shifts from 0 to 1).
const chebyshevPatience = 25

// exactColumns is the number of right-hand sides from which an exact factor is cheaper than the approximate one: on
// grids of up to 300,000 vertices and on neighbours of points on a surface, one right-hand side took it 1.2 to 2
// times as long, three took it 0.6 times as long and sixteen half as long.
const exactColumns = 2

// single reports whether [Auto] looks for no exact factor. A power applies the factor several times, so that the
// approximate one would take many more iterations.
func single(l *sparse.Laplacian, columns int) bool { return columns < exactColumns && l.Power() == 1 }

// LaplacianBytes estimates the memory that [Laplacian] takes for m right-hand sides, as [Bytes] does for
// [Solve], with the factor that [Auto] makes for a graph that is [Hard]. It costs what Hard costs.
func LaplacianBytes(l *sparse.Laplacian, m int, s *LaplacianSettings) (int64, error) {
	bytes, err := Bytes(l.Dim(), m, &s.Settings)
	if err != nil || s.Preconditioner != nil || !Hard(l.Graph(), l.Kind()) {
		return bytes, err
	}
	largest := 1.0
	if l.Kind() == sparse.Combinatorial {
		largest = slices.Max(l.Degrees())
	}
	if 2*largest <= exactCondition*l.Shift() {
		return bytes, nil // well-conditioned by its shift
	}
	if single(l, m) {
		return bytes + approximateBytes(l.Dim(), l.Graph().NNZ()), nil
	}
	return bytes + FactorBytes(l.Dim(), l.Graph().NNZ()), nil
}

// trial is a system of [Laplacian].
type trial struct {
	l     *sparse.Laplacian
	known *componentNull // null vectors of L
	b     *mat.Dense
	plan  *plan
}

// run solves the system with a preconditioner that stands for L + cI to the given power of l's powers.
func (t *trial) run(ctx context.Context, method Method, m Preconditioner, power int) (*Result, error) {
	// With a shift the null vectors are eigenvectors with known eigenvalues, and the preconditioner
	// solves for them exactly. Without one the whole iteration stays on their complement.
	t.plan.core, _ = m.(*reduced)
	var null subspace
	if shift := t.l.Shift(); shift > 0 {
		value := math.Pow(shift, float64(t.l.Power()/power))
		m = deflated{m, t.known, func(int) float64 { return value }}
	} else {
		null = t.known
	}

	t.plan.Preconditioner = repeated{m, power}
	r, err := solve(ctx, t.l, t.b, t.plan, null)
	if r != nil {
		r.Method = method
	}
	return r, err
}

// core returns the core of the system s of the Laplacian, or nil if the iterations do not go by it.
func (t *trial) core(s *system) *core {
	if t.l.Power() > 1 || t.plan.Start != nil || t.l.Shift() > 0 && s.shadowed() {
		return nil
	}
	return newCore(s, s.divide())
}

// goOn continues from a result with another preconditioner, to at most so many iterations in all.
func (t *trial) goOn(ctx context.Context, before *Result, most int, method Method, m Preconditioner) (*Result,
	error) {
	p := t.plan
	p.Start = before.X
	p.MaxIterations = most - chebyshevPatience
	if report := p.OnIteration; report != nil {
		p.OnIteration = func(s State) error {
			s.Iteration += chebyshevPatience
			s.Products += before.Products
			return report(s)
		}
	}

	r, err := t.run(ctx, method, m, t.l.Power())
	if r != nil {
		r.Products += before.Products
		r.Cycles += before.Cycles
		for j, k := range before.Iterations {
			r.Iterations[j] += k
		}
	}
	return r, err
}

// isZero reports whether there is nothing to solve for.
func isZero(b *mat.Dense) bool {
	n, _ := b.Dims()
	for i := range n {
		for _, v := range b.RawRowView(i) {
			if v != 0 {
				return false
			}
		}
	}
	return true
}
