package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
)

// A Surfaces block shows decision functions on the plane side by side over the
// same points: the line f = 0, and on both sides of it the colour of the class,
// the stronger the larger |f|.
type Surfaces struct {
	Title          string
	Caption        string
	XLabel, YLabel string
	Panels         []Surface // all on the same rectangle
	X, Y           []float64 // the points; those outside of the rectangle are left out
	Class          []int     // index into Classes, negative for none; nil for one colour
	Classes        []string  // names of the two classes, that of f < 0 first
	Marked         []int     // points drawn with a ring, such as the labeled ones
	MarkedName     string    // what the ring means
}

// A Surface is one panel of Surfaces.
type Surface struct {
	Title string
	F     Grid
}

// surfaceLevels are the |f|, as shares of the largest of a panel, beyond which
// the colour gets stronger.
var surfaceLevels = []float64{0, 0.25, 0.5, 0.75}

func (s Surfaces) check() error {
	if err := check(s.Title, s.Class, s.Classes, s.X, s.Y); err != nil {
		return err
	}
	if len(s.Panels) == 0 {
		return fmt.Errorf("surfaces %q: there is no panel", s.Title)
	}
	if len(s.Classes) != 2 {
		return fmt.Errorf("surfaces %q: %d classes; the sign of f tells two", s.Title, len(s.Classes))
	}
	for i, p := range s.Panels {
		f, first := p.F, s.Panels[0].F
		switch {
		case f.Columns < 2 || f.Rows < 2 || len(f.Values) != f.Columns*f.Rows:
			return fmt.Errorf("surfaces %q, panel %d: %d values on a grid of %d×%d, which must be 2×2 at least", s.Title, i, len(f.Values), f.Columns, f.Rows)
		case !(f.X0 < f.X1 && f.Y0 < f.Y1) || !finite(f.X0) || !finite(f.X1) || !finite(f.Y0) || !finite(f.Y1):
			return fmt.Errorf("surfaces %q, panel %d: no rectangle is [%g, %g] × [%g, %g]", s.Title, i, f.X0, f.X1, f.Y0, f.Y1)
		case f.X0 != first.X0 || f.X1 != first.X1 || f.Y0 != first.Y0 || f.Y1 != first.Y1:
			return fmt.Errorf("surfaces %q, panel %d: the rectangle is not that of panel 0", s.Title, i)
		}
		if at := slices.IndexFunc(f.Values, func(v float64) bool { return !finite(v) }); at >= 0 {
			return fmt.Errorf("surfaces %q, panel %d: f is %g in column %d of row %d", s.Title, i, f.Values[at], at%f.Columns, at/f.Columns)
		}
	}
	for _, i := range s.Marked {
		if i < 0 || i >= len(s.X) {
			return fmt.Errorf("surfaces %q: marked point %d of %d", s.Title, i, len(s.X))
		}
	}
	return nil
}

func (s Surfaces) render() (template.HTML, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	index, notes := choose(s.X, s.Y)
	f := &s.Panels[0].F
	outside := func(i int) bool { return !(s.X[i] >= f.X0 && s.X[i] <= f.X1 && s.Y[i] >= f.Y0 && s.Y[i] <= f.Y1) }
	all := len(index)
	if index = slices.DeleteFunc(index, outside); len(index) < all {
		notes = append(notes, fmt.Sprintf("Points outside of the rectangle are left out (%d).", all-len(index)))
	}
	marked := slices.DeleteFunc(slices.Clone(s.Marked), outside)

	// One panel is as wide as a chart, several stand in columns.
	width, class, dots := float64(chartW), "panels", 0.7
	if len(s.Panels) > 1 {
		width, class, dots = 300, "panels small", 0.5
	}
	left, right, top, bottom := 40.0, 8.0, 8.0, 28.0
	if s.XLabel != "" {
		bottom = chartBottom
	}
	if s.YLabel != "" {
		top = chartTop
	}
	shape := math.Min(1.4, math.Max(0.4, (f.Y1-f.Y0)/(f.X1-f.X0)))
	height := math.Round(top + shape*(width-left-right) + bottom)
	xax := rectangleAxis(f.X0, f.X1, left, width-right)
	yax := rectangleAxis(f.Y0, f.Y1, height-bottom, top)

	var b strings.Builder
	fmt.Fprintf(&b, `<div class="%s">`, class)
	for i := range s.Panels {
		p := &s.Panels[i]
		lo, hi := slices.Min(p.F.Values), slices.Max(p.F.Values)
		b.WriteString("<div>")
		if p.Title != "" {
			fmt.Fprintf(&b, `<p class="panel">%s</p>`, esc(p.Title))
		}
		alt := fmt.Sprintf("%s, %s. A function between %s and %s over %d points; %s where it is negative, %s where it is positive.",
			s.Title, p.Title, number(lo), number(hi), len(index), s.Classes[0], s.Classes[1])
		fmt.Fprintf(&b, `<svg viewBox="0 0 %s %s" role="img" aria-label="%s">`, px(width), px(height), esc(alt))
		for side, sign := range []float64{-1, 1} {
			for _, share := range surfaceLevels {
				if area := outlines(p.F.above(sign, share*math.Max(-lo, hi)), xax, yax); area != "" {
					fmt.Fprintf(&b, `<path class="area f%d" transform="scale(.1)" d="%s"/>`, side, area)
				}
			}
		}
		drawAxes(&b, xax, yax, s.XLabel, s.YLabel)
		drawCloud(&b, s.Class, s.X, s.Y, index, xax, yax, dots*dotWidth(len(index)))
		if zero := outlines(p.F.Lines(0), xax, yax); zero != "" {
			fmt.Fprintf(&b, `<path class="zero" transform="scale(.1)" d="%s"/>`, zero)
		}
		drawRings(&b, s.X, s.Y, marked, xax, yax)
		b.WriteString("</svg></div>\n")
	}
	b.WriteString("</div>\n")

	legend := classLegend(s.Class, s.Classes)
	legend = append(legend, `<svg class="swatch" viewBox="0 0 32 16" aria-hidden="true"><path class="zero" transform="scale(.1)" d="M10 80H310"/></svg><span>f = 0</span>`)
	legend = append(legend, ringLegend(marked, s.MarkedName)...)
	return figure{Title: s.Title, Caption: s.Caption, Notes: notes, Body: template.HTML(b.String()), Legend: legend}.render()
}

// rectangleAxis is an axis from lo to hi and no further.
func rectangleAxis(lo, hi, a, b float64) *axis {
	ax := newAxis(false, lo, hi, 4, false, a, b)
	ax.lo, ax.hi = lo, hi
	ax.ticks = slices.DeleteFunc(ax.ticks, func(t tick) bool { return t.at < lo || t.at > hi })
	return ax
}

// outlines writes lines as a path in tenths, points relative to the one before.
// Points that fall on it are left out, and lines of one point have no length.
func outlines(lines [][]Point, xax, yax *axis) string {
	var all strings.Builder
	for _, line := range lines {
		var b strings.Builder
		var last [2]int
		for i, p := range line {
			at := [2]int{int(math.Round(10 * xax.pos(p.X))), int(math.Round(10 * yax.pos(p.Y)))}
			if dx, dy := at[0]-last[0], at[1]-last[1]; i == 0 {
				fmt.Fprintf(&all, "M%d %d", at[0], at[1])
			} else if dx != 0 || dy != 0 {
				fmt.Fprintf(&b, " %d %d", dx, dy)
			}
			last = at
		}
		if b.Len() > 0 {
			all.WriteString("l" + strings.ReplaceAll(b.String()[1:], " -", "-"))
		}
	}
	return all.String()
}
