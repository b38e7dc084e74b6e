package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/bigfit/bigfit/internal/report"
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
func (a *app) scatter(path string, o *plotOptions) (*figure, error) {
	if len(o.columns) != 2 || o.columns[0] < 1 || o.columns[1] < 1 {
		return nil, usagef("--columns is %v; it must be two numbers of at least 1", o.columns)
	}
	at, labels, err := a.plane(path, o, o.columns[0], o.columns[1], 0)
	if err != nil {
		return nil, err
	}
	c := newChart("", fmt.Sprintf("coordinate %d", o.columns[0]), fmt.Sprintf("coordinate %d", o.columns[1]))
	c.grid()
	fig := &figure{chart: c, aspect: 0.8}
	fig.marks, fig.left = c.points(at, labels, o.maxPoints, a.seed, false)
	for _, axis := range []*plot.Axis{&c.plot.X, &c.plot.Y} {
		d := margin(axis.Min, axis.Max) / 2
		axis.Min, axis.Max = axis.Min-d, axis.Max+d
	}
	return fig, nil
}

// eigenvalues draws the values of eigenpairs.
func (a *app) eigenvalues(path string) (*figure, error) {
	f, err := lanczos.Load(path, int64(a.memory))
	if err != nil {
		return nil, err
	}
	at := make(plotter.XYs, len(f.Result.Values))
	for i, v := range f.Result.Values {
		at[i] = plotter.XY{X: float64(i + 1), Y: v}
	}
	c := newChart("", "number", "eigenvalue λ")
	c.grid()
	if len(at) > 1 {
		c.plot.Add(&plotter.Line{XYs: at, LineStyle: lineStyle(0)})
	}
	c.plot.Add(&plotter.Scatter{XYs: at, GlyphStyle: glyphStyle(0)})
	roomAround(&c.plot.Y)
	roomAround(&c.plot.X)
	return &figure{chart: c, aspect: 0.6, marks: len(at)}, nil
}

// curve is a line of a table.
type curve struct {
	name string
	at   plotter.XYs
	bars plotter.YErrors
}

func (c *curve) Len() int                       { return len(c.at) }
func (c *curve) XY(i int) (float64, float64)    { return c.at.XY(i) }
func (c *curve) YError(i int) (low, up float64) { return c.bars.YError(i) }

// curves draws a table.
func (a *app) curves(path string, o *curveOptions) (*figure, error) {
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
	all, left, err := o.split(path, rows, bars)
	if err != nil {
		return nil, err
	}
	c := newChart("", o.x, o.value)
	c.grid()
	fig := &figure{chart: c, aspect: 0.65, left: left}
	for i, s := range all {
		line, marks := &plotter.Line{XYs: s.at, LineStyle: lineStyle(i)}, &plotter.Scatter{XYs: s.at, GlyphStyle: glyphStyle(i)}
		if bars != "" {
			e, err := plotter.NewYErrorBars(s)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			e.LineStyle.Color, e.CapWidth = lineStyle(i).Color, vg.Points(5)
			c.plot.Add(e)
		}
		c.plot.Add(line, marks)
		if len(o.by) > 0 {
			c.key(s.name, line, marks)
		}
		fig.marks += len(s.at)
	}
	roomAround(&c.plot.Y)
	if o.logX {
		c.plot.X.Scale, c.plot.X.Tick.Marker = plot.LogScale{}, logTicks{}
		if c.plot.X.Min == c.plot.X.Max {
			c.plot.X.Min, c.plot.X.Max = c.plot.X.Min/2, c.plot.X.Max*2
		}
	} else {
		roomAround(&c.plot.X)
	}
	return fig, nil
}

// logTicks are plot.LogTicks from the power of ten at or below the least value on,
// also where that is less than 1.
type logTicks struct{}

// Ticks returns marks between two positive values, and a few outside.
func (logTicks) Ticks(low, high float64) []plot.Tick {
	power := math.Pow10(int(math.Floor(math.Log10(low))))
	return plot.LogTicks{Prec: -1}.Ticks(power*(1-1e-9), high)
}

// split makes curves of rows, in the order of their names. Rows without a value,
// and on a logarithmic axis those that are not positive, are left out.
func (o *curveOptions) split(path string, rows []map[string]any, bars string) (all []*curve, left int, err error) {
	byName := map[string]*curve{}
	for i, row := range rows {
		var parts []string
		for _, name := range o.by {
			v := row[name]
			if v == nil {
				v = 0
			}
			parts = append(parts, fmt.Sprintf("%s %v", name, v))
		}
		name := strings.Join(parts, ", ")
		x, okX := tableNumber(row, o.x, true)
		y, okY := tableNumber(row, o.value, false)
		switch {
		case !okX:
			return nil, 0, fmt.Errorf("%s: row %d: %s is %v; it must be a number", path, i, o.x, row[o.x])
		case !okY || o.logX && x <= 0:
			left++
			continue
		}
		e, _ := tableNumber(row, bars, true)
		c := byName[name]
		if c == nil {
			c = &curve{name: name}
			byName[name] = c
			all = append(all, c)
		}
		c.at = append(c.at, plotter.XY{X: x, Y: y})
		c.bars = append(c.bars, struct{ Low, High float64 }{e, e})
	}
	if len(all) == 0 {
		return nil, 0, fmt.Errorf("%s: no row has a %s that can be drawn", path, o.value)
	}
	if len(all) > 2*len(report.Colors()) {
		return nil, 0, usagef("%s makes %d curves with --by %s; at most %d can be told apart", path, len(all), strings.Join(o.by, ","), 2*len(report.Colors()))
	}
	for _, c := range all {
		order := make([]int, len(c.at))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			if c.at[a].X < c.at[b].X {
				return -1
			}
			if c.at[a].X > c.at[b].X {
				return 1
			}
			return 0
		})
		at, e := make(plotter.XYs, len(order)), make(plotter.YErrors, len(order))
		for p, i := range order {
			at[p], e[p] = c.at[i], c.bars[i]
			if p > 0 && at[p].X == at[p-1].X {
				return nil, 0, usagef("%s has several rows with %s = %v on one curve; tell them apart with --by", path, o.x, at[p].X)
			}
		}
		c.at, c.bars = at, e
	}
	slices.SortStableFunc(all, func(a, b *curve) int { return strings.Compare(a.name, b.name) })
	return all, left, nil
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
