// Command bigfit learns from a few labels and many unlabeled points through the
// graph of their nearest neighbours. One file holds one command.
//
// Results go to stdout, progress and errors to stderr. Exit codes: 0 done,
// 1 failure, 2 usage or bad input, 3 not converged (outputs written), 130
// interrupted.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/demo"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/progress"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/supervise"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/work"
	_ "github.com/bigfit/bigfit/data/parquet"
	"github.com/bigfit/bigfit/internal/machine"
)

func main() {
	// A closed pipe is an error of writing like any other.
	signal.Ignore(syscall.SIGPIPE)
	supervise.StopWithParent()
	limit := machine.AddressLimit()
	if limit < leastAddressSpace {
		fmt.Fprintf(os.Stderr, "bigfit: the address space is limited to %s (RLIMIT_AS, ulimit -v), and bigfit needs at "+
			"least %s of it to begin; raise that limit\n", machine.Size(limit), machine.Size(leastAddressSpace))
		os.Exit(shell.ExitFailure)
	}
	if code, ok := supervise.Run(limit < math.MaxInt64, progress.IsTerminal(os.Stderr),
		outOfMemory(limit)); ok {
		os.Exit(code)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// leastAddressSpace is the address space in which the program and the process that watches over it
// work: the runtime of Go 1.26 reserves some 650 MiB of it before main begins, and below 830 MiB
// allocations of 4 MiB were seen to fail.
const leastAddressSpace = 832 << 20

// outOfMemory says how a run ended that had too little address space.
func outOfMemory(limit int64) string {
	return fmt.Sprintf("bigfit: out of memory: the address space is limited to %s (RLIMIT_AS, ulimit "+
		"-v); raise that limit, or give less data or a --memory-limit well below it", machine.Size(limit))
}

// run executes the command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	return shell.Run(args, stdout, stderr, func(s *shell.App) *cobra.Command { return (&app{s}).command() })
}

// wrapFlags makes the usage of a command one whose flags are broken at the width of help. A template of cobra
// would do that too, but a program with templates keeps every method of every type: see internal/view/report.
func wrapFlags(usage func(*cobra.Command) error) func(*cobra.Command) error {
	return func(c *cobra.Command) error {
		out := c.OutOrStderr()
		var b bytes.Buffer
		c.SetOut(&b)
		err := usage(c)
		c.SetOut(out)

		text := b.String()
		for _, flags := range []*pflag.FlagSet{c.LocalFlags(), c.InheritedFlags()} {
			if long := strings.TrimSpace(flags.FlagUsages()); long != "" {
				text = strings.Replace(text, long, strings.TrimSpace(flags.FlagUsagesWrapped(shell.Width)), 1)
			}
		}
		_, fault := io.WriteString(out, text)
		return cmp.Or(err, fault)
	}
}

// first is printed where no command is given.
const first = `bigfit learns from a few labels and many unlabeled points. What to do first:

  bigfit demo                                       see it work, on digits that it draws
  bigfit fit X.npy labels.csv -o model.npz          learn; how the files were read is printed
  bigfit predict model.npz new.npy -o answers.csv   answer for new points
  bigfit label X.npy labels.csv                     give the labels, on a page in the browser
  bigfit help data                                  what X and labels may be
  bigfit --help                                     all commands
`

// app has the commands; their shared state is in [shell.App].
type app struct{ *shell.App }

// command returns the root command with all others below it.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "bigfit",
		Short: "Learn from a few labels and many unlabeled points",
		Long: `Learn from a few labels and many unlabeled points through the graph of their
nearest neighbours.

  bigfit demo                                     digits drawn by the program
  bigfit fit X.npy y.npy -o model.npz             points and labels on files
  bigfit predict model.npz new.npy -o pred.npy
  bigfit eval truth.npy pred.npy
  bigfit graph X.npy -o graph.npz                 the steps of a fit, one by one
  bigfit eigs graph.npz -n 100 -o eigs.npz

X and y are arguments, or -X and -y. -k is a number of neighbours in every command.
bigfit help MODEL describes a model. bigfit man writes manual pages. bigfit completion
prints a script for the shell that completes commands, flags and models.

Results go to stdout, progress to stderr. Exit codes: 0 done, 1 failure, 2 usage
or bad input, 3 not converged (outputs written), 130 interrupted.

A file is written under a temporary name beside its own, .NAME.bigfit-PID-…, and
renamed when it is complete. The next command that writes into the folder removes what
a killed process left there. Symbolic links are followed.

Every flag has an environment variable: BIGFIT_ and its name in capitals, with _ for
-, as BIGFIT_MEMORY_LIMIT=8GiB for --memory-limit. The variable sets the flag of every
command that has it; the command line wins. A BIGFIT_ variable of no flag is an error.`,
		RunE:          func(*cobra.Command, []string) error { return a.Print(map[string]string{"first": first}, first) },
		Version:       shell.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		// The shell package suggests near names, of commands and of models.
		DisableSuggestions: true,
	}

	root.SetUsageFunc(wrapFlags(root.UsageFunc()))
	a.CommonFlags(root)
	root.AddCommand(demo.Command(a.App), a.graphCommand(), a.edgesCommand(), a.eigsCommand(), a.fitCommand(),
		a.updateCommand(), a.predictCommand(), a.evalCommand(), a.tuneCommand(), a.compareCommand(),
		a.infoCommand(), a.diffCommand(), a.modelsCommand(), a.clusterCommand(), a.embedCommand(), a.featuresCommand(), a.kernelCommand(),
		a.plotCommand(), a.neighborsCommand(), a.nextCommand(), a.labelCommand(), a.reportCommand(), a.solveCommand(),
		a.suspectsCommand(), a.auditCommand(), a.statusCommand(), work.EngineCommand(a.App), a.manCommand(), a.versionCommand())
	root.AddCommand(dataTopic(), softTopic(), kernelsTopic(), choicesTopic(), work.Topic())
	root.SetHelpCommand(a.helpCommand())
	return root
}
