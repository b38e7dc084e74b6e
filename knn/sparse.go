package knn

import (
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/sparse"
)

// sparseSet measures pairs of sparse points.
type sparseSet struct {
	metric  Metric
	x       *sparse.CSR
	sq      []float64 // ‖x‖²
	longest int       // most entries of a point
}

// newSparseSet prepares the sparse points x for a metric.
func newSparseSet(x *sparse.CSR, m Metric) *sparseSet {
	s := &sparseSet{metric: m, x: m.entries(x), sq: make([]float64, x.Rows)}
	for i := range s.sq {
		s.sq[i] = s.x.SquaredNorm(i)
		s.longest = max(s.longest, int(s.x.Ptr[i+1]-s.x.Ptr[i]))
	}
	return s
}

// entries returns x in the form that the metric compares: for metrics of sets every nonzero entry
// is 1.
func (m Metric) entries(x *sparse.CSR) *sparse.CSR {
	if m.ofSets() {
		return x.Pattern()
	}
	return x
}

// inverseRoot returns 1/√v, or 0 for 0.
func inverseRoot(v float64) float64 {
	if v == 0 {
		return 0
	}
	return 1 / math.Sqrt(v)
}

// sums reports whether the distance follows from a sum over coordinates. Added up in their order,
// the sum has the bits of [measurer]. Other metrics follow from inner products.
func (m Metric) sums() bool { return m.squares() }

// sum returns the distance of point j from row i of x, which has the squared norm sq, for metrics
// that are sums. It has the bits of [measurer] on dense copies of the points.
func (s *sparseSet) sum(x *sparse.CSR, i int, sq float64, j int) float64 {
	own, other := 1.0, 1.0
	if s.metric.angular() {
		if own, other = math.Sqrt(sq), math.Sqrt(s.sq[j]); own == 0 || other == 0 {
			return s.metric.distance(2)
		}
	}
	return s.metric.distance(sparse.SquaredDistance(x, i, own, s.x, j, other))
}

// product returns the distance of point j from a query for the other metrics, given the inner
// product of both and the query's squared norm sq.
func (s *sparseSet) product(sq float64, j int, dot float64) float64 {
	if s.metric.Space() == Products {
		return 0 - dot
	}
	return s.metric.overlap(sq, s.sq[j], dot, s.x.Cols)
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
	m.from = x.(*sparse.CSR)
	m.row = i
	m.norm = m.from.SquaredNorm(i)
}

func (m *sparseMeter) distance(j int) float64 {
	if m.metric.sums() {
		return m.sum(m.from, m.row, m.norm, j)
	}
	return m.product(m.norm, j, sparse.Dot(m.from, m.row, m.x, j))
}
