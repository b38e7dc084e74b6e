package labelcells

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/param"
)

// labelTable is a table of labels: each row tells the label of a point.
type labelTable struct {
	path, what string
	id, label  string // names of columns; id is empty for a row a point in order
	// orderly says that the column of ids was found by its name, while the caller asked for
	// the column of labels alone.
	orderly bool

	ids, labels Column
	lines       []int // of rows, nil if the format has none

	// log tells that the rows are those of bigfit label; people are who gave the labels.
	log    bool
	people Column
}

// Points describes the points that the rows of a table are joined with.
type Points struct {
	N   int  // number of points; 0 if it is not known
	IDs *IDs // nil if the points have no names
	// Columns are the names of their coordinates, where they have names.
	Columns []string
}

// IDs holds the names of points.
type IDs struct {
	From   string // where they were read
	Values []string
	// Row returns the number of the point with an id, and whether there is one.
	Row func(id string) (int, bool)
}

// ReadTable reads labels from a table, and joins them with the points. The key names the column of
// labels, or the columns of ids and of labels; without it they are found by usual names. Reading
// takes at most limit bytes if that is positive.
func ReadTable(path, key string, limit int64, points Points, f *Notes) (*Cells, error) {
	t := &labelTable{path: path}
	r, err := t.open(key, limit, points.IDs, f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if err := t.read(r, limit); err != nil {
		return nil, err
	}
	notes := r.Notes()
	if r.Semicolons() {
		notes = t.labels.DecimalCommas(t.path, notes)
	}
	for _, note := range notes {
		f.Note("%s", note)
	}
	if t.log {
		t.settle(f)
	}

	// The labels alone were asked for, and there is one for each point.
	rows := len(t.labels.codes)
	if t.orderly && points.IDs == nil && rows == points.N {
		f.Note("%s: row i is of point i; to join by column %q, name it as %s:%s,%s", t.what, t.id, t.path,
			t.id, t.label)
		t.id = ""
	}

	if base, ok := t.counts(); ok && rows == points.N {
		f.Note("%s: the first column has no name and counts the rows from %d: row i is of point i", t.path, base)
		t.id = ""
	}
	if t.id == "" {
		return &Cells{What: t.what, Text: &t.labels, Unit: "row"}, nil
	}
	return t.join(points, f)
}

// counts reports whether the ids are a first column without a name that counts the rows in their
// order, as pandas does from 0 and R from 1, and where it begins.
func (t *labelTable) counts() (base int, ok bool) {
	if t.id != table.Unnamed(0) || len(t.ids.texts) != len(t.ids.codes) || len(t.ids.texts) == 0 {
		return 0, false
	}
	base, err := strconv.Atoi(t.ids.texts[0])
	if err != nil || base != 0 && base != 1 {
		return 0, false
	}
	for k, text := range t.ids.texts {
		if text != strconv.Itoa(base+k) {
			return 0, false
		}
	}
	return base, true
}

// open opens the table and finds its columns; ids names the points, nil if they have no ids.
func (t *labelTable) open(key string, limit int64, ids *IDs, f *Notes) (*table.Reader, error) {
	r, err := table.Open(t.path, table.Options{Limit: limit})
	if err != nil {
		return nil, err
	}
	columns := r.Names()
	text := r.Format() == table.CSV
	unnamed := key == "" && len(columns) == 2 && (!text || r.Header()) && LikelyIDColumn(columns) == "" &&
		!slices.ContainsFunc(columns, func(c string) bool { return IsLabelName(c) || IsIDName(c) })
	if unnamed {
		// No name says which of the two has the ids, but what they hold may.
		if t.id, err = t.idsBelow(columns, table.Options{Limit: limit}, ids); err != nil {
			r.Close()
			return nil, err
		}
		if t.id != "" {
			t.label = other(columns, t.id)
			return t.choose(r, key, f)
		}
	}
	if unnamed && text {
		// The first line is all text, as ids and labels may be, and no line below tells that it is a header.
		r.Close()
		if r, err = table.Open(t.path, table.Options{Limit: limit, Header: table.HeaderNo}); err != nil {
			return nil, err
		}
		f.Warn("%s: the first line, %s, is read as a row and not as a header, as none of it is a "+
			"usual name of ids or labels; if it is one, name the columns as %s:%s",
			t.path, fields.Quote([]byte(strings.Join(columns, ","))), t.path, strings.Join(columns, ","))
		columns = r.Names()
	}

	// Points without ids are joined by their numbers, if the table has them beside its ids.
	named := r.Header() || r.Format() != table.CSV
	if err = t.find(columns, named, key); err == nil && named && t.id == "" {
		// Neither a usual name nor the place says which column has the ids, but what it holds may.
		t.id, err = t.idsBelow(columns, table.Options{Limit: limit}, ids)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	if at := slices.IndexFunc(columns, IsRowName); at >= 0 && ids == nil && key == "" && t.label != columns[at] {
		t.id = columns[at]
	}
	return t.choose(r, key, f)
}

// choose chooses the columns of r to read. They are read as text, whatever their kind: 007 must stay a name.
func (t *labelTable) choose(r *table.Reader, key string, f *Notes) (*table.Reader, error) {
	want := []table.Column{{Name: t.label, Kind: table.Text}}
	if t.id != "" {
		want = append(want, table.Column{Name: t.id, Kind: table.Text})
		f.Note("%s: ids are in column %q, labels in column %q", t.path, t.id, t.label)
	}
	if t.log = key == "" && isLog(r.Names()); t.log {
		want = append(want, table.Column{Name: logColumns[2], Kind: table.Text})
	}
	if err := r.Choose(want...); err != nil {
		r.Close()
		return nil, err
	}
	t.what = fmt.Sprintf("%s: column %q", t.path, t.label)
	return r, nil
}

// idsBelow returns the only column whose first line is the id of no point while the line below it is one; empty if
// the points have no ids or there is no such column.
func (t *labelTable) idsBelow(columns []string, opt table.Options, ids *IDs) (string, error) {
	if ids == nil {
		return "", nil
	}
	r, err := table.Open(t.path, opt)
	if err != nil {
		return "", err
	}
	defer r.Close()
	var want []table.Column
	for _, c := range columns {
		want = append(want, table.Column{Name: c, Kind: table.Text})
	}
	if err := r.Choose(want...); err != nil {
		return "", err
	}
	b, err := r.Next()
	if err == io.EOF {
		return "", nil
	}
	if err != nil || b.Rows == 0 {
		return "", err
	}

	found := ""
	for j, c := range columns {
		_, above := ids.Row(c)
		_, below := ids.Row(string(fields.Trim([]byte(b.Values[j].Texts[0]))))
		if above || !below {
			continue
		}
		if found != "" {
			return "", nil
		}
		found = c
	}
	return found, nil
}

// find chooses the columns: the columns that key names, or columns with usual names.
func (t *labelTable) find(columns []string, named bool, key string) error {
	has := func(name string) bool { return slices.Contains(columns, name) }
	if key != "" {
		parts := strings.Split(key, ",")
		switch {
		case has(key) || len(parts) == 1:
			t.label = key
			t.orderly = true
		case len(parts) == 2:
			t.id = strings.TrimSpace(parts[0])
			t.label = strings.TrimSpace(parts[1])
			return nil
		default:
			return fmt.Errorf("%s: %q names %d columns; name that of the labels, or those of the ids "+
				"and the labels, as FILE:ID,LABEL", t.path, key, len(parts))
		}
	}

	// Without a header the columns have numbers: one is the labels, of two the first is the ids.
	if !named {
		switch {
		case t.label != "":
		case len(columns) <= 2:
			t.label = columns[len(columns)-1]
		default:
			return fmt.Errorf("%s: it has %d columns and no header; give the number of the column of "+
				"labels, from 0, as %s:COLUMN, or of those of ids and labels, as %s:ID,LABEL", t.path,
				len(columns), t.path, t.path)
		}
		if len(columns) == 2 && t.label == columns[1] {
			t.id = columns[0]
		}
		return nil
	}

	if t.label == "" {
		if err := t.findLabel(columns); err != nil {
			return err
		}
	}

	t.id = IDColumn(columns, t.label)
	switch {
	case t.id != "" || t.orderly:
	case len(columns) == 2:
		t.id = other(columns, t.label)
	case columns[0] == table.Unnamed(0) && t.label != columns[0]:
		t.id = columns[0] // the index of pandas, or R's names of rows
	}
	return nil
}

// findLabel chooses the column of labels by its name.
func (t *labelTable) findLabel(columns []string) error {
	var usual []string
	for _, c := range columns {
		if IsLabelName(c) {
			usual = append(usual, c)
		}
	}

	// One usual name decides, or the other one of two columns if just one has a usual name of ids.
	switch {
	case len(usual) == 1:
		t.label = usual[0]
	case len(columns) == 1:
		t.label = columns[0]
	case len(usual) == 0 && len(columns) == 2 && IsIDName(columns[0]) != IsIDName(columns[1]):
		t.label = columns[0]
		if IsIDName(t.label) {
			t.label = columns[1]
		}
	case len(usual) == 0 && len(columns) == 2 && LikelyIDColumn(columns) != "":
		t.label = other(columns, LikelyIDColumn(columns))
	default:
		list := columns
		if len(usual) > 1 {
			list = usual
		}
		return fmt.Errorf("%s: which column holds the labels, %s? Name it as %s:COLUMN; a column for each of several labels "+
			"a point is for %s vvmr", t.path, strings.Join(list[:min(20, len(list))], ", "), t.path, param.Name("model"))
	}

	return nil
}

// other returns the one of two columns that is not the given one.
func other(columns []string, one string) string {
	if columns[0] == one {
		return columns[1]
	}
	return columns[0]
}

// read reads the columns.
func (t *labelTable) read(r *table.Reader, limit int64) error {
	for {
		b, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		labels := &b.Values[0]
		for i := range b.Rows {
			row := len(t.labels.codes)
			// A missing value is no text.
			t.labels.Add(fields.Trim([]byte(labels.Texts[i])), row)
			if t.id != "" {
				if b.Values[1].Missing(i) {
					return fmt.Errorf("%s: the id is missing; give it, or leave the row out", b.Place(i))
				}
				t.ids.Add([]byte(b.Values[1].Texts[i]), row)
			}
			if t.log {
				t.people.Add([]byte(b.Values[2].Texts[i]), row)
			}
			if line := b.Line(i); line > 0 {
				t.lines = append(t.lines, line)
			}
		}

		if need := t.ids.Bytes() + t.labels.Bytes() + t.people.Bytes() + 18*int64(len(t.lines)); limit > 0 && need > limit {
			return &npy.LimitError{What: t.what, Need: need, Limit: limit}
		}
	}
}

// place names a row.
func (t *labelTable) place(row int) string {
	if t.lines != nil {
		return fmt.Sprintf("line %d", t.lines[row])
	}
	return fmt.Sprintf("row %d", row)
}

// join gives every point the label of the row with its id. A point with two labels is an error.
func (t *labelTable) join(p Points, f *Notes) (*Cells, error) {
	points, err := t.points(p, f)
	if err != nil {
		return nil, err
	}
	n := p.N
	if n == 0 && p.IDs == nil {
		n = len(points) // each number is there: see points
	}
	if p.IDs != nil {
		if n = len(p.IDs.Values); p.N > 0 && n != p.N {
			return nil, fmt.Errorf("%s holds %d ids for %d points", p.IDs.From, n, p.N)
		}
	}

	// A point takes the label of the first row with its id; further rows must agree.
	codes := slices.Repeat([]int32{-1}, n)
	rows := make([]int32, n)
	again := 0
	var unknown Column
	for row, code := range t.ids.codes {
		at := points[code]
		label := t.labels.codes[row]
		switch {
		case at < 0:
			unknown.Add([]byte(t.ids.texts[code]), row)
		case codes[at] < 0:
			codes[at] = label
			rows[at] = int32(row)
		case codes[at] == label:
			again++
		default:
			return nil, fmt.Errorf("%s: %s says that %s is %s, and %s that it is %s; leave one of them out",
				t.path, t.place(int(rows[at])), fields.Quote([]byte(t.ids.texts[code])),
				fields.Quote([]byte(t.labels.texts[codes[at]])), t.place(row),
				fields.Quote([]byte(t.labels.texts[label])))
		}
	}

	if again > 0 {
		f.Note("%s: %d rows say again what others say", t.path, again)
	}
	if err := t.unmatched(&unknown, p.IDs, f); err != nil {
		return nil, err
	}
	f.Joined = true
	for at, code := range codes {
		if code >= 0 {
			f.Listed = append(f.Listed, at)
		}
	}
	t.labels.codes = codes
	return &Cells{What: t.what, Text: &t.labels, Unit: "row"}, nil
}

// points returns for each distinct id the number of its point, −1 for none.
func (t *labelTable) points(p Points, f *Notes) ([]int32, error) {
	// Each distinct id is looked up once, however many rows have it.
	points := make([]int32, len(t.ids.texts))
	if p.IDs != nil && !IsRowName(t.id) {
		for k, id := range t.ids.texts {
			points[k] = -1
			if row, ok := p.IDs.Row(id); ok {
				points[k] = int32(row)
			}
		}
		return points, nil
	}

	// Without names of points ids must be their numbers, unless the points have the column of ids.
	if slices.Contains(p.Columns, t.id) && !IsRowName(t.id) {
		return nil, fmt.Errorf("%s: column %q has ids, and the points have a column %q that is read as a coordinate; if it names "+
			"them, say %s %s; if row i is of point i, name the column of labels alone, as %s:%s", t.path, t.id, t.id,
			param.Name("id"), t.id, t.path, t.label)
	}
	for k, id := range t.ids.texts {
		v, err := strconv.Atoi(id)
		if err == nil && v >= 0 && (v < p.N || p.N == 0) {
			points[k] = int32(v)
			continue
		}
		remedy := fmt.Sprintf("say what the points are called with %s FILE or, if they are a "+
			"table, %s COLUMN; if row i is of point i, name the column of labels alone, as %s:%s, "+
			"and leave no point out", param.Name("ids"), param.Name("id"), t.path, t.label)
		switch {
		case IsRowName(t.id):
			return nil, fmt.Errorf("%s: column %q has %s (%s), which is no number of a point, 0 to %d", t.path,
				t.id, fields.Quote([]byte(id)), t.place(t.ids.first[k]), p.N-1)
		case err != nil:
			return nil, fmt.Errorf("%s: column %q has the id %s (%s), but the points have no ids: %s", t.path,
				t.id, fields.Quote([]byte(id)), t.place(t.ids.first[k]), remedy)
		}
		return nil, fmt.Errorf("%s: column %q has the id %s (%s), which is no number of a point, 0 to %d: %s",
			t.path, t.id, id, t.place(t.ids.first[k]), p.N-1, remedy)
	}

	// A list of the numbers of all points tells how many there are.
	if p.N == 0 && IsRowName(t.id) && slices.Max(points) == int32(len(points)-1) {
		return points, nil
	}
	if p.N == 0 {
		return nil, fmt.Errorf("%s: column %q has numbers of points, but it is not known how many "+
			"points there are; give one label a point", t.path, t.id)
	}
	if IsRowName(t.id) {
		return points, nil
	}
	f.Note("%s: column %q has numbers of points, counted from 0, as the points have no ids", t.path, t.id)
	return points, nil
}

// unmatched warns of ids that no point has. It is an error if no id belongs to a point.
func (t *labelTable) unmatched(unknown *Column, ids *IDs, f *Notes) error {
	n := len(unknown.texts)
	if n == 0 {
		return nil
	}
	var first []string
	for _, id := range unknown.texts[:min(n, 3)] {
		first = append(first, fields.Quote([]byte(id)))
	}
	list := strings.Join(first, ", ")
	if n > 3 {
		list += ", …"
	}
	// Some ids of other points are normal, as in a table of a larger set; none in common is a
	// mistake.
	if n < len(t.ids.texts) {
		f.Warn("%s: %d of %d ids are those of no point: %s", t.path, n, len(t.ids.texts), list)
		return nil
	}
	return fmt.Errorf("%s: none of the %d ids in column %q is that of a point: there they are %s, in %s %s",
		t.path, n, t.id, list, ids.From, fields.Quote([]byte(ids.Values[0])))
}
