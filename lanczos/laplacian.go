package lanczos

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// Laplacian returns the s.K smallest (or largest) eigenpairs of the graph Laplacian l of any power,
// without shift. c are the components of its graph; their number is the nullity, and that many
// exact null vectors come first, in the order of the components. See [Solve] for costs and errors.
// Pairs of several components are found in each alone ([LaplacianBytes]), unless s.Known or
// s.Largest is given.
//
// For sparse.RandomWalk the vectors are D^-½u for eigenvectors u of the normalized Laplacian:
// orthonormal in the inner product xᵀDy. Orthogonality and residuals are computed for u. A vertex
// of degree zero keeps its u.
//
// As L v = λ D v is the same equation, sparse.RandomWalk also answers the generalized problem.
//
// Weights may be of any size: the weights of a combinatorial Laplacian are multiplied by a power of
// two where squares would overflow or underflow. Eigenvalues that are themselves beyond float64 are
// an error. No value is negative. Signs are fixed: among the entries of a vector within 1e-6 of its
// largest magnitude, the first is positive.
func Laplacian(ctx context.Context, l *sparse.Laplacian, c *sparse.Components, s *Settings) (*Result, error) {
	if l.Shift() != 0 {
		return nil, fmt.Errorf("lanczos: the Laplacian is shifted by %v, which hides its null "+
			"vectors; solve without the shift and add it to the eigenvalues, or use Solve", l.Shift())
	}
	mild, e, err := rescale(l)
	if err != nil {
		return nil, err
	}

	// Known vectors of the random-walk Laplacian become vectors of the normalized one.
	if s != nil && s.Known != nil && l.Kind() == sparse.RandomWalk {
		inner := *s
		if rows, _ := s.Known.Dims(); rows == l.Dim() { // else newPlan refuses it
			inner.Known = mat.DenseCopyOf(s.Known)
			scaleRows(inner.Known, l.Degrees(), math.Sqrt)
		}
		s = &inner
	}

	// Solve, then restore zeros, signs and the unit of the weights.
	find := ordered
	if byComponent(c, s) {
		find = searchComponents
	}
	r, err := find(ctx, mild, c, s)
	if r == nil {
		return nil, err
	}
	for j := range r.Nullity {
		r.Values[j] = 0
	}
	if e != 0 && err != nil {
		err = fmt.Errorf("%w (in units of 2^%d, as the weights are so %s)", err, e*l.Power(),
			map[bool]string{true: "large", false: "small"}[e > 0])
	}
	r.settle(l, e)
	return r, err
}

// settle turns pairs of l with weights divided by 2ᵉ into pairs of l, with the signs of
// [Laplacian].
func (r *Result) settle(l *sparse.Laplacian, e int) {
	r.clampNegative()
	r.scale(e * l.Power())
	v := r.vectors()
	if l.Kind() == sparse.RandomWalk {
		v.scaleRows(l.Degrees(), func(d float64) float64 { return 1 / math.Sqrt(d) })
	}
	v.orient(r.Nullity)
}

// ordered solves l with its exact null vectors. From [reorderFrom] vertices on it puts them in the order of
// [sparse.CSR.ProductOrder].
func ordered(ctx context.Context, l *sparse.Laplacian, c *sparse.Components, s *Settings) (*Result, error) {
	var null *mat.Dense
	if s != nil && !s.Largest {
		null = l.NullVectors(c, max(s.K, 0))
	}
	n := l.Dim()
	if n < reorderFrom {
		return solve(ctx, l, null, s)
	}
	order := l.Graph().ProductOrder()
	inner := Settings{}
	if s != nil {
		inner = *s
	}

	// Null and known vectors follow the order, on copies; the result goes back.
	for _, x := range []**mat.Dense{&null, &inner.Known} {
		if *x != nil && (*x).RawMatrix().Rows == n {
			*x = mat.DenseCopyOf(*x)
			wide(*x).gatherRows(order)
		}
	}

	r, err := solve(ctx, l.Permute(order), null, &inner)
	if r != nil {
		r.vectors().gatherRows(inverse(order))
	}
	return r, err
}

// reorderFrom is the dimension from which a block of vectors does not stay in the cache: 16 columns
// of 5000 rows take 640 kB.
const reorderFrom = 5000

// inverse returns the permutation that undoes order.
func inverse(order []int32) []int32 {
	out := make([]int32, len(order))
	for p, v := range order {
		out[v] = int32(p)
	}
	return out
}

// scaleRows multiplies row i of v by scale(d_i) where d_i > 0.
func scaleRows(v *mat.Dense, d []float64, scale func(float64) float64) {
	for i, di := range d {
		if di == 0 {
			continue
		}
		f := scale(di)
		row := v.RawRowView(i)
		for j := range row {
			row[j] *= f
		}
	}
}

// Extend carries eigenvectors over to a graph with more points, the new ones last: a new point gets
// the mean of its neighbours among the old points, weighted by their edges, or 0 without any. The
// result is a start for Settings.Known.
func Extend(w *sparse.CSR, vectors *mat.Dense) (*mat.Dense, error) {
	old, k := vectors.Dims()
	if old > w.Rows {
		return nil, fmt.Errorf("lanczos: eigenvectors of %d points for a graph of %d", old, w.Rows)
	}
	x := dense.New(w.Rows, k)
	x.Slice(0, old, 0, k).(*mat.Dense).Copy(vectors)
	for i := old; i < w.Rows; i++ {
		row := x.RawRowView(i)
		col, val := w.Row(i)
		var total float64
		for p, j := range col {
			if int(j) >= old {
				continue
			}
			weight := 1.0
			if val != nil {
				weight = val[p]
			}
			total += weight
			for q, e := range vectors.RawRowView(int(j)) {
				row[q] += weight * e
			}
		}

		if total > 0 {
			for q := range row {
				row[q] /= total
			}
		}
	}

	return x, nil
}
