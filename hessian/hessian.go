// Package hessian makes the Hessian energy of a function from its values at points: the sum of squares of the second
// derivatives along the manifold that the points lie on. A function that is linear along the manifold has none of it,
// where the norm of a graph Laplacian pulls it to a constant.
//
// K. I. Kim, F. Steinke and M. Hein, Semi-supervised regression using Hessian energy with an application to
// semi-supervised dimensionality reduction, NIPS 2009, section 3.
package hessian

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// Energy is the operator H with fᵀHf = Σ_i ‖H_i f‖², H_i f being an estimate of the Hessian of f at point i; see [New]. It
// is symmetric, positive semidefinite and zero on constants. It is immutable and safe for concurrent use.
type Energy struct {
	rows, transposed *sparse.CSR // the H_i below each other, and their transpose
}

// pointGrain points are one chunk of the local fits.
const pointGrain = 16

// New returns the energy for the n points x and a manifold of d dimensions. The neighbours of a point are those that
// the graph w joins it with; weights do not matter. Coordinates u of the neighbours in the tangent space come from
// the d leading principal components of the point and its neighbours, and the polynomial
//
//	f(x_j) ≈ f(x_i) + gᵀu_j + ½ u_jᵀH_i u_j
//
// is fitted to them by least squares; ‖H_i‖ is the Frobenius norm. A function that is a quadratic in d dimensions has its
// exact energy. Directions in which the neighbours do not differ have no derivatives.
//
// Each point needs d + d(d+1)/2 neighbours; fewer are an error, but for points of components that have no more
// points, which have no energy. A point with k neighbours costs k²D operations for x of D columns, k³ and
// kd⁴, and kd(d+1)/2 entries are kept. A cancelled ctx is an error.
func New(ctx context.Context, x data.Points, w *sparse.CSR, d int) (*Energy, error) {
	n, columns := x.Dims()
	if w.Rows != n || w.Cols != n {
		return nil, fmt.Errorf("hessian: a graph of %d points for %d points", w.Rows, n)
	}
	if d < 1 || d > columns {
		return nil, fmt.Errorf("%s is %d; it must be from 1 to %d, the number of columns of the points",
			param.Name("hessian"), d, columns)
	}

	// A quadratic without its constant has so many coefficients.
	second := d * (d + 1) / 2
	least := d + second
	c := w.Components()
	for i := range n {
		col, _ := w.Row(i)
		if have := neighbors(col, i); have < least && c.Sizes[c.Of[i]] > least {
			return nil, fmt.Errorf("point %d has %d neighbours, and a quadratic in %d dimensions has %d coefficients; take "+
				"more %s, or a smaller %s", i, have, d, least, param.Name("neighbors"), param.Name("hessian"))
		}
	}

	// Points are fitted in parallel, each into its own place.
	local := make([]*mat.Dense, n)
	faults := make([]error, n)
	par.For(n, pointGrain, func(lo, hi int) {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			if col, _ := w.Row(i); neighbors(col, i) >= least {
				local[i], faults[i] = fit(ctx, x, i, col, d)
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	out := &sparse.CSR{Cols: n, Ptr: []int64{0}, Val: []float64{}}
	for i, h := range local {
		if faults[i] != nil {
			return nil, faults[i]
		}
		if h == nil {
			continue
		}
		col, _ := w.Row(i)
		for r := range second {
			appendRow(out, i, col, h.RawRowView(r))
		}
	}
	return &Energy{out, out.T()}, nil
}

// neighbors counts the neighbours of point i, which is not its own.
func neighbors(col []int32, i int) int {
	count := 0
	for _, j := range col {
		if int(j) != i {
			count++
		}
	}
	return count
}

// appendRow adds a row with h at the neighbours of point i, in their order, and with what makes its sum zero at i.
func appendRow(m *sparse.CSR, i int, col []int32, h []float64) {
	var sum float64
	for _, v := range h {
		sum += v
	}
	own := false
	put := func(j int32, v float64) {
		m.Col = append(m.Col, j)
		m.Val = append(m.Val, v)
	}
	q := 0
	for _, j := range col {
		if int(j) == i {
			continue
		}
		if int(j) > i && !own {
			put(int32(i), -sum)
			own = true
		}
		put(j, h[q])
		q++
	}
	if !own {
		put(int32(i), -sum)
	}
	m.Rows++
	m.Ptr = append(m.Ptr, int64(len(m.Col)))
}

// fit returns the rows that give the second derivatives of f at point i from the differences f(x_j) − f(x_i) to its
// neighbours, d(d+1)/2 × k, scaled so that the sum of their squares is ‖H_i‖².
func fit(ctx context.Context, x data.Points, i int, col []int32, d int) (*mat.Dense, error) {
	u, err := tangent(ctx, x, i, col, d)
	if err != nil {
		return nil, err
	}
	k, _ := u.Dims()
	second := d * (d + 1) / 2

	// Coordinates of size one make the columns of one size; second derivatives are then divided by its square.
	size := mat.Max(u)
	size = math.Max(size, -mat.Min(u))
	if size == 0 {
		return mat.NewDense(second, k, nil), nil
	}
	design := mat.NewDense(k, d+second, nil)
	for q := range k {
		row := design.RawRowView(q)
		at := d
		for r := range d {
			a := u.At(q, r) / size
			row[r] = a
			// ½H_rr u_r² + Σ_{r<s} H_rs u_r u_s, and ‖H‖² = Σ H_rr² + Σ_{r<s} (√2 H_rs)².
			for s := r; s < d; s++ {
				b := u.At(q, s) / size
				if row[at] = a * b / math.Sqrt2; s == r {
					row[at] = a * b / 2
				}
				at++
			}
		}
	}

	// The pseudo-inverse leaves out what the neighbours do not tell.
	var svd mat.SVD
	if !svd.Factorize(design, mat.SVDThin) {
		return nil, fmt.Errorf("hessian: the singular values of the neighbours of point %d were not found; scale the points", i)
	}
	values := svd.Values(nil)
	var left, right mat.Dense
	svd.UTo(&left)
	svd.VTo(&right)
	for c, v := range values {
		scale := 0.0
		if v > dense.Negligible*values[0] {
			scale = 1 / v
		}
		for r := range d + second {
			right.Set(r, c, scale*right.At(r, c))
		}
	}
	h := mat.NewDense(second, k, nil)
	h.Mul(right.Slice(d, d+second, 0, len(values)), left.T())
	h.Scale(1/(size*size), h)
	return h, nil
}

// tangent returns the coordinates of the neighbours of point i in the d leading principal components of them and
// the point, relative to the point, k×d.
func tangent(ctx context.Context, x data.Points, i int, col []int32, d int) (*mat.Dense, error) {
	_, columns := x.Dims()
	rows := make([]int, 0, len(col)+1)
	rows = append(rows, i)
	for _, j := range col {
		if int(j) != i {
			rows = append(rows, int(j))
		}
	}
	k := len(rows)
	centred := mat.NewDense(k, columns, nil)
	for q, j := range rows {
		data.RowTo(centred.RawRowView(q), x, j)
	}
	for q, mean := range dense.ColumnMeans(centred) {
		for r := range k {
			centred.Set(r, q, centred.At(r, q)-mean)
		}
	}

	// The Gram matrix of few points is smaller than the covariance of many columns.
	gram := mat.NewDense(k, k, nil)
	gram.Mul(centred, centred.T())
	values, vectors, err := dense.EigenSym(ctx, gram)
	if err != nil {
		return nil, err
	}
	out := mat.NewDense(k-1, d, nil)
	for r := range min(d, k) {
		c := k - 1 - r
		length := math.Sqrt(math.Max(0, values[c]))
		for q := range k - 1 {
			out.Set(q, r, length*(vectors.At(q+1, c)-vectors.At(0, c)))
		}
	}
	return out, nil
}

// Dim returns n.
func (e *Energy) Dim() int { return e.rows.Cols }

// MulTo sets dst = H·x for n×b blocks, by two products with sparse matrices. It holds d(d+1)/2 blocks of scratch.
func (e *Energy) MulTo(dst, x *mat.Dense) {
	_, b := x.Dims()
	if e.rows.Rows == 0 {
		dst.Zero()
		return
	}
	derivatives := mat.NewDense(e.rows.Rows, b, nil)
	e.rows.MulTo(derivatives, x)
	e.transposed.MulTo(dst, derivatives)
}
