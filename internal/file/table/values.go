package table

import (
	"fmt"
	"math"
	"strconv"
)

// Values are the values of a column in consecutive rows. One of the slices is set,
// according to the kind of the column; missing values are zero there.
type Values struct {
	// Null marks missing values; nil if there are none. An empty field of csv is
	// missing, as are null in JSON, a field that an object does not have, and null in parquet.
	Null []bool

	Ints   []int64
	Floats []float64
	Texts  []string
	Bools  []bool
	// Float32s holds the vectors of a FloatList of at most 32 bits, Float64s the vectors of a list
	// of 64 bits: rows of Width numbers without gaps.
	Float32s []float32
	Float64s []float64
	Width    int

	column Column
	n      int
}

// Len returns the number of rows.
func (v *Values) Len() int { return v.n }

// Missing reports whether the value of row i is missing.
func (v *Values) Missing(i int) bool { return v.Null != nil && v.Null[i] }

// NewValues returns no values yet, of a column.
func NewValues(c Column) *Values { return &Values{column: c, Width: c.Width} }

// reset takes all values out and keeps the memory for values of column c.
func (v *Values) reset(c Column) {
	*v = Values{
		column: c, Width: c.Width,
		Ints: v.Ints[:0], Floats: v.Floats[:0], Texts: v.Texts[:0], Bools: v.Bools[:0],
		Float32s: v.Float32s[:0], Float64s: v.Float64s[:0],
	}
}

// AppendMissing appends a missing value.
func (v *Values) AppendMissing() {
	if v.Null == nil {
		v.Null = make([]bool, v.n, max(2*v.n, 16))
	}
	v.Null = append(v.Null, true)
	v.n++
	// A missing value takes its place, so that the numbers of rows and of places stay equal.
	switch v.column.Kind {
	case Int:
		v.Ints = append(v.Ints, 0)
	case Float:
		v.Floats = append(v.Floats, 0)
	case Text:
		v.Texts = append(v.Texts, "")
	case Bool:
		v.Bools = append(v.Bools, false)
	case FloatList:
		if v.column.Bits == 32 {
			v.Float32s = append(v.Float32s, make([]float32, v.Width)...)
		} else {
			v.Float64s = append(v.Float64s, make([]float64, v.Width)...)
		}
	}
}

// AppendedVectors counts k vectors. The caller has appended their numbers to Float32s or Float64s,
// and set their length as Width.
func (v *Values) AppendedVectors(k int) { v.present(k) }

// present counts k values that were appended and are not missing.
func (v *Values) present(k int) {
	v.n += k
	if v.Null != nil {
		v.Null = append(v.Null, make([]bool, k)...)
	}
}

// AppendInt appends an integer as the kind of the column. A number beyond ±2⁵³ that float64
// does not hold is refused.
func (v *Values) AppendInt(x int64) error {
	switch v.column.Kind {
	case Int:
		v.Ints = append(v.Ints, x)
	case Float:
		f := float64(x)
		if f >= math.MaxInt64 || int64(f) != x {
			return fmt.Errorf("%d is an integer that no 64-bit floating-point number equals; read "+
				"the column as integers or text", x)
		}
		v.Floats = append(v.Floats, f)
	case Text:
		v.Texts = append(v.Texts, strconv.FormatInt(x, 10))
	}

	v.present(1)
	return nil
}

// AppendFloat appends a number as the kind of the column; its text is the shortest that is read as
// x again with the given bits.
func (v *Values) AppendFloat(x float64, bits int) {
	if v.column.Kind == Text {
		v.Texts = append(v.Texts, strconv.FormatFloat(x, 'g', -1, bits))
	} else {
		v.Floats = append(v.Floats, x)
	}
	v.present(1)
}

// AppendBool appends a truth value as the kind of the column, a boolean or text.
func (v *Values) AppendBool(x bool) {
	if v.column.Kind == Text {
		v.Texts = append(v.Texts, strconv.FormatBool(x))
	} else {
		v.Bools = append(v.Bools, x)
	}
	v.present(1)
}

// AppendText appends text.
func (v *Values) AppendText(x string) {
	v.Texts = append(v.Texts, x)
	v.present(1)
}

// bytes is the memory that the values take.
func (v *Values) bytes() int64 {
	b := int64(len(v.Null)+len(v.Bools)) + 8*int64(len(v.Ints)+len(v.Floats)+len(v.Float64s)) +
		4*int64(len(v.Float32s)) + 16*int64(len(v.Texts))
	for _, s := range v.Texts {
		b += int64(len(s))
	}
	return b
}

// extend appends the values of w, which has the same column.
func (v *Values) extend(w *Values) {
	// Marks of missing values begin with the first batch that has one.
	if w.Null != nil && v.Null == nil {
		v.Null = make([]bool, v.n)
	}
	if v.Null != nil {
		if w.Null != nil {
			v.Null = append(v.Null, w.Null...)
		} else {
			v.Null = append(v.Null, make([]bool, w.n)...)
		}
	}

	if v.Width == 0 && w.Width > 0 { // all before were missing
		if v.column.Bits == 32 {
			v.Float32s = make([]float32, v.n*w.Width)
		} else {
			v.Float64s = make([]float64, v.n*w.Width)
		}
	}

	v.Ints = append(v.Ints, w.Ints...)
	v.Floats = append(v.Floats, w.Floats...)
	v.Texts = append(v.Texts, w.Texts...)
	v.Bools = append(v.Bools, w.Bools...)
	v.Float32s = append(v.Float32s, w.Float32s...)
	v.Float64s = append(v.Float64s, w.Float64s...)
	v.Width = max(v.Width, w.Width)
	v.n += w.n
}
