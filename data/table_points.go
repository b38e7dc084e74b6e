package data

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/data/internal/labelcells"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// TableColumns says what the columns of a table of points are, and keeps those that are
// no coordinates. Columns are named by the header, or by their numbers from 0. Readers
// of several files, one after the other, append to one TableColumns.
type TableColumns struct {
	ID    string // names the points; empty for none
	Label string // holds the labels; empty for none
	// UsualID takes a column with a usual name of ids for ID, where that is empty and nothing else says what the
	// column is. Notes tell of it.
	UsualID bool
	// Drop are columns that are left out, and Only, if not nil, are the coordinates.
	Drop, Only []string
	// Shown are columns that people look at. Where the points have them they are no coordinates, unless Only names
	// them. Other names are of other tables.
	Shown []string

	// Expected are the names of the coordinates, in their order, that a model was fitted to; nil for any. A file with a
	// header must have them, and they are read in this order. Its other columns are left out, unless Only or Drop name
	// columns.
	Expected []string
	// ExpectedID is the column that names the points of that model, by [IDs.Column]; empty for none. UsualID takes it
	// where a file has it.
	ExpectedID string

	// Notes say how the files were understood where it could be otherwise.
	Notes []string

	wanted []string // the order in which the coordinates of a file are read, nil for that of the file
	from   string   // the first file
	names  []string
	usual  string // the column that UsualID takes
	ids    []string
	bytes  int64 // of the texts of ids
	labels labelcells.Column
}

// columns returns what the columns of a table are; a key names the coordinates.
func (opt *ReadOptions) columns() *TableColumns {
	t := opt.Table
	if t == nil {
		t = &TableColumns{}
	}
	if opt.Key != "" && len(t.Only) == 0 {
		t.Only = strings.Split(opt.Key, ",")
	}
	return t
}

// role is the use of a column of a table of points.
type role uint8

const (
	roleCoordinate role = iota
	roleID
	roleLabel
	roleDropped
)

// named tells whether any column is named.
func (t *TableColumns) named() bool {
	return t != nil && (t.ID != "" || t.Label != "" || len(t.Drop) > 0 || len(t.Only) > 0 || len(t.Shown) > 0)
}

// roles returns what the columns of a file are for. header has their names, or is nil; text reports which of them
// hold text.
func (t *TableColumns) roles(what string, header []string, columns int, text func(int) bool) ([]role, error) {
	roles := make([]role, columns)
	index := t.index(what, header)
	usual, err := t.usualID(what, header, text)
	if err != nil {
		return nil, err
	}
	if usual >= 0 {
		roles[usual] = roleID
	}
	if !t.named() {
		if index {
			roles[0] = roleDropped
		}
		return roles, t.take(what, header, roles)
	}

	find := func(name string, from param.Name) (int, error) {
		if at := slices.Index(header, name); at >= 0 {
			if slices.Contains(header[at+1:], name) {
				return 0, fmt.Errorf("%s: two columns are called %s; give the number of the one that "+
					"is meant, from 0", what, fields.Quote([]byte(name)))
			}
			return at, nil
		}
		if at, err := strconv.Atoi(name); err == nil && at >= 0 && at < columns {
			return at, nil
		}
		if header == nil {
			return 0, fmt.Errorf("%s: there is no column %s (%s): it has no header, and its columns "+
				"have the numbers 0 to %d", what, fields.Quote([]byte(name)), from, columns-1)
		}
		return 0, fmt.Errorf("%s: there is no column %s (%s); the columns are %s", what,
			fields.Quote([]byte(name)), from, strings.Join(header[:min(20, columns)], ", "))
	}

	if len(t.Only) > 0 {
		for i := range roles {
			if i != usual {
				roles[i] = roleDropped
			}
		}
	}

	set := func(names []string, from param.Name, r role) error {
		for _, name := range names {
			at, err := find(name, from)
			if err != nil {
				return err
			}
			if taken := roles[at]; r != roleCoordinate && taken != roleCoordinate &&
				(taken != roleDropped || r == roleDropped && len(t.Only) == 0) {
				return fmt.Errorf("%s: column %s is named twice; it can be the id, the label or dropped",
					what, fields.Quote([]byte(name)))
			}
			roles[at] = r
		}

		return nil
	}

	given := func(name string) []string {
		if name == "" {
			return nil
		}
		return []string{name}
	}
	for _, c := range []struct {
		names []string
		from  param.Name
		role  role
	}{{t.Only, "columns", roleCoordinate}, {given(t.ID), "id", roleID}, {given(t.Label), "label",
		roleLabel}, {t.Drop, "drop", roleDropped}} {
		if err := set(c.names, c.from, c.role); err != nil {
			return nil, err
		}
	}

	if index && len(t.Only) == 0 {
		roles[0] = roleDropped
	}
	for _, name := range t.Shown {
		if at := slices.Index(header, name); at >= 0 && roles[at] == roleCoordinate && len(t.Only) == 0 {
			roles[at] = roleDropped
			if t.from == "" { // once for all files
				t.Notes = append(t.Notes, fmt.Sprintf("%s: column %s is shown and no coordinate of the points, unless %s names it",
					what, fields.Quote([]byte(name)), param.Name("columns")))
			}
		}
	}
	if !slices.Contains(roles, roleCoordinate) {
		return nil, fmt.Errorf("%s: no column is left for the coordinates of the points", what)
	}
	return roles, t.take(what, header, roles)
}

// take compares the names of the coordinates with those of a model and of the files before, and remembers them. It sets
// wanted where they are to be taken in another order than that of the file.
func (t *TableColumns) take(what string, header []string, roles []role) error {
	if t != nil {
		t.wanted = nil
	}
	if t == nil || header == nil {
		t.keep(what, header, roles)
		return nil
	}
	if err := t.expect(what, header, roles); err != nil {
		return err
	}

	have := coordinates(header, roles)
	order, whose := t.Expected, "the model"
	if order == nil {
		order, whose = t.names, t.from
	}
	switch sorted := slices.Sorted(slices.Values(have)); {
	case order == nil || slices.Equal(have, order):
	case slices.Equal(sorted, slices.Sorted(slices.Values(order))):
		if len(slices.Compact(sorted)) < len(have) {
			return fmt.Errorf("%s: the columns %s stand in another order than those of %s, %s, and two have one name; write "+
				"them in that order", what, enum.Some(have), whose, enum.Some(order))
		}
		t.Notes = append(t.Notes, fmt.Sprintf("%s: the columns %s are taken in the order of those of %s, %s", what,
			enum.Some(have), whose, enum.Some(order)))
		t.wanted = order
	case t.Expected == nil && len(have) == len(order):
		t.Notes = append(t.Notes, fmt.Sprintf("%s: the columns have other names than those of %s: %s for %s", what, whose,
			enum.Some(have), enum.Some(order)))
	}
	t.keep(what, header, roles)
	return nil
}

// ordered returns the columns of the coordinates in the order that take found.
func (t *TableColumns) ordered(header []string, columns []int) []int {
	if t.wanted == nil {
		return columns
	}
	out := make([]int, 0, len(columns))
	for _, name := range t.wanted {
		at := slices.IndexFunc(columns, func(i int) bool { return header[i] == name })
		out = append(out, columns[at])
	}
	return out
}

// coordinates returns the names of the coordinates.
func coordinates(header []string, roles []role) []string {
	var out []string
	for i, r := range roles {
		if r == roleCoordinate {
			out = append(out, header[i])
		}
	}
	return out
}

// expect compares the names of the coordinates with those that a model knows. Where no flag says what the coordinates are,
// it leaves out columns of other names.
func (t *TableColumns) expect(what string, header []string, roles []role) error {
	if t.Expected == nil {
		return nil
	}
	have := coordinates(header, roles)
	if slices.Equal(have, t.Expected) {
		return nil // at once for thousands of columns, which are compared with each other below
	}
	known := func(name string) bool { return slices.Contains(have, name) }
	if missing := slices.IndexFunc(t.Expected, func(name string) bool { return !known(name) }); missing >= 0 {
		if len(t.Only) > 0 && len(have) == len(t.Expected) {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: the coordinates %s stand for those of the model, %s, as %s says", what,
				enum.Some(have), enum.Some(t.Expected), param.Name("columns")))
			return nil
		}
		return columnsFault(fmt.Sprintf("%s: the model was fitted to a column %s, and the coordinates here are %s; give "+
			"points with its columns, %s, or name as many others with %s", what, fields.Quote([]byte(t.Expected[missing])),
			enum.Some(have), enum.Some(t.Expected), param.Name("columns")))
	}

	// All are there: columns of other names are no coordinates.
	var left []string
	for i, r := range roles {
		if r == roleCoordinate && !slices.Contains(t.Expected, header[i]) && len(t.Only) == 0 && len(t.Drop) == 0 {
			roles[i] = roleDropped
			left = append(left, header[i])
		}
	}
	if left != nil && t.from == "" {
		t.Notes = append(t.Notes, fmt.Sprintf("%s: left out, as the model was fitted without: %s", what, enum.Some(left)))
	}
	return nil
}

// index reports whether the first column is left out as an index: it alone has no name in the header,
// as pandas and R write the names of rows, and no flag names it.
func (t *TableColumns) index(what string, header []string) bool {
	if len(header) < 2 || header[0] != table.Unnamed(0) {
		return false
	}
	for i, name := range header[1:] {
		if name == table.Unnamed(i+1) {
			return false
		}
	}
	if t == nil {
		return true
	}
	for _, name := range slices.Concat([]string{t.ID, t.Label}, t.Drop, t.Only) {
		if name == "0" || name == header[0] {
			return false
		}
	}
	t.Notes = append(t.Notes, fmt.Sprintf("%s: the first column has no name and is left out as an index; it "+
		"holds the ids with %s 0, and coordinates if %s names them", what, param.Name("id"), param.Name("columns")))
	return true
}

// usualID returns the column that UsualID takes; −1 for none. The first file decides, and others must have its column.
func (t *TableColumns) usualID(what string, header []string, text func(int) bool) (int, error) {
	if t == nil || !t.UsualID || t.ID != "" || len(header) < 2 || t.from != "" && t.usual == "" {
		return -1, nil
	}
	if t.from != "" {
		at := slices.Index(header, t.usual)
		if at < 0 {
			return 0, fmt.Errorf("%s: there is no column %s, which holds the ids of the points of %s; add it, or leave it out there with %s %s",
				what, fields.Quote([]byte(t.usual)), t.from, param.Name("drop"), t.usual)
		}
		return at, nil
	}

	// A column that a flag or the model names is no candidate.
	known := slices.Concat([]string{t.Label}, t.Drop, t.Only, t.Shown, t.Expected)
	if at := slices.Index(header, t.ExpectedID); t.ExpectedID != "" && at >= 0 && !slices.Contains(known, t.ExpectedID) {
		t.usual = t.ExpectedID
		t.Notes = append(t.Notes, fmt.Sprintf("%s: column %s holds the ids of the points, as it does of those of the model; %s names "+
			"another column", what, fields.Quote([]byte(t.usual)), param.Name("id")))
		return at, nil
	}
	var free []string
	for i, name := range header {
		if name != table.Unnamed(i) && !slices.Contains(known, name) && !slices.Contains(known, strconv.Itoa(i)) {
			free = append(free, name)
		}
	}
	t.usual = labelcells.IDColumnOf(free, func(name string) bool { return text(slices.Index(header, name)) })
	if t.usual == "" {
		if name := labelcells.LikelyIDColumn(free); name != "" {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: column %s is read as a coordinate; if it names the points, say %s %s, "+
				"or leave it out with %s", what, fields.Quote([]byte(name)), param.Name("id"), name, param.Name("drop")))
		}
		return -1, nil
	}
	t.Notes = append(t.Notes, fmt.Sprintf("%s: column %s holds the ids of the points, and is no coordinate; %s names another column, and %s "+
		"the coordinates", what, fields.Quote([]byte(t.usual)), param.Name("id"), param.Name("columns")))
	return slices.Index(header, t.usual), nil
}

// keep remembers the names of the coordinates.
func (t *TableColumns) keep(what string, header []string, roles []role) {
	if t == nil || t.from != "" {
		return
	}
	t.from = what
	for i, r := range roles {
		if r == roleCoordinate && header != nil {
			t.names = append(t.names, header[i])
		}
	}
	if t.wanted != nil {
		t.names = slices.Clone(t.wanted)
	}
}

// add keeps a field that is no coordinate.
func (t *TableColumns) add(r role, field []byte) {
	switch r {
	case roleID:
		t.ids = append(t.ids, string(field))
		t.bytes += int64(len(field))
	case roleLabel:
		t.labels.Add(field, t.labels.Len())
	}
}

// held is the memory of the ids and labels, about.
func (t *TableColumns) held() int64 { return t.bytes + idMemory*int64(len(t.ids)) + t.labels.Bytes() }

// Names returns the names of the coordinates, nil if the file has no header.
func (t *TableColumns) Names() []string { return t.names }

// IDs returns the ids that were read; nil if no column holds them.
func (t *TableColumns) IDs() (*IDs, error) {
	name := cmp.Or(t.ID, t.usual)
	if name == "" {
		return nil, nil
	}
	return idsOfColumn(t.from, name, t.ids)
}

// FoundID reports whether UsualID found a column of ids.
func (t *TableColumns) FoundID() bool { return t.usual != "" }

// Unname gives up the ids that UsualID found, for example because two are equal.
func (t *TableColumns) Unname() {
	t.usual = ""
	t.ids = nil
	t.bytes = 0
}

// Labels returns the labels that were read, as [ReadLabels] does; nil if no column holds
// them.
func (t *TableColumns) Labels(opt LabelOptions) (*Labels, error) {
	if t.Label == "" {
		return nil, nil
	}
	what := t.from + ": column " + t.Label
	c := &labelcells.Cells{What: what, Text: &t.labels, Unit: "row"}
	return labelsOf(what, c, newMarker(&opt, false), &labelcells.Notes{})
}

// Suspects returns a line for every coordinate that may be the label: one with a usual
// name of labels, and one whose values and the classes of the labeled points determine each
// other. The latter is looked at if a class has two labels at least, and there are eight
// more labels than classes, as few labels agree by chance. It reads labeled rows until no column is left.
func (t *TableColumns) Suspects(x Points, y *Labels) []string {
	var out []string
	determined := determined(x, y)
	what := cmp.Or(t.from, "points")
	for j := range max(len(determined), len(t.names)) {
		name := fmt.Sprintf("column %d of the coordinates", j)
		usual := false
		if j < len(t.names) {
			name = fmt.Sprintf("column %s", fields.Quote([]byte(t.names[j])))
			usual = labelcells.IsLabelName(t.names[j])
		}
		switch {
		case j < len(determined) && determined[j]:
			out = append(out, fmt.Sprintf("%s: %s has one value a class on the labeled points, "+
				"another one for each: it may be the label; if it is, leave it out (%s of a table)",
				what, name, param.Name("drop")))
		case usual:
			out = append(out, fmt.Sprintf("%s: %s is read as a coordinate of the points; if it is "+
				"the label, give %s %s, or leave it out with %s", t.from, name, param.Name("label"),
				t.names[j], param.Name("drop")))
		}
	}

	const most = 5
	if len(out) > most {
		out = append(out[:most], fmt.Sprintf("%d more columns may be the label", len(out)-most))
	}
	return out
}

// determined tells for each column of dense points whether its values and the classes of
// the labeled points determine each other. Sparse points are no tables: none does.
func determined(x Points, y *Labels) []bool {
	if _, ok := x.(*sparse.CSR); ok || y == nil {
		return nil
	}
	s := y.Summary()
	if s.Classes < 2 || s.Fewest < 2 || s.Labeled < s.Classes+8 {
		return nil
	}
	_, d := x.Dims()
	out := slices.Repeat([]bool{true}, d)

	firsts := make([]int, len(y.Classes)) // the first point of each class, from 1
	row := make([]float64, d)
	first := make([]float64, d)
	for _, i := range y.Labeled() {
		at := &firsts[y.Index[i]]
		if *at == 0 {
			*at = i + 1
			continue
		}
		RowTo(row, x, i)
		RowTo(first, x, *at-1)
		for j, v := range row {
			out[j] = out[j] && v == first[j]
		}
		if !slices.Contains(out, true) { // as soon as that is known, as the points may be mapped
			return out
		}
	}

	firsts = slices.DeleteFunc(firsts, func(at int) bool { return at == 0 })
	for j, same := range out {
		if !same {
			continue
		}
		values := make([]float64, len(firsts))
		for c, at := range firsts {
			RowTo(row, x, at-1)
			values[c] = row[j]
		}
		slices.Sort(values)
		out[j] = len(slices.Compact(values)) == len(firsts)
	}

	return out
}
