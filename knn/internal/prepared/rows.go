// Package prepared makes points ready to be compared: near the origin in float32, of norm one, or
// packed into bits. It knows the types of points, and distances only by their [Form].
package prepared

import (
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn/internal/nndescent"
	"github.com/bigfit/bigfit/sparse"
)

// Form is how points are compared.
type Form int

const (
	Lengths Form = iota // by the lengths of their differences
	Angles              // by directions: zero points are at a right angle to all
	Hamming             // as sets, by the share of coordinates in which they differ
	Jaccard             // as sets, by the share of their union that is not in both
)

func (f Form) ofSets() bool { return f == Hamming || f == Jaccard }

// Rows are points in the form in which one search by NN-descent reads them.
type Rows interface {
	All() nndescent.Rows
	// Loader returns a loader of points of other sets, for one goroutine.
	Loader() Loader
}

// A Loader makes point i of x the point of its meter.
type Loader struct {
	Meter nndescent.Meter
	Load  func(x data.Points, i int)
}

// NewRows returns a function that makes rows of the points of x. Coordinates of sets are zeros and
// ones; sparse sets have no values. It is an error if a coordinate is not finite.
func NewRows(x data.Points, form Form) (func() Rows, error) {
	switch z := x.(type) {
	case *sparse.CSR:
		s, err := newSparseRows(z, form)
		return func() Rows { return s.fresh() }, err
	case *data.Stored:
		if z.Kind() == data.Float16 && !form.ofSets() {
			scale, err := halfScales(z, form)
			return func() Rows { return newHalfRows(z, form, scale) }, err
		}
	}

	if form.ofSets() {
		b := PackBits(x)
		return func() Rows { return &setRows{b, nndescent.NewBits(b.Words, b.Data, form == Jaccard)} }, nil
	}

	c, err := NewScaling(x, form)
	if err != nil {
		return nil, err
	}
	f := &floatRows{x: x, Scaling: *c}
	f.n, f.d = x.Dims()
	return f.fresh, nil
}

// Scaling turns dense points into rows of float32 that can be compared: (x − Mean)·Scale or,
// without a mean, x scaled to norm one.
type Scaling struct {
	Mean  []float64 // nil for angles
	Scale float64
}

// NewScaling returns the scaling for the points of x, compared as Lengths or Angles. The scale is a
// power of two with which squares in float32 neither overflow nor vanish. It is an error if a
// coordinate is not finite.
func NewScaling(x data.Points, form Form) (*Scaling, error) {
	s := &Scaling{Scale: 1}
	if form == Lengths {
		s.Mean = data.Mean(x)
	}
	largest, err := s.spread(x)
	if err != nil {
		return nil, err
	}

	// A power of two does not round.
	if s.Mean != nil && largest > 0 {
		_, exponent := math.Frexp(largest)
		s.Scale = math.Ldexp(1, -exponent)
	}
	return s, nil
}

// floatRows are dense points as float32, under a scaling.
type floatRows struct {
	Scaling
	x    data.Points
	n, d int
	rows *nndescent.Floats
}

func (f *floatRows) fresh() Rows {
	out := *f
	out.rows = nndescent.NewFloats(f.n, f.d, f.prepare)
	return &out
}

func (f *floatRows) All() nndescent.Rows { return f.rows }

func (f *floatRows) Loader() Loader {
	m := f.rows.Meter().(*nndescent.FloatMeter)
	m.Point = make([]float32, f.d)
	row := make([]float64, f.d)
	return Loader{m, func(x data.Points, i int) { f.Row(m.Point, x, i, row) }}
}

// spread returns the largest difference of a coordinate from its mean, or from zero without means.
// It is an error if a coordinate is not finite.
func (s *Scaling) spread(x data.Points) (float64, error) {
	// Bytes differ by 255 at most, and need no pass.
	if _, ok := x.(*data.Dense[uint8]); ok {
		return 255, nil
	}
	const grain = 4096
	n, d := x.Dims()
	largest := make([]float64, par.Chunks(n, grain))
	data.EachAtOnce(x, grain, func(lo, hi int) {
		row := make([]float64, d)
		var most float64
		for i := lo; i < hi; i++ {
			data.RowTo(row, x, i)
			for j, v := range row {
				if s.Mean != nil {
					v -= s.Mean[j]
				}
				if v = math.Abs(v); v > most || math.IsNaN(v) {
					most = v
				}
			}
		}
		largest[lo/grain] = most
	})

	// NaN stays the largest of its chunk, as no comparison with it is true.
	for c, v := range largest {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("a coordinate of one of the points %d to %d is not finite",
				c*grain, min((c+1)*grain, n)-1)
		}
	}
	return slices.Max(largest), nil
}

// ahead is how many points before its turn a point of an order is asked for.
const ahead = 8

// prepare writes the rows of the points of x to flat, in the given order or, if that is nil, in
// the order of x.
func (f *floatRows) prepare(flat []float32, order []int32) {
	par.For(f.n, 1024, func(lo, hi int) {
		row := make([]float64, f.d)
		for i := lo; i < hi; i++ {
			at := i
			if order != nil {
				at = int(order[i])
				data.Prefetch(f.x, order[min(i+ahead, f.n-1):min(i+ahead+1, f.n)])
			}
			f.Row(flat[i*f.d:][:f.d], f.x, at, row)
		}
	})
}

// nowhere is the first coordinate of the row of a zero point among directions. A zero point is at a
// right angle to all points; at this distance it enters no list of a point with nearer neighbours.
const nowhere = 1000

// Row sets dst to the row of point i of x. row is scratch memory for its coordinates.
func (s *Scaling) Row(dst []float32, x data.Points, i int, row []float64) {
	data.RowTo(row, x, i)
	if s.Mean != nil {
		for j, v := range row {
			dst[j] = float32((v - s.Mean[j]) * s.Scale)
		}
		return
	}

	ToUnit(row)
	// ToUnit leaves a zero point as it is.
	zero := true
	for j, v := range row {
		dst[j] = float32(v)
		zero = zero && v == 0
	}
	if zero {
		dst[0] = nowhere
	}
}

// halfRows are points in float16, read where they are. For angles each has a scale that makes its
// norm one.
type halfRows struct {
	d    int
	unit bool
	rows *nndescent.Halves
}

func newHalfRows(x *data.Stored, form Form, scale []float32) *halfRows {
	row := func(i int32) []uint16 { return x.Halves(int(i)) }
	return &halfRows{x.Cols, form == Angles, nndescent.NewHalves(x.Cols, row, scale)}
}

// halfScales returns, for angles, the factors that scale points to norm one, and 0 for zero points.
// Otherwise it returns nil. A coordinate that is not finite is an error.
func halfScales(x *data.Stored, form Form) ([]float32, error) {
	const grain = 1024
	scale := make([]float32, x.Rows)
	faults := make([]error, par.Chunks(x.Rows, grain))
	par.For(x.Rows, grain, func(lo, hi int) {
		row := make([]float32, x.Cols)
		for i := lo; i < hi; i++ {
			// Sums are in float64, where squares of float16 do not overflow.
			x.Read32(row, i, i+1)
			var sum float64
			for _, v := range row {
				sum += float64(v) * float64(v)
			}
			if sum-sum != 0 { // Inf − Inf and NaN − NaN are NaN
				faults[lo/grain] = fmt.Errorf("a coordinate of point %d is not finite", i)
				return
			}
			if sum > 0 {
				scale[i] = float32(1 / math.Sqrt(sum))
			}
		}
	})

	for _, err := range faults {
		if err != nil {
			return nil, err
		}
	}

	if form != Angles {
		return nil, nil
	}
	return scale, nil
}

func (h *halfRows) All() nndescent.Rows { return h.rows }

func (h *halfRows) Loader() Loader {
	m := h.rows.Meter().(*nndescent.HalfMeter)
	row := make([]float64, h.d)
	return Loader{m, func(x data.Points, i int) {
		data.RowTo(row, x, i)
		if h.unit {
			ToUnit(row)
		}
		// A zero query is apart from all points.
		m.Apart = h.unit
		for j, v := range row {
			m.Point[j] = float32(v)
			m.Apart = m.Apart && v == 0
		}
	}}
}

// setRows are sets, a bit for each coordinate.
type setRows struct {
	*Bits
	rows *nndescent.Bits
}

func (s *setRows) All() nndescent.Rows { return s.rows }

func (s *setRows) Loader() Loader {
	m := s.rows.Meter().(*nndescent.BitMeter)
	m.Point = make([]uint64, s.Words)
	row := make([]float64, s.D)
	return Loader{m, func(x data.Points, i int) { s.Pack(m.Point, x, i, row) }}
}

// sparseRows are sparse points as float32, multiplied by a power of two or, for angles, scaled to
// norm one.
type sparseRows struct {
	form  Form
	x     *sparse.CSR
	used  []int32 // the columns of the points that x has, ascending; nil if x has all columns
	val   []float32
	scale float64
	rows  *nndescent.Sparse
}

// newSparseRows returns rows of the points of x. Of very wide points it keeps the columns in use.
func newSparseRows(x *sparse.CSR, form Form) (*sparseRows, error) {
	s := &sparseRows{form: form, x: x, scale: 1}
	if Wide(x) {
		s.x, s.used = x.Narrow()
	}

	var largest float64
	for p, v := range x.Val {
		if v-v != 0 {
			return nil, fmt.Errorf("a coordinate of point %d is not finite", rowOf(x, p))
		}
		largest = max(largest, math.Abs(v))
	}
	if largest > 0 {
		_, exponent := math.Frexp(largest)
		s.scale = math.Ldexp(1, -exponent)
	}

	if x.Val != nil || form == Angles {
		s.val = make([]float32, x.NNZ())
		par.For(x.Rows, 1024, func(lo, hi int) {
			var row []float64
			for i := lo; i < hi; i++ {
				row = s.values(s.val[x.Ptr[i]:x.Ptr[i+1]], x, i, row)
			}
		})
	}
	return s, nil
}

// values sets dst to the entries of point i of x as they are measured. row is scratch memory, which
// it returns.
func (s *sparseRows) values(dst []float32, x *sparse.CSR, i int, row []float64) []float64 {
	col, val := x.Row(i)
	// Without values, all entries are ones.
	if row = append(row[:0], val...); val == nil {
		for range col {
			row = append(row, 1)
		}
	}

	scale := s.scale
	if s.form == Angles {
		ToUnit(row)
		scale = 1
	}
	for p, v := range row {
		dst[p] = float32(v * scale)
	}
	return row
}

func (s *sparseRows) fresh() Rows {
	out := *s
	settings := nndescent.SparseSettings{Overlap: s.form == Jaccard, Apart: s.form == Angles}
	out.rows = nndescent.NewSparse(s.x.Cols, s.x.Ptr, s.x.Col, s.val, settings)
	return &out
}

func (s *sparseRows) All() nndescent.Rows { return s.rows }

func (s *sparseRows) Loader() Loader {
	m := s.rows.Meter().(*nndescent.SparseMeter)
	var row []float64
	return Loader{m, func(x data.Points, i int) {
		q := x.(*sparse.CSR)
		// The query's own columns are translated to the columns in use.
		col, _ := q.Row(i)
		val := make([]float32, len(col))
		row = s.values(val, q, i, row)

		// Columns that no point of the set has count in the norm alone.
		var norm float64
		known := make([]int32, 0, len(col))
		for p, c := range col {
			norm += float64(val[p]) * float64(val[p])
			if s.used != nil {
				at, ok := slices.BinarySearch(s.used, c)
				if !ok {
					continue
				}
				c = int32(at)
			}
			val[len(known)] = val[p]
			known = append(known, c)
		}
		m.Set(known, val, norm)
	}}
}
