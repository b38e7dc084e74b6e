package dense

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// A long block of float32 takes half of the memory of one of float64. The products below are taken in float64: rows
// are converted a few at a time, so that they stay in the cache, and only what is stored is rounded.

// convertedBytes is the size of the rows that are converted at a time for a product by several threads.
const convertedBytes = 4 << 20

// panelBytes is that size for [simd.Panel], whose threads convert rows of their own.
const panelBytes = 128 << 10

// Double converts rows lo to hi of x to dst, an (hi−lo)×x.Cols block.
func Double(dst *mat.Dense, x blas32.General, lo int) {
	n, _ := dst.Dims()
	par.For(n, 256, func(from, to int) {
		for i := from; i < to; i++ {
			simd.ToDouble(dst.RawRowView(i), x.Data[(lo+i)*x.Stride:][:x.Cols])
		}
	})
}

// StoreSingle rounds src to the rows of x from lo on, in their first columns.
func StoreSingle(x blas32.General, lo int, src *mat.Dense) {
	n, k := src.Dims()
	par.For(n, 256, func(from, to int) {
		for i := from; i < to; i++ {
			simd.ToSingle(x.Data[(lo+i)*x.Stride:][:k], src.RawRowView(i))
		}
	})
}

// eachDouble calls f for ranges of the rows of x, converted, one range after the other.
func eachDouble(x blas32.General, f func(lo, hi int, rows *mat.Dense)) {
	if x.Rows == 0 || x.Cols == 0 {
		return
	}
	most := min(x.Rows, max(64, convertedBytes/8/x.Cols))
	buffer := make([]float64, most*x.Cols)
	for lo := 0; lo < x.Rows; lo += most {
		hi := min(lo+most, x.Rows)
		rows := mat.NewDense(hi-lo, x.Cols, buffer[:(hi-lo)*x.Cols])
		Double(rows, x, lo)
		f(lo, hi, rows)
	}
}

// SweepSingle is [Sweep] with v in single precision.
func SweepSingle(w *mat.Dense, v blas32.General, c, t *mat.Dense, products bool) (vtw, wtw *mat.Dense) {
	n, b := w.Dims()
	m := v.Cols
	if m == 0 {
		return Sweep(w, nil, nil, t, products)
	}
	if wr := w.RawMatrix(); simd.HasPanel(b) && wr.Stride == b {
		in := panelFactor(c, t, m, b)
		rows := max(16, panelBytes/8/m)
		return panelSums(n, m, b, func(lo, hi int, out []float64) {
			buffer := make([]float64, min(rows, hi-lo)*m)
			for from := lo; from < hi; from += rows {
				to := min(from+rows, hi)
				for i := from; i < to; i++ {
					simd.ToDouble(buffer[(i-from)*m:][:m], v.Data[i*v.Stride:][:m])
				}
				simd.Panel(buffer, m, m, wr.Data[from*b:], to-from, b, in, out)
			}
		})
	}

	if products {
		vtw = mat.NewDense(m, b, nil)
	}
	wtw = mat.NewDense(b, b, nil)
	eachDouble(v, func(lo, hi int, rows *mat.Dense) {
		overlap, gram := Sweep(w.Slice(lo, hi, 0, b).(*mat.Dense), rows, c, t, products)
		wtw.Add(wtw, gram)
		if products {
			vtw.Add(vtw, overlap)
		}
	})
	return vtw, wtw
}

// MulInPlaceSingle is [MulInPlace] for x in single precision.
func MulInPlaceSingle(x blas32.General, t *mat.Dense) {
	_, k := t.Dims()
	var product mat.Dense
	eachDouble(x, func(lo, hi int, rows *mat.Dense) {
		product.Reset()
		product.ReuseAs(hi-lo, k)
		Gemm(NoTrans, NoTrans, 1, rows, t, 0, &product)
		StoreSingle(x, lo, &product)
	})
}

// GramSingle returns xᵀx.
func GramSingle(x blas32.General) *mat.Dense {
	gram := mat.NewDense(x.Cols, x.Cols, nil)
	eachDouble(x, func(_, _ int, rows *mat.Dense) { Syrk(Transposed, 1, rows, 1, gram) })
	return gram
}
