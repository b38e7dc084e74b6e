package knn

import (
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn/internal/prepared"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/sparse"
)

// A meter measures the points of a set from one query in float64.
type meter interface {
	load(x data.Points, i int) // makes point i of x the query
	distance(j int) float64    // the distance of point j of the set from the query
}

// meters returns a function that makes meters of the points of x, one for every goroutine. It is an
// error if the metric is not for such points.
func meters(x data.Points, m Metric) (func() meter, error) {
	if s, ok := x.(*sparse.CSR); ok {
		set := newSparseSet(s, m)
		return func() meter { return &sparseMeter{sparseSet: set} }, nil
	}
	if m.ofSets() {
		if err := checkBits(x, m); err != nil {
			return nil, err
		}
		points := prepared.PackBits(x)
		return func() meter { return newBitMeter(points, m) }, nil
	}

	return func() meter { return newMeasurer(x, m) }, nil
}

// measurer is the meter of dense points that are not sets.
type measurer struct {
	x      data.Points
	metric Metric
	q, row []float64
	row32  []float32 // for stored points that float32 holds exactly, else nil
	best   []topk.Pair
	from   *side // the side of the query that was loaded last
	loaded int   // the number of that query
}

func newMeasurer(x data.Points, m Metric) *measurer {
	_, d := x.Dims()
	out := &measurer{x: x, metric: m, q: make([]float64, d), row: make([]float64, d)}
	if s, ok := x.(*data.Stored); ok && s.Kind() != data.Float64 {
		out.row32 = make([]float32, d)
	}
	return out
}

func (m *measurer) load(x data.Points, i int) {
	m.from = nil
	data.RowTo(m.q, x, i)
	if m.metric.angular() {
		prepared.ToUnit(m.q)
	}
}

// loadOnce loads query i of q unless it has just been loaded.
func (m *measurer) loadOnce(q *side, i int) {
	if m.from != q || m.loaded != i {
		m.load(q.x, q.first+i)
		m.from = q
		m.loaded = i
	}
}

// distance returns the distance of point j from the query.
func (m *measurer) distance(j int) float64 {
	return m.metric.distance(m.square(j))
}

// square returns the value that Metric.distance turns into the distance of point j from the query:
// the squared distance, for angles between unit vectors.
func (m *measurer) square(j int) float64 {
	if !m.metric.angular() {
		// Coordinates are widened to float64 one by one, as copying a row first takes longer.
		switch x := m.x.(type) {
		case *data.Dense[uint8]:
			return measure(m.metric, m.q, x.Row(j))
		case *data.Dense[float32]:
			return measure(m.metric, m.q, x.Row(j))
		case *data.Dense[float64]:
			return measure(m.metric, m.q, x.Row(j))
		case *data.Stored:
			if m.row32 != nil {
				x.Read32(m.row32, j, j+1)
				return measure(m.metric, m.q, m.row32)
			}
		}
		data.RowTo(m.row, m.x, j)
		return measure(m.metric, m.q, m.row)
	}

	// A zero vector is at a right angle to all: 2 is the squared distance of such unit vectors.
	data.RowTo(m.row, m.x, j)
	prepared.ToUnit(m.row)
	var s float64
	var nonzeroQ, nonzeroRow bool
	for p, v := range m.row {
		d := m.q[p] - v
		s += d * d
		nonzeroQ = nonzeroQ || m.q[p] != 0
		nonzeroRow = nonzeroRow || v != 0
	}
	if !nonzeroQ || !nonzeroRow {
		return 2
	}

	return s
}
