package work

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
)

// Steps are the flags that graphs and fits in parts share: in how many parts, where, and
// which step of the work this run does.
type Steps struct {
	Parts  int
	Work   string
	Part   string
	Merge  bool
	DryRun bool
	Script string
}

// missing is the --part that lists the parts that are not there.
const missing = "missing"

// flags adds the flags but for --dry-run, which engines have too.
func (o *Steps) flags(f *pflag.FlagSet) {
	f.IntVar(&o.Parts, "parts", 0, "work in this many parts of the points, or of the "+
		"classes; needs --work")
	f.StringVar(&o.Work, "work", "", "`folder` for the state of the parts")
	f.StringVar(&o.Part, "part", "", "this part only: its `number` from 0, or env for that of the "+
		"job; missing lists those to make")
	f.BoolVar(&o.Merge, "merge", false, "make the result from the parts, all of which must be there")
	f.StringVar(&o.Script, "print-script", "",
		"print the `kind` of job script for the parts: slurm, pbs, lsf, mpirun, parallel")
}

// checkOne returns an error if more than one step is asked for. other tells whether a step that
// only the calling command has is asked for; flag is its name in the message.
func (o *Steps) checkOne(flag string, other bool) error {
	// Each of these flags ends the run after its own step, so two of them contradict each other.
	steps := 0
	for _, step := range []bool{o.Part != "", other, o.Merge, o.DryRun, o.Script != ""} {
		if step {
			steps++
		}
	}
	if _, ok := scripts[o.Script]; o.Script != "" && !ok {
		return shell.Usagef("--print-script is %q; it must be %s", o.Script,
			strings.Join(slices.Sorted(maps.Keys(scripts)), ", "))
	}
	if steps > 1 {
		return shell.Usagef("give one of --part, %s--merge, --dry-run and --print-script", flag)
	}
	return nil
}

// numbers returns the parts that --part names, among all parts; nil without --part.
func (o *Steps) numbers(a *shell.App, all int) ([]int, error) {
	if o.Part == "" || o.Part == missing {
		return nil, nil
	}
	return numbersOf(a, o.Part, all)
}

// printMissing prints the numbers of parts that are not there.
func printMissing(a *shell.App, list []int, all int) error {
	return a.Print(map[string]any{"missing": append([]int{}, list...), "parts": all}, checkpoint.Ranges(list))
}
