package labelcells

import (
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// FromArray returns the labels of an array; what names it in errors.
func FromArray(what string, a *npy.Array) (*Cells, error) {
	// A vector, or a matrix with a single row or column.
	long := 0
	for _, s := range a.Shape {
		if s != 1 {
			long++
		}
	}

	if len(a.Shape) == 0 || long > 1 {
		return nil, fmt.Errorf("%s: it is %s, want one label a point; of an indicator matrix save "+
			".argmax(axis=1)", what, a)
	}
	c := &Cells{What: what, Unit: "row"}
	switch d := a.Data.(type) {
	case []string:
		c.Text = &Column{}
		for i, text := range d {
			c.Text.Add(fields.Trim([]byte(text)), i)
		}
		return c, nil
	case []float32, []float64:
		v, _ := a.Float64s()
		c.Values = make([]int64, len(v))
		c.Floats = true
		for i, x := range v {
			if math.IsNaN(x) {
				if c.Labeled == nil {
					c.Labeled = slices.Repeat([]bool{true}, len(v))
				}
				c.Labeled[i] = false
				continue
			}
			if !fields.IsInteger(x) {
				return nil, fmt.Errorf("%s: row %d is %v; labels must be integers, or NaN for none",
					what, i, x)
			}
			c.Values[i] = int64(x)
		}

		return c, nil
	case []uint64:
		for i, v := range d {
			if v > math.MaxInt64 {
				return nil, fmt.Errorf("%s: row %d is %d; labels must fit int64", what, i, v)
			}
		}
	}

	var err error
	if c.Values, err = a.Int64s(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return c, nil
}
