package solvers

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
	Vectors *mat.Dense // U, n×n
	Values  []float64  // of L_out†
}

// NewOutputs takes the graph of outputs W_out, n×n. It costs 5n³ operations. The
// space where L_out is zero has one dimension for every component of the graph,
// and that for an output without an edge holds that output alone.
func NewOutputs(ctx context.Context, w *sparse.CSR) (*Outputs, error) {
	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		return nil, fmt.Errorf("solvers: the graph of outputs: %w", err)
	}
	n := l.Dim()
	if n == 0 {
		return nil, errors.New("solvers: there are no outputs")
	}
	identity, full := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		identity.Set(i, i, 1)
	}
	l.MulTo(full, identity)
	o := &Outputs{}
	if o.Values, o.Vectors, err = dense.EigenSym(ctx, full); err != nil {
		return nil, fmt.Errorf("solvers: the Laplacian of the outputs: %w", err)
	}
	for j, v := range o.Values {
		if o.Values[j] = 0; v > 1e-10 { // of at most 2
			o.Values[j] = 1 / v
		}
	}
	return o, nil
}

// Scaled returns the eigenvalues of Q = γ_O L_out† + (1 − γ_O) I.
func (o *Outputs) Scaled(gammaO float64) []float64 {
	out := make([]float64, len(o.Values))
	for j, v := range o.Values {
		out[j] = gammaO*v + 1 - gammaO
	}
	return out
}

// Matrix returns Q with the eigenvalues theta.
func (o *Outputs) Matrix(theta []float64) *mat.Dense {
	n := len(theta)
	scaled, q := mat.DenseCopyOf(o.Vectors), mat.NewDense(n, n, nil)
	for j, v := range theta {
		for i := range n {
			scaled.Set(i, j, v*scaled.At(i, j))
		}
	}
	dense.Gemm(dense.NoTrans, dense.Transposed, 1, scaled, o.Vectors, 0, q)
	return q
}

// IndependentOutputs returns n outputs, none like another.
func IndependentOutputs(n int) *Outputs {
	o := &Outputs{mat.NewDense(n, n, nil), make([]float64, n)}
	for j := range n {
		o.Vectors.Set(j, j, 1)
	}
	return o
}
