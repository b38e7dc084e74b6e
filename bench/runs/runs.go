// Package runs keeps tables that programs of bench print, with the command, the commit and the machine that they come
// from: the files docs/results/NAME.json, and NAME.run.json in a folder that reproduce all --report leaves.
package runs

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/bigfit/bigfit/internal/num/simd"
)

// Suffix ends the names of the runs that reproduce all --report leaves.
const Suffix = ".run.json"

// A Run holds the tables of a command with where they come from.
type Run struct {
	Command string  `json:"command"`
	Date    string  `json:"date"`
	Commit  string  `json:"commit"` // of the checkout, with a mark if it had changes
	Go      string  `json:"go"`
	System  string  `json:"system"`
	CPU     string  `json:"cpu,omitempty"` // its name, where the system tells it
	CPUs    int     `json:"cpus"`
	Kernels string  `json:"kernels"`           // instruction set of the inner loops
	Seconds float64 `json:"seconds,omitempty"` // of the experiment alone, if they are known
	Tables  []Table `json:"tables"`
}

// A Table is one that a command printed.
type Table struct {
	Header []string   `json:"header"`
	Rows   [][]string `json:"rows"`
}

// New returns a run of today on this machine, without tables. root is the folder of the checkout; outside of one Commit
// is empty.
func New(root string, command []string) *Run {
	return &Run{Command: Shown(command), Date: time.Now().UTC().Format(time.DateOnly), Commit: commit(root),
		Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, CPU: cpu(), CPUs: runtime.NumCPU(),
		Kernels: fmt.Sprint(simd.Path())}
}

// cpu names the processor as Linux does; it is empty elsewhere.
func cpu() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Shown is a command as others run it: the folder of the data differs between machines.
func Shown(command []string) string {
	words := append([]string{}, command...)
	for i := range len(words) - 1 {
		if words[i] == "--data" {
			words[i+1] = "DIR"
		}
	}
	return strings.Join(words, " ")
}

// commit names the commit of the checkout, or is empty.
func commit(root string) string {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	at, err := git("rev-parse", "--short=10", "HEAD")
	if err != nil {
		return ""
	}
	if changed, err := git("status", "--porcelain", "--untracked-files=no"); err != nil || changed != "" {
		at += " with changes"
	}
	return at
}

// JSON returns the text of the file of the run.
func (r *Run) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

// Read reads the file of a run.
func Read(path string) (*Run, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r Run
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(r.Tables) == 0 {
		return nil, fmt.Errorf("%s: there is no table in it", path)
	}
	return &r, nil
}
