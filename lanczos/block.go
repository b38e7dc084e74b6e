package lanczos

import (
	"iter"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// rowGrain is the number of rows in one parallel chunk of a pass over a block.
const rowGrain = 512

// copyBlock copies src to dst, both n×b, by several threads.
func copyBlock(dst, src *mat.Dense) {
	n, _ := dst.Dims()
	par.For(n, 4*rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(dst.RawRowView(i), src.RawRowView(i))
		}
	})
}

// slabWidth is the largest number of columns multiplied at a time where there is a choice: a row of
// a product with 16 columns stays in registers.
const slabWidth = 16

// slabs splits m columns into ranges to be multiplied at a time: of so many as a slab of s has, then of
// half, down to 4, and a last one of fewer.
func (s *scratch) slabs(m int) iter.Seq2[int, int] {
	return func(yield func(lo, hi int) bool) {
		for lo, width := 0, s.width; lo < m; {
			for width > 4 && lo+width > m {
				width /= 2
			}
			hi := min(lo+width, m)
			if !yield(lo, hi) {
				return
			}
			lo = hi
		}
	}
}

// scratch is memory for some slabs of n rows and up to width columns.
type scratch struct {
	n, width int
	slab     [][]float64
}

// newScratch returns memory for count slabs of n rows, and of no more than the given columns.
func newScratch(n, count, columns int) *scratch {
	s := &scratch{n: n, width: min(columns, slabWidth)}
	for range count {
		s.slab = append(s.slab, dense.Zeros[float64](n*s.width))
	}
	return s
}

// of returns blocks with the given number of columns. Their contents are arbitrary.
func (s *scratch) of(columns int) []*mat.Dense {
	out := make([]*mat.Dense, len(s.slab))
	for i, data := range s.slab {
		out[i] = mat.NewDense(s.n, columns, data[:s.n*columns])
	}
	return out
}

// randomBlock returns an n×b block of independent standard normal numbers.
func randomBlock(n, b int, rng *rand.Rand) *mat.Dense {
	x := dense.New(n, b)
	randomize(x, rng)
	return x
}

// randomize fills x, whose rows are contiguous, with independent standard normal numbers.
func randomize(x *mat.Dense, rng *rand.Rand) {
	data := x.RawMatrix().Data
	for i := range data {
		data[i] = rng.NormFloat64()
	}
}

// project subtracts from w its components along the orthonormal columns of v: w ← w − v(vᵀw). The
// rows of w are contiguous.
func project(w, v *mat.Dense) {
	c, _ := dense.Sweep(w, v, nil, nil, true)
	dense.Sweep(w, v, c, nil, false)
}

// orthonormalize makes the columns of w orthonormal and orthogonal to the columns of v, and returns
// c and r with w_before = v·c + w·r. The rows of w are contiguous. Directions that are missing
// because the columns depend on each other or on v are filled with random ones, which have a zero
// row in r; rank is the number of columns that are not filled.
//
// A round is a block Gram–Schmidt step against v and the orthogonalization of w by the eigenvectors
// of its Gram matrix (Stathopoulos & Wu, SIAM J. Sci. Comput. 23, 2002), which is known from the
// sweep before. Two rounds reach working accuracy unless w was nearly dependent; then there are
// more.
func orthonormalize(w *mat.Dense, v vectors, rng *rand.Rand) (c, r *mat.Dense, rank int) {
	n, b := w.Dims()
	_, m := v.dims()
	if m > 0 {
		c = mat.NewDense(m, b, nil)
	}

	r = identity(b)
	rank = b
	overlap, gram := v.sweep(w, nil, nil, true)
	reference := columnLengths(gram) // before anything is taken from w

	// Two rounds are usual, three or four follow a filled direction; the bound of eight ends
	// rounds that would only exchange rounding errors.
	const most = 8
	for round := range most {
		if m > 0 {
			// The earlier rounds' w·r is now v·overlap + w'·r.
			dense.Gemm(dense.NoTrans, dense.NoTrans, 1, overlap, r, 1, c)
			dense.Gemm(dense.Transposed, dense.NoTrans, -1, overlap, overlap, 1, gram)
		}

		step := whitening(gram, reference)
		if round == 0 && m > 0 && !(step.spread > 1e-6) {
			// Too little is left of w for its Gram matrix to be told from the
			// difference: project only.
			overlap, gram = v.sweep(w, overlap, nil, true)
			continue
		}
		// The step changes w to w·forth, so r becomes back·r.
		rank = min(rank, step.good)
		next := mat.NewDense(b, b, nil)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, step.back, r, 0, next)
		r = next
		// A well-conditioned Gram matrix and a small overlap with v mean that the errors of this
		// step are of rounding size: no further round is needed.
		last := step.good == b && step.spread > 0.1 &&
			(m == 0 || largest(overlap)*largest(step.forth) < 0.1) || round == most-1
		overlap, gram = v.sweep(w, overlap, step.forth, !last)
		// Random vectors replace the lost directions; the next round makes them orthogonal.
		if step.good < b {
			fill := randomBlock(n, b-step.good, rng)
			scaleColumns(fill, columnNorms(fill))
			w.Slice(0, n, step.good, b).(*mat.Dense).Copy(fill)
			overlap, gram = v.sweep(w, nil, nil, true)
		}

		// From now on the columns have length 1 before they are projected.
		for j := range reference {
			reference[j] = 1
		}
		if last {
			break
		}
	}

	// The Gram matrix of the last step has rounding errors; correct the lengths and angles.
	step := whitening(gram, reference)
	dense.MulInPlace(w, step.forth)
	next := mat.NewDense(b, b, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, step.back, r, 0, next)
	return c, next, rank
}

// columnLengths returns the lengths of the columns with a Gram matrix.
func columnLengths(gram *mat.Dense) []float64 {
	b, _ := gram.Dims()
	out := make([]float64, b)
	for j := range out {
		out[j] = math.Sqrt(gram.At(j, j))
	}
	return out
}

func identity(b int) *mat.Dense {
	x := mat.NewDense(b, b, nil)
	for j := range b {
		x.Set(j, j, 1)
	}
	return x
}

// largest returns max |x_ij|.
func largest(x *mat.Dense) float64 {
	var most float64
	r := x.RawMatrix()
	for i := range r.Rows {
		for _, v := range r.Data[i*r.Stride:][:r.Cols] {
			most = math.Max(most, math.Abs(v))
		}
	}
	return most
}

// A whitened holds the steps between a block w and w·forth, which has orthonormal columns: w =
// w·forth·back.
type whitened struct {
	forth, back *mat.Dense
	good        int     // columns of w·forth that are more than rounding; the others are 0
	spread      float64 // smallest over largest eigenvalue of the scaled Gram matrix, 0 if not positive
}

// whitening finds the steps from the Gram matrix of w. reference are the lengths of the columns
// before they were projected: a direction that has kept less than 1e-13 of its length holds
// rounding only. Every eigenvector uᵢ of the Gram matrix scaled by reference gives a column
// wuᵢ/‖wuᵢ‖, largest eigenvalue first.
func whitening(gram *mat.Dense, reference []float64) whitened {
	const negligible = 1e-13
	b := len(reference)
	unit := make([]float64, b)
	for j, v := range reference {
		unit[j] = 1
		if v > 0 {
			unit[j] = v
		}
	}

	sym := mat.NewSymDense(b, nil)
	for i := range b {
		for j := i; j < b; j++ {
			sym.SetSym(i, j, gram.At(i, j)/unit[i]/unit[j])
		}
	}

	// Keep the eigenvectors with eigenvalues above rounding, as scaled columns and rows.
	var e mat.EigenSym
	if !e.Factorize(sym, true) {
		panic("lanczos: a block holds NaN or Inf")
	}
	values := e.Values(nil) // ascending
	var u mat.Dense
	e.VectorsTo(&u)
	out := whitened{forth: mat.NewDense(b, b, nil), back: mat.NewDense(b, b, nil)}
	for ; out.good < b; out.good++ {
		q := out.good
		value := values[b-1-q]
		if !(value > negligible*negligible) {
			break
		}
		norm := math.Sqrt(value)
		for i := range b {
			out.forth.Set(i, q, u.At(i, b-1-q)/unit[i]/norm)
			out.back.Set(q, i, u.At(i, b-1-q)*unit[i]*norm)
		}
	}

	if out.good == b {
		out.spread = values[0] / values[b-1]
	}
	return out
}

// columnDots returns xᵀ_j y_j for every column j.
func columnDots(x, y *mat.Dense) []float64 {
	n, b := x.Dims()
	// Chunks are summed in order, so that the bits do not depend on the threads.
	parts := make([][]float64, par.Chunks(n, rowGrain))
	xm := x.RawMatrix()
	ym := y.RawMatrix()
	par.For(n, rowGrain, func(lo, hi int) {
		sum := make([]float64, b)
		for i := lo; i < hi; i++ {
			yr := ym.Data[i*ym.Stride:][:len(sum)]
			for j, v := range xm.Data[i*xm.Stride:][:len(sum)] {
				sum[j] += v * yr[j]
			}
		}
		parts[lo/rowGrain] = sum
	})

	total := make([]float64, b)
	for _, part := range parts {
		for j, v := range part {
			total[j] += v
		}
	}
	return total
}

// columnNorms returns ‖x_j‖₂ for every column j.
func columnNorms(x *mat.Dense) []float64 {
	d := columnDots(x, x)
	for j, v := range d {
		d[j] = math.Sqrt(v)
	}
	return d
}

// scaleColumns divides column j of x by s_j, or leaves it if s_j is zero.
func scaleColumns(x *mat.Dense, s []float64) {
	n, _ := x.Dims()
	par.For(n, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := x.RawRowView(i)
			for j, v := range s {
				if v > 0 {
					row[j] /= v
				}
			}
		}
	})
}
