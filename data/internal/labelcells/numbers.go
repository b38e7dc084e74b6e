package labelcells

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/file/fields"
)

// Numbers returns text as numbers, n×1. Texts that mark a missing label are NaN.
func (c *Cells) Numbers() (*mat.Dense, error) {
	t := c.Text
	distinct := make([]float64, len(t.texts))
	for k, text := range t.texts {
		v, ok := fields.Number([]byte(text))
		switch {
		case isAbsent(text):
			v = math.NaN()
		case !ok:
			return nil, fmt.Errorf("%s: row %d is %s, want a number", c.What, t.first[k],
				fields.Quote([]byte(text)))
		case math.IsInf(v, 0):
			return nil, fmt.Errorf("%s: row %d is %s; values must be finite, or nan for none", c.What,
				t.first[k], fields.Quote([]byte(text)))
		}
		distinct[k] = v
	}

	if len(t.codes) == 0 {
		return nil, fmt.Errorf("%s: there are no values", c.What)
	}
	y := mat.NewDense(len(t.codes), 1, nil)
	for i, k := range t.codes {
		v := math.NaN()
		if k >= 0 {
			v = distinct[k]
		}
		y.Set(i, 0, v)
	}

	return y, nil
}
