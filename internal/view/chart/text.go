package chart

import (
	"image/color"
	"strings"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// fonts has the one font of all pictures. The package plot of gonum links twelve, 4.4 MB.
var fonts = func() *font.Cache {
	face, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		panic(err) // the font is a constant of its package
	}
	return font.NewCache(font.Collection{{Font: sans, Face: face}})
}()

var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

// letters is the look of text.
type letters struct {
	size  vg.Length
	color color.Color
}

var (
	titleText  = letters{13, ink}
	labelText  = letters{11, ink}
	numberText = letters{10, soft}
	legendText = letters{10, ink}
)

func (l letters) face() *font.Face {
	face := fonts.Lookup(sans, l.size)
	return &face
}

// rise and fall are the most that letters reach above and below the line that they stand on.
func (l letters) rise() vg.Length   { return l.face().Extents().Ascent }
func (l letters) fall() vg.Length   { return l.face().Extents().Descent }
func (l letters) height() vg.Length { return l.rise() + l.fall() }

// capHeight is the height of capital letters and digits, in units of the size of the font.
const capHeight = 0.7

// middle is how far the middle of capital letters and digits lies above the line that they stand on.
func (l letters) middle() vg.Length { return capHeight / 2 * l.size }

func (l letters) width(text string) vg.Length { return l.face().Width(text) }

// wider is the factor by which a text may be wider in a page than measured, a margin for system
// fonts that are wider than Liberation Sans.
const wider = 1.25

// room is the width that a text may take on a canvas: an SVG is shown in a font of the reader's.
func (l letters) room(c draw.Canvas, text string) vg.Length {
	if svgOf(c) != nil {
		return wider * l.width(text)
	}
	return l.width(text)
}

// Values of the attribute text-anchor: what part of a text is at its place.
const (
	anchorMiddle = "middle"
	anchorStart  = "start"
	anchorEnd    = "end"
)

// write writes a text on one line that has the height of a place.
func (l letters) write(c draw.Canvas, text string, at vg.Point, anchor string) {
	text = strings.ReplaceAll(text, "\n", " ")
	if text == "" {
		return
	}
	switch svg := svgOf(c); {
	case svg != nil:
		svg.anchors = append(svg.anchors, anchor)
	case anchor == anchorMiddle:
		at.X -= l.width(text) / 2
	case anchor == anchorEnd:
		at.X -= l.width(text)
	}
	c.SetColor(l.color)
	c.FillString(*l.face(), at, text)
}
