package chart

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"io"
	"regexp"
	"strings"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The width of a picture in a page, alone and in a row of several, in units of
// its view box; its text is 10 to 11 units high.
const (
	pageWidth  = 400
	panelWidth = 230
)

// Formats are the endings of files that [Picture.Write] can write.
var Formats = []string{".png", ".svg", ".pdf"}

// Write writes the picture with title and legend on white, of a size in
// centimetres, in a format of [Formats].
func (p *Picture) Write(w io.Writer, format string, width, height float64) error {
	wide := vg.Length(width) * vg.Centimeter
	high := vg.Length(height) * vg.Centimeter
	switch format {
	case ".svg":
		alt := strings.TrimSpace(p.Title + "\n" + p.Alt)
		_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" `+
			`width="%.5gpt" height="%.5gpt" viewBox="0 0 %.5[1]g %.5[2]g" role="img" stroke-linecap="round">`+
			"\n<title>%s</title>\n%s</svg>\n", wide, high, html.EscapeString(Clean(alt)),
			svgText(wide, high, p.file))
		return err
	case ".png":
		const dotsPerInch = 150
		canvas := vgimg.NewWith(vgimg.UseWH(wide, high), vgimg.UseDPI(dotsPerInch))
		p.file(draw.New(canvas))
		_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
		return err
	case ".pdf":
		canvas := vgpdf.New(wide, high)
		p.file(draw.New(pdfCanvas{canvas}))
		var b bytes.Buffer
		if _, err := canvas.WriteTo(&b); err != nil {
			return err
		}
		// The same picture gives the same bytes: the times are blanked.
		_, err := w.Write(pdfDate.ReplaceAllFunc(b.Bytes(),
			func(s []byte) []byte { return bytes.Repeat([]byte(" "), len(s)) }))
		return err
	}

	return fmt.Errorf("no picture format %q", format)
}

var pdfDate = regexp.MustCompile(`/(CreationDate|ModDate) \([^)]*\)`)

// file draws title, picture and, in a strip on the right, the legend on white.
func (p *Picture) file(c draw.Canvas) {
	c.SetColor(page)
	c.Fill(c.Rectangle.Path())
	margin := vg.Points(8)
	c = draw.Crop(c, margin, -margin, margin, -margin)
	if p.Title != "" {
		titleText.write(c, p.Title, vg.Point{X: c.Center().X, Y: c.Max.Y - titleText.rise()}, anchorMiddle)
		c.Max.Y -= titleText.height() + 6
	}

	// The legend has a strip of its own, as wide as its longest name: inside the frame it would cover points.
	// Names are cut where less than half of the width were left to the frame.
	names, strip := p.legendNames(c, 40)
	for most := 39; most >= 3 && strip > c.Size().X/2; most-- {
		names, strip = p.legendNames(c, most)
	}
	p.draw(draw.Crop(c, 0, -strip, 0, 0))

	row := draw.Crop(c, c.Size().X-strip+10, 0, 0, 0)
	for i, k := range p.legend {
		row.Min.Y = row.Max.Y - legendText.height()
		middle := row.Center().Y
		for _, t := range k.thumbs {
			t.thumbnail(draw.Crop(row, 0, thumbWidth-row.Size().X, 0, 0))
		}
		legendText.write(c, names[i], vg.Point{X: row.Min.X + thumbWidth + axisGap, Y: middle - legendText.middle()}, anchorStart)
		row.Max.Y = row.Min.Y - 3
	}
}

// thumbWidth is the width of a thumb in the legend of a file.
const thumbWidth = 18

// legendNames returns the names of the legend, of at most so many letters, and the width of the legend.
func (p *Picture) legendNames(c draw.Canvas, most int) (names []string, strip vg.Length) {
	for _, k := range p.legend {
		name := shorten(k.name, most)
		names = append(names, name)
		strip = max(strip, thumbWidth+16+legendText.room(c, name))
	}
	return names, strip
}

// HTML returns the picture without title and legend as an <svg> element for a
// page with the style sheet [CSS]. The element scales with its container. panel
// means one of several side by side. The title names it for screen readers.
func (p *Picture) HTML(title string, panel bool) string {
	width := vg.Length(pageWidth)
	if panel {
		width = panelWidth
	}
	height := width * vg.Length(p.Aspect)
	// Title and legend are text of the page, which wraps and can be selected.
	body := svgText(width, height, func(c draw.Canvas) {
		p.draw(draw.Crop(c, vg.Points(4), -vg.Points(6), vg.Points(2), -vg.Points(6)))
	})
	return fmt.Sprintf(`<svg class="chart" viewBox="0 0 %.5g %.5g" role="img" stroke-linecap="round">`+
		`<title>%s</title>%s</svg>`, width, height, html.EscapeString(Clean(title)), inPage(body))
}

// A Key is a line of the legend of a page.
type Key struct {
	Name, Swatch string // Swatch is an <svg> element
	Class        int    // of points, −1 for those without a class, −2 of other lines
}

// Legend returns the legend for a page.
func (p *Picture) Legend() (keys []Key) {
	for _, k := range p.legend {
		body := svgText(24, 12, func(c draw.Canvas) {
			for _, t := range k.thumbs {
				t.thumbnail(c)
			}
		})
		swatch := `<svg class="swatch" viewBox="0 0 24 12" aria-hidden="true" stroke-linecap="round">`
		keys = append(keys, Key{Name: k.name, Swatch: swatch + inPage(body) + "</svg>", Class: k.class})
	}
	return keys
}

// svgText returns the elements inside of an <svg> element with what f draws.
func svgText(width, height vg.Length, f func(draw.Canvas)) string {
	canvas := &svgCanvas{Canvas: vgsvg.New(width, height)}
	f(draw.New(canvas))
	var b strings.Builder
	canvas.WriteTo(&b) // a strings.Builder takes everything

	// The caller writes its own <svg> element, so only the content is kept.
	s := Clean(b.String())
	s = strings.TrimSuffix(s[strings.Index(s, "<g "):], "</svg>\n")
	// vgsvg writes texts in the order of the calls, so the anchors are put in one by one.
	texts := strings.Split(svgFixes.Replace(s), "<text x=")
	s = texts[0]
	for i, text := range texts[1:] {
		s += `<text text-anchor="` + canvas.anchors[i] + `" x=` + text
	}
	return s
}

// svgFixes corrects what vgsvg writes: a generic font in place of the one that
// measured the text, the type of images, which may be stretched. Quotes and angle
// brackets of text are escaped, so that nothing else is found.
var svgFixes = strings.NewReplacer(
	"font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal",
	"font-family:system-ui,sans-serif",
	`<image x=`, `<image preserveAspectRatio="none" x=`,
	`xlink:href="data:image/jpg;`, `xlink:href="data:image/png;`)

var styles = regexp.MustCompile(`style="[^"]*"`)

// inPage replaces colours by the variables of the page.
func inPage(svg string) string {
	svg = strings.ReplaceAll(svg, ` xlink:href="data:`, ` href="data:`)
	return styles.ReplaceAllStringFunc(svg, variables.Replace)
}

// svgCanvas is vgsvg.Canvas with anchors of texts, so that a text in another font than the one that
// measured it stays in place, and with short paths of discs.
type svgCanvas struct {
	*vgsvg.Canvas
	anchors []string // of each text
}

// svgOf returns the canvas of a picture in SVG, nil of others.
func svgOf(c draw.Canvas) *svgCanvas {
	inner := c.Canvas
	for d, ok := inner.(draw.Canvas); ok; d, ok = inner.(draw.Canvas) {
		inner = d.Canvas
	}
	s, _ := inner.(*svgCanvas)
	return s
}

// discs draws discs as lines without length, which have round ends.
func (c *svgCanvas) discs(at []vg.Point, r vg.Length) {
	var path vg.Path
	for _, q := range at {
		path.Move(q)
		path.Close()
	}
	// A line of length zero with round ends is a disc of the line's width.
	c.SetLineWidth(2 * r)
	c.SetLineDash(nil, 0)
	c.Stroke(path)
}

// pdfCanvas is vgpdf.Canvas with text beyond ASCII as outlines, because vgpdf
// knows no other letters, and with images upright.
type pdfCanvas struct{ *vgpdf.Canvas }

func (c pdfCanvas) FillString(f font.Face, at vg.Point, text string) {
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 }) {
		c.Canvas.FillString(f, at, text)
		return
	}
	var path vg.Path
	var buf sfnt.Buffer
	const ppem = 1000
	unit := f.Font.Size / ppem / 64
	place := func(q fixed.Point26_6) vg.Point {
		return vg.Point{X: at.X + unit*vg.Length(q.X), Y: at.Y - unit*vg.Length(q.Y)}
	}
	for _, r := range text {
		glyph, _ := f.Face.GlyphIndex(&buf, r)
		segments, err := f.Face.LoadGlyph(&buf, glyph, fixed.I(ppem), nil)
		if err != nil {
			continue
		}

		for _, s := range segments {
			switch s.Op {
			case sfnt.SegmentOpMoveTo:
				path.Move(place(s.Args[0]))
			case sfnt.SegmentOpLineTo:
				path.Line(place(s.Args[0]))
			case sfnt.SegmentOpQuadTo:
				path.QuadTo(place(s.Args[0]), place(s.Args[1]))
			case sfnt.SegmentOpCubeTo:
				path.CubeTo(place(s.Args[0]), place(s.Args[1]), place(s.Args[2]))
			}
		}

		at.X += f.Width(string(r))
	}

	c.Fill(path)
}

// DrawImage draws the image upright; vgpdf mirrors it.
func (c pdfCanvas) DrawImage(rect vg.Rectangle, img image.Image) {
	c.Push()
	c.Translate(vg.Point{Y: rect.Min.Y + rect.Max.Y})
	c.Scale(1, -1)
	c.Canvas.DrawImage(rect, img)
	c.Pop()
}
