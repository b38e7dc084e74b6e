package lanczos

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// ExternalTask are the smallest eigenpairs of a graph Laplacian as a task for another program.
// [NewExternalTask] says what to find, [ExternalTask.Finish] checks what was found.
type ExternalTask struct {
	// Laplacian is combinatorial or normalized, of power 1, its vertices in the order in
	// which the other program has them. For sparse.RandomWalk it is what sparse.Normalized is.
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
// neighbours are near each other. It costs the estimate of the density: 40 products with blocks
// of 8 columns. Of s, K, Tolerance and Seed count.
func NewExternalTask(l *sparse.Laplacian, c *sparse.Components, s *Settings, reorder bool) (*ExternalTask, error) {
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

	o.Wanted = p.K - o.Nullity
	if reorder && l.Dim() >= reorderFrom {
		o.order = l.Graph().ReverseCuthillMcKee()
		o.Laplacian = o.Laplacian.Permute(o.order)
		o.Components = &sparse.Components{Of: make([]int32, l.Dim()), Sizes: c.Sizes}
		for at, i := range o.order {
			o.Components.Of[at] = c.Of[i]
		}
	}

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

// Finish makes a Result of the eigenvectors that were found: orthonormal columns of an n×q
// matrix, q ≤ Wanted, in the order of Laplacian. They are checked as [Verify] does, and the
// pairs are those of [Laplacian]. It copies the vectors, with room for the search
// ([ExternalBytes]).
//
// With [ErrNotConverged], which says what was found to be wrong, comes what there is.
func (o *ExternalTask) Finish(ctx context.Context, vectors *mat.Dense) (*Result, error) {
	room, k, err := o.join(vectors)
	if err != nil {
		return nil, err
	}
	r := certify(o.Laplacian, room.Slice(0, o.p.n, 0, k).(*mat.Dense), o.Nullity, o.Norm)
	for j := range o.Nullity {
		r.Values[j] = 0
	}
	if worst := r.MaxResidual(); worst-worst != 0 && vectors != nil {
		if i, j, bad := firstNotFinite(vectors); bad {
			return nil, fmt.Errorf("lanczos: entry %d of vector %d of the other program is %v", i, j,
				vectors.At(i, j))
		}
	}

	v := &verifier{l: o.Laplacian, p: o.p, d: o.d, room: room, values: r.Values, exponent: o.exponent,
		tolerance: o.Tolerance}
	v.Pairs, v.Norm, v.Components = k, o.Norm, o.Components.Count()
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
	r.Certificate = Certificate{Exact: v.Exact, Next: v.Next}
	if !v.Exact && !v.Searched {
		r.Certificate.Next = math.Inf(1)
	}
	if len(v.Faults) > 0 {
		err = fmt.Errorf("%w: of what the other program found, %s", ErrNotConverged, v.Faults[0])
	}
	r.Vectors = narrow(room, k)
	if o.order != nil {
		gatherRows(r.Vectors, inverse(o.order))
	}
	r.settle(o.given, o.exponent)
	return r, err
}

// join puts the null vectors and those that were found, k in all, in front of a room for the
// search.
func (o *ExternalTask) join(vectors *mat.Dense) (room *mat.Dense, k int, err error) {
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
	room = o.p.room(o.p.columns())
	if null := o.Laplacian.NullVectors(o.Components, o.Nullity); null != nil {
		copyBlock(room.Slice(0, n, 0, o.Nullity).(*mat.Dense), null)
	}
	if q > 0 {
		copyBlock(room.Slice(0, n, o.Nullity, o.Nullity+q).(*mat.Dense), vectors)
	}
	return room, o.Nullity + q, nil
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

// Spill has [ExternalTask.Finish] keep vectors in a file in a folder, where they would take more
// than so many bytes, as it goes through them row by row. The pages are written by the kernel
// where memory is short; what must be in memory are a few blocks of 16 columns. It is for a
// task that has more vectors than fit.
func (o *ExternalTask) Spill(folder string, limit int64) {
	if vectors, _ := ExternalBytes(o.p.n, o.p.K); limit > 0 && vectors > limit {
		o.p.scratch = folder
	}
}

// ExternalBytes returns the memory that [ExternalTask.Finish] takes, and what must be in memory
// where the vectors are spilled.
func ExternalBytes(n, k int) (all, least int64) {
	p := (&plan{Settings: Settings{K: min(k, n)}}).forSearch()
	least = 8 * int64(n) * int64(4*searchBlock+2*slabWidth)
	return least + 8*int64(n)*int64(p.columns()), least
}
