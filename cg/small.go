package cg

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
)

// roundingRank is the share of a column, in squares, that must remain after the other columns were
// projected out; less counts as rounding.
const roundingRank = 1e-13

// factor factors the Gram matrix g = WᵀM⁻¹W as ξᵀξ by Cholesky with diagonal
// pivoting and returns ξ (k×r) and t (r×k) with ξ·t = I, so that the columns of
// W·t are orthonormal. k is the numerical rank; the asymmetry of g measures
// its accuracy. A column of zeros, one that is solved exactly, does not count.
// A diagonal element that is negative or not finite is returned as bad, and the
// first if all are zero; bad is −1 otherwise.
func factor(g *mat.Dense) (xi, t *mat.Dense, bad int) {
	r, _ := g.Dims()
	unit := make([]float64, r)
	rest := make([]float64, r)
	zeros := 0
	for i := range unit {
		d := g.At(i, i)
		if !(d >= 0) || math.IsInf(d, 1) {
			return nil, nil, i
		}
		unit[i] = math.Sqrt(d)
		rest[i] = 1
		if d == 0 {
			unit[i] = 1
			rest[i] = 0
			zeros++
		}
	}

	if zeros == r {
		return nil, nil, 0
	}

	// h is g with a diagonal of ones; its upper part becomes the factor.
	h := mat.NewDense(r, r, nil)
	var noise float64
	for i := range r {
		for j := range r {
			scale := unit[i] * unit[j]
			h.Set(i, j, (g.At(i, j)+g.At(j, i))/2/scale)
			noise = max(noise, math.Abs(g.At(i, j)-g.At(j, i))/scale)
		}
	}

	// Cholesky with diagonal pivoting: each step takes the column with the largest rest.
	limit := max(roundingRank, 10*noise)
	order := make([]int, r)
	for i := range order {
		order[i] = i
	}
	rows := mat.NewDense(r, r, nil) // rows of ξ, before unscaling
	k := 0
	for ; k < r; k++ {
		best := k
		for p := k + 1; p < r; p++ {
			if rest[order[p]] > rest[order[best]] {
				best = p
			}
		}

		if k > 0 && !(rest[order[best]] > limit) {
			break
		}
		order[k], order[best] = order[best], order[k]
		pivot := order[k]
		root := math.Sqrt(rest[pivot])
		rows.Set(k, pivot, root)
		for _, j := range order[k+1:] {
			v := h.At(pivot, j)
			for q := range k {
				v -= rows.At(q, pivot) * rows.At(q, j)
			}
			v /= root
			rows.Set(k, j, v)
			rest[j] -= v * v
		}
	}

	xi = mat.NewDense(k, r, nil)
	t = mat.NewDense(r, k, nil)
	for q := range k {
		for j := range r {
			xi.Set(q, j, rows.At(q, j)*unit[j])
		}
		// Column q of t by back substitution in the pivots.
		for p := q; p >= 0; p-- {
			v := 0.0
			if p == q {
				v = 1
			}
			for s := p + 1; s <= q; s++ {
				v -= rows.At(p, order[s]) * t.At(order[s], q) * unit[order[s]]
			}
			t.Set(order[p], q, v/rows.At(p, order[p])/unit[order[p]])
		}
	}

	return xi, t, -1
}

// divide returns h⁻¹·c for a symmetric positive definite h, or false if h is not positive definite
// to working precision.
func divide(h, c *mat.Dense) (*mat.Dense, bool) {
	r, _ := h.Dims()
	unit := make([]float64, r)
	for i := range unit {
		d := h.At(i, i)
		if !(d > 0) || math.IsInf(d, 1) {
			return nil, false
		}
		unit[i] = 1 / math.Sqrt(d)
	}

	f := mat.NewDense(r, r, nil)
	x := mat.DenseCopyOf(c)
	for i := range r {
		for j := range r {
			f.Set(i, j, (h.At(i, j)+h.At(j, i))/2*unit[i]*unit[j])
		}
	}

	if dense.Cholesky(context.Background(), f) != nil {
		return nil, false
	}

	for i := range r {
		// The pivot is the square: below 1e-14, beside a diagonal of ones, it is mostly rounding.
		if f.At(i, i) < 1e-7 {
			return nil, false
		}
	}

	x.Apply(func(i, _ int, v float64) float64 { return v * unit[i] }, x)
	dense.SolveLower(dense.NoTrans, f, x)
	dense.SolveLower(dense.Transposed, f, x)
	x.Apply(func(i, _ int, v float64) float64 { return v * unit[i] }, x)
	return x, true
}
