package main

import (
	"io"
	"runtime"
	"strconv"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/internal/report"
	"github.com/bigfit/bigfit/internal/simd"
)

// saveReport writes a page to a file.
func saveReport(path string, page *report.Report) error {
	return npy.Atomically(path, func(w io.Writer) error { return report.Write(w, page) })
}

// timings are the stages of the run.
func timings(a *app) *report.Bars {
	b := &report.Bars{Caption: "Time by stage", Unit: "s", Total: true}
	for _, t := range a.progress.Stages() {
		b.Rows = append(b.Rows, report.Bar{Name: t.Name, Value: t.Seconds, Note: t.Note})
	}
	return b
}

// machine is what every list of settings ends with.
func machine() []report.KeyValue {
	return []report.KeyValue{{Key: "threads", Value: strconv.Itoa(runtime.GOMAXPROCS(0))}, {Key: "kernels", Value: simd.Path()}}
}
