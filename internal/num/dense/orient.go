package dense

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// orientTie is the relative difference of magnitudes that count as equal in [Orient]: rounding on
// different instruction sets makes smaller differences.
const orientTie = 1e-6

// Orient changes the sign of f if its leading entry is negative, and reports whether it did. The
// leading entry is the first one of largest magnitude, up to 1e-6 of that. So an eigenvector of a
// simple eigenvalue does not depend on how it was found.
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
	r := x.RawMatrix()
	orientColumns(r.Data, r.Rows, r.Stride, r.Cols, first)
}

// OrientSingle is [OrientColumns] for a block of float32.
func OrientSingle(x blas32.General, first int) {
	orientColumns(x.Data, x.Rows, x.Stride, x.Cols, first)
}

// orientColumns is [OrientColumns] for n rows of k numbers.
func orientColumns[T simd.Float](x []T, n, stride, k, first int) {
	const grain = 1024
	row := func(i int) []T { return x[i*stride:][:k] }

	// In each chunk of rows, the largest magnitude of every column.
	tops := make([][]float64, par.Chunks(n, grain))
	par.For(n, grain, func(lo, hi int) {
		top := make([]float64, k)
		for i := lo; i < hi; i++ {
			for j, v := range row(i) {
				top[j] = max(top[j], math.Abs(float64(v)))
			}
		}
		tops[lo/grain] = top
	})

	// The leading entry of a column lies in the first chunk that holds a largest magnitude.
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
				if v := float64(row(i)[j]); math.Abs(v) >= top*(1-orientTie) {
					sign[j] = math.Copysign(1, v)
					break
				}
			}
			break
		}
	}

	par.For(n, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r := row(i)
			for j, s := range sign {
				if s < 0 {
					r[j] = -r[j]
				}
			}
		}
	})
}
