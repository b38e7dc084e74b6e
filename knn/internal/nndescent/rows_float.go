package nndescent

import (
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// Floats are rows of float32, copied in the order of a search, so that neighbours lie together
// in memory.
type Floats struct {
	flat []float32 // n×d
	d    int
	fill func(flat []float32, order []int32)
}

// NewFloats returns n rows of d coordinates. fill writes point order[i], or point i if
// order is nil, to row i of flat. Squared distances of the rows must neither overflow
// nor vanish.
func NewFloats(n, d int, fill func(flat []float32, order []int32)) *Floats {
	f := &Floats{dense.Zeros[float32](n * d), d, fill}
	fill(f.flat, nil)
	return f
}

// Arrange writes the rows in another order.
func (f *Floats) Arrange(order []int32) { f.fill(f.flat, order) }

// Meter returns a *FloatMeter.
func (f *Floats) Meter() Meter { return &FloatMeter{rows: f} }

// FloatMeter is the meter of [Floats].
type FloatMeter struct {
	Point []float32
	rows  *Floats
}

// At makes row i the point.
func (m *FloatMeter) At(i int32) { m.Point = m.rows.flat[int(i)*m.rows.d:][:m.rows.d] }

// Measure sets dst to squared Euclidean distances.
func (m *FloatMeter) Measure(dst []float32, ids []int32) {
	simd.SquaredDistances32(dst, m.Point, m.rows.flat, m.rows.d, ids)
}
