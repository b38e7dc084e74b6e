// Package report writes the result of a run as one HTML file that needs
// nothing else: styles, charts and pictures are all inside, so the file can be
// mailed, archived and opened without a network.
//
// A [Report] is a list of sections, a [Section] a list of blocks, and a block
// one of [Headline], [Paragraph], [List], [Table], [Matrix], [KeyValues], [Figure], [Map] and
// [ImageStrip]. They hold plain values only. All text is escaped. The charts of a Figure are drawn by
// package chart; whatever they leave out is said under them.
//
// A page states a content security policy: it loads nothing, and no script runs but the script of
// maps, which is part of this package.
//
// The same Report gives the same bytes.
package report

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bigfit/bigfit/internal/view/chart"
)

// A Report is one page.
type Report struct {
	Title    string
	Subtitle string // one line under the title: data set, date, version
	Index    string // the page that lists this one and others, empty if there is none
	Sections []Section
}

// A Section is a heading with the blocks under it.
type Section struct {
	Title  string
	Blocks []Block
}

// A Block is a part of a section. All its implementations are in this package.
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
	Marks   []Mark     // words below the text of cells
	Links   []Link     // cells that lead somewhere
	// Pictures stand above the text of cells.
	Pictures []Picture
	Note     string // small print under the table, such as what Best means
}

// A Cell is a place in the rows of a Table, counted from 0.
type Cell struct{ Row, Col int }

// A Mark is a word in small print below the text of a cell: green if it is Good, red if it is
// Bad.
type Mark struct {
	Cell
	Text      string
	Good, Bad bool
}

// A Link makes the text of a cell lead to URL, a page beside this one or a place in it.
type Link struct {
	Cell
	URL string
}

// KeyValues is a list of names and values, such as settings.
type KeyValues struct {
	Caption string
	Pairs   []KeyValue
}

// A KeyValue is one entry of KeyValues.
type KeyValue struct{ Key, Value string }

//go:embed assets/page.html
var templates string

//go:embed assets/style.css
var style string

var page = template.Must(template.New("templates").Funcs(template.FuncMap{
	"css":    func() template.CSS { return template.CSS(chart.CSS() + style) },
	"script": func() template.JS { return template.JS(mapScript) },
}).Parse(templates))

// Write writes r as a complete HTML document in UTF-8.
//
// If the values of blocks contradict each other, one error reports all such blocks
// and nothing is written. Any other error comes from w.
func Write(w io.Writer, r *Report) error {
	type section struct {
		ID, Title string
		Blocks    []template.HTML
	}
	data := struct {
		Title, Subtitle, Index, Policy string
		Script                         bool
		Sections                       []section
	}{Title: r.Title, Subtitle: r.Subtitle, Index: r.Index, Policy: policy(r.hasMap()), Script: r.hasMap()}
	var faults []error
	for i, s := range r.Sections {
		out := section{ID: "s" + strconv.Itoa(i+1), Title: s.Title}
		for j, b := range s.Blocks {
			// Blocks that a run does not have may be nil.
			if b == nil {
				continue
			}
			h, err := b.render()
			if err != nil {
				faults = append(faults, fmt.Errorf("report: section %q, block %d: %w", s.Title, j+1, err))
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
	// Names of classes and files can hold control characters, which HTML forbids.
	_, err = io.WriteString(w, chart.Clean(string(h)))
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

func (p Paragraph) render() (template.HTML, error) {
	var b strings.Builder
	for _, t := range strings.Split(strings.ReplaceAll(string(p), "\r\n", "\n"), "\n\n") {
		if t = strings.TrimSpace(t); t != "" {
			b.WriteString("<p>" + template.HTMLEscapeString(t) + "</p>\n")
		}
	}
	return template.HTML(b.String()), nil
}

func (t Table) render() (template.HTML, error) {
	type cell struct {
		Text, URL string
		Class     string
		Num, Best bool
		Mark      Mark
		Picture   template.URL
		Width     int
		Height    int
		Alt       string
	}

	data := struct {
		Caption, Note string
		Header        []cell
		Rows          [][]cell
	}{Caption: t.Caption, Note: t.Note}

	numeric := make([]bool, len(t.Header))
	for j := range numeric {
		numeric[j] = t.numeric(j)
		data.Header = append(data.Header, cell{Text: t.Header[j], Num: numeric[j]})
	}

	// Short rows are filled up with empty cells.
	for i, row := range t.Rows {
		if len(row) > len(t.Header) {
			return "", fmt.Errorf("table %q: row %d has %d cells, the header has %d", t.Caption, i, len(row),
				len(t.Header))
		}
		out := make([]cell, len(t.Header))
		for j := range out {
			out[j].Num = numeric[j]
			if j < len(row) {
				out[j].Text = row[j]
			}
		}
		data.Rows = append(data.Rows, out)
	}

	// Bold cells, marks and links name cells by place; all wrong places are reported together.
	at := func(c Cell, what string) (*cell, error) {
		if c.Row < 0 || c.Row >= len(t.Rows) || c.Col < 0 || c.Col >= len(t.Header) {
			return nil, fmt.Errorf("table %q: %s cell (%d, %d) is outside its %d×%d cells", t.Caption, what,
				c.Row, c.Col, len(t.Rows), len(t.Header))
		}
		return &data.Rows[c.Row][c.Col], nil
	}

	var faults []error
	for _, c := range t.Best {
		if to, err := at(c, "best"); err != nil {
			faults = append(faults, err)
		} else {
			to.Best = true
		}
	}

	for _, m := range t.Marks {
		if to, err := at(m.Cell, "marked"); err != nil {
			faults = append(faults, err)
		} else {
			to.Mark = m
		}
	}

	for _, l := range t.Links {
		if to, err := at(l.Cell, "linked"); err != nil {
			faults = append(faults, err)
		} else {
			to.URL = l.URL
		}
	}

	for _, p := range t.Pictures {
		if to, err := at(p.Cell, "pictured"); err != nil {
			faults = append(faults, err)
		} else {
			to.Picture = dataURI(p.Type, p.Data)
			to.Width = p.Width
			to.Height = p.Height
			to.Alt = p.Alt
		}
	}

	if err := errors.Join(faults...); err != nil {
		return "", err
	}
	for _, row := range data.Rows {
		for j := range row {
			row[j].Class = cellClass(row[j].Text, row[j].Num, row[j].Best)
		}
	}
	return execute("table", data)
}

const (
	// oneLine is the length up to which a word, such as an id with hyphens, is not broken.
	oneLine = 16
	// longText is the length from which a text needs a column that is wider than its words.
	longText = 60
)

// cellClass returns the classes of a cell in the style sheet.
func cellClass(text string, num, best bool) string {
	var class []string
	if num {
		class = append(class, "num")
	}
	if best {
		class = append(class, "best")
	}
	switch letters := utf8.RuneCountInString(text); {
	case num:
	case letters >= longText:
		class = append(class, "long")
	case letters <= oneLine && !strings.ContainsAny(text, " \n"):
		class = append(class, "one")
	}
	return strings.Join(class, " ")
}

// numeric tells whether column j is to be aligned to the right.
func (t Table) numeric(j int) bool {
	found := false
	for _, row := range t.Rows {
		if j >= len(row) {
			continue
		}
		// Signs and comparisons may precede a number; dashes and NaN stand for a missing one.
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
	return execute("keyvalues", k)
}
