package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/internal/mapped"
	"github.com/bigfit/bigfit/models"
)

const (
	exitFailure      = 1
	exitInput        = 2
	exitNotConverged = 3
	exitInterrupted  = 130
)

func exitCode(err error) int {
	switch {
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, new(*mapped.ChangedError)), errors.Is(err, models.ErrNotFinite): // found when the model is written
		return exitInput
	case errors.Is(err, errDiffer), errors.As(err, new(outputError)), errors.As(err, new(*panicError)):
		return exitFailure
	case err != nil && models.Usable(err):
		return exitNotConverged
	}
	return exitInput
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

// usageError is a command line that says too little or contradicts itself; the
// help of the command is named after it.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// panicError is a bug of ours.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("internal error: %v", e.value) }

// plainFlagError says what is wrong with the value of a flag, without words of
// the parser.
func plainFlagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	f := invalid.GetFlag()
	if errors.As(err, new(*strconv.NumError)) {
		what := map[string]string{"int": "an integer", "uint64": "an integer of at least 0", "float64": "a number", "bool": "true or false"}[f.Value.Type()]
		return fmt.Errorf("--%s is %q; it must be %s", f.Name, invalid.GetValue(), what)
	}
	return fmt.Errorf("--%s: %w", f.Name, errors.Unwrap(invalid))
}

// packages are names that errors of the library begin with.
var packages = strings.Fields("cg cluster data dense eigenfunction eigenmap kernel kernelmachine knn lanczos linear models nearest pca pipeline propagation selection solvers sparse synthetic")

// withoutPackages leaves the names of packages out of the text of an error: users
// know files and flags. A word of the command line may name a file.
func (a *app) withoutPackages(text string) string {
	for _, name := range packages {
		if !slices.Contains(a.args, name) {
			text = strings.ReplaceAll(strings.TrimPrefix(text, name+": "), ": "+name+": ", ": ")
			text = strings.ReplaceAll(text, "\n"+name+": ", "\n")
		}
	}
	return text
}

// oneArgument refuses anything but one argument; what names it.
func oneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes one argument, %s; %d are given", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}
