package solvers

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
)

// Coupled applies D(γ_A I + C)⁻¹D to blocks w, r×n, with D = diag(√θ) from the right and
//
//	C: w ↦ (Φ_lᵀΦ_l/l) wD² + γ Σ_p N_p w (D UᵀB_pU D),  N_p = ΦᵀLᵖΦ,
//
// for the outputs U, θ of Q: what [Shifted] is for M = r(L) ⊗ I, for M = Σ_p Lᵖ ⊗ B_p. Where U diagonalizes all
// B_p the columns are systems of order r, r³/3 operations each; else all are one of order rn, of at most
// MaxCoupled.
type Coupled struct {
	root    []float64    // √θ
	factors []*mat.Dense // one for each column, or one of all
}

// MaxCoupled is the largest order of the one system of [Coupled].
const MaxCoupled = 5000

// CoupledProblem holds the matrices of a [Coupled].
type CoupledProblem struct {
	Rows    *mat.Dense   // Φ_l, l×r
	Norms   []*mat.Dense // N_p, r×r; nil for a B_p of 0
	Outputs *Outputs     // with the B_p
	Theta   []float64    // the eigenvalues of Q
	Ridge   float64      // γ_A, positive
	Weight  float64      // γ
}

// NewCoupled factors the systems.
func NewCoupled(ctx context.Context, p *CoupledProblem) (*Coupled, error) {
	l, r := p.Rows.Dims()
	n := len(p.Theta)
	c := &Coupled{root: make([]float64, n)}
	for j, v := range p.Theta {
		c.root[j] = math.Sqrt(v)
	}
	gram := mat.NewDense(r, r, nil)
	dense.Syrk(dense.Transposed, 1/float64(l), p.Rows, 0, gram)

	// T_p = D UᵀB_pU D, with zeros where rounding alone differs from them.
	turned := make([]*mat.Dense, len(p.Norms))
	diagonal := true
	for k := range p.Norms {
		if p.Norms[k] == nil {
			continue
		}
		var t mat.Dense
		t.Mul(p.Outputs.Vectors.T(), p.Outputs.Penalty[k])
		t.Mul(&t, p.Outputs.Vectors)
		top := mat.Norm(&t, math.Inf(1))
		t.Apply(func(i, j int, v float64) float64 {
			if i != j && math.Abs(v) <= 1e-12*top {
				return 0
			}
			diagonal = diagonal && (i == j || c.root[i]*c.root[j] == 0)
			return c.root[i] * v * c.root[j]
		}, &t)
		turned[k] = &t
	}

	if !diagonal && r*n > MaxCoupled {
		return nil, fmt.Errorf("solvers: the matrices of the outputs have other eigenvectors than Q, and %d features "+
			"of %d outputs are more than %d unknowns: take at most %d features", r, n, MaxCoupled, MaxCoupled/n)
	}
	// Block (i, j) of the whole, rows i·r of it on, couples the outputs i and j.
	block := func(dst *mat.Dense, i, j int) {
		if i == j {
			dst.Scale(p.Theta[j], gram)
			for q := range r {
				dst.Set(q, q, dst.At(q, q)+p.Ridge)
			}
		}
		for k, t := range turned {
			if t != nil && t.At(i, j) != 0 {
				dense.AddScaled(dst, 1, p.Weight*t.At(i, j), p.Norms[k])
			}
		}
	}
	if diagonal {
		for j := range n {
			h := mat.NewDense(r, r, nil)
			block(h, j, j)
			c.factors = append(c.factors, h)
		}
	} else {
		h := mat.NewDense(r*n, r*n, nil)
		for i := range n {
			for j := range n {
				block(h.Slice(i*r, (i+1)*r, j*r, (j+1)*r).(*mat.Dense), i, j)
			}
		}
		c.factors = []*mat.Dense{h}
	}

	for _, h := range c.factors {
		if err := dense.Cholesky(ctx, h); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			return nil, fmt.Errorf("solvers: γ_A = %g is too small beside the data (and γ_I): %w", p.Ridge, err)
		}
	}
	return c, nil
}

// Apply overwrites w by the product with it.
func (c *Coupled) Apply(w *mat.Dense) {
	r, n := w.Dims()
	x := mat.NewDense(r*n, 1, nil) // the columns of wD below each other
	for i := range r {
		for j, v := range w.RawRowView(i) {
			x.Set(j*r+i, 0, c.root[j]*v)
		}
	}
	order := r * n / len(c.factors)
	for k, h := range c.factors {
		part := x.Slice(k*order, (k+1)*order, 0, 1).(*mat.Dense)
		dense.SolveLower(dense.NoTrans, h, part)
		dense.SolveLower(dense.Transposed, h, part)
	}
	for i := range r {
		row := w.RawRowView(i)
		for j := range row {
			row[j] = c.root[j] * x.At(j*r+i, 0)
		}
	}
}
