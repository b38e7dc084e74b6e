package solvers

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
)

// columns returns a copy of the columns k of a.
func columns(a *mat.Dense, k []int) *mat.Dense {
	rows, _ := a.Dims()
	out := mat.NewDense(rows, len(k), nil)
	for i := range rows {
		from := a.RawRowView(i)
		to := out.RawRowView(i)
		for p, j := range k {
			to[p] = from[j]
		}
	}
	return out
}

// pick returns the entries k of v.
func pick(v []float64, k []int) []float64 {
	out := make([]float64, len(k))
	for p, j := range k {
		out[p] = v[j]
	}
	return out
}

// reduce returns the m-vector to which term adds the contribution of every row i,
// summed in one order at any number of threads.
func reduce(rows, m int, term func(sum []float64, i int)) []float64 {
	parts := make([][]float64, par.Chunks(rows, rowGrain))
	par.For(rows, rowGrain, func(lo, hi int) {
		sum := make([]float64, m)
		for i := lo; i < hi; i++ {
			term(sum, i)
		}
		parts[lo/rowGrain] = sum
	})

	total := make([]float64, m)
	for _, part := range parts {
		for j, v := range part {
			total[j] += v
		}
	}
	return total
}

// dots returns the inner products of the columns of a and b.
func dots(a, b *mat.Dense) []float64 {
	rows, m := a.Dims()
	return reduce(rows, m, func(sum []float64, i int) {
		x := a.RawRowView(i)
		y := b.RawRowView(i)
		for j := range sum {
			sum[j] += x[j] * y[j]
		}
	})
}

// sums returns the sums of the columns of a.
func sums(a *mat.Dense) []float64 {
	rows, m := a.Dims()
	return reduce(rows, m, func(sum []float64, i int) {
		for j, v := range a.RawRowView(i) {
			sum[j] += v
		}
	})
}

// weightedMeans returns Σ_i weight·u / mass of every column, and 0 where mass is 0.
func weightedMeans(weight, u *mat.Dense, mass []float64) []float64 {
	out := dots(weight, u)
	for j, v := range mass {
		if v > 0 {
			out[j] /= v
		} else {
			out[j] = 0
		}
	}
	return out
}

// addScaled adds t[j] times column j of x to column j of dst.
func addScaled(dst *mat.Dense, t []float64, x *mat.Dense) {
	rows, _ := x.Dims()
	par.For(rows, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := dst.RawRowView(i)
			from := x.RawRowView(i)
			for j, v := range from {
				to[j] += t[j] * v
			}
		}
	})
}
