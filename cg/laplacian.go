package cg

import (
	"context"
	"errors"
	"fmt"
	"math"

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
// precision. Above 2000 it chooses [Cholesky], which serves at any condition after a setup that
// costs as much as some hundred products. So it does from 50 on where the graph itself is
// ill-conditioned ([Hard]) and has an exact factor. Powers apply the preconditioner of L + cI p
// times; a polynomial then needs a condition of (L + cI)ᵖ below 10⁵.
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
	p, err := newPlan(l.Dim(), b.RawMatrix().Cols, &set.Settings)
	if err := errors.Join(append(faults, err)...); err != nil {
		return nil, err
	}

	if c == nil {
		c = l.Graph().Components()
	}

	// A preconditioner of the caller stands for all powers; ours is for L + cI and is repeated.
	method := set.Method
	m := p.Preconditioner
	power := 1
	switch {
	case p.External != nil, m == nil && isZero(b):
		method = None
		m = identity{}
	case m == nil:
		method, m = Precondition(l, set.Method, set.Seed)
		power = l.Power()
	}

	// With a shift the null vectors are eigenvectors with known eigenvalues, and the preconditioner
	// solves for them exactly. Without one the whole iteration stays on their complement.
	var null subspace
	known := newComponentNull(l, c)
	if shift > 0 {
		value := math.Pow(shift, float64(l.Power()/power))
		m = deflated{m, known, func(int) float64 { return value }}
	} else {
		null = known
	}

	p.Preconditioner = repeated{m, power}
	r, err := solve(ctx, l, b, p, null)
	if r != nil {
		r.Method = method
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
