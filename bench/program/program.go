// Package program runs the bigfit program for experiments and reads the events that it prints
// about its time and memory.
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
	"time"
)

// A Program is the bigfit program with a folder for its files.
type Program struct {
	Path, Work string
	remove     bool // Work is temporary
}

// Prepare makes the folders work and out, and builds the program from this module unless path
// names one. An empty work means a temporary folder.
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
	// The program is built from the tree that this command runs in, so that both are of one
	// version.
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
	// Announced is the memory that the program announced, in bytes. Peak is the most memory
	// that it had, without the pages of mapped files; Resident counts these pages, too.
	Announced int64    `json:"announced_bytes"`
	Peak      int64    `json:"peak_bytes"`
	Resident  int64    `json:"resident_bytes"`
	Notes     []string `json:"-"` // the lines that the program prints as notes
}

// Run runs the program in the folder dir to its end.
func (p *Program) Run(ctx context.Context, dir string, args ...string) (*Usage, error) {
	cmd, events := p.command(ctx, dir, args)
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("bigfit %s: %w: %s", strings.Join(args, " "), err, lastLine(events.String()))
	}
	u := &Usage{Seconds: time.Since(start).Seconds()}
	u.Resident = resident(cmd.ProcessState)

	// Lines that are no events, such as a panic, are skipped.
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

// Kill runs the program and kills it after a pause. It returns an error if the program ended
// before.
func (p *Program) Kill(ctx context.Context, pause time.Duration, dir string, args ...string) error {
	cmd, events := p.command(ctx, dir, args)
	if err := cmd.Start(); err != nil {
		return err
	}
	// A timer that can still be stopped has not fired: the program ended by itself.
	timer := time.AfterFunc(pause, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	if timer.Stop() {
		return fmt.Errorf("bigfit %s ended before %v: %w: %s", strings.Join(args, " "), pause, err,
			lastLine(events.String()))
	}
	return ctx.Err()
}

// command returns the command with its events, which are complete when it has ended.
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

// lastLine returns the note of the last event, or the last line itself if it is no event.
func lastLine(events string) string {
	lines := strings.Split(strings.TrimSpace(events), "\n")
	last := lines[len(lines)-1]
	var event struct{ Note string }
	if json.Unmarshal([]byte(last), &event) == nil && event.Note != "" {
		return event.Note
	}
	return last
}
