// Package report writes the result of a run as one HTML file that needs
// nothing else: styles, charts, pictures and the little script that turns the
// three-dimensional plot are all inside, so the file can be mailed, archived
// and opened without a network.
//
// A [Report] is a list of sections, a [Section] a list of blocks, and a block
// one of [Paragraph], [Table], [KeyValues], [LineChart], [Bars], [Scatter2D],
// [Scatter3D], [Surfaces] and [ImageStrip]. They hold plain values only. All text is
// escaped. Numbers that cannot be drawn (NaN, ±Inf, and values ≤ 0 on a
// logarithmic axis) are left out; whatever was left out or thinned is said
// under the chart.
//
// The same Report gives the same bytes.
package report

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
)

// A Report is one page.
type Report struct {
	Title    string
	Subtitle string // one line under the title: data set, date, version
	Sections []Section
}

// A Section is a heading with the blocks under it.
type Section struct {
	Title  string
	Blocks []Block
}

// A Block is a part of a section; the implementations are those of this package.
type Block interface {
	// render returns the block as HTML; the error names the fault in the
	// values given, such as slices of different length.
	render() (template.HTML, error)
}

// A Paragraph is plain text; an empty line separates paragraphs.
type Paragraph string

// A Table is a grid of text. Columns in which every cell that holds something
// starts like a number are aligned to the right.
type Table struct {
	Caption string
	Header  []string
	Rows    [][]string // a row may be shorter than the header, not longer
	Best    []Cell     // cells shown in bold on a tint
	Note    string     // small print under the table, such as what Best means
}

// A Cell is a place in the rows of a Table, counted from 0.
type Cell struct{ Row, Col int }

// KeyValues is a list of names and values, such as settings.
type KeyValues struct {
	Caption string
	Pairs   []KeyValue
}

// A KeyValue is one entry of KeyValues.
type KeyValue struct{ Key, Value string }

// Bars is a list of amounts, each with a bar proportional to it: the seconds
// of the stages of a run.
type Bars struct {
	Caption string
	Unit    string // such as "s"
	Rows    []Bar
	Total   bool // add a last line with the sum
}

// A Bar is one entry of Bars. Value is drawn only if positive and finite.
type Bar struct {
	Name  string
	Value float64
	Note  string
}

//go:embed assets
var assets embed.FS

// The functions used by assets/page.html.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"css":    func() template.CSS { return template.CSS(asset("style.css") + paletteCSS()) },
	"script": func() template.JS { return template.JS(asset("cloud.js")) },
}).ParseFS(assets, "assets/page.html"))

func asset(name string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // the file is compiled in
	}
	return string(b)
}

// Write writes r as a complete HTML document in UTF-8.
//
// Blocks whose values contradict themselves are all reported in one error, and
// then nothing is written. Any other error is that of w.
func Write(w io.Writer, r *Report) error {
	type section struct {
		ID, Title string
		Blocks    []template.HTML
	}
	data := struct {
		Title, Subtitle string
		Sections        []section
		Script          bool
	}{Title: clean(r.Title), Subtitle: clean(r.Subtitle)}
	var faults []error
	for i, s := range r.Sections {
		out := section{ID: "s" + strconv.Itoa(i+1), Title: clean(s.Title)}
		for j, b := range s.Blocks {
			if b == nil {
				continue
			}
			h, err := b.render()
			if err != nil {
				faults = append(faults, fmt.Errorf("report: section %q, block %d: %w", s.Title, j+1, err))
			}
			switch b.(type) {
			case Scatter3D, *Scatter3D:
				data.Script = true
			}
			out.Blocks = append(out.Blocks, h)
		}
		data.Sections = append(data.Sections, out)
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	h, err := execute("page", data)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, string(h))
	return err
}

// execute runs one template of page.html.
func execute(name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	if err := page.ExecuteTemplate(&b, name, data); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil
}

// clean makes s valid UTF-8 without control characters, which HTML forbids.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

// esc escapes s for text and for quoted attributes.
func esc(s string) string { return template.HTMLEscapeString(clean(s)) }

func (p Paragraph) render() (template.HTML, error) {
	var b strings.Builder
	for _, t := range strings.Split(strings.ReplaceAll(string(p), "\r\n", "\n"), "\n\n") {
		if t = strings.TrimSpace(t); t != "" {
			b.WriteString("<p>" + esc(t) + "</p>\n")
		}
	}
	return template.HTML(b.String()), nil
}

func (t Table) render() (template.HTML, error) {
	type cell struct {
		Text      string
		Num, Best bool
	}
	data := struct {
		Caption, Note string
		Header        []cell
		Rows          [][]cell
	}{Caption: clean(t.Caption), Note: clean(t.Note)}
	numeric := make([]bool, len(t.Header))
	for j := range numeric {
		numeric[j] = t.numeric(j)
		data.Header = append(data.Header, cell{Text: clean(t.Header[j]), Num: numeric[j]})
	}
	for i, row := range t.Rows {
		if len(row) > len(t.Header) {
			return "", fmt.Errorf("table %q: row %d has %d cells, the header has %d", t.Caption, i, len(row), len(t.Header))
		}
		out := make([]cell, len(t.Header))
		for j := range out {
			out[j].Num = numeric[j]
			if j < len(row) {
				out[j].Text = clean(row[j])
			}
		}
		data.Rows = append(data.Rows, out)
	}
	for _, c := range t.Best {
		if c.Row < 0 || c.Row >= len(t.Rows) || c.Col < 0 || c.Col >= len(t.Header) {
			return "", fmt.Errorf("table %q: best cell (%d, %d) is outside its %d×%d cells", t.Caption, c.Row, c.Col, len(t.Rows), len(t.Header))
		}
		data.Rows[c.Row][c.Col].Best = true
	}
	return execute("table", data)
}

// numeric tells whether column j is to be aligned to the right.
func (t Table) numeric(j int) bool {
	found := false
	for _, row := range t.Rows {
		if j >= len(row) {
			continue
		}
		s := strings.TrimLeft(strings.TrimSpace(row[j]), "+-−±<>≤≥≈~ ")
		switch {
		case s == "" || s == "–" || s == "—" || s == "NaN":
		case s[0] >= '0' && s[0] <= '9' || s[0] == '.':
			found = true
		default:
			return false
		}
	}
	return found
}

func (k KeyValues) render() (template.HTML, error) {
	out := KeyValues{Caption: clean(k.Caption)}
	for _, p := range k.Pairs {
		out.Pairs = append(out.Pairs, KeyValue{clean(p.Key), clean(p.Value)})
	}
	return execute("keyvalues", out)
}

func (b Bars) render() (template.HTML, error) {
	type row struct {
		Name, Value, Note string
		Percent           template.CSS // of the longest bar
		Total             bool
	}
	data := struct {
		Caption string
		Rows    []row
		Notes   bool
	}{Caption: clean(b.Caption)}
	top, sum := 0.0, 0.0
	for _, r := range b.Rows {
		if finite(r.Value) {
			top, sum = math.Max(top, r.Value), sum+r.Value
		}
		data.Notes = data.Notes || r.Note != ""
	}
	text := func(v float64) string {
		return clean(strings.TrimSpace(amount(v) + " " + b.Unit))
	}
	for _, r := range b.Rows {
		p := 0.0
		if finite(r.Value) && r.Value > 0 {
			p = 100 * (r.Value / top)
		}
		data.Rows = append(data.Rows, row{Name: clean(r.Name), Value: text(r.Value), Note: clean(r.Note),
			Percent: template.CSS(strconv.FormatFloat(p, 'f', 2, 64))})
	}
	if b.Total {
		data.Rows = append(data.Rows, row{Name: "total", Value: text(sum), Total: true})
	}
	return execute("bars", data)
}

// amount writes v with three significant digits but never fewer than all the
// digits before the point.
func amount(v float64) string {
	switch a := math.Abs(v); {
	case !finite(v):
		return "–"
	case a >= 100 || a == 0:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// finite tells whether v can be drawn. Numbers near the end of the range of
// float64 are refused too, so that differences of drawable numbers are finite.
func finite(v float64) bool { return math.Abs(v) < 1e280 }
