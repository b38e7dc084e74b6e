package main

import (
	"io"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/internal/chart"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/internal/report"
	"github.com/bigfit/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/simd"
)

// checkReport returns an error unless path can be the value of --report.
func (a *app) checkReport(path string) error {
	if (path != "" || a.Given["report"]) && !strings.EqualFold(filepath.Ext(path), ".html") {
		return shell.Usagef("--report is %q; its name must end in .html", path)
	}
	return nil
}

// saveReport writes a page to a file.
func saveReport(path string, page *report.Report) error {
	return npy.Atomically(path, func(w io.Writer) error { return report.Write(w, page) })
}

// timings returns a chart and a table of the stages of the run.
func timings(a *app) []report.Block {
	bars := &chart.Bars{Unit: "s"}
	table := &report.Table{Header: []string{"stage", "seconds", "result"}}
	sum := 0.0
	for _, t := range a.Progress.Stages() {
		bars.Rows = append(bars.Rows, chart.Bar{Name: t.Name, Value: t.Seconds})
		table.Rows = append(table.Rows, []string{t.Name, chart.Amount(t.Seconds), t.Note})
		sum += t.Seconds
	}
	table.Rows = append(table.Rows, []string{"total", chart.Amount(sum)})
	return []report.Block{&report.Figure{Title: "Time by stage", Charts: []chart.Chart{bars}}, table}
}

// machineFacts returns the settings that every list of settings ends with.
func machineFacts() []report.KeyValue {
	return []report.KeyValue{{Key: "threads", Value: strconv.Itoa(runtime.GOMAXPROCS(0))}, {Key: "kernels", Value: simd.Path()}}
}
