package pca

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/sparse"
)

// powerIterations is the number of products with the covariance matrix that turn a random subspace
// towards the leading eigenvectors.
const powerIterations = 7

// newRandomized approximates the k principal components of x, by subspace iteration from random
// vectors and the Rayleigh–Ritz method. The subspace has l = max(k + 10, 3k/2) dimensions, at most
// min(n, d). The variances are measured along the components returned, so they are no larger than
// the true ones. Components are accurate if their variances stand out from the rest. The same seed
// gives the same bits.
//
// The covariance matrix is not formed, and sparse points stay sparse: every product accounts for the
// mean. The cost is about 32·n·d·l operations, or 32·l for every stored value of sparse points, and
// 2·d·l values beside blocks of the points.
//
// Halko, Martinsson & Tropp, SIAM Rev. 53 (2011), 217–288, algorithm 4.4.
func newRandomized(ctx context.Context, x data.Points, k int, seed uint64) (*Projection, error) {
	n, d := x.Dims()
	if err := checkComponents(n, d, k); err != nil {
		return nil, err
	}
	p := &Projection{Mean: data.Mean(x)}
	p.Total = p.totalVariance(x)
	multiply := p.denseCovariance
	if m, ok := x.(*sparse.CSR); ok {
		multiply = sparseCovariance(m, p.Mean)
	}
	l := min(max(k+10, k+k/2), n, d)
	product := func(y, q *mat.Dense) { multiply(ctx, y, q, x) }
	if err := p.fromSubspace(ctx, k, l, powerIterations, seed, product); err != nil {
		return nil, err
	}
	return p, nil
}

// Approximate returns k orthonormal directions in which dense points vary nearly as much as in their
// principal components. They are Rayleigh–Ritz vectors in a random subspace of k + 16 dimensions,
// after three products with the covariance matrix. Beside the cost of the matrix it takes
// 8·d²·(k + 16) operations, where [New] takes about 10·d³. If k is more than a third of d, it calls
// New. The same points give the same bits.
//
// Halko, Martinsson & Tropp, SIAM Rev. 53 (2011), 217–288, algorithm 4.4.
func Approximate(ctx context.Context, x data.Points, k int) (*Projection, error) {
	n, d := x.Dims()
	if _, sparse := x.(*sparse.CSR); sparse || d > maxCovariance || 3*k > d {
		return New(ctx, x, k)
	}
	if err := checkComponents(n, d, k); err != nil {
		return nil, err
	}
	p, cov := newCovariance(ctx, x)
	multiply := func(y, q *mat.Dense) { dense.Gemm(dense.NoTrans, dense.NoTrans, 1, cov, q, 0, y) }
	if err := p.fromSubspace(ctx, k, min(k+16, n, d), 3, 1, multiply); err != nil {
		return nil, err
	}
	return p, nil
}

// fromSubspace sets the components to Rayleigh–Ritz vectors in a random subspace of l dimensions,
// after some products with the covariance matrix. multiply sets y to the matrix times q.
func (p *Projection) fromSubspace(ctx context.Context, k, l, products int, seed uint64,
	multiply func(y, q *mat.Dense)) error {
	d := len(p.Mean)
	rng := rand.New(rand.NewPCG(seed, 0x9ca))
	q := mat.NewDense(d, l, nil)
	y := mat.NewDense(d, l, nil)
	for i := range q.RawMatrix().Data {
		q.RawMatrix().Data[i] = rng.NormFloat64()
	}

	// Subspace iteration, with an orthonormal basis before every product.
	for range products {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := orthonormalize(q, rng); err != nil {
			return err
		}
		multiply(y, q)
		q, y = y, q
	}

	// Rayleigh–Ritz: the eigenvectors of QᵀCQ, turned back by Q.
	if err := orthonormalize(q, rng); err != nil {
		return err
	}
	if multiply(y, q); ctx.Err() != nil {
		return ctx.Err()
	}
	projected := mat.NewDense(l, l, nil)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, q, y, 0, projected)
	values, vectors, err := dense.EigenSym(ctx, projected)
	if err != nil {
		return fmt.Errorf("pca: principal components: %w", err)
	}
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, q, vectors, 0, y)
	p.setComponents(k, values, y)
	return nil
}

// orthonormalize replaces the columns of q by an orthonormal basis of a space that contains them.
func orthonormalize(q *mat.Dense, rng *rand.Rand) error {
	d, l := q.Dims()
	for {
		r, rank, err := dense.CholQR(q)
		if err != nil {
			return fmt.Errorf("pca: principal components: %w", err)
		}
		if rank == l {
			return nil
		}

		// Dependent columns become random ones.
		for c := range l {
			if r.At(c, c) == 0 {
				for i := range d {
					q.Set(i, c, rng.NormFloat64())
				}
			}
		}
	}
}

// denseCovariance sets y to the covariance matrix of x times q, from blocks of centred points.
func (p *Projection) denseCovariance(ctx context.Context, y, q *mat.Dense, x data.Points) {
	n, d := x.Dims()
	_, l := q.Dims()
	rows := blockRows(d, n)
	block := mat.NewDense(rows, d, nil)
	product := mat.NewDense(rows, l, nil)

	// A cancelled product is not whole; the caller finds that in ctx.
	_ = data.Each(x, rows, func(lo, hi int) error {
		b := block.Slice(0, hi-lo, 0, d).(*mat.Dense)
		c := product.Slice(0, hi-lo, 0, l).(*mat.Dense)
		centre(b, x, lo, p.Mean)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, b, q, 0, c)

		// The first block overwrites what y held before.
		beta := 1.0
		if lo == 0 {
			beta = 0
		}
		dense.Gemm(dense.Transposed, dense.NoTrans, 1/float64(n), b, c, beta, y)
		return ctx.Err()
	})
}

// blockRows returns the number of points of d coordinates that are converted to float64 at a time:
// 128 MB or maxBlock points at most.
func blockRows(d, n int) int {
	return min(n, max(64, min(maxBlock, 1<<24/d)))
}

// sparseRows is the number of sparse points multiplied at a time.
const sparseRows = 1 << 15

// sparseCovariance returns the function denseCovariance for sparse points. It keeps a transposed copy
// of them.
func sparseCovariance(x *sparse.CSR, mean []float64) func(context.Context, *mat.Dense, *mat.Dense, data.Points) {
	var parts, transposed []*sparse.CSR
	for lo := 0; lo < x.Rows; lo += sparseRows {
		part := rowsOf(x, lo, min(lo+sparseRows, x.Rows))
		parts = append(parts, part)
		transposed = append(transposed, part.T())
	}

	return func(ctx context.Context, y, q *mat.Dense, _ data.Points) {
		y.Zero()
		_, l := q.Dims()
		offset := combination(mean, q)
		product := mat.NewDense(min(sparseRows, x.Rows), l, nil)
		scale := 1 / float64(x.Rows)
		for b, part := range parts {
			if ctx.Err() != nil {
				return // callers drop an unfinished product
			}

			// c_i = qᵀ(x_i − m)
			c := product.Slice(0, part.Rows, 0, l).(*mat.Dense)
			multiplySparse(part, q, func(i int, sum []float64) {
				simd.CombineRow(c.RawRowView(i), sum, 1, offset, -1)
			})

			// Σ (x_i − m) c_iᵀ = Σ x_i c_iᵀ − m (Σ c_i)ᵀ
			ones := make([]float64, part.Rows)
			for i := range ones {
				ones[i] = 1
			}
			total := combination(ones, c)
			multiplySparse(transposed[b], c, func(j int, sum []float64) {
				row := y.RawRowView(j)
				simd.CombineRow(sum, sum, 1, total, -mean[j])
				simd.CombineRow(row, row, 1, sum, scale)
			})
		}
	}
}

// rowsOf returns rows lo to hi of x, which share its memory.
func rowsOf(x *sparse.CSR, lo, hi int) *sparse.CSR {
	a := x.Ptr[lo]
	b := x.Ptr[hi]
	part := &sparse.CSR{Rows: hi - lo, Cols: x.Cols, Ptr: make([]int64, hi-lo+1), Col: x.Col[a:b]}
	if x.Val != nil {
		part.Val = x.Val[a:b]
	}
	for i := range part.Ptr {
		part.Ptr[i] = x.Ptr[lo+i] - a
	}
	return part
}

// multiplySparse calls use with every row of a·q, in memory that the next call overwrites.
func multiplySparse(a *sparse.CSR, q *mat.Dense, use func(i int, row []float64)) {
	raw := q.RawMatrix()
	par.For(a.Rows, 64, func(lo, hi int) {
		sum := make([]float64, raw.Cols)
		for i := lo; i < hi; i++ {
			col, val := a.Row(i)
			if val == nil {
				simd.SumRows(sum, raw.Data, raw.Stride, col)
			} else {
				simd.AddScaledRows(sum, raw.Data, raw.Stride, col, val)
			}
			use(i, sum)
		}
	})
}

// combination returns Σ w_i q_i over the rows of q.
func combination(w []float64, q *mat.Dense) []float64 {
	_, l := q.Dims()
	out := mat.NewDense(1, l, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, mat.NewDense(1, len(w), w), q, 0, out)
	return out.RawRowView(0)
}

// totalVariance returns 1/n Σ ‖x_i − m‖².
func (p *Projection) totalVariance(x data.Points) float64 {
	n, d := x.Dims()
	const grain = 1024

	m, ok := x.(*sparse.CSR)
	if !ok {
		return par.Sum(n, grain, func(lo, hi int) float64 {
			row := make([]float64, d)
			var s float64
			for i := lo; i < hi; i++ {
				data.RowTo(row, x, i)
				for j, v := range row {
					s += (v - p.Mean[j]) * (v - p.Mean[j])
				}
			}
			data.Release(x, lo, hi)
			return s
		}) / float64(n)
	}

	// The zeros of a column are counted and not visited.
	zeros := make([]int, d)
	for j := range zeros {
		zeros[j] = n
	}
	var s float64
	for i := range n {
		col, val := m.Row(i)
		for q, j := range col {
			v := 1.0
			if val != nil {
				v = val[q]
			}
			zeros[j]--
			s += (v - p.Mean[j]) * (v - p.Mean[j])
		}
	}

	for j, count := range zeros {
		s += float64(count) * p.Mean[j] * p.Mean[j]
	}
	return s / float64(n)
}
