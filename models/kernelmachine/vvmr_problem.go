package kernelmachine

import (
	"context"
	"errors"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// VVMRProblem holds what vector-valued fits to one set of N points and one graph
// share, whatever the targets, outputs and weights. It is immutable and safe for
// concurrent use.
type VVMRProblem struct {
	*ApproximateProblem
	operator sparse.Operator // the kernel: products with G
	gram     bool            // it is G itself
}

// NewVVMRProblem prepares fits to the points of d with the intrinsic norm of r(L)
// for their Laplacian, as r names it, or without one if there is none; the weights in r do not matter.
//
// Everything is done on features Φ, N×r, with G = ΦΦᵀ. A nil s asks for the exact
// kernel. Then Φ are the points themselves for the linear kernel of d ≤ min(N,
// 5000) dimensions, N·d values; otherwise they are the eigenvectors of the Gram
// matrix times the roots of their eigenvalues, for N ≤ 5000: 5N³ operations and
// four N×N matrices. Else s gives landmarks, or products that never hold G, by
// [NewApproximateProblem].
func NewVVMRProblem(ctx context.Context, d *Data, r regularizer.Regularizer,
	s *ApproximationSettings) (*VVMRProblem, error) {
	n, d, err := d.check()
	if err != nil {
		return nil, err
	}
	p := &VVMRProblem{ApproximateProblem: &ApproximateProblem{data: d}}
	limit := d.Limit

	_, columns := d.Source().Rows().Dims()
	direct := onPoints(d.Source(), s)
	switch {
	case s != nil && s.Approximation == Fourier:
		return nil, errVVMRFourier
	case s != nil && !direct:
		if p.ApproximateProblem, err = NewApproximateProblem(ctx, d, r, s); err != nil {
			return nil, err
		}
		if p.operator = (kernel.Factor{Phi: p.phi}); p.products != nil {
			p.operator = p.products
			p.gram = p.expansion == nil
		}
		return p, nil
	case direct:
		if need := featureBytes(n, columns); limit > 0 && need > limit {
			return nil, fmt.Errorf("kernelmachine: %d points of %d dimensions take %d bytes, %d are "+
				"allowed; use fewer points, or allow more memory", n, columns, need, limit)
		}
		if x, ok := d.Points.(*sparse.CSR); ok {
			p.phi = x.ToDense()
		} else {
			p.phi, _ = data.Block(d.Points, nil, 0, n, 0, columns)
		}
		p.operator = kernel.Factor{Phi: p.phi}
		return p, p.form(ctx, r)
	case n > linear.MaxFormed:
		return nil, fmt.Errorf("kernelmachine: %d points for an exact kernel; the most is %d", n,
			linear.MaxFormed)
	case limit > 0 && 4*kernel.GramBytes(n) > limit:
		return nil, fmt.Errorf("kernelmachine: four matrices of %d points take %d bytes, %d are "+
			"allowed; use landmarks, or allow more memory", n, 4*kernel.GramBytes(n), limit)
	}

	// Any other exact kernel: features from the eigenvectors of its Gram matrix.
	g, err := gramOf(ctx, d, d.Source(), n)
	if err != nil {
		return nil, err
	}
	d.report(0, 1, "eigenvectors of the Gram matrix")
	if p.phi, err = kernel.Features(ctx, g); err != nil {
		return nil, err
	}
	p.operator = kernel.Matrix{Values: g}
	p.gram = true
	return p, p.form(ctx, r)
}

var errVVMRFourier = errors.New("kernelmachine: vvmr is fitted exactly, by landmarks or matrix-free")

// onPoints tells whether the points themselves are the features Φ.
func onPoints(x kernel.Source, s *ApproximationSettings) bool {
	n, d := x.Rows().Dims()
	return x.Values == nil && x.Kernel.Kind == kernel.Linear && d <= min(n, linear.MaxFormed) &&
		(s == nil || s.Approximation == Nystrom)
}

// until returns the kernel for products until ctx is cancelled.
func (p *VVMRProblem) until(ctx context.Context) sparse.Operator {
	if p.products != nil {
		return p.products.Until(ctx)
	}
	return p.operator
}

// pointNorm is B of targets t, none of them missing.
func (p *VVMRProblem) pointNorm(t *models.Targets, r *regularizer.Regularizer) *solvers.PointNorm {
	b := &solvers.PointNorm{Points: t.Len, Labeled: t.Labeled, Gamma: r.Intrinsic(t.Len, p.data.Laplacian)}
	if r.GammaI > 0 {
		b.M = p.linear.Intrinsic()
	}
	return b
}
