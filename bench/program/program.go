// Package program runs the bigfit program for experiments and reads what it says of itself.
package program

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A Program is the bigfit program, with folders for what it works on and for results.
type Program struct {
	Path, Work string
	remove     bool
}

// Prepare makes the folders, work a temporary one if it is "", and builds the program from
// this module unless path names one.
func Prepare(ctx context.Context, path, work, out string) (*Program, error) {
	p := &Program{Path: path, Work: work, remove: work == ""}
	var err error
	if p.remove {
		if p.Work, err = os.MkdirTemp("", "bigfit-bench-"); err != nil {
			return nil, err
		}
	}

	if p.Work, err = filepath.Abs(p.Work); err != nil { // the program runs elsewhere
		return nil, err
	}

	for _, dir := range []string{p.Work, out} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
	}

	if path != "" {
		p.Path, err = filepath.Abs(path)
		return p, err
	}
	p.Path = filepath.Join(p.Work, "bigfit")
	build := exec.CommandContext(ctx, "go", "build", "-o", p.Path, "github.com/bigfit/bigfit/cmd/bigfit")
	if text, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build ./cmd/bigfit: %w: %s; -bigfit names a program that is there",
			err, text)
	}
	return p, nil
}

// Close removes a temporary folder.
func (p *Program) Close() error {
	if p.remove {
		return os.RemoveAll(p.Work)
	}
	return nil
}

// Usage holds the time, the memory and the notes of a run.
type Usage struct {
	Seconds float64 `json:"seconds"`
	// Announced and Peak are bytes of memory: what the program said that it needs, and the most that
	// it had, without pages of files that are mapped; Resident counts them.
	Announced int64    `json:"announced_bytes"`
	Peak      int64    `json:"peak_bytes"`
	Resident  int64    `json:"resident_bytes"`
	Notes     []string `json:"-"`
}

// Run runs the program in the folder dir to its end.
func (p *Program) Run(ctx context.Context, dir string, args ...string) (*Usage, error) {
	cmd, events := p.command(ctx, dir, args)
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("bigfit %s: %w: %s", strings.Join(args, " "), err, lastLine(events.String()))
	}
	u := &Usage{Seconds: time.Since(start).Seconds()}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.Resident = r.Maxrss << 10
	}

	for line := range strings.Lines(events.String()) {
		var event struct{ Note string }
		if json.Unmarshal([]byte(line), &event) != nil {
			continue
		}
		u.Notes = append(u.Notes, event.Note)
		var announced, peak float64
		if n, _ := fmt.Sscanf(event.Note, "memory: %f MiB announced, %f MiB at the peak", &announced,
			&peak); n == 2 {
			u.Announced = int64(announced * (1 << 20))
			u.Peak = int64(peak * (1 << 20))
		}
	}

	return u, nil
}

// Kill runs the program and kills it after a pause. That it ended before is an error.
func (p *Program) Kill(ctx context.Context, pause time.Duration, dir string, args ...string) error {
	cmd, events := p.command(ctx, dir, args)
	if err := cmd.Start(); err != nil {
		return err
	}
	timer := time.AfterFunc(pause, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	if timer.Stop() {
		return fmt.Errorf("bigfit %s ended before %v: %w: %s", strings.Join(args, " "), pause, err,
			lastLine(events.String()))
	}
	return ctx.Err()
}

func (p *Program) command(ctx context.Context, dir string, args []string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(ctx, p.Path, append([]string{"--progress", "json"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	var events bytes.Buffer
	cmd.Dir = dir
	cmd.Stdout = io.Discard
	cmd.Stderr = &events
	return cmd, &events
}

// lastLine returns the note of the last event, or the last line that is none.
func lastLine(events string) string {
	lines := strings.Split(strings.TrimSpace(events), "\n")
	last := lines[len(lines)-1]
	var event struct{ Note string }
	if json.Unmarshal([]byte(last), &event) == nil && event.Note != "" {
		return event.Note
	}
	return last
}
