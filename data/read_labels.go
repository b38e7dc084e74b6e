package data

import (
	"fmt"

	"github.com/bigfit/bigfit/data/internal/labelcells"
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
	// Default: −1, but not in svmlight files, where −1 is a class, nor among floats if
	// one of them is NaN; and the texts "none", "na" and "n/a" in any case, with a warning.
	Unlabeled []string
	// NoUnlabeled makes all these values classes. NaN, null, "?" and no text mark
	// points without label all the same.
	NoUnlabeled bool
	// Points is the number of points, and IDs are their names, nil if they have
	// none. Rows of a table are joined with them. Default: not known.
	Points int
	IDs    *IDs
	// Coordinates are the names of the columns of the points, nil if they have none. A table whose ids are in a
	// column of such a name is an error where the points have no IDs.
	Coordinates []string
}

// ReadLabels reads at most one label a point; [ReadMultiLabels] reads any number. The
// format follows from the content of the file:
//
//   - .npy, .npz and idx: integers, bool (0 and 1), strings, or floats that are
//     integers or NaN for no label; one dimension, or two with one extent of 1.
//   - svmlight: the labels in front of the lines.
//   - text: one label a line, with or without a line that names the column; an empty
//     line is a point without label, but not at the end. Lines that begin with #
//     are skipped.
//   - tables (csv, JSON Lines and parquet): a column of labels, and one of ids that
//     tells the point of each row. Points that are not listed have no label. Ids are
//     names in opt.IDs, or numbers of points from 0. Without a column of ids row i belongs
//     to point i. A column that is called "row" holds numbers of points, whether they have ids or
//     not. The columns are named as "labels.csv:LABEL" or
//     "labels.csv:ID,LABEL", or found by usual names ("label", "class", "target", …;
//     "id", "key", "path", "name", …); of two columns without names the first is the id.
//
// Labels are integers if all of them are, and names otherwise; "7" is an integer.
// "nan", "null", "?" and no text are no labels, in any case. idx and text files may
// be compressed with gzip. Labels.Read says how the file was understood. An error
// names the file and the place, rows counted from 0 and lines of text from 1.
func ReadLabels(path string, opt LabelOptions) (*Labels, error) {
	src, key, err := openKey(path, opt.Key, opt.Limit)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	opt.Key = key
	var f labelcells.Notes
	c, err := src.cells(&opt, &f)
	if err != nil {
		return nil, err
	}
	// The marker comes after the cells: what marks unlabeled rows depends on all of them.
	if c.Len() == 0 {
		return nil, fmt.Errorf("%s: there are no labels", c.What)
	}
	return labelsOf(path, c, newMarker(&opt, src.format.classMinusOne), &f)
}

// cells reads the labels as they stand in the file.
func (s *source) cells(opt *LabelOptions, f *labelcells.Notes) (*labelcells.Cells, error) {
	if s.format.labels != nil {
		return s.format.labels(s, opt, f)
	}
	request := arrayRequest{key: opt.Key, usual: "y", limit: opt.Limit, begin: sameRows(opt.Points)}
	a, what, err := s.format.array(s, request)
	if err != nil {
		return nil, err
	}
	return labelcells.FromArray(what, a)
}

// newMarker returns the marker that recognizes rows without label.
func newMarker(opt *LabelOptions, classMinusOne bool) *labelcells.Marker {
	return labelcells.NewMarker(opt.Unlabeled, opt.NoUnlabeled, classMinusOne)
}

// labelsOf makes labels of the cells of a file.
func labelsOf(path string, c *labelcells.Cells, m *labelcells.Marker, f *labelcells.Notes) (*Labels, error) {
	got, err := c.Labels(m, f)
	if err != nil {
		return nil, err
	}
	var l *Labels
	if got.Names != nil {
		l = NewNamedLabels(got.Names, got.Codes)
	} else {
		l = NewLabels(got.Values, got.Labeled)
	}

	l.Read = &LabelFile{Path: path, Marks: m.Seen, Notes: f.Notes, Warnings: f.Warnings, Joined: f.Joined,
		Listed: f.Listed, given: m.Given}
	return l, nil
}
