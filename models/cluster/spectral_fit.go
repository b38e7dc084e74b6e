package cluster

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
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/kernelmachine"
)

// SpectralBytes estimates the memory of [FitSpectral] for the points x with m landmarks; 0
// means all points. At its peak the fit holds ten dense m×m matrices.
func SpectralBytes(x data.Points, m int) int64 {
	n, _ := x.Dims()
	ready := kernel.Source{Points: x}.Bytes()
	if m == 0 || m >= n {
		return ready + 80*int64(n)*int64(n)
	}
	return ready + 8*int64(n)*(int64(m)+2*spectralStripe) + 80*int64(m)*int64(m)
}

// spectralStripe is the number of columns that L is applied to at a time, so that LΦ is
// never held whole.
const spectralStripe = 256

// lostDirection is a share of the largest eigenvalue of the Gram matrix. An eigenvector
// with a smaller eigenvalue is rounding error.
const lostDirection = 1e-12

// FitSpectral finds p functions of the kernel's space. Each function minimizes
//
//	γ‖f‖²_K + fᵀLf  subject to  Σ_i f(x_i) = 0,  Σ_i f(x_i)² = 1
//
// and is orthogonal on the points to the functions before it: equation (13) of Belkin,
// Niyogi & Sindhwani (2006). For f = Σ α_i k(·, x_i) over all n points the solution is
// α = Pv, with v of the smallest eigenvalues of equation (14),
//
//	P(γK + KLK)P v = λ PK²P v,  P the projection on the complement of K1
//
// where Pv is not zero. Equation (14) is not solved as it stands, because K² is singular in
// floating point. With K = ΦΦᵀ, and α such that f = Φc at the points, it becomes
//
//	(γI + ΦᵀLΦ) c = λ ΦᵀΦ c  on  1ᵀΦc = 0
//
// The matrix GGᵀ on the left is well conditioned, so FitSpectral computes the largest
// eigenvalues 1/λ of G⁻¹ΦᵀΦG⁻ᵀ on the complement of G⁻¹Φᵀ1. With landmarks Φ is the n×m
// part of K over the root of the landmarks' Gram matrix, so that the functions are the best
// expansions over the landmarks.
//
// d has L, of any power, without shift. FitSpectral solves two dense symmetric
// eigenproblems of order n, or m with landmarks, which add 2nm² operations and m passes
// over the graph. See [SpectralBytes] for the memory; more than the limit of d is an error.
// More components than Φ has independent columns is an error, and so are values of a kernel
// in place of points to expand over.
func FitSpectral(ctx context.Context, d *kernelmachine.Data, s *SpectralSettings) (*Spectral, error) {
	if s == nil {
		s = &SpectralSettings{} // fill names the missing γ
	}
	filled, err := s.fill()
	if err != nil {
		return nil, err
	}
	if d.Values != nil {
		return nil, errNoPoints
	}

	k, err := d.Kernel.Fill()
	if err != nil {
		return nil, err
	}
	x := d.Points
	l := d.Laplacian
	limit := d.Limit
	n, _ := x.Dims()
	switch {
	case l == nil:
		return nil, errors.New("cluster: there is no graph")
	case l.Dim() != n:
		return nil, fmt.Errorf("cluster: a graph of %d vertices for %d points", l.Dim(), n)
	case filled.Clusters > n:
		return nil, fmt.Errorf("cluster: %d clusters of %d points", filled.Clusters, n)
	}

	if need := SpectralBytes(x, filled.Landmarks); limit > 0 && need > limit {
		return nil, fmt.Errorf("cluster: the functions take %d bytes, %d are allowed; use fewer "+
			"landmarks or points, or allow more memory", need, limit)
	}

	// The functions are expansions over all points or over landmarks drawn at random.
	filled.Laplacian = l.Kind()
	filled.Power = l.Power()
	m := &Spectral{Settings: filled, Expansion: expansion.New(k, false, nil)}
	m.Points = x
	if filled.Landmarks > 0 && filled.Landmarks < n {
		rows := rand.New(rand.NewPCG(filled.Seed, 0x6c616e64)).Perm(n)[:filled.Landmarks]
		slices.Sort(rows)
		m.Points = data.Select(x, rows)
	}

	phi, expand, err := m.features(ctx, d)
	if err != nil {
		return nil, err
	}
	if _, r := phi.Dims(); filled.Components >= r {
		return nil, fmt.Errorf("cluster: %d components of a kernel with %d independent functions on "+
			"these points; at most %d exist", filled.Components, r, r-1)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	// From c to the functions: values Φc at the points, coefficients E·c.
	c, err := m.solve(ctx, phi, d)
	if err != nil {
		return nil, err
	}
	rows, _ := expand.Dims()
	m.Embedding = mat.NewDense(n, filled.Components, nil)
	m.Coefficients = mat.NewDense(rows, filled.Components, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, phi, c, 0, m.Embedding)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, expand, c, 0, m.Coefficients)
	m.orient()

	if filled.Clusters > 2 {
		if _, m.Centres, err = kmeans(ctx, m.Embedding, kmeansSettings{filled.Clusters, filled.Restarts, 300,
			filled.Seed}); err != nil {
			return nil, err
		}
	}
	return m, nil
}

var errNoPoints = errors.New("cluster: values of a kernel give no points that functions can be " +
	"expanded over")

// features returns Φ, n×r, and the matrix E = UΣ^-½ of the coefficients α = E·c. Σ holds the
// eigenvalues and U the eigenvectors of the Gram matrix of m.Points, without the directions
// that are lost in rounding.
func (m *Spectral) features(ctx context.Context, d *kernelmachine.Data) (phi, expand *mat.Dense, err error) {
	side, err := kernel.New(m.Kernel, m.Points)
	if err != nil {
		return nil, nil, err
	}
	report(d, 0, "Gram matrix")
	gram, err := side.Gram(ctx)
	if err != nil {
		return nil, nil, err
	}

	report(d, 1, "eigenvectors of the Gram matrix")
	values, u, err := dense.EigenSym(ctx, gram)
	if err != nil {
		return nil, nil, fmt.Errorf("cluster: the Gram matrix: %w", err)
	}

	// Eigenvalues ascend: the lost directions come first.
	size := len(values)
	first := 0
	for first < size && !(values[first] > lostDirection*values[size-1]) {
		first++
	}
	r := size - first
	if r == 0 {
		return nil, nil, fmt.Errorf("cluster: the kernel is zero on all points")
	}

	expand = mat.NewDense(size, r, nil)
	for i := range size {
		row := expand.RawRowView(i)
		for j, v := range u.RawRowView(i)[first:] {
			row[j] = v / math.Sqrt(values[first+j])
		}
	}

	n, _ := d.Points.Dims()
	if size == n { // K·UΣ^-½ = UΣ^½
		phi = mat.NewDense(n, r, nil)
		for i := range n {
			row := phi.RawRowView(i)
			for j, v := range u.RawRowView(i)[first:] {
				row[j] = v * math.Sqrt(values[first+j])
			}
		}
		return phi, expand, nil
	}

	// With landmarks Φ = K_nm·E, which is the expansion with the coefficients E.
	f, err := (&expansion.Expansion{Kernel: m.Kernel, Points: m.Points, Coefficients: expand}).Predict(ctx,
		d.Points, nil)
	if err != nil {
		return nil, nil, err
	}
	return f.Scores, expand, nil
}

// report tells how many of the four parts of a fit are done.
func report(d *kernelmachine.Data, done float64, note string) {
	if d.Report != nil {
		d.Report(done, 4, note)
	}
}

// solve returns the c of the components, r×p, with (Φc)ᵀ(Φc) = I, and sets Values.
func (m *Spectral) solve(ctx context.Context, phi *mat.Dense, d *kernelmachine.Data) (*mat.Dense, error) {
	// The left side, L applied to a stripe of columns at a time.
	n, r := phi.Dims()
	p := m.Settings.Components
	left := mat.NewDense(r, r, nil) // γI + ΦᵀLΦ
	stripe := mat.NewDense(n, min(spectralStripe, r), nil)
	for lo := 0; lo < r; lo += spectralStripe {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		report(d, 2+float64(lo)/float64(r), "norm of the functions")
		hi := min(lo+spectralStripe, r)
		lphi := stripe.Slice(0, n, 0, hi-lo).(*mat.Dense)
		d.Laplacian.MulTo(lphi, phi.Slice(0, n, lo, hi).(*mat.Dense))
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, phi, lphi, 0, left.Slice(0, r, lo, hi).(*mat.Dense))
	}

	for i := range r {
		left.Set(i, i, left.At(i, i)+m.Settings.Gamma)
	}
	if err := dense.Cholesky(ctx, left); err != nil {
		return nil, fmt.Errorf("cluster: γI + ΦᵀLΦ: γ is too small beside the Laplacian: %w", err)
	}

	// Cholesky makes the problem an ordinary symmetric one.
	h := mat.NewDense(r, r, nil) // G⁻¹ΦᵀΦG⁻ᵀ
	dense.Syrk(dense.Transposed, 1, phi, 0, h)
	dense.SolveLower(dense.NoTrans, left, h)
	h = mat.DenseCopyOf(h.T())
	dense.SolveLower(dense.NoTrans, left, h)
	dense.Symmetrize(h)

	// The functions that sum to zero are the complement of one vector.
	ones := mat.NewDense(r, 1, nil) // G⁻¹Φᵀ1
	for i := range n {
		for j, v := range phi.RawRowView(i) {
			ones.Set(j, 0, ones.At(j, 0)+v)
		}
	}

	dense.SolveLower(dense.NoTrans, left, ones)
	projectOut(h, ones.RawMatrix().Data)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	report(d, 3, "eigenvectors of equation (14)")
	values, vectors, err := dense.EigenSym(ctx, h)
	if err != nil {
		return nil, fmt.Errorf("cluster: equation (14): %w", err)
	}

	// μ = 1/λ descends from the end. c = G⁻ᵀv/√μ has (Φc)ᵀ(Φc) = 1.
	c := mat.NewDense(r, p, nil)
	m.Values = make([]float64, p)
	for j := range p {
		mu := values[r-1-j]
		if !(mu > 0) {
			return nil, fmt.Errorf("cluster: only %d functions of this kernel sum to zero on the "+
				"points; ask for fewer components than %d", j, p)
		}
		m.Values[j] = 1 / mu
		for i := range r {
			c.Set(i, j, vectors.At(i, r-1-j)/math.Sqrt(mu))
		}
	}

	dense.SolveLower(dense.Transposed, left, c)
	return c, nil
}

// projectOut replaces the symmetric h by QhQ with Q = I − vvᵀ/vᵀv, and overwrites v. It does
// nothing if v is zero.
func projectOut(h *mat.Dense, v []float64) {
	norm := mat.Norm(mat.NewVecDense(len(v), v), 2)
	if norm == 0 {
		return
	}
	for i := range v {
		v[i] /= norm
	}

	// For a unit vector v, QhQ = h − v(hv)ᵀ − (hv)vᵀ + (vᵀhv)·vvᵀ: one product with h.
	hv := make([]float64, len(v))
	var vhv float64
	for i, a := range v {
		for j, b := range h.RawRowView(i) {
			hv[i] += b * v[j]
		}
		vhv += a * hv[i]
	}

	for i := range v {
		row := h.RawRowView(i)
		for j := range v {
			row[j] -= v[i]*hv[j] + hv[i]*v[j] - vhv*v[i]*v[j]
		}
	}
}

// orient changes the sign of functions so that they are positive where they are
// largest in magnitude on the training points.
func (m *Spectral) orient() {
	for j := range m.Settings.Components {
		f := mat.Col(nil, j, m.Embedding)
		if !dense.Orient(f) {
			continue
		}
		m.Embedding.SetCol(j, f)
		rows, _ := m.Coefficients.Dims()
		for i := range rows {
			m.Coefficients.Set(i, j, -m.Coefficients.At(i, j))
		}
	}
}
