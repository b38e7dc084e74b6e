package data

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// ReadValues reads a block of n×m numbers, such as the values of a regression or
// the scores of classes. The format follows from the content of the file:
//
//   - .npy and .npz with one dimension, which is n×1, or two; and idx;
//   - text with one number a line, with or without a line that names the column; lines
//     that begin with # are skipped;
//   - a column of a table. Its name, and the name of the column of ids, are found or
//     given as in [ReadLabels]. With opt.Several it may be one column of several, whose names
//     are noted in opt.File.
//
// NaN is a value here, and "?" in text stands for it; infinities are errors.
//
// Text may be compressed with gzip. The path may end in ":key" to name the array
// of a .npz file; otherwise it is opt.Key, else "y", else the only one. An error
// names the file and the place, rows and columns counted from 0 and lines of
// text from 1.
func ReadValues(path string, opt ReadOptions) (*mat.Dense, error) {
	src, key, err := openKey(path, opt.Key, opt.Limit)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	opt.Key = key
	return src.values(opt)
}

// values is [ReadValues] for a source that nothing was read of.
func (s *source) values(opt ReadOptions) (*mat.Dense, error) {
	if s.format.values != nil {
		return s.format.values(s, opt)
	}
	request := arrayRequest{key: opt.Key, usual: "y", limit: opt.Limit, begin: sameRows(opt.Points)}
	a, what, err := s.format.array(s, request)
	if err != nil {
		return nil, err
	}
	if len(a.Shape) < 1 || len(a.Shape) > 2 || a.Len() == 0 {
		return nil, fmt.Errorf("%s: it is %s, want a vector or a matrix of at least one number", what, a)
	}

	values, err := a.Float64s()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}

	// NaN is a missing value; an infinity is a mistake.
	rows := a.Shape[0]
	cols := len(values) / rows
	for i, v := range values {
		if math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: row %d, column %d is %v; values must be finite, or NaN for none",
				what, i/cols, i%cols, v)
		}
	}
	return mat.NewDense(rows, cols, values), nil
}

// listMemory is the memory of a list that grows, in bytes of a byte of it: the new list, which is
// larger by a quarter, the one of before and one that is not collected yet.
const listMemory = 3

// readValueLines reads one number a line. how, if not nil, gets a note on comments.
func readValueLines(src *source, limit int64, how *LabelFile) (*mat.Dense, error) {
	l := src.Lines()
	var values []float64
	for first := true; ; first = false {
		line, err := l.NextValue(first)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		// A number, "?" for NaN, or the name of the column in the first line.
		v, ok := fields.Number(line)
		switch {
		case string(line) == "?":
			v = math.NaN()
		case ok && math.IsInf(v, 0):
			return nil, l.Fault("it is %s; values must be finite, or nan for none", fields.Quote(line))
		case ok:
		case bytes.ContainsAny(line, ",;\t "):
			return nil, l.Fault("it is %s, want one number a line", fields.Quote(line))
		case first && fields.IsName(bytes.Trim(line, `"`)):
			continue
		default:
			return nil, l.Fault("it is %s, want a number", fields.Quote(line))
		}

		// The limit is checked as lines arrive: the length of text says little of the count of its
		// numbers.
		values = append(values, v)
		if need := listMemory * 8 * int64(len(values)); limit > 0 && need > limit {
			return nil, &npy.LimitError{What: src.path, Need: need, Limit: limit}
		}
	}

	if len(values) == 0 {
		return nil, src.fault("there are no values")
	}
	if text := l.Skipped(); text != "" && how != nil {
		how.Notes = append(how.Notes, text)
	}
	return mat.NewDense(len(values), 1, values), nil
}
