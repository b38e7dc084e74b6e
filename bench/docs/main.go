// Command docs keeps tables of the documentation equal to committed runs.
//
//	go run ./bench/docs                                                        # make docs: tables into the pages
//	go run ./bench/docs -record clustering go run ./bench/reproduce clustering --data DIR
//
// A run is a file docs/results/NAME.json: the command, the date, the commit and the machine, and the first table that
// the command printed. In a page it stands between the lines
//
//	<!-- results clustering -->
//	<!-- end of results -->
//
// A test compares the pages with the runs.
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

// A run is a table with where it comes from.
type run struct {
	Command string     `json:"command"`
	Date    string     `json:"date"`
	Commit  string     `json:"commit"` // of the checkout, with a mark if it had changes
	Go      string     `json:"go"`
	System  string     `json:"system"`
	CPUs    int        `json:"cpus"`
	Kernels string     `json:"kernels"` // instruction set of the inner loops
	Header  []string   `json:"header"`
	Rows    [][]string `json:"rows"`
}

// record runs a command in the folder of the checkout and keeps the first table that it prints.
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
	if r.Header, r.Rows, err = firstTable(string(out)); err != nil {
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

// firstTable returns the cells of the first table of Markdown in a text.
func firstTable(text string) (header []string, rows [][]string, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if header != nil {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case header == nil:
			header = cells
		case strings.Trim(line, "|-: ") == "":
		case len(cells) != len(header):
			return nil, nil, fmt.Errorf("a row of %d cells below a header of %d: %s", len(cells), len(header), line)
		default:
			rows = append(rows, cells)
		}
	}
	if len(rows) == 0 {
		return nil, nil, errors.New("the command printed no table")
	}
	return header, rows, nil
}

// markdown is the run as it stands in a page.
func (r *run) markdown() string {
	var b strings.Builder
	row := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	row(r.Header)
	b.WriteString(strings.Repeat("|---", len(r.Header)) + "|\n")
	for _, cells := range r.Rows {
		row(cells)
	}
	fmt.Fprintf(&b, "\n`%s`, %s, commit %s, %s with %s.\n", r.Command, r.Date, r.Commit, r.System, r.Kernels)
	return b.String()
}

// place matches a run in a page.
var place = regexp.MustCompile(`(?s)<!-- results (\S+) -->\n(.*?)<!-- end of results -->\n`)

// filled returns a page with the tables of the runs in a folder, and the names of those that it has.
func filled(page []byte, folder string) (out []byte, names []string, err error) {
	out = place.ReplaceAllFunc(page, func(found []byte) []byte {
		name := string(place.FindSubmatch(found)[1])
		names = append(names, name)
		text, readErr := os.ReadFile(filepath.Join(folder, name+".json"))
		var r run
		if readErr == nil {
			readErr = json.Unmarshal(text, &r)
		}
		if readErr != nil {
			err = errors.Join(err, readErr)
			return found
		}
		return fmt.Appendf(nil, "<!-- results %s -->\n%s<!-- end of results -->\n", name, r.markdown())
	})
	return out, names, err
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
