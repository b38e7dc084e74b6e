package kernel

import (
	"context"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/sparse"
)

// panels holds dense points in groups of 64, coordinate by coordinate: value (j·d+k)·64+p is
// coordinate k of point 64j+p. So a vector register holds one coordinate of several points, and
// inner products with one point need no sums across a register.
type panels struct {
	once   sync.Once
	values []float64
	order  []int32 // 0, 1, …
}

const panelPoints = 64

// fill copies the points of s, once.
func (q *panels) fill(s *Side) {
	q.once.Do(func() {
		q.order = make([]int32, max(s.d, min(s.n, depth)))
		for k := range q.order {
			q.order[k] = int32(k)
		}
		count := par.Chunks(s.n, panelPoints)
		q.values = make([]float64, count*panelPoints*s.d)
		par.For(count, 16, func(lo, hi int) {
			for i := lo * panelPoints; i < min(hi*panelPoints, s.n); i++ {
				to := q.values[i/panelPoints*panelPoints*s.d+i%panelPoints:]
				for k, v := range s.dense[i*s.d:][:s.d] {
					to[k*panelPoints] = v
				}
			}
		})
	})
}

// FewRows is the number of rows up to which [Side.FewTo] is for.
const FewRows = 4

// FewTo is [Side.ProductTo] for all rows of an x with at most [FewRows] rows. It has the same bits,
// as it sums the same terms in the same order, and takes a pass over the points of s for each row.
// The first call for dense points keeps a copy of them, n·d values.
func (s *Side) FewTo(dst *mat.Dense, x data.Points, a *mat.Dense) error {
	rows, _ := x.Dims()
	if s.dense == nil || s.d == 0 || rows > FewRows {
		return s.ProductTo(dst, x, 0, rows, a)
	}

	if err := s.check(x); err != nil {
		return err
	}

	// Wide blocks a are multiplied tile by tile.
	if _, c := a.Dims(); c > panelPoints {
		return productTo(context.Background(), dst, rows, s.n, a, func(k *mat.Dense, i int) {
			r := k.RawMatrix()
			s.denseRows(r.Data, r.Stride, x, i, i+r.Rows)
		})
	}
	if h, c := dst.Dims(); h != rows || a.RawMatrix().Cols != c || a.RawMatrix().Rows != s.n {
		panic(mat.ErrShape)
	}

	// The few rows of kernel values are held whole; each is added up in the order of the tiles.
	k := make([]float64, rows*s.n)
	r := a.RawMatrix()
	s.denseRows(k, s.n, x, 0, rows)
	var part [panelPoints]float64
	for i := range rows {
		to := dst.RawRowView(i)
		clear(to)
		s.across.addRows(to, part[:], r.Data, r.Stride, k[i*s.n:][:s.n])
	}

	return nil
}

// addRows adds to to the sum of the rows of x times their factors. Rows begin ld values apart. Terms
// are added in the order of [dense.Gemm64], which sums groups first. part is scratch memory.
func (q *panels) addRows(to, part, x []float64, ld int, factors []float64) {
	for p0 := 0; p0 < len(factors); p0 += depth {
		p1 := min(p0+depth, len(factors))
		length := dense.SumLength(p1 - p0)
		for lo := p0; lo < p1; lo += length {
			hi := min(lo+length, p1)
			simd.AddScaledRows(part[:len(to)], x[lo*ld:], ld, q.order[:hi-lo], factors[lo:hi])
			for t, v := range part[:len(to)] {
				to[t] += v
			}
		}
	}
}

// denseRows does the work of denseTiles from the panels, for dense points.
func (s *Side) denseRows(dst []float64, ld int, x data.Points, lo, hi int) {
	s.across.fill(s)
	row := make([]float64, s.d)
	sq := make([]float64, 1)
	grain := max(1, 1<<17/(panelPoints*(s.d+16)))
	for i := lo; i < hi; i++ {
		s.load(row, x, i)
		s.squares(sq, x, i, row)
		out := dst[(i-lo)*ld:][:s.n]

		// A chunk is about 2¹⁷ operations.
		par.For(s.n, grain*panelPoints, func(a, b int) {
			var part [panelPoints]float64
			for j := a; j < b; j += panelPoints {
				to := out[j:min(j+panelPoints, b)]
				panel := s.across.values[j*s.d:][:panelPoints*s.d]
				clear(to)
				s.across.addRows(to, part[:], panel, panelPoints, row)
			}
			s.finish(out[a:b], sq[0], x, i, a)
		})
	}
}

// RowTo sets dst[j] = k(z_i, z_j) for one of the points themselves. dst has length n. It costs 2nd
// operations, and for a single row it is faster than [Side.CrossTo], from which its values may
// differ by rounding. The first call for dense points keeps a copy of them, n·d values.
func (s *Side) RowTo(dst []float64, i int) {
	switch z := s.z.(type) {
	case *sparse.CSR:
		// The row is made dense, so that entries of other rows find their partner.
		x := make([]float64, s.d)
		data.RowTo(x, z, i)
		par.For(s.n, 512, func(lo, hi int) {
			for j := lo; j < hi; j++ {
				var sum float64
				col, val := z.Row(j)
				for p, c := range col {
					sum += value(val, p) * x[c]
				}
				dst[j] = sum
			}
			s.finish(dst[lo:hi], s.sq[i], z, i, lo)
		})
	default:
		s.across.fill(s)
		x := s.dense[i*s.d:][:s.d]
		grain := max(1, 1<<17/(panelPoints*(s.d+16)))
		par.For(s.n, grain*panelPoints, func(lo, hi int) {
			for j := lo; j < hi; j += panelPoints {
				panel := s.across.values[j*s.d:][:panelPoints*s.d]
				simd.AddScaledRows(dst[j:min(j+panelPoints, hi)], panel, panelPoints, s.across.order[:s.d], x)
			}
			s.finish(dst[lo:hi], s.sq[i], z, i, lo)
		})
	}
}
