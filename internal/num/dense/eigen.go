package dense

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// Everything that takes long has a context, down to the blocks of a matrix product inside a
// factorization ([EigenSym], [Cholesky], [FactorLU]): a result that is unfinished then is
// never read.

// EigenSym computes all eigenvalues of the real symmetric n×n matrix A, ascending,
// and orthonormal eigenvectors, the columns of vectors: A·V = V·diag(values).
// Residual ‖AV − VΛ‖ and deviation ‖VᵀV − I‖ are modest multiples of n·ε·‖A‖ and
// n·ε; small eigenvalues of a graded matrix are not more accurate than that.
//
// Only the lower triangle of A is read, and A is not modified. A matrix that holds
// NaN or Inf there gives [ErrNotFinite], a cancelled ctx its error.
//
// The method is the Householder reduction to tridiagonal form in blocks (Dongarra,
// Hammarling, Sorensen, J. Comput. Appl. Math. 27 (1989), 215–227), divide and conquer on
// the tridiagonal matrix (Gu, Eisenstat, SIAM J. Matrix Anal. Appl. 16 (1995), 172–191),
// and back-transformation in compact WY form. It costs about 4n³ to 5n³ operations, 2n³/3
// of them in matrix-vector products at the speed of memory, and 4n² elements of working
// memory.
func EigenSym(ctx context.Context, a *mat.Dense) (values []float64, vectors *mat.Dense, err error) {
	ra := a.RawMatrix()
	n := ra.Rows
	if ra.Cols != n {
		panic(mat.ErrShape)
	}
	if n == 0 {
		return nil, &mat.Dense{}, nil
	}
	var top float64
	for i := range n {
		for _, v := range ra.Data[i*ra.Stride:][:i+1] {
			if v-v != 0 {
				return nil, nil, ErrNotFinite
			}
			top = max(top, math.Abs(v))
		}
	}

	// A power of two brings the largest element near one, so that no square
	// overflows and tolerances can be absolute.
	_, exp := math.Frexp(top)
	work := make([]float64, n*n)
	for i := range n {
		for j, v := range ra.Data[i*ra.Stride:][:i+1] {
			work[i*n+j] = math.Ldexp(v, -exp)
		}
	}

	t := reduce(ctx, n, work)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	rows, order, spare, err := divideAndConquer(ctx, t.d, t.e)
	if err != nil {
		return nil, nil, err
	}
	values = make([]float64, n)
	for j, i := range order {
		values[j] = math.Ldexp(t.d[i], exp)
	}

	// The vectors are rows; transpose them in blocks, in the order of the eigenvalues.
	const block = 32
	par.For(n, block, func(lo, hi int) {
		for j0 := 0; j0 < n; j0 += block {
			for j := j0; j < min(j0+block, n); j++ {
				row := rows[order[j]*n:][:n]
				for i := lo; i < hi; i++ {
					spare[i*n+j] = row[i]
				}
			}
		}
	})

	t.apply(ctx, n, spare)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	return values, mat.NewDense(n, n, spare), nil
}

// A tridiagonal is the result of the reduction A = Q·T·Qᵀ with
// Q = H_{n−1}·…·H_1, H_i = I − tau_i·v_i·v_iᵀ.
type tridiagonal struct {
	d, e []float64 // diagonal and off-diagonal of T
	tau  []float64
	v    []float64 // row i begins with the i elements of v_i
}

// reduce brings the lower triangle of the n×n matrix a to tridiagonal form, from
// the last row to the first. Row i is turned into a multiple of the unit vector
// i−1 by H_i, which acts on the leading i×i part. The two-sided update of that
// part, A − v·wᵀ − w·vᵀ, is delayed until panel of them can be done as one matrix
// product; meanwhile row i and the product A·v are corrected as they are needed.
func reduce(ctx context.Context, n int, a []float64) *tridiagonal {
	const panel = 32
	t := &tridiagonal{d: make([]float64, n), e: make([]float64, n), tau: make([]float64, n), v: a}
	buffer := make([]float64, 3*panel*n) // rows V, W and again V
	parts := make([]float64, symvTasks*n)
	tmp := make([]float64, n)
	weights := make([]float64, 2*panel)
	index := make([]int32, 2*panel)
	for i1 := n; i1 > 1; {
		i0 := max(i1-panel, 1)
		size := i1 - i0
		vRow := func(p int) []float64 { return buffer[p*n:][:n] }
		wRow := func(p int) []float64 { return buffer[(size+p)*n:][:n] }
		for p := range size {
			if ctx.Err() != nil {
				return t
			}
			i := i1 - 1 - p

			// correct sets x -= Σ_q V_q·weights[q] + W_q·weights[p+q].
			correct := func(x []float64) {
				for q := range p {
					index[q] = int32(q)
					index[p+q] = int32(size + q)
				}
				simd.AddScaledRows(tmp[:len(x)], buffer, n, index[:2*p], weights[:2*p])
				simd.CombineRow(x, x, 1, tmp[:len(x)], -1)
			}

			// Row i of the matrix lacks the delayed updates of this panel; then it gives the
			// reflector.
			row := a[i*n:][:i+1]
			for q := range p {
				weights[q] = wRow(q)[i]
				weights[p+q] = vRow(q)[i]
			}
			correct(row)
			t.d[i] = row[i]
			v := row[:i]
			t.e[i-1], t.tau[i] = householder(v)
			copy(vRow(p), v)
			w := wRow(p)[:i]
			clear(w)
			if t.tau[i] == 0 {
				continue
			}

			// w = tau·A·v − (tau²·vᵀAv/2)·v, with A as corrected by the delayed updates.
			symv(i, a, n, v, w, parts)
			for q := range p {
				weights[q] = simd.Dot(wRow(q)[:i], v)
				weights[p+q] = simd.Dot(vRow(q)[:i], v)
			}
			correct(w)
			tau := t.tau[i]
			simd.CombineRow(w, w, tau, v, -tau*tau*simd.Dot(w, v)/2)
		}

		// The rows V, W, V in the buffer make both terms of the update one product of [V W] with [W
		// V].
		copy(buffer[2*size*n:], buffer[:size*n])
		p := product[float64]{
			ctx: ctx, tile: simd.Gemm64(), m: i0, n: i0, k: 2 * size, lower: true,
			a: operand[float64]{buffer, n, true}, b: operand[float64]{buffer[size*n:], n, true},
			alpha: -1, beta: 1, c: a, ldc: n,
		}

		p.run()
		i1 = i0
	}

	t.d[0] = a[0]
	return t
}

// householder replaces x by v with v[last] = 1 such that (I − tau·v·vᵀ)·x is beta times the last
// unit vector. It drops elements of x so small that their squares vanish beside the elements of a
// matrix of norm one.
func householder(x []float64) (beta, tau float64) {
	last := len(x) - 1
	alpha := x[last]
	x[last] = 1
	rest := x[:last]
	s := simd.Dot(rest, rest)
	if s < 1e-280 {
		clear(rest)
		return alpha, 0
	}

	beta = -math.Copysign(math.Hypot(alpha, math.Sqrt(s)), alpha)
	scale(1/(alpha-beta), rest)
	return beta, (beta - alpha) / beta
}

// symvTasks is the number of tasks of [symv], whatever the number of threads, as it decides the
// order of the sums.
const symvTasks = 8

// symv sets y = A·v for the symmetric n×n matrix with the lower triangle in a, which it reads once.
// Each task does two chunks of rows, a short and a long one, into its own copy of y; the copies are
// added in order. parts holds them.
func symv(n int, a []float64, lda int, v, y, parts []float64) {
	clear(y)
	if n < 128 {
		symvRange(0, n, a, lda, v, y)
		return
	}
	chunk := roundUp(ceilDiv(n, 2*symvTasks), 4)
	par.For(symvTasks, 1, func(t, _ int) {
		part := parts[t*n:][:n]
		clear(part)
		for _, c := range [2]int{t, 2*symvTasks - 1 - t} {
			symvRange(min(c*chunk, n), min((c+1)*chunk, n), a, lda, v, part)
		}
	})

	for t := range symvTasks {
		simd.CombineRow(y, y, 1, parts[t*n:][:n], 1)
	}
}

// symvRange adds the contribution of rows lo to hi of the lower triangle to y = A·v.
func symvRange(lo, hi int, a []float64, lda int, v, y []float64) {
	var d [4]float64
	i := lo
	for ; i+4 <= hi; i += 4 {
		simd.SymvRows(y[:i], v[:i], a[i*lda:], lda, v[i:i+4], d[:])
		for r := range 4 {
			y[i+r] += d[r]
			symvRow(a[(i+r)*lda+i:][:r+1], v[i:], y[i:])
		}
	}

	for ; i < hi; i++ {
		symvRow(a[i*lda:][:i+1], v, y)
	}
}

// symvRow adds the contribution of one row of a lower triangle, diagonal last.
func symvRow(row, v, y []float64) {
	last := len(row) - 1
	for j, x := range row[:last] {
		y[last] += x * v[j]
		y[j] += x * v[last]
	}
	y[last] += row[last] * v[last]
}

// apply computes Z ← Q·Z for the n×n matrix z. A block of reflectors
// H_{i1−1}·…·H_{i0} is I − Vᵀ·T·V with the v_i as rows of V and a lower triangular T
// (Schreiber, Van Loan, SIAM J. Sci. Stat. Comput. 10 (1989), 53–57).
func (t *tridiagonal) apply(ctx context.Context, n int, z []float64) {
	const block = 64
	v := make([]float64, block*n)
	gram := make([]float64, block*block)
	f := make([]float64, block*block)
	w := make([]float64, block*n)
	fw := make([]float64, block*n)
	for i0 := 1; i0 < n && ctx.Err() == nil; i0 += block {
		i1 := min(i0+block, n)
		size := i1 - i0
		length := i1 - 1
		for p := range size {
			row := v[p*length:][:length]
			clear(row[copy(row, t.v[(i0+p)*n:][:i0+p]):])
		}

		Gemm64(NoTrans, Transposed, size, size, length, 1, v, length, v, length, 0, gram, block)
		clear(f)
		for p := range size {
			// Row p of T is −tau·(gram row p)·T, and tau on the diagonal.
			tau := t.tau[i0+p]
			row := f[p*block:][:p+1]
			for q := range p {
				simd.CombineRow(row[:q+1], row[:q+1], 1, f[q*block:][:q+1], -tau*gram[p*block+q])
			}
			row[p] = tau
		}

		Gemm64(NoTrans, NoTrans, size, n, length, 1, v, length, z, n, 0, w, n)
		Gemm64(NoTrans, NoTrans, size, n, size, 1, f, block, w, n, 0, fw, n)
		Gemm64(Transposed, NoTrans, length, n, size, -1, v, length, fw, n, 1, z, n)
	}
}
