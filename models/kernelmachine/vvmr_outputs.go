package kernelmachine

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/sparse"
)

// Outputs are the n outputs of a vector-valued function with what is known of
// their likeness: the eigenvectors U and eigenvalues of L_out†, the pseudo-inverse
// of the normalized Laplacian of a graph on them. It is immutable.
type Outputs struct {
	vectors *mat.Dense // U, n×n
	values  []float64  // of L_out†
}

// NewOutputs takes the graph of outputs W_out, n×n. It costs 5n³ operations. The
// space where L_out is zero has one dimension for every component of the graph,
// and that for an output without an edge holds that output alone.
func NewOutputs(ctx context.Context, w *sparse.CSR) (*Outputs, error) {
	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		return nil, fmt.Errorf("kernelmachine: the graph of outputs: %w", err)
	}
	n := l.Dim()
	if n == 0 {
		return nil, errors.New("kernelmachine: there are no outputs")
	}
	identity, full := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		identity.Set(i, i, 1)
	}
	l.MulTo(full, identity)
	o := &Outputs{}
	if o.values, o.vectors, err = dense.EigenSym(ctx, full); err != nil {
		return nil, fmt.Errorf("kernelmachine: the Laplacian of the outputs: %w", err)
	}
	for j, v := range o.values {
		if o.values[j] = 0; v > 1e-10 { // of at most 2
			o.values[j] = 1 / v
		}
	}
	return o, nil
}

// scaled returns the eigenvalues of Q = γ_O L_out† + (1 − γ_O) I.
func (o *Outputs) scaled(gammaO float64) []float64 {
	out := make([]float64, len(o.values))
	for j, v := range o.values {
		out[j] = gammaO*v + 1 - gammaO
	}
	return out
}

// matrix returns Q with the eigenvalues theta.
func (o *Outputs) matrix(theta []float64) *mat.Dense {
	n := len(theta)
	scaled, q := mat.DenseCopyOf(o.vectors), mat.NewDense(n, n, nil)
	for j, v := range theta {
		for i := range n {
			scaled.Set(i, j, v*scaled.At(i, j))
		}
	}
	dense.Gemm(dense.NoTrans, dense.Transposed, 1, scaled, o.vectors, 0, q)
	return q
}

// independentOutputs are n outputs, none like another.
func independentOutputs(n int) *Outputs {
	o := &Outputs{mat.NewDense(n, n, nil), make([]float64, n)}
	for j := range n {
		o.vectors.Set(j, j, 1)
	}
	return o
}
