// Package chart draws line charts, scatter plots, decision surfaces and bars
// with gonum/plot: as SVG for an HTML page, where one picture serves light and
// dark themes and any width, and as .svg, .png and .pdf files.
//
// A [Chart] holds plain values; its Draw checks them and makes a [Picture].
// Values that cannot be drawn (NaN, ±Inf, and negative ones on a logarithmic
// axis) are left out and counted in the notes. Marks and error bars lie inside
// the frame. The same Chart gives the same bytes.
//
// # Colours and marks
//
// All pictures are drawn by gonum/plot. Their colours in files are the light theme; in a page
// the same SVG text has CSS variables in their place, so that one picture serves light and
// dark. Contour lines are our own marching squares, because plotter.Contour panics on some
// lines through grid points and its order differs from run to run. Our marks and error bars
// write short paths and never leave a logarithmic axis by rounding.
package chart

import (
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Chart is a picture not yet drawn: *[Lines], *[Scatter], *[Surface] or *[Bars].
type Chart interface {
	// Draw returns an error if the values contradict each other, such as
	// slices of different length.
	Draw() (*Picture, error)
}

// A Picture is a drawn chart, to be written by [Picture.Write] or put into a
// page by [Picture.HTML].
type Picture struct {
	Title       string
	Alt         string   // text alternative, such as "Chart of error over labels"
	Notes       []string // sentences that say what was left out
	Marks, Left int      // number of points drawn and left out
	Aspect      float64  // height over width that suits it

	plot   *plot.Plot
	x, y   *scale // nil for an axis of names
	legend []key
}

// A key is a line of the legend.
type key struct {
	name   string
	class  int // of points, −1 for those without a class; noClass of other lines
	thumbs []plot.Thumbnailer
}

// noClass is the class of a line of the legend that stands for no class of points.
const noClass = -2

// newPicture returns an empty frame, whose axes take their ranges from the scales.
func newPicture(title, xlabel, ylabel string, x, y *scale) *Picture {
	p := plot.New()
	p.BackgroundColor = nil
	p.X.Label.Text = xlabel
	p.Y.Label.Text = ylabel
	p.Title.Padding = vg.Points(6)
	for _, s := range []struct {
		style *draw.TextStyle
		size  font.Length
	}{{&p.Title.TextStyle, 13}, {&p.X.Label.TextStyle, 11}, {&p.Y.Label.TextStyle, 11}, {&p.X.Tick.Label, 10},
		{&p.Y.Tick.Label, 10}} {
		s.style.Font.Variant = "Sans"
		s.style.Font.Size = s.size
		s.style.Color = ink
	}

	// Axes stand back behind the data: they are drawn in the soft colour.
	out := &Picture{Title: title, Aspect: 0.6, plot: p, x: x, y: y}
	for i, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle.Color = soft
		axis.Tick.LineStyle.Color = soft
		axis.Tick.Label.Color = soft
		axis.Padding, axis.Label.Padding = 0, vg.Points(3)
		// An axis of names, as of bars, has no scale.
		if s := []*scale{x, y}[i]; s != nil {
			axis.Tick.Marker = s
			if s.log {
				axis.Scale = plot.LogScale{}
			}
		}
	}

	return out
}

// frame gives the axes the ranges of the scales. It is called last, because
// plot.Plot.Add widens the ranges.
func (p *Picture) frame() {
	if p.x != nil {
		p.plot.X.Min, p.plot.X.Max = p.x.frame()
	}
	if p.y != nil {
		p.plot.Y.Min, p.plot.Y.Max = p.y.frame()
	}
}

func (p *Picture) grid() {
	g := plotter.NewGrid()
	g.Horizontal.Color = line
	g.Vertical.Color = line
	p.plot.Add(g)
}

// empty says that there is nothing to draw.
func (p *Picture) empty() {
	xlo, xhi := p.x.frame()
	ylo, yhi := p.y.frame()
	// A picture without data says so, rather than look broken.
	p.note(xlo+(xhi-xlo)/2, ylo+(yhi-ylo)/2, "no data", draw.XCenter)
}

// note writes text at a place, centred or to its right.
func (p *Picture) note(x, y float64, text string, align draw.XAlignment) {
	style := p.plot.X.Tick.Label
	style.XAlign = align
	style.YAlign = draw.YCenter
	label := &plotter.Labels{XYs: plotter.XYs{{X: x, Y: y}}, Labels: []string{text},
		TextStyle: []draw.TextStyle{style}}
	if align != draw.XLeft {
		p.plot.Add(label)
		return
	}
	// The text keeps off the mark that it belongs to.
	label.Offset.X = vg.Points(4)
	p.plot.Add(leftLabel{label})
}

// A leftLabel begins at its place in a page, too. The font of the page may be wider than the
// font that measured the text.
type leftLabel struct{ *plotter.Labels }

// wider is the factor by which a text may be wider in a page than measured, a margin for system
// fonts that are wider than Liberation Sans.
const wider = 1.25

// Plot implements plot.Plotter.
func (l leftLabel) Plot(c draw.Canvas, p *plot.Plot) {
	if s := svgOf(c); s != nil {
		s.anchor = anchorStart
		defer func() { s.anchor = anchorMiddle }()
	}
	l.Labels.Plot(c, p)
}

// GlyphBoxes implements plot.GlyphBoxer.
func (l leftLabel) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	boxes := l.Labels.GlyphBoxes(p)
	for i := range boxes {
		r := &boxes[i].Rectangle
		r.Max.X = r.Min.X + wider*(r.Max.X-r.Min.X)
	}
	return boxes
}

func (p *Picture) key(name string, thumbs ...plot.Thumbnailer) {
	p.legend = append(p.legend, key{name, noClass, thumbs})
}

// classKey is the line of a class of points.
func (p *Picture) classKey(name string, class int, thumbs ...plot.Thumbnailer) {
	p.legend = append(p.legend, key{name, class, thumbs})
}

// draw draws the plot into a canvas of a size in points.
func (p *Picture) draw(c draw.Canvas, width, height vg.Length) {
	// Labels need about 60 points across and 35 down to stay apart.
	if p.x != nil {
		p.x.ticks = max(3, int(width/60))
	}
	if p.y != nil {
		p.y.ticks = max(3, int(height/35))
	}
	p.plot.Draw(c)
}

// number writes v for people.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// orWord returns s, or word if s is empty.
func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

// leftOut says in the notes that n points have no place.
func (p *Picture) leftOut(n int, why string) {
	if n > 0 {
		p.Left += n
		p.Notes = append(p.Notes, fmt.Sprintf("Points %s are left out (%d).", why, n))
	}
}

// Clean makes s valid UTF-8 without control characters, which HTML and SVG
// forbid.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
