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

// RepresentOutputs solves (γA + BKAQ) = Ey/l for targets y of all outputs, l×n, none of
// them missing: equation (17) of Minh & Sindhwani (2011), by a [Representer] for each
// eigenvalue θ of Q, as each column in the eigenvectors of Q is a system of its
// own with γ/θ. It returns A and AQ.
func RepresentOutputs(ctx context.Context, gram, y *mat.Dense, b *PointNorm, o *Outputs, q VectorNorm) (a, aq *mat.Dense, err error) {
	l, n := y.Dims()
	inBasis, alpha, scaled := mat.NewDense(l, n, nil), mat.NewDense(b.Points, n, nil), mat.NewDense(b.Points, n, nil)
	inBasis.Mul(y, o.Vectors)
	solved := map[float64]*Representer{}
	for j, theta := range q.Theta {
		if theta == 0 { // f is zero, and A what is left
			for p, i := range b.Labeled {
				alpha.Set(i, j, inBasis.At(p, j)/(float64(l)*q.Gamma))
			}
			continue
		}
		if solved[theta] == nil {
			if solved[theta], err = NewRepresenter(ctx, gram, b, q.Gamma/theta, q.Tell); err != nil {
				return nil, nil, err
			}
		}
		found, err := solved[theta].Fit(ctx, mat.NewDense(l, 1, mat.Col(nil, j, inBasis)))
		if err != nil {
			return nil, nil, err
		}
		for i, v := range found.Alpha.RawMatrix().Data {
			alpha.Set(i, j, v/theta)
			scaled.Set(i, j, v)
		}
	}
	a, aq = mat.NewDense(b.Points, n, nil), mat.NewDense(b.Points, n, nil)
	dense.Gemm(dense.NoTrans, dense.Transposed, 1, alpha, o.Vectors, 0, a)
	dense.Gemm(dense.NoTrans, dense.Transposed, 1, scaled, o.Vectors, 0, aq)
	return a, aq, nil
}

// VectorNorm is γ‖f‖² in the space of functions with several outputs.
type VectorNorm struct {
	Gamma float64
	Theta []float64 // eigenvalues of Q
	Tell  func(part float64, note string)
}
