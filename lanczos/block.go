package lanczos

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/par"
)

// rowGrain is the number of rows in one parallel chunk of a pass over a block.
const rowGrain = 512

// randomBlock returns an n×b block of independent standard normal numbers.
func randomBlock(n, b int, rng *rand.Rand) *mat.Dense {
	x := make([]float64, n*b)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return mat.NewDense(n, b, x)
}

// project takes from w its components along the orthonormal columns of v,
// w ← w − v(vᵀw), and returns the coefficients vᵀw.
func project(w, v *mat.Dense) *mat.Dense {
	_, m := v.Dims()
	_, b := w.Dims()
	c := mat.NewDense(m, b, nil)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, v, w, 0, c)
	dense.Gemm(dense.NoTrans, dense.NoTrans, -1, v, c, 1, w)
	return c
}

// orthonormalize makes the columns of w orthonormal and orthogonal to those of
// v, and returns c and r with w_before = v·c + w·r. Directions that are missing
// because the columns depend on each other or on v are filled with random ones,
// which have a zero row in r; rank is the number of columns that are not filled.
//
// Each round is one block Gram–Schmidt step against v and an orthogonalization
// of w by the eigenvectors of its Gram matrix (Stathopoulos & Wu, SIAM J. Sci.
// Comput. 23, 2002). Two rounds reach working accuracy unless w was nearly
// dependent; then there are more.
func orthonormalize(w, v *mat.Dense, rng *rand.Rand) (c, r *mat.Dense, rank int) {
	n, b := w.Dims()
	m := 0
	if v != nil {
		_, m = v.Dims()
		c = mat.NewDense(m, b, nil)
	}
	r = mat.NewDense(b, b, nil)
	for j := range b {
		r.Set(j, j, 1)
	}
	rank = b
	for round, rounds := 0, 2; round < rounds; round++ {
		before := columnNorms(w)
		if m > 0 {
			// The earlier rounds' w·r is now v·c₁ + w'·r, so c grows by c₁·r.
			dense.Gemm(dense.NoTrans, dense.NoTrans, 1, project(w, v), r, 1, c)
		}
		step, good, clean := whiten(w, before)
		next := mat.NewDense(b, b, nil)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, step, r, 0, next)
		r = next
		rank = min(rank, good)
		if good < b {
			fill := randomBlock(n, b-good, rng)
			scaleColumns(fill, columnNorms(fill))
			w.Slice(0, n, good, b).(*mat.Dense).Copy(fill)
		}
		if !clean && round < 6 {
			rounds = max(rounds, round+2)
		}
	}
	return c, r, rank
}

// whiten replaces w by w·uᵢ/‖w·uᵢ‖ for the eigenvectors uᵢ of its Gram matrix,
// largest eigenvalue first, and returns the b×b matrix s with w_before = w·s.
// From column good on, what is left is rounding relative to the lengths
// reference that the columns had before they were projected; those rows of s
// are zero. clean means that w is now orthonormal to nearly working accuracy.
func whiten(w *mat.Dense, reference []float64) (s *mat.Dense, good int, clean bool) {
	const negligible = 1e-13
	_, b := w.Dims()
	unit := make([]float64, b)
	for j, v := range reference {
		unit[j] = 1
		if v > 0 {
			unit[j] = v
		}
	}
	gram := mat.NewDense(b, b, nil)
	dense.Syrk(dense.Transposed, 1, w, 0, gram)
	sym := mat.NewSymDense(b, nil)
	for i := range b {
		for j := i; j < b; j++ {
			sym.SetSym(i, j, gram.At(i, j)/(unit[i]*unit[j]))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(sym, true) {
		panic("lanczos: a block holds NaN or Inf")
	}
	values := e.Values(nil) // ascending
	var u mat.Dense
	e.VectorsTo(&u)
	transform := mat.NewDense(b, b, nil)
	for q := range b {
		for i := range b {
			transform.Set(i, q, u.At(i, b-1-q)/unit[i])
		}
	}
	dense.MulInPlace(w, transform)
	norms := columnNorms(w)
	scaleColumns(w, norms)
	s = mat.NewDense(b, b, nil)
	for good < b && norms[good] > negligible {
		for i := range b {
			s.Set(good, i, u.At(i, b-1-good)*unit[i]*norms[good])
		}
		good++
	}
	// The eigenvalues are accurate to rounding of the largest one.
	clean = good == b && values[0] > 1e-6*values[b-1]
	return s, good, clean
}

// columnDots returns xᵀ_j y_j for every column j.
func columnDots(x, y *mat.Dense) []float64 {
	n, b := x.Dims()
	parts := make([][]float64, par.Chunks(n, rowGrain))
	par.For(n, rowGrain, func(lo, hi int) {
		sum := make([]float64, b)
		for i := lo; i < hi; i++ {
			xr, yr := x.RawRowView(i), y.RawRowView(i)
			for j, v := range xr {
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
