package shell

import (
	"cmp"
	"encoding"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/progress"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/supervise"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/machine"
)

// CommonFlags adds the flags that every command has and, before any command
// runs, fills flags that are not given from the environment.
func (a *App) CommonFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.IntVar(&a.Threads, "threads", 0, "threads to use, 0 for all")
	f.Uint64Var(&a.Seed, "seed", 0, "seed of everything random")
	f.Var(&a.Memory, "memory-limit", "memory the run may use, as 8GiB (default: what the machine has free)")
	f.Lookup("memory-limit").DefValue = ""
	f.BoolVar(&a.JSON, "json", false, "print results as JSON")
	f.BoolVar(&a.CSVSafe, "csv-safe", false, "put ' before texts in csv that spreadsheets compute, as =1+1")
	NameFlag(f, &a.mode, "progress", "progress on stderr; json has one event a line")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no progress on stderr, as --progress none")
	root.SetFlagErrorFunc(flagError)

	// Flags on the command line are noted before the environment fills others: messages tell the
	// two apart.
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		a.Given = map[string]bool{}
		a.environment = map[string]bool{}
		cmd.Flags().Visit(func(f *pflag.Flag) { a.Given[f.Name] = true })
		if err := cmp.Or(checkEnvironment(root), a.flagsFromEnvironment(cmd.Flags())); err != nil {
			return err
		}
		if a.Threads < 0 {
			return fmt.Errorf("--threads is %d; it must be positive, or 0 for all", a.Threads)
		}

		// From here an error is about the work, and no longer about the command line.
		a.started = true
		if err := CheckInputs(a.Points.ids); err != nil {
			return err
		}
		a.limits()
		return nil
	}
}

// limits applies the common flags to the process.
func (a *App) limits() {
	if a.Threads > 0 {
		runtime.GOMAXPROCS(a.Threads)
	}
	if a.Memory == 0 {
		a.Memory = machine.Size(machine.AvailableMemory())
	}

	debug.SetMemoryLimit(int64(a.Memory))
	a.budget.Begin()
	// An interrupt may come at this moment and use the sink from another goroutine.
	a.busy.Lock()
	defer a.busy.Unlock()

	// A supervised child writes to a pipe; its parent tells by a variable whether a terminal is
	// behind it.
	switch {
	case a.quiet || a.mode == progress.None:
		a.Progress = progress.Quiet()
	case a.mode == progress.JSON:
		a.Progress = progress.NewJSON(a.stderr)
	default:
		terminal := progress.IsTerminal(os.Stderr) || os.Getenv(supervise.Variable) == "terminal"
		a.Progress = progress.New(a.stderr, a.stderr == io.Writer(os.Stderr) && terminal)
	}
}

// flagsFromEnvironment sets flags that are not given from BIGFIT_ and their
// name in capitals, with underscores for dashes. An empty variable is none.
func (a *App) flagsFromEnvironment(flags *pflag.FlagSet) error {
	var fault error
	flags.VisitAll(func(f *pflag.Flag) {
		name := variable(f.Name)
		value := os.Getenv(name)
		// --help and --version from the environment would replace every command.
		if value == "" || f.Changed || fault != nil || f.Name == "help" || f.Name == "version" {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			fault = fmt.Errorf("environment variable %s: %w", name, plainFlagError(err))
		}
		a.environment[f.Name] = true
	})

	return fault
}

// name is a value that is one of several names.
type name interface {
	encoding.TextUnmarshaler
	encoding.TextMarshaler
}

// nameValue is a flag for a name.
type nameValue struct{ name }

func (v nameValue) Set(text string) error { return v.UnmarshalText([]byte(text)) }

func (v nameValue) String() string {
	if v.name == nil {
		return ""
	}
	text, err := v.MarshalText()
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Type stands for the value in help texts.
func (v nameValue) Type() string { return "name" }

// Width is the number of columns that help texts are wrapped at.
const Width = 120

// NameFlag adds a flag for a value of an enumeration; its default is the value that it has. The
// help text ends with the names of choices, all values if there are none.
func NameFlag[T enum.Value, P interface {
	*T
	name
}](f *pflag.FlagSet, v P, flag, usage string, choices ...T) {
	names := enum.All[T]()
	if len(choices) > 0 {
		names = nil
	}
	for _, c := range choices {
		names = append(names, fmt.Sprint(c))
	}
	f.Var(nameValue{v}, flag, usage+": "+strings.Join(names, ", "))
}
