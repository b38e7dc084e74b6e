package lanczos

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// lock splits given, approximate eigenvectors, in two: vectors that are accurate to tolerance,
// which it puts behind the null vectors, orthonormal, and the others, which it returns as start. At
// most k vectors are locked. They may belong to other eigenvalues than the smallest.
func lock(a sparse.Operator, null, given *mat.Dense, tolerance float64, k int) (locked, start *mat.Dense) {
	n, _ := given.Dims()
	x := mat.DenseCopyOf(given)
	if null != nil {
		project(x, null)
	}
	norms := columnNorms(x)
	scaleColumns(x, norms)
	res := residuals(a, wide(x), nil, func(int, []float64) {})
	var good, rest []int
	nullity := 0
	if null != nil {
		_, nullity = null.Dims()
	}

	// A vector that loses more than half of its length to the null vectors is one of them.
	for j, r := range res {
		switch {
		case !(norms[j] > 0.5): // a null vector, or nothing
		case r <= tolerance/2 && nullity+len(good) < k:
			good = append(good, j)
		default:
			rest = append(rest, j)
		}
	}

	if len(rest) > 0 {
		start = pick(x, rest)
	}
	if nullity+len(good) == 0 {
		return nil, start
	}
	v := mat.NewDense(n, nullity+len(good), nil)
	if null != nil {
		v.Slice(0, n, 0, nullity).(*mat.Dense).Copy(null)
	}

	// Locked vectors are never touched again, so they must be orthonormal to working accuracy.
	if len(good) > 0 {
		w := pick(x, good)
		if _, rank, err := dense.CholQR(w); err != nil || rank < len(good) {
			// Repeated vectors allow no certain conclusion.
			return null, x
		}
		v.Slice(0, n, nullity, nullity+len(good)).(*mat.Dense).Copy(w)
		if orthogonality(wide(v)) > 1e-12 {
			return null, x
		}
	}

	return v, start
}

// pick copies some columns of x.
func pick(x *mat.Dense, columns []int) *mat.Dense {
	n, _ := x.Dims()
	out := dense.New(n, len(columns))
	for i := range n {
		from := x.RawRowView(i)
		to := out.RawRowView(i)
		for j, c := range columns {
			to[j] = from[c]
		}
	}
	return out
}
