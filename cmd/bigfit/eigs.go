package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/progress"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/work"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/engine"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// eigsRun are the flags of bigfit eigs beside the settings of the pairs.
type eigsRun struct {
	shell.CheckpointFlags
	out, start    string
	restarts      int
	verify, graph string
	engine        work.EngineFlags
}

func (a *app) eigsCommand() *cobra.Command {
	o := pipeline.EigsSettings{Tolerance: shell.DefaultTolerance, Power: 1}
	var r eigsRun
	cmd := &cobra.Command{
		Use:   "eigs graph.npz -n 100 -o eigs.npz",
		Short: "Compute the smallest eigenpairs of a graph's Laplacian",
		Long: `Compute the smallest eigenpairs, -n of them, of the Laplacian of a graph: any
symmetric non-negative matrix saved by bigfit graph or scipy.sparse.save_npz.

The result holds the values, the residuals and the vectors (a column a pair), and for
each point its component and degree. Each component of the graph gives an exact null
vector; these come first. Residuals and orthogonality are recomputed, and a search on
the complement of the result makes sure that no pair was left out.

--checkpoint DIR keeps the state of the run, first after ten seconds. After an
interruption the same command with --resume goes on and ends with the same bits. --start
takes pairs of an earlier run: fewer pairs of the same graph, or pairs of the graph
before points were added at its end.

--precision single keeps vectors in float32, in memory and in the file: a run takes about
half of the memory, and less time on large graphs. Values stay accurate to some 1e-10·‖L‖.
Rounding leaves residuals of up to 1e-6·‖L‖, the default of --tolerance then.

If not all pairs are within the tolerance after the last restart, the file holds
the first ones that are, the exit code is 3 and the checkpoint stays: --resume
with more --restarts goes on.

bigfit eigs --verify FILE graph.npz checks pairs that are there already, of
whichever program, and exits with 1 if they are not the smallest ones.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			// The argument and --graph name the same file; both at once fall through to the error.
			if len(args) == 1 && !a.Given["graph"] {
				r.graph = args[0]
				args = nil
			}

			if err := a.checkBelow(o.Below); err != nil {
				return err
			}
			switch {
			case len(args) > 0 || r.graph == "":
				return shell.OneArgument("the file of the graph")(cmd, args)
			case r.verify != "":
				return a.verify(cmd.Context(), &r, o, cmd.Flags().Changed("laplacian"))
			case o.Power < 1:
				return shell.Usagef("--power is %d; it must be at least 1", o.Power)
			case r.restarts < 1:
				return shell.Usagef("--restarts is %d; it must be at least 1", r.restarts)
			}

			if o.Precision == pipeline.Single {
				if err := a.checkSingle(&o); err != nil {
					return err
				}
			}

			return a.eigs(cmd.Context(), r.graph, &r, o)
		},
	}

	shell.Former(cmd, "k", "-k is the number of neighbours in all commands; the number of eigenpairs "+
		"is -n, as in bigfit eigs graph.npz -n 100")
	shell.Former(cmd, "X", "eigs takes a graph; make one of points with bigfit graph")
	f := cmd.Flags()
	shell.EigsFlags(f, &o)
	f.IntVarP(&o.K, "pairs", "n", 100, "number of eigenpairs")
	f.Float64Var(&o.Below, "below", 0, "find all eigenpairs with values below this, in place of -n")
	f.BoolVar(&o.Largest, "largest", false, "the largest eigenpairs in place of the smallest")
	shell.NameFlag(f, &o.Precision, "precision", "precision of the vectors; single takes half of the memory")
	f.IntVar(&o.Power, "power", o.Power, "power p of the Laplacian, which is never formed")
	f.StringVarP(&r.out, "output", "o", "eigs.npz", "`file` to write")
	r.CheckpointFlags.Flags(f)
	f.IntVar(&r.restarts, "restarts", 60, "restarts after which the run gives up")
	r.engine.Flags(f, engine.SLEPc)
	f.StringVar(&r.start, "start", "", "`file` of eigenpairs to start from")
	f.StringVar(&r.verify, "verify", "", "`file` of eigenpairs to check")
	f.StringVar(&r.graph, "graph", "", "`file` of the graph, in place of the argument")
	return cmd
}

// checkBelow refuses a bound that is none, and flags that do not go with one.
func (a *app) checkBelow(bound float64) error {
	if !a.Given["below"] {
		return nil
	}
	if !(bound > 0) || math.IsInf(bound, 1) {
		return shell.Usagef("--below is %v; it must be positive and finite: the eigenvalues of a Laplacian "+
			"begin at 0", bound)
	}
	for _, flag := range []string{"pairs", "largest", "verify", "checkpoint"} {
		if a.Given[flag] {
			return shell.Usagef("--below does not go with --%s: it finds all pairs below a value, and their "+
				"number is not known before; leave one of both out", flag)
		}
	}
	return nil
}

// checkSingle refuses flags that do not go with vectors of float32, and sets their default tolerance.
func (a *app) checkSingle(o *pipeline.EigsSettings) error {
	for _, flag := range []string{"start", "engine"} {
		if a.Given[flag] {
			return shell.Usagef("--precision single does not go with --%s, which works in double precision; leave one of "+
				"both out", flag)
		}
	}
	switch {
	case !a.Given["tolerance"]:
		o.Tolerance = shell.SingleTolerance
	case o.Tolerance < lanczos.SingleTolerance:
		return shell.Usagef("--tolerance is %g; vectors of --precision single are rounded, which leaves residuals of some 1e-7·‖L‖: "+
			"give %g at least, or take --precision double", o.Tolerance, lanczos.SingleTolerance)
	}
	return nil
}

// eigs computes and saves eigenpairs.
func (a *app) eigs(ctx context.Context, path string, run *eigsRun, o pipeline.EigsSettings) error {
	if err := run.CheckFiles([]string{path, run.start}, run.out); err != nil {
		return err
	}
	if err := errors.Join(run.Check(), run.engine.Check(a.App, engine.SLEPc, "checkpoint", "start", "largest",
		"power", "below"), cmp.Or(shell.CheckOutput([]string{path, run.start}, run.out),
		shell.CheckArchive("eigenpairs", run.out))); err != nil {
		return err
	}
	a.Reads(pipeline.HashGraph, path)
	g, err := pipeline.OpenGraph(path, int64(a.Memory), nil)
	if err != nil {
		return err
	}
	w := g.W
	if o.Below == 0 && (o.K < 1 || o.K > w.Rows) {
		return fmt.Errorf("%d eigenpairs asked of %s with %d points; -n must be between 1 and the "+
			"number of points", o.K, path, w.Rows)
	}

	// The hashes of the graph and, where it is known, of its points go into the file: fit refuses
	// pairs of another graph by them.
	hashes := pipeline.Hashes{pipeline.HashGraph: data.HashPoints(w)}
	if g.Made != nil {
		hashes[pipeline.HashPoints] = g.Made[pipeline.HashPoints]
		o.Graph = g.Settings
	}

	// Known vectors and a checkpoint both start the search nearer to its end; the pairs are
	// checked afresh whatever it began with.
	o.Seed = a.Seed
	run.engine.Beside = run.out
	known, err := a.startVectors(run.start, w)
	if err != nil {
		return err
	}
	if err := a.OpenCheckpoint(ctx, &run.CheckpointFlags); err != nil {
		return err
	}

	r, solveErr := run.engine.Eigenpairs(ctx, a.App, g, &o, func(s *lanczos.Settings) {
		s.Known = known
		s.MaxRestarts = run.restarts
	})
	if work.EngineDone(solveErr) {
		return nil
	}
	if !models.Usable(solveErr) {
		return solveErr
	}

	// The number of pairs below a bound is part of the answer.
	if o.Below != 0 {
		o.K = len(r.Values)
	}

	// Without convergence the leading pairs within the tolerance are still right: they are saved,
	// and the exit code tells that some are missing.
	if solveErr != nil {
		if !r.KeepConverged(o.Tolerance, o.Largest) {
			return fmt.Errorf("%w; no pair is within the tolerance, so %s is not written", solveErr, run.out)
		}
		solveErr = fmt.Errorf("%w; %s holds the first %d of %d pairs", solveErr, run.out, len(r.Values), o.K)
		if a.Checkpoint.Unfinished() {
			solveErr = fmt.Errorf("%w; --resume with more --restarts goes on from %s", solveErr,
				run.Checkpoint)
		}
	}

	s := summarizeEigs(r, o.K)
	s.Below = o.Below
	o.Certificate = &s
	if err := a.Write(ctx, func() error {
		return pipeline.SaveEigs(run.out, r, &g.Graph.Graph, &o, hashes,
			a.Files)
	}); err != nil {
		return err
	}
	if solveErr == nil {
		a.Checkpoint.Clear() // the result is there; nothing to go on with
	}
	s.Stages = a.Progress.Stages()
	if err := a.Print(s, fmt.Sprintf("%s: %s", run.out, s)); err != nil {
		return err
	}
	return solveErr
}

// startVectors reads eigenvectors to begin with and carries them over to the
// points of w; nil without a file.
func (a *app) startVectors(path string, w *sparse.CSR) (*mat.Dense, error) {
	if path == "" {
		return nil, nil
	}
	f, err := lanczos.Load(path, int64(a.Memory))
	if err != nil {
		return nil, err
	}
	// A graph with added points has longer vectors; the new entries are filled in from neighbours.
	known, err := lanczos.Extend(w, f.Result.Vectors)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return known, nil
}

// eigsSummary describes computed eigenpairs: their
// certificate.
type eigsSummary struct {
	Pairs         int     `json:"pairs"` // all within the tolerance
	Asked         int     `json:"asked"`
	Nullity       int     `json:"nullity"`
	Last          float64 `json:"last_value"`
	MaxResidual   float64 `json:"max_residual"`
	Norm          float64 `json:"norm"`
	Orthogonality float64 `json:"orthogonality"`
	// Counted: their number is the number of eigenvalues below Below, or below a value behind the last one, by
	// the inertia of a factor.
	// Exact: the whole spectrum was computed. Next is an eigenvalue beyond the
	// last one; none below it was found.
	Below    float64  `json:"below,omitempty"`
	Counted  bool     `json:"counted,omitempty"`
	Exact    bool     `json:"exact"`
	Next     *float64 `json:"next_value,omitempty"`
	Degree   int      `json:"filter_degree"`
	Products int      `json:"products"`
	Restarts int      `json:"restarts"`
	By       string   `json:"by,omitempty"` // another program
	// Stages of the run with their times; only as JSON on stdout.
	Stages []progress.Timing `json:"stages,omitempty"`
}

func summarizeEigs(r *lanczos.Result, asked int) eigsSummary {
	s := eigsSummary{Pairs: len(r.Values), Asked: asked, Nullity: r.Nullity, Last: r.Values[len(r.Values)-1],
		MaxResidual: r.MaxResidual(), Norm: r.Norm, Orthogonality: r.Orthogonality,
		Exact: r.Certificate.Exact, Counted: r.Certificate.Counted, Degree: r.Degree, Products: r.Products, Restarts: r.Restarts, By: r.By}
	// JSON has no infinity: a search that found nothing beyond leaves the value out.
	if next := r.Certificate.Next; !math.IsInf(next, 0) {
		s.Next = &next
	}
	return s
}

func (s eigsSummary) String() string {
	relative := 0.0
	if s.Norm > 0 {
		relative = s.MaxResidual / s.Norm
	}
	pairs := fmt.Sprintf("%d pairs", s.Pairs)
	if s.Pairs < s.Asked {
		pairs = fmt.Sprintf("only %d of %d pairs converged", s.Pairs, s.Asked)
	}
	if s.Below != 0 {
		pairs = fmt.Sprintf("%d pairs below %g (%s)", s.Pairs, s.Below, s.certifiedBy())
	}
	text := fmt.Sprintf("%s, %d of them exact null vectors, up to λ = %.6g; max ‖Lv−λv‖ = %.2e "+
		"(%.2e·‖L‖), max |VᵀV−I| = %.2e, both recomputed",
		pairs, s.Nullity, s.Last, s.MaxResidual, relative, s.Orthogonality)
	if s.Next != nil {
		how := "found by a search on the complement"
		switch {
		case s.Exact:
			how = "from the whole spectrum"
		case s.Counted:
			how = "as many below it as the inertia of a factor counts"
		case s.Pairs < s.Asked:
			how = "not converged"
		}
		text += fmt.Sprintf("; the next eigenvalue is about %.6g, %s", *s.Next, how)
	}

	// Degree 0 without the whole spectrum means that no polynomial was used but the inverse.
	filter := fmt.Sprintf("filter degree %d", s.Degree)
	if s.Degree == 0 && !s.Exact && s.Pairs > s.Nullity {
		filter = "inverse iteration"
	}
	if s.By != "" {
		return text + fmt.Sprintf("; found by %s, %d restarts", s.By, s.Restarts)
	}
	return text + fmt.Sprintf("; %s, %d products, %d restarts", filter, s.Products, s.Restarts)
}

// certifiedBy says why there are no other pairs below the bound.
func (s eigsSummary) certifiedBy() string {
	switch {
	case s.Pairs < s.Asked:
		return "not converged: there may be others"
	case s.Exact:
		return "certified by the whole spectrum"
	case s.Counted:
		return "certified by the inertia of a factor of L − λI, which counts as many"
	}
	return "certified by a search on the complement, which found no other"
}
