package lanczos

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// inverter is (L + σI)⁻¹ for a Laplacian L, on the complement of its null vectors: the other kind
// of [filter]. It is used where the low end of the spectrum is so dense that no polynomial of
// degree [maxDegree] separates the wanted eigenvalues from the next, as in long paths, trees and
// strips, or none of degree [exactDegree] where there is an exact factor.
//
// Block conjugate gradients solve to near rounding: in one or two iterations with an exact factor
// or an approximate one of a tree, otherwise in some dozens.
type inverter struct {
	shifted *sparse.Laplacian // L + σI
	high    float64           // bound on its eigenvalues
	limit   float64           // largest relative residual of the systems
	c       *sparse.Components
	null    *mat.Dense
	m       cg.Preconditioner
	exact   bool
}

const (
	// inverseTolerance bounds the relative residuals of the systems, beside a tenth of
	// the tolerance of the pairs.
	inverseTolerance = 1e-9
	// inverseIterations ends a solution that an approximate factor does not bring near; the
	// last iterate serves, since the true residuals of the pairs decide.
	inverseIterations = 300
	// exactTolerance bounds the relative residuals with an exact factor, beside ten times the
	// tolerance of the pairs. It may be larger: a residual r of a system adds λr to the residual of
	// a pair, and λ is small.
	exactTolerance = 1e-7
	// inverseRange bounds the quotient of the filter at the null vectors and at the last wanted
	// eigenvalue, because the largest values bring rounding errors with them.
	inverseRange = 1e5
	// inverseSmooth is by how much a residual of the inverse is smaller, as a residual of a pair, than its
	// bound, which supposes the largest eigenvalue: an inverse leaves little of large eigenvalues
	// (40 times and more was measured). True residuals decide whether a run has ended. What is left are
	// relative residuals of the inverse of 2.5e-7 at the default tolerance, and about the square of that
	// as errors of the values.
	inverseSmooth = 100
	// exactDegree is the degree from which a polynomial costs more than a solution by an exact
	// factor of the graph of points on a surface, with about ten numbers an edge.
	exactDegree = 50
)

// mayInvert returns a as a Laplacian if it can be inverted behind its known null vectors in the
// memory that is allowed, and nil otherwise.
func (p *plan) mayInvert(a sparse.Operator) *sparse.Laplacian {
	l, ok := a.(*sparse.Laplacian)
	if !ok || l.Power() != 1 || l.Shift() != 0 || p.Nullity != l.Graph().Components().Count() {
		return nil
	}
	if p.MemoryLimit > 0 && p.bytes()+inverseBytes(p.n, l.Graph().NNZ(), p.block) > p.MemoryLimit {
		return nil
	}
	return l
}

// bytesWithFactor returns the memory of a plan for a graph with nnz stored edges: with the matrix of the filter of a
// rough search, or with a factor if the graph is ill-conditioned (hard) and the limit allows a factor.
func (p *plan) bytesWithFactor(nnz int, hard bool) int64 {
	bytes := p.bytes()
	if !p.dense() {
		matrix := sparse.SingleBytes(p.n, nnz) // of a filter in single precision
		if p.Rough {
			return bytes + matrix
		}
		if p.narrow { // it takes the place of a block
			bytes += max(0, matrix-8*int64(p.n)*int64(p.block))
		}
	}
	if !hard || p.dense() {
		return bytes
	}
	if with := bytes + inverseBytes(p.n, nnz, p.block); p.MemoryLimit == 0 || with <= p.MemoryLimit {
		return with
	}
	return bytes
}

// inverseBytes bounds the memory of a factor of a graph of n vertices with nnz stored
// edges, and of a system of b columns.
func inverseBytes(n, nnz, b int) int64 {
	return 8*int64(n)*int64(9*b) + cg.FactorBytes(n, nnz)
}

// newInverter makes the factor, and reports whether it is exact. It costs O(nnz log nnz),
// or what [cg.Cholesky] says.
func newInverter(l *sparse.Laplacian, f filter, p *plan) (v *inverter, exact bool) {
	c := l.Graph().Components()
	v = &inverter{shifted: l.With(1, f.sigma), high: f.hi + f.sigma,
		limit: math.Min(inverseTolerance, p.Tolerance/10), c: c, null: l.NullVectors(c, c.Count())}
	method, m := cg.Precondition(v.shifted, cg.Cholesky, p.Seed)
	v.m = m
	if exact = method == cg.Cholesky; exact {
		v.exact = true
		v.limit = math.Min(exactTolerance, 10*p.Tolerance)
	}
	return v, exact
}

// apply overwrites x, orthogonal to the null vectors, with high·(L + σI)⁻¹x and returns the number
// of products with single vectors.
//
// A residual cannot be less than about 1e-16·‖L‖·‖y‖ for a solution y. One application of the
// factor estimates ‖y‖. Where rounding is larger than this estimate says, the last iterate serves:
// a run ends with the true residuals of the eigenpairs, not with residuals of these systems.
func (v *inverter) apply(ctx context.Context, x *mat.Dense) (int, error) {
	n, b := x.Dims()
	start := dense.New(n, b)
	v.m.ApplyTo(start, x)
	project(start, v.null)
	// The start is the solution by the factor alone, and tells the attainable residual.
	attainable := 0.0
	before := columnNorms(x)
	for j, length := range columnNorms(start) {
		attainable = math.Max(attainable, 4e-16*v.high*length/before[j])
	}
	s := cg.Settings{Tolerance: math.Min(math.Max(v.limit, attainable), 1e-3),
		MaxIterations: inverseIterations, Block: b, Preconditioner: v.m, Start: start}
	r, err := cg.Laplacian(ctx, v.shifted, v.c, x, &cg.LaplacianSettings{Settings: s})
	if err != nil && !errors.Is(err, cg.ErrNotConverged) {
		return 0, err
	}

	x.Scale(v.high, r.X)
	return r.Products, nil
}

// inverseFilter returns an inverse of a as a filter for pairs up to the share last of the spectrum,
// if a can be inverted and the density says that no polynomial of degree [maxDegree] serves. beyond
// is the share that a polynomial would let pass. The filter's lo is about the eigenvalue that a
// block of the search leaves behind it.
func inverseFilter(a sparse.Operator, p *plan, d *density, last, beyond float64) (f filter, ok bool) {
	if p.Nullity == 0 {
		return f, false
	}
	// The degree that a polynomial would need for the same separation.
	end := d.lowEnd(last)
	cut := math.Max(d.lowEnd(beyond), end+end/8)
	polynomial := filter{lo: cut, hi: d.high}
	degree := p.growth() / math.Acosh(polynomial.map1(0))
	if !(end > 0) || cut > d.high/2 || degree <= exactDegree {
		return f, false
	}

	// Between exactDegree and maxDegree only an exact factor is worth it, which is not tried for a
	// graph that is well conditioned.
	l := p.mayInvert(a)
	if l == nil || degree <= maxDegree && !cg.Hard(l.Graph(), l.Kind()) {
		return f, false
	}
	f = filter{lo: math.Max(cut, d.lowEnd(last+searchBlock/float64(p.n))), hi: d.high,
		sigma: end / inverseRange}
	inverse, exact := newInverter(l, f, p)
	f.inverse = inverse
	return f, exact || degree > maxDegree
}

// lowEnd returns the quantile of a spectrum that begins at 0, also for shares below the weight of
// the first Ritz values of the processes. There it takes the number of eigenvalues below λ to grow
// like λ^α, with α from the first and the second Ritz values, but at least 1/2, the exponent of a
// path. First values that are near to eigenvalues stand for themselves.
func (d *density) lowEnd(share float64) float64 {
	const b = densityVectors
	if len(d.nodes) < 2*b {
		return d.quantile(share)
	}
	// Means of the first and of the second Ritz values of the processes.
	var weight, value, residual [2]float64
	for i, nd := range d.nodes[:2*b] {
		weight[i/b] += nd.weight
		value[i/b] += nd.value / b
		residual[i/b] += nd.residual / b
	}

	half := weight[0] / 2
	if share >= half || residual[0] < value[0]/2 || !(value[0] > 0 && value[1] > value[0]) {
		return d.quantile(share)
	}
	alpha := math.Max(math.Log((weight[0]+weight[1]/2)/half)/math.Log(value[1]/value[0]), 0.5)
	return math.Min(d.quantile(share), value[0]*math.Pow(share/half, 1/alpha))
}
