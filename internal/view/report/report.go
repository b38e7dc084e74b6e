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
	_ "embed"
	"errors"
	"fmt"
	"io"
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
	render() (markup, error)
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

//go:embed assets/style.css
var style string

// Write writes r as a complete HTML document in UTF-8.
//
// If the values of blocks contradict each other, one error reports all such blocks
// and nothing is written. Any other error comes from w.
func Write(w io.Writer, r *Report) error {
	blocks := make([]markup, len(r.Sections))
	var faults []error
	for i, s := range r.Sections {
		for j, b := range s.Blocks {
			// Blocks that a run does not have may be nil.
			if b == nil {
				continue
			}
			h, err := b.render()
			if err != nil {
				faults = append(faults, fmt.Errorf("report: section %q, block %d: %w", s.Title, j+1, err))
			}
			blocks[i] += h
		}
	}

	if err := errors.Join(faults...); err != nil {
		return err
	}
	// Names of classes and files can hold control characters, which HTML forbids.
	_, err := io.WriteString(w, chart.Clean(string(r.page(blocks))))
	return err
}

// fewest is the number of sections from which a page begins with a list of them.
const fewest = 3

// page returns the page of the sections, whose blocks are given.
func (r *Report) page(blocks []markup) markup {
	var b builder
	b.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="bigfit">
<title>%s</title>
<style>
%s</style>
</head>
<body>
<header>
<h1>%s</h1>
`, policy(r.hasMap()), r.Title, markup(chart.CSS()+style), r.Title)
	b.putIf("<p class=\"subtitle\">%s</p>\n", r.Subtitle)
	if r.Index != "" {
		b.put("<p><a href=\"%s\">All pages</a></p>\n", address(r.Index))
	}
	b.put("</header>\n")

	if len(r.Sections) >= fewest {
		b.put("<nav aria-label=\"Sections\"><ul>\n")
		for i, s := range r.Sections {
			if s.Title != "" {
				b.put("<li><a href=\"#s%d\">%s</a></li>\n", i+1, s.Title)
			}
		}
		b.put("</ul></nav>\n")
	}
	b.put("<main>\n")
	for i, s := range r.Sections {
		b.put("<section id=\"s%d\">\n", i+1)
		b.putIf("<h2>%s</h2>\n", s.Title)
		b.put("%s</section>\n", blocks[i])
	}
	b.put("</main>\n")
	if r.hasMap() {
		b.put("<script>%s</script>\n", markup(mapScript))
	}
	b.put("</body>\n</html>\n")
	return b.markup()
}

func (p Paragraph) render() (markup, error) {
	var b builder
	for _, t := range strings.Split(strings.ReplaceAll(string(p), "\r\n", "\n"), "\n\n") {
		b.putIf("<p>%s</p>\n", strings.TrimSpace(t))
	}
	return b.markup(), nil
}

func (t Table) render() (markup, error) {
	numeric := make([]bool, len(t.Header))
	for j := range numeric {
		numeric[j] = t.numeric(j)
	}

	// Short rows are filled up with empty cells.
	var rows [][]tableCell
	for i, row := range t.Rows {
		if len(row) > len(t.Header) {
			return "", fmt.Errorf("table %q: row %d has %d cells, the header has %d", t.Caption, i, len(row),
				len(t.Header))
		}
		out := make([]tableCell, len(t.Header))
		for j := range out {
			out[j].num = numeric[j]
			if j < len(row) {
				out[j].text = row[j]
			}
		}
		rows = append(rows, out)
	}

	// Bold cells, marks and links name cells by place; all wrong places are reported together.
	at := func(c Cell, what string) (*tableCell, error) {
		if c.Row < 0 || c.Row >= len(t.Rows) || c.Col < 0 || c.Col >= len(t.Header) {
			return nil, fmt.Errorf("table %q: %s cell (%d, %d) is outside its %d×%d cells", t.Caption, what,
				c.Row, c.Col, len(t.Rows), len(t.Header))
		}
		return &rows[c.Row][c.Col], nil
	}

	var faults []error
	for _, c := range t.Best {
		if to, err := at(c, "best"); err != nil {
			faults = append(faults, err)
		} else {
			to.best = true
		}
	}

	for _, m := range t.Marks {
		if to, err := at(m.Cell, "marked"); err != nil {
			faults = append(faults, err)
		} else {
			to.mark = m
		}
	}

	for _, l := range t.Links {
		if to, err := at(l.Cell, "linked"); err != nil {
			faults = append(faults, err)
		} else {
			to.url = l.URL
		}
	}

	for _, p := range t.Pictures {
		if to, err := at(p.Cell, "pictured"); err != nil {
			faults = append(faults, err)
		} else {
			to.picture = &p
		}
	}

	if err := errors.Join(faults...); err != nil {
		return "", err
	}
	return t.table(numeric, rows), nil
}

// tableCell is a cell of a table with all that stands in it.
type tableCell struct {
	text, url string
	num, best bool
	mark      Mark
	picture   *Picture
}

// table returns the table of the cells.
func (t Table) table(numeric []bool, rows [][]tableCell) markup {
	var b builder
	b.put(`<div class="table">`)
	b.putIf("<p class=\"caption\" aria-hidden=\"true\">%s</p>\n", t.Caption)
	b.put(`<div class="scroll" tabindex="0"><table`)
	b.putIf(` aria-label="%s"`, t.Caption)
	b.put(">\n<thead><tr>")
	for j, name := range t.Header {
		class := ""
		if numeric[j] {
			class = "num"
		}
		b.put(`<th scope="col"%s>%s</th>`, classOf(class), name)
	}
	b.put("</tr></thead>\n<tbody>\n")
	for _, row := range rows {
		b.put("<tr>")
		for j := range row {
			row[j].put(&b)
		}
		b.put("</tr>\n")
	}
	b.put("</tbody>\n</table></div>\n")
	b.putIf("<p class=\"note\">%s</p>\n", t.Note)
	b.put("</div>\n")
	return b.markup()
}

// put writes a cell.
func (c *tableCell) put(b *builder) {
	b.put(`<td%s>`, classOf(cellClass(c.text, c.num, c.best)))
	if p := c.picture; p != nil {
		b.put(`<img class="thumb" src="%s" width="%d" height="%d" alt="%s">`, dataURI(p.Type, p.Data), p.Width, p.Height, p.Alt)
	}
	if c.url != "" {
		b.put(`<a href="%s">%s</a>`, address(c.url), c.text)
	} else {
		b.put("%s", c.text)
	}
	if c.mark.Text != "" {
		class := "mark"
		switch {
		case c.mark.Good:
			class = "mark good"
		case c.mark.Bad:
			class = "mark bad"
		}
		b.put(`<small class="%s">%s</small>`, class, c.mark.Text)
	}
	b.put("</td>")
}

// classOf returns the attribute class with a blank before it, or nothing.
func classOf(names string) markup {
	var b builder
	b.putIf(` class="%s"`, names)
	return b.markup()
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

func (k KeyValues) render() (markup, error) {
	var b builder
	b.put(`<div class="values">`)
	b.putIf("<h3>%s</h3>\n", k.Caption)
	b.put("<dl>\n")
	for _, p := range k.Pairs {
		b.put("<div><dt>%s</dt><dd>%s</dd></div>\n", p.Key, p.Value)
	}
	b.put("</dl></div>\n")
	return b.markup(), nil
}
