package lanczos

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// vectors are the columns of an n×k block: of float64, or of float32 in half of the memory. Products with them are
// taken in float64 either way. The zero value has no columns.
type vectors struct {
	double *mat.Dense
	single blas32.General // where double is nil
}

// wide returns the columns of x, which may be nil.
func wide(x *mat.Dense) vectors { return vectors{double: x} }

// none reports whether v is the zero value.
func (v vectors) none() bool { return v.double == nil && v.single.Data == nil }

// dims returns the numbers of rows and columns.
func (v vectors) dims() (n, k int) {
	if v.double != nil {
		return v.double.Dims()
	}
	return v.single.Rows, v.single.Cols
}

// at returns the entry in row i and column j.
func (v vectors) at(i, j int) float64 {
	if v.double != nil {
		return v.double.At(i, j)
	}
	return float64(v.single.Data[i*v.single.Stride+j])
}

// set makes x the entry in row i and column j.
func (v vectors) set(i, j int, x float64) {
	if v.double != nil {
		v.double.Set(i, j, x)
		return
	}
	v.single.Data[i*v.single.Stride+j] = float32(x)
}

// slice returns columns lo to hi, in the memory of v.
func (v vectors) slice(lo, hi int) vectors {
	if v.double != nil {
		n, _ := v.double.Dims()
		return wide(v.double.Slice(0, n, lo, hi).(*mat.Dense))
	}
	s := v.single
	s.Cols = hi - lo
	s.Data = s.Data[lo:]
	return vectors{single: s}
}

// load copies v to dst, of the same size.
func (v vectors) load(dst *mat.Dense) {
	if v.double != nil {
		copyBlock(dst, v.double)
		return
	}
	dense.Double(dst, v.single, 0)
}

// save copies src to v, of the same size, rounded where v is of float32.
func (v vectors) save(src *mat.Dense) {
	if v.double != nil {
		copyBlock(v.double, src)
		return
	}
	dense.StoreSingle(v.single, 0, src)
}

// sweep is [dense.Sweep] with v.
func (v vectors) sweep(w, c, t *mat.Dense, products bool) (vtw, wtw *mat.Dense) {
	if v.single.Data != nil {
		return dense.SweepSingle(w, v.single, c, t, products)
	}
	return dense.Sweep(w, v.double, c, t, products)
}

// mulInPlace puts v·t into the first columns of v.
func (v vectors) mulInPlace(t *mat.Dense) {
	if v.double != nil {
		dense.MulInPlace(v.double, t)
		return
	}
	dense.MulInPlaceSingle(v.single, t)
}

// gram returns vᵀv.
func (v vectors) gram() *mat.Dense {
	if v.double == nil {
		return dense.GramSingle(v.single)
	}
	_, k := v.double.Dims()
	gram := mat.NewDense(k, k, nil)
	dense.Syrk(dense.Transposed, 1, v.double, 0, gram)
	return gram
}

// reorder puts column order[j] at place j.
func (v vectors) reorder(order []int) {
	n, k := v.dims()
	par.For(n, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if v.double != nil {
				row := v.double.RawRowView(i)
				copy(row, permute(row, order))
			} else {
				row := v.single.Data[i*v.single.Stride:][:k]
				copy(row, permute(row, order))
			}
		}
	})
}

// scaleRows multiplies row i by scale(d_i) where d_i > 0.
func (v vectors) scaleRows(d []float64, scale func(float64) float64) {
	if v.double != nil {
		scaleRows(v.double, d, scale)
		return
	}
	for i, di := range d {
		if di == 0 {
			continue
		}
		f := scale(di)
		row := v.single.Data[i*v.single.Stride:][:v.single.Cols]
		for j := range row {
			row[j] = float32(f * float64(row[j]))
		}
	}
}

// orient is [dense.OrientColumns].
func (v vectors) orient(first int) {
	if v.double != nil {
		dense.OrientColumns(v.double, first)
		return
	}
	dense.OrientSingle(v.single, first)
}

// gatherRows puts row order[p] at place p, in place.
func (v vectors) gatherRows(order []int32) {
	if v.double != nil {
		r := v.double.RawMatrix()
		gatherRows(r.Data, r.Stride, r.Cols, order)
		return
	}
	gatherRows(v.single.Data, v.single.Stride, v.single.Cols, order)
}

// gatherRows puts row order[p] of k numbers at place p, in place.
func gatherRows[T float32 | float64](data []T, stride, k int, order []int32) {
	row := func(i int) []T { return data[i*stride:][:k] }
	done := make([]bool, len(order))
	first := make([]T, k)
	// Follow each cycle of the permutation with one row in hand.
	for start := range order {
		if done[start] {
			continue
		}
		copy(first, row(start))
		p := start
		for {
			done[p] = true
			from := int(order[p])
			if from == start {
				copy(row(p), first)
				break
			}
			copy(row(p), row(from))
			p = from
		}
	}
}

// narrow returns the first k columns without the others. Blocks of float64 get memory of their own size where they
// are at most half as wide as v; otherwise they are moved together in the memory of v.
func (v vectors) narrow(k int) vectors {
	if v.double != nil && 2*k <= v.double.RawMatrix().Stride {
		n, _ := v.double.Dims()
		x := dense.New(n, k)
		copyBlock(x, v.slice(0, k).double)
		return wide(x)
	}
	return v.together(k)
}

// together moves the first k columns together in the memory of v.
func (v vectors) together(k int) vectors {
	if v.double != nil {
		r := v.double.RawMatrix()
		return wide(mat.NewDense(r.Rows, k, together(r.Data, r.Rows, r.Stride, k)))
	}
	s := v.single
	s.Data = together(s.Data, s.Rows, s.Stride, k)
	s.Cols = k
	s.Stride = k
	return vectors{single: s}
}

// together moves the first k numbers of each of n rows together.
func together[T float32 | float64](data []T, n, stride, k int) []T {
	for i := range n {
		copy(data[i*k:(i+1)*k], data[i*stride:i*stride+k])
	}
	return data[:n*k]
}

// newVectors returns an n×k block of zeros.
func newVectors(n, k int, single bool) vectors {
	if single {
		return vectors{single: blas32.General{Rows: n, Cols: k, Stride: k, Data: dense.Zeros[float32](n * k)}}
	}
	return wide(dense.New(n, k))
}

// rounded returns v in single precision.
func (v vectors) rounded() vectors {
	if v.double == nil {
		return v
	}
	n, k := v.double.Dims()
	out := newVectors(n, k, true)
	out.save(v.double)
	return out
}
