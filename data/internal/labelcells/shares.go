package labelcells

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
)

// ReadShares reads a table of distributions with a column for each class, whose name is that of the class, and
// joins its rows with the points. A column of ids is found by its usual name, or by the id of a point
// in its first row. It returns the names of the
// classes and a row for each point, NaN for a point without one.
func ReadShares(path string, limit int64, points Points, f *Notes) (names []string, block [][]float64, err error) {
	t := &labelTable{path: path, what: path}
	columns, names, block, err := t.readBlock(table.Options{Limit: limit, IsHeader: namesClasses}, points, f,
		blockOf{what: "probabilities of classes", column: "class", columns: "classes"})
	if err == nil && block == nil {
		err = fmt.Errorf("%s: it has the columns %s; probabilities of classes need a column for each of two "+
			"classes or more", path, strings.Join(columns, ", "))
	}
	return names, block, err
}

// ReadLabelSets is [ReadShares] for a table with a column for each label that a point may have. The block is nil if the table
// is none: a column has a usual name of the only label, or there are fewer than two columns beside the ids.
func ReadLabelSets(path string, limit int64, points Points, f *Notes) (names []string, block [][]float64, err error) {
	t := &labelTable{path: path, what: path}
	_, names, block, err = t.readBlock(table.Options{Limit: limit, IsHeader: namesLabels}, points, f,
		blockOf{what: "several labels a point", column: "label", columns: "labels", single: IsLabelName})
	return names, block, err
}

// ReadValueSets is [ReadLabelSets] for a table with a column for each of several values a point.
func ReadValueSets(path string, limit int64, points Points, f *Notes) (names []string, block [][]float64, err error) {
	t := &labelTable{path: path, what: path}
	_, names, block, err = t.readBlock(table.Options{Limit: limit}, points, f,
		blockOf{what: "several values a point", column: "value", columns: "values", single: IsLabelName})
	return names, block, err
}

// blockOf says what a block of numbers holds, and what a column is and several are. A table with a column of a single name
// is none; nil for no such names.
type blockOf struct {
	what, column, columns string
	single                func(name string) bool
}

// readBlock reads a table with a column of numbers for each of two things or more, by their names. The block is nil if the
// table has other columns.
func (t *labelTable) readBlock(opt table.Options, points Points, f *Notes, of blockOf) (columns, names []string,
	block [][]float64, err error) {
	r, err := table.Open(t.path, opt)
	if err != nil {
		return nil, nil, nil, err
	}
	defer r.Close()
	columns = r.Names()
	if of.single != nil && slices.ContainsFunc(columns, of.single) {
		return columns, nil, nil, nil
	}
	t.id = IDColumn(columns, "")
	if at := slices.IndexFunc(columns, IsRowName); at >= 0 && (points.IDs == nil || t.id == "") {
		t.id = columns[at]
	}
	if t.id == "" && columns[0] == table.Unnamed(0) {
		t.id = columns[0]
	}
	if t.id == "" {
		if t.id, err = t.idsBelow(columns, opt, points.IDs); err != nil {
			return nil, nil, nil, err
		}
	}
	var want []table.Column
	for _, c := range columns {
		if c != t.id {
			names = append(names, c)
			want = append(want, table.Column{Name: c, Kind: table.Float})
		}
	}
	if len(names) < 2 {
		return columns, nil, nil, nil
	}
	if r.Format() == table.CSV && !r.Header() {
		return nil, nil, nil, fmt.Errorf("%s: it has no header; %s need one, with the name of the %s "+
			"above each column", t.path, of.what, of.column)
	}
	if t.id != "" {
		want = append(want, table.Column{Name: t.id, Kind: table.Text})
		f.Note("%s: ids are in column %q", t.path, t.id)
	}
	f.Note("%s: the columns are the %s %s", t.path, of.columns, enum.Some(names))
	if err := r.Choose(want...); err != nil {
		return nil, nil, nil, err
	}
	rows, err := t.readShares(r, len(names), opt.Limit)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, note := range r.Notes() {
		f.Note("%s", note)
	}
	if len(rows) == 0 {
		return nil, nil, nil, fmt.Errorf("%s: there are no rows", t.path)
	}
	if _, ok := t.counts(); t.id == "" || ok && len(rows) == points.N {
		return columns, names, rows, nil
	}
	block, err = t.joinShares(rows, len(names), points, f)
	return columns, names, block, err
}

// namesClasses tells whether the first line of a csv file names columns: its fields differ, and are names or integers.
func namesClasses(first []string) (bool, error) {
	for i, text := range first {
		_, numeric := fields.Number([]byte(text))
		_, integer := fields.Integer([]byte(text))
		if numeric && !integer || slices.Contains(first[:i], text) {
			return false, nil
		}
	}
	return true, nil
}

// namesLabels is namesClasses for labels: a line of 0, 1 and −1 says which of them a point has.
func namesLabels(first []string) (bool, error) {
	says := func(text string) bool { return slices.Contains([]string{"0", "1", "-1", ""}, text) }
	if !slices.ContainsFunc(first, func(text string) bool { return !says(text) }) {
		return false, nil
	}
	return namesClasses(first)
}

// readShares reads the rows; what is missing is NaN.
func (t *labelTable) readShares(r *table.Reader, classes int, limit int64) ([][]float64, error) {
	var out [][]float64
	for {
		b, err := r.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range b.Rows {
			row := make([]float64, classes)
			for k := range row {
				if row[k] = math.NaN(); !b.Values[k].Missing(i) {
					row[k] = b.Values[k].Floats[i]
				}
			}
			if t.id != "" {
				if b.Values[classes].Missing(i) {
					return nil, fmt.Errorf("%s: the id is missing; give it, or leave the row out", b.Place(i))
				}
				t.ids.Add([]byte(b.Values[classes].Texts[i]), len(out))
			}
			out = append(out, row)
			if line := b.Line(i); line > 0 {
				t.lines = append(t.lines, line)
			}
		}
		if need := 8 * int64(len(out)) * int64(classes+3); limit > 0 && need > limit {
			return nil, &npy.LimitError{What: t.path, Need: need, Limit: limit}
		}
	}
}

// joinShares gives every point the row with its id; an id twice is an error.
func (t *labelTable) joinShares(rows [][]float64, classes int, p Points, f *Notes) ([][]float64, error) {
	points, err := t.points(p, f)
	if err != nil {
		return nil, err
	}
	n := p.N
	if p.IDs != nil {
		n = len(p.IDs.Values)
	} else if n == 0 {
		n = len(points)
	}
	out := make([][]float64, n)
	first := make([]int, n)
	var unknown Column
	for row, code := range t.ids.codes {
		at := points[code]
		switch {
		case at < 0:
			unknown.Add([]byte(t.ids.texts[code]), row)
		case out[at] != nil:
			return nil, fmt.Errorf("%s: %s and %s have the same id, %q; leave one of them out", t.path,
				t.place(first[at]), t.place(row), t.ids.texts[code])
		default:
			out[at] = rows[row]
			first[at] = row
		}
	}
	if err := t.unmatched(&unknown, p.IDs, f); err != nil {
		return nil, err
	}
	f.Joined = true
	none := slices.Repeat([]float64{math.NaN()}, classes)
	for i := range out {
		if out[i] == nil {
			out[i] = none
			continue
		}
		f.Listed = append(f.Listed, i)
	}
	return out, nil
}
