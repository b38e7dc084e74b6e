package shell

import (
	"io"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/progress"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/internal/view/results"
)

// CheckReport returns an error unless path can be the value of --report.
func (a *App) CheckReport(path string) error {
	if (path != "" || a.Given["report"]) && !strings.EqualFold(filepath.Ext(path), ".html") {
		return Usagef("--report is %q; its name must end in .html", path)
	}
	return nil
}

// SaveReport writes a page to a file.
func SaveReport(path string, page *report.Report) error {
	return atomicfile.Atomically(path, func(w io.Writer) error { return report.Write(w, page) })
}

// Timings returns a chart and a table of the stages of the run.
func (a *App) Timings() []report.Block { return Timings(a.Progress.Stages()) }

// Timing is the time of a stage.
type Timing = progress.Timing

// Timings returns a chart and a table of stages.
func Timings(stages []Timing) []report.Block {
	bars := &chart.Bars{Unit: "s"}
	table := &report.Table{Header: []string{"stage", "seconds", "result"}}
	sum := 0.0
	for _, t := range stages {
		bars.Rows = append(bars.Rows, chart.Bar{Name: t.Name, Value: t.Seconds})
		table.Rows = append(table.Rows, []string{t.Name, chart.Amount(t.Seconds), t.Note})
		sum += t.Seconds
	}
	table.Rows = append(table.Rows, []string{"total", chart.Amount(sum)})
	return []report.Block{&report.Figure{Title: "Time by stage", Charts: []chart.Chart{bars}}, table}
}

// MachineFacts returns the settings that every list of settings ends with.
func MachineFacts() []report.KeyValue {
	return []report.KeyValue{{Key: "threads", Value: strconv.Itoa(runtime.GOMAXPROCS(0))},
		{Key: "kernels", Value: simd.Path()}}
}

// TableBlocks shows the views of a table, with the verdicts of cells beside the figures of a
// paper, and below them its remarks.
func TableBlocks(t *results.Table) []report.Block {
	var out []report.Block
	ruled := false
	for _, g := range t.Grids() {
		block := &report.Table{Caption: g.Caption, Header: g.Header, Rows: g.Rows}
		for _, at := range g.Marked {
			block.Best = append(block.Best, report.Cell{Row: at[0], Col: at[1]})
		}
		for i := range g.Rows {
			for j := range g.Header {
				if v := g.Verdicts[[2]int{i, j}]; v != "" {
					block.Marks = append(block.Marks, report.Mark{Cell: report.Cell{Row: i, Col: j},
						Text: string(v), Good: v == results.Better, Bad: v == results.Missed})
				}
			}
		}

		if block.Marks != nil && !ruled {
			block.Note = results.VerdictRule
			ruled = true
		}
		out = append(out, block)
	}

	if remarks := t.Remarks(); len(remarks) > 0 {
		out = append(out, report.Paragraph(strings.Join(remarks, "\n\n")))
	}
	return out
}

// FigureBlocks draws the figures of a table.
func FigureBlocks(t *results.Table) []report.Block {
	var out []report.Block
	for _, d := range t.Drawings() {
		out = append(out, &report.Figure{Title: d.Title, Caption: d.Caption,
			Charts: []chart.Chart{d.Chart()}})
	}
	return out
}
