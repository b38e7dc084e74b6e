package work

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/engine"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/pipeline"
)

// EngineFlags say which engine does the work.
type EngineFlags struct {
	Kind engine.Kind
	engine.Settings
}

// Flags adds the flags; other is the engine that the command can have beside ours.
func (o *EngineFlags) Flags(f *pflag.FlagSet, other engine.Kind) {
	shell.NameFlag(f, &o.Kind, "engine",
		fmt.Sprintf("program that computes; %s needs MPI (bigfit help engine)", other), engine.Ours, other)
	f.IntVar(&o.Ranks, "ranks", 1, "processes of the engine")
	f.StringVar(&o.Launcher, "launcher", "",
		"`command` that starts the ranks; -n RANKS is added, or {ranks} replaced (default mpirun)")
	f.BoolVar(&o.DryRun, "dry-run", false, "print the memory and time that the run would take, and stop")
}

// Check refuses flags that do not go together. other is as in Flags, and ours names flags that
// only bigfit's own solver has.
func (o *EngineFlags) Check(a *shell.App, other engine.Kind, ours ...string) error {
	if o.Kind == engine.Ours {
		for _, name := range []string{"ranks", "launcher", "dry-run"} {
			if a.Given[name] && !(name == "dry-run" && other == engine.PETSc) {
				return shell.Usagef("--%s is for --engine %s", name, other)
			}
		}
		return nil
	}
	if o.Kind != other {
		return shell.Usagef("--engine is %s; this command has bigfit and %s", o.Kind, other)
	}
	// Flags of our own solver have no meaning to the ranks, which run another program.
	if o.Ranks < 1 {
		return shell.Usagef("--ranks is %d; it must be at least 1", o.Ranks)
	}

	for _, name := range ours {
		if a.Given[name] {
			return shell.Usagef("--%s does not go with --engine %s", name, other)
		}
	}
	return nil
}

// settings returns the settings of a run that reports its stages to a.
func (o *EngineFlags) settings(a *shell.App) *engine.Settings {
	// After an interrupt the launcher must end before the folder of the task can be removed.
	a.StopsWithin(engine.StopTime)
	s := o.Settings
	s.Observer = a.Observer()
	return &s
}

// Eigenpairs computes pairs of the graph in a file, by this program with what change adds to
// its settings, or by the engine.
func (o *EngineFlags) Eigenpairs(ctx context.Context, a *shell.App, g *pipeline.GraphFile,
	s *pipeline.EigsSettings, change func(*lanczos.Settings)) (*lanczos.Result, error) {
	if o.Kind == engine.Ours {
		return a.Pipeline().Eigenpairs(ctx, &g.Graph.Graph, s, change)
	}
	// change sets fields of our solver; only the number of restarts has a meaning for the engine.
	var ours lanczos.Settings
	change(&ours)
	// A graph in a folder can be mapped by all ranks; another one is written to a temporary folder
	// beside the output.
	folder := g.Folder()
	task, err := a.Pipeline().External(&g.Graph.Graph, s, folder == "", filepath.Dir(o.Beside))
	if err != nil {
		return nil, err
	}

	if task.Laplacian.Graph() != g.W {
		folder = "" // with other weights
	}
	r, err := o.settings(a).Eigenpairs(ctx, task, folder, ours.MaxRestarts)
	return r, EngineFailure(err)
}

// Learner returns l with the engine as its solver.
func (o *EngineFlags) Learner(a *shell.App, l models.Learner) (models.Learner, error) {
	if o.Kind == engine.Ours {
		return l, nil
	}
	p, ok := l.(propagation.Learner)
	if !ok {
		return nil, shell.Usagef("--engine %s is for --model harmonic, lgc, tikhonov and poisson", o.Kind)
	}
	p.Solver = &engine.Systems{Settings: o.settings(a)}
	return p, nil
}

// Foresee ends a dry run before the graph of in is made, and says what linear systems would
// take; nil where there is no dry run.
func (o *EngineFlags) Foresee(a *shell.App, in *models.Input, neighbors int) error {
	if o.Kind == engine.Ours || !o.DryRun || in.Graph != nil {
		return nil
	}
	// The graph itself would take most of the time, so its size is guessed.
	n := in.Len()
	row := entriesARow * float64(neighbors)
	a.Note("a dry run does not make the graph of %d points; with %d neighbours it is taken to have "+
		"%.3g entries a row", n, neighbors, row)
	columns := max(len(in.Targets.Classes), in.Targets.Y.RawMatrix().Cols)
	return engine.Systems{Settings: o.settings(a)}.Foresee(n, int64(row*float64(n)), columns)
}

// entriesARow is about what a symmetrized graph has for each neighbour: 1.1 to 1.5 were measured.
const entriesARow = 1.5

// EngineFailure marks errors of the engine and of its runs as failures: the input is not to blame for
// a rank that died, a package that is missing or a folder that cannot be written.
func EngineFailure(err error) error {
	if errors.As(err, new(*engine.RankError)) || errors.As(err, new(*engine.MissingError)) ||
		errors.As(err, new(*engine.RunError)) {
		return shell.Output(err)
	}
	return err
}

// EngineDone reports whether an error is only that nothing was to be run.
func EngineDone(err error) bool { return errors.Is(err, engine.ErrDryRun) }

// EngineCommand is bigfit engine.
func EngineCommand(a *shell.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "engine show slepc|petsc",
		Short: "Print the program that the ranks of an engine run",
		Long: `SLEPc finds eigenpairs (bigfit eigs --engine slepc) and PETSc solves linear systems
(bigfit fit --engine petsc) as several processes under MPI, on one machine or on
many: --ranks is their number, --launcher what starts them, mpirun or for example
"srun --mpi=pmix --nodes 4". What they find is checked as bigfit eigs --verify does, and the
residuals of systems are computed again. docs/scale.md tells when it pays.

They need Python with slepc4py or petsc4py and NumPy: on Debian
apt install python3-slepc4py python3-petsc4py openmpi-bin. BIGFIT_PYTHON names the
interpreter, else it is /usr/bin/python3. As root, Open MPI is told that this is meant.

bigfit engine show slepc prints the worker; its argument is the folder of a task.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 || args[0] != "show" {
				return shell.Usagef("bigfit engine show slepc, or petsc")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var k engine.Kind
			if err := k.UnmarshalText([]byte(args[1])); err != nil || engine.Worker(k) == "" {
				return shell.Usagef("there is no engine %q; there are slepc and petsc", args[1])
			}
			return a.Print(map[string]string{"engine": args[1], "worker": engine.Worker(k)}, engine.Worker(k))
		},
	}

	return cmd
}
