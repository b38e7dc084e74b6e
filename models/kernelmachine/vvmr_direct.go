package kernelmachine

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/models"
)

// spectralSolver applies (θC + γ_A I)⁻¹ with
//
//	C = ΦᵀBΦ = Φ_lᵀΦ_l/l + γ_I s ΦᵀLᵖΦ
//
// for several θ ≥ 0, from one factorization of the large side.
//
// With few labels that is ΦᵀLᵖΦ = U diag(μ) Uᵀ, which the fits of a problem share.
// In its basis, with Z = Φ_lU and G = γ_A + θγ_I s μ, each θ takes the Cholesky
// factorization of the l×l matrix I + (θ/l) ZG⁻¹Zᵀ (Woodbury). With many it is the
// eigendecomposition of C, 5r³ operations, and each θ a division.
type spectralSolver struct {
	basis *mat.Dense // columns; nil for the identity
	gamma float64    // γ_A
	theta []float64
	// values are the eigenvalues of C, or with z those of γ_I s ΦᵀLᵖΦ.
	values  []float64
	z       *mat.Dense // nil for the eigenvectors of C
	factors map[float64]*mat.Dense
}

// spectral prepares for the labeled points and the eigenvalues θ of Q.
func (p *VVMRProblem) spectral(t *models.Targets, theta []float64, r models.Regularizer) (*spectralSolver, error) {
	n, d := p.phi.Dims()
	l := len(t.Labeled)
	s := &spectralSolver{gamma: r.GammaA, theta: theta, factors: map[float64]*mat.Dense{}}
	rows := mat.NewDense(l, d, nil)
	dense.Gather(rows, p.phi, t.Labeled)
	for _, v := range theta {
		s.factors[v] = nil
	}
	if cost := float64(len(s.factors)) * float64(l) * float64(l) * float64(d+l/3); l >= d || cost > 5*math.Pow(float64(d), 3) {
		c := mat.NewDense(d, d, nil)
		dense.Syrk(dense.Transposed, 1/float64(l), rows, 0, c)
		if r.GammaI > 0 {
			dense.AddScaled(c, 1, r.Intrinsic(n), p.linear.Norm)
		}
		var err error
		if s.values, s.basis, err = dense.EigenSym(c); err != nil {
			return nil, fmt.Errorf("kernelmachine: eigenvectors of ΦᵀBΦ: %w", err)
		}
		for j, v := range s.values {
			s.values[j] = math.Max(0, v)
		}
		return s, nil
	}
	s.z = rows
	s.values = make([]float64, d)
	if r.GammaI > 0 {
		mu, basis, err := p.linear.Eigen()
		if err != nil {
			return nil, fmt.Errorf("kernelmachine: eigenvectors of ΦᵀLᵖΦ: %w", err)
		}
		s.basis = basis
		for j, v := range mu {
			s.values[j] = r.Intrinsic(n) * v
		}
		s.z = mat.NewDense(l, d, nil)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, rows, basis, 0, s.z)
	}
	for v := range s.factors {
		scaled := mat.DenseCopyOf(s.z)
		for i := range l {
			row := scaled.RawRowView(i)
			for j := range row {
				row[j] /= math.Sqrt(s.gamma + v*s.values[j])
			}
		}
		g := mat.NewDense(l, l, nil)
		dense.Syrk(dense.NoTrans, v/float64(l), scaled, 0, g)
		for i := range l {
			g.Set(i, i, g.At(i, i)+1)
		}
		if err := dense.Cholesky(g); err != nil {
			return nil, fmt.Errorf("kernelmachine: γ_A = %g is too small beside the data (and γ_I): %w", r.GammaA, err)
		}
		s.factors[v] = g
	}
	return s, nil
}

// apply overwrites column j of b by θ_j(θ_jC + γ_A I)⁻¹ of it.
func (s *spectralSolver) apply(b *mat.Dense) {
	d, cols := b.Dims()
	x := b
	if s.basis != nil {
		x = mat.NewDense(d, cols, nil)
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, s.basis, b, 0, x)
	}
	for i := range d {
		row := x.RawRowView(i)
		for j, theta := range s.theta {
			row[j] *= theta / (s.gamma + theta*s.values[i])
		}
	}
	if s.z != nil {
		l, _ := s.z.Dims()
		labeled, back := mat.NewDense(l, cols, nil), mat.NewDense(d, cols, nil)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, s.z, x, 0, labeled)
		for j, theta := range s.theta {
			column := mat.NewDense(l, 1, mat.Col(nil, j, labeled))
			dense.SolveLower(dense.NoTrans, s.factors[theta], column)
			dense.SolveLower(dense.Transposed, s.factors[theta], column)
			labeled.SetCol(j, column.RawMatrix().Data)
		}
		dense.Gemm(dense.Transposed, dense.NoTrans, 1/float64(l), s.z, labeled, 0, back)
		for i := range d {
			row, minus := x.RawRowView(i), back.RawRowView(i)
			for j, theta := range s.theta {
				row[j] -= theta / (s.gamma + theta*s.values[i]) * minus[j]
			}
		}
	}
	if s.basis != nil {
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, s.basis, x, 0, b)
	}
}
