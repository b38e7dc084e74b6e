// Package eigenfunction regresses on the leading eigenfunctions of the integral
// operator of a kernel over labeled and unlabeled points: the learner sssl.
//
// M. Ji, T. Yang, B. Lin, R. Jin and J. Han, A simple algorithm for semi-supervised
// learning with improved generalization error bound, ICML 2012. S. Smale and D.-X.
// Zhou, Geometry on probability spaces, Constructive Approximation 30 (2009),
// 311–323.
package eigenfunction

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models/expansion"
)

// Functions are the leading eigenfunctions of the integral operator of a kernel over n
// points (Ji et al. 2012, equation 4),
//
//	(L f)(·) = 1/n Σ_i k(x_i, ·) f(x_i),   L ψ_j = λ_j ψ_j,
//
// as expansions ψ_j = Σ_i B_ij k(z_i, ·). Their mean square over the points is 1, so
// that the paper's functions, of norm 1 in the space of the kernel, are √λ_j ψ_j.
// They are immutable and safe for concurrent use.
type Functions struct {
	Values []float64 // λ_j, descending and positive
	// Trace is tr K/n, the sum of all eigenvalues.
	Trace float64
	// Expansion has the coefficients B, m×s.
	Expansion *expansion.Expansion
}

// eigenfunctionCut is a share of the largest eigenvalue. A smaller eigenvalue counts as
// zero, because its function would be made of rounding errors.
const eigenfunctionCut = 1e-9

// FunctionSettings of [New].
type FunctionSettings struct {
	// Count is the number s of eigenfunctions. It must be positive.
	Count int
	// Landmarks is the number of points that the eigenfunctions are expansions over.
	// Default all points, which makes the eigenfunctions exact.
	Landmarks int
	Seed      uint64 // seed that draws the landmarks
	Limits
}

// Limits bounds the memory of a computation and receives its progress.
type Limits struct {
	// Memory, if positive, bounds the bytes of matrices.
	Memory int64
	// Progress, if not nil, is called with the progress of the computation.
	Progress func(done, total float64, note string)
}

// report calls Progress, if there is one.
func (l *Limits) report(done, total float64, note string) {
	if l.Progress != nil {
		l.Progress(done, total, note)
	}
}

// New computes s eigenfunctions, or fewer if fewer have an eigenvalue above 1e-9 of the
// largest. Without landmarks they are exact: for eigenvectors v_j and eigenvalues σ_j of the
// Gram matrix K, λ_j = σ_j/n and B_ij = √n/σ_j·v_ij (Smale & Zhou 2009). K is held if it
// takes no more than 2 GiB (and half of Memory, if that is positive). A larger K is formed by
// tiles in every product: [lanczos.Solve] needs about 5s products, with n²(2d + 40)
// operations each for a block of vectors.
//
// With landmarks, m points z are drawn by the seed, and L is projected on the span of the
// first q = 2s + 100 eigenfunctions of the landmarks alone (Rayleigh–Ritz). The eigenvalues
// of the projection do not exceed the eigenvalues of L. The projection takes
// n·m(2d + 2q + 40) operations in one pass over the points and holds m² + m·q + 2048·q
// values, nothing of size n.
func New(ctx context.Context, x kernel.Source, settings *FunctionSettings) (*Functions, error) {
	x, err := x.Fill()
	if err != nil {
		return nil, err
	}
	n, _ := x.Rows().Dims()
	if settings == nil {
		settings = &FunctionSettings{}
	}
	s := settings.Count

	landmarks := settings.Landmarks
	switch {
	case n == 0:
		return nil, errors.New("eigenfunction: no points")
	case s < 1 || landmarks < 0:
		return nil, fmt.Errorf("eigenfunction: %d eigenfunctions on %d landmarks; the first must be "+
			"positive and the second not negative", s, landmarks)
	case landmarks > 0 && landmarks < s:
		return nil, fmt.Errorf("eigenfunction: %d eigenfunctions of %d landmarks; there must be at "+
			"least as many landmarks", s, landmarks)
	}

	// Eigenpairs of the Gram matrix, of all points or of the landmarks.
	landmarks, pairs := eigenfunctionSize(n, s, landmarks)
	e := &Functions{}
	rows := drawLandmarks(n, landmarks, settings.Seed)
	if landmarks == n {
		rows = nil
	}
	z, err := landmarkSet(x, rows)
	if err != nil {
		return nil, err
	}

	r, err := topPairs(ctx, z, pairs, &settings.Limits)
	if err != nil {
		return nil, err
	}
	q := 0
	for q < len(r.Values) && r.Values[q] > eigenfunctionCut*r.Values[0] {
		q++
	}
	if q == 0 {
		return nil, errors.New("eigenfunction: the kernel is zero at all points")
	}

	// The functions Σ v_ij/√σ_j k(z_i, ·) have norm 1 in the space of the kernel.
	basis := mat.DenseCopyOf(r.Vectors.Slice(0, landmarks, 0, q))
	dense.ScaleColumns(basis, inverseRoots(r.Values[:q]))
	if e.Trace, err = meanDiagonal(ctx, x); err != nil {
		return nil, err
	}

	if landmarks < n {
		gram, err := e.products(ctx, x, z, rows, basis, &settings.Limits)
		if err != nil {
			return nil, err
		}
		if basis, err = e.project(ctx, gram, basis, min(s, q)); err != nil {
			return nil, err
		}
	} else {
		for _, v := range r.Values[:q] {
			e.Values = append(e.Values, v/float64(n))
		}
	}

	// From norm 1 in the space of the kernel to mean square 1 over the points.
	dense.ScaleColumns(basis, inverseRoots(e.Values))
	e.Expansion = expansion.Expand(x, rows, basis)
	return e, nil
}

// eigenfunctionSize returns the number of points that s eigenfunctions are expansions over,
// and the number of eigenpairs that are needed of the Gram matrix of these points.
func eigenfunctionSize(n, s, landmarks int) (size, pairs int) {
	if landmarks == 0 || landmarks >= n {
		return n, min(s, n)
	}
	return landmarks, min(2*s+100, landmarks)
}

// inverseRoots returns 1/√v.
func inverseRoots(v []float64) []float64 {
	out := make([]float64, len(v))
	for j := range v {
		out[j] = 1 / math.Sqrt(v[j])
	}
	return out
}

// drawLandmarks returns m of n numbers, ascending.
func drawLandmarks(n, m int, seed uint64) []int {
	// The first m steps of a Fisher–Yates shuffle.
	rng := rand.New(rand.NewPCG(seed, 0x7373736c)) // "sssl"
	rows := data.Range(0, n)
	for i := range m {
		if m < n {
			j := i + rng.IntN(n-i)
			rows[i], rows[j] = rows[j], rows[i]
		}
	}
	slices.Sort(rows[:m])
	return rows[:m]
}

// landmarkSet prepares the given rows of x, all of them for nil.
func landmarkSet(x kernel.Source, rows []int) (kernel.Set, error) {
	if rows == nil {
		return x.Set()
	}
	return x.Select(rows).Set()
}

// heldGram is the size in bytes of the largest Gram matrix that is held for an eigenproblem:
// about 16,000 points. Forming tiles anew in each of the 5s products costs d times as much.
const heldGram = 2 << 30

// topPairs returns the largest eigenpairs of the Gram matrix of z.
func topPairs(ctx context.Context, z kernel.Set, k int, limits *Limits) (*lanczos.Result, error) {
	// A tolerance of 1e-12 keeps the functions near the cut apart from rounding.
	a := z.Until(ctx)
	rest := limits.Memory
	if need := kernel.GramBytes(z.Dim()); need <= heldGram && (rest <= 0 || need <= rest/2) {
		limits.report(0, 1, "kernel matrix")
		g, err := z.Gram(ctx)
		if err != nil {
			return nil, err
		}
		a = kernel.Matrix{Values: g}
		if rest > 0 {
			rest -= need
		}
	}

	return lanczos.Solve(ctx, a, &lanczos.Settings{K: k, Largest: true, Tolerance: 1e-12,
		MemoryLimit: max(rest, 0), OnRestart: func(s lanczos.State) error {
			limits.report(float64(s.Converged), float64(k), s.String())
			return nil
		}})
}

// meanDiagonal returns the mean of k(x_i, x_i).
func meanDiagonal(ctx context.Context, x kernel.Source) (float64, error) {
	n, _ := x.Rows().Dims()
	diagonal := make([]float64, n)
	for lo := 0; lo < n; lo += data.BlockRows {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		hi := min(lo+data.BlockRows, n)
		part, err := x.Select(data.Range(lo, hi)).Set()
		if err != nil {
			return 0, err
		}
		part.DiagonalTo(diagonal[lo:hi])
	}

	var sum float64
	for _, v := range diagonal {
		sum += v
	}
	return sum / float64(n), nil
}

// products returns FᵀF/n, where the n×q matrix F has the values at x of the functions with
// the coefficients in basis over z, the given rows of x. F is formed block by block.
func (e *Functions) products(ctx context.Context, x kernel.Source, z kernel.Set, rows []int, basis *mat.Dense,
	limits *Limits) (*mat.Dense, error) {
	n, _ := x.Rows().Dims()
	_, q := basis.Dims()
	gram := mat.NewDense(q, q, nil)
	values := mat.NewDense(min(data.BlockRows, n), q, nil)
	for lo := 0; lo < n; lo += data.BlockRows {
		limits.report(float64(lo), float64(n), "points beside the landmarks")
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+data.BlockRows, n)
		block := values.Slice(0, hi-lo, 0, q).(*mat.Dense)
		if err := z.ProductTo(block, x.Queries(data.Range(lo, hi), rows), 0, hi-lo, basis); err != nil {
			return nil, err
		}
		dense.Syrk(dense.Transposed, 1/float64(n), block, 1, gram)
	}

	return gram, nil
}

// project sets Values to the s leading eigenvalues of L on the span of functions that are
// orthonormal in the space of the kernel, and returns the coefficients of the eigenfunctions.
// The columns of basis hold the coefficients of the functions, and gram is the result of
// [Functions.products] for them.
func (e *Functions) project(ctx context.Context, gram, basis *mat.Dense, s int) (*mat.Dense, error) {
	m, q := basis.Dims()
	ascending, vectors, err := dense.EigenSym(ctx, gram)
	if err != nil {
		return nil, err
	}
	for len(e.Values) < s && ascending[q-1-len(e.Values)] > eigenfunctionCut*ascending[q-1] {
		e.Values = append(e.Values, ascending[q-1-len(e.Values)])
	}

	// EigenSym sorts in ascending order, the functions descend.
	turn := mat.NewDense(q, len(e.Values), nil)
	for i := range q {
		for j := range e.Values {
			turn.Set(i, j, vectors.At(i, q-1-j))
		}
	}

	out := mat.NewDense(m, len(e.Values), nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, basis, turn, 0, out)
	return out, nil
}

// At returns ψ_j(x_i) at m points, m×s, at the cost of [kernel.Side.ProductTo]. A row does not
// depend on the other points.
func (e *Functions) At(ctx context.Context, x data.Points) (*mat.Dense, error) {
	p, err := e.Expansion.Predict(ctx, x, nil)
	if err != nil {
		return nil, err
	}
	return p.Scores, nil
}

// Captured returns the share of the first s eigenvalues in the trace.
func (e *Functions) Captured(s int) float64 {
	var sum float64
	for _, v := range e.Values[:s] {
		sum += v
	}
	return sum / e.Trace
}

// PowerBound returns the smallest a² with λ_k ≤ a²·k^(−p) for all k = 1, 2, …, and the k at which the two are
// equal, the first of several: the bound that assumption A1 of Ji et al. 2012 asks for, of a power p
// above 2. Where k is the last one, the values fall more slowly there than k^(−p), and more values would
// need a larger a². It is 0 and 0 without values.
func PowerBound(values []float64, p float64) (a2 float64, k int) {
	for i, v := range values {
		if b := v * math.Pow(float64(i+1), p); b > a2 {
			a2 = b
			k = i + 1
		}
	}
	return a2, k
}

// BoundCount returns s = (aR/ε)^(2/(p−1)), the number of eigenfunctions that Theorem 2 of Ji et al. 2012 takes: p is
// the power that [PowerLaw] fits to the eigenvalues, a² their bound by [PowerBound], R² the squared norm of the
// function in the space of the kernel and ε² its mean squared error. ok is false where they give no number: for
// a power of at most 1, or no error. The theorem asks for p > 2.
func BoundCount(values []float64, norm2, error2 float64) (s float64, ok bool) {
	_, p := PowerLaw(values)
	if !(p > 1 && norm2 > 0 && error2 > 0) {
		return 0, false
	}
	a2, _ := PowerBound(values, p)
	s = math.Pow(a2*norm2/error2, 1/(p-1))
	return s, !math.IsInf(s, 0)
}

// GapAsked returns 3τ^(2/3) with τ = 12 ln N/√N: the gap λ_s − λ_{s+1} that assumption B4 of Ji et al. 2012
// asks for. With it the eigenfunctions of N points approximate the eigenfunctions of the distribution. The λ of
// a kernel of at most 1 add up to at most 1, and below some 700,000 points the gap is above 1: the theorem then
// says nothing.
func GapAsked(n int) float64 {
	tau := 12 * math.Log(float64(n)) / math.Sqrt(float64(n))
	return 3 * math.Pow(tau, 2./3)
}

// PowerLaw fits λ_k ≈ a²·k^(−p) to positive values, k = 1, 2, …, by least squares
// on the logarithms. It is a description and no bound: see [PowerBound]. Both are
// NaN for fewer than two values.
func PowerLaw(values []float64) (a2, p float64) {
	var x, y, xx, xy float64
	n := float64(len(values))
	for k, v := range values {
		lx := math.Log(float64(k + 1))
		ly := math.Log(v)
		x = x + lx/n
		y = y + ly/n
		xx = xx + lx*lx/n
		xy = xy + lx*ly/n
	}

	// The line ln λ = ln a² − p·ln k.
	if n < 2 {
		return math.NaN(), math.NaN()
	}
	p = -(xy - x*y) / (xx - x*x)
	return math.Exp(y + p*x), p
}
