package bigfit

import (
	"errors"
	"fmt"
	"reflect"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/sparse"
)

// Points are n points of d coordinates each, made by [Rows], [FromMat] or [FromData]. Faults of the
// points are reported by the function that takes them, such as [Fit]. [Points.WithIDs] names them. The zero
// value stands for no points.
type Points struct {
	set data.Points
	ids *data.IDs // nil if points have numbers only
	err error
}

// Rows takes one point from each row. All rows must have the same length, at least 1, and all
// numbers must be finite. The rows are copied; their type is kept, so that float32 takes half
// of the memory of float64.
func Rows[T data.Element](rows [][]T) Points {
	if len(rows) == 0 {
		return Points{err: errNoPoints}
	}
	columns := len(rows[0])
	if columns == 0 {
		return Points{err: errors.New("bigfit: row 0 of the points has no numbers")}
	}

	x := data.NewDense[T](len(rows), columns)
	for i, row := range rows {
		if len(row) != columns {
			err := fmt.Errorf("bigfit: row %d of the points has %d numbers, and row 0 has %d; all rows must be "+
				"equally long", i, len(row), columns)
			return Points{err: err}
		}
		copy(x.Row(i), row)
	}
	return checked(x)
}

// FromMat takes one point from each row of a matrix, which is copied. The matrix may be a
// part of a larger one, whose rows lie further apart.
func FromMat(m *mat.Dense) Points {
	if m == nil || m.IsEmpty() {
		return Points{err: errNoPoints}
	}
	n, columns := m.Dims()
	x := data.NewDense[float64](n, columns)
	for i := range n {
		copy(x.Row(i), m.RawRowView(i))
	}
	return checked(x)
}

// FromData takes points of package data without a copy: points that [data.ReadPoints] or
// [data.ReadFiles] read from files, which may be larger than the memory, or a *sparse.CSR. The points are read once, to see that all numbers are finite, and must not change while
// a model or a call uses them.
func FromData(x data.Points) Points {
	// A nil pointer in an interface is not nil itself.
	if v := reflect.ValueOf(x); x == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return Points{err: errNoPoints}
	}
	if err := whole(x); err != nil {
		return Points{err: err}
	}
	return checked(x)
}

// whole returns an error unless x holds as many numbers as its dimensions say.
func whole(x data.Points) error {
	n, d := x.Dims()
	have := n * d
	switch x := x.(type) {
	case *data.Dense[uint8]:
		have = len(x.Data)
	case *data.Dense[float32]:
		have = len(x.Data)
	case *data.Dense[float64]:
		have = len(x.Data)
	case *sparse.CSR:
		if err := x.Validate(); err != nil {
			return fmt.Errorf("bigfit: the points: %w", err)
		}
	}
	switch {
	case n == 0 && have == 0:
		return errNoPoints
	case n < 1 || d < 1 || have != n*d:
		return fmt.Errorf("bigfit: the points hold %d numbers for %d rows of %d columns", have, n, d)
	}
	return nil
}

var errNoPoints = errors.New("bigfit: there are no points")

// checked returns points all of whose numbers are finite.
func checked(x data.Points) Points {
	if err := data.CheckFinite("bigfit: the points", x); err != nil {
		return Points{err: err}
	}
	return Points{set: x}
}

// none tells whether p is the zero value.
func (p Points) none() bool { return p.set == nil && p.err == nil }

// get returns the points, or what is wrong with them.
func (p Points) get() (data.Points, error) {
	if p.none() {
		return nil, errNoPoints
	}
	return p.set, p.err
}
