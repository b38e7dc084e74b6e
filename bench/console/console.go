// Package console holds what the commands of bench share: common flags and their environment
// variables, stages and announcements of memory on stderr, results on stdout, and exit codes.
package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/stage"
)

const (
	// grace is how long a run may take to stop after an interrupt.
	grace = time.Second
	// printEvery is the least time between two lines about a stage that is under way.
	printEvery = 10 * time.Second
)

// A Console is the state of a command. As a [pipeline.Observer] it prints the stages of a
// pipeline and keeps their times.
type Console struct {
	Seed   uint64
	Memory machine.Size
	JSON   bool
	Given  map[string]bool // flags on the command line

	threads        int
	quiet          bool
	started        bool // the command line was accepted
	stdout, stderr io.Writer
	budget         machine.Budget
	writing        sync.Mutex // held while files are written

	mu      sync.Mutex // guards the fields below
	stages  []report.Timing
	stage   string    // the stage under way
	begun   time.Time // when it began
	printed time.Time // when a line about it was printed last
}

// Run executes a command line and returns the exit code: 0 for success, 1 if a result cannot
// be written, 2 for a wrong command line or bad input, 3 for results that did not converge,
// 130 after an interrupt.
func Run(args []string, stdout, stderr io.Writer, command func(*Console) *cobra.Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second interrupt kills the process: handling ends after the first.
	defer context.AfterFunc(ctx, stop)()

	c := &Console{stdout: stdout, stderr: stderr}
	cmd := command(c)
	cmd.SilenceUsage = true
	cmd.SilenceErrors = true
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	c.flags(cmd)

	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(ctx) }()

	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(grace):
			// Not every computation can be stopped. A file that is being written is finished
			// first, and none is begun.
			c.writing.Lock()
		}
	}

	if ctx.Err() != nil {
		fmt.Fprintf(stderr, "%s: interrupted; no file is half-written\n", cmd.Name())
		return 130
	}

	if text := c.budget.String(); text != "" {
		c.Note("memory: " + text)
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %s\n", cmd.Name(), param.Show(err.Error(), param.Flag))
		if !c.started || errors.As(err, new(usageError)) {
			fmt.Fprintf(stderr, "see go run ./bench/%s --help\n", cmd.Name())
		}
	}
	return exitCode(err)
}

// exitCode returns the exit code of an error.
func exitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return 130
	case errors.As(err, new(outputError)):
		return 1
	case models.Usable(err):
		return 3
	}
	return 2
}

// outputError is a failure to write a result. It has an exit code of its own.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// Output marks an error of writing.
func Output(err error) error {
	if err == nil {
		return nil
	}
	return outputError{err}
}

// usageError is a command line that says too little or contradicts itself.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usagef returns an error of the command line.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// flags adds the common flags. Before the command runs, flags that are not given are filled
// from BIGFIT_ and their name in capitals, and the limits are applied to the process.
func (c *Console) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&c.threads, "threads", 0, "threads to use, 0 for all")
	f.Uint64Var(&c.Seed, "seed", 0, "seed of everything random")
	f.Var(&c.Memory, "memory-limit", "memory the run may use beside some 24 MiB of the program, as "+
		"8GiB (default: what the machine has available)")
	f.Lookup("memory-limit").DefValue = ""
	f.BoolVar(&c.JSON, "json", false, "print results as JSON")
	f.BoolVarP(&c.quiet, "quiet", "q", false, "no progress on stderr")

	cmd.PreRunE = func(*cobra.Command, []string) error {
		c.Given = map[string]bool{}
		f.Visit(func(f *pflag.Flag) { c.Given[f.Name] = true })
		if err := fromEnvironment(f); err != nil {
			return err
		}
		if c.threads < 0 {
			return Usagef("--threads is %d; it must be positive, or 0 for all", c.threads)
		}

		c.started = true
		c.limits()
		return nil
	}
}

// fromEnvironment sets the flags that are not given from their variables. An empty variable
// counts as not set.
func fromEnvironment(flags *pflag.FlagSet) error {
	var faults []error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "BIGFIT_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value := os.Getenv(name)
		if value == "" || f.Changed || f.Name == "help" {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			faults = append(faults, fmt.Errorf("environment variable %s: %w", name, err))
		}
	})
	return errors.Join(faults...)
}

// limits applies the common flags to the process.
func (c *Console) limits() {
	if c.threads > 0 {
		runtime.GOMAXPROCS(c.threads)
	}
	if c.Memory == 0 {
		c.Memory = machine.Size(machine.AvailableMemory())
	}

	debug.SetMemoryLimit(int64(c.Memory))
	c.budget.Begin()
}

// Print writes the result of a command to stdout: v as JSON, or text.
func (c *Console) Print(v any, text string) error {
	if c.JSON {
		enc := json.NewEncoder(c.stdout)
		enc.SetEscapeHTML(false)
		return Output(enc.Encode(v))
	}
	_, err := io.WriteString(c.stdout, strings.TrimSuffix(text, "\n")+"\n")
	return Output(err)
}

// Write runs fn, which writes files. After an interrupt it does nothing, and an interrupt
// waits for it.
func (c *Console) Write(ctx context.Context, fn func() error) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return Output(fn())
}

// Pipeline returns the stages with the settings of the command line.
func (c *Console) Pipeline() *pipeline.Pipeline {
	return &pipeline.Pipeline{Seed: c.Seed, Memory: int64(c.Memory), Observer: c}
}

// Announce prints the memory that a stage will take, alone and together with the memory in
// use, and its time. It returns an error if the memory does not fit.
func (c *Console) Announce(stage string, cost stage.Cost) error {
	var time string
	// A shorter time is mostly overhead that is not estimated.
	if seconds := machine.Seconds(cost.Operations); seconds >= 2 {
		time = fmt.Sprintf(", about %s", choice.Duration(seconds))
	}

	total, fits := c.budget.Announce(cost.Bytes, int64(c.Memory))
	need := fmt.Sprintf("%s of memory, %s in all", machine.Size(cost.Bytes), machine.Size(total))
	if !fits {
		return fmt.Errorf("%s needs %s, and %s are allowed; %s, or raise --memory-limit if the "+
			"machine has the memory", stage, need, c.Memory, cost.Remedy)
	}
	c.Note(stage + ": needs " + need + time)
	return nil
}

// Note writes a line to stderr.
func (c *Console) Note(text string) {
	if !c.quiet {
		fmt.Fprintln(c.stderr, param.Show(text, param.Flag))
	}
}

// Begin begins a stage.
func (c *Console) Begin(stage string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stage = stage
	c.begun = time.Now()
	c.printed = c.begun
}

// Update writes a line about the stage, at most one in printEvery.
func (c *Console) Update(done, total float64, note string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.printed) < printEvery {
		return
	}
	c.printed = time.Now()
	c.Note(fmt.Sprintf("%-10s %3.0f%%  %.0f s  %s", c.stage, 100*done/max(total, 1),
		time.Since(c.begun).Seconds(), note))
}

// End ends the stage and writes its time with a note on the result.
func (c *Console) End(note string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := report.Timing{Name: c.stage, Seconds: time.Since(c.begun).Seconds(), Note: note}
	c.stages = append(c.stages, t)
	c.Note(strings.TrimRight(fmt.Sprintf("%-10s %6.1f s  %s", t.Name, t.Seconds, note), " "))
}

// Stages returns the finished stages in the order in which they ended.
func (c *Console) Stages() []report.Timing {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]report.Timing(nil), c.stages...)
}
