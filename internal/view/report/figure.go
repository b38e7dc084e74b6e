package report

import (
	"fmt"
	"html/template"
	"slices"

	"github.com/bigfit/bigfit/internal/view/chart"
)

// A Figure shows one chart, or several side by side, under a heading. Charts of
// one figure share the legend of the first. The numbers of a single line chart can
// be folded out as a table.
type Figure struct {
	Title   string
	Caption string // a sentence on what the charts show
	Charts  []chart.Chart
}

// Surfaces is the former name of a Figure of surfaces.
type Surfaces = Figure

// figure holds the data of template "figure".
type figure struct {
	Title, Caption string
	Notes          []string
	Body           template.HTML
	Legend         []legendKey
	Data           template.HTML // a table to fold out
}

type legendKey struct {
	Swatch template.HTML
	Name   string
	Class  int // of points: see chart.Key
}

func (f Figure) render() (template.HTML, error) {
	out := figure{Title: f.Title, Caption: f.Caption}
	type panel struct {
		Title string
		SVG   template.HTML
	}
	var panels []panel
	several := len(f.Charts) > 1
	for i, c := range f.Charts {
		p, err := c.Draw()
		if err != nil {
			return "", fmt.Errorf("figure %q, chart %d: %w", f.Title, i+1, err)
		}
		name := f.Title
		if p.Title != "" {
			name += ", " + p.Title
		}
		// The title and the text alternative name the picture for screen readers.
		panels = append(panels, panel{p.Title, template.HTML(p.HTML(name+". "+p.Alt, several))})

		// Panels often leave the same points out; the note is said once.
		for _, s := range p.Notes {
			if !slices.Contains(out.Notes, s) {
				out.Notes = append(out.Notes, s)
			}
		}

		// All charts of a figure have the same classes.
		if i == 0 {
			for _, k := range p.Legend() {
				out.Legend = append(out.Legend, legendKey{template.HTML(k.Swatch), k.Name, k.Class})
			}
		}

		if lines, ok := c.(*chart.Lines); ok && !several {
			if rows := lines.Numbers(); rows != nil {
				if out.Data, err = (Table{Header: rows[0], Rows: rows[1:]}).render(); err != nil {
					return "", err
				}
			}
		}
	}

	var err error
	if out.Body, err = execute("panels", panels); err != nil {
		return "", err
	}
	return execute("figure", out)
}
