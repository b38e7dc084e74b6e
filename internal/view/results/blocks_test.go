package results

import (
	"math"
	"reflect"
	"testing"

	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
)

// TestBlocks checks the tables and figures of a page.
func TestBlocks(t *testing.T) {
	table := &Table{
		Columns: []Column{
			{Key: "x", Name: "labels", Kind: Integers},
			{Key: "method"},
			{Key: "error", Name: "error", Unit: "%", Kind: Numbers, Format: Format{Number: "%.1f", Published: "%.1f"}},
		},
		Records: []Record{
			{{Number: 20}, {Text: "a"}, {Number: 3, Deviation: 1, Published: math.NaN()}},
			{{Number: 20}, {Text: "b"}, {Number: 2, Deviation: 0.5, Published: 1.5}},
			{{Number: 50}, {Text: "b"}, {Number: 1, Deviation: 0.5, Published: math.NaN()}},
		},
		Views:   []View{{Caption: "errors", Rows: "x", Across: "method", Show: []string{"error"}, Corner: "labels", MarkLeast: true}},
		Figures: []Figure{{Title: "curves", Caption: "how", X: "x", By: "method", Value: "error", LogX: true, Published: "paper"}, {Title: "labels: ", Each: "x", By: "method", Value: "error"}},
		Notes:   []string{"one", "two"},
	}
	tables := []report.Block{
		&report.Table{Caption: "errors", Header: []string{"labels", "a", "b"}, Rows: [][]string{{"20", "3.0", "2.0 (1.5)"}, {"50", "", "1.0"}}, Best: []report.Cell{{Row: 0, Col: 2}, {Row: 1, Col: 2}},
			Marks: []report.Mark{{Cell: report.Cell{Row: 0, Col: 2}, Text: "missed", Bad: true}}, Note: VerdictRule},
		report.Paragraph("one\n\ntwo"),
	}
	if got := table.TableBlocks(); !reflect.DeepEqual(got, tables) {
		t.Errorf("got %+v, want %+v", got, tables)
	}
	figure := func(title, caption string, c chart.Chart) report.Block {
		return &report.Figure{Title: title, Caption: caption, Charts: []chart.Chart{c}}
	}
	figures := []report.Block{
		figure("curves", "how", &chart.Lines{XLabel: "labels", YLabel: "error, %", XLog: true, Series: []chart.Series{
			{Name: "a", X: []float64{20}, Y: []float64{3}, Err: []float64{1}},
			{Name: "b", X: []float64{20, 50}, Y: []float64{2, 1}, Err: []float64{0.5, 0.5}},
			{Name: "paper", X: []float64{20}, Y: []float64{1.5}, Dashed: true},
		}}),
		figure("labels: 20", "", &chart.Bars{Unit: "%", Rows: []chart.Bar{{Name: "a", Value: 3, Deviation: 1}, {Name: "b", Value: 2, Deviation: 0.5, Note: "(paper 1.5 %)"}}}),
		figure("labels: 50", "", &chart.Bars{Unit: "%", Rows: []chart.Bar{{Name: "b", Value: 1, Deviation: 0.5}}}),
	}
	if got := table.FigureBlocks(); !reflect.DeepEqual(got, figures) {
		t.Errorf("got %+v, want %+v", got, figures)
	}
}
