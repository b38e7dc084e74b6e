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
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/lanczos"
)

// version of the program, as in CHANGELOG.md.
const version = "0.1.0"

const (
	exitFailure      = 1
	exitInput        = 2
	exitNotConverged = 3
	exitInterrupted  = 130
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run executes the command line and returns the exit code.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second interrupt kills the process: after the first, handling ends.
	context.AfterFunc(ctx, stop)
	a := &app{stdout: os.Stdout, stderr: os.Stderr}
	root := a.command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	a.progress.Close()
	if err == nil {
		return 0
	}
	code := exitCode(err)
	if code == exitInterrupted {
		fmt.Fprintln(a.stderr, "bigfit: interrupted; no file is half-written")
		return code
	}
	fmt.Fprintln(a.stderr, "bigfit:", err)
	var limit *npy.LimitError
	if errors.As(err, &limit) {
		fmt.Fprintln(a.stderr, "bigfit: raise --memory-limit if the machine has the memory")
	}
	return code
}

// command returns the root command with all others below it.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:           "bigfit",
		Short:         "Learn from a few labels and many unlabeled points",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	a.commonFlags(root)
	root.AddCommand(a.demoCommand(), a.graphCommand(), a.eigsCommand(), a.fitCommand(), a.predictCommand(), a.reproduceCommand(), a.infoCommand())
	return root
}

// outputError is a failure to write a result, as opposed to bad input.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// output marks an error of writing.
func output(err error) error {
	if err == nil {
		return nil
	}
	return outputError{err}
}

func exitCode(err error) int {
	switch {
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, lanczos.ErrNotConverged):
		return exitNotConverged
	case errors.As(err, new(outputError)):
		return exitFailure
	}
	return exitInput
}
