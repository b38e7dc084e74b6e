package report

import (
	"io"
	"runtime"
	"strconv"

	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/internal/view/chart"
)

// Save writes a page to a file.
func Save(path string, page *Report) error {
	return atomicfile.Atomically(path, func(w io.Writer) error { return Write(w, page) })
}

// A Timing is the time of a finished stage of a run, with a note on its result.
type Timing struct {
	Name    string
	Seconds float64
	Note    string
}

// Timings returns a chart and a table of the times of stages, with their sum.
func Timings(stages []Timing) []Block {
	bars := &chart.Bars{Unit: "s"}
	table := &Table{Header: []string{"stage", "seconds", "result"}}
	sum := 0.0
	for _, t := range stages {
		bars.Rows = append(bars.Rows, chart.Bar{Name: t.Name, Value: t.Seconds})
		table.Rows = append(table.Rows, []string{t.Name, chart.Amount(t.Seconds), t.Note})
		sum += t.Seconds
	}
	table.Rows = append(table.Rows, []string{"total", chart.Amount(sum)})
	return []Block{&Figure{Title: "Time by stage", Charts: []chart.Chart{bars}}, table}
}

// MachineFacts returns the number of threads and the instruction set of the run, which end
// every list of settings.
func MachineFacts() []KeyValue {
	return []KeyValue{
		{Key: "threads", Value: strconv.Itoa(runtime.GOMAXPROCS(0))},
		{Key: "kernels", Value: simd.Path()},
	}
}
