package dense

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// A Krylov process reads its basis once for an update and the products that follow it, and a row of
// a graph product stays in registers until it is stored (simd.Graph): with 8 or 16 columns the
// speed of memory limits both.

// sweepGrain is the number of rows that one task of a sweep takes.
const sweepGrain = 2048

// Sweep sets w ← (w − v·c)·t and returns vᵀw and wᵀw of the new w. w is n×b, v n×m, c m×b and t
// b×b; a nil v has no columns, a nil c is zero and a nil t the identity. Without products vᵀw may
// be nil.
//
// A step of block Gram–Schmidt does this to long blocks. It costs 4nmb + 4nb² operations. The
// narrow widths that simd.Panel knows take one pass over v.
func Sweep(w, v, c, t *mat.Dense, products bool) (vtw, wtw *mat.Dense) {
	n, b := w.Dims()
	m := 0
	if v != nil {
		_, m = v.Dims()
	}
	wr := w.RawMatrix()
	if m == 0 || !simd.HasPanel(b) || wr.Stride != b {
		if c != nil {
			Gemm(NoTrans, NoTrans, -1, v, c, 1, w)
		}
		if t != nil {
			MulInPlace(w, t)
		}
		if products && v != nil {
			vtw = mat.NewDense(m, b, nil)
			Gemm(Transposed, NoTrans, 1, v, w, 0, vtw)
		}
		wtw = mat.NewDense(b, b, nil)
		Syrk(Transposed, 1, w, 0, wtw)
		return vtw, wtw
	}

	in := panelFactor(c, t, m, b)
	vr := v.RawMatrix()
	return panelSums(n, m, b, func(lo, hi int, out []float64) {
		simd.Panel(vr.Data[lo*vr.Stride:], vr.Stride, m, wr.Data[lo*b:], hi-lo, b, in, out)
	})
}

// panelFactor returns the matrix by which [simd.Panel] multiplies [v w] for w ← (w − v·c)·t: −c·t above t, nil if w
// stays as it is.
func panelFactor(c, t *mat.Dense, m, b int) []float64 {
	if c == nil && t == nil {
		return nil
	}
	in := make([]float64, (m+b)*b)
	last := mat.NewDense(b, b, in[m*b:])
	for j := range b {
		last.Set(j, j, 1)
	}
	if t != nil {
		last.Copy(t)
	}
	if c != nil {
		Gemm(NoTrans, NoTrans, -1, c, last, 0, mat.NewDense(m, b, in[:m*b]))
	}
	return in
}

// panelSums calls body for chunks of n rows, which adds their part of vᵀw and, below it, of wᵀw to out, and returns
// the sums in the order of the chunks: so their bits do not depend on the threads.
func panelSums(n, m, b int, body func(lo, hi int, out []float64)) (vtw, wtw *mat.Dense) {
	parts := make([][]float64, par.Chunks(n, sweepGrain))
	par.For(n, sweepGrain, func(lo, hi int) {
		out := make([]float64, (m+b)*b)
		body(lo, hi, out)
		parts[lo/sweepGrain] = out
	})

	out := make([]float64, (m+b)*b)
	for _, part := range parts {
		for j, x := range part {
			out[j] += x
		}
	}
	return mat.NewDense(m, b, out[:m*b]), mat.NewDense(b, b, out[m*b:])
}
