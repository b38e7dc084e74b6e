package data

import (
	"bytes"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// MultiLabels holds which of m labels each of n points has.
type MultiLabels struct {
	// Y is the n×m block of a file of numbers as it is, or 1 for a label that a
	// point has and 0 for one that it lacks. NaN is an entry that is not known.
	Y *mat.Dense
	// Values are the labels of the columns, ascending; nil if the file only
	// numbers them.
	Values []int64
}

// Ordered returns labels that have Values with the columns in another order. No point has a label
// that is not among Values.
func (m *MultiLabels) Ordered(order []int64) *MultiLabels {
	n, _ := m.Y.Dims()
	out := mat.NewDense(n, len(order), nil)
	for c, v := range order {
		// A label that does not occur is 0 everywhere, but NaN in rows that are not known.
		j := slices.Index(m.Values, v)
		for i := range n {
			if from := m.Y.RawRowView(i); j >= 0 || math.IsNaN(from[0]) { // all of a row, or none
				out.Set(i, c, from[max(j, 0)])
			}
		}
	}

	return &MultiLabels{Y: out, Values: order}
}

// ReadMultiLabels reads any number of labels for each point. The format follows from the
// content of the file:
//
//   - .npy, .npz and idx, as [ReadValues] does: a column a label.
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
	y, err := src.values(opt)
	if err != nil {
		return nil, err
	}
	return &MultiLabels{Y: y}, nil
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

	return &MultiLabels{Y: y, Values: values}, nil
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
