package dense

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
)

// Gather copies rows of basis to the top of dst, as many columns as dst has, and returns that part
// of dst.
func Gather(dst, basis *mat.Dense, rows []int) *mat.Dense {
	_, p := dst.Dims()
	par.For(len(rows), 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(dst.RawRowView(i), basis.RawRowView(rows[i])[:p])
		}
	})
	return dst.Slice(0, len(rows), 0, p).(*mat.Dense)
}

// Negligible is the squared ratio of a singular value to the largest one below which the labeled
// rows do not determine a direction.
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

// WeightedMeans returns the sum of the rows times their shares, whose sum is one; with nil shares the
// mean of every column.
func WeightedMeans(y *mat.Dense, shares []float64) []float64 {
	if shares == nil {
		return ColumnMeans(y)
	}
	_, c := y.Dims()
	out := make([]float64, c)
	for i, share := range shares {
		for j, v := range y.RawRowView(i) {
			out[j] += share * v
		}
	}
	return out
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
