package lanczos

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/sparse"
)

// certifyBlock is the number of vectors multiplied at a time when residuals
// are recomputed.
const certifyBlock = 64

// certify makes a Result of the orthonormal columns of x: Rayleigh quotients,
// residuals, order, orthogonality. The first known columns stay in front. x
// becomes part of the Result.
func certify(a sparse.Operator, x *mat.Dense, known int, norm float64) *Result {
	n, k := x.Dims()
	r := &Result{Vectors: x, Norm: norm, Nullity: known, Values: make([]float64, k), Residuals: make([]float64, k)}
	for lo := 0; lo < k; lo += certifyBlock {
		hi := min(lo+certifyBlock, k)
		v := mat.DenseCopyOf(x.Slice(0, n, lo, hi))
		av := mat.NewDense(n, hi-lo, nil)
		a.MulTo(av, v)
		values := columnDots(v, av)
		for i := range n {
			ar, vr := av.RawRowView(i), v.RawRowView(i)
			for j, l := range values {
				ar[j] -= l * vr[j]
			}
		}
		copy(r.Values[lo:], values)
		copy(r.Residuals[lo:], columnNorms(av))
	}
	order := make([]int, k)
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order[known:], func(i, j int) int {
		switch {
		case r.Values[i] < r.Values[j]:
			return -1
		case r.Values[i] > r.Values[j]:
			return 1
		}
		return 0
	})
	r.Values, r.Residuals = permute(r.Values, order), permute(r.Residuals, order)
	for i := range n {
		copy(x.RawRowView(i), permute(x.RawRowView(i), order))
	}
	gram := mat.NewDense(k, k, nil)
	dense.Syrk(dense.Transposed, 1, x, 0, gram)
	for i := range k {
		for j := range k {
			want := 0.0
			if i == j {
				want = 1
			}
			r.Orthogonality = math.Max(r.Orthogonality, math.Abs(gram.At(i, j)-want))
		}
	}
	return r
}

func permute(x []float64, order []int) []float64 {
	out := make([]float64, len(x))
	for to, from := range order {
		out[to] = x[from]
	}
	return out
}

// solveDense forms the n×n matrix and decomposes it completely, with known null vectors in
// front. It serves small problems and those that ask for a large part of the
// spectrum.
func solveDense(a sparse.Operator, null *mat.Dense, p *plan) (*Result, error) {
	full := mat.NewDense(p.n, p.n, nil)
	for lo := 0; lo < p.n; lo += certifyBlock {
		hi := min(lo+certifyBlock, p.n)
		unit := mat.NewDense(p.n, hi-lo, nil)
		for j := lo; j < hi; j++ {
			unit.Set(j, j-lo, 1)
		}
		column := mat.NewDense(p.n, hi-lo, nil)
		a.MulTo(column, unit)
		full.Slice(0, p.n, lo, hi).(*mat.Dense).Copy(column)
	}
	values, vectors, err := dense.EigenSym(full)
	if err != nil {
		return nil, fmt.Errorf("lanczos: dense decomposition of dimension %d: %w", p.n, err)
	}
	norm := math.Max(math.Abs(values[0]), math.Abs(values[p.n-1]))
	known := 0
	if null != nil {
		// The vectors of the eigenvalue zero come first; the known ones span the
		// same space exactly.
		_, known = null.Dims()
		vectors.Slice(0, p.n, 0, known).(*mat.Dense).Copy(null)
	}
	r := certify(a, mat.DenseCopyOf(vectors.Slice(0, p.n, 0, p.K)), known, norm)
	if worst := r.MaxResidual(); !(worst <= p.Tolerance*norm) {
		return r, fmt.Errorf("%w: the dense method reached a largest residual of %.2e, tolerance %.2e (%.2e·‖A‖); raise the tolerance", ErrNotConverged, worst, p.Tolerance*norm, p.Tolerance)
	}
	return r, nil
}
