package dense

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
)

// orientTie is the relative difference of magnitudes that count as equal in [Orient]:
// more than rounding on different instruction sets makes of equal ones.
const orientTie = 1e-6

// Orient changes the sign of f where the first of its entries of largest magnitude,
// up to 1e-6 of that, is negative, and tells whether it did: an eigenvector of a
// simple eigenvalue then does not depend on how it was found.
func Orient(f []float64) bool {
	var top float64
	for _, v := range f {
		top = max(top, math.Abs(v))
	}
	for _, v := range f {
		if math.Abs(v) >= top*(1-orientTie) {
			if v < 0 {
				for i := range f {
					f[i] = -f[i]
				}
			}
			return v < 0
		}
	}

	return false
}

// OrientColumns is [Orient] for the columns of x from first on.
func OrientColumns(x *mat.Dense, first int) {
	const grain = 1024
	n, k := x.Dims()
	// In each chunk of rows, the largest magnitude of every column.
	tops := make([][]float64, par.Chunks(n, grain))
	par.For(n, grain, func(lo, hi int) {
		top := make([]float64, k)
		for i := lo; i < hi; i++ {
			for j, v := range x.RawRowView(i) {
				top[j] = max(top[j], math.Abs(v))
			}
		}
		tops[lo/grain] = top
	})

	sign := make([]float64, k)
	for j := range sign {
		sign[j] = 1
		var top float64
		for _, t := range tops {
			top = max(top, t[j])
		}
		for c, t := range tops {
			if j < first || t[j] < top*(1-orientTie) {
				continue
			}
			for i := c * grain; i < n; i++ {
				if v := x.At(i, j); math.Abs(v) >= top*(1-orientTie) {
					sign[j] = math.Copysign(1, v)
					break
				}
			}
			break
		}
	}

	par.For(n, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := x.RawRowView(i)
			for j, s := range sign {
				if s < 0 {
					row[j] = -row[j]
				}
			}
		}
	})
}

// Gather copies rows of basis, as many columns as dst has, to the top of dst
// and returns that part.
func Gather(dst, basis *mat.Dense, rows []int) *mat.Dense {
	_, p := dst.Dims()
	par.For(len(rows), 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(dst.RawRowView(i), basis.RawRowView(rows[i])[:p])
		}
	})
	return dst.Slice(0, len(rows), 0, p).(*mat.Dense)
}

// Negligible is the square of the ratio to the largest singular value below
// which a direction counts as not seen by the labeled rows.
const Negligible = 1e-13

// ScaleRows multiplies row i of a by scale[i]; nil scales nothing.
func ScaleRows(a *mat.Dense, scale []float64) {
	for i, v := range scale {
		row := a.RawRowView(i)
		for j := range row {
			row[j] *= v
		}
	}
}

// ColumnMeans returns the mean of every column.
func ColumnMeans(y *mat.Dense) []float64 {
	l, m := y.Dims()
	mean := make([]float64, m)
	for i := range l {
		for j, v := range y.RawRowView(i) {
			mean[j] += v / float64(l)
		}
	}
	return mean
}

// ScaleColumns multiplies column j of x with scale[j].
func ScaleColumns(x *mat.Dense, scale []float64) {
	n, _ := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			row[j] *= scale[j]
		}
	}
}

// SteadyDepth is an inner dimension up to which a row of a product has the same
// bits whatever other rows there are: from 2048 on small products are summed in
// another order.
const SteadyDepth = 1792

// SumLength is the number of terms that [Gemm64] adds up in one accumulator, in order,
// of the k of an element, up to [SteadyDepth]; the sums are added in order. Who does the
// same gets the same bits.
func SumLength(k int) int { return balance(k, blockK) }

// SteadyProduct sets c = a·b. A row of it has the same bits whatever other rows a
// has; see [SteadyDepth].
func SteadyProduct(c, a, b *mat.Dense) {
	m, inner := a.Dims()
	_, n := b.Dims()
	c.Zero()
	for k := 0; k < inner; k += SteadyDepth {
		end := min(k+SteadyDepth, inner)
		Gemm(NoTrans, NoTrans, 1, a.Slice(0, m, k, end).(*mat.Dense),
			b.Slice(k, end, 0, n).(*mat.Dense), 1, c)
	}
}

// Symmetrize makes g its symmetric part and returns the largest difference
// |g_ij − g_ji| relative to the largest entry.
func Symmetrize(g *mat.Dense) float64 {
	n, _ := g.Dims()
	var top, worst float64
	for i := range n {
		top = math.Max(top, math.Abs(g.At(i, i)))
		for j := range i {
			a := g.At(i, j)
			b := g.At(j, i)
			top = math.Max(top, math.Abs(a))
			worst = math.Max(worst, math.Abs(a-b))
			g.Set(i, j, a/2+b/2)
			g.Set(j, i, a/2+b/2)
		}
	}

	if worst == 0 {
		return 0
	}
	return worst / top
}

// AddRow adds row to every row of f.
func AddRow(f *mat.Dense, row []float64) {
	n, _ := f.Dims()
	for i := range n {
		to := f.RawRowView(i)
		for j, v := range row {
			to[j] += v
		}
	}
}

// AddScaled sets dst = a·dst + b·w.
func AddScaled(dst *mat.Dense, a, b float64, w *mat.Dense) {
	rows, _ := dst.Dims()
	par.For(rows, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := dst.RawRowView(i)
			for j, v := range w.RawRowView(i) {
				to[j] = a*to[j] + b*v
			}
		}
	})
}

// Multiply sets dst = a·dst without working memory.
func Multiply(dst *mat.Dense, a float64) {
	rows, _ := dst.Dims()
	par.For(rows, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := dst.RawRowView(i)
			for j := range to {
				to[j] *= a
			}
		}
	})
}

// Part returns the given rows and columns of a.
func Part(a *mat.Dense, rows, columns []int) *mat.Dense {
	out := mat.NewDense(len(rows), len(columns), nil)
	for i, r := range rows {
		from := a.RawRowView(r)
		to := out.RawRowView(i)
		for j, c := range columns {
			to[j] = from[c]
		}
	}
	return out
}
