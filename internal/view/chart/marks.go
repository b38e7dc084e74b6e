package chart

import (
	"image/color"
	"math"

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

// marks are points of one colour and shape, drawn as one path of a few bytes for each.
type marks struct {
	at     []point
	color  color.Color
	shape  shape
	radius vg.Length
	ring   vg.Length // width of the outline; 0 means filled
}

func (m *marks) draw(c draw.Canvas, f *frame) { m.mark(c, f.places(m.at), m.radius) }

func (m *marks) thumbnail(c draw.Canvas) {
	// Colours are told apart in the legend first, so its marks are larger.
	m.mark(c, []vg.Point{c.Center()}, max(m.radius, vg.Points(4)))
}

func (m *marks) mark(c draw.Canvas, at []vg.Point, r vg.Length) {
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

// errorBars are vertical bars between two values each. Differences would do, but their rounding can
// leave a logarithmic axis.
type errorBars struct {
	x     []float64
	ends  [][2]float64
	cut   []bool // the bar goes on below the frame, and has no cap there
	color color.Color
}

func (e *errorBars) draw(c draw.Canvas, f *frame) {
	style := draw.LineStyle{Color: e.color, Width: vg.Points(1)}
	half := vg.Points(2.5)
	for i, ends := range e.ends {
		from := f.place(point{e.x[i], ends[0]})
		to := f.place(point{e.x[i], ends[1]})
		c.StrokeLine2(style, from.X, from.Y, to.X, to.Y)
		if !e.cut[i] {
			c.StrokeLine2(style, from.X-half, from.Y, from.X+half, from.Y)
		}
		c.StrokeLine2(style, to.X-half, to.Y, to.X+half, to.Y)
	}
}
