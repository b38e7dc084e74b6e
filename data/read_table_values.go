package data

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/fields"
)

// readTableValues reads a column of numbers from a table, n×1, and joins it with the points
// as [ReadLabels] does. What marks rows without label is NaN here.
func readTableValues(src *source, opt ReadOptions) (*mat.Dense, error) {
	f := opt.File
	if f == nil {
		f = &LabelFile{}
	}
	c, err := readTableLabels(src, &LabelOptions{Key: opt.Key, Limit: opt.Limit, Points: opt.Points, IDs: opt.IDs}, f)
	if err != nil {
		return nil, err
	}
	return c.numbers()
}

// Values returns the labels that were read as numbers, n×1, with NaN for none; nil if no
// column holds them.
func (t *TableColumns) Values() (*mat.Dense, error) {
	if t.Label == "" {
		return nil, nil
	}
	return (&cells{what: t.from + ": column " + t.Label, text: &t.labels, unit: "row"}).numbers()
}

// numbers returns text as numbers, n×1.
func (c *cells) numbers() (*mat.Dense, error) {
	t := c.text
	distinct := make([]float64, len(t.texts))
	for k, text := range t.texts {
		v, ok := fields.Number([]byte(text))
		switch {
		case isAbsent(text):
			v = math.NaN()
		case !ok:
			return nil, fmt.Errorf("%s: row %d is %s, want a number", c.what, t.first[k], fields.Quote([]byte(text)))
		case math.IsInf(v, 0):
			return nil, fmt.Errorf("%s: row %d is %s; values must be finite, or nan for none", c.what, t.first[k], fields.Quote([]byte(text)))
		}
		distinct[k] = v
	}
	if len(t.codes) == 0 {
		return nil, fmt.Errorf("%s: there are no values", c.what)
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

// readTextValues reads a column of a table, or one number a line.
func readTextValues(src *source, opt ReadOptions) (*mat.Dense, error) {
	if opt.Key != "" || isTable(src) {
		return readTableValues(src, opt)
	}
	return readValueLines(src, opt.Limit)
}
