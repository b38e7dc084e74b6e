package kernelmachine

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// iteration is what conjugate gradients work with: the Gram matrix K of all
// points, or K̂ = K_nm K_mm⁻¹ K_mn.
type iteration struct {
	kernel sparse.Operator
	nearby *nystromOperator // kernel, if it is K̂
}

// nystromOperator is K_nm(RRᵀ)⁻¹K_mn by tiles.
type nystromOperator struct {
	all, some *kernel.Side // all n points, and the m landmarks
	x, z      data.Points
	root      *mat.Dense
}

// Dim returns n.
func (o *nystromOperator) Dim() int { return o.all.Len() }

// coefficients returns (RRᵀ)⁻¹K_mn·v.
func (o *nystromOperator) coefficients(v *mat.Dense) *mat.Dense {
	_, c := v.Dims()
	a := mat.NewDense(o.some.Len(), c, nil)
	if err := o.all.ProductTo(a, o.z, 0, o.some.Len(), v); err != nil {
		panic(err) // the landmarks are some of the points
	}
	dense.SolveLower(dense.NoTrans, o.root, a)
	dense.SolveLower(dense.Transposed, o.root, a)
	return a
}

// MulTo sets dst = K_nm(RRᵀ)⁻¹K_mn·v.
func (o *nystromOperator) MulTo(dst, v *mat.Dense) {
	if err := o.some.ProductTo(dst, o.x, 0, o.all.Len(), o.coefficients(v)); err != nil {
		panic(err)
	}
}

// more adds landmarks, drawn with equal chances, to those of the preconditioner,
// as many as were asked for.
func (p *ApproximateProblem) addLandmarks(ctx context.Context, side *kernel.Side) error {
	if p.kernel.Kind == kernel.Precomputed {
		return errors.New("kernelmachine: too many landmarks for a precomputed kernel; use fewer, or the exact machine")
	}
	n, _ := p.points.Dims()
	rng := rand.New(rand.NewPCG(p.scale.Seed, 0x6d6f7265)) // "more"
	chosen := make([]bool, n)
	rows := append([]int{}, p.pivots...)
	for _, i := range rows {
		chosen[i] = true
	}
	for _, i := range rng.Perm(n) {
		if len(rows) < p.scale.Landmarks && !chosen[i] {
			rows = append(rows, i)
		}
	}
	z := data.Select(p.points, rows)
	among, err := kernel.New(p.kernel, z)
	if err != nil {
		return err
	}
	y, err := solvers.NewNystrom(ctx, among, &solvers.NystromSettings{Rank: len(rows), Sampling: solvers.Uniform, Seed: p.scale.Seed})
	if err != nil {
		return err
	}
	o := &nystromOperator{all: side, x: p.points, z: data.Select(z, y.Pivots), root: y.Root()}
	if o.some, err = kernel.New(p.kernel, o.z); err != nil {
		return err
	}
	p.iterate = &iteration{kernel: o, nearby: o}
	p.report.Landmarks = len(y.Pivots)
	p.report.KernelError, err = o.traceError(p.points, p.scale.Seed)
	return err
}

// traceError estimates tr(K − K̂)/tr K from 1000 points.
func (o *nystromOperator) traceError(x data.Points, seed uint64) (float64, error) {
	n, _ := x.Dims()
	rows := rand.New(rand.NewPCG(seed, 0x7472616365)).Perm(n)[:min(n, 1000)] // "trace"
	k := mat.NewDense(len(rows), o.some.Len(), nil)
	if err := o.some.CrossTo(k, data.Select(x, rows), 0, len(rows)); err != nil {
		return 0, err
	}
	phi := mat.DenseCopyOf(k.T())
	dense.SolveLower(dense.NoTrans, o.root, phi)
	diagonal := make([]float64, n)
	o.all.DiagonalTo(diagonal)
	var trace, residual float64
	for p, i := range rows {
		v := phi.ColView(p)
		trace += diagonal[i]
		residual += max(0, diagonal[i]-mat.Dot(v, v))
	}
	if trace == 0 {
		return 0, nil
	}
	return residual / trace, nil
}

// squareRoot is the n×q matrix S with
//
//	S·Sᵀ = B = EEᵀ/l + γ_I s Lᵖ,
//
// E being the columns of the identity for the labeled points: S has the columns
// E/√l, and √(γ_I s) times those of L^{p/2}, or for odd p of L^{(p−1)/2}Gᵀ with
// L = GᵀG and a row of G for every edge.
type squareRoot struct {
	n       int
	labeled []int
	gamma   float64               // √(γ_I s)
	half    *sparse.Laplacian     // of power ⌊p/2⌋; nil for the identity
	edges   *solvers.SparseDesign // G; nil for even p
}

func newSquareRoot(l *sparse.Laplacian, r models.Regularizer, labeled []int, n int) *squareRoot {
	s := &squareRoot{n: n, labeled: labeled, gamma: math.Sqrt(r.Intrinsic(n))}
	if s.gamma == 0 {
		return s
	}
	if r.Power > 1 {
		s.half = l.With(r.Power/2, 0)
	}
	if r.Power%2 == 1 {
		g := incidence(l)
		s.edges = &solvers.SparseDesign{X: g, Transposed: g.T()}
	}
	return s
}

// incidence returns G with L = GᵀG: for every edge between i < j a row with √w_ij
// at i and −√w_ij at j, divided by the roots of their degrees for the normalized
// Laplacian.
func incidence(l *sparse.Laplacian) *sparse.CSR {
	w, degrees := l.Graph(), l.Degrees()
	g := &sparse.CSR{Cols: w.Rows, Ptr: []int64{0}, Val: []float64{}}
	for i := range w.Rows {
		col, val := w.Row(i)
		for p, j := range col {
			if int(j) <= i {
				continue
			}
			weight := 1.0
			if val != nil {
				weight = val[p]
			}
			if weight == 0 {
				continue
			}
			a, b := math.Sqrt(weight), math.Sqrt(weight)
			if l.Kind() != sparse.Combinatorial {
				a, b = a/math.Sqrt(degrees[i]), b/math.Sqrt(degrees[j])
			}
			g.Col, g.Val = append(g.Col, int32(i), j), append(g.Val, a, -b)
			g.Ptr = append(g.Ptr, int64(len(g.Col)))
			g.Rows++
		}
	}
	return g
}

// Dims returns n and q.
func (s *squareRoot) Dims() (n, q int) {
	q = len(s.labeled)
	switch {
	case s.gamma == 0:
	case s.edges != nil:
		q += s.edges.X.Rows
	default:
		q += s.n
	}
	return s.n, q
}

// MulTo sets dst = S·h.
func (s *squareRoot) MulTo(dst, h *mat.Dense) {
	l := len(s.labeled)
	q, c := h.Dims()
	dst.Zero()
	if s.gamma > 0 {
		v := h.Slice(l, q, 0, c).(*mat.Dense)
		if s.edges != nil {
			u := mat.NewDense(s.n, c, nil)
			s.edges.MulTransTo(u, v)
			v = u
		}
		if s.half != nil {
			s.half.MulTo(dst, v)
			dst.Scale(s.gamma, dst)
		} else {
			dst.Scale(s.gamma, v)
		}
	}
	scale := 1 / math.Sqrt(float64(l))
	for p, i := range s.labeled {
		to := dst.RawRowView(i)
		for j, v := range h.RawRowView(p) {
			to[j] += scale * v
		}
	}
}

// MulTransTo sets dst = Sᵀ·v.
func (s *squareRoot) MulTransTo(dst, v *mat.Dense) {
	l := len(s.labeled)
	q, c := dst.Dims()
	scale := 1 / math.Sqrt(float64(l))
	for p, i := range s.labeled {
		to := dst.RawRowView(p)
		for j, u := range v.RawRowView(i) {
			to[j] = scale * u
		}
	}
	if s.gamma == 0 {
		return
	}
	rest := dst.Slice(l, q, 0, c).(*mat.Dense)
	u := v
	if s.half != nil {
		u = mat.NewDense(s.n, c, nil)
		s.half.MulTo(u, v)
	}
	if s.edges != nil {
		s.edges.MulTo(rest, u)
	} else {
		rest.Copy(u)
	}
	rest.Scale(s.gamma, rest)
}

// dualOperator is γ_A I + SᵀKS.
type dualOperator struct {
	s     *squareRoot
	k     sparse.Operator
	ridge float64
}

// Dim returns q.
func (o dualOperator) Dim() int { _, q := o.s.Dims(); return q }

// MulTo sets dst to the product with h.
func (o dualOperator) MulTo(dst, h *mat.Dense) {
	_, c := h.Dims()
	v, kv := mat.NewDense(o.s.n, c, nil), mat.NewDense(o.s.n, c, nil)
	o.s.MulTo(v, h)
	o.k.MulTo(kv, v)
	o.s.MulTransTo(dst, kv)
	dense.AddScaled(dst, 1, o.ridge, h)
}

// woodbury is the inverse of γ_A I + SᵀΦΦᵀS, with the Cholesky factor of
// γ_A I + ΦᵀBΦ.
type woodbury struct {
	s      *squareRoot
	phi    *mat.Dense
	factor *mat.Dense
	ridge  float64
}

// ApplyTo sets dst = (h − SᵀΦ(γ_A I + ΦᵀBΦ)⁻¹ΦᵀS·h)/γ_A.
func (o woodbury) ApplyTo(dst, h *mat.Dense) {
	_, c := h.Dims()
	_, r := o.phi.Dims()
	v, w := mat.NewDense(o.s.n, c, nil), mat.NewDense(r, c, nil)
	o.s.MulTo(v, h)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, o.phi, v, 0, w)
	dense.SolveLower(dense.NoTrans, o.factor, w)
	dense.SolveLower(dense.Transposed, o.factor, w)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, o.phi, w, 0, v)
	o.s.MulTransTo(dst, v)
	dense.AddScaled(dst, -1/o.ridge, 1/o.ridge, h)
}

// conjugateGradients solves equation (8) of Belkin, Niyogi & Sindhwani (2006),
//
//	(γ_A I + BK)α = Jy/l,  B = SSᵀ = J/l + γ_I s Lᵖ,
//
// which is not symmetric, as α = S·h with
//
//	(γ_A I + SᵀKS)h = [y/√l; 0],
//
// which is, and positive definite with the square root of the condition of the
// normal equations. An iteration costs one product with K. K̂ = ΦΦᵀ of the
// landmarks in place of K is the preconditioner.
func (p *ApproximateProblem) conjugateGradients(ctx context.Context, w *linear.Labeled, m *Approximate) error {
	s := m.Settings
	n, r := p.phi.Dims()
	root := newSquareRoot(p.laplacian, s.Regularizer, w.Targets.Labeled, n)
	h, _, err := p.leading(w, s.Regularizer, r, 1)
	if err != nil {
		return err
	}
	if err := models.SolvePositive(h, mat.NewDense(r, 1, nil), s.Regularizer); err != nil {
		return err
	}
	_, q := root.Dims()
	_, c := w.Centred.Dims()
	b := mat.NewDense(q, c, nil)
	for i := range w.Rows {
		for j, v := range w.Centred.RawRowView(i) {
			b.Set(i, j, v/math.Sqrt(float64(w.Rows)))
		}
	}
	res, err := cg.Solve(ctx, dualOperator{root, p.iterate.kernel, s.GammaA}, b, &cg.Settings{
		Tolerance: s.Tolerance, MaxIterations: s.MaxIterations, Block: c,
		Preconditioner: woodbury{root, p.phi, h, s.GammaA},
	})
	if res == nil {
		return err
	}
	alpha := mat.NewDense(n, c, nil)
	root.MulTo(alpha, res.X)
	m.Bias = make([]float64, c)
	m.Report.Iterations = res.MaxIterations()
	m.Report.Residual = p.residual(root, alpha, b, s.GammaA)
	m.Coefficients = alpha
	if o := p.iterate.nearby; o != nil {
		m.Coefficients = o.coefficients(alpha)
		m.Points = o.z
	} else if p.kernel.Kind != kernel.Precomputed {
		m.Points = p.points
	}
	return err
}

// residual returns the largest ‖Sb − γ_A α − BKα‖/‖Sb‖ of a column.
func (p *ApproximateProblem) residual(root *squareRoot, alpha, b *mat.Dense, gammaA float64) float64 {
	n, c := alpha.Dims()
	q, _ := b.Dims()
	k, right := mat.NewDense(n, c, nil), mat.NewDense(n, c, nil)
	p.iterate.kernel.MulTo(k, alpha)
	inner := mat.NewDense(q, c, nil)
	root.MulTransTo(inner, k)
	root.MulTo(k, inner)
	dense.AddScaled(k, 1, gammaA, alpha)
	root.MulTo(right, b)
	var worst float64
	for j := range c {
		size := mat.Norm(right.ColView(j), 2)
		var d mat.VecDense
		if d.SubVec(right.ColView(j), k.ColView(j)); size > 0 {
			worst = math.Max(worst, mat.Norm(&d, 2)/size)
		}
	}
	return worst
}
