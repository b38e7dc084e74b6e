// Package peers runs other programs beside ours, in one run on one machine, and
// writes what they took as JSON and Markdown.
//
// The peers are Python scripts in this folder, run by /usr/bin/python3 with the
// Debian packages named in each of them. Every script prints one JSON object a
// line.
package peers

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bigfit/bigfit/internal/npy"
)

//go:embed *.py
var scripts embed.FS

// python is the interpreter that Debian's packages belong to.
const python = "/usr/bin/python3"

// Row is one measurement.
type Row struct {
	Work    string  `json:"work"`
	Program string  `json:"program"` // "bigfit" or the peer's name
	Seconds float64 `json:"seconds"`
	// Ratio is the peer's time over ours for the same work, 0 if unknown.
	Ratio float64 `json:"ratio,omitempty"`
	// PeakBytes is the peak memory of the process, 0 if unknown.
	PeakBytes int64 `json:"peak_bytes,omitempty"`
	// More is whatever else there is to say: residuals, recall.
	More map[string]any `json:"more,omitempty"`
}

// Run runs one of the embedded scripts and returns the JSON objects it prints.
// Its stderr goes to log.
func Run(ctx context.Context, log io.Writer, script string, args ...string) ([]map[string]any, error) {
	text, err := scripts.ReadFile(script)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(python); err != nil {
		return nil, fmt.Errorf("peers: %w; install the Debian packages named in bench/peers/%s", err, script)
	}
	cmd := exec.CommandContext(ctx, python, append([]string{"-"}, args...)...)
	cmd.Stdin = bytes.NewReader(text)
	cmd.Stderr = log
	return objects(cmd, script)
}

// Self runs this program again with the given arguments and returns the JSON
// objects it prints, so that its peak memory is that of one measurement.
func Self(ctx context.Context, log io.Writer, args ...string) ([]map[string]any, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stderr = log
	return objects(cmd, "this program")
}

func objects(cmd *exec.Cmd, name string) ([]map[string]any, error) {
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("peers: %s %s: %w", name, strings.Join(cmd.Args[1:], " "), err)
	}
	var rows []map[string]any
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var row map[string]any
		if err := dec.Decode(&row); errors.Is(err, io.EOF) {
			return rows, nil
		} else if err != nil {
			return nil, fmt.Errorf("peers: the output of %s: %w", name, err)
		}
		rows = append(rows, row)
	}
}

// NewRow makes a measurement of an object with "peer", "seconds" and maybe
// "peak_bytes"; the rest goes to More.
func NewRow(work string, object map[string]any) Row {
	r := Row{Work: work, More: map[string]any{}}
	for key, v := range object {
		switch key {
		case "peer":
			r.Program, _ = v.(string)
		case "seconds":
			r.Seconds, _ = v.(float64)
		case "peak_bytes":
			f, _ := v.(float64)
			r.PeakBytes = int64(f)
		default:
			r.More[key] = v
		}
	}
	return r
}

// Save fills in the ratios to the rows of "bigfit" for the same work and writes
// dir/name.json and dir/name.md, which it returns.
func Save(dir, name, title string, rows []Row) (string, error) {
	ours := map[string]float64{}
	for _, r := range rows {
		if r.Program == "bigfit" {
			ours[r.Work] = r.Seconds
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n| work | program | seconds | × ours | peak memory | |\n|---|---|---|---|---|---|\n", title)
	for i := range rows {
		r := &rows[i]
		ratio := ""
		if t := ours[r.Work]; r.Program != "bigfit" && t > 0 {
			r.Ratio = r.Seconds / t
			ratio = fmt.Sprintf("%.1f", r.Ratio)
		}
		peak := ""
		if r.PeakBytes > 0 {
			peak = fmt.Sprintf("%.2f GiB", float64(r.PeakBytes)/(1<<30))
		}
		more, err := json.Marshal(r.More)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| %s | %s | %.2f | %s | %s | `%s` |\n", r.Work, r.Program, r.Seconds, ratio, peak, more)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	err := npy.Atomically(filepath.Join(dir, name+".json"), func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	})
	if err != nil {
		return "", err
	}
	return b.String(), npy.Atomically(filepath.Join(dir, name+".md"), func(w io.Writer) error {
		_, err := io.WriteString(w, b.String())
		return err
	})
}
