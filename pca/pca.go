// Package pca finds the principal components of points and projects points on them.
package pca

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// New forms the d×d covariance matrix up to these dimensions. Beyond, its eigenvectors cost more than
// a random subspace, which for sparse points does not touch zeros.
const (
	maxCovariance       = 5000
	maxSparseCovariance = 1000
)

// maxBlock is the number of points converted to float64 at a time.
const maxBlock = 4096

// Projection is an orthogonal projection of centred points onto their directions of largest variance, by [New], or what
// [Standardize] makes: z = C(x − m).
type Projection struct {
	Mean       []float64  // m, of length d
	Components *mat.Dense // C, k×d; orthonormal rows unless columns were standardized
	Variance   []float64  // variance along each component, descending
	Total      float64    // variance in all d directions
}

// New returns the k ≤ min(n, d) principal components of x: the eigenvectors of the covariance matrix
// 1/n Σ (x_i − m)(x_i − m)ᵀ with the largest eigenvalues. The entry of largest magnitude of every
// component is positive. A cancelled ctx is an error.
//
// New costs n·d² + O(d³) operations and holds d² + 4096·d values. The products of bytes are exact and
// cost an eighth. In more than 5000 dimensions, or 1000 for sparse points, the components come from
// a random subspace: their variances are no larger than the true ones, and accurate if they stand
// out from the rest (Halko, Martinsson & Tropp, SIAM Rev. 53 (2011), 217–288, algorithm 4.4).
func New(ctx context.Context, x data.Points, k int) (*Projection, error) {
	n, d := x.Dims()
	if err := checkComponents(n, d, k); err != nil {
		return nil, err
	}
	if _, sparse := x.(*sparse.CSR); d > maxCovariance || sparse && d > maxSparseCovariance {
		return newRandomized(ctx, x, k, 1)
	}

	p, cov := newCovariance(ctx, x)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	values, vectors, err := dense.EigenSym(ctx, cov)
	if err != nil {
		return nil, fmt.Errorf("pca: principal components: %w", err)
	}
	p.setComponents(k, values, vectors)
	return p, nil
}

// newCovariance returns the covariance matrix of dense points, and a projection with mean and total
// variance alone.
func newCovariance(ctx context.Context, x data.Points) (*Projection, *mat.Dense) {
	p := &Projection{}
	var cov *mat.Dense
	if b, ok := x.(*data.Dense[uint8]); ok {
		p.Mean, cov = byteCovariance(ctx, b)
	} else {
		p.Mean, cov = covariance(ctx, x)
	}
	for j := range p.Mean {
		p.Total += cov.At(j, j)
	}
	return p, cov
}

// checkComponents returns an error unless n points in d dimensions have k principal components.
func checkComponents(n, d, k int) error {
	if k < 1 || k > min(n, d) {
		return fmt.Errorf("pca: %d principal components asked of %d points in %d dimensions; "+
			"the number must be between 1 and %d", k, n, d, min(n, d))
	}
	return nil
}

// setComponents sets the components to the last k of the given vectors, in reverse order: values
// ascend.
func (p *Projection) setComponents(k int, values []float64, vectors *mat.Dense) {
	d, l := vectors.Dims()
	p.Components = mat.NewDense(k, d, nil)
	for c := range k {
		row := p.Components.RawRowView(c)
		mat.Col(row, l-1-c, vectors)

		// The sign by which the largest entry is positive.
		largest := 0.0
		for _, v := range row {
			if math.Abs(v) > math.Abs(largest) {
				largest = v
			}
		}
		if largest < 0 {
			for j := range row {
				row[j] = -row[j]
			}
		}
		p.Variance = append(p.Variance, max(0, values[l-1-c]))
	}
}

// covariance returns the mean m and the matrix 1/n Σ (x_i − m)(x_i − m)ᵀ.
func covariance(ctx context.Context, x data.Points) (mean []float64, cov *mat.Dense) {
	n, d := x.Dims()
	mean = data.Mean(x)
	cov = mat.NewDense(d, d, nil)
	block := mat.NewDense(min(maxBlock, n), d, nil)

	// A cancelled sum is not whole; the caller finds that in ctx.
	_ = data.Each(x, maxBlock, func(lo, hi int) error {
		b := block.Slice(0, hi-lo, 0, d).(*mat.Dense)
		centre(b, x, lo, mean)
		dense.Syrk(dense.Transposed, 1/float64(n), b, 1, cov)
		return ctx.Err()
	})
	return mean, cov
}

// byteCovariance is covariance for bytes. XᵀX and Σ x_i are summed in integers, so that the entries
// (n Σ x_i x_iᵀ − Σ x_i Σ x_iᵀ)/n² are rounded only a few times and without cancellation.
func byteCovariance(ctx context.Context, x *data.Dense[uint8]) (mean []float64, cov *mat.Dense) {
	n := x.Rows
	d := x.Cols
	sum := byteSums(x)
	gram := byteGram(ctx, x)
	mean = make([]float64, d)
	cov = mat.NewDense(d, d, nil)
	for i, s := range sum {
		mean[i] = float64(s) / float64(n)
	}

	square := float64(n) * float64(n)
	par.For(d, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := cov.RawRowView(i)
			for j := range row {
				row[j] = difference(n, gram[max(i, j)*d+min(i, j)], sum[i], sum[j]) / square
			}
		}
	})
	return mean, cov
}

// difference returns n·g − s·t, computed in 128 bits and rounded at the end.
func difference(n int, g, s, t uint64) float64 {
	h0, l0 := bits.Mul64(uint64(n), g)
	h1, l1 := bits.Mul64(s, t)
	low, borrow := bits.Sub64(l0, l1, 0)
	high, _ := bits.Sub64(h0, h1, borrow)
	if int64(high) >= 0 {
		return math.Ldexp(float64(high), 64) + float64(low)
	}

	// Two's complement: the magnitude of a negative difference.
	low, borrow = bits.Sub64(0, low, 0)
	high, _ = bits.Sub64(0, high, borrow)
	return -(math.Ldexp(float64(high), 64) + float64(low))
}

// byteSums returns the sums of the columns.
func byteSums(x *data.Dense[uint8]) []uint64 {
	const grain = 4096 // sums of 4096 bytes fit a uint32
	parts := make([][]uint32, par.Chunks(x.Rows, grain))
	par.For(x.Rows, grain, func(lo, hi int) {
		part := make([]uint32, x.Cols)
		for i := lo; i < hi; i++ {
			for j, v := range x.Row(i) {
				part[j] += uint32(v)
			}
		}
		parts[lo/grain] = part
	})

	sum := make([]uint64, x.Cols)
	for _, part := range parts {
		for j, v := range part {
			sum[j] += uint64(v)
		}
	}
	return sum
}

// byteGram returns the lower triangle of the d×d matrix XᵀX.
func byteGram(ctx context.Context, x *data.Dense[uint8]) []uint64 {
	const rows = 8192 // at most dense.MaxInnerU8, so that inner products fit an int32
	d := x.Cols
	gram := make([]uint64, d*d)
	for lo := 0; lo < x.Rows && ctx.Err() == nil; lo += rows {
		hi := min(lo+rows, x.Rows)
		part := x.Data[lo*d : hi*d]
		left := dense.PackAU8(dense.Transposed, part, d, hi-lo, d)
		right := dense.PackBU8(dense.Transposed, part, d, hi-lo, d)

		// A panel of rows needs the columns up to its diagonal, in whole panels.
		par.For(d, left.Panel(), func(i0, i1 int) {
			width := min(d, (i1-1)/right.Panel()*right.Panel()+right.Panel())
			c := make([]int32, (i1-i0)*width)
			dense.MulU8(left, i0, i1, right, 0, width, c, width)
			for i := i0; i < i1; i++ {
				row := gram[i*d:][:i+1]
				for j, v := range c[(i-i0)*width:][:i+1] {
					row[j] += uint64(v)
				}
			}
		})
	}
	return gram
}

// centre sets dst to the points from lo on, minus the mean.
func centre(dst *mat.Dense, x data.Points, lo int, mean []float64) {
	rows, _ := dst.Dims()
	par.For(rows, 256, func(a, b int) {
		for i := a; i < b; i++ {
			row := dst.RawRowView(i)
			data.RowTo(row, x, lo+i)
			for j, m := range mean {
				row[j] -= m
			}
		}
	})
}

// Apply returns the coordinates of x along the components, n×k. It costs 2ndk operations, or 2k for
// every stored value of sparse points, and holds at most 4096·(d+k) values beside the result.
func (p *Projection) Apply(x data.Points) (*data.Dense[float32], error) {
	n, d := x.Dims()
	k, want := p.Components.Dims()
	if d != want {
		return nil, fmt.Errorf("pca: the points have %d dimensions, the principal components %d", d, want)
	}

	// Sparse points stay sparse: the mean is subtracted from the products.
	out := data.NewDense[float32](n, k)
	if m, ok := x.(*sparse.CSR); ok {
		directions := mat.DenseCopyOf(p.Components.T())
		offset := combination(p.Mean, directions)
		multiplySparse(m, directions, func(i int, row []float64) {
			for j, v := range row {
				out.Row(i)[j] = float32(v - offset[j])
			}
		})
		return out, nil
	}

	size := blockRows(d, n)
	block := mat.NewDense(size, d, nil)
	product := mat.NewDense(size, k, nil)
	err := data.Each(x, size, func(lo, hi int) error {
		b := block.Slice(0, hi-lo, 0, d).(*mat.Dense)
		c := product.Slice(0, hi-lo, 0, k).(*mat.Dense)
		centre(b, x, lo, p.Mean)
		dense.Gemm(dense.NoTrans, dense.Transposed, 1, b, p.Components, 0, c)

		for i := lo; i < hi; i++ {
			dst := out.Row(i)
			for j, v := range c.RawRowView(i - lo) {
				dst[j] = float32(v)
			}
		}
		return nil
	})
	return out, err
}
