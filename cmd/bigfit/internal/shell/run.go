package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/mapped"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// Version of the program.
const Version = archive.Release

// grace is how long a run may take to stop after an interrupt, unless [App.StopsWithin] says more.
const grace = time.Second

// Run executes the command line args of the commands that root makes, and returns
// the exit code. Only after an interrupt may work go on after it has returned; it writes
// no files then.
func Run(args []string, stdout, stderr io.Writer, root func(*App) *cobra.Command) int {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	a := &App{stdout: stdout, stderr: stderr}
	ctx, stop := signalContext(a, ends)
	defer stop()

	// The work runs beside, so that the interrupt can be answered within the grace even where a
	// computation cannot be stopped.
	done := make(chan error, 1)
	go func() { done <- a.execute(ctx, args, root) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(max(grace, time.Duration(a.patience.Load()))):
			// Not every computation can be stopped. A file being written is
			// finished first, and none begun after it.
			a.busy.Lock()
		}
	}

	// The peak of memory is worth a line only for a run that ended by itself.
	if text := a.budget.String(); text != "" && ctx.Err() == nil {
		a.Note("memory: %s", text)
	}
	a.Progress.Close()
	if ctx.Err() != nil {
		a.say("bigfit: interrupted; no file is half-written", "")
		return ExitInterrupted
	}
	return a.report(err)
}

// signalContext returns a context that a signal ends. A second one kills the process: after the first, handling
// ends. The first interrupt of [App.TakeInterrupt] ends nothing.
func signalContext(a *App, ends []os.Signal) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	came := make(chan os.Signal, 2)
	signal.Notify(came, ends...)
	go func() {
		for {
			select {
			case <-ctx.Done():
				signal.Stop(came)
				return
			case s := <-came:
				if s == os.Interrupt && a.interrupted() {
					continue
				}
				signal.Stop(came)
				cancel()
			}
		}
	}()
	return ctx, cancel
}

// TakeInterrupt makes the next interrupt (SIGINT) close the channel that it returns, in place of ending the run. Those
// after it end the run as always, and so do other signals.
func (a *App) TakeInterrupt() <-chan struct{} {
	c := make(chan struct{})
	a.taken.Store(&c)
	return c
}

// interrupted tells whether the command takes an interrupt, and hands it over.
func (a *App) interrupted() bool {
	c := a.taken.Swap(nil)
	if c != nil {
		close(*c)
	}
	return c != nil
}

// execute runs the command line; a panic becomes an error.
func (a *App) execute(ctx context.Context, args []string, command func(*App) *cobra.Command) (err error) {
	// A mapped file that another program cuts short raises a fault at the read; as a panic it
	// becomes an error that names the file.
	debug.SetPanicOnFault(true)
	mapped.Begin()
	defer func() {
		if r := recover(); r != nil {
			if err = mapped.Fault(r); err == nil {
				err = &panicError{r, debug.Stack()}
			}
		}
	}()

	a.args = args
	root := command(a)
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		complete(root, args[1:])
	}
	cmd, err := root.ExecuteContextC(ctx)

	var name string
	if err != nil && cmd == root && !a.started {
		// of cobra, which has no type for it
		if n, _ := fmt.Sscanf(err.Error(), "unknown command %q", &name); n == 1 {
			err = unknownCommand(root, name)
		}
	}

	// Errors of the command line point to the help of the command.
	if err != nil && (!a.started || errors.As(err, new(usageError))) {
		err = fmt.Errorf("%w\nsee %s --help", plainFlagError(err), cmd.CommandPath())
	}
	if err == nil {
		err = mapped.Check()
	}
	return err
}

// report prints an error and returns its exit code.
func (a *App) report(err error) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, ErrDiffer) {
		return exitCode(err)
	}
	text := "bigfit: " + a.Reword(err.Error())
	// The stack is printed for bugs only.
	var p *panicError
	if errors.As(err, &p) {
		text += fmt.Sprintf("\nThis is a bug in bigfit %s. Please report it at "+
			"https://github.com/bigfit/bigfit/issues\nwith the command line and the lines below.\n\n%s",
			Version, p.stack)
	}
	// The reader of files knows no flags, so the advice is added here.
	var limit *npy.LimitError
	if errors.As(err, &limit) {
		text += "\nbigfit: raise --memory-limit if the machine has the memory"
	}
	a.say(text, errorKind(err))
	return exitCode(err)
}
