package data

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data/internal/labelcells"
	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// MultiLabels holds which of m labels each of n points has.
type MultiLabels struct {
	// Y is the n×m block of a file of numbers as it is, or 1 for a label that a
	// point has and 0 for one that it lacks. NaN is an entry that is not known.
	Y *mat.Dense
	// Values are the labels of the columns, ascending; nil if the file only
	// numbers them, or names them.
	Values []int64
	// Names are the names of the labels, ascending; nil if they are integers.
	Names []string
	// Listed says that the file lists the labels that points have: they lack all others.
	Listed bool
}

// Label names the label of a column.
func (m *MultiLabels) Label(j int) string {
	if m.Names == nil && m.Values == nil {
		return strconv.Itoa(j)
	}
	return ClassName(m.Values, m.Names, int32(j))
}

// Ordered returns labels that have Values or Names with the columns in another order, by what [MultiLabels.Label] calls
// them. A label that m does not have is one that no point of a file of lists has; of a table nothing is known of it.
func (m *MultiLabels) Ordered(order []string) *mat.Dense {
	n, have := m.Y.Dims()
	at := map[string]int{}
	for j := range have {
		at[m.Label(j)] = j
	}
	out := mat.NewDense(n, len(order), nil)
	for c, name := range order {
		j, ok := at[name]
		for i := range n {
			from := m.Y.RawRowView(i)
			switch {
			case ok:
				out.Set(i, c, from[j])
			case !m.Listed || math.IsNaN(from[0]): // all of a row of lists, or none
				out.Set(i, c, math.NaN())
			}
		}
	}
	return out
}

// ReadMultiLabels reads any number of labels for each point. The format follows from the
// content of the file:
//
//   - .npy, .npz and idx, as [ReadValues] does: a column a label.
//   - a table with a column for each of two labels or more, named by it: its rows are joined with the points as
//     [ReadLabels] does. What is missing is not known.
//   - svmlight: integers with commas between, "1,5,7", in front of the lines. A
//     line that begins with a blank has none of the labels, as scikit-learn writes
//     it, and nan stands for a point with unknown labels. The columns are the labels
//     that occur.
//
// The numbers of a block are not checked. Errors, compression and keys are as in
// [ReadValues].
func ReadMultiLabels(path string, opt ReadOptions) (*MultiLabels, error) {
	src, key, err := openKey(path, opt.Key, opt.Limit)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if src.format.lists != nil {
		return src.format.lists(src, opt.Limit)
	}
	opt.Key = key
	if src.format.table && key == "" {
		if y, err := readLabelTable(src, &opt); y != nil || err != nil {
			return y, err
		}
	}
	y, err := src.values(opt)
	if err != nil {
		return nil, err
	}
	return &MultiLabels{Y: y}, nil
}

// readLabelTable reads a table with a column for each label; it returns nil if the file is none.
func readLabelTable(src *source, opt *ReadOptions) (*MultiLabels, error) {
	y, names, err := readBlock(src, opt, labelcells.ReadLabelSets)
	if err != nil || y == nil {
		return nil, err
	}
	s, err := orderColumns(src.path, y, names, "label")
	if err != nil {
		return nil, err
	}
	if s.Names != nil {
		return &MultiLabels{Y: s.P, Names: s.Names}, nil
	}
	return &MultiLabels{Y: s.P, Values: s.Classes}, nil
}

// readBlock reads a table with a column for each of several labels or values a point, and joins its rows with the points. The
// block is nil if the table is none.
func readBlock(src *source, opt *ReadOptions, read func(path string, limit int64, points labelcells.Points,
	f *labelcells.Notes) ([]string, [][]float64, error)) (y *mat.Dense, names []string, err error) {
	f := &labelcells.Notes{}
	points := (&LabelOptions{Points: opt.Points, IDs: opt.IDs, Coordinates: opt.Coordinates}).cells()
	names, rows, err := read(src.path, opt.Limit, points, f)
	if err != nil || rows == nil {
		return nil, nil, err
	}
	y = mat.NewDense(len(rows), len(names), nil)
	for i, row := range rows {
		y.SetRow(i, row)
	}
	if opt.File != nil {
		opt.File.Notes = append(opt.File.Notes, f.Notes...)
		opt.File.Warnings = append(opt.File.Warnings, f.Warnings...)
		opt.File.Joined = f.Joined
		opt.File.Listed = f.Listed
	}
	return y, names, nil
}

// labelLists holds the labels of rows, one after the other; row i has the labels from starts[i] to
// starts[i+1].
type labelLists struct {
	labels []int64
	starts []int
	known  []bool
}

// readLabelLists reads the labels in front of lines of svmlight.
func readLabelLists(src *source, limit int64) (*labelLists, error) {
	l := src.Lines()
	out := &labelLists{starts: []int{0}}
	for {
		line, err := l.NextData()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		at := len(out.known)
		label, _, err := svmlightLabel(l, line, at)
		if err != nil {
			return nil, err
		}

		// Integers with commas between, each once.
		from := len(out.labels)
		known := string(label) != "nan"
		for rest := label; known && len(label) > 0; {
			part, after := fields.Cut(rest, ',')
			v, ok := fields.Integer(part)
			if !ok {
				return nil, l.Fault("the labels of row %d are %s; they must be integers with commas "+
					"between, or nan if they are not known", at, fields.Quote(label))
			}
			out.labels = append(out.labels, v)
			if len(part) == len(rest) {
				break
			}
			rest = after
		}

		// Sorted, so that the same label twice stands side by side.
		set := out.labels[from:]
		slices.Sort(set)
		for p := range set {
			if p > 0 && set[p] == set[p-1] {
				return nil, l.Fault("row %d has the label %d twice", at, set[p])
			}
		}

		out.starts = append(out.starts, len(out.labels))
		out.known = append(out.known, known)
		if need := 8*int64(len(out.labels)+len(out.starts)) + int64(len(out.known)); limit > 0 &&
			need > limit {
			return nil, &npy.LimitError{What: src.path, Need: need, Limit: limit}
		}
	}
}

// block makes a column of every label that occurs.
func (r *labelLists) block(src *source, limit int64) (*MultiLabels, error) {
	// The labels that occur are the columns.
	values := slices.Clone(r.labels)
	slices.Sort(values)
	values = slices.Clip(slices.Compact(values))
	n := len(r.known)
	m := len(values)
	if m == 0 {
		return nil, src.fault("no point has a label")
	}
	if need := 8 * int64(n) * int64(m); limit > 0 && need > limit {
		return nil, &npy.LimitError{What: src.path, Need: need, Limit: limit}
	}

	// A row with unknown labels is NaN throughout.
	y := mat.NewDense(n, m, nil)
	for i := range n {
		row := y.RawRowView(i)
		if !r.known[i] {
			for j := range row {
				row[j] = math.NaN()
			}
		}
		for _, v := range r.labels[r.starts[i]:r.starts[i+1]] {
			j, _ := slices.BinarySearch(values, v)
			row[j] = 1
		}
	}

	return &MultiLabels{Y: y, Values: values, Listed: true}, nil
}

// svmlightLabel cuts a line of svmlight at its first blank, behind the labels. The
// label is nil for a line that begins with a blank and a pair index:value.
func svmlightLabel(l *fields.Lines, line []byte, row int) (label, rest []byte, err error) {
	line, _, _ = bytes.Cut(line, []byte("#"))
	line = fields.Trim(line)
	label, rest = fields.Cut(line, 0)
	switch {
	case bytes.IndexByte(label, ':') < 0:
		return label, rest, nil
	case l.Indented:
		return nil, line, nil
	}
	return nil, nil, l.Fault("row %d begins with %s, want a label before the first index:value; "+
		"write 0 if there is none", row, fields.Quote(label))
}
