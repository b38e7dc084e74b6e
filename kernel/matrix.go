package kernel

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
)

// Matrix is a Gram matrix G in memory, as an operator.
type Matrix struct{ Values *mat.Dense }

// Dim returns the number n of points.
func (o Matrix) Dim() int { n, _ := o.Values.Dims(); return n }

// MulTo sets dst = G·a for n×b blocks that must not overlap.
func (o Matrix) MulTo(dst, a *mat.Dense) {
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, o.Values, a, 0, dst)
}

// Factor is the operator ΦΦᵀ of n×r features Φ.
type Factor struct{ Phi *mat.Dense }

// Dim returns the number n of points.
func (o Factor) Dim() int { n, _ := o.Phi.Dims(); return n }

// MulTo sets dst = ΦΦᵀ·a for n×b blocks that must not overlap. It holds an r×b
// block.
func (o Factor) MulTo(dst, a *mat.Dense) {
	_, r := o.Phi.Dims()
	_, c := a.Dims()
	w := mat.NewDense(r, c, nil)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, o.Phi, a, 0, w)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, o.Phi, w, 0, dst)
}

// Features returns an n×r matrix Φ with G = ΦΦᵀ for a Gram matrix G. Eigenvalues that are zero to
// working precision are left out.
func Features(ctx context.Context, g *mat.Dense) (*mat.Dense, error) {
	values, vectors, err := dense.EigenSym(ctx, g)
	if err != nil {
		return nil, fmt.Errorf("kernel: the Gram matrix: %w", err)
	}

	// Eigenvalues ascend. Small negative ones are rounding errors; larger ones are not.
	n := len(values)
	least := float64(n) * 0x1p-53 * values[n-1]
	if !(values[0] >= -1e-6*values[n-1]) || values[n-1] == 0 {
		return nil, fmt.Errorf("kernel: the Gram matrix has eigenvalues from %g to %g; "+
			"it must be positive semidefinite and not zero", values[0], values[n-1])
	}
	first := 0
	for first < n-1 && values[first] <= least {
		first++
	}

	// Φ takes the memory of the eigenvectors: rows become shorter and close up.
	r := vectors.RawMatrix()
	width := n - first
	for i := range n {
		row := r.Data[i*width:][:width]
		for j, v := range r.Data[i*r.Stride+first:][:width] {
			row[j] = v * math.Sqrt(values[first+j])
		}
	}

	return mat.NewDense(n, width, r.Data[:n*width]), nil
}
