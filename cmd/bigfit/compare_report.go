package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/pipeline"
)

// tableFormat is a format of a table.
type tableFormat int

const (
	formatMarkdown tableFormat = iota
	formatCSV
	formatLaTeX
	formatJSON
)

var tableFormats = enum.New[tableFormat]("format", "markdown", "csv", "latex", "json")

// String returns the name used on the command line.
func (f tableFormat) String() string { return tableFormats.String(f) }

// MarshalText returns the name.
func (f tableFormat) MarshalText() ([]byte, error) { return tableFormats.Marshal(f) }

// UnmarshalText is the inverse of MarshalText.
func (f *tableFormat) UnmarshalText(text []byte) error { return tableFormats.Unmarshal(f, text) }

// formatOf returns the format that the extension of a file names.
func formatOf(path string) (tableFormat, bool) {
	f, ok := map[string]tableFormat{".md": formatMarkdown, ".csv": formatCSV, ".tex": formatLaTeX,
		".json": formatJSON}[strings.ToLower(filepath.Ext(path))]
	return f, ok
}

// checkTableFile returns an error unless the extension of a file names the format of a table.
func checkTableFile(path string) error {
	if _, ok := formatOf(path); !ok {
		return shell.Usagef("-o is %q; the extension says what to write: .md, .csv, .tex or .json", path)
	}
	return nil
}

// text returns a table in the format; JSON is printed elsewhere.
func (f tableFormat) text(t *results.Table) string {
	switch f {
	case formatCSV:
		return t.CSV()
	case formatLaTeX:
		return t.LaTeX()
	}
	return t.Markdown()
}

// saveTable writes a table in the format of the extension; JSON is of all that is known.
func saveTable(path string, t *results.Table, whole any) error {
	format, _ := formatOf(path)
	if format == formatJSON {
		return shell.SaveJSON(path, whole)
	}
	return atomicfile.Atomically(path, func(w io.Writer) error {
		_, err := io.WriteString(w, format.text(t))
		return err
	})
}

// comparisonReport is the page of a comparison, with sections on the points.
func (a *app) comparisonReport(o *compareOptions, s *summary.Comparison, splits *pipeline.Splits,
	points []report.Section) *report.Report {
	// Parameters are chosen in every split, so a model may have several settings; the table counts
	// the splits of each.
	chosen := &report.Table{Header: []string{"model", "labels", "settings", "splits"}}
	for _, c := range s.Chosen() {
		chosen.Rows = append(chosen.Rows, []string{c.Model, strconv.Itoa(c.Labels), c.Setting.String(),
			strconv.Itoa(c.Count)})
	}
	times := &chart.Bars{Unit: "s"}
	for _, t := range s.Times {
		times.Rows = append(times.Rows, chart.Bar{Name: t.Model, Value: t.Seconds})
	}
	run := append(a.Timings(), a.comparisonSettings(o, s, splits))
	return &report.Report{
		Title:    "bigfit compare: " + strings.Join(o.models, ", "),
		Subtitle: fmt.Sprintf("%s, seed %d, bigfit %s", o.x, a.Seed, shell.Version),
		Sections: slices.Concat([]report.Section{
			{Title: "Result", Blocks: append(s.Table.TableBlocks(), s.Table.FigureBlocks()...)},
			{Title: "Settings", Blocks: []report.Block{
				report.Paragraph("What each model was fitted with, and on how many splits. Settings that " +
					"are not named have their defaults."), chosen}},
			{Title: "Time", Blocks: []report.Block{&report.Figure{
				Title: "Choices and fits of all splits",
				Caption: "Without the graph and the eigenpairs, which all models share. Splits that run at " +
					"the same time count fully.",
				Charts: []chart.Chart{times}}}},
		}, points, []report.Section{{Title: "Run", Blocks: run}}),
	}
}

// comparisonSettings lists the settings of the run.
func (a *app) comparisonSettings(o *compareOptions, s *summary.Comparison,
	splits *pipeline.Splits) *report.KeyValues {
	k := &report.KeyValues{Caption: "Run"}
	add := func(key, value string) {
		if value != "" {
			k.Pairs = append(k.Pairs, report.KeyValue{Key: key, Value: value})
		}
	}

	add("points", o.x.String())
	add("labels", o.From(a.App))
	if s.Labels != nil {
		add("of them", s.Labels.String())
	}
	// One row for each number of labels.
	for i := range splits.Groups {
		g := &splits.Groups[i]
		add("splits", fmt.Sprintf("%d with %d labels", g.Count, g.Labels))
	}

	if splits.Groups[0].PerClass == 0 && len(o.counts) == 0 {
		add("given by", o.splits)
	}
	add("metric", s.Metric.String())
	if o.tune {
		add("tuned", fmt.Sprintf("%d folds of the labels of a split, %d times", o.folds, o.repeats))
	}
	add("set", strings.Join(o.set, " "))
	add("graph", o.graphFile)

	// Only flags of the graph that were given are listed; defaults are in the documentation.
	for _, p := range pipeline.GraphParams.Params() {
		if v := o.params[p.Name]; v != nil {
			add(p.Name, v.Text)
		}
	}

	add("seed", strconv.FormatUint(a.Seed, 10))
	k.Pairs = append(k.Pairs, report.MachineFacts()...)
	return k
}
