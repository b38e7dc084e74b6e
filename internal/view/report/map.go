package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/internal/view/chart"
)

// A Map is a scatter plot that a reader can explore: the name of a point appears under the pointer,
// classes are picked in the legend, and the plot can be zoomed and moved. Without scripts, or on
// paper, the page shows a picture for each view.
//
// All text travels as JSON in which <, > and & are escaped, and the script shows it as text.
type Map struct {
	Title, Caption string
	X, Y           []float64
	XLabel, YLabel string   // empty if the axes mean nothing
	Names          []string // of the points, such as ids; nil for none
	// Notes are words on each point, shown under its name; nil for none.
	Notes      []string
	Marked     []int // points drawn with a ring
	MarkedName string
	Views      []View
}

// A View is one colouring of the points of a Map.
type View struct {
	Name    string // such as "answer"
	Caption string
	Class   []int // index into Classes, −1 for none
	Classes []string
	Scale   bool // Classes are the steps of a scale
}

//go:embed assets/map.js
var mapScript string

// scriptHash is the source of the content security policy that allows the script of maps and no
// other one.
var scriptHash = func() string {
	sum := sha256.Sum256([]byte(mapScript))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// policy returns the content security policy of a page. A page loads nothing: its pictures are data,
// its styles are inside, and the only script that runs is the script of maps, if the page has one.
func policy(script bool) string {
	allowed := "'none'"
	if script {
		allowed = scriptHash
	}
	return "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src " + allowed +
		"; base-uri 'none'; form-action 'none'"
}

// mapData is the JSON of a map. Places are shares of the frame in steps of 1/10000.
type mapData struct {
	X      []int      `json:"x"`
	Y      []int      `json:"y"`
	Names  []string   `json:"names,omitempty"`
	Notes  []string   `json:"notes,omitempty"`
	Marked []int      `json:"marked,omitempty"`
	Views  []viewData `json:"views"`
}

type viewData struct {
	Name    string   `json:"name"`
	Class   []int    `json:"class"`
	Classes []string `json:"classes"`
	Scale   bool     `json:"scale,omitempty"`
}

// hasMap tells whether a report needs the script of maps.
func (r *Report) hasMap() bool {
	for _, s := range r.Sections {
		for _, b := range s.Blocks {
			switch b.(type) {
			case Map, *Map:
				return true
			}
		}
	}
	return false
}

func (m Map) render() (markup, error) {
	n := len(m.X)
	if m.Names != nil && len(m.Names) != n || m.Notes != nil && len(m.Notes) != n {
		return "", fmt.Errorf("map %q: %d points, %d names and %d notes", m.Title, n, len(m.Names), len(m.Notes))
	}

	var b builder
	b.put("<figure class=\"map\">\n")
	b.caption(m.Title, m.Caption)
	for _, v := range m.Views {
		p, err := (&chart.Scatter{XLabel: m.XLabel, YLabel: m.YLabel, Bare: m.XLabel == "" && m.YLabel == "",
			Points: chart.Points{X: m.X, Y: m.Y, Class: v.Class, Classes: v.Classes, Scale: v.Scale,
				Marked: m.Marked, MarkedName: m.MarkedName}}).Draw()
		if err != nil {
			return "", fmt.Errorf("map %q, view %q: %w", m.Title, v.Name, err)
		}
		b.put("<div class=\"view\">\n<p class=\"panel\">Coloured by %s</p>\n", v.Name)
		b.putIf("<p class=\"note\">%s</p>\n", v.Caption)
		b.put("%s\n<ul class=\"legend\">\n", markup(p.HTML(m.Title+", "+v.Name+". "+p.Alt, false)))
		for _, k := range p.Legend() {
			b.put("<li data-class=\"%d\">%s<span>%s</span></li>\n", k.Class, markup(k.Swatch), k.Name)
		}
		b.put("</ul>\n")
		for _, note := range p.Notes {
			b.put("<p class=\"note\">%s</p>\n", note)
		}
		b.put("</div>\n")
	}

	text, err := json.Marshal(m.data())
	if err != nil {
		return "", err
	}
	b.put("<p class=\"note hint\">Point at a mark to see what it is. Classes in the legend are switches: the picked ones are shown alone. Zoom by the buttons, by a double click, or by the wheel after a click; drag to move.</p>\n")
	b.put("<script type=\"application/json\">%s</script>\n</figure>\n", markup(text))
	return b.markup(), nil
}

// data returns what the script needs. Points without a place are left out.
func (m *Map) data() *mapData {
	place := func(x []float64) func(v float64) int {
		low := math.Inf(1)
		high := math.Inf(-1)
		for i := range x {
			if m.placed(i) {
				low = min(low, x[i])
				high = max(high, x[i])
			}
		}
		return func(v float64) int {
			if !(high > low) {
				return steps / 2
			}
			return int(math.Round(steps * (v/(high-low) - low/(high-low))))
		}
	}
	atX := place(m.X)
	atY := place(m.Y)

	// Numbers of points change where points are left out.
	out := &mapData{}
	number := make(map[int]int, len(m.X))
	for _, v := range m.Views {
		out.Views = append(out.Views, viewData{Name: v.Name, Classes: v.Classes, Scale: v.Scale})
	}
	for i := range m.X {
		if !m.placed(i) {
			continue
		}
		number[i] = len(out.X)
		out.X = append(out.X, atX(m.X[i]))
		out.Y = append(out.Y, steps-atY(m.Y[i]))
		if m.Names != nil {
			out.Names = append(out.Names, m.Names[i])
		}
		if m.Notes != nil {
			out.Notes = append(out.Notes, m.Notes[i])
		}
		for k, v := range m.Views {
			class := -1
			if v.Class != nil {
				class = max(-1, v.Class[i])
			}
			out.Views[k].Class = append(out.Views[k].Class, class)
		}
	}
	for _, i := range m.Marked {
		if at, ok := number[i]; ok {
			out.Marked = append(out.Marked, at)
		}
	}
	return out
}

// steps is the number of places of an axis; a screen shows fewer.
const steps = 10000

// placed tells whether point i can be drawn.
func (m *Map) placed(i int) bool {
	return i < len(m.Y) && math.Abs(m.X[i]) < 1e280 && math.Abs(m.Y[i]) < 1e280
}
