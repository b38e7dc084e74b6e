package shell

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/mapped"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
)

// Exit codes beside 0.
const (
	ExitFailure      = 1
	ExitInput        = 2
	ExitNotConverged = 3
	ExitInterrupted  = 130
)

// exitCode returns the code of an error. Only errors that are known to be of the command line
// or of the input are [ExitInput]; whatever nobody has thought of is a failure.
func exitCode(err error) int {
	// The order matters: an interrupt may be joined with other errors, and the error of a solver
	// that did not converge comes from a package whose errors count as faults of the input.
	switch {
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	// found when the model is written
	case errors.As(err, new(*mapped.ChangedError)), errors.Is(err, models.ErrNotFinite):
		return ExitInput
	case errors.Is(err, ErrDiffer), errors.As(err, new(outputError)), errors.As(err, new(*panicError)),
		errors.Is(err, dense.ErrNoConvergence):
		return ExitFailure
	case err != nil && models.Usable(err):
		return ExitNotConverged
	case ofInput(err):
		return ExitInput
	}
	return ExitFailure
}

// ofInput tells whether every cause of err is known to be the command line or the input: the
// system could not find or open a given path, or a package that reads input worded the error.
// Anything else is not: a failing disk, too many open files, a program that could not be
// started, a timeout.
func ofInput(err error) bool {
	switch e := err.(type) {
	case nil:
		return false
	case syscall.Errno:
		return slices.Contains(ofPath, e)
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			if !ofInput(part) {
				return false
			}
		}
		return true
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return ofInput(inner)
		}
	}

	// Texts have no type of their own to ask for, so the package of the error's type decides.
	kind := reflect.TypeOf(err)
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	home := kind.PkgPath() + "/"
	return slices.ContainsFunc(wording, func(path string) bool { return strings.HasPrefix(home, path) })
}

// ofPath are errors of the system about a path that was given.
var ofPath = []syscall.Errno{syscall.ENOENT, syscall.EACCES, syscall.EPERM, syscall.EISDIR, syscall.ENOTDIR,
	syscall.ENAMETOOLONG, syscall.ELOOP, syscall.EINVAL, syscall.EEXIST}

// wording lists packages whose error types describe faults of the input. Our own texts have the
// types of errors and fmt.
var wording = []string{"errors/", "fmt/", "strconv/", "encoding/", "compress/", "archive/",
	"github.com/bigfit/bigfit/", "github.com/parquet-go/", "github.com/spf13/"}

// ErrDiffer ends bigfit diff with exit code 1, without words.
var ErrDiffer = errors.New("the files differ")

// outputError is a failure to write a result, as opposed to bad input.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// Output marks an error of writing. A fault of an input that is read while results are written
// stays a fault of the input.
func Output(err error) error {
	var input inputError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &input):
		return input.error
	case errors.As(err, new(*atomicfile.ForeignError)):
		return err // the name of the folder is input
	}
	return outputError{err}
}

// inputError is a fault of an input that is met among outputs.
type inputError struct{ error }

// usageError is a command line that says too little or contradicts itself; the
// help of the command is named after it.
type usageError struct{ error }

// Usagef is an error of the command line, after which the help of the command is named.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// memoryError refuses a stage that needs more memory than is allowed.
type memoryError struct{ error }

// errorKind returns the kind of an error for events: "memory" if work was refused because
// it needs more memory than is allowed, else "".
func errorKind(err error) string {
	if errors.As(err, new(memoryError)) || errors.As(err, new(*npy.LimitError)) ||
		errors.As(err, new(*pipeline.MemoryError)) {
		return "memory"
	}
	return ""
}

// panicError is a bug of ours.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("internal error: %v", e.value) }

// plainFlagError rewords an error about the value of a flag without the terms of the parser.
func plainFlagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	// "strconv.ParseInt: parsing …: invalid syntax" tells a user nothing.
	f := invalid.GetFlag()
	if errors.As(err, new(*strconv.NumError)) {
		what := map[string]string{"int": "an integer", "uint64": "an integer of at least 0",
			"float64": "a number", "bool": "true or false"}[f.Value.Type()]
		return fmt.Errorf("--%s is %q; it must be %s", f.Name, invalid.GetValue(), what)
	}
	return fmt.Errorf("--%s: %w", f.Name, errors.Unwrap(invalid))
}

// packages are names that errors of the library begin with.
var packages = strings.Fields(`byclass cg cluster data dense eigenfunction eigenmap engine kernel kernelmachine knn
	lanczos linear models nearest parts pca pipeline propagation selection solvers sparse sums synthetic`)

// Reword puts an error of the library in the words of the command line: parameters become
// flags, and the names of packages are left out. A word of the command line may name a file.
func (a *App) Reword(text string) string {
	text = param.Show(text, a.FlagName)
	// A package name may stand at the start of the text, of a line, or after a colon.
	for _, name := range packages {
		if !slices.Contains(a.args, name) {
			text = strings.ReplaceAll(strings.TrimPrefix(text, name+": "), ": "+name+": ", ": ")
			text = strings.ReplaceAll(text, "\n"+name+": ", "\n")
		}
	}
	return text
}

// OneArgument refuses anything but one argument; what names it.
func OneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return Usagef("%s takes one argument, %s; %d are given", cmd.CommandPath(), what, len(args))
		}
		return nil
	}
}
