package dense

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// ErrNotFinite says that a matrix holds NaN or Inf.
var ErrNotFinite = errors.New("dense: matrix holds NaN or Inf")

// CholQR factors the n×b matrix X = Q·R, overwrites X with Q and returns the upper
// triangular b×b matrix R with a diagonal that is not negative. It is meant for
// n ≥ b and accurate at any n.
//
// If the columns of X are independent to working precision, rank is b and
// ‖QᵀQ − I‖ is a small multiple of the unit roundoff. A column that depends on
// those before it, up to 10⁻¹³ of its norm, becomes a zero column of Q with a zero
// on R's diagonal; X = Q·R still holds, and rank counts the other columns. The
// caller may put anything orthogonal in its place. If X is not finite the error is
// [ErrNotFinite] and X is unchanged.
//
// The normal way is two rounds of Cholesky QR (Yamamoto, Nakatsukasa, Yanagisawa,
// Fukaya, Electron. Trans. Numer. Anal. 44 (2015), 306–326), about 4nb² operations
// at the speed of matrix products. If the first round shows that the condition
// number is too large for it (about 10⁷), classical Gram–Schmidt, applied twice to
// column after column, does the work: slower by a factor of ten to fifty.
func CholQR(x *mat.Dense) (r *mat.Dense, rank int, err error) {
	n, b := x.Dims()
	if b == 0 {
		return &mat.Dense{}, 0, nil
	}
	gram := mat.NewDense(b, b, nil)
	Syrk(Transposed, 1, x, 0, gram)

	// The sum of squares may overflow or underflow while X itself is in order.
	plain := true
	for i := range b {
		if d := gram.At(i, i); !(d > 1e-200 && d < 1e200) {
			plain = false
		}
	}

	if !plain && !finite(x) {
		return nil, 0, ErrNotFinite
	}
	diagonal := make([]float64, b)
	for i := range b {
		diagonal[i] = gram.At(i, i)
	}
	if !plain || Cholesky(context.Background(), gram) != nil || !wellConditioned(gram, diagonal) {
		r, rank = gramSchmidt(x)
		return r, rank, nil
	}

	// Q₁ = X·R₁⁻¹ is orthonormal up to the square of the condition; a second round ends that.
	rx := x.RawMatrix()
	divideRight(context.Background(), n, b, rx.Data, rx.Stride, gram.RawMatrix().Data, b)
	second := mat.NewDense(b, b, nil)
	Syrk(Transposed, 1, x, 0, second)
	var deviation float64
	for i := range b {
		for j := range b {
			v := second.At(i, j)
			if i == j {
				v--
			}
			deviation += v * v
		}
	}

	r = mat.NewDense(b, b, nil)
	if deviation < 0.1 && Cholesky(context.Background(), second) == nil {
		// R₂ is near the identity, so its inverse is as good as a triangular solve.
		inverse := mat.NewDense(b, b, nil)
		for i := range b {
			inverse.Set(i, i, 1)
		}
		SolveLower(Transposed, second, inverse)
		MulInPlace(x, inverse)
		rank = b

		// R = R₂·R₁, each the transpose of a lower factor.
		Gemm(Transposed, Transposed, 1, second, gram, 0, r)
	} else {
		var r2 *mat.Dense
		r2, rank = gramSchmidt(x)
		Gemm(NoTrans, Transposed, 1, r2, gram, 0, r)
	}

	clearLower(r)
	return r, rank, nil
}

// wellConditioned reports whether every column keeps at least 10⁻⁷ of its norm when the columns
// before it are projected out. l is the Cholesky factor of the Gram matrix, and diagonal the
// diagonal of that matrix.
func wellConditioned(l *mat.Dense, diagonal []float64) bool {
	for i, d := range diagonal {
		if !(l.At(i, i) >= 1e-7*math.Sqrt(d)) {
			return false
		}
	}
	return true
}

func clearLower(r *mat.Dense) {
	raw := r.RawMatrix()
	for i := range raw.Rows {
		clear(raw.Data[i*raw.Stride:][:min(i, raw.Cols)])
	}
}

func finite(x *mat.Dense) bool {
	raw := x.RawMatrix()
	for i := range raw.Rows {
		for _, v := range raw.Data[i*raw.Stride:][:raw.Cols] {
			if v-v != 0 {
				return false
			}
		}
	}
	return true
}

// gramSchmidt is CholQR for a finite X of any condition.
func gramSchmidt(x *mat.Dense) (r *mat.Dense, rank int) {
	const dependent = 1e-13
	raw := x.RawMatrix()
	n := raw.Rows
	b := raw.Cols
	ld := raw.Stride
	r = mat.NewDense(b, b, nil)
	h := make([]float64, b)
	for j := range b {
		column := raw.Data[j:]
		// Powers of two bring the column near one and R back exactly.
		var top float64
		for i := range n {
			top = max(top, math.Abs(column[i*ld]))
		}
		if top == 0 {
			continue
		}

		_, exp := math.Frexp(top)
		for i := range n {
			column[i*ld] = math.Ldexp(column[i*ld], -exp)
		}

		// Twice is enough to reach working accuracy.
		before := columnNorm(n, column, ld)
		if j > 0 {
			for range 2 {
				Gemm64(Transposed, NoTrans, j, 1, n, 1, raw.Data, ld, column, ld, 0, h, 1)
				Gemm64(NoTrans, NoTrans, n, 1, j, -1, raw.Data, ld, h, 1, 1, column, ld)
				for i, v := range h[:j] {
					r.Set(i, j, r.At(i, j)+v)
				}
			}
		}

		// A column that loses its norm depends on the columns before, and becomes zero.
		after := columnNorm(n, column, ld)
		factor := 0.0
		if after > dependent*before {
			rank++
			factor = 1 / after
			r.Set(j, j, after)
		}

		for i := range n {
			column[i*ld] *= factor
		}
		for i := range j + 1 {
			r.Set(i, j, math.Ldexp(r.At(i, j), exp))
		}
	}

	return r, rank
}

func columnNorm(n int, column []float64, ld int) float64 {
	s := par.Sum(n, 1<<14, func(lo, hi int) float64 {
		var s float64
		for i := lo; i < hi; i++ {
			s += column[i*ld] * column[i*ld]
		}
		return s
	})
	return math.Sqrt(s)
}

// MulInPlace computes X·T for the n×r matrix X and the r×c matrix T, c ≤ r, and
// writes it to the first c columns of X; the others keep their contents. Beside X
// it needs T once more, and some hundred rows of memory for each worker. It costs 2nrc operations.
func MulInPlace(x, t *mat.Dense) {
	rx := x.RawMatrix()
	rt := t.RawMatrix()
	if rx.Cols != rt.Rows || rt.Cols > rt.Rows {
		panic(mat.ErrShape)
	}
	k := rx.Cols
	n := rt.Cols
	tile := simd.Gemm64()
	kc := balance(max(k, 1), blockK)

	// All rows of X meet the same packed T.
	right := operand[float64]{rt.Data, rt.Stride, true}
	width := roundUp(n, tile.NR)
	packed := Zeros[float64](width * k)
	par.For(ceilDiv(k, kc), 1, func(q, _ int) {
		q0 := q * kc
		right.pack(packed[q0*width:], tile.NR, 0, n, q0, min(q0+kc, k))
	})

	// A task is some blocks of rows: they are copied, and their product overwrites them.
	mc := blockM / tile.MR * tile.MR
	par.For(rx.Rows, 4*mc, func(lo, hi int) {
		s := getScratch[float64]()
		defer putScratch(s)
		for i0 := lo; i0 < hi; i0 += mc {
			m := min(mc, hi-i0)
			old := s.grow(&s.b, m*k)
			for i := range m {
				copy(old[i*k:][:k], rx.Data[(i0+i)*rx.Stride:])
			}

			p := product[float64]{
				ctx: context.Background(), tile: tile, m: m, n: n, k: k,
				a: operand[float64]{old, k, false}, alpha: 1, c: rx.Data[i0*rx.Stride:], ldc: rx.Stride,
			}
			for q0 := 0; q0 < k; q0 += kc {
				p.add(block{0, m, 0, n}, q0, min(q0+kc, k), packed[q0*width:])
			}
		}
	})
}
