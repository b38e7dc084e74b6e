package kernelmachine

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/stage"
)

// WarpBytes is about the memory that [Problem.Warp] for l of n points takes at its peak, with the Gram
// matrix and the values for m new points that [Warped.Between] returns.
func WarpBytes(n, l, m int) int64 {
	points := int64(n)
	kept := int64(l)
	const stripes = 6 * 256 // columns of scratch while I + MK is made: see Problem.system
	return stage.DenseBytes(8 * (4*points*points + points*max(2*kept, stripes) + kept*kept + int64(m)*kept))
}

// WarpOperations counts the operations of the same, for points of d columns.
func WarpOperations(n, l, m, d int) float64 {
	points := float64(n)
	kept := float64(l)
	return 2*points*points*(points/3+kept+float64(d)) + 2*points*kept*kept +
		2*float64(m)*points*(float64(d)+kept)
}

// Between returns k̃(x_i, z_j), m×l, between m points x and the points z of w, so that any machine that
// takes values of a kernel predicts for x. With X the training points of the problem and k_x the
// values k(x, X), k̃(x, z_j) is k_xᵀα_j for column j of α = (I + MK)⁻¹E: it costs the n·m values of k and
// 2nml operations. Where values were given in place of points, the rows of x are k_xᵀ. Equation of k̃
// in Sindhwani, Niyogi & Belkin (2005). It is an error if K̃ is lost in rounding.
func (w *Warped) Between(ctx context.Context, x data.Points) (*mat.Dense, error) {
	f, err := w.functions(ctx)
	if err != nil {
		return nil, err
	}
	p, err := f.Predict(ctx, x, nil)
	if err != nil {
		return nil, err
	}
	return p.Scores, nil
}

// functions returns the functions k̃(·, z_j) of all points of w as one expansion.
func (w *Warped) functions(ctx context.Context) (*expansion.Expansion, error) {
	l := len(w.points)
	source := w.problem.data.Source()
	if w.expand == nil {
		one := mat.NewDense(l, l, nil)
		for j := range l {
			one.Set(j, j, 1)
		}
		return expansion.Expand(source, w.points, one), nil
	}

	// The expansion belongs to g = (I + τK̃)β, where the loss joined the norm: see LabelGram.
	alpha := w.expand
	if w.gram.Shift > 0 {
		values, err := w.Values(ctx)
		if err != nil {
			return nil, err
		}
		g := mat.NewDense(l, l, nil)
		g.Scale(w.gram.Shift, values)
		for j := range l {
			g.Set(j, j, g.At(j, j)+1)
		}
		n, _ := w.expand.Dims()
		alpha = mat.NewDense(n, l, nil)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, w.expand, g, 0, alpha)
	}
	return expansion.Expand(source, nil, alpha), nil
}

// VarianceBytes is about the memory that [Warped.Variances] takes beside the problem, for n points of the
// problem and m new ones.
func VarianceBytes(n, m int) int64 { return 8 * int64(n) * (int64(n) + 4*int64(min(m, varianceBlock))) }

// varianceBlock is the number of points that variances are found for together.
const varianceBlock = 256

// Variances returns k̃(x, x) = k(x, x) − k_xᵀ(I + MK)⁻¹M k_x for each point x: the variance, before any
// label, of a Gaussian process with the covariance k̃. It factors I + MK anew, 2n³/3 operations, and
// takes 2n² more for each point; see [VarianceBytes] for the memory. Where the direct solution was
// lost in rounding, and where values were given in place of points, which do not say k(x, x), it is an
// error.
func (w *Warped) Variances(ctx context.Context, x data.Points) ([]float64, error) {
	p := w.problem
	if p.data.Values != nil {
		return nil, errors.New("kernelmachine: values of a kernel that are given in place of points do not say k(x, x)")
	}
	n, d := p.data.Points.Dims()
	m, columns := x.Dims()
	if columns != d {
		return nil, fmt.Errorf("kernelmachine: points of %d columns for a kernel among points of %d", columns, d)
	}
	out := make([]float64, m)
	own, err := kernel.New(p.data.Kernel, x)
	if err != nil {
		return nil, err
	}
	own.DiagonalTo(out)
	if w.reg.GammaI == 0 {
		return out, nil
	}
	if w.gram.Shift > 0 || w.m == nil {
		return nil, errors.New("kernelmachine: I + MK is nearly singular, so that variances of new points are lost in " +
			"rounding: take a smaller γ_I/γ_A")
	}

	a, err := p.system(ctx, w.m, w.reg)
	if err != nil {
		return nil, err
	}
	f, err := dense.FactorLU(ctx, a)
	if err != nil {
		return nil, err
	}
	side, err := kernel.New(p.data.Kernel, p.data.Points)
	if err != nil {
		return nil, err
	}
	// Of a block of points, k_xᵀ are the rows of rows, and Z = (I + MK)⁻¹M k_x.
	ratio := w.reg.Intrinsic(n, p.data.Laplacian) / w.reg.GammaA
	for lo := 0; lo < m; lo += varianceBlock {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+varianceBlock, m)
		rows := mat.NewDense(hi-lo, n, nil)
		if err := side.CrossTo(rows, x, lo, hi); err != nil {
			return nil, err
		}
		z := mat.NewDense(n, hi-lo, nil)
		w.m.MulTo(z, mat.DenseCopyOf(rows.T()))
		dense.Multiply(z, ratio)
		f.Solve(ctx, z)
		for i := range hi - lo {
			sum := 0.0
			for j, v := range rows.RawRowView(i) {
				sum += v * z.At(j, i)
			}
			// Rounding may take a variance that is nearly 0 below it.
			out[lo+i] = max(0, out[lo+i]-sum)
		}
	}
	return out, ctx.Err()
}
