package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestMain takes the variables of the environment away from the tests.
var (
	guideData   = os.Getenv("BIGFIT_DATA")
	updateGuide = os.Getenv("BIGFIT_UPDATE_GUIDE") == "1"
)

// A block is fenced text of a page of docs/guide.
type block struct {
	kind, file string // "sh", "text", …; the file that it is written to, or empty
	text       string
	start, end int // of the text in the page
}

var fence = regexp.MustCompile("(?ms)^```(\\w*)(?: file=(\\S+))?\n(.*?)^```$")

func blocksOf(page string) (out []block) {
	for _, m := range fence.FindAllStringSubmatchIndex(page, -1) {
		b := block{kind: page[m[2]:m[3]], text: page[m[6]:m[7]], start: m[6], end: m[7]}
		if m[4] >= 0 {
			b.file = page[m[4]:m[5]]
		}
		out = append(out, b)
	}
	return out
}

// TestGuide runs the pages of docs/guide: their files are written, their commands run
// one after the other in a new folder, and what they print is compared with what stands
// below them. BIGFIT_UPDATE_GUIDE=1 writes that anew.
func TestGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("the guide runs for some 20 s; left out with -short")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash to run the pages with")
	}
	pages, err := filepath.Glob(filepath.Join(packageDir, "..", "..", "docs", "guide", "*.md"))
	must(t, err)
	if len(pages) < 5 {
		t.Fatalf("%d pages", len(pages))
	}
	path, err := program()
	must(t, err)
	build := exec.Command("go", "build", "-o", filepath.Dir(path), "./docs/guide/service", "./bench/reproduce")
	build.Dir = filepath.Join(packageDir, "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	service := string(readFile(t, filepath.Join(packageDir, "..", "..", "docs", "guide", "service", "main.go")))
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			text := string(readFile(t, page))
			if strings.Contains(text, "$BIGFIT_DATA") && guideData == "" {
				t.Skip("the page needs the data sets in BIGFIT_DATA")
			}
			for _, b := range blocksOf(text) {
				if b.kind == "go" && !strings.Contains(service, b.text) {
					t.Errorf("this is not in docs/guide/service/main.go:\n%s", b.text)
				}
			}
			runPage(t, page, text, path, t.TempDir())
		})
	}
}

// TestReadme runs what README.md shows of the command and of Python, follows its links, and keeps it short. The
// commands of the checkout, the demo and the tests, are the first two and have no others beside them.
func TestReadme(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash to run the page with")
	}
	const most = 90
	root := filepath.Join(packageDir, "..", "..")
	page := filepath.Join(root, "README.md")
	text := string(readFile(t, page))
	if n := strings.Count(text, "\n"); n > most {
		t.Errorf("README.md has %d lines, and a stranger reads %d", n, most)
	}
	for _, link := range regexp.MustCompile(`\]\(([^)#:]+)[^):]*\)`).FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join(root, link[1])); err != nil {
			t.Errorf("a link leads nowhere: %v", err)
		}
	}
	blocks := blocksOf(text)
	if blocks[0].text != "go run ./cmd/bigfit demo\n" || blocks[1].text != "go test ./...\n" {
		t.Errorf("the first commands are\n%s%s", blocks[0].text, blocks[1].text)
	}

	path, err := program()
	must(t, err)
	dir := t.TempDir()
	runPage(t, page, text[blocks[1].end+len("```\n"):], path, dir)
	const python = "/usr/bin/python3"
	if exec.Command(python, "-c", "import sklearn").Run() != nil {
		t.Skip("no scikit-learn for the part in Python")
	}
	for _, b := range blocks {
		if b.kind != "python" {
			continue
		}
		cmd := exec.CommandContext(t.Context(), python, "-c", b.text)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(root, "python", "src"), "BIGFIT_BIN="+path)
		if out, err := cmd.CombinedOutput(); err != nil || !regexp.MustCompile(`right: 0\.[89]`).Match(out) {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// ours matches the code in a cell of docs/coming-from.md.
var ours = regexp.MustCompile("`([^`]+)`")

// TestComingFrom runs docs/coming-from.md: its files are made, then every command and every call of the last two columns
// of its tables is run.
func TestComingFrom(t *testing.T) {
	if testing.Short() {
		t.Skip("the page has some eighty commands and calls; left out with -short")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash to run the page with")
	}
	root := filepath.Join(packageDir, "..", "..")
	t.Parallel()
	text := string(readFile(t, filepath.Join(root, "docs", "coming-from.md")))
	path, err := program()
	must(t, err)
	dir := t.TempDir()
	var python strings.Builder
	for _, b := range blocksOf(text) {
		switch b.kind {
		case "sh":
			runShell(t, dir, path, b.text)
		case "python":
			python.WriteString(b.text)
		}
	}

	// A command or call that stands there twice is run once.
	ran := map[string]bool{}
	commands, calls := 0, 0
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 {
			continue
		}
		for _, m := range ours.FindAllStringSubmatch(cells[3], -1) {
			if strings.HasPrefix(m[1], "bigfit ") && !ran[m[1]] {
				ran[m[1]] = true
				runShell(t, dir, path, m[1])
				commands++
			}
		}
		for _, m := range ours.FindAllStringSubmatch(cells[2], -1) {
			if strings.Contains(m[1], "(") && !ran[m[1]] {
				ran[m[1]] = true
				// A failure of Python names the line, which is the call.
				python.WriteString(m[1] + "\n")
				calls++
			}
		}
	}
	if commands < 35 || calls < 35 {
		t.Errorf("%d commands and %d calls are in the page", commands, calls)
	}

	const interpreter = "/usr/bin/python3"
	if exec.Command(interpreter, "-c", "import sklearn").Run() != nil {
		t.Skip("no scikit-learn for the calls in Python")
	}
	writeFile(t, filepath.Join(dir, "calls.py"), []byte(python.String()))
	cmd := exec.CommandContext(t.Context(), interpreter, "-B", "-W", "ignore", "calls.py")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(root, "python", "src"), "BIGFIT_BIN="+path)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// runPage runs one page with the command in path, in a folder.
func runPage(t *testing.T, page, text, path, dir string) {
	blocks := blocksOf(text)
	var changed []string // text blocks anew, in the order of blocks
	ran := 0
	for k, b := range blocks {
		changed = append(changed, b.text)
		if b.file != "" {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, b.file)), 0o777))
			writeFile(t, filepath.Join(dir, b.file), []byte(b.text))
			continue
		}
		if b.kind != "sh" {
			continue
		}
		ran++
		out := runShell(t, dir, path, b.text)
		if k+1 == len(blocks) || blocks[k+1].kind != "text" {
			continue
		}
		if updateGuide {
			blocks[k+1].text = out
			continue
		}
		if err := sameOutput(blocks[k+1].text, out); err != nil {
			t.Errorf("%s: after\n%s%v\nIf that is meant to be so, run BIGFIT_UPDATE_GUIDE=1 go test -run TestGuide ./cmd/bigfit", filepath.Base(page), b.text, err)
		}
	}
	if ran == 0 {
		t.Error("no command in the page")
	}
	if updateGuide && !t.Failed() {
		var b strings.Builder
		last := 0
		for k := range blocks {
			b.WriteString(text[last:blocks[k].start] + changed[k])
			last = blocks[k].end
		}
		whole := string(readFile(t, page))
		writeFile(t, page, []byte(strings.TrimSuffix(whole, text)+b.String()+text[last:]))
	}
}

// runShell runs commands and returns all that they print.
func runShell(t *testing.T, dir, path, commands string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", commands)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(path)+string(os.PathListSeparator)+os.Getenv("PATH"))
	if guideData != "" {
		cmd.Env = append(cmd.Env, "BIGFIT_DATA="+guideData)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v\n%s", commands, err, out)
	}
	return string(out)
}

// measured matches times, amounts of memory and rounding errors, which differ from run
// to run.
var measured = regexp.MustCompile(`-?\d+(\.\d+)?(e[-+]\d+| m?s\b| (B|KiB|MiB|GiB)\b)|"(seconds|time)": ?"?[^",}]*|"(bytes|memory|total|peak)": ?\d+`)

var numeral = regexp.MustCompile(`-?\d+(\.\d+)?`)

// sameOutput compares the lines that a page shows with those that were printed. What is
// measured may differ, and so may spaces; numbers with a decimal point may by a tenth, whole
// numbers by a fiftieth, as rounding differs between instruction sets.
func sameOutput(want, got string) error {
	w, g := strings.Split(strings.TrimSpace(want), "\n"), strings.Split(strings.TrimSpace(got), "\n")
	if len(w) != len(g) {
		return fmt.Errorf("%d lines are printed, not %d:\n%s", len(g), len(w), got)
	}
	for i := range w {
		if err := sameLine(w[i], g[i]); err != nil {
			return fmt.Errorf("line %d is\n%s\nnot\n%s\n(%w)", i+1, g[i], w[i], err)
		}
	}
	return nil
}

func sameLine(want, got string) error {
	hide := func(s string) string { // how long something will take is said only where it is long
		return strings.ReplaceAll(measured.ReplaceAllString(s, "#"), ", about #", "")
	}
	want, got = hide(want), hide(got)
	words := func(s string) string {
		return strings.Join(strings.Fields(numeral.ReplaceAllString(s, " 0 ")), " ")
	}
	if words(want) != words(got) {
		return fmt.Errorf("other words")
	}
	a, b := numeral.FindAllString(want, -1), numeral.FindAllString(got, -1)
	for k := range a {
		x, _ := strconv.ParseFloat(a[k], 64)
		y, _ := strconv.ParseFloat(b[k], 64)
		room := 0.02 * math.Abs(x)
		if strings.Contains(a[k], ".") {
			room = max(0.1*math.Abs(x), 0.3)
		}
		if !(math.Abs(x-y) <= room) {
			return fmt.Errorf("%s is now %s", a[k], b[k])
		}
	}
	return nil
}

// TestSameOutput shows what the comparison of the guide forgives, and what not.
func TestSameOutput(t *testing.T) {
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"pca  0.2 s  50 components, 81.3 % of the variance", "pca 12.2 s  50 components, 81.9 % of the variance", true},
		{"residual 9.0e-14·‖A‖", "residual 1.2e-13·‖A‖", true},
		{"a: needs 7.5 MiB of memory", "a: needs 9 GiB of memory", true},
		{"graph: needs 7.5 MiB of memory", "graph: needs 7.6 MiB of memory, about 3 s", true},
		{"error 4.23 %", "error 4.31 %", true},
		{"error 4.23 %", "error 14.31 %", false},
		{"17,zero", "17,one", false},
		{"17,0", "18,0", false},
		{"one\ntwo", "one", false},
		{"100 labels", "100 points", false},
	} {
		if err := sameOutput(c.want, c.got); (err == nil) != c.same {
			t.Errorf("%q and %q: %v", c.want, c.got, err)
		}
	}
}
