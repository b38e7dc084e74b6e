package active

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// field is the Gaussian field after some labels: C = V A Vᵀ with the p×p matrix
//
//	A = (Λ + δI + V_lᵀV_l/σ²)⁻¹
//
// where V_l are the rows of V at the labels. As VᵀV = I,
//
//	C_ii = v_i·Av_i,  ‖C_{·i}‖² = ‖Av_i‖²,  Σ_j C_ji = (Vᵀ1)·Av_i.
type field struct {
	vectors    *mat.Dense // V, n×p
	covariance *mat.Dense // A
	sums       []float64  // Vᵀ1
	noise      float64    // σ²
}

// grain is the number of points in a chunk of work: some 10⁵ operations at 100 eigenpairs.
const grain = 512

// newField conditions the field on the labels of p.
func newField(ctx context.Context, p *Pool, s *Settings) (*field, error) {
	n, k := p.Vectors.Dims()
	f := &field{vectors: p.Vectors, sums: dense.ColumnMeans(p.Vectors)}
	floats.Scale(float64(n), f.sums)
	for _, v := range p.Values {
		f.noise += s.Noise / (v + s.Delta) / float64(n)
	}

	// The inverse covariance of the coefficients, Λ + δI + V_lᵀV_l/σ².
	precision := mat.NewDense(k, k, nil)
	if l := len(p.Labeled); l > 0 {
		rows := dense.Gather(mat.NewDense(l, k, nil), p.Vectors, p.Labeled)
		dense.Syrk(dense.Transposed, 1/f.noise, rows, 0, precision)
	}

	for j, v := range p.Values {
		precision.Set(j, j, precision.At(j, j)+v+s.Delta)
	}
	if err := dense.Cholesky(ctx, precision); err != nil {
		return nil, fmt.Errorf("active: the covariance after %d labels: %w", len(p.Labeled), err)
	}

	// A itself is needed, for Av; p is small beside n.
	f.covariance = mat.NewDense(k, k, nil)
	for j := range k {
		f.covariance.Set(j, j, 1)
	}
	dense.SolveLower(dense.NoTrans, precision, f.covariance)
	dense.SolveLower(dense.Transposed, precision, f.covariance)
	dense.Symmetrize(f.covariance)
	return f, ctx.Err()
}

// change is the effect of a label at point i: C_jk falls by scale·(v_j·a)(v_k·a) for all j and k.
type change struct {
	a     []float64 // Av_i
	scale float64   // 1/(C_ii + σ²)
	b     []float64 // Aa
	norm  float64   // ‖a‖²
	sum   float64   // (Vᵀ1)·a
}

// observe conditions the field on a label at point i: A becomes A − scale·aaᵀ.
func (f *field) observe(i int) change {
	v := f.vectors.RawRowView(i)
	c := change{a: f.times(v)}
	c.scale = 1 / (max(floats.Dot(v, c.a), 0) + f.noise)
	c.b = f.times(c.a)
	c.norm = floats.Dot(c.a, c.a)
	c.sum = floats.Dot(f.sums, c.a)
	for j, aj := range c.a {
		floats.AddScaled(f.covariance.RawRowView(j), -c.scale*aj, c.a)
	}
	return c
}

// times returns Av.
func (f *field) times(v []float64) []float64 {
	out := make([]float64, len(v))
	for j := range out {
		out[j] = floats.Dot(f.covariance.RawRowView(j), v)
	}
	return out
}

// moments holds the three numbers of every point that the rules use. A label changes them by products of
// the rows of V with two vectors, so that VA need not be kept.
type moments struct {
	variance  []float64 // C_ii
	reduction []float64 // ‖C_{·i}‖²
	total     []float64 // Σ_j C_ji
}

// momentRows is the number of rows of VA that are there at a time.
const momentRows = 4096

// newMoments computes the numbers of all points.
func newMoments(ctx context.Context, f *field) (*moments, error) {
	n, k := f.vectors.Dims()
	m := &moments{variance: make([]float64, n), reduction: make([]float64, n), total: make([]float64, n)}
	products := mat.NewDense(min(n, momentRows), k, nil)
	for lo := 0; lo < n; lo += momentRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows := f.vectors.Slice(lo, min(lo+momentRows, n), 0, k).(*mat.Dense)
		count, _ := rows.Dims()
		part := products.Slice(0, count, 0, k).(*mat.Dense)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, rows, f.covariance, 0, part)
		par.For(count, grain, func(from, to int) {
			for r := from; r < to; r++ {
				row := part.RawRowView(r)
				m.variance[lo+r] = max(floats.Dot(rows.RawRowView(r), row), 0)
				m.reduction[lo+r] = floats.Dot(row, row)
				m.total[lo+r] = floats.Dot(f.sums, row)
			}
		})
	}
	return m, nil
}

// apply changes the numbers of all points.
func (m *moments) apply(f *field, c change) {
	par.For(len(m.variance), grain, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			v := f.vectors.RawRowView(j)
			fall := c.scale * floats.Dot(v, c.a)
			m.variance[j] = max(m.variance[j]-fall*fall/c.scale, 0)
			m.reduction[j] = max(m.reduction[j]+fall*(fall*c.norm-2*floats.Dot(v, c.b)), 0)
			m.total[j] -= fall * c.sum
		}
	})
}
