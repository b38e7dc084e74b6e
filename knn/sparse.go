package knn

import (
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/prepared"
	"github.com/bigfit/bigfit/sparse"
)

// sparseSet measures pairs of sparse points by their inner products.
type sparseSet struct {
	metric Metric
	x      *sparse.CSR
	sq     []float64 // ‖x‖²
}

func newSparseSet(x *sparse.CSR, m Metric) *sparseSet {
	s := &sparseSet{m, m.entries(x), make([]float64, x.Rows)}
	for i := range s.sq {
		s.sq[i] = squaredNorm(s.x, i)
	}
	return s
}

// entries returns x as the metric sees it: for metrics of sets every entry that is not
// zero counts as 1.
func (m Metric) entries(x *sparse.CSR) *sparse.CSR {
	if !m.ofSets() || x.Val == nil {
		return x
	}
	out := &sparse.CSR{Rows: x.Rows, Cols: x.Cols, Ptr: make([]int64, x.Rows+1), Col: make([]int32, 0, len(x.Col))}
	for i := range x.Rows {
		col, val := x.Row(i)
		for p, v := range val {
			if v != 0 {
				out.Col = append(out.Col, col[p])
			}
		}
		out.Ptr[i+1] = int64(len(out.Col))
	}
	return out
}

func squaredNorm(x *sparse.CSR, i int) float64 {
	col, val := x.Row(i)
	if val == nil {
		return float64(len(col))
	}
	return prepared.SquaredNorm(val)
}

// inverseRoot returns 1/√v, or 0 for 0.
func inverseRoot(v float64) float64 {
	if v == 0 {
		return 0
	}
	return 1 / math.Sqrt(v)
}

// square returns what Metric.distance turns into the distance of point j from a query of
// squared norm sq, given their inner product.
func (s *sparseSet) square(sq float64, j int, dot float64) float64 {
	other := s.sq[j]
	switch {
	case s.metric == Euclidean:
		return max(0, sq+other-2*dot)
	case s.metric == InnerProduct:
		return 0 - dot
	case s.metric.ofSets():
		return s.metric.overlap(sq, other, dot, s.x.Cols)
	case sq == 0 || other == 0:
		return 2
	}
	norms := math.Sqrt(sq * other)
	if norms < 0x1p-500 || math.IsInf(norms, 1) { // the product left the range of float64
		norms = math.Sqrt(sq) * math.Sqrt(other)
	}
	return max(0, 2-2*dot/norms)
}

// distance returns the distance of point j from row i of x, of squared norm sq, given
// their inner product. It measures close pairs again, where the difference of large
// numbers says little.
func (s *sparseSet) distance(x *sparse.CSR, i int, sq float64, j int, dot float64) float64 {
	const near = 1e-3
	d := s.square(sq, j, dot)
	switch {
	case s.metric == Euclidean && !(d > near*(sq+s.sq[j])):
		d = sparse.SquaredDistance(x, i, 1, s.x, j, 1)
	case s.metric.angular() && d < near:
		d = sparse.SquaredDistance(x, i, 1/math.Sqrt(sq), s.x, j, 1/math.Sqrt(s.sq[j]))
	}
	return s.metric.distance(d)
}

// sparseMeter is the meter of a sparseSet.
type sparseMeter struct {
	*sparseSet
	from *sparse.CSR
	row  int
	norm float64 // squared
}

// load makes point i of x, which is sparse, the query.
func (m *sparseMeter) load(x data.Points, i int) {
	m.from, m.row = x.(*sparse.CSR), i
	m.norm = squaredNorm(m.from, i)
}

func (m *sparseMeter) distance(j int) float64 {
	return m.sparseSet.distance(m.from, m.row, m.norm, j, sparse.Dot(m.from, m.row, m.x, j))
}
