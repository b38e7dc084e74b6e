package pca

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/sparse"
)

// Standardize returns the projection of x that divides the difference of each column from its mean by its standard
// deviation σ_j: z_ij = (x_ij − m_j)/σ_j, with σ_j² = 1/n Σ_i (x_ij − m_j)². A column of one value becomes 0. The
// components are the rows of the diagonal matrix of 1/σ_j, d×d, and the variance along each is 1.
//
// Standardize reads x twice and holds d² values. Sparse points, whose zeros would not stay, and a cancelled ctx are
// errors.
func Standardize(ctx context.Context, x data.Points) (*Projection, error) {
	if _, is := x.(*sparse.CSR); is {
		return nil, errors.New("pca: columns of sparse points cannot be standardized, as their zeros would not stay")
	}
	_, d := x.Dims()
	p := &Projection{Mean: data.Mean(x), Components: mat.NewDense(d, d, nil), Variance: make([]float64, d)}
	variance, err := variances(ctx, x, p.Mean)
	if err != nil {
		return nil, err
	}
	for j, v := range variance {
		if v > 0 {
			p.Components.Set(j, j, 1/math.Sqrt(v))
			p.Variance[j] = 1
			p.Total++
		}
	}
	return p, nil
}

// variances returns the mean square of the difference of each column from mean. That of a column of one value is 0,
// however its mean was rounded.
func variances(ctx context.Context, x data.Points, mean []float64) ([]float64, error) {
	n, d := x.Dims()
	out := make([]float64, d)
	row, first := make([]float64, d), make([]float64, d)
	data.RowTo(first, x, 0)
	varies := make([]bool, d)
	err := data.Each(x, maxBlock, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			data.RowTo(row, x, i)
			for j, v := range row {
				varies[j] = varies[j] || v != first[j]
				v -= mean[j]
				out[j] += v * v
			}
		}
		return ctx.Err()
	})
	for j := range out {
		if out[j] /= float64(n); !varies[j] {
			out[j] = 0
		}
	}
	return out, err
}

// Standardized returns the projection that applies s, of [Standardize], and then p, of the points that s gave.
func (p *Projection) Standardized(s *Projection) *Projection {
	// With S = diag(1/σ) and the mean μ of the standardized points, C(S(x − m) − μ) is CS(x − m − S⁻¹μ). A column
	// of one value has 0 in S, and whatever its mean is does not count.
	out := *p
	out.Mean = make([]float64, len(s.Mean))
	out.Components = mat.DenseCopyOf(p.Components)
	k, d := out.Components.Dims()
	for j := range d {
		out.Mean[j] = s.Mean[j]
		f := s.Components.At(j, j)
		if f > 0 {
			out.Mean[j] += p.Mean[j] / f
		}
		for c := range k {
			out.Components.Set(c, j, f*out.Components.At(c, j))
		}
	}
	return &out
}
