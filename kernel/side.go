package kernel

import (
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/sparse"
)

// Side is a set of points made ready to be one side of many evaluations of a
// kernel: n points z_j, centred if the kernel asks for distances. It is
// immutable and safe for concurrent use.
type Side struct {
	kernel Kernel
	z      data.Points
	n, d   int
	centre []float64     // mean of dense points, for kernels of distances
	dense  []float64     // n×d, centred; nil if z is sparse
	sq     []float64     // ‖z_j‖², centred
	pairs  sync.Pool     // of *pair
	across panels        // for single rows
	limit  exactnessRule // for kernels of distances
}

// New prepares z. Dense points take n·(d+1) float64 values, or n if they are
// float64 and need no centring: then z is kept and must not change.
func New(k Kernel, z data.Points) (*Side, error) {
	k, err := k.Fill()
	if err != nil {
		return nil, err
	}
	s := &Side{kernel: k, z: z, limit: newExactnessRule(&k)}
	if s.n, s.d = z.Dims(); s.n < 1 {
		return nil, fmt.Errorf("kernel: no points")
	}
	_, isSparse := z.(*sparse.CSR)
	if !isSparse {
		if k.Kind.HasWidth() {
			s.centre = data.Mean(z)
		}
		if x, ok := z.(*data.Dense[float64]); ok && s.centre == nil {
			s.dense = x.Data
		} else {
			s.dense = make([]float64, s.n*s.d)
			s.load(s.dense, z, 0)
		}
	}
	s.sq = make([]float64, s.n)
	s.squares(s.sq, z, 0, s.dense)
	return s, nil
}

// load writes rows lo, lo+1, … of x, centred, to dst, as many as it holds.
func (s *Side) load(dst []float64, x data.Points, lo int) {
	if s.d == 0 {
		return
	}
	par.For(len(dst)/s.d, 64, func(a, b int) {
		for i := a; i < b; i++ {
			row := dst[i*s.d:][:s.d]
			data.RowTo(row, x, lo+i)
			for j, c := range s.centre {
				row[j] -= c
			}
		}
	})
}

// squares sets sq to the squared norms of rows lo, lo+1, … of x, which lie
// centred in rows, or are sparse if rows is nil.
func (s *Side) squares(sq []float64, x data.Points, lo int, rows []float64) {
	par.For(len(sq), 256, func(a, b int) {
		for i := a; i < b; i++ {
			if rows != nil {
				sq[i] = simd.Dot(rows[i*s.d:][:s.d], rows[i*s.d:][:s.d])
				continue
			}
			col, val := x.(*sparse.CSR).Row(lo + i)
			if sq[i] = float64(len(col)); val != nil {
				sq[i] = simd.Dot(val, val)
			}
		}
	})
}

// check returns an error unless the points x can be compared with s.
func (s *Side) check(x data.Points) error {
	if _, d := x.Dims(); d != s.d {
		return fmt.Errorf("kernel: points of %d dimensions, the others have %d", d, s.d)
	}
	return nil
}

const (
	tileRows    = 256
	tileColumns = 1024
	sparseRows  = 64 // rows of a sparse tile, which lies transposed and filled up
	depth       = dense.SteadyDepth
)

// CrossTo sets dst = k(x_i, z_j) for the rows lo ≤ i < hi of x, which has as many
// dimensions as s; dst is (hi−lo)×n. It costs 2d operations a value and
// 256·d values of memory; between two sparse sets 2·nnz(z_j), and 64·d values a
// thread.
func (s *Side) CrossTo(dst *mat.Dense, x data.Points, lo, hi int) error {
	if err := s.check(x); err != nil || lo == hi {
		return err
	}
	if m, n := dst.Dims(); m != hi-lo || n != s.n {
		panic(mat.ErrShape)
	}
	s.block(dst, x, lo, hi, s.n)
	return nil
}

// block is CrossTo for the first columns points of s.
func (s *Side) block(dst *mat.Dense, x data.Points, lo, hi, columns int) {
	r := dst.RawMatrix()
	csr, isSparse := x.(*sparse.CSR)
	if isSparse && s.dense == nil {
		par.ForWorker(hi-lo, sparseRows, s.sparseTiles(func(i int) []float64 { return r.Data[i*r.Stride:][:columns] }, csr, lo))
		return
	}
	s.denseTiles(r.Data, r.Stride, x, lo, hi, columns)
}

// denseTiles fills rows of values from products of dense tiles; a sparse set is
// made dense by tiles if the other one is.
func (s *Side) denseTiles(dst []float64, ld int, x data.Points, lo, hi, columns int) {
	a := make([]float64, min(tileRows, hi-lo)*s.d)
	sq := make([]float64, min(tileRows, hi-lo))
	var scratch []float64
	for i := lo; i < hi; i += tileRows {
		m := min(tileRows, hi-i)
		rows := a[:m*s.d]
		s.load(rows, x, i)
		s.squares(sq[:m], x, i, rows)
		for j := 0; j < columns; j += tileColumns {
			n := min(tileColumns, columns-j)
			var z []float64
			if s.dense != nil {
				z = s.dense[j*s.d:][:n*s.d]
			} else {
				if scratch == nil {
					scratch = make([]float64, min(tileColumns, columns)*s.d)
				}
				z = scratch[:n*s.d]
				s.load(z, s.z, j)
			}
			c := dst[(i-lo)*ld+j:]
			s.product(m, n, rows, z, c, ld)
			par.For(m, 32, func(p, q int) {
				for t := p; t < q; t++ {
					s.finish(c[t*ld:][:n], sq[t], x, i+t, j)
				}
			})
		}
	}
}

// product sets C = A·Zᵀ for m and n rows of s.d values. The sums have one order
// whatever m and n are.
func (s *Side) product(m, n int, a, z, c []float64, ldc int) {
	d := s.d
	if d == 0 {
		for i := range m {
			clear(c[i*ldc:][:n])
		}
	}
	for k := 0; k < d; k += depth {
		beta := 1.0
		if k == 0 {
			beta = 0
		}
		dense.Gemm64(dense.NoTrans, dense.Transposed, m, n, min(depth, d-k), 1, a[k:], d, z[k:], d, beta, c, ldc)
	}
}

// sparseTiles returns the body of a loop over rows of x, lo being the first,
// that fills row(i) with the values for row lo+i and the first points of s.
func (s *Side) sparseTiles(row func(i int) []float64, x *sparse.CSR, lo int) func(worker, a, b int) {
	z := s.z.(*sparse.CSR)
	var tiles sync.Pool
	return func(_, a, b int) {
		tile, ok := tiles.Get().(*[]float64)
		if !ok {
			fresh := make([]float64, s.d*sparseRows)
			tile = &fresh
		}
		defer tiles.Put(tile)
		at := *tile
		sq := make([]float64, b-a)
		s.squares(sq, x, lo+a, nil)
		for i := a; i < b; i++ {
			col, val := x.Row(lo + i)
			for p, c := range col {
				at[int(c)*sparseRows+i-a] = value(val, p)
			}
		}
		acc := make([]float64, sparseRows)
		rows := make([][]float64, b-a)
		for i := range rows {
			rows[i] = row(a + i)
		}
		for j := range rows[0] {
			col, val := z.Row(j)
			if val == nil {
				simd.SumRows(acc, at, sparseRows, col)
			} else {
				simd.AddScaledRows(acc, at, sparseRows, col, val)
			}
			for i, r := range rows {
				r[j] = acc[i]
			}
		}
		for i, r := range rows {
			s.finish(r, sq[i], x, lo+a+i, 0)
			col, _ := x.Row(lo + a + i)
			for _, c := range col {
				at[int(c)*sparseRows+i] = 0
			}
		}
	}
}

// value returns stored value p of a sparse row; nil values are ones.
func value(val []float64, p int) float64 {
	if val == nil {
		return 1
	}
	return val[p]
}

// DiagonalTo sets dst[j] = k(z_j, z_j).
func (s *Side) DiagonalTo(dst []float64) {
	for j := range dst {
		if s.kernel.Kind.HasWidth() {
			dst[j] = 1
			continue
		}
		dst[j] = s.sq[j]
		s.finish(dst[j:j+1], s.sq[j], s.z, j, j)
	}
}

// finish turns the inner products t_j of point i of x, with squared norm sq, and
// the points of s from number first on into values of the kernel.
func (s *Side) finish(t []float64, sq float64, x data.Points, i, first int) {
	k := &s.kernel
	norms := s.sq[first:][:len(t)]
	switch k.Kind {
	case Polynomial:
		for j, v := range t {
			t[j] = power(k.Scale*v+k.Offset, k.Degree)
		}
	case Cosine:
		for j, v := range t {
			switch n := math.Sqrt(sq) * math.Sqrt(norms[j]); {
			case n > 0:
				t[j] = max(-1, min(1, v/n))
			default:
				t[j] = 0
			}
		}
	case Gaussian:
		c := -1 / (2 * k.Sigma * k.Sigma)
		for j, v := range t {
			sum := sq + norms[j]
			d2 := max(0, sum-2*v)
			if s.limit.square(sum, d2) {
				d2 = s.exact(x, i, first+j)
			}
			t[j] = c * d2
		}
		negExp(t)
	case Laplace:
		c := -1 / k.Sigma
		for j, v := range t {
			sum := sq + norms[j]
			d := math.Sqrt(max(0, sum-2*v))
			if s.limit.root(sum, d) {
				d = math.Sqrt(s.exact(x, i, first+j))
			}
			t[j] = c * d
		}
		negExp(t)
	}
}

// power returns v^p for p ≥ 1 by repeated squaring.
func power(v float64, p int) float64 {
	out := 1.0
	for ; p > 0; p /= 2 {
		if p%2 == 1 {
			out *= v
		}
		v *= v
	}
	return out
}

// exactnessRule decides which distances are measured again. ‖x−z‖², computed as
// ‖x‖² + ‖z‖² − 2xᵀz, has an error of about 2⁻⁵⁰·(‖x‖² + ‖z‖²), which must not
// change the exponent by more than 1e-13 unless the value underflows anyway.
type exactnessRule struct{ sum, reach float64 }

func newExactnessRule(k *Kernel) exactnessRule {
	const allowed, rounding, underflow = 1e-13, 0x1p-50, 710
	if k.Kind == Laplace {
		return exactnessRule{2 * allowed * k.Sigma / rounding, underflow * k.Sigma}
	}
	return exactnessRule{2 * allowed * k.Sigma * k.Sigma / rounding, 2 * underflow * k.Sigma * k.Sigma}
}

// square is the rule for exponents proportional to d2, sum being ‖x‖² + ‖z‖².
func (r *exactnessRule) square(sum, d2 float64) bool { return sum > r.sum && d2 < r.reach }

// root is the rule for exponents proportional to d.
func (r *exactnessRule) root(sum, d float64) bool { return sum > r.sum*d && d < r.reach }

// pair is room for two points.
type pair struct{ a, b []float64 }

// exact returns ‖x_i − z_j‖² from the points as given.
func (s *Side) exact(x data.Points, i, j int) float64 {
	if a, ok := x.(*sparse.CSR); ok {
		if b, ok := s.z.(*sparse.CSR); ok {
			return sparse.SquaredDistance(a, i, 1, b, j, 1)
		}
	}
	p, ok := s.pairs.Get().(*pair)
	if !ok {
		p = &pair{make([]float64, s.d), make([]float64, s.d)}
	}
	defer s.pairs.Put(p)
	data.RowTo(p.a, x, i)
	data.RowTo(p.b, s.z, j)
	return squaredDistance(p.a, p.b)
}

func squaredDistance(a, b []float64) float64 {
	var sum float64
	for j, v := range a {
		e := v - b[j]
		sum += e * e
	}
	return sum
}
