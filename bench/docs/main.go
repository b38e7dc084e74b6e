// Command docs keeps tables of the documentation equal to committed runs.
//
//	go run ./bench/docs                                                        # make docs: tables into the pages
//	go run ./bench/docs -record clustering go run ./bench/reproduce clustering --data DIR
//	go run ./bench/reproduce all --data DIR --report site/ && go run ./bench/docs -from site/
//
// A run is a file docs/results/NAME.json: the command, the date, the commit and the machine, and the tables that
// the command printed. In a page a table stands between the lines
//
//	<!-- results clustering -->
//	<!-- end of results -->
//
// These lines show the first table whole. The second table is "results scene table=2", and the first two rows of a
// table are "results usps rows=2". "results mnist kept" marks a table that was there before its run was kept: it stays
// until docs/results has one. "caption=TEXT", at the end, writes a line above the table, so that what is kept may be
// nothing at all. A test compares the pages with the runs.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/bench/runs"
)

func main() {
	log.SetFlags(0)
	name := flag.String("record", "", "run the command that follows and keep its table under this `name`")
	from := flag.String("from", "", "take the runs that the pages show from a `folder` of reproduce all --report")
	flag.Parse()
	err := error(nil)
	switch {
	case *name != "":
		err = record(".", *name, flag.Args())
	case *from != "":
		err = take(".", *from)
	}
	if err == nil {
		err = write(".")
	}
	if err != nil {
		log.Fatal("docs: ", err)
	}
}

// record runs a command in the folder of the checkout and keeps the tables that it prints.
func record(root, name string, command []string) error {
	if len(command) == 0 {
		return errors.New("name the command whose table is to be kept")
	}
	// The checkout may change while the command runs.
	r := runs.New(root, command)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	if r.Tables, err = tablesOf(string(out)); err != nil {
		return err
	}
	return save(root, name, r)
}

// save writes a run into the folder of the committed runs.
func save(root, name string, r *runs.Run) error {
	if r.Commit == "" {
		return fmt.Errorf("%s: it is not known of which commit the run is; run it in a checkout", name)
	}
	text, err := r.JSON()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "docs", "results", name+".json"), text, 0o666)
}

// take copies the runs that the pages show from a folder that reproduce all --report left.
func take(root, from string) error {
	list, err := pages(root)
	if err != nil {
		return err
	}
	var names []string
	for _, path := range list {
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range place.FindAllSubmatch(page, -1) {
			names = append(names, string(m[1]))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)

	found, err := filepath.Glob(filepath.Join(from, "*"+runs.Suffix))
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("%s has no run, a file *%s; give the folder of reproduce all --report", from, runs.Suffix)
	}
	var absent []string
	for _, path := range found {
		if name := strings.TrimSuffix(filepath.Base(path), runs.Suffix); !slices.Contains(names, name) {
			absent = append(absent, name)
		}
	}
	if len(absent) > 0 {
		log.Printf("no page shows %s of %s", strings.Join(absent, ", "), from)
	}

	var kept []string
	for _, name := range names {
		path := filepath.Join(from, name+runs.Suffix)
		if !slices.Contains(found, path) {
			kept = append(kept, name)
			continue
		}
		r, err := runs.Read(path)
		if err == nil {
			err = save(root, name, r)
		}
		if err != nil {
			return err
		}
	}
	if len(kept) > 0 {
		log.Printf("%s has no run of %s: their tables stay as they are", from, strings.Join(kept, ", "))
	}
	return nil
}

// tablesOf returns the tables of Markdown in a text.
func tablesOf(text string) (out []runs.Table, err error) {
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			inside = false
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if !inside {
			inside = true
			out = append(out, runs.Table{Header: cells})
			continue
		}

		t := &out[len(out)-1]
		switch {
		case strings.Trim(line, "|-: ") == "" && strings.Contains(line, "-"):
		case len(cells) != len(t.Header):
			return nil, fmt.Errorf("a row of %d cells below a header of %d: %s", len(cells), len(t.Header), line)
		default:
			t.Rows = append(t.Rows, cells)
		}
	}
	if len(out) == 0 || len(out[0].Rows) == 0 {
		return nil, errors.New("the command printed no table")
	}
	return out, nil
}

// choice says which part of a run a page shows.
type choice struct {
	table int // from 1
	rows  int // the first so many, all if it is 0
	// kept says that the page has a table of before runs were kept: it stays until there is a run.
	kept    bool
	caption string // a line above the table, the rest behind caption=
}

// parseChoice reads what stands behind the name of a run: table=2 rows=3.
func parseChoice(text string) (choice, error) {
	c := choice{table: 1}
	text, c.caption, _ = strings.Cut(text, "caption=")
	for _, word := range strings.Fields(text) {
		if word == "kept" {
			c.kept = true
			continue
		}
		key, value, _ := strings.Cut(word, "=")
		k, err := strconv.Atoi(value)
		if err != nil || k < 1 {
			return c, fmt.Errorf("%s: give a number from 1 on, as table=2 or rows=2", word)
		}
		switch key {
		case "table":
			c.table = k
		case "rows":
			c.rows = k
		default:
			return c, fmt.Errorf("%s: a page chooses by table=N, rows=N, kept and caption=TEXT", word)
		}
	}
	return c, nil
}

// markdown is a table of the run as it stands in a page.
func markdown(r *runs.Run, c choice) (string, error) {
	if c.table > len(r.Tables) || c.rows > len(r.Tables[c.table-1].Rows) {
		return "", fmt.Errorf("table %d with %d rows is asked for; the run has %d tables", c.table, c.rows, len(r.Tables))
	}
	t := r.Tables[c.table-1]
	rows := t.Rows
	if c.rows > 0 {
		rows = rows[:c.rows]
	}

	var b strings.Builder
	if c.caption != "" {
		fmt.Fprintf(&b, "%s:\n\n", c.caption)
	}
	row := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	row(t.Header)
	b.WriteString(strings.Repeat("|---", len(t.Header)) + "|\n")
	for _, cells := range rows {
		row(cells)
	}
	machine := r.System + " with " + r.Kernels
	if r.CPU != "" {
		machine += ", " + r.CPU
	}
	fmt.Fprintf(&b, "\n`%s`, %s, commit %s, %s.\n", r.Command, r.Date, r.Commit, machine)
	return b.String(), nil
}

// place matches a run in a page.
var place = regexp.MustCompile(`(?s)<!-- results (\S+)([^>]*?) -->\n(.*?)<!-- end of results -->\n`)

// filled returns a page with the tables of the runs in a folder, and the names of those that it has.
func filled(page []byte, folder string) (out []byte, names []string, err error) {
	out = place.ReplaceAllFunc(page, func(found []byte) []byte {
		m := place.FindSubmatch(found)
		name, how := string(m[1]), string(m[2])
		c, fault := parseChoice(how)
		if fault != nil {
			err = errors.Join(err, fault)
			return found
		}
		path := filepath.Join(folder, name+".json")
		if _, fault := os.Stat(path); c.kept && errors.Is(fault, fs.ErrNotExist) {
			return found
		}

		names = append(names, name)
		if c.kept {
			how = strings.Replace(how, " kept", "", 1)
		}
		text, fault := shownRun(path, c)
		if fault != nil {
			err = errors.Join(err, fault)
			return found
		}
		return fmt.Appendf(nil, "<!-- results %s%s -->\n%s<!-- end of results -->\n", name, how, text)
	})
	return out, names, err
}

// shownRun reads a run and returns the table that a page chooses.
func shownRun(path string, c choice) (string, error) {
	r, err := runs.Read(path)
	if err != nil {
		return "", err
	}
	out, err := markdown(r, c)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// pages returns the pages of the checkout that may have tables.
func pages(root string) ([]string, error) {
	out := []string{filepath.Join(root, "README.md"), filepath.Join(root, "python", "README.md")}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			out = append(out, path)
		}
		return err
	})
	return out, err
}

// write brings all pages up to date.
func write(root string) error {
	list, err := pages(root)
	if err != nil {
		return err
	}
	for _, path := range list {
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text, _, err := filled(page, filepath.Join(root, "docs", "results"))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if bytes.Equal(text, page) {
			continue
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return err
		}
		log.Printf("%s: written anew", path)
	}
	return nil
}
