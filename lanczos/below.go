package lanczos

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/sparse"
)

// Count is the number of eigenvalues of a Laplacian below a bound.
type Count struct {
	Bound float64
	N     int
	// Exact: N was counted ([cg.CountBelow]). Otherwise it is an estimate by the density of the spectrum,
	// which may be off by a tenth, and by more at the low end of an ill-conditioned graph.
	Exact bool
}

// String describes the count.
func (c *Count) String() string {
	if c.Exact {
		return fmt.Sprintf("%d eigenvalues are below %g", c.N, c.Bound)
	}
	return fmt.Sprintf("about %d eigenvalues are below %g", c.N, c.Bound)
}

// Pairs returns how many pairs of a Laplacian of dimension dim [Below] looks for first: an eighth and eight
// more than an estimate.
func (c *Count) Pairs(dim int) int {
	if c.Exact {
		return c.N
	}
	return min(dim, c.N+c.N/8+8)
}

// CountBelow counts the eigenvalues of l, of any power and without shift, below a positive bound, each in
// its multiplicity; c are the components of its graph. It counts exactly where the graph has an exact
// factor and s.MemoryLimit allows one ([cg.FactorBytes]), and estimates the number elsewhere, from s.Seed.
// An eigenvalue within rounding of the bound, 1e-14·‖L‖, is not below it. Other settings do not count.
//
// The estimate costs 40 products with blocks of 8 columns; [cg.CountBelow] says what counting costs.
func CountBelow(l *sparse.Laplacian, c *sparse.Components, bound float64, s *Settings) (*Count, error) {
	if l.Shift() != 0 {
		return nil, fmt.Errorf("lanczos: the Laplacian is shifted by %v; count without the shift", l.Shift())
	}
	if !(bound > 0) || math.IsInf(bound, 1) {
		return nil, fmt.Errorf("lanczos: the bound on the eigenvalues is %v; it must be positive and finite, as "+
			"the eigenvalues of a Laplacian begin at 0", bound)
	}
	n := &Count{Bound: bound}
	cut := strictlyBelow(l, bound)
	if cut >= l.UpperBound() {
		n.N = l.Dim()
		n.Exact = true
		return n, nil
	}
	set := Settings{}
	if s != nil {
		set = *s
	}
	if set.MemoryLimit == 0 || cg.FactorBytes(l.Dim(), l.Graph().NNZ()) <= set.MemoryLimit {
		if n.N, n.Exact = cg.CountBelow(l, math.Pow(cut, 1/float64(l.Power())), nil); n.Exact {
			n.N = max(n.N, c.Count()) // the zeros are below, whatever rounding says
			return n, nil
		}
	}

	// Estimate the share of the spectrum behind the null vectors.
	mild, e, err := rescale(l)
	if err != nil {
		return nil, err
	}
	d := estimateDensity(mild, mild.NullVectors(c, c.Count()), set.Seed, densitySteps)
	others := l.Dim() - c.Count()
	scaled := math.Ldexp(cut, -e*l.Power())
	n.N = c.Count() + sort.Search(others, func(k int) bool {
		return d.lowEnd((float64(k)+0.5)/float64(others)) >= scaled
	})
	return n, nil
}

// strictlyBelow returns the value below which an eigenvalue counts as below bound in spite of rounding.
func strictlyBelow(l *sparse.Laplacian, bound float64) float64 {
	return bound - min(1e-14*l.UpperBound(), 1e-6*bound)
}

// Below returns all eigenpairs of l with values below n.Bound, in full multiplicity, as [Laplacian]
// returns the smallest. n comes from [CountBelow] with the same arguments; s.K does not count.
//
// The pairs are checked: if the whole spectrum was computed, Certificate.Exact is true. Else if their number
// is the exact count, Certificate.Counted is true. Else the search on the complement of the pairs, from an
// independent random block, found no further value below the bound.
//
// If an estimate was too small, the search is made again for more pairs, from those found. Too many pairs
// for s.MemoryLimit are an error that tells the count. On [ErrNotConverged] the Result holds the pairs
// below the bound that were reached.
func Below(ctx context.Context, l *sparse.Laplacian, c *sparse.Components, n *Count, s *Settings) (*Result,
	error) {
	set := Settings{}
	if s != nil {
		set = *s
	}
	if set.Largest {
		return nil, fmt.Errorf("lanczos: the pairs below a bound are the smallest; ask for them without the " +
			"largest")
	}
	if n == nil || !(n.Bound > 0) || n.N < 1 || n.N > l.Dim() {
		return nil, fmt.Errorf("lanczos: %+v is no count of eigenvalues below a positive bound", n)
	}

	cut := strictlyBelow(l, n.Bound)
	set.K = n.Pairs(l.Dim())
	for {
		r, err := Laplacian(ctx, l, c, &set)
		if r == nil {
			if _, _, short := LaplacianBytes(l.Dim(), c, Edges{Count: l.Graph().NNZ()}, &set); short != nil {
				err = fmt.Errorf("%w; %s: lower the bound", err, n)
			}
			return nil, err
		}
		k := len(r.Values)
		reached := k == l.Dim() || r.Values[k-1] >= cut
		switch {
		case err != nil, reached, n.Exact && r.Certificate.Next >= cut:
			return r.cutBelow(n, cut, err)
		}

		// There are more: the estimate was too small, or the count was spoiled by rounding.
		set.Known = r.Vectors
		set.K = min(l.Dim(), k+max(k/2, 16))
	}
}

// cutBelow keeps the pairs with values below cut, and compares their number with the count.
func (r *Result) cutBelow(n *Count, cut float64, err error) (*Result, error) {
	k, _ := slices.BinarySearch(r.Values, cut)
	if k < len(r.Values) {
		r.Certificate.Next = min(r.Certificate.Next, r.Values[k])
	}
	r.truncate(k)
	r.Certificate.Counted = err == nil && n.Exact && k == n.N
	return r, err
}
