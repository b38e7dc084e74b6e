package report

import (
	"fmt"
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

// figure holds what stands in a figure.
type figure struct {
	title, caption string
	notes          []string
	body           markup
	legend         []chart.Key
	numbers        markup // a table to fold out
}

// markup returns the figure.
func (f *figure) markup() markup {
	var b builder
	b.put("<figure>\n")
	b.caption(f.title, f.caption)
	b.put("%s", f.body)
	if len(f.legend) > 0 {
		b.put("<ul class=\"legend\">\n")
		for _, k := range f.legend {
			b.put("<li>%s<span>%s</span></li>\n", markup(k.Swatch), k.Name)
		}
		b.put("</ul>\n")
	}
	for _, note := range f.notes {
		b.put("<p class=\"note\">%s</p>\n", note)
	}
	if f.numbers != "" {
		b.put("<details><summary>The numbers of this chart</summary>\n%s</details>\n", f.numbers)
	}
	b.put("</figure>\n")
	return b.markup()
}

func (f Figure) render() (markup, error) {
	out := figure{title: f.Title, caption: f.Caption}
	type panel struct {
		title string
		svg   markup
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
		panels = append(panels, panel{p.Title, markup(p.HTML(name+". "+p.Alt, several))})

		// Panels often leave the same points out; the note is said once.
		for _, s := range p.Notes {
			if !slices.Contains(out.notes, s) {
				out.notes = append(out.notes, s)
			}
		}

		// All charts of a figure have the same classes.
		if i == 0 {
			out.legend = p.Legend()
		}

		if lines, ok := c.(*chart.Lines); ok && !several {
			if rows := lines.Numbers(); rows != nil {
				if out.numbers, err = (Table{Header: rows[0], Rows: rows[1:]}).render(); err != nil {
					return "", err
				}
			}
		}
	}

	var b builder
	if len(panels) > 1 {
		b.put("<div class=\"panels\">\n")
		for _, p := range panels {
			b.put("<div>")
			b.putIf(`<p class="panel">%s</p>`, p.title)
			b.put("%s</div>\n", p.svg)
		}
		b.put("</div>\n")
	} else {
		for _, p := range panels {
			b.put("%s\n", p.svg)
		}
	}
	out.body = b.markup()
	return out.markup(), nil
}
