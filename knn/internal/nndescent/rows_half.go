package nndescent

import (
	"math/rand/v2"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// Halves are rows of float16 that are measured where they are, for example in a file mapped into
// memory: a kernel widens them in registers, and nothing is copied. With scales, row i stands for
// scale[i] times itself.
type Halves struct {
	numbering
	d     int
	row   func(point int32) []uint16
	scale []float32 // a factor for every point of the set; nil for ones
}

// NewHalves returns rows of d float16, given by their bits: row returns the bits of a point of the
// set, which must not change. scale may be nil. Points of scale 0 are [Apart] from all others.
func NewHalves(d int, row func(point int32) []uint16, scale []float32) *Halves {
	return &Halves{d: d, row: row, scale: scale}
}

// SketchColumns is the number of coordinates of a sketch. Each is the sum, with random signs, of
// the coordinates of a row that are assigned to it at random (count sketch; Charikar, Chen &
// Farach-Colton, ICALP 2002). On average, squared distances of sketches equal squared distances of
// rows.
const SketchColumns = 32

// Sketched reports whether float16 rows of d coordinates have sketches. A sketch must save three
// quarters of the reading.
func Sketched(d int) bool { return d >= 4*SketchColumns }

// Sketch returns float32 rows of [SketchColumns], or nil: see [Sketched].
func (h *Halves) Sketch(n int, seed uint64) Rows {
	if !Sketched(h.d) {
		return nil
	}
	r := rand.New(rand.NewPCG(seed, SketchColumns))
	column := make([]uint8, h.d)
	sign := make([]float32, h.d)
	for j := range sign {
		column[j] = uint8(r.IntN(SketchColumns))
		sign[j] = float32(1 - 2*r.IntN(2))
	}

	return NewFloats(n, SketchColumns, func(flat []float32, _ []int32) {
		par.For(n, 1024, func(lo, hi int) {
			m := &HalfMeter{Point: make([]float32, h.d), rows: h}
			for i := lo; i < hi; i++ {
				m.load(m.Point, int32(i), int32(min(i+ahead, n-1)))
				row := (*[SketchColumns]float32)(flat[i*SketchColumns:])
				for j, v := range m.Point {
					row[column[j]%SketchColumns] += sign[j] * v
				}
			}
		})
	})
}

// Meter returns a *HalfMeter.
func (h *Halves) Meter() Meter {
	return &HalfMeter{Point: make([]float32, h.d), rows: h}
}

// HalfMeter is the meter of [Halves]. It measures in float32. Rows that are compared with each
// other are widened once.
type HalfMeter struct {
	Point []float32 // the point, multiplied by its scale
	Apart bool      // the scale is 0

	rows  *Halves
	flat  []float32 // gathered rows times their scales, without gaps
	apart []bool    // whether the scale of a gathered row is 0
	ids   []int32   // 0, 1, …, for the largest number of rows ever gathered
}

// At makes row i the point.
func (m *HalfMeter) At(i int32) { m.Apart = m.load(m.Point, i, i) }

// load sets dst to row i times its scale, fetches the row next into the cache, and reports whether
// the scale of i is 0.
func (m *HalfMeter) load(dst []float32, i, next int32) bool {
	h := m.rows
	point := h.of(i)
	s := float32(1)
	if h.scale != nil {
		s = h.scale[point]
	}
	simd.WidenScaled(dst, h.row(point), s, h.row(h.of(next)))
	return s == 0
}

// ahead is how many rows before it is read a row is fetched.
const ahead = 4

// Gather holds rows for [HalfMeter.Among], until the next call of Gather or Measure.
func (m *HalfMeter) Gather(ids []int32) {
	d := m.rows.d
	m.flat = slices.Grow(m.flat[:0], len(ids)*d)[:len(ids)*d]
	m.apart = slices.Grow(m.apart[:0], len(ids))[:len(ids)]
	// The kernel for float32 takes row numbers; gathered rows are numbered in their order.
	for len(m.ids) < len(ids) {
		m.ids = append(m.ids, int32(len(m.ids)))
	}

	for p, i := range ids {
		m.apart[p] = m.load(m.flat[p*d:(p+1)*d], i, ids[min(p+ahead, len(ids)-1)])
	}
}

// Among sets dst to the squared distances of gathered row a from the rows behind it.
func (m *HalfMeter) Among(dst []float32, a int) {
	d := m.rows.d
	m.measure(dst, m.flat[a*d:(a+1)*d], m.apart[a], a+1)
}

// measure sets dst to the squared distances of q from the gathered rows from lo on.
func (m *HalfMeter) measure(dst, q []float32, apart bool, lo int) {
	simd.SquaredDistances32(dst, q, m.flat, m.rows.d, m.ids[lo:lo+len(dst)])
	if m.rows.scale == nil && !apart {
		return
	}
	for p := range dst {
		if apart || m.apart[lo+p] {
			dst[p] = Apart
		}
	}
}

// Measure sets dst to squared Euclidean distances.
func (m *HalfMeter) Measure(dst []float32, ids []int32) {
	const block = 16 // its rows stay in the nearest caches
	for lo := 0; lo < len(ids); lo += block {
		hi := min(lo+block, len(ids))
		m.Gather(ids[lo:hi])
		m.measure(dst[lo:hi], m.Point, m.Apart, 0)
	}
}
