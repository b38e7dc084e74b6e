package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A run is a file of docs/results: the tables of a command with where they come from; bench/docs writes it.
type run struct {
	Command, Date, Commit, Go, System, Kernels string
	CPUs                                       int
	Tables                                     []struct {
		Header []string
		Rows   [][]string
	}
}

// addRuns adds the page of the committed runs.
func (s *site) addRuns(context.Context) error {
	files, err := filepath.Glob(filepath.Join(s.root, "docs", "results", "*.json"))
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("# Committed runs\n\nTables of these pages that come from a run are made from its file in `docs/results`, and a test compares " +
		"them. Here are all tables of all runs, with the command, the machine and the commit. [The papers' tables](site:evidence/papers.html) says what they show.\n\n")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var r run
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		r.write(&b, strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	return s.add(&page{path: "evidence/runs.html", section: sectionEvidence, text: b.String()})
}

// mostRows is how many rows of a table are shown at once; the others are folded away.
const mostRows = 12

// write writes one run.
func (r *run) write(b *strings.Builder, name string) {
	fmt.Fprintf(b, "## %s\n\n```sh\n%s\n```\n\n%s, commit %s, %s, %s, %d cores, %s.\n\n", name, r.Command, r.Date, r.Commit, r.Go, r.System, r.CPUs, r.Kernels)
	for _, t := range r.Tables {
		long := len(t.Rows) > mostRows
		if long {
			fmt.Fprintf(b, "<details><summary>%d rows</summary>\n\n", len(t.Rows))
		}
		row := func(cells []string) {
			b.WriteString("|")
			for _, c := range cells {
				b.WriteString(" " + escaped(c) + " |")
			}
			b.WriteString("\n")
		}
		row(t.Header)
		b.WriteString(strings.Repeat("|---", len(t.Header)) + "|\n")
		for _, cells := range t.Rows {
			row(cells)
		}
		b.WriteString("\n")
		if long {
			b.WriteString("</details>\n\n")
		}
	}
}
