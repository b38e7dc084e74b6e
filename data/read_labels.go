package data

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/bigfit/bigfit/internal/npy"
)

// LabelOptions are the options of [ReadLabels].
type LabelOptions struct {
	// Key names the array in a .npz file. Default: the key given with the path
	// ("file.npz:key"), else "y", else the only array.
	Key string
	// Limit bounds the memory in bytes that reading may take; beyond it the
	// error is an *npy.LimitError. Default: no bound.
	Limit int64
	// Unlabeled is the integer that marks a point without label. Default: −1,
	// but none in svmlight files, where −1 is a class.
	Unlabeled *int64
	// NoUnlabeled makes every integer a class. NaN, "?" and empty lines still
	// mark unlabeled points.
	NoUnlabeled bool
}

// ReadLabels reads one label a point; [ReadMultiLabels] reads any number. The format
// follows from the content of the file:
//
//   - .npy, .npz and idx: integers, bool (0 and 1), or floats that are integers
//     or NaN for no label; one dimension, or two of which one is 1.
//   - svmlight: the labels in front of the lines.
//   - text: one integer a line, with or without a line that names the column;
//     "?", "nan" or an empty line for no label, except that empty lines at the
//     end do not count. Lines that begin with # are skipped.
//
// idx and text files may be compressed with gzip. The path may end in ":key"
// to name the array of a .npz file. An error names the file and the place,
// rows counted from 0 and lines of text from 1.
func ReadLabels(path string, opt LabelOptions) (*Labels, error) {
	src, key, err := openKey(path, opt.Key)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	what := src.path
	var values []int64
	var labeled []bool
	if src.format.labels != nil {
		values, labeled, err = src.format.labels(src, opt.Limit)
	} else {
		var a *npy.Array
		if a, what, err = src.format.array(src, key, "y", opt.Limit); err == nil {
			values, labeled, err = labelValues(what, a)
		}
	}
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("%s: there are no labels", what)
	}
	if labeled == nil {
		labeled = make([]bool, len(values))
		for i := range labeled {
			labeled[i] = true
		}
	}
	mark := int64(-1)
	if opt.Unlabeled != nil {
		mark = *opt.Unlabeled
	}
	marks := !opt.NoUnlabeled && (opt.Unlabeled != nil || !src.format.classMinusOne)
	for i, v := range values {
		labeled[i] = labeled[i] && !(marks && v == mark)
	}
	return NewLabels(values, labeled), nil
}

// labelValues returns the labels of an array, and of floats also which points have
// one.
func labelValues(what string, a *npy.Array) (values []int64, labeled []bool, err error) {
	long := 0
	for _, s := range a.Shape {
		if s != 1 {
			long++
		}
	}
	if len(a.Shape) == 0 || long > 1 {
		return nil, nil, fmt.Errorf("%s: it is %s, want one label a point; of an indicator matrix save .argmax(axis=1)", what, a)
	}
	switch d := a.Data.(type) {
	case []string:
		return nil, nil, fmt.Errorf("%s: it holds strings; labels must be integers: number them with numpy.unique(y, return_inverse=True)", what)
	case []float32, []float64:
		f, _ := a.Float64s()
		values, labeled = make([]int64, len(f)), make([]bool, len(f))
		for i, v := range f {
			if math.IsNaN(v) {
				continue
			}
			if !integer(v) {
				return nil, nil, fmt.Errorf("%s: row %d is %v; labels must be integers, or NaN for none", what, i, v)
			}
			values[i], labeled[i] = int64(v), true
		}
		return values, labeled, nil
	case []uint64:
		for i, v := range d {
			if v > math.MaxInt64 {
				return nil, nil, fmt.Errorf("%s: row %d is %d; labels must fit int64", what, i, v)
			}
		}
	}
	values, err = a.Int64s()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", what, err)
	}
	return values, nil, nil
}

// readLabelLines reads one label a line.
func readLabelLines(src *source, limit int64) (values []int64, labeled []bool, err error) {
	l := &lines{src: src}
	full := 0 // length up to the last line that is not empty
	for first := true; ; {
		line, err := l.next()
		if err == io.EOF {
			return values[:full], labeled[:full], nil
		}
		if err != nil {
			return nil, nil, err
		}
		if len(line) > 0 && line[0] == '#' {
			continue
		}
		field := line
		if len(line) >= 2 && line[0] == '"' && line[len(line)-1] == '"' {
			field = line[1 : len(line)-1]
		}
		v, given, ok := label(field)
		switch {
		case ok:
		case bytes.ContainsAny(field, ",;\t "):
			return nil, nil, l.fault("it is %s, want one label a line", short(line))
		case first && isName(field):
			first = false
			continue
		default:
			return nil, nil, l.fault("the label of row %d is %s; labels must be integers: number the classes", len(values), short(field))
		}
		first = first && len(line) == 0
		values, labeled = append(values, v), append(labeled, given)
		if len(line) > 0 {
			full = len(values)
		}
		if need := 9 * int64(len(values)); limit > 0 && need > limit {
			return nil, nil, &npy.LimitError{What: src.path, Need: need, Limit: limit}
		}
	}
}

// label reads one label of text; given is false if it marks no label, ok is false
// if it is neither that nor an integer.
func label(b []byte) (v int64, given, ok bool) {
	if len(b) == 0 || string(b) == "?" {
		return 0, false, true
	}
	if f, num := number(b); num && math.IsNaN(f) {
		return 0, false, true
	}
	v, ok = integerText(b)
	return v, ok, ok
}

// isName reports whether text may name a column.
func isName(b []byte) bool {
	return len(b) > 0 && (b[0] == '_' || 'A' <= b[0] && b[0] <= 'Z' || 'a' <= b[0] && b[0] <= 'z')
}
