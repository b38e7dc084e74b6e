package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/view/report"
)

// saveReproduction writes the report of an experiment.
func (a *app) saveReproduction(ctx context.Context, e *experiment, o *reproduceOptions,
	r *reproduction) error {
	b, err := r.blocks(ctx)
	if err != nil {
		return err
	}
	page := a.page(e, o, r, b)
	return a.Write(ctx, func() error { return report.Save(o.report, page) })
}

// shown holds the blocks of a page: the tables and the figures of an experiment.
type shown struct{ tables, figures []report.Block }

// blocks makes the blocks of the page.
func (r *reproduction) blocks(ctx context.Context) (*shown, error) {
	b := &shown{r.table.TableBlocks(), r.table.FigureBlocks()}
	if r.figures != nil {
		extra, err := r.figures(ctx)
		if err != nil {
			return nil, err
		}
		b.figures = append(b.figures, extra...)
	}
	return b, nil
}

// page returns the report of an experiment.
func (a *app) page(e *experiment, o *reproduceOptions, r *reproduction, b *shown) *report.Report {
	sections := []report.Section{{Title: "Tables", Blocks: b.tables}}
	if len(b.figures) > 0 {
		sections = append(sections, report.Section{Title: "Figures", Blocks: b.figures})
	}
	// The last section tells how the page came about.
	run := append(report.Timings(r.stages), o.list(a, e))
	if r.note != "" {
		run = append(run, report.Paragraph(r.note))
	}
	return &report.Report{
		Title:    "reproduce " + e.name,
		Subtitle: fmt.Sprintf("%s, %s; seed %d, bigfit %s", e.paper, e.shows, a.Seed, archive.Release),
		Sections: append(sections, report.Section{Title: "Run", Blocks: run}),
	}
}

// list returns the settings of the run as a block: the flags that the experiment has.
func (o *reproduceOptions) list(a *app, e *experiment) *report.KeyValues {
	all := []struct{ flag, value string }{
		{"data", o.Dir},
		{"labels", strings.Join(strings.Fields(strings.Trim(fmt.Sprint(o.Labels), "[]")), ", ")},
		{"splits", strconv.Itoa(o.Splits)},
		{"recipe", o.recipe},
		{"baselines", strings.Join(o.baselines, ", ")},
	}

	// Flags that the experiment does not have are left out, and so are those without a value.
	k := &report.KeyValues{Caption: "Settings",
		Pairs: []report.KeyValue{{Key: "seed", Value: strconv.FormatUint(a.Seed, 10)}}}
	for _, s := range all {
		if s.flag == "splits" && e.ownDraws && !a.Given["splits"] {
			continue // the experiment has its own number, which a stage prints
		}
		if s.value != "" && !slices.Contains(e.fixed, s.flag) {
			k.Pairs = append(k.Pairs, report.KeyValue{Key: s.flag, Value: s.value})
		}
	}
	k.Pairs = append(k.Pairs, report.MachineFacts()...)
	return k
}
