package pruned

import (
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// An Exact measures the distance of query i from point j as it is to be reported.
type Exact func(i, j int) float64

// bytesSide holds points of bytes, as one side of the pairs that a meter
// measures.
type bytesSide struct {
	x       *data.Dense[uint8]
	sq      []int32   // ‖x‖²
	inverse []float64 // 1/‖x‖, if vectors are the points divided by their norms
}

func newBytesSide(s *Space, x *data.Dense[uint8]) *bytesSide {
	b := &bytesSide{x: x, sq: squares(x.Data, x.Rows, x.Cols)}
	if s.Unit {
		b.inverse = make([]float64, x.Rows)
		for i, q := range b.sq {
			b.inverse[i] = 1 / math.Sqrt(float64(q))
		}
	}
	return b
}

// bytesMeter measures bytes by exact products. For vectors of norm one the product only rules pairs
// out, and exact measures the others.
type bytesMeter struct {
	queries, points *bytesSide
	exact           Exact
	prods           []int32
}

// Measure implements [Meter]. For vectors of norm one ‖x−y‖² = 2 − 2⟨x,y⟩, and 2⁻⁴⁰ is far above
// the rounding error of a few operations in float64.
func (m *bytesMeter) Measure(dst []float64, i int, idx []int32, limits []float64) {
	m.prods = grow(m.prods, len(idx))
	simd.ByteProducts(m.prods, m.queries.x.Row(i), m.points.x.Data, m.points.x.Cols, idx)

	if m.exact == nil {

		for p, j := range idx {
			dst[p] = math.Sqrt(float64(m.queries.sq[i] + m.points.sq[j] - 2*m.prods[p]))
		}
		return
	}
	for p, j := range idx {
		dst[p] = math.Inf(1)
		if 2-2*float64(m.prods[p])*m.queries.inverse[i]*m.points.inverse[j] <= limits[p]+0x1p-40 {
			dst[p] = m.exact(i, int(j))
		}
	}
}

// Prefetch implements [Meter].
func (m *bytesMeter) Prefetch(idx []int32) {
	simd.PrefetchRows(m.points.x.Data, m.points.x.Cols, idx, m.points.x.Cols)
}

// UpperBound implements [Meter].
func (m *bytesMeter) UpperBound(dst []float64, i int, idx []int32) {
	m.prods = grow(m.prods, len(idx))
	simd.ByteProducts(m.prods, m.queries.x.Row(i), m.points.x.Data, m.points.x.Cols, idx)
	for p, j := range idx {
		if m.exact == nil {
			dst[p] = float64(m.queries.sq[i] + m.points.sq[j] - 2*m.prods[p])
			continue
		}
		dst[p] = 2 - 2*float64(m.prods[p])*m.queries.inverse[i]*m.points.inverse[j] + 0x1p-40
	}
}

// floats holds points as float32, either as they are given or as the vectors v of [frame].
type floats struct {
	n, d   int
	x      []float32    // n×d, or nil if stored holds the points
	stored *data.Stored // points in files, which are read when they are measured
	unit   []float32    // the factors that make stored points unit vectors, or nil
	err    float64      // the largest rounding error of a vector
}

// raw reports whether points are compared in float32 as they are given, neither centred nor scaled.
func (s *Space) raw() bool {
	switch x := s.X.(type) {
	case *data.Dense[float32]:
		return !s.Unit
	case *data.Stored:
		return x.Kind() != data.Float64
	}
	return false
}

// newFloats returns the points of x for comparisons with the points of the space.
func (f *frame) newFloats(s *Space, x data.Points) *floats {
	n, d := x.Dims()
	out := &floats{n: n, d: d}
	raw := s.raw()
	switch x := x.(type) {
	case *data.Dense[float32]:
		if raw && !s.Unit {
			out.x = x.Data
			return out
		}
	case *data.Stored:
		if raw && x.Kind() != data.Float64 {
			out.stored = x
			if s.Unit {
				out.unit = inverseNorms(x)
				out.err = 0x1p-22 // the factor and the product round once each
			}
			return out
		}
	}

	// Rounding to float32 changes a vector by at most u times its norm, and by less than 1e-38 per
	// coordinate where it underflows.
	const u = 0x1.1p-24
	mean := f.mean
	factor := f.factor
	if raw {
		mean = make([]float64, d)
		factor = 1
	}

	out.x = make([]float32, n*d)
	const grain = 64
	largest := make([]float64, par.Chunks(n, grain))
	par.For(n, grain, func(lo, hi int) {
		row := make([]float64, d)
		for i := lo; i < hi; i++ {
			s.row(row, x, i)
			var sum float64
			for j, v := range row {
				v = (v - mean[j]) * factor
				out.x[i*d+j] = float32(v)
				sum += v * v
			}
			largest[lo/grain] = max(largest[lo/grain], sum)
		}
	})

	for _, v := range largest {
		out.err = max(out.err, u*math.Sqrt(v)+1e-38*float64(d))
	}
	return out
}

// inverseNorms returns 1/‖x‖ for every point, summed in float64.
func inverseNorms(x *data.Stored) []float32 {
	n, d := x.Dims()
	out := make([]float32, n)
	par.For(n, 256, func(lo, hi int) {
		row := make([]float32, d)
		for i := lo; i < hi; i++ {
			x.Read32(row, i, i+1)
			var sum float64
			for _, v := range row {
				sum += float64(v) * float64(v)
			}
			out[i] = float32(1 / math.Sqrt(sum))
		}
	})
	return out
}

// read returns point i. row is scratch memory that the result may use.
func (s *floats) read(row []float32, i int) []float32 {
	if s.stored == nil {
		return s.x[i*s.d:][:s.d]
	}
	s.stored.Read32(row, i, i+1)
	if s.unit != nil {
		for j := range row {
			row[j] *= s.unit[i]
		}
	}
	return row
}

// floatMeter rules pairs out by sums of squares in float32, and measures the others by exact. Such
// a sum of d terms is off by less than (d+4)u times itself, in any order of summation (Higham 2002,
// section 3.1), unless it overflows.
type floatMeter struct {
	queries, points *floats
	factor          float64 // what vectors are multiplied by
	exact           Exact
	sums            []float32 // squared distances of the pairs in hand
	query, point    []float32 // scratch memory of floats.read
	at              []int32   // the list {0}: where a point read alone stands
}

// Measure implements [Meter].
func (m *floatMeter) Measure(dst []float64, i int, idx []int32, limits []float64) {
	m.add(i, idx)
	e, growth, tiny := m.rounding()

	for p, j := range idx {
		t := math.Sqrt(limits[p])*m.factor + e
		if sum := float64(m.sums[p]); sum > t*t*growth+tiny && sum <= math.MaxFloat32 {
			dst[p] = math.Inf(1)
			continue
		}
		dst[p] = m.exact(i, int(j))
	}
}

// Prefetch implements [Meter]. Points in files have no address to prefetch.
func (m *floatMeter) Prefetch(idx []int32) {
	if m.points.stored == nil {
		simd.PrefetchRows(m.points.x, m.points.d, idx, m.points.d)
	}
}

// UpperBound implements [Meter].
func (m *floatMeter) UpperBound(dst []float64, i int, idx []int32) {
	m.add(i, idx)
	e, growth, tiny := m.rounding()
	for p := range idx {
		sum := float64(m.sums[p])
		if !(sum <= math.MaxFloat32) {
			sum = math.Inf(1)
		}
		t := (math.Sqrt(sum*growth+tiny) + e) / m.factor
		dst[p] = t * t * growth
	}
}

// add sets m.sums to the squared distances of query i from the points idx.
func (m *floatMeter) add(i int, idx []int32) {
	q := m.queries.read(m.query, i)
	m.sums = grow(m.sums, len(idx))
	if m.points.stored == nil {
		simd.SquaredDistances32(m.sums, q, m.points.x, m.points.d, idx)
		return
	}

	for p, j := range idx {
		point := m.points.read(m.point, int(j))
		simd.SquaredDistances32(m.sums[p:p+1], q, point, m.points.d, m.at)
	}
}

// rounding returns the error e of the two vectors together, the factor by which a sum of squares
// may be too small or too large, and what it may lose where squares underflow.
func (m *floatMeter) rounding() (e, growth, tiny float64) {
	const u = 0x1p-24
	d := float64(m.points.d)
	return m.queries.err + m.points.err, 1 + (2*d+16)*u, 0x1p-140 * d
}
