package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A shape is a disc, square, triangle or diamond of about the same area, by its
// remainder modulo 4.
type shape int

// add appends the outline of the shape at a place to a path.
func (s shape) add(p *vg.Path, at vg.Point, r vg.Length) {
	var corners []vg.Point
	// The factors give all shapes about the same area, so that no class looks more frequent.
	switch s % 4 {
	case 0:
		p.Move(vg.Point{X: at.X + r, Y: at.Y})
		p.Arc(at, r, 0, 2*math.Pi)
		p.Close()
		return
	case 1:
		r *= 0.9
		corners = []vg.Point{{X: -r, Y: -r}, {X: r, Y: -r}, {X: r, Y: r}, {X: -r, Y: r}}
	case 2:
		r *= 1.2
		corners = []vg.Point{{X: 0, Y: r}, {X: -r, Y: -0.8 * r}, {X: r, Y: -0.8 * r}}
	case 3:
		r *= 1.25
		corners = []vg.Point{{X: 0, Y: r}, {X: -r, Y: 0}, {X: 0, Y: -r}, {X: r, Y: 0}}
	}

	p.Move(at.Add(corners[0]))
	for _, q := range corners[1:] {
		p.Line(at.Add(q))
	}
	p.Close()
}

// marks are points of one colour and shape, drawn as one path: a few bytes for a
// point where plotter.Scatter writes a hundred.
type marks struct {
	at     plotter.XYs
	color  color.Color
	shape  shape
	radius vg.Length
	ring   vg.Length // width of the outline; 0 means filled
}

// Plot implements plot.Plotter.
func (m *marks) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := make([]vg.Point, len(m.at))
	for i, q := range m.at {
		at[i] = vg.Point{X: x(q.X), Y: y(q.Y)}
	}
	m.draw(c, at, m.radius)
}

// Thumbnail implements plot.Thumbnailer.
func (m *marks) Thumbnail(c *draw.Canvas) {
	// Colours are told apart in the legend first, so its marks are larger.
	m.draw(*c, []vg.Point{c.Center()}, max(m.radius, vg.Points(4)))
}

func (m *marks) draw(c draw.Canvas, at []vg.Point, r vg.Length) {
	if len(at) == 0 {
		return
	}
	c.SetColor(m.color)
	// SVG has a shorter form for discs, which most marks are.
	if m.shape%4 == 0 && m.ring == 0 {
		if s := svgOf(c); s != nil {
			s.discs(at, r)
			return
		}
	}

	var path vg.Path
	for _, q := range at {
		m.shape.add(&path, q, r)
	}
	if m.ring == 0 {
		c.Fill(path)
		return
	}
	c.SetLineStyle(draw.LineStyle{Color: m.color, Width: m.ring})
	c.Stroke(path)
}

// errorBars are vertical bars between two values each. plotter.YErrorBars takes
// differences, whose rounding can leave a logarithmic axis.
type errorBars struct {
	x     []float64
	ends  [][2]float64
	cut   []bool // the bar goes on below the frame, and has no cap there
	color color.Color
}

// Plot implements plot.Plotter.
func (e *errorBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := draw.LineStyle{Color: e.color, Width: vg.Points(1)}
	half := vg.Points(2.5)
	for i, ends := range e.ends {
		at := x(e.x[i])
		low := y(ends[0])
		high := y(ends[1])
		c.StrokeLine2(style, at, low, at, high)
		if !e.cut[i] {
			c.StrokeLine2(style, at-half, low, at+half, low)
		}
		c.StrokeLine2(style, at-half, high, at+half, high)
	}
}
