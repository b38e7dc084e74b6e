package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/internal/progress"
)

// app is what all commands share.
type app struct {
	stdout, stderr io.Writer
	progress       *progress.Sink

	threads int
	seed    uint64
	memory  memorySize
	json    bool
	quiet   bool
}

// commonFlags adds the flags that every command has and, before any command
// runs, fills flags that are not given from the environment.
func (a *app) commonFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.IntVar(&a.threads, "threads", 0, "threads to use (default: all)")
	f.Uint64Var(&a.seed, "seed", 0, "seed of everything random")
	f.Var(&a.memory, "memory-limit", "memory the program may use, as 8GiB (default: what the machine has available)")
	f.BoolVar(&a.json, "json", false, "print results as one JSON object")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "no progress on stderr")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := flagsFromEnvironment(cmd.Flags()); err != nil {
			return err
		}
		if a.threads < 0 {
			return fmt.Errorf("--threads is %d; it must be positive", a.threads)
		}
		if a.threads > 0 {
			runtime.GOMAXPROCS(a.threads)
		}
		if a.memory == 0 {
			a.memory = memorySize(availableMemory())
		}
		// Large blocks come and go: collect early rather than hold twice the memory.
		debug.SetGCPercent(40)
		debug.SetMemoryLimit(int64(a.memory))
		if a.quiet {
			a.progress = progress.Quiet()
		} else {
			a.progress = progress.New(a.stderr, a.stderr == io.Writer(os.Stderr) && progress.IsTerminal(os.Stderr))
		}
		return nil
	}
}

// flagsFromEnvironment sets flags that are not given from BIGFIT_ and their
// name in capitals, with underscores for dashes.
func flagsFromEnvironment(flags *pflag.FlagSet) error {
	var fault error
	flags.VisitAll(func(f *pflag.Flag) {
		name := "BIGFIT_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := os.LookupEnv(name)
		if !ok || f.Changed || fault != nil {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			fault = fmt.Errorf("environment variable %s: %w", name, err)
		}
	})
	return fault
}

// textFlag adds a flag for a value that has a text form; its default is the
// value that it has.
func textFlag(f *pflag.FlagSet, v interface {
	encoding.TextUnmarshaler
	encoding.TextMarshaler
}, name, usage string) {
	f.TextVar(v, name, v, usage)
}

// print writes the result of a command: v as JSON, or text.
func (a *app) print(v any, text string) error {
	if a.json {
		enc := json.NewEncoder(a.stdout)
		enc.SetEscapeHTML(false)
		return output(enc.Encode(v))
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

// checkOutput returns an error unless a file can be made at path, so that a
// long run does not end in one. An empty path is none.
func checkOutput(paths ...string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		dir := filepath.Dir(path)
		f, err := os.CreateTemp(dir, ".bigfit-check-*")
		if err != nil {
			return output(fmt.Errorf("%s cannot be written: %w", path, err))
		}
		f.Close()
		os.Remove(f.Name())
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return output(fmt.Errorf("%s is there and is not a regular file", path))
		}
	}
	return nil
}

// need says what a stage will take and refuses what does not fit. operations
// may be 0 if nothing is known about time.
func (a *app) need(stage string, bytes int64, operations float64, remedy string) error {
	var time string
	if operations > 0 {
		time = fmt.Sprintf(", about %s", duration(operations/operationRate()))
	}
	if bytes > int64(a.memory) {
		return fmt.Errorf("%s needs %s of memory and %s are allowed; %s, or raise --memory-limit if the machine has the memory", stage, memorySize(bytes), a.memory, remedy)
	}
	a.note("%s: needs %s of memory%s", stage, memorySize(bytes), time)
	return nil
}

// duration rounds seconds to what an estimate is worth.
func duration(seconds float64) string {
	if seconds < 1 {
		return "1 s"
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}
