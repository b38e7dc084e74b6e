package solvers

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/internal/simd"
)

// reflectors is a product of Householder reflections, I − VᵀTV with them as the
// rows of V.
type reflectors struct {
	v, t *mat.Dense
}

// applyTo overwrites the columns from c on of x by Qᵀx, or Qx.
func (q reflectors) applyTo(x *mat.Dense, c int, tQ dense.Trans) {
	n, cols := x.Dims()
	if c == cols {
		return
	}
	part := x.Slice(0, n, c, cols).(*mat.Dense)
	b, _ := q.v.Dims()
	w, tw := mat.NewDense(b, cols-c, nil), mat.NewDense(b, cols-c, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, q.v, part, 0, w)
	dense.Gemm(tQ, dense.NoTrans, 1, q.t, w, 0, tw)
	dense.Gemm(dense.Transposed, dense.NoTrans, -1, q.v, tw, 1, part)
}

// hessenberg overwrites the n×n matrix a by H with A = QHQᵀ, zero below the
// subdiagonal, and returns Q = Q₁Q₂⋯. It costs 10n³/3 operations: n³ of them
// multiply vectors by A, the others are matrix products (Dongarra, Hammarling &
// Sorensen, J. Comput. Appl. Math. 27 (1989), 215–227).
func hessenberg(a *mat.Dense) []reflectors {
	const block = 32
	n, _ := a.Dims()
	var out []reflectors
	for k := 0; k < n-2; k += block {
		b := min(block, n-2-k)
		q := reflectors{mat.NewDense(b, n, nil), mat.NewDense(b, b, nil)}
		y := mat.NewDense(b, n, nil) // (AVᵀT)ᵀ
		x := make([]float64, n)
		for j := range b {
			reflect(a, q, y, k, j, x)
		}
		if rest := n - k - b; rest > 0 {
			dense.Gemm(dense.Transposed, dense.NoTrans, -1, y, q.v.Slice(0, b, k+b, n).(*mat.Dense), 1, a.Slice(0, n, k+b, n).(*mat.Dense))
		}
		q.applyTo(a, k+b, dense.Transposed)
		out = append(out, q)
	}
	return out
}

// reflect reduces column k+j of a, to which the j reflections q of the block that
// begins with column k have not been applied. The columns behind it are still
// those of the beginning of the block. x is working memory.
func reflect(a *mat.Dense, q reflectors, y *mat.Dense, k, j int, x []float64) {
	n, c := len(x), k+j
	mat.Col(x, c, a)
	for p := range j { // (A − AVᵀTV)e_c
		simd.CombineRow(x, x, 1, y.RawRowView(p), -q.v.At(p, c))
	}
	w := make([]float64, j)
	for p := range w {
		w[p] = simd.Dot(q.v.RawRowView(p), x)
	}
	for p := j - 1; p >= 0; p-- { // Tᵀw
		var sum float64
		for i := range p + 1 {
			sum += q.t.At(i, p) * w[i]
		}
		w[p] = sum
	}
	for p := range w {
		simd.CombineRow(x, x, 1, q.v.RawRowView(p), -w[p])
	}
	v := q.v.RawRowView(j)
	copy(v[c+1:], x[c+1:])
	beta, tau := house(v[c+1:])
	for i := range n {
		switch {
		case i <= c:
			a.Set(i, c, x[i])
		case i == c+1:
			a.Set(i, c, beta)
		default:
			a.Set(i, c, 0)
		}
	}
	av := y.RawRowView(j)
	par.For(n, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			av[i] = simd.Dot(a.RawRowView(i)[c+1:], v[c+1:])
		}
	})
	for p := range w {
		w[p] = simd.Dot(q.v.RawRowView(p), v)
		simd.CombineRow(av, av, 1, y.RawRowView(p), -w[p])
	}
	for i := range av {
		av[i] *= tau
	}
	for p := range j {
		var sum float64
		for i := p; i < j; i++ {
			sum += q.t.At(p, i) * w[i]
		}
		q.t.Set(p, j, -tau*sum)
	}
	q.t.Set(j, j, tau)
}

// house replaces x by v with v[0] = 1 such that (I − tau·v·vᵀ)x is beta in the
// first element and zero in the others; tau = 0 if it is so already.
func house(x []float64) (beta, tau float64) {
	norm := floats.Norm(x[1:], 2) // without overflow
	first := x[0]
	x[0] = 1
	if norm == 0 {
		return first, 0
	}
	beta = -math.Copysign(math.Hypot(first, norm), first)
	for i := range x[1:] {
		x[1+i] /= first - beta
	}
	return beta, (beta - first) / beta
}
