package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/bench/console"
	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/bench/runs"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/suggest"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/knn/choice"
)

// outcome is the result of one experiment, or the reason why there is none.
type outcome struct {
	Experiment string         `json:"experiment"`
	Paper      string         `json:"paper"`
	Shows      string         `json:"shows"`
	Seconds    float64        `json:"seconds,omitempty"`
	Verdicts   *results.Tally `json:"verdicts,omitempty"`
	Page       string         `json:"page,omitempty"`
	Records    *results.Table `json:"records,omitempty"`
	OtherData  string         `json:"other_data,omitempty"`
	// NotRun says why there are no results. Fault is the error that came with results.
	NotRun string `json:"not_run,omitempty"`
	Fault  string `json:"fault,omitempty"`

	blocks []report.Block // tables, figures and settings
}

// title names the experiment with its paper.
func (e *outcome) title() string { return fmt.Sprintf("%s (%s, %s)", e.Experiment, e.Paper, e.Shows) }

// site holds the outcomes in the order of the list.
type site struct {
	Rule        string    `json:"rule"`
	Experiments []outcome `json:"experiments"`

	dir  string    // the folder of the pages, empty if there are none
	from *runs.Run // says of what checkout and on what machine the experiments run
}

// indexPage is the page of all experiments.
const indexPage = "index.html"

// reproduceAll runs the experiments that --only names, or all with data, prints their
// tables and writes their pages. If an experiment fails, the others run all the same.
func (a *app) reproduceAll(ctx context.Context, o *reproduceOptions) error {
	chosen, err := a.checkAll(o)
	if err != nil {
		return err
	}
	// The folder is made before the first run, which may take an hour, so that a wrong name fails
	// at once.
	s := &site{Rule: results.VerdictRule, dir: o.report}
	if s.dir != "" {
		// The checkout may change while the experiments run.
		s.from = runs.New(".", nil)
	}
	if s.dir != "" {
		if _, err := os.Stat(s.dir); os.IsNotExist(err) {
			defer atomicfile.Unclaim(s.dir) // if no page was written
		}
		if err := atomicfile.Claim(s.dir, "a report on experiments"); err != nil {
			return console.Output(err)
		}
		if err := atomicfile.CheckWritable(filepath.Join(s.dir, indexPage)); err != nil {
			return console.Output(err)
		}
	}

	var faults []error
	for i := range experiments {
		e := &experiments[i]
		if e.run != nil && !slices.Contains(chosen, e.name) {
			continue
		}
		// An interrupt and a page that cannot be written end the run; a failed experiment does
		// not.
		fault := a.addOutcome(ctx, s, e, o)
		if ctx.Err() != nil || errors.As(fault, new(pageError)) {
			return fault
		}
		if fault != nil {
			faults = append(faults, fmt.Errorf("%s: %w", e.name, fault))
		}
		if err := a.writeIndex(ctx, s, o); err != nil {
			return err
		}
	}

	ran := slices.ContainsFunc(s.Experiments, func(e outcome) bool { return e.Records != nil })
	switch {
	case ran:
		faults = append(faults, a.Print(s, s.text()))
	case faults == nil:
		return fmt.Errorf("no experiment could be run: %s has none of the files that they need, "+
			"which reproduce --list names; give the folder of the data with --data", o.Dir)
	}

	return errors.Join(faults...)
}

// pageError is a failure to make a page, which ends the run.
type pageError struct{ error }

func (e pageError) Unwrap() error { return e.error }

// checkAll checks the flags and returns the names of the experiments to run.
func (a *app) checkAll(o *reproduceOptions) ([]string, error) {
	for _, flag := range []string{"labels", "recipe", "baselines"} {
		if a.Given[flag] {
			return nil, console.Usagef("--%s is for one experiment and not for %s; leave it out", flag,
				everything)
		}
	}

	if err := o.check(a); err != nil {
		return nil, err
	}
	names := named()
	for _, name := range o.only {
		if !slices.Contains(names, name) {
			return nil, console.Usagef("--only: unknown experiment %q; it is one of %s%s", name,
				strings.Join(names, ", "), suggest.DidYouMean(name, names))
		}
	}

	if len(o.only) > 0 {
		names = o.only
	}

	// A name that ends in .html is a slip: it would be the report of one experiment.
	if o.report == "" && a.Given["report"] || strings.EqualFold(filepath.Ext(o.report), ".html") {
		return nil, console.Usagef("--report is %q; of reproduce %s it must be a folder", o.report,
			everything)
	}
	if o.Dir == "" {
		return nil, console.Usagef("no folder of data is given; set --data or the environment " +
			"variable BIGFIT_DATA")
	}

	if info, err := os.Stat(o.Dir); err != nil {
		return nil, console.Usagef("--data: %w", err)
	} else if !info.IsDir() {
		return nil, console.Usagef("--data is %s, which is not a folder", o.Dir)
	}
	return names, nil
}

// addOutcome runs an experiment, prints its tables and writes its page. It returns an error
// if the experiment was not completed. Missing data are no error: the outcome tells of them.
func (a *app) addOutcome(ctx context.Context, s *site, e *experiment, o *reproduceOptions) error {
	out := outcome{Experiment: e.name, Paper: e.paper, Shows: e.shows}
	defer func() { s.Experiments = append(s.Experiments, out) }()
	if e.run == nil {
		out.NotRun = e.other
		return nil
	}
	a.note("%s: %s, %s, usually %s", e.name, e.paper, e.shows, choice.Duration(60*e.minutes))
	r, fault := a.carryOut(ctx, e, o)
	if r == nil {
		out.NotRun = fault.Error()
		// Data that are not there are told on the console and on the index, and nothing failed.
		var missing *papers.MissingError
		if errors.As(fault, &missing) {
			out.NotRun = fmt.Sprintf("%s has none of %s; reproduce %s says where to get them", missing.Dir,
				strings.Join(missing.Files, ", "), e.name)
			a.note("%s: not run: %s", e.name, out.NotRun)
			return nil
		}
		return fault
	}

	if fault != nil {
		out.Fault = fault.Error()
	}
	tally := r.table.Tally()
	out.Seconds = r.seconds
	out.Verdicts = &tally
	out.Records = r.table
	out.OtherData = e.other
	// With JSON the tables go into the one document at the end.
	if !a.JSON {
		if err := a.Print(nil, fmt.Sprintf("## %s\n\n%s\n", out.title(), r.text())); err != nil {
			return pageError{err}
		}
	}

	if s.dir == "" {
		return fault
	}
	out.Page = e.name + ".html"
	if err := a.addPage(ctx, s, e, o, r, &out); err != nil {
		return pageError{err}
	}
	return fault
}

// addPage writes the page of an experiment, and beside it its records and its tables as JSON.
func (a *app) addPage(ctx context.Context, s *site, e *experiment, o *reproduceOptions, r *reproduction,
	out *outcome) error {
	b, err := r.blocks(ctx)
	if err != nil {
		return err
	}
	page := a.page(e, o, r, b)
	page.Index = indexPage
	// The index repeats the blocks of the page, so they are made once.
	out.blocks = slices.Concat(b.tables, b.figures, []report.Block{o.list(a, e)})
	return a.Write(ctx, func() error {
		if err := report.Save(filepath.Join(s.dir, out.Page), page); err != nil {
			return err
		}
		if err := atomicfile.Atomically(filepath.Join(s.dir, e.name+".json"),
			func(w io.Writer) error { return json.NewEncoder(w).Encode(r.table) }); err != nil {
			return err
		}
		text, err := o.record(a, e, r, s.from).JSON()
		if err != nil {
			return err
		}
		return atomicfile.Atomically(filepath.Join(s.dir, e.name+runs.Suffix), func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	})
}

// record returns the tables as they are printed, with the command that makes them: bench/docs takes them
// into the pages of docs.
func (o *reproduceOptions) record(a *app, e *experiment, r *reproduction, from *runs.Run) *runs.Run {
	command := []string{"go", "run", "./bench/reproduce", e.name}
	if len(e.needs) > 0 {
		command = append(command, "--data", o.Dir)
	}
	if a.Given["splits"] && !slices.Contains(e.fixed, "splits") {
		command = append(command, "--splits", strconv.Itoa(o.Splits))
	}
	if a.Seed != 0 {
		command = append(command, "--seed", strconv.FormatUint(a.Seed, 10))
	}

	out := *from
	out.Command = runs.Shown(command)
	out.Seconds = r.seconds
	for _, g := range r.table.Grids() {
		t := runs.Table{Header: g.Header}
		for _, row := range g.Rows {
			cells := slices.Clone(row)
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			t.Rows = append(t.Rows, cells)
		}
		out.Tables = append(out.Tables, t)
	}
	return &out
}

// writeIndex writes the page of all experiments.
func (a *app) writeIndex(ctx context.Context, s *site, o *reproduceOptions) error {
	if s.dir == "" {
		return nil
	}
	page := &report.Report{
		Title:    "The papers' tables and figures",
		Subtitle: fmt.Sprintf("data of %s, seed %d, bigfit %s", o.Dir, a.Seed, archive.Release),
		Sections: s.sections(),
	}
	return a.Write(ctx, func() error { return report.Save(filepath.Join(s.dir, indexPage), page) })
}

// sections returns the sections of the index: an overview, the experiments that were not
// run, and each experiment.
func (s *site) sections() []report.Section {
	overview := &report.Table{Header: []string{"experiment", "paper", "table or figure", "verdicts", "time"},
		Note: s.Rule}
	var absent []string
	var out []report.Section
	for _, e := range s.Experiments {
		if e.Records == nil {
			absent = append(absent, e.title()+" was not run: "+e.NotRun)
			continue
		}
		time := fmt.Sprintf("%.1f s", e.Seconds)
		// The name of an experiment links to its page.
		overview.Links = append(overview.Links, report.Link{Cell: report.Cell{Row: len(overview.Rows)},
			URL: e.Page})
		overview.Rows = append(overview.Rows, []string{e.Experiment, e.Paper, e.Shows,
			e.Verdicts.String(), time})
		about := fmt.Sprintf("%s, %s. It took %s: %s.", e.Paper, e.Shows, time, e.Verdicts)
		if e.OtherData != "" {
			absent = append(absent, e.title()+" is on other data: "+e.OtherData)
			about += " Other data than the paper's: " + e.OtherData + "."
		}

		if e.Fault != "" {
			about += "\n\nNot completed: " + e.Fault
		}
		out = append(out, report.Section{Title: e.Experiment,
			Blocks: append([]report.Block{report.Paragraph(about)}, e.blocks...)})
	}

	// The overview and the gaps come before the experiments.
	first := []report.Section{{Title: "Experiments", Blocks: []report.Block{overview}}}
	if len(absent) > 0 {
		first = append(first, report.Section{Title: "Not run, or on other data",
			Blocks: []report.Block{report.Paragraph(strings.Join(absent, "\n\n"))}})
	}
	return append(first, out...)
}

// text returns the summary that ends the run.
func (s *site) text() string {
	g := results.Grid{Header: []string{"experiment", "paper", "table or figure", "verdicts", "time"}}
	var notes []string
	for _, e := range s.Experiments {
		if e.Records == nil {
			notes = append(notes, e.title()+" was not run: "+e.NotRun)
			continue
		}
		g.Rows = append(g.Rows, []string{e.Experiment, e.Paper, e.Shows, e.Verdicts.String(),
			fmt.Sprintf("%.1f s", e.Seconds)})
		if e.Fault != "" {
			notes = append(notes, e.title()+" was not completed: "+e.Fault)
		}
	}

	notes = append(notes, s.Rule)
	if s.dir != "" {
		notes = append(notes, "pages: "+filepath.Join(s.dir, indexPage))
	}
	return "## All\n\n" + g.Markdown() + "\n* " + strings.Join(notes, "\n* ") + "\n"
}
