// Package chart draws line charts, scatter plots, decision surfaces and bars on the canvases
// of gonum/plot: as SVG for an HTML page, where one picture serves light and dark themes and
// any width, and as .svg, .png and .pdf files.
//
// A [Chart] holds plain values; its Draw checks them and makes a [Picture].
// Values that cannot be drawn (NaN, ±Inf, and negative ones on a logarithmic
// axis) are left out and counted in the notes. Marks and error bars lie inside
// the frame. The same Chart gives the same bytes.
//
// # Colours and marks
//
// Frames, axes and legends are drawn here, on vg, the canvases of gonum/plot. Its package plot
// links twelve fonts where one is used, and lays axes out for one font where a page has another.
//
// The colours in files are the light theme. In a page the same SVG text has CSS variables in
// their place, so that one picture serves light and dark. Contour lines are marching squares in
// the order of the grid. Marks and error bars write short paths and never leave a logarithmic
// axis by rounding.
package chart

import (
	"fmt"
	"strconv"
	"strings"
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

	xLabel, yLabel string
	x, y           *scale // nil where an item divides the picture itself
	bare           bool   // without axes
	grid           bool   // with lines at the numbers of the axes
	items          []item // in the order in which they are drawn
	legend         []key
}

// A key is a line of the legend.
type key struct {
	name   string
	class  int // of points, −1 for those without a class; noClass of other lines
	thumbs []thumb
}

// noClass is the class of a line of the legend that stands for no class of points.
const noClass = -2

// newPicture returns an empty picture, whose axes take their ranges from the scales.
func newPicture(title, xlabel, ylabel string, x, y *scale) *Picture {
	return &Picture{Title: title, Aspect: 0.6, xLabel: xlabel, yLabel: ylabel, x: x, y: y, bare: x == nil}
}

func (p *Picture) add(items ...item) { p.items = append(p.items, items...) }

// empty says that there is nothing to draw.
func (p *Picture) empty() { p.add(notice("no data")) }

func (p *Picture) key(name string, thumbs ...thumb) {
	p.legend = append(p.legend, key{name, noClass, thumbs})
}

// classKey is the line of a class of points.
func (p *Picture) classKey(name string, class int, thumbs ...thumb) {
	p.legend = append(p.legend, key{name, class, thumbs})
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
