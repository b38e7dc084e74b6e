package solvers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// Outputs describes the n outputs of a vector-valued function and their similarity: the
// eigenvectors U and eigenvalues of L_out†, the pseudo-inverse of the normalized Laplacian of a
// graph on the outputs. It is immutable.
type Outputs struct {
	Vectors *mat.Dense // U, n×n
	Values  []float64  // of L_out†, or of a kernel of the outputs
	kernel  bool
	// Penalty are the B_p, n×n, of M = Σ_p Lᵖ ⊗ B_p in place of r(L) ⊗ I, and roots their square roots: see
	// [Outputs.WithPenalty]. Nil without.
	Penalty, roots []*mat.Dense
}

// WithPenalty returns o for the intrinsic norm of M = Σ_p Lᵖ ⊗ B_p, that is Σ_p tr(B_p FᵀLᵖF) for values F of
// the outputs at the points, N×n: equations (11) to (15) of Minh & Sindhwani (2011) with any M of this
// form. b are B₀, B₁, …, n×n each; every one must be symmetric up to 1e-12 of its largest entry and
// positive semidefinite up to 1e-10 of its largest eigenvalue, and one of them not zero. They are copied.
// It costs 5n³ operations each.
func (o *Outputs) WithPenalty(ctx context.Context, b []*mat.Dense) (*Outputs, error) {
	out := *o
	out.Penalty, out.roots = nil, nil
	positive := false
	for p, given := range b {
		if rows, cols := given.Dims(); rows != len(o.Values) || cols != rows {
			return nil, fmt.Errorf("matrix B%d is %d×%d for %d outputs; it must have a row and a column for each", p, rows,
				cols, len(o.Values))
		}
		values, vectors, err := semidefinite(ctx, given, fmt.Sprintf("B%d", p))
		if err != nil {
			return nil, err
		}
		positive = positive || slices.Max(values) > 0
		for j, v := range values {
			values[j] = math.Sqrt(v)
		}
		out.Penalty = append(out.Penalty, mat.DenseCopyOf(given))
		out.roots = append(out.roots, (&Outputs{Vectors: vectors}).Matrix(values))
	}
	if !positive {
		return nil, errors.New("all matrices of the outputs are 0; M needs a positive one")
	}
	return &out, nil
}

// PenaltyTo sets dst = Σ_p LᵖFB_p for F of N×n. It holds three blocks of that size.
func (o *Outputs) PenaltyTo(dst *mat.Dense, l *sparse.Laplacian, f *mat.Dense) {
	rows, n := f.Dims()
	l = l.With(1, 0)
	power := mat.DenseCopyOf(f)
	next := mat.NewDense(rows, n, nil)
	dst.Zero()
	for p, b := range o.Penalty {
		if p > 0 {
			l.MulTo(next, power)
			power, next = next, power
		}
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, power, b, 1, dst)
	}
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
	identity := mat.NewDense(n, n, nil)
	full := mat.NewDense(n, n, nil)
	for i := range n {
		identity.Set(i, i, 1)
	}
	l.MulTo(full, identity)

	// The pseudo-inverse has the reciprocal eigenvalues.
	o := &Outputs{}
	if o.Values, o.Vectors, err = dense.EigenSym(ctx, full); err != nil {
		return nil, fmt.Errorf("solvers: the Laplacian of the outputs: %w", err)
	}

	for j, v := range o.Values {
		// Eigenvalues are at most 2, so smaller ones are zeros with rounding errors.
		if o.Values[j] = 0; v > 1e-10 {
			o.Values[j] = 1 / v
		}
	}
	return o, nil
}

// NewOutputKernel takes the matrix B of a kernel k(x, z)B, n×n, in place of a graph of
// the outputs: Q is B. It must be symmetric up to 1e-12 of its largest entry, positive
// semidefinite up to 1e-10 of its largest eigenvalue, and not zero. It costs 5n³ operations.
func NewOutputKernel(ctx context.Context, b *mat.Dense) (*Outputs, error) {
	n, columns := b.Dims()
	if n != columns {
		return nil, fmt.Errorf("the kernel of the outputs is %d×%d; it must have a row and a column "+
			"for each output", n, columns)
	}
	o := &Outputs{kernel: true}
	var err error
	if o.Values, o.Vectors, err = semidefinite(ctx, b, "the kernel of the outputs"); err != nil {
		return nil, err
	}
	if mat.Norm(b, 1) == 0 {
		return nil, errors.New("all entries are 0; the kernel of the outputs needs a positive one")
	}
	return o, nil
}

// semidefinite returns the eigenvalues and eigenvectors of a square matrix that must be finite, symmetric and
// positive semidefinite, with zeros for negative eigenvalues of rounding size; name stands in the errors.
func semidefinite(ctx context.Context, b *mat.Dense, name string) (values []float64, vectors *mat.Dense, err error) {
	n, _ := b.Dims()
	top := 0.0
	for i := range n {
		for j, v := range b.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, nil, fmt.Errorf("row %d, column %d is %v; %s must be finite", i, j, v, name)
			}
			top = max(top, math.Abs(v))
		}
	}

	for i := range n {
		for j := range i {
			if v, w := b.At(i, j), b.At(j, i); math.Abs(v-w) > 1e-12*top {
				return nil, nil, fmt.Errorf("row %d, column %d is %v, and row %d, column %d is %v; %s must be "+
					"symmetric: give (B + Bᵀ)/2", i, j, v, j, i, w, name)
			}
		}
	}

	// Negative eigenvalues of rounding size become zero.
	a := mat.DenseCopyOf(b)
	dense.Symmetrize(a)
	if values, vectors, err = dense.EigenSym(ctx, a); err != nil {
		return nil, nil, fmt.Errorf("solvers: %s: %w", name, err)
	}
	largest := slices.Max(values)
	for j, v := range values {
		if !(v >= -1e-10*math.Max(largest, 0)) {
			return nil, nil, fmt.Errorf("eigenvalue %d is %.6g and the largest %.6g; %s must be positive "+
				"semidefinite: add at least %.3g to its diagonal", j, v, largest, name, -v)
		}
		values[j] = math.Max(0, v)
	}
	return values, vectors, nil
}

// Scaled returns the eigenvalues of Q = γ_O L_out† + (1 − γ_O) I, or of a kernel B of the
// outputs, for which γ_O does not matter.
func (o *Outputs) Scaled(gammaO float64) []float64 {
	if o.kernel {
		return slices.Clone(o.Values)
	}
	out := make([]float64, len(o.Values))
	for j, v := range o.Values {
		out[j] = gammaO*v + 1 - gammaO
	}
	return out
}

// Matrix returns Q with the eigenvalues theta.
func (o *Outputs) Matrix(theta []float64) *mat.Dense {
	n := len(theta)
	scaled := mat.DenseCopyOf(o.Vectors)
	q := mat.NewDense(n, n, nil)
	for j, v := range theta {
		for i := range n {
			scaled.Set(i, j, v*scaled.At(i, j))
		}
	}
	dense.Gemm(dense.NoTrans, dense.Transposed, 1, scaled, o.Vectors, 0, q)
	return q
}

// IndependentOutputs returns n outputs without any similarity.
func IndependentOutputs(n int) *Outputs {
	o := &Outputs{Vectors: mat.NewDense(n, n, nil), Values: make([]float64, n)}
	for j := range n {
		o.Vectors.Set(j, j, 1)
	}
	return o
}

// RepresentOutputs solves (γA + BKAQ) = Ey/l for targets y of all outputs, l×n, without missing
// ones: equation (17) of Minh & Sindhwani (2011). In the eigenvectors of Q each column is a system
// of its own with γ/θ, which a [Representer] solves. It returns A and AQ. One representer is held
// at a time.
func RepresentOutputs(ctx context.Context, gram, y *mat.Dense, b *PointNorm, o *Outputs,
	q VectorNorm) (a, aq *mat.Dense, err error) {
	l, n := y.Dims()
	inBasis := mat.NewDense(l, n, nil)
	alpha := mat.NewDense(b.Points, n, nil)
	scaled := mat.NewDense(b.Points, n, nil)
	inBasis.Mul(y, o.Vectors)
	// Equal eigenvalues follow each other, and share a factorization.
	columns := data.Range(0, n)
	slices.SortStableFunc(columns, func(i, j int) int { return cmp.Compare(q.Theta[i], q.Theta[j]) })
	var solved *Representer
	for at, j := range columns {
		theta := q.Theta[j]
		// f is zero, and γA = Ey/l remains of the equation.
		if theta == 0 {
			for p, i := range b.Labeled {
				alpha.Set(i, j, inBasis.At(p, j)/(float64(l)*q.Gamma))
			}
			continue
		}

		if solved == nil || theta != q.Theta[columns[at-1]] {
			solved = nil // to be collected
			if solved, err = NewRepresenter(ctx, gram, b, q.Gamma/theta, q.Tell); err != nil {
				return nil, nil, err
			}
		}

		found, err := solved.Fit(ctx, mat.NewDense(l, 1, mat.Col(nil, j, inBasis)))
		if err != nil {
			return nil, nil, err
		}

		for i, v := range found.Alpha.RawMatrix().Data {
			alpha.Set(i, j, v/theta)
			scaled.Set(i, j, v)
		}
	}

	a = mat.NewDense(b.Points, n, nil)
	aq = mat.NewDense(b.Points, n, nil)
	dense.Gemm(dense.NoTrans, dense.Transposed, 1, alpha, o.Vectors, 0, a)
	dense.Gemm(dense.NoTrans, dense.Transposed, 1, scaled, o.Vectors, 0, aq)
	return a, aq, nil
}

// VectorNorm is the regularizer γ‖f‖² in the space of functions with several outputs.
type VectorNorm struct {
	Gamma float64
	Theta []float64 // eigenvalues of Q
	Tell  func(part float64, note string)
}
