package kernel

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// Nystrom is the operator K̂ = K_nm(K_mm)⁻¹K_mn of n points, m of them landmarks. It holds the factor
// of K_mm alone. K_nm is computed by tiles, twice in every product. Nystrom is immutable and safe
// for concurrent use.
type Nystrom struct {
	all, some *Side
	root      *mat.Dense
}

// NewNystrom returns the operator for all points, the landmarks z among them, and the lower
// triangular R with K_mm = RRᵀ.
func NewNystrom(all *Side, z data.Points, root *mat.Dense) (*Nystrom, error) {
	some, err := New(all.kernel, z)
	if err != nil {
		return nil, err
	}
	return &Nystrom{all, some, root}, nil
}

// Landmarks returns the landmarks.
func (o *Nystrom) Landmarks() data.Points { return o.some.z }

// Dim returns n.
func (o *Nystrom) Dim() int { return o.all.n }

// Coefficients returns (K_mm)⁻¹K_mn·v, m×b, for an n×b block v: the coefficients of K̂v as an
// expansion over the landmarks.
func (o *Nystrom) Coefficients(v *mat.Dense) *mat.Dense {
	return o.coefficients(context.Background(), v)
}

func (o *Nystrom) coefficients(ctx context.Context, v *mat.Dense) *mat.Dense {
	_, c := v.Dims()
	a := mat.NewDense(o.some.n, c, nil)
	if err := o.all.productTo(ctx, a, o.some.z, 0, v); err != nil {
		panic(err) // the landmarks are some of the points
	}

	// K_mm = RRᵀ, so its inverse takes a solution with R and one with Rᵀ.
	dense.SolveLower(dense.NoTrans, o.root, a)
	dense.SolveLower(dense.Transposed, o.root, a)
	return a
}

// MulTo sets dst = K̂·v for n×b blocks that must not overlap. It computes 2nm kernel values, and holds
// an m×b block and 256·n values.
func (o *Nystrom) MulTo(dst, v *mat.Dense) { o.mulUntil(context.Background(), dst, v) }

func (o *Nystrom) mulUntil(ctx context.Context, dst, v *mat.Dense) {
	if err := o.some.productTo(ctx, dst, o.all.z, 0, o.coefficients(ctx, v)); err != nil {
		panic(err)
	}
}

// Until implements [Operator].
func (o *Nystrom) Until(ctx context.Context) sparse.Operator { return until{o, ctx} }

// TraceError estimates tr(K − K̂)/tr K from 1000 points drawn by seed, or from all points if there are
// fewer. It holds 2000·m values.
func (o *Nystrom) TraceError(seed uint64) float64 {
	n := o.all.n
	rows := rand.New(rand.NewPCG(seed, 0x7472616365)).Perm(n)[:min(n, 1000)] // "trace"
	k := mat.NewDense(len(rows), o.some.n, nil)
	if err := o.some.CrossTo(k, data.Select(o.all.z, rows), 0, len(rows)); err != nil {
		panic(err) // the landmarks are some of the points
	}

	// With φ = R⁻¹k_m(x), K̂(x, x) = ‖φ‖².
	phi := mat.DenseCopyOf(k.T())
	dense.SolveLower(dense.NoTrans, o.root, phi)
	diagonal := make([]float64, n)
	o.all.DiagonalTo(diagonal)

	// Rounding may make K̂(x, x) larger than k(x, x), where nothing is left out.
	var trace, residual float64
	for p, i := range rows {
		v := phi.ColView(p)
		trace += diagonal[i]
		residual += max(0, diagonal[i]-mat.Dot(v, v))
	}
	if trace == 0 {
		return 0
	}

	return residual / trace
}
