package solvers

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// PointNorm is the operator B = E(I − C)Eᵀ/l + γM on n points: E has the columns of
// the identity for the l labeled points, and C takes the mean over them, or is zero. Labels
// with shares s have S = diag(s) in place of 1/l, and the mean with these weights.
type PointNorm struct {
	Points  int // n
	Labeled []int
	Shares  []float64 // of the labels in the loss, their sum 1; nil for 1/l each
	Centred bool      // C is the mean
	Gamma   float64
	M       sparse.Operator // symmetric positive semidefinite; nil if γ is 0
}

// Dim returns n.
func (b *PointNorm) Dim() int { return b.Points }

// MulTo sets dst = B·x.
func (b *PointNorm) MulTo(dst, x *mat.Dense) {
	if b.Gamma > 0 {
		b.M.MulTo(dst, x)
		dense.Multiply(dst, b.Gamma)
	} else {
		dst.Zero()
	}

	_, c := x.Dims()
	mean := make([]float64, c)
	if b.Centred {
		mean = b.mean(x)
	}
	for q, i := range b.Labeled {
		scale := shareOf(b.Shares, len(b.Labeled), q)
		to := dst.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			to[j] += scale * (v - mean[j])
		}
	}
}

// shareOf returns the share of label q of l in the loss.
func shareOf(shares []float64, l, q int) float64 {
	if shares == nil {
		return 1 / float64(l)
	}
	return shares[q]
}

// mean returns the mean of the rows of x over the labeled points.
func (b *PointNorm) mean(x *mat.Dense) []float64 {
	_, c := x.Dims()
	mean := make([]float64, c)
	if b.Shares != nil {
		for q, i := range b.Labeled {
			floats.AddScaled(mean, b.Shares[q], x.RawRowView(i))
		}
		return mean
	}
	for _, i := range b.Labeled {
		for j, v := range x.RawRowView(i) {
			mean[j] += v / float64(len(b.Labeled))
		}
	}
	return mean
}
