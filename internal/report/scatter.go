package report

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
)

// A Scatter2D shows points in the plane coloured by class.
type Scatter2D struct {
	Title          string
	Caption        string
	XLabel, YLabel string
	X, Y           []float64
	Class          []int    // index into Classes, negative for none; nil for one colour
	Classes        []string // names of the classes
	Marked         []int    // points drawn with a ring, such as the labeled ones
	MarkedName     string   // what the ring means
}

// A Scatter3D shows points in space that turn slowly and can be turned by
// hand. Each axis is scaled to the range of its values. It needs JavaScript;
// without it a sentence stands in its place.
type Scatter3D struct {
	Title   string
	Caption string
	Labels  [3]string // names of the axes
	X, Y, Z []float64
	Class   []int
	Classes []string
}

// MaxPoints is the number of points a scatter plot draws; of more points every
// n/MaxPoints-th is taken.
const MaxPoints = 10000

// noClass stands for points without a class where a byte is needed.
const noClass = 255

// check reports slices that do not fit each other.
func check(title string, class []int, classes []string, coords ...[]float64) error {
	n := len(coords[0])
	for _, c := range coords {
		if len(c) != n {
			return fmt.Errorf("plot %q: coordinates of %d and %d points", title, n, len(c))
		}
	}
	if class != nil && len(class) != n {
		return fmt.Errorf("plot %q: %d points but %d classes", title, n, len(class))
	}
	if len(classes) >= noClass {
		return fmt.Errorf("plot %q: %d classes, at most %d can be shown", title, len(classes), noClass-1)
	}
	for i, c := range class {
		if c >= len(classes) {
			return fmt.Errorf("plot %q: point %d is of class %d of %d", title, i, c, len(classes))
		}
	}
	return nil
}

// choose returns the indices of the points to draw, and what to say about the
// others.
func choose(coords ...[]float64) (index []int, notes []string) {
	for i := range coords[0] {
		if !slices.ContainsFunc(coords, func(c []float64) bool { return !finite(c[i]) }) {
			index = append(index, i)
		}
	}
	n := len(index)
	if skipped := len(coords[0]) - n; skipped > 0 {
		notes = append(notes, fmt.Sprintf("Points that are not finite are left out (%d).", skipped))
	}
	if n > MaxPoints {
		for i := range MaxPoints {
			index[i] = index[i*n/MaxPoints]
		}
		index = index[:MaxPoints]
		notes = append(notes, fmt.Sprintf("%d of %d points are drawn.", MaxPoints, n))
	}
	return index, notes
}

// bounds returns the least and the largest of v at index.
func bounds(v []float64, index []int) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, i := range index {
		lo, hi = math.Min(lo, v[i]), math.Max(hi, v[i])
	}
	return lo, hi
}

// classOf returns the class of point i, or -1.
func classOf(class []int, i int) int {
	if class == nil {
		return 0
	}
	return max(-1, class[i])
}

// colour returns the CSS suffix of a class: a palette index, or n for none.
func colour(class int) string {
	if class < 0 {
		return "n"
	}
	return fmt.Sprint(class % len(lightPalette))
}

// shape returns the line cap that draws the dot of a class: the second ten
// classes are squares.
func shape(class int) string {
	if class >= 0 && class/len(lightPalette)%2 == 1 {
		return " square"
	}
	return ""
}

// classLegend lists the classes, and unlabeled points if there are any.
func classLegend(class []int, classes []string) (items []template.HTML) {
	if class == nil {
		return nil
	}
	add := func(c int, name string) {
		items = append(items, template.HTML(fmt.Sprintf(
			`<svg class="swatch dot1" viewBox="0 0 16 16" aria-hidden="true"><path class="cloud s%s%s" stroke-width="9" d="M8 8h0"/></svg><span>%s</span>`,
			colour(c), shape(c), esc(name))))
	}
	for c, name := range classes {
		add(c, name)
	}
	if slices.ContainsFunc(class, func(c int) bool { return c < 0 }) {
		add(-1, "no class")
	}
	return items
}

func (p Scatter2D) render() (template.HTML, error) {
	if err := check(p.Title, p.Class, p.Classes, p.X, p.Y); err != nil {
		return "", err
	}
	index, notes := choose(p.X, p.Y)
	for _, i := range p.Marked {
		if i < 0 || i >= len(p.X) {
			return "", fmt.Errorf("plot %q: marked point %d of %d", p.Title, i, len(p.X))
		}
	}
	const height = 560
	xlo, xhi := bounds(p.X, index)
	ylo, yhi := bounds(p.Y, index)
	xax := newAxis(false, xlo, xhi, xTicks, false, chartLeft, chartW-chartRight)
	yax := newAxis(false, ylo, yhi, yTicks, false, height-chartBottom, chartTop)

	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartW, height,
		esc(fmt.Sprintf("%s. Scatter plot of %d points, %s over %s%s.", p.Title, len(index), orWord(p.YLabel, "y"), orWord(p.XLabel, "x"), inClasses(p.Classes))))
	drawAxes(&b, xax, yax, p.XLabel, p.YLabel)
	drawCloud(&b, p.Class, p.X, p.Y, index, xax, yax, dotWidth(len(index)))
	drawRings(&b, p.X, p.Y, p.Marked, xax, yax)
	p.drawNames(&b, index, xax, yax)
	if len(index) == 0 {
		fmt.Fprintf(&b, `<text class="empty" x="%d" y="%d" text-anchor="middle">no data</text>`, chartW/2, height/2)
	}
	b.WriteString("</svg>\n")
	legend := append(classLegend(p.Class, p.Classes), ringLegend(p.Marked, p.MarkedName)...)
	return figure{Title: p.Title, Caption: p.Caption, Notes: notes, Body: template.HTML(b.String()), Legend: legend}.render()
}

// drawRings puts rings around points.
func drawRings(b *strings.Builder, x, y []float64, marked []int, xax, yax *axis) {
	var rings strings.Builder
	for _, i := range marked {
		if finite(x[i]) && finite(y[i]) {
			rings.WriteString(marker(0, xax.pos(x[i]), yax.pos(y[i]), 5))
		}
	}
	if rings.Len() > 0 {
		// A wider ring in the colour of the page sets the ring off the dots.
		fmt.Fprintf(b, `<path class="halo" d="%[1]s"/><path class="ring" d="%[1]s"/>`, &rings)
	}
}

// ringLegend says what the rings mean.
func ringLegend(marked []int, name string) []template.HTML {
	if len(marked) == 0 || name == "" {
		return nil
	}
	return []template.HTML{template.HTML(fmt.Sprintf(
		`<svg class="swatch dot1" viewBox="0 0 16 16" aria-hidden="true"><path class="ring" d="%s"/></svg><span>%s</span>`, marker(0, 8, 8, 5), esc(name)))}
}

// dotWidth is the width of the dots of n points on a chart.
func dotWidth(n int) float64 { return math.Min(8, math.Max(3, 200/math.Sqrt(float64(n+1)))) }

// drawCloud draws the points as dots: zero-length lines with round caps, a few
// bytes each. The points are drawn in layers, all classes in each, so that no
// class lies on top of all others.
func drawCloud(b *strings.Builder, class []int, x, y []float64, index []int, xax, yax *axis, width float64) {
	const layers = 12
	for layer := range layers {
		paths := map[int]*strings.Builder{}
		var order []int
		last := map[int][2]int{}
		for j := layer; j < len(index); j += layers {
			i := index[j]
			c := classOf(class, i)
			// Coordinates in tenths, relative to the dot before.
			at := [2]int{int(math.Round(10 * xax.pos(x[i]))), int(math.Round(10 * yax.pos(y[i])))}
			if paths[c] == nil {
				paths[c] = new(strings.Builder)
				order = append(order, c)
				fmt.Fprintf(paths[c], "M%d %dh0", at[0], at[1])
			} else {
				fmt.Fprintf(paths[c], "m%d %dh0", at[0]-last[c][0], at[1]-last[c][1])
			}
			last[c] = at
		}
		slices.Sort(order)
		for _, c := range order {
			fmt.Fprintf(b, `<path class="cloud s%s%s" transform="scale(.1)" stroke-width="%s" d="%s"/>`, colour(c), shape(c), px(10*width), paths[c])
		}
		b.WriteString("\n")
	}
}

// maxNames is the number of classes up to which their names stand in the plot.
const maxNames = 12

// drawNames writes the name of every class at the median of its points, moved
// up or down a little if another name is there; a name without room is left to
// the legend.
func (p Scatter2D) drawNames(b *strings.Builder, index []int, xax, yax *axis) {
	if p.Class == nil || len(p.Classes) > maxNames {
		return
	}
	const line, reach = 22, 66 // height of a name, how far it may move
	type box struct{ x, y, half float64 }
	var placed []box
	free := func(at box) bool {
		return at.y > yax.b+8 && at.y < yax.a-8 && !slices.ContainsFunc(placed, func(o box) bool {
			return math.Abs(o.x-at.x) < o.half+at.half+6 && math.Abs(o.y-at.y) < line
		})
	}
	for c, name := range p.Classes {
		var xs, ys []float64
		for _, i := range index {
			if p.Class[i] == c {
				xs, ys = append(xs, xax.pos(p.X[i])), append(ys, yax.pos(p.Y[i]))
			}
		}
		if len(xs) == 0 {
			continue
		}
		slices.Sort(xs)
		slices.Sort(ys)
		x, y, half := xs[len(xs)/2], ys[len(ys)/2], 6*float64(len([]rune(name)))
		x = math.Min(math.Max(x, xax.a+half), xax.b-half)
		for step := 0.0; step <= reach; step += line / 4.0 {
			at := box{x, y - step, half}
			if !free(at) {
				at.y = y + step
			}
			if free(at) {
				placed = append(placed, at)
				fmt.Fprintf(b, `<text class="class" x="%s" y="%s" text-anchor="middle">%s</text>`, px(at.x), px(at.y+6), esc(name))
				break
			}
		}
	}
}

func inClasses(classes []string) string {
	if len(classes) == 0 {
		return ""
	}
	return fmt.Sprintf(", in %d classes", len(classes))
}

func (p Scatter3D) render() (template.HTML, error) {
	if err := check(p.Title, p.Class, p.Classes, p.X, p.Y, p.Z); err != nil {
		return "", err
	}
	index, notes := choose(p.X, p.Y, p.Z)
	// Seven bytes per point: x, y, z as 16-bit little-endian fractions of
	// their range, and the class.
	buf := make([]byte, 0, 7*len(index))
	var lo, hi [3]float64
	coords := [3][]float64{p.X, p.Y, p.Z}
	for k, v := range coords {
		lo[k], hi[k] = bounds(v, index)
	}
	for _, i := range index {
		for k, v := range coords {
			q := uint16(math.MaxUint16 / 2)
			if hi[k] > lo[k] {
				q = uint16(math.Round(math.MaxUint16 * ((v[i] - lo[k]) / (hi[k] - lo[k]))))
			}
			buf = binary.LittleEndian.AppendUint16(buf, q)
		}
		c := classOf(p.Class, i)
		if c < 0 {
			c = noClass
		}
		buf = append(buf, byte(c))
	}
	texts := func(s []string) string {
		out := make([]string, len(s))
		for i := range s {
			out[i] = clean(s[i])
		}
		j, _ := json.Marshal(out) // strings always marshal
		return string(j)
	}
	names := p.Classes
	if p.Class == nil || len(names) > maxNames {
		names = nil
	}
	body, err := execute("cloud", struct{ Alt, Points, Names, Axes string }{
		Alt: clean(fmt.Sprintf("%s. Rotating scatter plot of %d points over %s, %s and %s%s.", p.Title, len(index),
			orWord(p.Labels[0], "x"), orWord(p.Labels[1], "y"), orWord(p.Labels[2], "z"), inClasses(p.Classes))),
		Points: base64.StdEncoding.EncodeToString(buf),
		Names:  texts(names),
		Axes:   texts(p.Labels[:]),
	})
	if err != nil {
		return "", err
	}
	return figure{Title: p.Title, Caption: p.Caption, Notes: notes, Body: body, Legend: classLegend(p.Class, p.Classes)}.render()
}
