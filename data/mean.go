package data

import (
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// Mean returns the mean point, summed in an order that does not depend on the
// number of threads.
func Mean(x Points) []float64 {
	n, d := x.Dims()
	if m, ok := x.(*sparse.CSR); ok {
		return sparseMean(m)
	}
	const grain = 4096
	parts := make([][]float64, par.Chunks(n, grain))
	EachAtOnce(x, grain, func(lo, hi int) {
		sum := make([]float64, d)
		row := make([]float64, d)
		for i := lo; i < hi; i++ {
			RowTo(row, x, i)
			for j, v := range row {
				sum[j] += v
			}
		}
		parts[lo/grain] = sum
	})

	mean := make([]float64, d)
	for _, part := range parts {
		for j, v := range part {
			mean[j] += v / float64(n)
		}
	}
	return mean
}

func sparseMean(x *sparse.CSR) []float64 {
	mean := make([]float64, x.Cols)
	for p, j := range x.Col {
		if x.Val == nil {
			mean[j]++
		} else {
			mean[j] += x.Val[p]
		}
	}

	for j := range mean {
		mean[j] /= float64(x.Rows)
	}
	return mean
}
