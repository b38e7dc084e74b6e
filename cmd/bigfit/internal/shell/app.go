// Package shell holds what the commands of bigfit share: the run of a command line and its
// exit codes, common flags and their environment variables, flags made of parameters,
// reading of points, labels, targets and graphs, and printing.
package shell

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/progress"
	"github.com/bigfit/bigfit/internal/file/mapped"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
)

// App holds the state that all commands share.
type App struct {
	stdout, stderr io.Writer
	Progress       *progress.Sink
	busy           sync.Mutex           // held while files are written
	started        bool                 // the command line was accepted
	Checkpoint     *pipeline.Checkpoint // nil without
	args           []string
	Given          map[string]bool // flags on the command line
	environment    map[string]bool // flags set by environment variables

	Threads  int
	Seed     uint64
	Memory   machine.Size
	Points   PointOptions
	Warnings []string // of the input
	Files    archive.Files
	budget   machine.Budget
	JSON     bool
	CSVSafe  bool
	quiet    bool
	patience atomic.Int64                  // see StopsWithin
	taken    atomic.Pointer[chan struct{}] // see TakeInterrupt
	mode     progress.Mode
}

// Print writes the result of a command: v as JSON, or text, in which names of files that are not fit
// for a terminal are quoted.
func (a *App) Print(v any, text string) error { return a.PrintExact(v, a.names().Plain(text)) }

// PrintExact writes the result of a command: v as JSON, or text as it is, for other programs.
func (a *App) PrintExact(v any, text string) error {
	if a.JSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetEscapeHTML(false)
		err := enc.Encode(v)
		// JSON has no NaN or infinity; the encoder's own error names a Go type.
		if infinite := (*json.UnsupportedValueError)(nil); errors.As(err, &infinite) {
			return fmt.Errorf("a number of the result is %s: the values are too large to compute "+
				"with; scale them", infinite.Str)
		}
		return Output(err)
	}

	// Names of files may hold control sequences, which are quoted before they reach a terminal.
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err := io.WriteString(a.stdout, text)
	return Output(err)
}

// Args returns the command line without the name of the program.
func (a *App) Args() []string { return a.args }

// Note writes a line to stderr, with flags for the names of parameters.
func (a *App) Note(format string, args ...any) {
	text := param.Show(fmt.Sprintf(format, args...), a.FlagName)
	fmt.Fprintln(a.Progress, a.names().Plain(text))
}

// Tell writes a line to stderr that a person needs, also with --quiet; where events are asked for it is one.
func (a *App) Tell(format string, args ...any) {
	if a.Progress.IsJSON() {
		a.Note(format, args...)
		return
	}
	fmt.Fprintln(a.stderr, a.names().Plain(fmt.Sprintf(format, args...)))
}

// Notes writes lines to stderr.
func (a *App) Notes(lines ...string) {
	for _, text := range lines {
		a.Note("%s", text)
	}
}

// StopsWithin says that the run may take d to stop after an interrupt, where that is more than the
// usual second. It comes before the work that needs it.
func (a *App) StopsWithin(d time.Duration) { a.patience.Store(int64(d)) }

// Warn writes warnings of the input to stderr and keeps them for the result.
func (a *App) Warn(lines ...string) {
	for _, text := range lines {
		text = param.Show(text, a.FlagName)
		a.Note("warning: %s", text)
		a.Warnings = append(a.Warnings, text)
	}
}

// Reads notes the name of an input file, for the manifests of the outputs.
func (a *App) Reads(what, path string) {
	if a.Files == nil {
		a.Files = archive.Files{}
	}
	if path != "" {
		a.Files[what] = path
	}
}

// names quotes the names on the command line that are not fit for a terminal.
func (a *App) names() *progress.Quoter { return progress.NewQuoter(a.args) }

// say writes the last words of a run to stderr, as an event where those are asked
// for, with the kind of the error.
func (a *App) say(text, kind string) {
	// A program that reads events gets the last words as an event, too.
	text = a.names().Plain(text)
	if a.Progress.IsJSON() {
		a.Progress.Error(text, kind)
		return
	}
	fmt.Fprintln(a.stderr, text)
}

// Write runs fn, which writes files: after an interrupt not at all, and an
// interrupt waits for it.
func (a *App) Write(ctx context.Context, fn func() error) error {
	a.busy.Lock()
	defer a.busy.Unlock()
	// A mapped input that changed during the run makes the results worthless, so they are not
	// written.
	if err := cmp.Or(ctx.Err(), mapped.Check()); err != nil {
		return err
	}
	return Output(fn())
}

// Left is the memory limit less what the run holds, in bytes: what a reader may take. It is 1 at
// least, as 0 would be no limit.
func (a *App) Left() int64 { return max(1, int64(a.Memory)-a.budget.Held()) }

// leastRead is the memory from which on reading is announced: less is not worth a line.
const leastRead = 16 << 20

// needToRead is [App.Need] for the stage that reads points.
func (a *App) needToRead(bytes int64) error {
	if bytes < leastRead {
		return nil
	}
	return a.Need("read", bytes, 0, "give fewer points, or store them as .npy, which is not read but mapped")
}

// Need says what a stage will take, alone and with all that is held, and refuses what
// does not fit. operations may be 0 if nothing is known about time.
func (a *App) Need(stage string, bytes int64, operations float64, remedy string) error {
	var time string
	// Below two seconds reading and starting take most of the time, so an estimate would be wrong.
	if seconds := machine.Seconds(operations); seconds >= 2 {
		time = fmt.Sprintf(", about %s", choice.Duration(seconds))
	}
	// The budget adds the stages that hold memory at the same time.
	total, fits := a.budget.Announce(bytes, int64(a.Memory))
	if !fits {
		return memoryError{fmt.Errorf("%s needs %s of memory, %s in all, and %s are allowed; %s, or "+
			"raise --memory-limit if the machine has the memory", stage, machine.Size(bytes),
			machine.Size(total), a.Memory, remedy)}
	}

	a.Note("%s: needs %s of memory, %s in all%s", stage, machine.Size(bytes), machine.Size(total), time)
	return nil
}
