package solvers

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
)

// Shifted applies (θC + ρ I)⁻¹ with
//
//	C = Φ_lᵀΦ_l/l + γN
//
// for several θ ≥ 0 and a symmetric positive semidefinite N, from one factorization of the large
// side.
//
// With few labels it decomposes N = U diag(μ) Uᵀ. In this basis, with Z = Φ_lU and G = ρ + θγμ,
// each θ takes the Cholesky factorization of the l×l matrix I + (θ/l) ZG⁻¹Zᵀ (Woodbury). With many
// labels it takes the eigendecomposition of C, 5r³ operations, and each θ costs a division.
type Shifted struct {
	basis *mat.Dense // columns; nil for the identity
	ridge float64    // ρ
	theta []float64
	// values are the eigenvalues of C or, if rows is set, of γN.
	values  []float64
	rows    *mat.Dense // Z; nil if basis are the eigenvectors of C
	factors map[float64]*mat.Dense
}

// ShiftedProblem holds the matrices of a [Shifted].
type ShiftedProblem struct {
	Rows   *mat.Dense // Φ_l, l×r
	Theta  []float64  // θ, which may repeat
	Ridge  float64    // ρ, positive
	Weight float64    // γ, not negative; 0 leaves N out
	Norm   *mat.Dense // N, r×r
	// Eigen returns the eigenpairs of N, which several problems may share.
	Eigen func(ctx context.Context) (values []float64, vectors *mat.Dense, err error)
}

// NewShifted factors for all θ.
func NewShifted(ctx context.Context, p *ShiftedProblem) (*Shifted, error) {
	l, d := p.Rows.Dims()
	s := &Shifted{ridge: p.Ridge, theta: p.Theta, factors: map[float64]*mat.Dense{}}
	for _, v := range p.Theta {
		s.factors[v] = nil
	}

	// Eigenvectors of C where a factorization for each θ would cost more.
	if cost := float64(len(s.factors)) * float64(l) * float64(l) * float64(d+l/3); l >= d ||
		cost > 5*math.Pow(float64(d), 3) {
		c := mat.NewDense(d, d, nil)
		dense.Syrk(dense.Transposed, 1/float64(l), p.Rows, 0, c)
		if p.Weight > 0 {
			dense.AddScaled(c, 1, p.Weight, p.Norm)
		}
		var err error
		if s.values, s.basis, err = dense.EigenSym(ctx, c); err != nil {
			return nil, fmt.Errorf("solvers: eigenvectors of ΦᵀBΦ: %w", err)
		}
		for j, v := range s.values {
			s.values[j] = math.Max(0, v)
		}
		return s, nil
	}

	// Woodbury: the eigenvectors of N, and a small matrix for each θ.
	s.rows = p.Rows
	s.values = make([]float64, d)
	if p.Weight > 0 {
		mu, basis, err := p.Eigen(ctx)
		if err != nil {
			return nil, fmt.Errorf("solvers: eigenvectors of ΦᵀLᵖΦ: %w", err)
		}
		s.basis = basis
		for j, v := range mu {
			s.values[j] = p.Weight * v
		}
		s.rows = mat.NewDense(l, d, nil)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, p.Rows, basis, 0, s.rows)
	}

	for v := range s.factors {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.factor(ctx, v); err != nil {
			return nil, err
		}
	}

	return s, nil
}

// factor sets the factor for θ = v.
func (s *Shifted) factor(ctx context.Context, v float64) error {
	l, _ := s.rows.Dims()

	// I + (θ/l) ZG⁻¹Zᵀ, with G^-½ on both sides.
	scaled := mat.DenseCopyOf(s.rows)
	for i := range l {
		row := scaled.RawRowView(i)
		for j := range row {
			row[j] /= math.Sqrt(s.ridge + v*s.values[j])
		}
	}

	g := mat.NewDense(l, l, nil)
	dense.Syrk(dense.NoTrans, v/float64(l), scaled, 0, g)
	for i := range l {
		g.Set(i, i, g.At(i, i)+1)
	}
	if err := dense.Cholesky(ctx, g); err != nil {
		return fmt.Errorf("solvers: γ_A = %g is too small beside the data (and γ_I): %w", s.ridge, err)
	}
	s.factors[v] = g
	return nil
}

// Apply overwrites column j of b by θ_j(θ_jC + ρ I)⁻¹ of it.
func (s *Shifted) Apply(b *mat.Dense) {
	d, cols := b.Dims()
	x := b
	if s.basis != nil {
		x = mat.NewDense(d, cols, nil)
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, s.basis, b, 0, x)
	}

	// θG⁻¹ in the basis; with Woodbury, the correction by the labeled rows follows.
	for i := range d {
		row := x.RawRowView(i)
		for j, theta := range s.theta {
			row[j] *= theta / (s.ridge + theta*s.values[i])
		}
	}

	if s.rows != nil {
		l, _ := s.rows.Dims()
		labeled := mat.NewDense(l, cols, nil)
		back := mat.NewDense(d, cols, nil)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, s.rows, x, 0, labeled)
		for j, theta := range s.theta {
			column := mat.NewDense(l, 1, mat.Col(nil, j, labeled))
			dense.SolveLower(dense.NoTrans, s.factors[theta], column)
			dense.SolveLower(dense.Transposed, s.factors[theta], column)
			labeled.SetCol(j, column.RawMatrix().Data)
		}

		dense.Gemm(dense.Transposed, dense.NoTrans, 1/float64(l), s.rows, labeled, 0, back)
		for i := range d {
			row := x.RawRowView(i)
			minus := back.RawRowView(i)
			for j, theta := range s.theta {
				row[j] -= theta / (s.ridge + theta*s.values[i]) * minus[j]
			}
		}
	}

	if s.basis != nil {
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, s.basis, x, 0, b)
	}
}
