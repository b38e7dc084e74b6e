package chart

import (
	"image"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A point is a place by the values of both axes.
type point struct{ X, Y float64 }

// An item is drawn into the frame of a picture.
type item interface {
	draw(c draw.Canvas, f *frame)
}

// A thumb stands for an item in a legend. It is drawn in the middle of a small canvas.
type thumb interface {
	thumbnail(c draw.Canvas)
}

// A frame is the rectangle of a picture in which its items are, between the axes:
//
//	label │ numbers ┤╭───────────────╮
//	      │         ┤│     frame     │
//	      │         ┤╰───────────────╯
//	      │           ┴──┴──┴──┴──┴──
//	      │               numbers
//	      │                label
type frame struct {
	vg.Rectangle
	x, y axis
}

// An axis places values.
type axis struct {
	low, high float64
	log       bool
	ticks     []tick
}

// A tick is a mark of an axis, a short one without a number.
type tick struct {
	value float64
	label string
}

const (
	tickLength = 5
	shortTick  = 2.5
	axisGap    = 3 // between ticks, numbers and labels
	thin       = 0.5
)

// axis returns the axis of a scale with about the given number of ticks.
func (s *scale) axis(ticks int) axis {
	if s == nil {
		return axis{low: 0, high: 1}
	}
	low, high := s.frame()
	return axis{low: low, high: high, log: s.log, ticks: s.ticks(low, high, ticks)}
}

// share returns where a value lies: 0 at the low end, 1 at the high one.
func (a *axis) share(v float64) vg.Length {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return vg.Length((v - low) / (high - low))
}

// place returns where a point lies on the canvas.
func (f *frame) place(q point) vg.Point {
	return vg.Point{X: f.Min.X + f.x.share(q.X)*f.Size().X, Y: f.Min.Y + f.y.share(q.Y)*f.Size().Y}
}

func (f *frame) places(at []point) []vg.Point {
	out := make([]vg.Point, len(at))
	for i, q := range at {
		out[i] = f.place(q)
	}
	return out
}

// layout returns the frame in a canvas, from which labels, numbers and ticks take their room.
func (p *Picture) layout(c draw.Canvas) *frame {
	f := &frame{Rectangle: c.Rectangle}
	if p.x == nil {
		f.x, f.y = p.x.axis(0), p.y.axis(0)
		return f
	}
	// Numbers need about 60 points across and 35 down to stay apart.
	f.x = p.x.axis(max(3, int(c.Size().X/60)))
	f.y = p.y.axis(max(3, int(c.Size().Y/35)))
	if p.bare {
		return f
	}

	numbers := vg.Length(0)
	for _, t := range f.y.ticks {
		numbers = max(numbers, numberText.room(c, t.label))
	}
	f.Min.X += numbers + axisGap + tickLength
	f.Min.Y += numberText.height() + axisGap + tickLength
	if p.yLabel != "" {
		f.Min.X += labelText.height() + axisGap
	}
	if p.xLabel != "" {
		f.Min.Y += labelText.height() + axisGap
	}

	// The outermost numbers stand half beyond their ticks.
	width := f.Size().X
	for _, t := range f.x.ticks {
		half := numberText.room(c, t.label) / 2
		if share := f.x.share(t.value); share > 0.5 && t.label != "" {
			width = min(width, (c.Max.X-half-f.Min.X)/share)
		}
	}
	height := f.Size().Y
	for _, t := range f.y.ticks {
		if share := f.y.share(t.value); share > 0.5 && t.label != "" {
			height = min(height, (c.Max.Y-numberText.height()/2-f.Min.Y)/share)
		}
	}
	f.Max = vg.Point{X: f.Min.X + max(0, width), Y: f.Min.Y + max(0, height)}
	return f
}

// drawAxes draws the lines of both axes with ticks, numbers and labels, and the grid.
func (p *Picture) drawAxes(c draw.Canvas, f *frame) {
	back := draw.LineStyle{Color: line, Width: vg.Points(thin)}
	axis := draw.LineStyle{Color: soft, Width: vg.Points(thin)}
	for _, t := range f.x.ticks {
		x := f.place(point{X: t.value, Y: f.y.low}).X
		length := vg.Length(shortTick)
		if t.label != "" {
			length = tickLength
			if p.grid {
				c.StrokeLine2(back, x, f.Min.Y, x, f.Max.Y)
			}
			numberText.write(c, t.label, vg.Point{X: x, Y: f.Min.Y - tickLength - axisGap - numberText.rise()}, anchorMiddle)
		}
		c.StrokeLine2(axis, x, f.Min.Y, x, f.Min.Y-length)
	}

	for _, t := range f.y.ticks {
		y := f.place(point{X: f.x.low, Y: t.value}).Y
		length := vg.Length(shortTick)
		if t.label != "" {
			length = tickLength
			if p.grid {
				c.StrokeLine2(back, f.Min.X, y, f.Max.X, y)
			}
			numberText.write(c, t.label, vg.Point{X: f.Min.X - tickLength - axisGap, Y: y - numberText.middle()}, anchorEnd)
		}
		c.StrokeLine2(axis, f.Min.X, y, f.Min.X-length, y)
	}
	c.StrokeLine2(axis, f.Min.X, f.Min.Y, f.Max.X, f.Min.Y)
	c.StrokeLine2(axis, f.Min.X, f.Min.Y, f.Min.X, f.Max.Y)

	// Labels stand in the middle of their axes, or as near to it as the canvas lets them.
	middle := vg.Point{X: (f.Min.X + f.Max.X) / 2, Y: (f.Min.Y + f.Max.Y) / 2}
	middle.X = max(c.Min.X, min(middle.X, c.Max.X-labelText.width(p.xLabel)/2))
	middle.Y = max(c.Min.Y, min(middle.Y, c.Max.Y-labelText.width(p.yLabel)/2))
	labelText.write(c, p.xLabel, vg.Point{X: middle.X, Y: c.Min.Y + labelText.fall()}, anchorMiddle)
	if p.yLabel != "" {
		c.Push()
		c.Rotate(math.Pi / 2)
		labelText.write(c, p.yLabel, vg.Point{X: middle.Y, Y: -(c.Min.X + labelText.rise())}, anchorMiddle)
		c.Pop()
	}
}

// draw draws the picture into a canvas, without title and legend.
func (p *Picture) draw(c draw.Canvas) {
	f := p.layout(c)
	if !p.bare {
		p.drawAxes(c, f)
	}
	for _, i := range p.items {
		i.draw(c, f)
	}
}

// A path is a line through points.
type path struct {
	at    []point
	style draw.LineStyle
}

func (l *path) draw(c draw.Canvas, f *frame) {
	c.StrokeLines(l.style, f.places(l.at))
}

func (l *path) thumbnail(c draw.Canvas) {
	y := c.Center().Y
	c.StrokeLine2(l.style, c.Min.X, y, c.Max.X, y)
}

// Cells are a rectangle of coloured cells.
type cells struct {
	image.Image
	from, to point // the lower left and the upper right corner
}

func (i *cells) draw(c draw.Canvas, f *frame) {
	c.DrawImage(vg.Rectangle{Min: f.place(i.from), Max: f.place(i.to)}, i.Image)
}

// A notice is text in the middle of a frame.
type notice string

func (n notice) draw(c draw.Canvas, f *frame) {
	at := vg.Point{X: (f.Min.X + f.Max.X) / 2, Y: (f.Min.Y+f.Max.Y)/2 - numberText.middle()}
	numberText.write(c, string(n), at, anchorMiddle)
}
