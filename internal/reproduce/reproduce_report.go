package reproduce

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/internal/report"
	"github.com/bigfit/bigfit/internal/shell"
)

// saveReproduction writes the report of an experiment.
func (a *app) saveReproduction(ctx context.Context, e *experiment, o *reproduceOptions, r *reproduction) error {
	sections := []report.Section{{Title: "Tables", Blocks: shell.TableBlocks(r.table)}}
	figures := shell.FigureBlocks(r.table)
	if r.figures != nil {
		extra, err := r.figures(ctx)
		if err != nil {
			return err
		}
		figures = append(figures, extra...)
	}
	if len(figures) > 0 {
		sections = append(sections, report.Section{Title: "Figures", Blocks: figures})
	}
	run := append(a.Timings(), o.list(a, e))
	if r.note != "" {
		run = append(run, report.Paragraph(r.note))
	}
	page := &report.Report{
		Title:    "bigfit reproduce " + e.name,
		Subtitle: fmt.Sprintf("seed %d, bigfit %s", a.Seed, shell.Version),
		Sections: append(sections, report.Section{Title: "Run", Blocks: run}),
	}
	return a.Write(ctx, func() error { return shell.SaveReport(o.report, page) })
}

// list shows the settings of the run.
func (o *reproduceOptions) list(a *app, e *experiment) *report.KeyValues {
	all := []struct{ flag, value string }{
		{"data", o.Dir},
		{"labels", strings.Join(strings.Fields(strings.Trim(fmt.Sprint(o.Labels), "[]")), ", ")},
		{"splits", strconv.Itoa(o.Splits)},
		{"recipe", o.recipe},
		{"baselines", strings.Join(o.baselines, ", ")},
	}
	k := &report.KeyValues{Caption: "Settings", Pairs: []report.KeyValue{{Key: "seed", Value: strconv.FormatUint(a.Seed, 10)}}}
	for _, s := range all {
		if s.flag == "splits" && multiLabelExperiments[e.name] != nil && !a.Given["splits"] {
			continue // they have a number of their own, which the stages tell
		}
		if s.value != "" && !slices.Contains(e.fixed, s.flag) {
			k.Pairs = append(k.Pairs, report.KeyValue{Key: s.flag, Value: s.value})
		}
	}
	k.Pairs = append(k.Pairs, shell.MachineFacts()...)
	return k
}
