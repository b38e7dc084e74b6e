package solvers

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
)

// Representer solves (γI + BK)α = g for a kernel matrix K of n points: equation (8) of Belkin,
// Niyogi & Sindhwani (2006), of least squares in the space of a kernel.
//
// It factors γI + BK by LU, 2n³/3 operations, and corrects the solution by its residual, for which
// B is applied as an operator that keeps the null vectors of a Laplacian. The change of f = Kα by a
// correction tells how good the solution before it was. Corrections may not go down to n·10⁻¹³ of
// f, because ‖B‖‖K‖/γ is too large or because α is much larger than f, as for a singular K. Then
// the equation is solved again by a square root of K, in n³ to 3n³ operations.
type Representer struct {
	gram    *mat.Dense
	norm    *PointNorm
	ridge   float64
	inverse approximateInverse
	tell    func(part float64, note string)
}

// approximateInverse applies an approximation of (γI + BK)⁻¹.
type approximateInverse interface {
	// to sets dst to the solution for e, n×c.
	to(ctx context.Context, dst, e *mat.Dense)
}

// NewRepresenter factors for a positive γ. gram is shared. It holds n² more values,
// and 2n² where the root is needed. tell is told how far it is, as a part of 1.
func NewRepresenter(ctx context.Context, gram *mat.Dense, b *PointNorm, gamma float64,
	tell func(part float64, note string)) (*Representer, error) {
	s := &Representer{gram: gram, norm: b, ridge: gamma, tell: tell}
	const stripe = 256
	n, _ := gram.Dims()
	a := dense.New(n, n)
	for lo := 0; lo < n; lo += stripe {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tell(float64(lo)/float64(3*n), "system")
		hi := min(lo+stripe, n)
		b.MulTo(a.Slice(0, n, lo, hi).(*mat.Dense), gram.Slice(0, n, lo, hi).(*mat.Dense))
	}

	for i := range n {
		a.Set(i, i, a.At(i, i)+gamma)
	}
	tell(1./3, "factorization")
	f, err := dense.FactorLU(ctx, a)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return s, s.useRoot(ctx)
	}

	s.inverse = luInverse{f}
	return s, nil
}

// luInverse is the inverse by LU.
type luInverse struct{ *dense.LU }

func (f luInverse) to(ctx context.Context, dst, e *mat.Dense) {
	dst.Copy(e)
	f.Solve(ctx, dst)
}

// useRoot takes the square root of K in place of the LU factorization.
func (s *Representer) useRoot(ctx context.Context) error {
	s.inverse = nil // to be collected
	r, err := newRooted(ctx, s)
	if err != nil {
		return err
	}
	s.inverse = r
	return nil
}

// Represented is a solution of a [Representer].
type Represented struct {
	Alpha      *mat.Dense // n×c
	Intercepts []float64  // zeros unless the norm is centred
	// Residual is ‖K(g − γα − BKα)‖/‖Kg‖, recomputed. K times the equation is the condition of a
	// minimum; where K is singular it is weaker than the equation itself.
	Residual float64
	// Loss is about the largest error of f plus its intercept, relative to the largest value, of a
	// solution by [Heated]; 0 of a [Representer].
	Loss float64
}

// Fit solves for g = Ey/l with targets y of the labeled points, l×c: f = Kα has the
// least 1/l Σ(f(x_i) − y_i)² + γ‖f‖² + the rest of B, or with shares of the labels in place of
// 1/l. With a centred norm that
// is f plus its intercept, the mean of y − f. It costs 12n²c to 30n²c operations.
func (s *Representer) Fit(ctx context.Context, y *mat.Dense) (*Represented, error) {
	n, _ := s.gram.Dims()
	l, c := y.Dims()
	out := &Represented{Intercepts: make([]float64, c)}
	if s.norm.Centred {
		out.Intercepts = dense.WeightedMeans(y, s.norm.Shares)
	}
	g := mat.NewDense(n, c, nil)
	for q, i := range s.norm.Labeled {
		for j, v := range y.RawRowView(q) {
			if v -= out.Intercepts[j]; s.norm.Shares == nil {
				g.Set(i, j, v/float64(l))
			} else {
				g.Set(i, j, v*s.norm.Shares[q])
			}
		}
	}

	f, e, err := s.refined(ctx, out, g)
	if err != nil {
		return nil, err
	}
	// The residual is measured after one more product with K, of both sides at once.
	both := mat.NewDense(n, 2*c, nil)
	products := mat.NewDense(n, 2*c, nil)
	both.Augment(e, g)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, s.gram, both, 0, products)
	out.Residual = mat.Norm(products.Slice(0, n, 0, c), 2)
	if size := mat.Norm(products.Slice(0, n, c, 2*c), 2); size > 0 {
		out.Residual /= size
	}
	if math.IsNaN(out.Residual) || math.IsInf(out.Residual, 0) {
		return nil, fmt.Errorf("solvers: the solution of (γI + BK)α = g for γ = %g is not finite", s.ridge)
	}

	if s.norm.Centred {
		for j, v := range s.norm.mean(f) {
			out.Intercepts[j] -= v
		}
	}
	return out, nil
}

// refined sets Alpha for g, and returns f = Kα and the residual e of g. It switches to the root
// where the LU factorization is not good enough.
func (s *Representer) refined(ctx context.Context, out *Represented, g *mat.Dense) (f, e *mat.Dense,
	err error) {
	const corrections = 5
	n, c := g.Dims()

	// A correction that changes f by less than enough, relative to f, is rounding of sums of n terms.
	enough := 1e-13 * float64(max(n, 10))
	step := mat.NewDense(n, c, nil)
	before := mat.NewDense(n, c, nil)
	_, rooted := s.inverse.(*rooted)
	out.Alpha = mat.NewDense(n, c, nil)
	f = mat.NewDense(n, c, nil)
	e = mat.DenseCopyOf(g)
	for k, last := 0, 1e-2; ; k++ {
		s.inverse.to(ctx, step, e)
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		out.Alpha.Add(out.Alpha, step)
		before.Copy(f)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, s.gram, out.Alpha, 0, f)
		s.norm.MulTo(e, f)
		dense.AddScaled(e, 1, s.ridge, out.Alpha)
		e.Sub(g, e)
		if k == 0 {
			continue
		}

		// Every correction must be ten times smaller than the one before, or the factorization is
		// too far from the inverse.
		change := largestChange(f, before)
		if rooted || change <= enough {
			return f, e, nil
		}
		if !(change <= last) || k == corrections {
			if err := s.useRoot(ctx); err != nil {
				return nil, nil, err
			}
			return s.refined(ctx, out, g)
		}
		last = change / 10
	}
}

// LabelGram returns Z = ρE_lᵀK(ρI + BK)⁻¹E_l, with ρ the γ of the equation. It is the [LabelGram]
// of K warped by the norm: Z⁻¹ = H⁻¹ + I/(lρ) with H⁻¹ = K⁻¹ + (B − E_lE_lᵀ/l)/ρ among the labeled
// points. It returns ρ(ρI + BK)⁻¹E_l too, n×l, which gives α from g. It takes 8n²l operations or a
// few more, and memory for 128 columns beside both.
func (s *Representer) LabelGram(ctx context.Context) (LabelGram, *mat.Dense, error) {
	const columns = 128
	n, _ := s.gram.Dims()
	l := len(s.norm.Labeled)
	z := mat.NewDense(l, l, nil)
	expand := mat.NewDense(n, l, nil)

	// Solve for the labeled columns of ρI, some at a time.
	for lo := 0; lo < l; lo += columns {
		s.tell((2+float64(lo)/float64(l))/3, "solution")
		hi := min(lo+columns, l)
		g := mat.NewDense(n, hi-lo, nil)
		out := &Represented{}
		for j := range hi - lo {
			g.Set(s.norm.Labeled[lo+j], j, s.ridge)
		}
		f, _, err := s.refined(ctx, out, g)
		if err != nil {
			return LabelGram{}, nil, err
		}
		expand.Slice(0, n, lo, hi).(*mat.Dense).Copy(out.Alpha)
		dense.Gather(z.Slice(0, l, lo, hi).(*mat.Dense), f, s.norm.Labeled)
	}

	if e := dense.Symmetrize(z); !(e <= 1e-4) {
		return LabelGram{}, nil, errLostGram
	}
	return LabelGram{z, 1 / (float64(l) * s.ridge)}, expand, nil
}

// largestChange returns the maximum over the columns of max|f − before|/max|f|.
func largestChange(f, before *mat.Dense) float64 {
	n, c := f.Dims()
	size := make([]float64, c)
	change := make([]float64, c)
	for i := range n {
		from := before.RawRowView(i)
		for j, v := range f.RawRowView(i) {
			size[j] = max(size[j], math.Abs(v))
			change[j] = max(change[j], math.Abs(v-from[j]))
		}
	}

	var worst float64
	for j, v := range change {
		if !(v == 0) { // or is not a number
			worst = max(worst, v/size[j])
		}
	}
	return worst
}
