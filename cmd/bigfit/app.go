package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/internal/progress"
)

// app holds the state that all commands share.
type app struct {
	stdout, stderr io.Writer
	progress       *progress.Sink
	busy           sync.Mutex // held while files are written
	started        bool       // the command line was accepted
	args           []string
	given          map[string]bool // flags on the command line
	environment    map[string]bool // flags set by environment variables

	threads int
	seed    uint64
	memory  machine.Size
	budget  machine.Budget
	json    bool
	quiet   bool
}

// print writes the result of a command: v as JSON, or text.
func (a *app) print(v any, text string) error {
	if a.json {
		enc := json.NewEncoder(a.stdout)
		enc.SetEscapeHTML(false)
		err := enc.Encode(v)
		if infinite := (*json.UnsupportedValueError)(nil); errors.As(err, &infinite) {
			return fmt.Errorf("a number of the result is %s: the values are too large to compute with; scale them", infinite.Str)
		}
		return output(err)
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(a.stdout, text)
	return output(err)
}

// note writes a line to stderr.
func (a *app) note(format string, args ...any) {
	fmt.Fprintf(a.progress, format+"\n", args...)
}

// write runs fn, which writes files: after an interrupt not at all, and an
// interrupt waits for it.
func (a *app) write(ctx context.Context, fn func() error) error {
	a.busy.Lock()
	defer a.busy.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return output(fn())
}

// need says what a stage will take, alone and with all that is held, and refuses what
// does not fit. operations may be 0 if nothing is known about time.
func (a *app) need(stage string, bytes int64, operations float64, remedy string) error {
	var time string
	if operations > 0 {
		time = fmt.Sprintf(", about %s", duration(operations/machine.OperationRate()))
	}
	total, fits := a.budget.Announce(bytes, int64(a.memory))
	if !fits {
		return fmt.Errorf("%s needs %s of memory, %s in all, and %s are allowed; %s, or raise --memory-limit if the machine has the memory", stage, machine.Size(bytes), machine.Size(total), a.memory, remedy)
	}
	a.note("%s: needs %s of memory, %s in all%s", stage, machine.Size(bytes), machine.Size(total), time)
	return nil
}

// duration writes seconds as exactly as an estimate is worth.
func duration(seconds float64) string {
	n := math.Ceil(seconds)
	switch {
	case n < 100:
		return fmt.Sprintf("%.0f s", n)
	case n < 5400:
		return fmt.Sprintf("%.0f min", n/60)
	}
	return fmt.Sprintf("%.1f h", n/3600)
}
