package results

import (
	"strings"

	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
)

// TableBlocks returns the views of the table for a page. Cells beside a published figure show
// their verdict, and the remarks stand below the views.
func (t *Table) TableBlocks() []report.Block {
	var out []report.Block
	ruled := false
	for _, g := range t.Grids() {
		block := g.block()
		// The rule stands once, under the first view that shows verdicts.
		if block.Marks != nil && !ruled {
			block.Note, ruled = VerdictRule, true
		}
		out = append(out, block)
	}

	if remarks := t.Remarks(); len(remarks) > 0 {
		out = append(out, report.Paragraph(strings.Join(remarks, "\n\n")))
	}
	return out
}

// block returns the grid with its best cells and its verdicts.
func (g *Grid) block() *report.Table {
	out := &report.Table{Caption: g.Caption, Header: g.Header, Rows: g.Rows}
	for _, at := range g.Marked {
		out.Best = append(out.Best, report.Cell{Row: at[0], Col: at[1]})
	}

	// The order of cells, not of the map: the same table gives the same page.
	for i := range g.Rows {
		for j := range g.Header {
			v := g.Verdicts[[2]int{i, j}]
			if v == "" {
				continue
			}
			out.Marks = append(out.Marks, report.Mark{
				Cell: report.Cell{Row: i, Col: j},
				Text: string(v),
				Good: v == Better,
				Bad:  v == Missed,
			})
		}
	}
	return out
}

// FigureBlocks draws the figures of the table for a page.
func (t *Table) FigureBlocks() []report.Block {
	var out []report.Block
	for _, d := range t.Drawings() {
		out = append(out, &report.Figure{Title: d.Title, Caption: d.Caption, Charts: []chart.Chart{d.Chart()}})
	}
	return out
}
