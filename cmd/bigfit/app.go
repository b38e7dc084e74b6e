package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/internal/mapped"
	"github.com/bigfit/bigfit/internal/progress"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/pipeline"
)

// app holds the state that all commands share.
type app struct {
	stdout, stderr io.Writer
	progress       *progress.Sink
	busy           sync.Mutex           // held while files are written
	started        bool                 // the command line was accepted
	checkpoint     *pipeline.Checkpoint // nil without
	args           []string
	given          map[string]bool // flags on the command line
	environment    map[string]bool // flags set by environment variables

	threads  int
	seed     uint64
	memory   machine.Size
	points   pointOptions
	warnings []string // of the input
	files    manifest.Files
	budget   machine.Budget
	json     bool
	quiet    bool
	mode     progress.Mode
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
	_, err := io.WriteString(a.stdout, a.names().Plain(text))
	return output(err)
}

// note writes a line to stderr.
func (a *app) note(format string, args ...any) {
	fmt.Fprintln(a.progress, a.names().Plain(fmt.Sprintf(format, args...)))
}

// notes writes lines to stderr.
func (a *app) notes(lines ...string) {
	for _, text := range lines {
		a.note("%s", text)
	}
}

// warn writes warnings of the input to stderr and keeps them for the result.
func (a *app) warn(lines ...string) {
	for _, text := range lines {
		a.note("warning: %s", text)
	}
	a.warnings = append(a.warnings, lines...)
}

// reads notes the name of a file that is read, for the manifests of what is written.
func (a *app) reads(what, path string) {
	if a.files == nil {
		a.files = manifest.Files{}
	}
	if path != "" {
		a.files[what] = path
	}
}

// names quotes the names on the command line that are not fit for a terminal.
func (a *app) names() *progress.Quoter { return progress.NewQuoter(a.args) }

// say writes the last words of a run to stderr, as an event where those are asked
// for.
func (a *app) say(text string) {
	text = a.names().Plain(text)
	if a.progress.IsJSON() {
		a.progress.Error(text)
		return
	}
	fmt.Fprintln(a.stderr, text)
}

// checkStdout returns an error if there is no stdout.
func (a *app) checkStdout() error {
	if f, ok := a.stdout.(*os.File); ok && machine.Closed(f) {
		return output(errors.New("stdout is closed, so results cannot be printed; give a file or, to print them nowhere, >/dev/null (from Python stdout=open(os.devnull, \"w\"): subprocess.DEVNULL looks like a closed one)"))
	}
	return nil
}

// write runs fn, which writes files: after an interrupt not at all, and an
// interrupt waits for it.
func (a *app) write(ctx context.Context, fn func() error) error {
	a.busy.Lock()
	defer a.busy.Unlock()
	if err := cmp.Or(ctx.Err(), mapped.Check()); err != nil {
		return err
	}
	return output(fn())
}

// need says what a stage will take, alone and with all that is held, and refuses what
// does not fit. operations may be 0 if nothing is known about time.
func (a *app) need(stage string, bytes int64, operations float64, remedy string) error {
	var time string
	// Shorter times are not worth an estimate: they are those of other things.
	if seconds := operations / machine.OperationRate(); seconds >= 2 {
		time = fmt.Sprintf(", about %s", knn.Duration(seconds))
	}
	total, fits := a.budget.Announce(bytes, int64(a.memory))
	if !fits {
		return fmt.Errorf("%s needs %s of memory, %s in all, and %s are allowed; %s, or raise --memory-limit if the machine has the memory", stage, machine.Size(bytes), machine.Size(total), a.memory, remedy)
	}
	a.note("%s: needs %s of memory, %s in all%s", stage, machine.Size(bytes), machine.Size(total), time)
	return nil
}
