package lanczos

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// certify makes a Result of the orthonormal columns of x: Rayleigh quotients, residuals, order,
// orthogonality. The first fixed columns stay in front; the others are put in ascending order. x
// becomes part of the Result. buffers are two slabs of scratch, nil for new ones.
func certify(a sparse.Operator, x vectors, fixed int, norm float64, buffers *scratch) *Result {
	_, k := x.dims()
	r := &Result{Norm: norm, Nullity: fixed, Values: make([]float64, k)}
	r.setVectors(x)
	r.Residuals = residuals(a, x, buffers, func(lo int, values []float64) { copy(r.Values[lo:], values) })
	order := make([]int, k)
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order[fixed:], func(i, j int) int { return compare(r.Values[i], r.Values[j]) })
	r.Values = permute(r.Values, order)
	r.Residuals = permute(r.Residuals, order)

	// The columns follow the order of the values, row by row.
	if !slices.IsSorted(order) {
		x.reorder(order)
	}

	r.Orthogonality = orthogonality(x)
	r.Certificate.Next = math.Inf(1)
	return r
}

// residuals returns ‖Ax_j − λ_j x_j‖₂ for the columns of x. It calls quotients with the Rayleigh
// quotients of the columns from lo on, and quotients may replace them by the λ_j to be used. buffers
// are two slabs of scratch, nil for new ones.
func residuals(a sparse.Operator, x vectors, buffers *scratch, quotients func(lo int, values []float64)) []float64 {
	n, k := x.dims()
	out := make([]float64, k)
	if buffers == nil {
		buffers = newScratch(n, 2, k)
	}
	for lo, hi := range buffers.slabs(k) {
		b := buffers.of(hi - lo)
		v := b[0]
		av := b[1]
		x.slice(lo, hi).load(v)
		a.MulTo(av, v)
		values := columnDots(v, av)
		if x.double == nil {
			// Rounding changes lengths by some 1e-8, and quotients are far more accurate than that.
			for j, square := range columnDots(v, v) {
				values[j] /= square
			}
		}
		quotients(lo, values)
		// Av − λv in place of Av.
		par.For(n, rowGrain, func(from, to int) {
			for i := from; i < to; i++ {
				ar := av.RawRowView(i)
				vr := v.RawRowView(i)
				for j, l := range values {
					ar[j] -= l * vr[j]
				}
			}
		})

		copy(out[lo:], columnNorms(av))
	}

	return out
}

// orthogonality returns max |XᵀX − I|.
func orthogonality(x vectors) float64 {
	gram := x.gram()
	_, k := gram.Dims()
	var worst float64
	for i := range k {
		for j, v := range gram.RawRowView(i) {
			if i == j {
				v--
			}
			worst = math.Max(worst, math.Abs(v)) // math.Max keeps NaN
		}
	}

	return worst
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func permute[T float32 | float64](x []T, order []int) []T {
	out := make([]T, len(x))
	for to, from := range order {
		out[to] = x[from]
	}
	return out
}

// solveDense forms the n×n matrix and decomposes it completely. The known
// eigenvectors are moved to the other end of the spectrum first, so that they
// do not mix with near eigenvalues, and put in front of the result.
func solveDense(ctx context.Context, a sparse.Operator, p *plan, known *mat.Dense) (*Result, error) {
	full := formDense(a)
	// Gershgorin's bound on ‖A‖ moves the known eigenvectors beyond all other eigenvalues.
	bound := 0.0
	for i := range p.n {
		var sum float64
		for _, v := range full.RawRowView(i) {
			sum += math.Abs(v)
		}
		bound = math.Max(bound, sum)
	}

	if known != nil {
		dense.Gemm(dense.NoTrans, dense.Transposed, 3*bound, known, known, 1, full)
	}
	values, vectors, err := dense.EigenSym(ctx, full)
	if err != nil {
		return nil, fmt.Errorf("lanczos: dense decomposition of dimension %d: %w", p.n, err)
	}
	x := dense.New(p.n, p.K)
	if known != nil {
		x.Slice(0, p.n, 0, p.known).(*mat.Dense).Copy(known)
	}
	x.Slice(0, p.n, p.known, p.K).(*mat.Dense).Copy(vectors.Slice(0, p.n, 0, p.wanted))
	// ‖A‖ is the largest magnitude of an eigenvalue, known or computed; the moved ones at the end
	// do not count.
	norm := 0.0
	if others := p.n - p.known; others > 0 {
		norm = math.Max(math.Abs(values[0]), math.Abs(values[others-1]))
	}

	if known != nil {
		for _, q := range quotientsOf(a, wide(known)) {
			norm = math.Max(norm, math.Abs(q))
		}
	}

	r := certify(a, p.stored(x), p.Nullity, norm, nil)
	r.Certificate.Exact = true
	if p.K < p.n {
		r.Certificate.Next = values[p.wanted]
	}
	if worst := r.MaxResidual(); !(worst <= p.Tolerance*norm) {
		return r, fmt.Errorf("%w: the dense method reached a largest residual of %.2e, tolerance "+
			"%.2e (%.2e·‖A‖); raise the tolerance", ErrNotConverged, worst, p.Tolerance*norm, p.Tolerance)
	}
	return r, nil
}

// quotientsOf returns the Rayleigh quotients of the columns of x.
func quotientsOf(a sparse.Operator, x vectors) []float64 {
	_, m := x.dims()
	out := make([]float64, m)
	residuals(a, x, nil, func(lo int, values []float64) { copy(out[lo:], values) })
	return out
}

// formDense returns the n×n matrix of a, found by products with unit vectors, 16 at a time.
func formDense(a sparse.Operator) *mat.Dense {
	n := a.Dim()
	full := mat.NewDense(n, n, nil)
	for lo := 0; lo < n; lo += slabWidth {
		hi := min(lo+slabWidth, n)
		unit := mat.NewDense(n, hi-lo, nil)
		column := mat.NewDense(n, hi-lo, nil)
		for j := lo; j < hi; j++ {
			unit.Set(j, j-lo, 1)
		}
		a.MulTo(column, unit)
		full.Slice(0, n, lo, hi).(*mat.Dense).Copy(column)
	}

	return full
}
