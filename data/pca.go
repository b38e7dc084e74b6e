package data

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/sparse"
)

// maxPCADimension bounds the d×d covariance matrix of NewPCA.
const maxPCADimension = 5000

// pcaBlock is the number of points converted to float64 at a time.
const pcaBlock = 4096

// PCA is an orthogonal projection of centred points on their directions of
// largest variance.
type PCA struct {
	Mean       []float64  // of length d
	Components *mat.Dense // k×d, orthonormal rows
	Variance   []float64  // variance along each component, descending
	Total      float64    // variance in all d directions
}

// NewPCA returns the k principal components of x: the eigenvectors of the
// covariance matrix 1/n Σ (x_i − m)(x_i − m)ᵀ with the largest eigenvalues. The
// entry of largest magnitude of every component is positive.
//
// It costs n·d² + O(d³) operations and holds d² + 4096·d values; d is at most
// 5000 and k at most min(n, d).
func NewPCA(x Points, k int) (*PCA, error) {
	n, d := x.Dims()
	if d > maxPCADimension {
		return nil, fmt.Errorf("data: principal components of %d dimensions need a %d×%d covariance matrix; the limit is %d dimensions", d, d, d, maxPCADimension)
	}
	if k < 1 || k > min(n, d) {
		return nil, fmt.Errorf("data: %d principal components asked of %d points in %d dimensions; the number must be between 1 and %d", k, n, d, min(n, d))
	}
	p := &PCA{Mean: Mean(x)}
	cov := mat.NewDense(d, d, nil)
	block := mat.NewDense(min(pcaBlock, n), d, nil)
	for lo := 0; lo < n; lo += pcaBlock {
		hi := min(lo+pcaBlock, n)
		b := block.Slice(0, hi-lo, 0, d).(*mat.Dense)
		p.centre(b, x, lo)
		dense.Syrk(dense.Transposed, 1/float64(n), b, 1, cov)
	}
	values, vectors, err := dense.EigenSym(cov)
	if err != nil {
		return nil, fmt.Errorf("data: principal components: %w", err)
	}
	for j := range d {
		p.Total += cov.At(j, j)
	}
	p.Components = mat.NewDense(k, d, nil)
	for c := range k {
		row := p.Components.RawRowView(c)
		mat.Col(row, d-1-c, vectors)
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
		p.Variance = append(p.Variance, max(0, values[d-1-c]))
	}
	return p, nil
}

// centre sets dst to the points from lo on, minus the mean.
func (p *PCA) centre(dst *mat.Dense, x Points, lo int) {
	rows, _ := dst.Dims()
	par.For(rows, 256, func(a, b int) {
		for i := a; i < b; i++ {
			row := dst.RawRowView(i)
			RowTo(row, x, lo+i)
			for j, m := range p.Mean {
				row[j] -= m
			}
		}
	})
}

// Apply returns the coordinates of x along the components, n×k. It costs 2ndk
// operations and holds 4096·(d+k) values beside the result.
func (p *PCA) Apply(x Points) (*Dense[float32], error) {
	n, d := x.Dims()
	k, want := p.Components.Dims()
	if d != want {
		return nil, fmt.Errorf("data: the points have %d dimensions, the principal components %d", d, want)
	}
	out := NewDense[float32](n, k)
	block := mat.NewDense(min(pcaBlock, n), d, nil)
	product := mat.NewDense(min(pcaBlock, n), k, nil)
	for lo := 0; lo < n; lo += pcaBlock {
		rows := min(lo+pcaBlock, n) - lo
		b := block.Slice(0, rows, 0, d).(*mat.Dense)
		c := product.Slice(0, rows, 0, k).(*mat.Dense)
		p.centre(b, x, lo)
		dense.Gemm(dense.NoTrans, dense.Transposed, 1, b, p.Components, 0, c)
		for i := range rows {
			dst := out.Row(lo + i)
			for j, v := range c.RawRowView(i) {
				dst[j] = float32(v)
			}
		}
	}
	return out, nil
}

// Mean returns the mean point, summed in an order that does not depend on the
// number of threads.
func Mean(x Points) []float64 {
	n, d := x.Dims()
	const grain = 4096
	parts := make([][]float64, par.Chunks(n, grain))
	par.For(n, grain, func(lo, hi int) {
		sum, row := make([]float64, d), make([]float64, d)
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

// ToSparse returns the non-zero coordinates of x.
func ToSparse(x Points) *sparse.CSR {
	if m, ok := x.(*sparse.CSR); ok {
		return m
	}
	n, d := x.Dims()
	m := &sparse.CSR{Rows: n, Cols: d, Ptr: make([]int64, n+1), Val: []float64{}}
	row := make([]float64, d)
	for i := range n {
		RowTo(row, x, i)
		for j, v := range row {
			if v != 0 {
				m.Col, m.Val = append(m.Col, int32(j)), append(m.Val, v)
			}
		}
		m.Ptr[i+1] = int64(len(m.Col))
	}
	return m
}

// Nonzero returns the numbers of the points that have a coordinate other than
// zero, ascending.
func Nonzero(x Points) []int {
	n, d := x.Dims()
	var rows []int
	row := make([]float64, d)
	for i := range n {
		RowTo(row, x, i)
		if slices.ContainsFunc(row, func(v float64) bool { return v != 0 }) {
			rows = append(rows, i)
		}
	}
	return rows
}
