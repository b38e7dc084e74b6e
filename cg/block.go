package cg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// rowGrain is the number of rows in one parallel chunk of a pass over a block.
const rowGrain = 512

// mul sets c = αab + βc.
func mul(alpha float64, a, b *mat.Dense, beta float64, c *mat.Dense) {
	if rows, cols := b.Dims(); rows == 1 && cols == 1 {
		combine(c, a, alpha*b.At(0, 0), beta)
		return
	}
	dense.Gemm(dense.NoTrans, dense.NoTrans, alpha, a, b, beta, c)
}

// gram returns aᵀb.
func gram(a, b *mat.Dense) *mat.Dense {
	_, p := a.Dims()
	_, q := b.Dims()
	c := mat.NewDense(p, q, nil)
	if p == 1 && q == 1 {
		c.Set(0, 0, dot(a, b))
		return c
	}
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, a, b, 0, c)
	return c
}

// vectorGrain is the number of elements of single columns in one parallel chunk.
const vectorGrain = 1 << 14

// combine sets c = αa + βc for single columns: products of matrices take several times as long. With
// β = 0 the old contents of c do not matter.
func combine(c, a *mat.Dense, alpha, beta float64) {
	to := c.RawMatrix()
	of := a.RawMatrix()
	par.For(to.Rows, vectorGrain, func(lo, hi int) {
		if to.Stride == 1 && of.Stride == 1 && beta != 0 {
			simd.CombineRow(to.Data[lo:hi], of.Data[lo:hi], alpha, to.Data[lo:hi], beta)
			return
		}
		for i := lo; i < hi; i++ {
			v := alpha * of.Data[i*of.Stride]
			if beta != 0 {
				v += beta * to.Data[i*to.Stride]
			}
			to.Data[i*to.Stride] = v
		}
	})
}

// dot returns aᵀb for single columns.
func dot(a, b *mat.Dense) float64 {
	x := a.RawMatrix()
	y := b.RawMatrix()
	parts := make([]float64, par.Chunks(x.Rows, vectorGrain))
	par.For(x.Rows, vectorGrain, func(lo, hi int) {
		if x.Stride == 1 && y.Stride == 1 {
			parts[lo/vectorGrain] = simd.Dot(x.Data[lo:hi], y.Data[lo:hi])
			return
		}
		sum := 0.0
		for i := lo; i < hi; i++ {
			sum += x.Data[i*x.Stride] * y.Data[i*y.Stride]
		}
		parts[lo/vectorGrain] = sum
	})

	sum := 0.0
	for _, v := range parts {
		sum += v
	}
	return sum
}

// columns returns columns [from, to) of x as a view.
func columns(x *mat.Dense, from, to int) *mat.Dense {
	n, _ := x.Dims()
	return x.Slice(0, n, from, to).(*mat.Dense)
}

// eachColumn folds, for every column of x, fn over its elements in chunks, and
// the results of the chunks in their order by join.
func eachColumn(x *mat.Dense, fn func(acc, row []float64), join func(total, part []float64)) []float64 {
	n, b := x.Dims()
	parts := make([][]float64, par.Chunks(n, rowGrain))
	par.For(n, rowGrain, func(lo, hi int) {
		acc := make([]float64, b)
		for i := lo; i < hi; i++ {
			fn(acc, x.RawRowView(i))
		}
		parts[lo/rowGrain] = acc
	})

	total := make([]float64, b)
	for _, part := range parts {
		join(total, part)
	}
	return total
}

// columnNorms returns ‖x_j‖₂ for every column j, without overflow or underflow
// on the way. A column with NaN or Inf has norm NaN or Inf.
func columnNorms(x *mat.Dense) []float64 {
	keepLargest := func(acc, row []float64) {
		for j, v := range row {
			// Unlike max this keeps NaN whichever side it is on.
			acc[j] = math.Max(acc[j], math.Abs(v))
		}
	}

	// A power of two near the largest magnitude scales each column, without rounding.
	norms := eachColumn(x, keepLargest, keepLargest)
	inverse := make([]float64, len(norms))
	for j, v := range norms {
		if v > 0 && !math.IsInf(v, 1) {
			_, e := math.Frexp(v)
			norms[j] = math.Ldexp(1, max(e, -1000))
			inverse[j] = 1 / norms[j]
		}
	}

	sums := eachColumn(x, func(acc, row []float64) {
		for j, v := range row {
			v *= inverse[j]
			acc[j] += v * v
		}
	}, func(total, part []float64) {
		for j, v := range part {
			total[j] += v
		}
	})

	for j := range norms {
		if inverse[j] > 0 {
			norms[j] *= math.Sqrt(sums[j])
		}
	}
	return norms
}

// gather returns the named columns of x, divided by the norms in the same order.
func gather(x *mat.Dense, names []int, norms []float64) *mat.Dense {
	n, _ := x.Dims()
	out := mat.NewDense(n, len(names), nil)
	par.For(n, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from := x.RawRowView(i)
			to := out.RawRowView(i)
			for q, j := range names {
				to[q] = from[j] / norms[q]
			}
		}
	})

	return out
}

// firstNotFinite returns the place of the first NaN or Inf in x.
func firstNotFinite(x *mat.Dense) (i, j int, found bool) {
	n, _ := x.Dims()
	bad := make([]int, par.Chunks(n, rowGrain))
	par.For(n, rowGrain, func(lo, hi int) {
		bad[lo/rowGrain] = -1
		for i := lo; i < hi; i++ {
			for _, v := range x.RawRowView(i) {
				if v-v != 0 {
					bad[lo/rowGrain] = i
					return
				}
			}
		}
	})

	for _, i := range bad {
		if i < 0 {
			continue
		}
		for j, v := range x.RawRowView(i) {
			if v-v != 0 {
				return i, j, true
			}
		}
	}

	return 0, 0, false
}
