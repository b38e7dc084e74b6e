package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A LineChart shows y over x for one or several series. With Points set in a
// series it also serves for spectra.
type LineChart struct {
	Title          string
	Caption        string // a sentence under the chart: what is to be seen
	XLabel, YLabel string
	XLog, YLog     bool
	Series         []Series
}

// A Series is one line of a LineChart.
type Series struct {
	Name   string
	X, Y   []float64 // of equal length, in the order in which they are joined
	Err    []float64 // nil, or half-lengths of the error bars; NaN and ≤ 0 mean none
	Points bool      // markers only, not joined
	Dashed bool      // for reference lines, such as published values
}

// The size of a chart in units of its view box. The margins leave room for the
// larger type of small screens.
const (
	chartW, chartH            = 720, 420
	chartLeft, chartRight     = 78, 22
	chartTop, chartBottom     = 46, 62
	maxSeriesPoints           = 2000     // markers drawn per series; more are thinned
	maxTableRows              = 60       // a chart with more x values gets no table
	xTicks, yTicks            = 7, 6     // about
	markerSize, markerSizeFew = 2.2, 4.2 // radius of a marker among many, among few
)

func (c LineChart) render() (template.HTML, error) {
	for _, s := range c.Series {
		if len(s.X) != len(s.Y) || s.Err != nil && len(s.Err) != len(s.Y) {
			return "", fmt.Errorf("chart %q, series %q: %d x, %d y and %d error values", c.Title, s.Name, len(s.X), len(s.Y), len(s.Err))
		}
	}
	series, notes := c.drawable()
	xax, yax := c.axes(series)

	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartW, chartH, esc(c.describe(series)))
	drawAxes(&b, xax, yax, c.XLabel, c.YLabel)
	for i, s := range series {
		drawSeries(&b, i, s, xax, yax)
	}
	if !slices.ContainsFunc(series, func(s Series) bool { return len(s.X) > 0 }) {
		fmt.Fprintf(&b, `<text class="empty" x="%d" y="%d" text-anchor="middle">no data</text>`, chartW/2, chartH/2)
	}
	b.WriteString("</svg>\n")

	var legend []template.HTML
	if len(series) > 1 {
		for i, s := range series {
			legend = append(legend, template.HTML(seriesSwatch(i, s)+"<span>"+esc(s.Name)+"</span>"))
		}
	}
	table, err := c.table()
	if err != nil {
		return "", err
	}
	return figure{Title: c.Title, Caption: c.Caption, Notes: notes, Body: template.HTML(b.String()), Legend: legend, Data: table}.render()
}

// drawable returns the series without the points that cannot be drawn, thinned
// to maxSeriesPoints, and sentences that say what is missing.
func (c LineChart) drawable() (series []Series, notes []string) {
	var xax, yax = axis{log: c.XLog}, axis{log: c.YLog}
	skipped := 0
	for _, s := range c.Series {
		out := Series{Name: s.Name, Points: s.Points, Dashed: s.Dashed}
		for i := range s.X {
			if !xax.ok(s.X[i]) || !yax.ok(s.Y[i]) {
				skipped++
				continue
			}
			out.X, out.Y = append(out.X, s.X[i]), append(out.Y, s.Y[i])
			e := 0.0
			if s.Err != nil && finite(s.Err[i]) && s.Err[i] > 0 {
				e = s.Err[i]
			}
			out.Err = append(out.Err, e)
		}
		if n := len(out.X); n > maxSeriesPoints {
			for i := range maxSeriesPoints {
				j := i * (n - 1) / (maxSeriesPoints - 1)
				out.X[i], out.Y[i], out.Err[i] = out.X[j], out.Y[j], out.Err[j]
			}
			out.X, out.Y, out.Err = out.X[:maxSeriesPoints], out.Y[:maxSeriesPoints], out.Err[:maxSeriesPoints]
			notes = append(notes, fmt.Sprintf("%s: %d of %d points are drawn.", s.Name, maxSeriesPoints, n))
		}
		series = append(series, out)
	}
	if skipped > 0 {
		what := "that are not finite"
		if c.XLog || c.YLog {
			what += ", or not positive on a logarithmic axis,"
		}
		notes = append(notes, fmt.Sprintf("Points %s are left out (%d).", what, skipped))
	}
	return series, notes
}

// axes returns the axes that hold all of series, error bars included.
func (c LineChart) axes(series []Series) (xax, yax *axis) {
	xlo, xhi, ylo, yhi := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, s := range series {
		for i, x := range s.X {
			xlo, xhi = math.Min(xlo, x), math.Max(xhi, x)
			yhi = math.Max(yhi, s.Y[i]+s.Err[i])
			ylo = math.Min(ylo, s.Y[i])
			if low := s.Y[i] - s.Err[i]; !c.YLog || low > s.Y[i]/10 {
				ylo = math.Min(ylo, low)
			}
		}
	}
	return newAxis(c.XLog, xlo, xhi, xTicks, false, chartLeft, chartW-chartRight),
		newAxis(c.YLog, ylo, yhi, yTicks, true, chartH-chartBottom, chartTop)
}

// describe is the text alternative of the chart.
func (c LineChart) describe(series []Series) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. Chart of %s over %s.", c.Title, orWord(c.YLabel, "y"), orWord(c.XLabel, "x"))
	for _, s := range series {
		if n := len(s.X); n > 0 {
			fmt.Fprintf(&b, " %s: %d points from (%s, %s) to (%s, %s).", orWord(s.Name, "Series"), n,
				number(s.X[0]), number(s.Y[0]), number(s.X[n-1]), number(s.Y[n-1]))
		}
	}
	return b.String()
}

func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

// number writes v for people.
func number(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// px writes a coordinate to a tenth of a unit.
func px(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// drawAxes draws grid, ticks, their labels and the names of the axes.
func drawAxes(b *strings.Builder, xax, yax *axis, xlabel, ylabel string) {
	lastX := math.Inf(-1)
	for _, t := range xax.ticks {
		x := xax.pos(t.at)
		class := "grid"
		if t.label == "" {
			class = "grid minor"
		}
		fmt.Fprintf(b, `<path class="%s" d="M%s %sV%s"/>`, class, px(x), px(yax.b), px(yax.a))
		// A label that would touch the one before is left out; at 16 units
		// of type a character is about 9 wide.
		half := 4.5 * float64(len([]rune(t.label)))
		if t.label != "" && x-half > lastX+6 {
			fmt.Fprintf(b, `<text x="%s" y="%s" text-anchor="middle">%s</text>`, px(x), px(yax.a+20), t.label)
			lastX = x + half
		}
	}
	for _, t := range yax.ticks {
		y := yax.pos(t.at)
		class := "grid"
		if t.label == "" {
			class = "grid minor"
		}
		fmt.Fprintf(b, `<path class="%s" d="M%s %sH%s"/>`, class, px(xax.a), px(y), px(xax.b))
		if t.label != "" {
			fmt.Fprintf(b, `<text x="%s" y="%s" text-anchor="end">%s</text>`, px(xax.a-8), px(y+5), t.label)
		}
	}
	fmt.Fprintf(b, `<path class="axis" d="M%s %sH%s"/>`, px(xax.a), px(yax.a), px(xax.b))
	fmt.Fprintf(b, `<text class="name" x="%s" y="%s" text-anchor="middle">%s</text>`, px((xax.a+xax.b)/2), px(yax.a+50), esc(xlabel))
	fmt.Fprintf(b, `<text class="name" x="8" y="%s">%s</text>`, px(yax.b-22), esc(ylabel))
}

func drawSeries(b *strings.Builder, index int, s Series, xax, yax *axis) {
	k := index % len(lightPalette)
	fmt.Fprintf(b, `<g class="f%d s%d">`, k, k)
	if !s.Points && len(s.X) > 1 {
		dash := ""
		if s.Dashed {
			dash = " dash"
		}
		fmt.Fprintf(b, `<path class="line%s" d="`, dash)
		for i := range s.X {
			op := byte('L')
			if i == 0 {
				op = 'M'
			}
			fmt.Fprintf(b, "%c%s %s", op, px(xax.pos(s.X[i])), px(yax.pos(s.Y[i])))
		}
		b.WriteString(`"/>`)
	}
	few := len(s.X) <= maxTableRows
	for i := range s.X {
		x, y := xax.pos(s.X[i]), yax.pos(s.Y[i])
		if e := s.Err[i]; e > 0 {
			low := yax.a
			if v := s.Y[i] - e; yax.ok(v) {
				low = yax.pos(v)
			}
			high := yax.pos(s.Y[i] + e)
			fmt.Fprintf(b, `<path class="err" d="M%s %sV%sm-4 0h8M%s %sh8"/>`, px(x), px(low), px(high), px(x-4), px(low))
		}
		if few || s.Points {
			size := markerSize
			if few {
				size = markerSizeFew
			}
			title := fmt.Sprintf("%s, %s", number(s.X[i]), number(s.Y[i]))
			if s.Err[i] > 0 {
				title += " ± " + number(s.Err[i])
			}
			if few && s.Name != "" {
				title = s.Name + ": " + title
			}
			fmt.Fprintf(b, `<path class="dot" d="%s"><title>%s</title></path>`, marker(index, x, y, size), esc(title))
		}
	}
	b.WriteString("</g>\n")
}

// marker returns the outline of the marker of series index, so that series are
// told apart by shape too.
func marker(index int, x, y, r float64) string {
	at := px(x) + " " + px(y)
	switch index % 4 {
	case 1: // square
		r *= 0.9
		return fmt.Sprintf("M%sm%s %sh%sv%sh%sz", at, px(-r), px(-r), px(2*r), px(2*r), px(-2*r))
	case 2: // triangle
		r *= 1.15
		return fmt.Sprintf("M%sm0 %sl%s %sh%sz", at, px(-r), px(r), px(1.8*r), px(-2*r))
	case 3: // diamond
		r *= 1.25
		return fmt.Sprintf("M%sm0 %sl%s %sl%s %sl%s %sz", at, px(-r), px(r), px(r), px(-r), px(r), px(-r), px(-r))
	}
	return fmt.Sprintf("M%sm%s 0a%s %s 0 1 0 %s 0a%s %s 0 1 0 %s 0", at, px(-r), px(r), px(r), px(2*r), px(r), px(r), px(-2*r))
}

func seriesSwatch(index int, s Series) string {
	k := index % len(lightPalette)
	line := ""
	if !s.Points {
		class := "line"
		if s.Dashed {
			class += " dash"
		}
		line = fmt.Sprintf(`<path class="%s" d="M1 8H31"/>`, class)
	}
	return fmt.Sprintf(`<svg class="swatch f%d s%d" viewBox="0 0 32 16" aria-hidden="true">%s<path class="dot" d="%s"/></svg>`,
		k, k, line, marker(index, 16, 8, markerSizeFew))
}

// table returns the numbers of the chart as a table, or nothing if it would be
// long.
func (c LineChart) table() (template.HTML, error) {
	row := map[float64]int{}
	var xs []float64
	for _, s := range c.Series {
		for _, x := range s.X {
			if _, seen := row[x]; !seen && finite(x) {
				row[x] = 0
				xs = append(xs, x)
			}
		}
	}
	if len(xs) == 0 || len(xs) > maxTableRows {
		return "", nil
	}
	slices.Sort(xs)
	t := Table{Header: []string{orWord(c.XLabel, "x")}, Rows: make([][]string, len(xs))}
	for i, x := range xs {
		row[x] = i
		t.Rows[i] = make([]string, 1+len(c.Series))
		t.Rows[i][0] = number(x)
	}
	for j, s := range c.Series {
		t.Header = append(t.Header, orWord(s.Name, orWord(c.YLabel, "y")))
		for i, x := range s.X {
			if finite(x) && finite(s.Y[i]) {
				text := number(s.Y[i])
				if s.Err != nil && finite(s.Err[i]) && s.Err[i] > 0 {
					text += " ± " + strconv.FormatFloat(s.Err[i], 'g', 2, 64)
				}
				t.Rows[row[x]][j+1] = text
			}
		}
	}
	return t.render()
}

// A figure is what charts, plots and pictures have in common.
type figure struct {
	Title, Caption string
	Notes          []string
	Body           template.HTML
	Legend         []template.HTML
	Data           template.HTML // a table to fold out
}

func (f figure) render() (template.HTML, error) {
	f.Title, f.Caption = clean(f.Title), clean(f.Caption)
	for i, s := range f.Notes {
		f.Notes[i] = clean(s)
	}
	return execute("figure", f)
}
