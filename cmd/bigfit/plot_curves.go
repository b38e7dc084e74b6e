package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/internal/chart"
	"github.com/bigfit/bigfit/lanczos"
)

// curveOptions are the flags of curves.
type curveOptions struct {
	x, value, bars string
	by             []string
	logX           bool
}

func (o *curveOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.x, "x", "", "`field` of a table for the horizontal axis")
	f.StringVar(&o.value, "value", "mean", "`field` of a table for the vertical axis")
	f.StringVar(&o.bars, "bars", "", "`field` of a table for error bars (default: std_err where there is one)")
	f.StringSliceVar(&o.by, "by", nil, "`fields` of a table of which each combination has a curve of its own")
	f.BoolVar(&o.logX, "log-x", false, "logarithmic horizontal axis")
}

// scatter draws two columns of an embedding.
func (a *app) scatter(path string, o *plotOptions) (*chart.Scatter, error) {
	if len(o.columns) != 2 || o.columns[0] < 1 || o.columns[1] < 1 {
		return nil, usagef("--columns is %v; it must be two numbers of at least 1", o.columns)
	}
	points, _, err := a.plane(path, o, o.columns[0], o.columns[1], 0)
	if err != nil {
		return nil, err
	}
	return &chart.Scatter{XLabel: fmt.Sprintf("coordinate %d", o.columns[0]), YLabel: fmt.Sprintf("coordinate %d", o.columns[1]), Points: *points}, nil
}

// eigenvalues draws the values of eigenpairs.
func (a *app) eigenvalues(path string) (*chart.Lines, error) {
	f, err := lanczos.Load(path, int64(a.memory))
	if err != nil {
		return nil, err
	}
	s := chart.Series{Y: f.Result.Values}
	for i := range s.Y {
		s.X = append(s.X, float64(i+1))
	}
	return &chart.Lines{XLabel: "number", YLabel: "eigenvalue λ", Series: []chart.Series{s}}, nil
}

// curves draws a table.
func (a *app) curves(path string, o *curveOptions) (*chart.Lines, error) {
	rows, err := readTable(path, int64(a.memory))
	if err != nil {
		return nil, err
	}
	fields := map[string]bool{}
	for _, row := range rows {
		for name := range row {
			fields[name] = true
		}
	}
	have := strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
	if o.x == "" {
		return nil, usagef("curves need the field of the horizontal axis with --x; %s has %s", path, have)
	}
	bars := o.bars
	if bars == "" && fields["std_err"] {
		bars = "std_err"
	}
	for _, name := range append([]string{o.x, o.value, bars}, o.by...) {
		if name != "" && !fields[name] {
			return nil, usagef("%s has no field %q; it has %s", path, name, have)
		}
	}
	series, err := o.split(path, rows, bars)
	if err != nil {
		return nil, err
	}
	return &chart.Lines{XLabel: o.x, YLabel: o.value, XLog: o.logX, Series: series}, nil
}

// tableCell returns a field of a row; a missing one is 0.
func tableCell(row map[string]any, name string) any {
	if v := row[name]; v != nil {
		return v
	}
	return 0.0
}

// compareCells orders numbers by value and before text.
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
	return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
}

// split makes a series of the rows of each combination of the fields o.by, in the
// order of their values. A row without a value has NaN, which charts leave out.
func (o *curveOptions) split(path string, rows []map[string]any, bars string) (all []chart.Series, err error) {
	for i, row := range rows {
		if _, ok := tableNumber(row, o.x, true); !ok {
			return nil, fmt.Errorf("%s: row %d: %s is %v; it must be a number", path, i, o.x, row[o.x])
		}
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b map[string]any) int {
		for _, name := range append(slices.Clone(o.by), o.x) {
			if c := compareCells(tableCell(a, name), tableCell(b, name)); c != 0 {
				return c
			}
		}
		return 0
	})
	drawable := false
	for _, row := range rows {
		var parts []string
		for _, name := range o.by {
			parts = append(parts, fmt.Sprintf("%s %v", name, tableCell(row, name)))
		}
		name := strings.Join(parts, ", ")
		if n := len(all); n == 0 || all[n-1].Name != name {
			all = append(all, chart.Series{Name: name})
		}
		s := &all[len(all)-1]
		x, _ := tableNumber(row, o.x, true)
		y, ok := tableNumber(row, o.value, false)
		e, _ := tableNumber(row, bars, true)
		if !ok {
			y = math.NaN()
		} else if drawable = drawable || !o.logX || x >= 0; slices.Contains(s.X, x) {
			return nil, usagef("%s has several rows with %s = %v on one curve; tell them apart with --by", path, o.x, x)
		}
		s.X, s.Y, s.Err = append(s.X, x), append(s.Y, y), append(s.Err, e)
	}
	if !drawable {
		return nil, fmt.Errorf("%s: no row has a %s that can be drawn", path, o.value)
	}
	if len(all) > chart.MaxSeries {
		return nil, usagef("%s makes %d curves with --by %s; at most %d can be told apart", path, len(all), strings.Join(o.by, ","), chart.MaxSeries)
	}
	return all, nil
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

// readTable reads a list of objects, or the one field of an object that is such a
// list.
func readTable(path string, limit int64) ([]map[string]any, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit/16 {
		return nil, fmt.Errorf("%s: a table of %s is too large to draw", path, memorySize(info.Size()))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var rows []map[string]any
	if json.Unmarshal(text, &rows) == nil && len(rows) > 0 {
		return rows, nil
	}
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
		return nil, fmt.Errorf("%s: the object has %d lists of objects %v; there must be one", path, len(found), found)
	}
	return rows, nil
}
