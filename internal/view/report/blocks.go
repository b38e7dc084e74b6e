package report

import (
	"encoding/base64"
	"fmt"
	"html/template"
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
func dataURI(kind string, content []byte) template.URL {
	return template.URL("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(content))
}

func (h Headline) render() (template.HTML, error) { return execute("headline", h) }

func (l List) render() (template.HTML, error) { return execute("list", l) }

// mostFlat is the number of letters that the columns of a matrix have room for.
const mostFlat = 3

// tints is the number of tints of a matrix.
const tints = 6

func (m Matrix) render() (template.HTML, error) {
	type cell struct {
		Text, Class string
	}
	type row struct {
		Name, Title string
		Cells       []cell
		Sum         int
	}
	if len(m.Counts) != len(m.Names) {
		return "", fmt.Errorf("matrix %q: %d rows and %d names", m.Title, len(m.Counts), len(m.Names))
	}

	data := struct {
		Matrix
		Body []row
		Up   bool // names of columns stand upright
	}{Matrix: m}
	for i, counts := range m.Counts {
		if len(counts) != len(m.Names) {
			return "", fmt.Errorf("matrix %q: row %d has %d cells for %d names", m.Title, i, len(counts), len(m.Names))
		}
		r := row{Name: shorten(m.Names[i]), Title: m.Names[i]}
		data.Up = data.Up || utf8.RuneCountInString(m.Names[i]) > mostFlat
		for _, n := range counts {
			r.Sum += n
		}

		// Zeros are left empty, so that mistakes stand out.
		for j, n := range counts {
			c := cell{}
			if n > 0 {
				step := 1 + (tints-1)*n/r.Sum
				c.Text = strconv.Itoa(n)
				c.Class = "t" + strconv.Itoa(step)
			}
			if i == j {
				c.Class = strings.TrimSpace(c.Class + " on")
			}
			r.Cells = append(r.Cells, c)
		}
		data.Body = append(data.Body, r)
	}
	return execute("matrix", data)
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
