package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/internal/report"
)

// saveReproduction writes the report of an experiment.
func (a *app) saveReproduction(ctx context.Context, e *experiment, o *reproduceOptions, r *reproduction) error {
	sections := []report.Section{{Title: "Tables", Blocks: markdownBlocks(r.tables)}}
	if r.figures != nil {
		figures, err := r.figures(ctx)
		if err != nil {
			return err
		}
		sections = append(sections, report.Section{Title: "Figures", Blocks: figures})
	}
	run := []report.Block{timings(a), o.list(a, e)}
	if r.note != "" {
		run = append(run, report.Paragraph(r.note))
	}
	page := &report.Report{
		Title:    "bigfit reproduce " + e.name,
		Subtitle: fmt.Sprintf("seed %d, bigfit %s", a.seed, version),
		Sections: append(sections, report.Section{Title: "Run", Blocks: run}),
	}
	return a.write(ctx, func() error { return saveReport(o.report, page) })
}

// list is what the experiment was run with.
func (o *reproduceOptions) list(a *app, e *experiment) *report.KeyValues {
	all := []struct{ flag, value string }{
		{"data", o.Dir},
		{"labels", strings.Join(strings.Fields(strings.Trim(fmt.Sprint(o.Labels), "[]")), ", ")},
		{"splits", strconv.Itoa(o.Splits)},
		{"recipe", o.recipe},
		{"baselines", strings.Join(o.baselines, ", ")},
	}
	k := &report.KeyValues{Caption: "Settings", Pairs: []report.KeyValue{{Key: "seed", Value: strconv.FormatUint(a.seed, 10)}}}
	for _, s := range all {
		if s.flag == "splits" && multiLabelExperiments[e.name] != nil && !a.given["splits"] {
			continue // they have a number of their own, which the stages tell
		}
		if s.value != "" && !slices.Contains(e.fixed, s.flag) {
			k.Pairs = append(k.Pairs, report.KeyValue{Key: s.flag, Value: s.value})
		}
	}
	k.Pairs = append(k.Pairs, machine()...)
	return k
}

// markdownBlocks makes blocks of the tables and lines that experiments write in
// Markdown: the line before a table is its caption, lines that begin with an
// asterisk are a list below it.
func markdownBlocks(text string) []report.Block {
	var out []report.Block
	var table *report.Table
	var lines []string
	flush := func() {
		if len(lines) > 0 {
			out = append(out, report.Paragraph(strings.Join(lines, "\n")))
			lines = nil
		}
	}
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			table = nil
			if line != "" {
				lines = append(lines, line)
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case table == nil:
			table = &report.Table{Header: cells}
			if n := len(lines); n > 0 {
				table.Caption, lines = lines[n-1], lines[:n-1]
			}
			flush()
			out = append(out, table)
		case strings.Trim(line, "|-") != "":
			table.Rows = append(table.Rows, cells)
		}
	}
	flush()
	return out
}

// curves are the series of a chart, in the order in which they are first named.
type curves []report.Series

func (c *curves) add(name string, x, y, err float64) {
	at := slices.IndexFunc(*c, func(s report.Series) bool { return s.Name == name })
	if at < 0 {
		at = len(*c)
		*c = append(*c, report.Series{Name: name})
	}
	s := &(*c)[at]
	s.X, s.Y, s.Err = append(s.X, x), append(s.Y, y), append(s.Err, err)
}

// fixed are figures that need nothing but the results.
func fixed(blocks ...report.Block) func(context.Context) ([]report.Block, error) {
	return func(context.Context) ([]report.Block, error) { return blocks, nil }
}

// eigenmapCurves draws the error over the number of labels, and the best of the
// paper's eigenmaps.
func eigenmapCurves(results []papers.Result) func(context.Context) ([]report.Block, error) {
	var c, baselines curves
	paper := report.Series{Name: "paper, best number of eigenvectors", Dashed: true}
	for _, r := range results {
		if r.Method != "eigenmap" {
			baselines.add(r.Column(), float64(r.Labels), r.Mean, r.Std)
			continue
		}
		c.add(r.Column(), float64(r.Labels), r.Mean, r.Std)
		p, n := float64(r.Paper), len(paper.X)
		switch {
		case math.IsNaN(p):
		case n > 0 && paper.X[n-1] == float64(r.Labels):
			paper.Y[n-1] = min(paper.Y[n-1], p)
		default:
			paper.X, paper.Y = append(paper.X, float64(r.Labels)), append(paper.Y, p)
		}
	}
	c = append(c, baselines...)
	if len(paper.X) > 0 {
		c = append(c, paper)
	}
	return fixed(&report.LineChart{Title: "Error by number of labels", XLabel: "labels", YLabel: "error, %", XLog: true, YLog: true, Series: c,
		Caption: "Mean over the draws of the labels; the bars are one standard deviation."})
}

// multiLabelCurves draws the area under the curve over γ_I.
func multiLabelCurves(results []papers.MultiLabelResult) func(context.Context) ([]report.Block, error) {
	var c curves
	for _, r := range results {
		if r.GammaI > 0 {
			c.add(fmt.Sprintf("γ_O = %g", r.GammaO), r.GammaI, r.Mean, r.Std)
		}
	}
	return fixed(&report.LineChart{Title: "AUC by weight of the graph", XLabel: "γ_I", YLabel: "AUC, %", XLog: true, Series: c,
		Caption: "Unlabeled points, mean over the draws; the bars are one standard deviation. γ_I = 0 stands in the table."})
}

// ssslCurves draws the error over the share of labels, a chart for each set.
func ssslCurves(results []papers.SSSLResult) func(context.Context) ([]report.Block, error) {
	var sets []string
	ours, paper := map[string]*curves{}, map[string]*curves{}
	for _, r := range results {
		if ours[r.Set] == nil {
			sets = append(sets, r.Set)
			ours[r.Set], paper[r.Set] = &curves{}, &curves{}
		}
		ours[r.Set].add(r.Method, float64(r.Percent), r.Mean, r.Std)
		if r.Method == "SSSL" && !math.IsNaN(float64(r.Paper)) {
			paper[r.Set].add("paper, SSSL", float64(r.Percent), float64(r.Paper), 0)
		}
	}
	var out []report.Block
	for _, set := range sets {
		c := *ours[set]
		for _, s := range *paper[set] {
			s.Dashed = true
			c = append(c, s)
		}
		out = append(out, &report.LineChart{Title: set, XLabel: "labeled, %", YLabel: "squared error", YLog: true, Series: c,
			Caption: "On the test points, mean over the draws; the bars are one standard deviation."})
	}
	return fixed(out...)
}

// errorBars are errors in percent, a list for each row of a table.
type errorBars []report.Block

func (b *errorBars) add(row, method string, mean, paper float64) {
	at := slices.IndexFunc(*b, func(l report.Block) bool { return l.(*report.Bars).Caption == row })
	if at < 0 {
		at = len(*b)
		*b = append(*b, &report.Bars{Caption: row, Unit: "%"})
	}
	bar := report.Bar{Name: method, Value: mean}
	if !math.IsNaN(paper) {
		bar.Note = fmt.Sprintf("paper %g %%", paper)
	}
	list := (*b)[at].(*report.Bars)
	list.Rows = append(list.Rows, bar)
}

// mostBars is the number of rows up to which a table is drawn as bars.
const mostBars = 16

// machineBars draws the errors of kernel machines, unless there are too many.
func machineBars(results []papers.MachineResult) func(context.Context) ([]report.Block, error) {
	var b errorBars
	for _, r := range results {
		b.add(r.Row, r.Method, r.Mean, float64(r.Paper))
	}
	if len(b) > mostBars {
		return nil
	}
	return fixed(b...)
}

// propagationBars draws the errors for each way to draw labels.
func propagationBars(results []papers.PropagationResult) func(context.Context) ([]report.Block, error) {
	var b errorBars
	for _, r := range results {
		b.add("labels: "+r.Labels, r.Method, r.Mean, math.NaN())
	}
	return fixed(b...)
}
