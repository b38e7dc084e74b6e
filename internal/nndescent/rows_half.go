package nndescent

import "github.com/bigfit/bigfit/internal/simd"

// Halves are rows of float16 that stay where they are, a file mapped into memory for
// example: nothing is copied. With scales, row i stands for scale[i] times itself.
type Halves struct {
	numbering
	d     int
	row   func(point int32) []uint16
	scale []float32 // of the points of the set; nil for ones
}

// NewHalves returns rows of d float16, given by their bits: row returns those of a point
// of the set, which must not change. scale may be nil; points of scale 0 are [Apart] from
// all.
func NewHalves(d int, row func(point int32) []uint16, scale []float32) *Halves {
	return &Halves{d: d, row: row, scale: scale}
}

// Meter returns a *HalfMeter.
func (h *Halves) Meter() Meter {
	return &HalfMeter{Point: make([]float32, h.d), rows: h}
}

// HalfMeter is the meter of [Halves].
type HalfMeter struct {
	Point []float32 // times its scale
	Apart bool      // the scale is 0

	rows  *Halves
	found [][]uint16
	scale []float32
}

// At makes row i the point.
func (m *HalfMeter) At(i int32) {
	point := m.rows.of(i)
	simd.Widen(m.Point, m.rows.row(point))
	if m.Apart = false; m.rows.scale != nil {
		s := m.rows.scale[point]
		for j := range m.Point {
			m.Point[j] *= s
		}
		m.Apart = s == 0
	}
}

// Measure sets dst to squared Euclidean distances.
func (m *HalfMeter) Measure(dst []float32, ids []int32) {
	h := m.rows
	m.found = m.found[:0]
	for len(m.scale) < len(ids) {
		m.scale = append(m.scale, 1)
	}
	zeros := m.Apart
	for p, i := range ids {
		point := h.of(i)
		m.found = append(m.found, h.row(point))
		if h.scale != nil {
			m.scale[p] = h.scale[point]
			zeros = zeros || m.scale[p] == 0
		}
	}
	simd.SquaredDistances16(dst, m.Point, m.found, m.scale[:len(ids)])
	if zeros {
		for p := range ids {
			if m.Apart || m.scale[p] == 0 {
				dst[p] = Apart
			}
		}
	}
}
