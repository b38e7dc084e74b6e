// Command bigfit learns from a few labels and many unlabeled points through the
// graph of their nearest neighbours. One file holds one command.
//
// Results go to stdout, progress and errors to stderr. Exit codes: 0 done,
// 1 failure, 2 usage or bad input, 3 not converged (outputs written), 130
// interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/internal/mapped"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/internal/progress"
	"github.com/bigfit/bigfit/internal/supervise"
)

// version of the program.
const version = manifest.Release

// grace is how long a run may take to stop after an interrupt.
const grace = time.Second

func main() {
	// A closed pipe is an error of writing like any other.
	signal.Ignore(syscall.SIGPIPE)
	limit := machine.AddressLimit()
	if code, ok := supervise.Run(limit < math.MaxInt64, progress.IsTerminal(os.Stderr), outOfMemory(limit)); ok {
		os.Exit(code)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// outOfMemory says how a run ended that had too little address space.
func outOfMemory(limit int64) string {
	return fmt.Sprintf("bigfit: out of memory: the address space is limited to %s (RLIMIT_AS, ulimit -v); raise that limit, or give less data or a --memory-limit well below it", machine.Size(limit))
}

// run executes the command line and returns the exit code. Only after an
// interrupt may work go on after it has returned; it writes no files then.
func run(args []string, stdout, stderr io.Writer) int {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	// A second interrupt kills the process: after the first, handling ends.
	defer context.AfterFunc(ctx, stop)()
	a := &app{stdout: stdout, stderr: stderr}
	done := make(chan error, 1)
	go func() { done <- a.execute(ctx, args) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(grace):
			// Not every computation can be stopped. A file being written is
			// finished first, and none begun after it.
			a.busy.Lock()
		}
	}
	if text := a.budget.String(); text != "" && ctx.Err() == nil {
		a.note("memory: %s", text)
	}
	a.progress.Close()
	if ctx.Err() != nil {
		a.say("bigfit: interrupted; no file is half-written")
		return exitInterrupted
	}
	return a.report(err)
}

// execute runs the command line; a panic becomes an error.
func (a *app) execute(ctx context.Context, args []string) (err error) {
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
	root := a.command()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && (!a.started || errors.As(err, new(usageError))) {
		err = fmt.Errorf("%w\nsee %s --help", plainFlagError(err), cmd.CommandPath())
	}
	if err == nil {
		err = mapped.Check()
	}
	return err
}

// report prints an error and returns its exit code.
func (a *app) report(err error) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, errDiffer) {
		return exitCode(err)
	}
	text := "bigfit: " + a.withoutPackages(err.Error())
	var p *panicError
	if errors.As(err, &p) {
		text += fmt.Sprintf("\nThis is a bug in bigfit %s. Please report it at https://github.com/bigfit/bigfit/issues\nwith the command line and the lines below.\n\n%s", version, p.stack)
	}
	var limit *npy.LimitError
	if errors.As(err, &limit) {
		text += "\nbigfit: raise --memory-limit if the machine has the memory"
	}
	a.say(text)
	return exitCode(err)
}

// command returns the root command with all others below it.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "bigfit",
		Short: "Learn from a few labels and many unlabeled points",
		Long: `Learn from a few labels and many unlabeled points through the graph of their
nearest neighbours.

  bigfit demo                                     digits drawn by the program
  bigfit graph X.npy -o graph.npz                 the pieces, on files
  bigfit eigs graph.npz -k 100 -o eigs.npz
  bigfit fit -X X.npy -y y.npy -o model.npz
  bigfit predict model.npz -X new.npy -o pred.npy
  bigfit eval -y truth.npy --predictions pred.npy

Results go to stdout, progress to stderr. Exit codes: 0 done, 1 failure, 2 usage
or bad input, 3 not converged (outputs written), 130 interrupted.

A file is written under a temporary name beside its own, .NAME.bigfit-PID-…, and
renamed when it is complete. What a killed process left so is removed by the next
command that writes into the folder. Symbolic links are followed.

Every flag can be set by an environment variable as well: BIGFIT_ and its name
in capitals with _ for -, as BIGFIT_MEMORY_LIMIT=8GiB for --memory-limit. It
counts for every command that has the flag; the command line wins.`,
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 120"))
	a.commonFlags(root)
	root.AddCommand(a.demoCommand(), a.graphCommand(), a.eigsCommand(), a.fitCommand(), a.updateCommand(), a.predictCommand(), a.evalCommand(), a.tuneCommand(), a.reproduceCommand(), a.infoCommand(), a.diffCommand(), a.modelsCommand())
	root.AddCommand(a.clusterCommand(), a.embedCommand(), a.plotCommand(), a.neighborsCommand())
	return root
}
