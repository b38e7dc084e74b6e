package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// Problem holds what all exact kernel machines on n points share: the Gram
// matrix K, n² values, and the graph Laplacian. It is immutable and safe for
// concurrent use.
type Problem struct {
	data *Data // with the defaults of the kernel
	gram *mat.Dense
}

// NewProblem evaluates the Gram matrix. The limit of d holds here and in Warp.
func NewProblem(ctx context.Context, d *Data) (*Problem, error) {
	n, d, err := d.check()
	if err != nil {
		return nil, err
	}
	p := &Problem{data: d}
	p.gram, err = gramOf(ctx, d, d.Source(), n)
	return p, err
}

// gramOf returns the Gram matrix of the n points of s, within the limit of d.
func gramOf(ctx context.Context, d *Data, s kernel.Source, n int) (*mat.Dense, error) {
	if err := kernel.GramFits(n, d.Limit); err != nil {
		return nil, err
	}
	set, err := s.Set()
	if err != nil {
		return nil, err
	}
	d.report(0, 1, "Gram matrix")
	return set.Gram(ctx)
}

// withNorm returns the problem on the same Gram matrix with the Laplacian l.
func (p *Problem) withNorm(l *sparse.Laplacian) *Problem {
	d := *p.data
	d.Laplacian = l
	return &Problem{&d, p.gram}
}

// Warped is a kernel among l points of a problem that knows the geometry
// of all n (Sindhwani, Niyogi & Belkin 2005):
//
//	k̃(x, z) = k(x, z) − k_xᵀ (I + MK)⁻¹ M k_z,  M = (γ_I s/γ_A) Lᵖ
//
// A machine on it with the norm γ_A‖f‖² alone is the manifold-regularized one: it
// finds β with f = Σ β_j k̃(·, x_j) = Σ_i α_i k(·, x_i) and α = (I + MK)⁻¹Eβ, E
// being the columns of the identity for the l points, which is equation (8) of
// 2006 for β = (K̃ + γ_A l I)⁻¹y and equation (10) for β of the quadratic program
// (11). It serves all classes, all γ_A of one ratio γ_I/γ_A, and all subsets of
// the points. It is immutable and safe for concurrent use.
type Warped struct {
	problem *Problem
	reg     models.Regularizer // with defaults; of the two weights only the ratio matters
	heat    float64            // of [Settings]
	points  []int
	Gram    *mat.Dense // K̃, l×l
	expand  *mat.Dense // (I + MK)⁻¹E, n×l; nil if γ_I = 0, where it is E
}

// maxLoss is how far K̃ may be from symmetric, relative to its largest entry, and
// uᵀ(I + MK)⁻¹ from uᵀ for the null vector u of L.
const maxLoss = 1e-4

// Warp computes the kernel among the given points, ascending: those that have a
// label in any draw or fold. With γ_I = 0 it is a part of K. Otherwise it costs a
// factorization of I + MK, 2n³/3 operations, one pass over the graph per power and
// column, and 2n²l for the solution; n² + nl more values are held meanwhile and
// nl + l² kept. A solution lost in rounding, because ‖M‖‖K‖ is too large, is an
// error: it shows in an asymmetric K̃, or in uᵀ(I + MK)⁻¹ ≠ uᵀ for uᵀL = 0.
func (p *Problem) Warp(ctx context.Context, r models.Regularizer, points []int) (*Warped, error) {
	if r.GammaI == 0 {
		return p.warp(ctx, nil, r, points)
	}
	m, err := p.norm(&Settings{Regularizer: r})
	if err != nil {
		return nil, err
	}
	w, err := p.warp(ctx, m, r, points)
	if err != nil {
		return nil, err
	}
	if e := p.nullLoss(w); !(e <= maxLoss) {
		return nil, lostWarp(e)
	}
	return w, nil
}

// norm returns Lᵖ or exp(tL), as the settings say.
func (p *Problem) norm(s *Settings) (sparse.Operator, error) {
	l := p.data.Laplacian
	switch {
	case l == nil:
		return nil, errors.New("kernelmachine: γ_I is positive, but there is no graph")
	case l.Kind() != s.Laplacian:
		return nil, fmt.Errorf("kernelmachine: a %v Laplacian is given, the settings ask for a %v one", l.Kind(), s.Laplacian)
	case s.Heat == 0:
		return l.With(max(s.Power, 1), 0), nil
	}
	m, err := sparse.NewFunction(l, func(lambda float64) float64 { return math.Exp(s.Heat * lambda) })
	if err != nil {
		return nil, fmt.Errorf("kernelmachine: exp(tL) with t = %v; take a smaller t, or the normalized Laplacian: %w", s.Heat, err)
	}
	return m, nil
}

// warpFor is Warp, or warps by exp(tL), as the settings say.
func (p *Problem) warpFor(ctx context.Context, s *Settings, points []int) (*Warped, error) {
	if s.Heat == 0 || s.GammaI == 0 {
		return p.Warp(ctx, s.Regularizer, points)
	}
	m, err := p.norm(s)
	if err != nil {
		return nil, err
	}
	w, err := p.warp(ctx, m, s.Regularizer, points)
	if w != nil {
		w.heat = s.Heat
	}
	return w, err
}

func tooLarge(n int, need, limit int64) error {
	return fmt.Errorf("kernelmachine: the exact solution for %d points takes %d bytes, %d are allowed; use fewer points or landmarks, or allow more memory", n, need, limit)
}

func lostWarp(e float64) error {
	return fmt.Errorf("kernelmachine: the warped kernel is lost in rounding (relative error %.1g); lower the power of the Laplacian or γ_I/γ_A, or take the normalized Laplacian", e)
}

// warp warps by m, which is not needed if γ_I = 0.
func (p *Problem) warp(ctx context.Context, m sparse.Operator, r models.Regularizer, points []int) (*Warped, error) {
	r, err := r.Fill()
	if err != nil {
		return nil, err
	}
	n, _ := p.gram.Dims()
	l := len(points)
	if l == 0 || points[0] < 0 || points[l-1] >= n || !slices.IsSorted(points) || len(slices.Compact(slices.Clone(points))) != l {
		return nil, fmt.Errorf("kernelmachine: the points of a kernel must be numbers below %d in ascending order", n)
	}
	if r.GammaI == 0 && l == n {
		return &Warped{problem: p, reg: r, points: points, Gram: p.gram}, nil // neither changes
	}
	w := &Warped{problem: p, reg: r, points: points, Gram: mat.NewDense(l, l, nil)}
	if r.GammaI == 0 {
		for i, a := range points {
			row := p.gram.RawRowView(a)
			for j, b := range points {
				w.Gram.Set(i, j, row[b])
			}
		}
		return w, nil
	}
	if need := 8 * (2*int64(n)*int64(n) + int64(n)*int64(l) + int64(l)*int64(l)); p.data.Limit > 0 && need > p.data.Limit {
		return nil, tooLarge(n, need, p.data.Limit)
	}
	a, err := p.system(ctx, m, r)
	if err != nil {
		return nil, err
	}
	f, err := dense.FactorLU(ctx, a)
	if err != nil {
		return nil, fmt.Errorf("kernelmachine: I + MK of the warped kernel: %w", err)
	}
	p.data.report(2, 3, "solution")
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w.expand = mat.NewDense(n, l, nil)
	for j, i := range points {
		w.expand.Set(i, j, 1)
	}
	f.Solve(ctx, w.expand)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rows := mat.NewDense(l, n, nil)
	dense.Gather(rows, p.gram, points)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, rows, w.expand, 0, w.Gram)
	if e := dense.Symmetrize(w.Gram); !(e <= maxLoss) {
		return nil, lostWarp(e)
	}
	return w, nil
}

// system returns I + MK for M = (γ_I s/γ_A) m, made by stripes of columns.
func (p *Problem) system(ctx context.Context, m sparse.Operator, r models.Regularizer) (*mat.Dense, error) {
	const columns = 512
	n, _ := p.gram.Dims()
	ratio := r.Intrinsic(n, p.data.Laplacian) / r.GammaA
	a := dense.New(n, n)
	for lo := 0; lo < n; lo += columns {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.data.report(float64(lo)/float64(n), 3, "system")
		hi := min(lo+columns, n)
		m.MulTo(a.Slice(0, n, lo, hi).(*mat.Dense), p.gram.Slice(0, n, lo, hi).(*mat.Dense))
	}
	dense.Multiply(a, ratio)
	for i := range n {
		a.Set(i, i, a.At(i, i)+1)
	}
	p.data.report(1, 3, "factorization")
	return a, ctx.Err()
}

// nullLoss returns the largest |uᵀx_j − u_j|/u_j over the columns x_j of
// (I + MK)⁻¹E, for the sum u of the null vectors of all components.
func (p *Problem) nullLoss(w *Warped) float64 {
	n, l := w.expand.Dims()
	u := make([]float64, n)
	for i, d := range p.data.Laplacian.Degrees() {
		if u[i] = 1; d > 0 && p.data.Laplacian.Kind() == sparse.Normalized {
			u[i] = math.Sqrt(d)
		}
	}
	sums := mat.NewDense(1, l, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, mat.NewDense(1, n, u), w.expand, 0, sums)
	var worst float64
	for j, i := range w.points {
		worst = math.Max(worst, math.Abs(sums.At(0, j)-u[i])/u[i])
	}
	return worst
}

// Outputs returns f at all n points of the problem, n×c, from the Gram matrix;
// m was fitted on a kernel of this problem.
func (p *Problem) Outputs(m *Machine) *mat.Dense {
	n, _ := p.gram.Dims()
	size, c := m.Coefficients.Dims()
	f := mat.NewDense(n, c, nil)
	if m.rows == nil {
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, p.gram, m.Coefficients, 0, f)
	} else {
		rows := mat.NewDense(size, n, nil)
		dense.Gather(rows, p.gram, m.rows)
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, rows, m.Coefficients, 0, f)
	}
	dense.AddRow(f, m.Intercepts)
	return f
}
