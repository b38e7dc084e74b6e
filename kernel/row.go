package kernel

import (
	"sync"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/internal/simd"
	"github.com/bigfit/bigfit/sparse"
)

// panels are dense points by 64, coordinate by coordinate: value (j·d+k)·64+p is
// coordinate k of point 64j+p. So a vector holds one coordinate of several points,
// and inner products with one point need no sums across a vector.
type panels struct {
	once   sync.Once
	values []float64
	order  []int32 // 0, 1, …, d−1
}

const panelPoints = 64

// fill copies the points of s, once.
func (q *panels) fill(s *Side) {
	q.once.Do(func() {
		q.order = make([]int32, s.d)
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

// RowTo sets dst[j] = k(z_i, z_j) for one of the points themselves, faster than
// CrossTo for a single row. Its values may differ from those by rounding. dst has
// length n. It costs 2nd operations. The first call for dense points makes a copy
// of them, n·d values, that is kept.
func (s *Side) RowTo(dst []float64, i int) {
	switch z := s.z.(type) {
	case *sparse.CSR:
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
				simd.AddScaledRows(dst[j:min(j+panelPoints, hi)], s.across.values[j*s.d:][:panelPoints*s.d], panelPoints, s.across.order, x)
			}
			s.finish(dst[lo:hi], s.sq[i], z, i, lo)
		})
	}
}
