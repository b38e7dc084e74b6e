package lanczos

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// ExternalTask holds the search for the smallest eigenpairs of a graph Laplacian as a task for
// another program. [NewExternalTask] says what to find, [ExternalTask.Finish] checks what was
// found.
type ExternalTask struct {
	// Laplacian is combinatorial or normalized, of power 1, its vertices in the order in which the
	// other program has them. For sparse.RandomWalk it is the sparse.Normalized one.
	Laplacian  *sparse.Laplacian
	Components *sparse.Components // in that order
	// Nullity null vectors, Laplacian.NullVectors of the first components, are known. Wanted
	// eigenvectors are to be found on their complement.
	Nullity, Wanted int
	// Tolerance bounds the residuals ‖Lv − λv‖₂ that are accepted.
	Tolerance float64
	// Cut estimates an eigenvalue somewhat beyond the last one that is wanted, from the
	// density of the spectrum. High bounds the largest one, and Norm estimates it.
	Cut, High, Norm float64

	given    *sparse.Laplacian
	p        *plan
	d        density
	order    []int32 // of the vertices; nil where it is as given
	exponent int     // the Laplacian is divided by 2^exponent
}

// NewExternalTask makes the task of finding the s.K smallest pairs of l, a Laplacian of power 1
// without shift, with the components c. reorder allows another order of the vertices, in which
// neighbours are near each other. It costs the estimate of the density: 40 products with blocks of
// 8 columns. It uses K, Tolerance and Seed of s.
func NewExternalTask(l *sparse.Laplacian, c *sparse.Components, s *Settings,
	reorder bool) (*ExternalTask, error) {
	if l.Shift() != 0 || l.Power() != 1 || s.Largest || s.Known != nil {
		return nil, errors.New("lanczos: another program finds the smallest eigenpairs of a " +
			"Laplacian of power 1 without shift, and takes no known ones")
	}
	p, err := newPlan(l.Dim(), &Settings{K: s.K, Tolerance: s.Tolerance, Seed: s.Seed})
	if err != nil {
		return nil, err
	}
	o := &ExternalTask{given: l, p: p.forSearch(), Components: c, Nullity: min(c.Count(), p.K)}
	if o.Laplacian, o.exponent, err = rescale(l); err != nil {
		return nil, err
	}

	// The other program sees the vertices in the order of the reordered Laplacian.
	o.Wanted = p.K - o.Nullity
	if reorder && l.Dim() >= reorderFrom {
		o.order = l.Graph().ProductOrder()
		o.Laplacian = o.Laplacian.Permute(o.order)
		o.Components = &sparse.Components{Of: make([]int32, l.Dim()), Sizes: c.Sizes}
		for at, i := range o.order {
			o.Components.Of[at] = c.Of[i]
		}
	}

	// The density gives the numbers that a filter or a shift needs. The cut lies a tenth of the
	// pairs and four more beyond the last wanted one.
	null := o.Laplacian.NullVectors(o.Components, p.K)
	o.d = estimateDensity(o.Laplacian, null, p.Seed, densitySteps)
	p.Nullity = o.Nullity
	o.Norm = o.d.norm()
	o.High = o.d.high
	o.Tolerance = p.Tolerance * o.d.norm()
	others := float64(p.n - o.Nullity)
	o.Cut = o.d.quantile(min(1, (1.1*float64(o.Wanted)+4)/math.Max(others, 1)))
	return o, nil
}

// Finish makes a Result of the eigenvectors that were found: orthonormal columns of an n×q matrix,
// q ≤ Wanted, in the order of Laplacian. It checks them as [Verify] does and returns the pairs as
// [Laplacian] would. It copies the vectors, with memory for the search ([ExternalBytes]).
//
// [ErrNotConverged] names the fault that was found, and comes with the pairs as they are.
func (o *ExternalTask) Finish(ctx context.Context, vectors *mat.Dense) (*Result, error) {
	basis, k, err := o.join(vectors)
	if err != nil {
		return nil, err
	}
	r := certify(o.Laplacian, wide(basis).slice(0, k), o.Nullity, o.Norm, nil)
	for j := range o.Nullity {
		r.Values[j] = 0
	}
	// Only NaN and Inf differ from zero when they are subtracted from themselves. Look for the entry
	// that made the residual so.
	if worst := r.MaxResidual(); worst-worst != 0 && vectors != nil {
		if i, j, bad := firstNotFinite(vectors); bad {
			return nil, fmt.Errorf("lanczos: entry %d of vector %d of the other program is %v", i, j,
				vectors.At(i, j))
		}
	}

	// The checks of Verify, on pairs of this program's own values.
	v := &verifier{l: o.Laplacian, p: o.p, d: o.d, basis: basis, values: r.Values, exponent: o.exponent,
		tolerance: o.Tolerance, orthonormal: orthonormal}
	v.Pairs = k
	v.Norm = o.Norm
	v.Components = o.Components.Count()
	if k < o.p.K {
		v.fault("it found %d of %d pairs", k, o.p.K)
	}
	v.checkPairs(r.Residuals, r.Orthogonality)
	switch {
	case o.p.n <= verifyDense:
		err = v.compare(ctx)
	case len(v.Faults) == 0:
		err = v.search(ctx)
	}

	if err != nil {
		return nil, err
	}
	// Give the pairs back in the caller's order and unit.
	r.Certificate = Certificate{Exact: v.Exact, Next: v.Next}
	if !v.Exact && !v.Searched {
		r.Certificate.Next = math.Inf(1)
	}
	if len(v.Faults) > 0 {
		err = fmt.Errorf("%w: of what the other program found, %s", ErrNotConverged, v.Faults[0])
	}
	found := wide(basis).narrow(k)
	r.setVectors(found)
	if o.order != nil {
		found.gatherRows(inverse(o.order))
	}
	r.settle(o.given, o.exponent)
	return r, err
}

// join puts the null vectors and the vectors that were found, k in all, in front of a block with
// memory for the search.
func (o *ExternalTask) join(vectors *mat.Dense) (basis *mat.Dense, k int, err error) {
	n := o.p.n
	q := 0
	if vectors != nil {
		var rows int
		if rows, q = vectors.Dims(); rows != n || q > o.Wanted {
			return nil, 0, fmt.Errorf("lanczos: %d×%d vectors of another program; at most %d of "+
				"length %d were wanted", rows, q, o.Wanted, n)
		}
	}

	if o.Nullity+q == 0 {
		return nil, 0, fmt.Errorf("%w: the other program found no pair", ErrNotConverged)
	}
	basis = o.p.allocate(o.p.columns())
	if null := o.Laplacian.NullVectors(o.Components, o.Nullity); null != nil {
		copyBlock(basis.Slice(0, n, 0, o.Nullity).(*mat.Dense), null)
	}
	if q > 0 {
		copyBlock(basis.Slice(0, n, o.Nullity, o.Nullity+q).(*mat.Dense), vectors)
	}
	return basis, o.Nullity + q, nil
}

// firstNotFinite returns the place of the first entry that is NaN or infinite.
func firstNotFinite(x *mat.Dense) (i, j int, found bool) {
	n, _ := x.Dims()
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if v-v != 0 {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// Spill lets [ExternalTask.Finish] keep the vectors in a file in folder if they would take more
// than limit bytes. Finish goes through them row by row, and the kernel writes pages where memory
// is short; a few blocks of 16 columns must stay in memory. Spill is for a task that has more
// vectors than fit.
func (o *ExternalTask) Spill(folder string, limit int64) {
	if vectors, _ := ExternalBytes(o.p.n, o.p.K); limit > 0 && vectors > limit {
		o.p.scratch = folder
	}
}

// ExternalBytes returns the memory that [ExternalTask.Finish] takes, and the part of it that must
// be in memory where the vectors are spilled.
func ExternalBytes(n, k int) (all, least int64) {
	p := (&plan{Settings: Settings{K: min(k, n)}}).forSearch()
	least = 8 * int64(n) * int64(4*searchBlock+2*slabWidth)
	return least + 8*int64(n)*int64(p.columns()), least
}
