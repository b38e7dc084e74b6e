package main

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/report"
)

// chart is a plot with its legend beside it.
type chart struct {
	plot   *plot.Plot
	legend plot.Legend
	keys   []string // of the legend
}

var (
	ink  = color.NRGBA{0x33, 0x33, 0x33, 0xff}
	grey = color.NRGBA{0x9a, 0x9a, 0x9a, 0xff}
	pale = color.NRGBA{0xe4, 0xe4, 0xe4, 0xff}
)

// newChart returns an empty chart with sans-serif labels.
func newChart(title, x, y string) *chart {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(6)
	for _, s := range []struct {
		style *draw.TextStyle
		size  font.Length
	}{{&p.Title.TextStyle, 13}, {&p.X.Label.TextStyle, 11}, {&p.Y.Label.TextStyle, 11}, {&p.X.Tick.Label, 9.5}, {&p.Y.Tick.Label, 9.5}} {
		s.style.Font.Variant, s.style.Font.Size, s.style.Color = "Sans", s.size, ink
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = ink, ink
		axis.Padding, axis.Tick.Marker = vg.Points(4), roundTicks{}
	}
	c := &chart{plot: p, legend: plot.NewLegend()}
	c.legend.TextStyle.Font.Variant, c.legend.TextStyle.Font.Size, c.legend.TextStyle.Color = "Sans", 10, ink
	c.legend.Top, c.legend.Left = true, true
	c.legend.Padding = vg.Points(3)
	c.legend.ThumbnailWidth = vg.Points(14)
	return c
}

// grid adds lines behind what is added later.
func (c *chart) grid() {
	g := plotter.NewGrid()
	g.Horizontal.Color, g.Vertical.Color = pale, pale
	c.plot.Add(g)
}

// key adds a line to the legend.
func (c *chart) key(name string, thumbs ...plot.Thumbnailer) {
	c.legend.Add(name, thumbs...)
	c.keys = append(c.keys, name)
}

// draw draws the plot and, in a strip on its right, the legend.
func (c *chart) draw(canvas draw.Canvas) {
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	margin := vg.Points(8)
	canvas = draw.Crop(canvas, margin, -margin, margin, -margin)
	var strip vg.Length
	for _, name := range c.keys {
		strip = max(strip, c.legend.TextStyle.Width(name)+c.legend.ThumbnailWidth+vg.Points(16))
	}
	c.plot.Draw(draw.Crop(canvas, 0, -strip, 0, 0))
	if strip > 0 {
		top := vg.Length(0)
		if c.plot.Title.Text != "" {
			top = c.plot.Title.TextStyle.Height(c.plot.Title.Text) + c.plot.Title.Padding
		}
		c.legend.Draw(draw.Crop(canvas, canvas.Max.X-canvas.Min.X-strip+vg.Points(10), 0, 0, -top))
	}
}

// seriesColor returns the colour of class or series number i.
func seriesColor(i int) color.NRGBA {
	colors := report.Colors()
	var r, g, b uint8
	fmt.Sscanf(colors[i%len(colors)], "#%02x%02x%02x", &r, &g, &b) // from a table of ours
	return color.NRGBA{r, g, b, 0xff}
}

// seriesShape returns the mark of class or series number i.
func seriesShape(i int) draw.GlyphDrawer {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.PlusGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}}
	return shapes[i%len(shapes)]
}

// lineStyle is that of series number i; beyond the colours the lines are dashed.
func lineStyle(i int) draw.LineStyle {
	s := draw.LineStyle{Color: seriesColor(i), Width: vg.Points(1.4)}
	if i >= len(report.Colors()) {
		s.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	return s
}

// glyphStyle is that of the marks of series number i.
func glyphStyle(i int) draw.GlyphStyle {
	return draw.GlyphStyle{Color: seriesColor(i), Radius: vg.Points(2.6), Shape: seriesShape(i)}
}

// roundTicks are marks at multiples of 1, 2 or 5 times a power of ten.
type roundTicks struct{}

// Ticks returns four to eleven marks.
func (roundTicks) Ticks(low, high float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/4)))
	for _, m := range []float64{5, 2} {
		if (high-low)/(m*step) >= 4 {
			step *= m
			break
		}
	}
	var ticks []plot.Tick
	for q := math.Ceil(low / step); q*step <= high; q++ {
		ticks = append(ticks, plot.Tick{Value: q * step, Label: strconv.FormatFloat(q*step, 'g', 6, 64)})
	}
	return ticks
}

// roomAround makes a range that has no length one that has.
func roomAround(a *plot.Axis) {
	if a.Min == a.Max {
		d := max(0.5, math.Abs(a.Min)/2)
		a.Min, a.Max = a.Min-d, a.Max+d
	}
}

// maxKeys is the number of classes that a legend names.
const maxKeys = 20

// points adds marks at positions, in colours by labels, which may be nil; points
// without a label are small and grey. Of more than limit a sample by seed is
// drawn. On a surface outline puts a white rim around labeled points.
func (c *chart) points(at plotter.XYs, labels *data.Labels, limit int, seed uint64, outline bool) (marks, left int) {
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	if len(at) > limit {
		order = rand.New(rand.NewPCG(seed, 0x706c6f74)).Perm(len(at))[:limit]
		slices.Sort(order)
	}
	radius := vg.Points(max(0.9, min(2.6, 60/math.Sqrt(float64(len(order))+1))))
	labeled := radius
	if labels != nil && outline && 10*len(labels.Labeled()) < len(at) {
		labeled = vg.Points(4) // few, and what matters
	}
	class := func(i int) int32 {
		switch {
		case labels != nil:
			return labels.Index[i]
		case outline:
			return data.Unlabeled
		}
		return 0
	}
	// Points without a label lie below.
	slices.SortStableFunc(order, func(a, b int) int { return min(int(class(a)), 0) - min(int(class(b)), 0) })
	drawn, bare := make(plotter.XYs, len(order)), 0
	for p, i := range order {
		drawn[p] = at[i]
		if class(i) == data.Unlabeled {
			bare++
		}
	}
	style := func(k int32) draw.GlyphStyle {
		if k == data.Unlabeled {
			return draw.GlyphStyle{Color: grey, Radius: radius * 0.75, Shape: draw.CircleGlyph{}}
		}
		return draw.GlyphStyle{Color: seriesColor(int(k)), Radius: labeled, Shape: seriesShape(int(k))}
	}
	c.plot.Add(&plotter.Scatter{XYs: drawn[:bare], GlyphStyle: style(data.Unlabeled)})
	if outline {
		c.plot.Add(&plotter.Scatter{XYs: drawn[bare:], GlyphStyle: draw.GlyphStyle{Color: color.White, Radius: labeled + vg.Points(1.2), Shape: draw.CircleGlyph{}}})
	}
	c.plot.Add(&plotter.Scatter{XYs: drawn[bare:], GlyphStyleFunc: func(p int) draw.GlyphStyle { return style(class(order[bare+p])) }})
	if labels != nil {
		for k, value := range labels.Classes {
			if k == maxKeys {
				c.key(fmt.Sprintf("and %d more", len(labels.Classes)-maxKeys))
				break
			}
			s := style(int32(k))
			s.Radius = vg.Points(3)
			c.key(fmt.Sprint(value), &plotter.Scatter{GlyphStyle: s})
		}
		if slices.Contains(labels.Index, data.Unlabeled) {
			s := style(data.Unlabeled)
			s.Radius = vg.Points(2)
			c.key("no label", &plotter.Scatter{GlyphStyle: s})
		}
	}
	return len(order), len(at) - len(order)
}
