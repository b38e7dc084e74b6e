package report

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Headline is the sentence that a page begins with, in large letters.
type Headline struct {
	Text string
	Note string // small print on how the numbers came about
}

// A List is a list of advice or facts.
type List struct {
	Title string
	Items []Item
}

// An Item is an entry of a List.
type Item struct {
	Text     string
	Commands []string // command lines that do it
}

// A Matrix is a table of counts of rows and columns of the same names, such as a confusion matrix.
// Cells are tinted by their share of the row, on the diagonal in another colour.
type Matrix struct {
	Title, Caption string
	Rows, Columns  string // what the rows and the columns are
	Names          []string
	Counts         [][]int
}

// A Picture is a small picture in a cell of a Table, above the text of the cell.
type Picture struct {
	Cell
	Type          string // such as "image/png"
	Data          []byte
	Width, Height int
	Alt           string
}

// dataURI returns the content of a picture as an address.
func dataURI(kind string, content []byte) markup {
	return markup("data:" + address(kind) + ";base64," + base64.StdEncoding.EncodeToString(content))
}

func (h Headline) render() (markup, error) {
	var b builder
	b.put("<p class=\"headline\">%s</p>\n", h.Text)
	b.putIf("<p class=\"note\">%s</p>\n", h.Note)
	return b.markup(), nil
}

func (l List) render() (markup, error) {
	var b builder
	b.put(`<div class="list">`)
	b.putIf("<h3>%s</h3>\n", l.Title)
	b.put("<ul>\n")
	for _, item := range l.Items {
		b.put("<li>%s", item.Text)
		for _, line := range item.Commands {
			b.put("<code>%s</code>", line)
		}
		b.put("</li>\n")
	}
	b.put("</ul></div>\n")
	return b.markup(), nil
}

// caption writes the head of a figure.
func (b *builder) caption(title, caption string) {
	b.put("<figcaption>")
	b.putIf("<h3>%s</h3>", title)
	b.putIf("<p>%s</p>", caption)
	b.put("</figcaption>\n")
}

// mostFlat is the number of letters that the columns of a matrix have room for.
const mostFlat = 3

// tints is the number of tints of a matrix.
const tints = 6

func (m Matrix) render() (markup, error) {
	if len(m.Counts) != len(m.Names) {
		return "", fmt.Errorf("matrix %q: %d rows and %d names", m.Title, len(m.Counts), len(m.Names))
	}
	class := "" // of the columns, whose long names stand upright
	for i, name := range m.Names {
		if len(m.Counts[i]) != len(m.Names) {
			return "", fmt.Errorf("matrix %q: row %d has %d cells for %d names", m.Title, i, len(m.Counts[i]), len(m.Names))
		}
		if utf8.RuneCountInString(name) > mostFlat {
			class = "up"
		}
	}

	var b builder
	b.put("<figure>\n")
	b.caption(m.Title, m.Caption)
	b.put("<div class=\"scroll\" tabindex=\"0\"><table class=\"matrix\">\n")
	b.put("<thead><tr><td></td><th colspan=\"%d\" scope=\"colgroup\">%s</th><td></td></tr>\n", len(m.Names), m.Columns)
	b.put(`<tr><th scope="col">%s</th>`, m.Rows)
	for _, name := range m.Names {
		b.put(`<th scope="col"%s title="%s"><span>%s</span></th>`, classOf(class), name, shorten(name))
	}
	b.put("<th scope=\"col\" class=\"num\">all</th></tr></thead>\n<tbody>\n")
	for i, name := range m.Names {
		b.put(`<tr><th scope="row" title="%s">%s</th>`, name, shorten(name))
		sum := 0
		for _, n := range m.Counts[i] {
			sum += n
		}

		// Zeros are left empty, so that mistakes stand out.
		for j, n := range m.Counts[i] {
			var text, class string
			if n > 0 {
				text = strconv.Itoa(n)
				class = "t" + strconv.Itoa(1+(tints-1)*n/sum)
			}
			if i == j {
				class = strings.TrimSpace(class + " on")
			}
			b.put("<td%s>%s</td>", classOf(class), text)
		}
		b.put("<td class=\"num\">%d</td></tr>\n", sum)
	}
	b.put("</tbody>\n</table></div></figure>\n")
	return b.markup(), nil
}

// mostHead is the length from which the name of a row or a column is cut.
const mostHead = 24

// shorten cuts a name in its middle, as long names often have a beginning in common.
func shorten(name string) string {
	r := []rune(name)
	if len(r) <= mostHead {
		return name
	}
	const half = mostHead / 2
	return string(r[:half-1]) + "…" + string(r[len(r)-half:])
}
