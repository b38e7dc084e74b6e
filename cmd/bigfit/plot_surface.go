package main

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/report"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/kernelmachine"
)

// surfaceCells is the number of cells in a row of the picture of a surface.
const surfaceCells = 240

// surface draws what a model says over the rectangle of its points.
func (a *app) surface(ctx context.Context, path string, o *plotOptions) (*figure, error) {
	if o.x == "" {
		return nil, usagef("%s is a model, whose surface is drawn over points; give them with -X", path)
	}
	m, _, err := all.Load(path, int64(a.memory))
	if err != nil {
		return nil, err
	}
	if v, ok := m.(*kernelmachine.VVMR); ok {
		_, outputs := v.Coefficients.Dims()
		return nil, usagef("%s is a %s model of %d outputs, of which there is no surface; draw a model of one", path, m.Name(), outputs)
	}
	at, labels, err := a.plane(o.x, o, 1, 2, 2)
	if err != nil {
		return nil, err
	}
	xmin, xmax, ymin, ymax := plotter.XYRange(at)
	dx, dy := margin(xmin, xmax), margin(ymin, ymax)
	s := newCells(xmin-dx, xmax+dx, ymin-dy, ymax+dy)
	st := a.progress.Stage("surface")
	p, err := predictGrid(ctx, m, &s.Grid, func(done, total int) { st.Update(float64(done), float64(total), "") })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	st.Done(fmt.Sprintf("%d × %d points", surfaceCells, surfaceCells))
	outcomes := m.Outcomes()
	if outcomes != nil && len(outcomes) != 2 && len(o.levels) > 0 {
		return nil, usagef("--levels are for two classes or values; %s has %d classes", path, len(outcomes))
	}
	c := newChart(m.Name(), "", "")
	s.Values = surfaceValues(p.Scores, outcomes)
	c.plot.Add(&background{s, s.image(p.Classes, outcomes, labels)})
	if s.Values != nil {
		c.plot.Add(s.contours(o.levels, outcomes != nil)...)
	}
	fig := &figure{chart: c, aspect: max(0.55, min(1.1, 0.1+0.85*(s.top-s.bottom)/(s.right-s.left)))}
	fig.marks, fig.left = c.points(at, labels, o.maxPoints, a.seed, true)
	c.plot.X.Min, c.plot.X.Max, c.plot.Y.Min, c.plot.Y.Max = s.left, s.right, s.bottom, s.top
	c.plot.X.Padding, c.plot.Y.Padding = 0, 0
	return fig, nil
}

// margin is what is left around points between two values.
func margin(low, high float64) float64 {
	if high > low {
		return 0.08 * (high - low)
	}
	return 1
}

// plane reads points, as positions by two columns counted from 1, and their
// labels, nil without. columns, if not 0, are all that there may be.
func (a *app) plane(path string, o *plotOptions, first, second, columns int) (plotter.XYs, *data.Labels, error) {
	x, err := a.readPoints(path, data.ReadOptions{Columns: columns})
	if err != nil {
		return nil, nil, err
	}
	n, d := x.Dims()
	if columns > 0 && d != columns {
		return nil, nil, fmt.Errorf("%s has %d columns; a surface can be drawn over points of %d", path, d, columns)
	}
	if n == 0 || d < max(first, second) {
		return nil, nil, fmt.Errorf("%s has %d points of %d columns; columns %d and %d are to be drawn", path, n, d, first, second)
	}
	at := make(plotter.XYs, n)
	row := make([]float64, d)
	for i := range at {
		data.RowTo(row, x, i)
		at[i] = plotter.XY{X: row[first-1], Y: row[second-1]}
	}
	if o.y == "" {
		return at, nil, nil
	}
	labels, err := o.label.read(a, o.y)
	if err != nil {
		return nil, nil, err
	}
	if labels.Len() != n {
		return nil, nil, fmt.Errorf("%s has %d points but %s has %d labels", path, n, o.y, labels.Len())
	}
	return at, labels, nil
}

// cells are the cells of a rectangle, and a function at their centres.
type cells struct {
	left, right, bottom, top float64
	report.Grid              // without values for more than two classes
}

func newCells(left, right, bottom, top float64) *cells {
	const n = surfaceCells
	dx, dy := (right-left)/(2*n), (top-bottom)/(2*n)
	return &cells{left, right, bottom, top, report.Grid{X0: left + dx, X1: right - dx, Y0: bottom + dy, Y1: top - dy, Columns: n, Rows: n}}
}

// predictGrid applies a model of two columns to the points of a grid, row by row
// from below.
func predictGrid(ctx context.Context, m models.Model, g *report.Grid, progress func(done, total int)) (*models.Prediction, error) {
	x := data.NewDense[float64](g.Columns*g.Rows, 2)
	for r := range g.Rows {
		for c := range g.Columns {
			copy(x.Row(r*g.Columns+c), []float64{g.X(c), g.Y(r)})
		}
	}
	return m.Predict(ctx, x, &models.PredictSettings{OnProgress: progress})
}

// surfaceValues are the values whose lines are drawn: half the difference of two
// scores, the first output of a regression, nothing of more classes.
func surfaceValues(scores *mat.Dense, outcomes []int64) []float64 {
	if len(outcomes) > 2 || scores == nil {
		return nil
	}
	values := mat.Col(nil, 0, scores)
	if outcomes == nil {
		return values
	}
	for i := range values {
		values[i] = (scores.At(i, 1) - values[i]) / 2
	}
	return values
}

// background draws cells over their rectangle.
type background struct {
	cells *cells
	image *image.NRGBA
}

// Plot draws an image of the shape that the rectangle has on the canvas: SVG
// viewers keep the shape of an image and would leave stripes empty.
func (b *background) Plot(c draw.Canvas, p *plot.Plot) {
	const width = 720
	x, y := p.Transforms(&c)
	s := b.cells
	height := max(1, int(math.Round(width*float64((y(s.top)-y(s.bottom))/(x(s.right)-x(s.left))))))
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for r := range height {
		for q := range width {
			img.SetNRGBA(q, r, b.image.NRGBAAt(q*surfaceCells/width, r*surfaceCells/height))
		}
	}
	plotter.NewImage(img, s.left, s.bottom, s.right, s.top).Plot(c, p)
}

// DataRange is the rectangle.
func (b *background) DataRange() (xmin, xmax, ymin, ymax float64) {
	return b.cells.left, b.cells.right, b.cells.bottom, b.cells.top
}

// image colours the cells by class, as labels name it, or by value.
func (s *cells) image(classes []int32, outcomes []int64, labels *data.Labels) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, surfaceCells, surfaceCells))
	var low, high float64
	if outcomes == nil {
		low, high = slices.Min(s.Values), slices.Max(s.Values)
	}
	colors := make([]color.NRGBA, len(outcomes))
	for k, value := range outcomes {
		number := k
		if labels != nil {
			if at := slices.Index(labels.Classes, value); at >= 0 {
				number = at
			}
		}
		colors[k] = blend(color.NRGBA{0xff, 0xff, 0xff, 0xff}, seriesColor(number), 0.3)
	}
	for r := range surfaceCells {
		for c := range surfaceCells {
			i := r*surfaceCells + c
			var cell color.NRGBA
			if outcomes != nil {
				cell = colors[classes[i]]
			} else {
				share := 0.5
				if high > low {
					share = (s.Values[i] - low) / (high - low)
				}
				cell = blend(color.NRGBA{0xff, 0xfb, 0xe6, 0xff}, color.NRGBA{0x1f, 0x6f, 0x9f, 0xff}, 0.85*share)
			}
			img.SetNRGBA(c, surfaceCells-1-r, cell)
		}
	}
	return img
}

// blend mixes two colours.
func blend(a, b color.NRGBA, share float64) color.NRGBA {
	mix := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + share*(float64(y)-float64(x)))) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}

// contours are the lines at the levels, that of 0 between two classes the
// strongest. Levels that the function does not take draw nothing.
func (s *cells) contours(levels []float64, classes bool) []plot.Plotter {
	low, high := slices.Min(s.Values), slices.Max(s.Values)
	if len(levels) == 0 && classes {
		levels = []float64{0}
	} else if len(levels) == 0 {
		for i := range 8 {
			levels = append(levels, low+(high-low)*(float64(i)+0.5)/8)
		}
	}
	var out []plot.Plotter
	for _, v := range levels {
		if !(v > low && v < high) {
			continue
		}
		style := draw.LineStyle{Color: ink, Width: vg.Points(0.6), Dashes: []vg.Length{vg.Points(3), vg.Points(2)}}
		if classes && v == 0 {
			style = draw.LineStyle{Color: ink, Width: vg.Points(1.4)}
		}
		for _, line := range s.Lines(v) {
			at := make(plotter.XYs, len(line))
			for i, p := range line {
				at[i] = plotter.XY(p)
			}
			out = append(out, &plotter.Line{XYs: at, LineStyle: style})
		}
	}
	return out
}
