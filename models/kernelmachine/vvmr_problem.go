package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/sparse"
)

// VVMRProblem is what vector-valued fits to one set of N points and one graph
// share, whatever the targets, outputs and weights. It is immutable and safe for
// concurrent use.
type VVMRProblem struct {
	*ApproximateProblem
	operator sparse.Operator // the kernel: products with G
	gram     bool            // it is G itself
}

// NewVVMRProblem prepares fits to the points x with the intrinsic norm of the
// power p of the Laplacian l, or without one if l is nil.
//
// Everything is done on features Φ, N×r, with G = ΦΦᵀ. A nil s asks for the exact
// kernel. Then Φ are the points themselves for the linear kernel of d ≤ min(N,
// 5000) dimensions, N·d values; otherwise they are the eigenvectors of the Gram
// matrix times the roots of their eigenvalues, for N ≤ 5000: 5N³ operations and
// four N×N matrices. Else s gives landmarks, or products that never hold G, by
// [NewApproximateProblem], which see. If limit is positive, more memory for matrices is
// an error.
func NewVVMRProblem(ctx context.Context, x data.Points, k kernel.Kernel, l *sparse.Laplacian, power int, s *ApproximationSettings, limit int64) (*VVMRProblem, error) {
	k, err := k.Fill()
	if err != nil {
		return nil, err
	}
	n, d := x.Dims()
	switch {
	case n == 0:
		return nil, errors.New("kernelmachine: no points")
	case power < 1:
		return nil, fmt.Errorf("kernelmachine: power %d of the Laplacian; it must be at least 1", power)
	case l != nil && l.Dim() != n:
		return nil, fmt.Errorf("kernelmachine: a graph of %d vertices for %d points", l.Dim(), n)
	}
	p := &VVMRProblem{ApproximateProblem: &ApproximateProblem{points: x, kernel: k, laplacian: l}}
	direct := onPoints(x, k.Kind, s)
	switch {
	case s != nil && s.Approximation == Fourier:
		return nil, errVVMRFourier
	case s != nil && !direct:
		if p.ApproximateProblem, err = NewApproximateProblem(ctx, x, k, l, power, s, limit); err != nil {
			return nil, err
		}
		if p.operator = (factorOperator{p.phi}); p.iterate != nil {
			p.operator = p.iterate.kernel
			p.gram = p.iterate.nearby == nil
		}
		return p, nil
	case direct:
		if need := featureBytes(n, d); limit > 0 && need > limit {
			return nil, fmt.Errorf("kernelmachine: %d points of %d dimensions take %d bytes, %d are allowed; use fewer points, or allow more memory", n, d, need, limit)
		}
		p.phi = wholeBlock(x)
		p.operator = factorOperator{p.phi}
		return p, p.form(ctx, power)
	case n > linear.MaxFormed:
		return nil, fmt.Errorf("kernelmachine: %d points for an exact kernel; the most is %d", n, linear.MaxFormed)
	case limit > 0 && 4*kernel.GramBytes(n) > limit:
		return nil, fmt.Errorf("kernelmachine: four matrices of %d points take %d bytes, %d are allowed; use landmarks, or allow more memory", n, 4*kernel.GramBytes(n), limit)
	}
	g, err := kernel.Gram(x, k, limit)
	if err != nil {
		return nil, err
	}
	if p.phi, err = rootFactor(g); err != nil {
		return nil, err
	}
	p.operator, p.gram = kernel.Matrix{Values: g}, true
	return p, p.form(ctx, power)
}

var errVVMRFourier = errors.New("kernelmachine: vvmr is fitted exactly, by landmarks or matrix-free")

// onPoints tells whether the points themselves are the features Φ.
func onPoints(x data.Points, k kernel.Kind, s *ApproximationSettings) bool {
	n, d := x.Dims()
	return k == kernel.Linear && d <= min(n, linear.MaxFormed) && (s == nil || s.Approximation == Nystrom)
}

// wholeBlock returns x as float64.
func wholeBlock(x data.Points) *mat.Dense {
	n, d := x.Dims()
	if m, ok := x.(*data.Dense[float64]); ok {
		return mat.NewDense(n, d, m.Data)
	}
	out := mat.NewDense(n, d, nil)
	par.For(n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			data.RowTo(out.RawRowView(i), x, i)
		}
	})
	return out
}

// rootFactor returns Φ with G = ΦΦᵀ, without the eigenvalues that are zero to
// working precision.
func rootFactor(g *mat.Dense) (*mat.Dense, error) {
	values, vectors, err := dense.EigenSym(g)
	if err != nil {
		return nil, fmt.Errorf("kernelmachine: the Gram matrix: %w", err)
	}
	n := len(values)
	least := float64(n) * 0x1p-53 * values[n-1]
	if !(values[0] >= -1e-6*values[n-1]) || values[n-1] == 0 {
		return nil, fmt.Errorf("kernelmachine: the Gram matrix has eigenvalues from %g to %g; it must be positive semidefinite and not zero", values[0], values[n-1])
	}
	first := 0
	for first < n-1 && values[first] <= least {
		first++
	}
	phi := mat.NewDense(n, n-first, nil)
	for i := range n {
		row := phi.RawRowView(i)
		for j, v := range vectors.RawRowView(i)[first:] {
			row[j] = v * math.Sqrt(values[first+j])
		}
	}
	return phi, nil
}

// factorOperator is ΦΦᵀ.
type factorOperator struct{ phi *mat.Dense }

// Dim returns N.
func (o factorOperator) Dim() int { n, _ := o.phi.Dims(); return n }

// MulTo sets dst = ΦΦᵀ·a.
func (o factorOperator) MulTo(dst, a *mat.Dense) {
	_, r := o.phi.Dims()
	_, c := a.Dims()
	w := mat.NewDense(r, c, nil)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, o.phi, a, 0, w)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, o.phi, w, 0, dst)
}
