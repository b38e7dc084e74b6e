package data

import (
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/fields"
	"github.com/bigfit/bigfit/internal/npy"
)

// LabelOptions are the options of [ReadLabels].
type LabelOptions struct {
	// Key names the array in a .npz file, or the columns of a table: see
	// [ReadLabels]. Default: the key given with the path ("file.npz:key"), else "y",
	// else the only array.
	Key string
	// Limit bounds the memory in bytes that reading may take; beyond it the
	// error is an *npy.LimitError. Default: no bound.
	Limit int64
	// Unlabeled are the values, integers or text, that mark a point without label.
	// Default: −1, but not in svmlight files, where −1 is a class, nor in floats of
	// which one is NaN; and the texts "none", "na" and "n/a" in any case, with a warning.
	Unlabeled []string
	// NoUnlabeled makes all these values classes. NaN, null, "?" and no text mark
	// points without label all the same.
	NoUnlabeled bool
	// Points is the number of points, and IDs are their names, nil if they have
	// none: what the rows of a table are joined with. Default: not known.
	Points int
	IDs    *IDs
}

// ReadLabels reads at most one label a point; [ReadMultiLabels] reads any number. The
// format follows from the content of the file:
//
//   - .npy, .npz and idx: integers, bool (0 and 1), strings, or floats that are
//     integers or NaN for no label; one dimension, or two of which one is 1.
//   - svmlight: the labels in front of the lines.
//   - text: one label a line, with or without a line that names the column; an empty
//     line is a point without label, but not at the end. Lines that begin with #
//     are skipped.
//   - tables (csv, JSON Lines and parquet): a column of labels, and one of ids that
//     tells the point of each row. Points that are not listed have no label. Ids are
//     those in opt.IDs, or numbers of points from 0. Without a column of ids row i is
//     of point i. The columns are named as "labels.csv:LABEL" or
//     "labels.csv:ID,LABEL", or found by usual names ("label", "class", "target", …;
//     "id", "key", "path", "name", …); of two columns without names the first is the id.
//
// Labels are integers if all of them are, and names otherwise; "7" is an integer.
// "nan", "null", "?" and no text are no labels, in any case. idx and text files may
// be compressed with gzip. Labels.Read says how the file was understood. An error
// names the file and the place, rows counted from 0 and lines of text from 1.
func ReadLabels(path string, opt LabelOptions) (*Labels, error) {
	src, key, err := openKey(path, opt.Key)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	opt.Key = key
	f := &LabelFile{Path: path}
	c, err := src.cells(&opt, f)
	if err != nil {
		return nil, err
	}
	if len(c.values) == 0 && (c.text == nil || len(c.text.codes) == 0) {
		return nil, fmt.Errorf("%s: there are no labels", c.what)
	}
	return c.labels(newMarker(&opt, src.format), f)
}

// cells reads the labels as they stand in the file.
func (s *source) cells(opt *LabelOptions, f *LabelFile) (*cells, error) {
	if s.format.labels != nil {
		return s.format.labels(s, opt, f)
	}
	a, what, err := s.format.array(s, opt.Key, "y", opt.Limit)
	if err != nil {
		return nil, err
	}
	return labelCells(what, a)
}

// labelCells returns the labels of an array.
func labelCells(what string, a *npy.Array) (*cells, error) {
	long := 0
	for _, s := range a.Shape {
		if s != 1 {
			long++
		}
	}
	if len(a.Shape) == 0 || long > 1 {
		return nil, fmt.Errorf("%s: it is %s, want one label a point; of an indicator matrix save .argmax(axis=1)", what, a)
	}
	c := &cells{what: what, unit: "row"}
	switch d := a.Data.(type) {
	case []string:
		c.text = &column{}
		for i, text := range d {
			c.text.add(fields.Trim([]byte(text)), i)
		}
		return c, nil
	case []float32, []float64:
		v, _ := a.Float64s()
		c.values, c.floats = make([]int64, len(v)), true
		for i, x := range v {
			if math.IsNaN(x) {
				if c.labeled == nil {
					c.labeled = slices.Repeat([]bool{true}, len(v))
				}
				c.labeled[i] = false
				continue
			}
			if !fields.IsInteger(x) {
				return nil, fmt.Errorf("%s: row %d is %v; labels must be integers, or NaN for none", what, i, x)
			}
			c.values[i] = int64(x)
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
	if c.values, err = a.Int64s(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return c, nil
}
