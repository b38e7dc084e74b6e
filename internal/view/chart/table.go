package chart

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/param"
)

// Table is a list of JSON objects, the rows. The fields of a row are numbers or texts.
type Table struct {
	path string
	rows []map[string]any
}

// Curves says which fields of a table to draw.
type Curves struct {
	X, Value string
	Bars     string   // of error bars, or empty
	By       []string // each combination of their values is a curve
	XLog     bool     // logarithmic horizontal axis
}

// Fields returns the names of all fields, sorted.
func (t *Table) Fields() []string {
	fields := map[string]bool{}
	for _, row := range t.rows {
		for name := range row {
			fields[name] = true
		}
	}
	return slices.Sorted(maps.Keys(fields))
}

// Lines draws the table.
func (t *Table) Lines(c *Curves) (*Lines, error) {
	have := t.Fields()
	for _, name := range append([]string{c.X, c.Value, c.Bars}, c.By...) {
		if name != "" && !slices.Contains(have, name) {
			return nil, fmt.Errorf("%s has no field %q; it has %s", t.path, name, strings.Join(have, ", "))
		}
	}

	series, err := t.split(c)
	if err != nil {
		return nil, err
	}
	return &Lines{XLabel: c.X, YLabel: c.Value, XLog: c.XLog, Series: series}, nil
}

// tableCell returns a field of a row; a missing one is 0.
func tableCell(row map[string]any, name string) any {
	if v := row[name]; v != nil {
		return v
	}
	return 0.0
}

// compareCells orders numbers by value and before text, and text by the numbers in it.
func compareCells(a, b any) int {
	x, okX := a.(float64)
	y, okY := b.(float64)
	switch {
	case okX && okY:
		return cmp.Compare(x, y)
	case okX:
		return -1
	case okY:
		return 1
	}

	return CompareNames(fmt.Sprint(a), fmt.Sprint(b))
}

// split makes a series of the rows of each combination of the fields c.By, in the
// order of their values. A row without a value has NaN, which charts leave out.
func (t *Table) split(c *Curves) (all []Series, err error) {
	path := t.path
	rows := t.rows
	for i, row := range rows {
		if _, ok := tableNumber(row, c.X, true); !ok {
			return nil, fmt.Errorf("%s: row %d: %s is %v; it must be a number", path, i, c.X, row[c.X])
		}
	}

	// Rows of one curve come together by sorting, with x ascending in each.
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b map[string]any) int {
		for _, name := range append(slices.Clone(c.By), c.X) {
			if order := compareCells(tableCell(a, name), tableCell(b, name)); order != 0 {
				return order
			}
		}
		return 0
	})

	// A field may hold text in some rows and be missing in others; such a field is a name.
	texts := map[string]bool{}
	for _, row := range rows {
		for _, name := range c.By {
			if _, ok := row[name].(string); ok {
				texts[name] = true
			}
		}
	}

	// Two values at one x mean that another field tells the rows apart.
	drawable := false
	for _, row := range rows {
		name := curveName(row, c.By, texts)
		if n := len(all); n == 0 || all[n-1].Name != name {
			all = append(all, Series{Name: name})
		}
		s := &all[len(all)-1]
		x, _ := tableNumber(row, c.X, true)
		y, ok := tableNumber(row, c.Value, false)
		e, _ := tableNumber(row, c.Bars, true)
		if !ok {
			y = math.NaN()
		} else if drawable = drawable || !c.XLog || x >= 0; slices.Contains(s.X, x) {
			return nil, fmt.Errorf("%s has several rows with %s = %v on one curve; tell them apart with %s",
				path, c.X, x, param.Name("by"))
		}

		s.X = append(s.X, x)
		s.Y = append(s.Y, y)
		s.Err = append(s.Err, e)
	}

	if !drawable {
		return nil, fmt.Errorf("%s: no row has a %s that can be drawn", path, c.Value)
	}
	if len(all) > MaxSeries {
		return nil, fmt.Errorf("%s makes %d curves with %s %s; at most %d can be told apart", path,
			len(all), param.Name("by"), strings.Join(c.By, ","), MaxSeries)
	}
	return all, nil
}

// curveName names the curve of a row by the fields by: numbers with their field, text
// without, and of fields of text nothing where the row has none.
func curveName(row map[string]any, by []string, texts map[string]bool) string {
	var parts []string
	for _, name := range by {
		text, ok := row[name].(string)
		switch {
		case ok:
			parts = append(parts, text)
		case !texts[name]:
			parts = append(parts, fmt.Sprintf("%s %v", name, tableCell(row, name)))
		}
	}

	return strings.Join(parts, ", ")
}

// tableNumber returns a finite number in a row; a missing one is 0 where that
// counts.
func tableNumber(row map[string]any, name string, missing bool) (float64, bool) {
	v, ok := row[name]
	if !ok || v == nil {
		return 0, missing
	}
	f, ok := v.(float64)
	return f, ok && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// ReadTable reads a JSON file of at most limit bytes: a list of objects, or an object
// with one such list among its fields.
func ReadTable(path string, limit int64) (*Table, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: a table of %d bytes is too large to draw; at most %d are allowed", path,
			info.Size(), limit)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}

	// A plain list of objects.
	var rows []map[string]any
	if json.Unmarshal(text, &rows) == nil && len(rows) > 0 {
		return &Table{path, rows}, nil
	}
	// Or an object with one such list among its fields, as --json of tune prints.
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("%s: not a table, a list of objects in JSON: %w", path, err)
	}
	var found []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		var list []map[string]any
		if json.Unmarshal(object[name], &list) == nil && len(list) > 0 {
			rows, found = list, append(found, name)
		}
	}

	if len(found) != 1 {
		return nil, fmt.Errorf("%s: the object has %d lists of objects %v; there must be one", path,
			len(found), found)
	}
	return &Table{path, rows}, nil
}
