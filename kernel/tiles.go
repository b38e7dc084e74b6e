package kernel

import (
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/sparse"
)

// Sizes of tiles, which bound the memory and keep operands in the cache.
const (
	tileRows    = 256
	tileColumns = 1024
	sparseRows  = 64                // rows of a sparse tile, which is held transposed and dense
	depth       = dense.SteadyDepth // columns summed at a time, always in the same order
)

// CrossTo sets dst = k(x_i, z_j) for the rows lo ≤ i < hi of x. dst is (hi−lo)×n, and x must have the
// dimension of s. A value costs 2d operations, and CrossTo holds 256·d values. Between two sparse
// sets a value costs 2·nnz(z_j) operations, and each thread holds 64·d values.
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
		row := func(i int) []float64 { return r.Data[i*r.Stride:][:columns] }
		par.ForWorker(hi-lo, sparseRows, s.sparseTiles(row, csr, lo))
		return
	}
	s.denseTiles(r.Data, r.Stride, x, lo, hi, columns)
}

// denseTiles fills rows of values from products of dense tiles. If one of the two sets is sparse, its
// tiles are made dense.
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

			// Inner products become values in place.
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

// product sets C = A·Zᵀ for m rows of A and n rows of Z, with s.d values each. The order of every
// sum is the same for all m and n, so that values have the same bits in any tile.
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

// sparseTiles returns the body of a loop over the rows of x from lo on. It fills row(i) with the
// values for row lo+i of x and the first points of s, as many as row(i) holds.
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

		// The rows of x as a dense matrix, transposed, so that an entry of z meets 64 of them in
		// one vector operation. The tile is all zeros before and after.
		at := *tile
		sq := make([]float64, b-a)
		s.squares(sq, x, lo+a, nil)
		for i := a; i < b; i++ {
			col, val := x.Row(lo + i)
			for p, c := range col {
				at[int(c)*sparseRows+i-a] = value(val, p)
			}
		}

		// Inner products with one point of s after the other.
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

// value returns stored value p of a sparse row. Without values all are ones.
func value(val []float64, p int) float64 {
	if val == nil {
		return 1
	}
	return val[p]
}
