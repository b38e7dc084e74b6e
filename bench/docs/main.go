// Command docs keeps tables of the documentation equal to committed runs.
//
//	go run ./bench/docs                                                        # make docs: tables into the pages
//	go run ./bench/docs -record clustering go run ./bench/reproduce clustering --data DIR
//
// A run is a file docs/results/NAME.json: the command, the date, the commit and the machine, and the tables that
// the command printed. In a page a table stands between the lines
//
//	<!-- results clustering -->
//	<!-- end of results -->
//
// These lines show the first table whole. The second table is "results scene table=2", and the first two rows of a
// table are "results usps rows=2". A test compares the pages with the runs.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/bigfit/bigfit/internal/num/simd"
)

func main() {
	log.SetFlags(0)
	name := flag.String("record", "", "run the command that follows and keep its table under this `name`")
	flag.Parse()
	err := error(nil)
	if *name != "" {
		err = record(".", *name, flag.Args())
	}
	if err == nil {
		err = write(".")
	}
	if err != nil {
		log.Fatal("docs: ", err)
	}
}

// A run holds the tables of a command with where they come from.
type run struct {
	Command string  `json:"command"`
	Date    string  `json:"date"`
	Commit  string  `json:"commit"` // of the checkout, with a mark if it had changes
	Go      string  `json:"go"`
	System  string  `json:"system"`
	CPUs    int     `json:"cpus"`
	Kernels string  `json:"kernels"` // instruction set of the inner loops
	Tables  []table `json:"tables"`
}

// A table is one that a command printed.
type table struct {
	Header []string   `json:"header"`
	Rows   [][]string `json:"rows"`
}

// record runs a command in the folder of the checkout and keeps the tables that it prints.
func record(root, name string, command []string) error {
	if len(command) == 0 {
		return errors.New("name the command whose table is to be kept")
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	r := run{Command: shown(command), Date: time.Now().UTC().Format(time.DateOnly), Go: runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Kernels: fmt.Sprint(simd.Path())}
	if r.Tables, err = tablesOf(string(out)); err != nil {
		return err
	}
	if r.Commit, err = commit(root); err != nil {
		return err
	}
	text, err := json.MarshalIndent(&r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "docs", "results", name+".json"), append(text, '\n'), 0o666)
}

// shown is a command as others run it: the folder of the data differs between machines.
func shown(command []string) string {
	words := append([]string{}, command...)
	for i := range len(words) - 1 {
		if words[i] == "--data" {
			words[i+1] = "DIR"
		}
	}
	return strings.Join(words, " ")
}

// commit names the commit of the checkout.
func commit(root string) (string, error) {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	at, err := git("rev-parse", "--short=10", "HEAD")
	if err != nil {
		return "", err
	}
	changed, err := git("status", "--porcelain", "--untracked-files=no")
	if changed != "" {
		at += " with changes"
	}
	return at, err
}

// tablesOf returns the tables of Markdown in a text.
func tablesOf(text string) (out []table, err error) {
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
			out = append(out, table{Header: cells})
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
}

// parseChoice reads what stands behind the name of a run: table=2 rows=3.
func parseChoice(text string) (choice, error) {
	c := choice{table: 1}
	for _, word := range strings.Fields(text) {
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
			return c, fmt.Errorf("%s: a page chooses by table=N and rows=N", word)
		}
	}
	return c, nil
}

// markdown is a table of the run as it stands in a page.
func (r *run) markdown(c choice) (string, error) {
	if c.table > len(r.Tables) || c.rows > len(r.Tables[c.table-1].Rows) {
		return "", fmt.Errorf("table %d with %d rows is asked for; the run has %d tables", c.table, c.rows, len(r.Tables))
	}
	t := r.Tables[c.table-1]
	rows := t.Rows
	if c.rows > 0 {
		rows = rows[:c.rows]
	}

	var b strings.Builder
	row := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	row(t.Header)
	b.WriteString(strings.Repeat("|---", len(t.Header)) + "|\n")
	for _, cells := range rows {
		row(cells)
	}
	fmt.Fprintf(&b, "\n`%s`, %s, commit %s, %s with %s.\n", r.Command, r.Date, r.Commit, r.System, r.Kernels)
	return b.String(), nil
}

// place matches a run in a page.
var place = regexp.MustCompile(`(?s)<!-- results (\S+)([^>]*?) -->\n(.*?)<!-- end of results -->\n`)

// filled returns a page with the tables of the runs in a folder, and the names of those that it has.
func filled(page []byte, folder string) (out []byte, names []string, err error) {
	out = place.ReplaceAllFunc(page, func(found []byte) []byte {
		m := place.FindSubmatch(found)
		name, how := string(m[1]), string(m[2])
		names = append(names, name)
		text, fault := shownRun(filepath.Join(folder, name+".json"), how)
		if fault != nil {
			err = errors.Join(err, fault)
			return found
		}
		return fmt.Appendf(nil, "<!-- results %s%s -->\n%s<!-- end of results -->\n", name, how, text)
	})
	return out, names, err
}

// shownRun reads a run and returns the table that a page chooses.
func shownRun(path, how string) (string, error) {
	c, err := parseChoice(how)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var r run
	if err := json.Unmarshal(text, &r); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	out, err := r.markdown(c)
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
