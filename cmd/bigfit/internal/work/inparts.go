// Package work does for the command line work that is cut into parts, or given to other programs:
// graphs and fits in parts, answers for one file of points at a time, job scripts, and the engines
// that run under MPI.
package work

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/parts"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// Options are the flags of a graph in parts.
type Options struct {
	Steps
	Overlap int
	Divide  bool
}

// Topic is the help on work in parts.
func Topic() *cobra.Command {
	return &cobra.Command{
		Use:   "parts",
		Short: "Graphs, linear models and predictions in parts: in little memory, or as jobs",
		Long: `Points that are too many for one search, or for the memory, are searched in parts:

  bigfit graph 'emb/*.npy' --parts 128 --work DIR -o graph.npz

Each point joins the --overlap parts nearest to it. The parts are searched one after the
other, and then neighbours across the borders of parts. The recall before and after that
step is printed. Where the recall stays below 0.98 and still grows, the step is repeated,
three times at most. --dry-run prints the expected memory, parts and time.

DIR holds the state of the run and a copy of the points, part by part. After a stop or a
kill the same command goes on, and the graph has the same bits. DIR can be removed when the
graph is made. bigfit status DIR says how far the run is.

On a cluster each part is a job. --divide prepares DIR. --part I or --part env makes one
part, in any order and on any machine that sees DIR and the points. --merge makes the graph
of the parts. These three need --work alone, as DIR knows the points and the settings.
--print-script writes the job scripts, which ask for the memory, time and cores of the
plan. --part missing lists the parts that are still to make, in the form of Slurm's
--array.

--part env takes the number of the part from the first of these variables that is set:
SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, LSB_JOBINDEX (which counts from 1), and, for the
processes of one job, OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID. With fewer processes
than parts, process r of R makes the parts r, r + R, …

A linear model needs sums over the rows of the points, and its labels:

  bigfit fit --model laprls-linear 'emb/*.npy' y.npy --graph g/ --parts 20 --work DIR \
      --gamma-a 0.01 --gamma-i 1 --scaling per-edge -o model.npz

The weights γ must be given. With other weights the sums in DIR are used again. The model
has no probabilities.

Label spreading (lgc) and harmonic functions need the graph and the labels, and are divided
by classes:

  bigfit fit --model lgc --graph g/ y.npy --parts 7 --work DIR --predictions answers.npy

The graph is mapped and read once a step. Each part solves for its classes in single
precision and keeps the best of them for every point; the merge writes the answers. There
is no model. The first part also writes the graph to DIR in an order that keeps neighbours
near each other. Parts of nine to sixteen classes take the least time, of fewer the least
memory: 8 bytes a class and point (harmonic: 16), and 16 a point.

bigfit predict --part I answers for one of the files of points, with {part} in the name of
the output.`,
	}
}

// Flags adds the flags.
func (o *Options) Flags(f *pflag.FlagSet) {
	o.flags(f)
	f.IntVar(&o.Overlap, "overlap", 2, "parts that every point is in")
	f.BoolVar(&o.Divide, "divide", false, "divide the points into parts, and make none")
	f.BoolVar(&o.DryRun, "dry-run", false, "print the memory and time that the run would take, and stop")
}

// Asked reports whether a graph is to be made in parts.
func (o *Options) Asked() bool { return o.Parts != 0 || o.Work != "" }

// Check returns an error for flags that do not go together. others are flags that are given
// and do not go with parts.
func (o *Options) Check(given map[string]bool, others ...string) error {
	if !o.Asked() {
		for _, name := range []string{"overlap", "part", "divide", "merge", "dry-run", "print-script"} {
			if given[name] {
				return shell.Usagef("--%s is for graphs in parts: give --parts and --work", name)
			}
		}
		return nil
	}

	// Without this check a flag of an undivided search would be dropped.
	for _, name := range others {
		if given[name] {
			return shell.Usagef("--%s does not go with --parts", name)
		}
	}

	if o.Work == "" {
		return shell.Usagef("--parts needs a folder for its state: --work DIR")
	}
	return o.checkOne("--divide, ", o.Divide)
}

// NeedsPoints reports whether the command line must name the points. A folder that an earlier
// step began knows its points.
func (o *Options) NeedsPoints() bool { return o.Parts != 0 }

// command is one run of bigfit graph --parts.
type command struct {
	*shell.App
	o        *Options
	out      string
	settings parts.Settings
}

// Graph does what the flags ask for. It returns the graph and the hashes of its points if
// that was made in this step, else nil.
func Graph(ctx context.Context, a *shell.App, o *Options, args []string, s *pipeline.GraphSettings,
	out string) (*pipeline.Graph, pipeline.Hashes, error) {
	if s.Standardize || s.PCA > 0 || s.Recall > 0 {
		return nil, nil, shell.Usagef("a graph in parts takes neither --standardize nor --pca nor --recall; save such " +
			"points first, and take more --overlap for a higher recall")
	}
	// The settings of the first step are kept in the folder; later steps need its name alone.
	c := &command{App: a, o: o, out: out}
	c.settings = parts.Settings{Parts: o.Parts, Overlap: o.Overlap, Metric: s.Metric, Method: s.Method,
		Graph: s.Graph, Seed: a.Seed}
	if c.settings.Graph.K == 0 && c.settings.Graph.Radius == 0 {
		c.settings.Graph.K = pipeline.DefaultNeighbors
	}
	if o.Parts == 0 {
		var err error
		if c.settings, args, err = parts.Made(o.Work); err != nil {
			return nil, nil, err
		}
	}

	numbers, err := o.numbers(a, c.settings.Parts)
	if err != nil {
		return nil, nil, err
	}
	run, err := c.open(ctx, args)
	if err != nil {
		return nil, nil, err
	}

	// Each step prints or makes its own result; without a step the command does all of them.
	switch {
	case o.Script != "":
		return nil, nil, c.script(run, args)
	case o.DryRun:
		return nil, nil, c.plan(run, true)
	case o.Part == missing:
		return nil, nil, c.missing(run)
	case o.Part != "" || o.Divide:
		if err := run.Divide(ctx); err != nil {
			return nil, nil, err
		}
		return nil, nil, run.Search(ctx, numbers)
	}

	return c.all(ctx, run)
}

// open reads the points and opens the folder. A job of one part checks its own points only: the
// step that began the folder checked all of them.
func (c *command) open(ctx context.Context, args []string) (*parts.Run, error) {
	var names shards.Names
	c.TakePoints(&names, args)
	x, err := c.ReadPoints(names, data.ReadOptions{Unchecked: c.o.Parts == 0 && c.o.Part != ""})
	if err != nil {
		return nil, err
	}
	// The folder keeps absolute names: jobs may start in other folders.
	var files []string
	for _, name := range names {
		full, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		files = append(files, full)
	}

	return parts.Open(c.o.Work, parts.Input{X: x, Files: files}, c.settings, int64(c.Memory), c.Observer(),
		func(fn func() error) error { return c.Write(ctx, fn) })
}

// missing prints the parts to make.
func (c *command) missing(run *parts.Run) error {
	if !run.Divided() {
		return fmt.Errorf("%s: the points are not divided yet; begin with --divide", c.o.Work)
	}
	list, err := run.Missing()
	if err != nil {
		return err
	}
	return printMissing(c.App, list, c.settings.Parts)
}

// plan prints what the run takes, as the result or as notes.
func (c *command) plan(run *parts.Run, result bool) error {
	p, err := run.Plan()
	if err != nil {
		return err
	}
	if result {
		return c.Print(p, p.String())
	}
	c.Notes(strings.Split(strings.TrimSuffix(p.String(), "\n"), "\n")...)
	return nil
}

// all makes the missing parts and then the graph. With --merge all parts must be there.
func (c *command) all(ctx context.Context, run *parts.Run) (*pipeline.Graph, pipeline.Hashes, error) {
	if c.o.Merge && !run.Divided() {
		return nil, nil, fmt.Errorf("%s: nothing to merge yet; begin with --divide", c.o.Work)
	}
	if err := errors.Join(c.plan(run, false), run.CheckPoints()); err != nil {
		return nil, nil, err
	}

	if !c.o.Merge {
		if err := run.Divide(ctx); err != nil {
			return nil, nil, err
		}
		all := make([]int, c.settings.Parts)
		for p := range all {
			all[p] = p
		}
		if err := run.Search(ctx, all); err != nil {
			return nil, nil, err
		}
	}

	// The recall is estimated before and after the search across borders.
	recall, err := run.Merge(ctx)
	var lacks *checkpoint.MissingError
	if errors.As(err, &lacks) {
		return nil, nil, fmt.Errorf("%s: the lists of %d of %d parts are missing: %s; make them "+
			"with\n  bigfit graph --work %s --part %d\nor all of them on this machine by the command "+
			"without --merge",
			c.o.Work, len(lacks.Missing), lacks.Parts, checkpoint.Ranges(lacks.Missing), quote(c.o.Work),
			lacks.Missing[0])
	}
	if err != nil {
		return nil, nil, err
	}

	joined, err := run.Join(ctx)
	if err != nil {
		return nil, nil, err
	}

	// Neighbours across borders are found by descent, so the graph counts as approximate, with the
	// recall that was measured.
	g := &pipeline.Graph{Settings: pipeline.GraphSettings{Metric: c.settings.Metric, Graph: joined.Edges,
		Method: knn.NNDescent, Found: &recall.After}}
	g.Graph = *models.GraphOf(joined.W, joined.Components)
	return g, pipeline.Hashes{pipeline.HashPoints: run.Hash()}, nil
}

// numbersOf returns the parts that the value of --part names, among all parts.
func numbersOf(a *shell.App, part string, all int) ([]int, error) {
	if part == "env" {
		e, err := fromEnvironment()
		if err != nil {
			return nil, err
		}
		var list []int
		// Process r of R makes the parts r, r+R, …: with equal parts every process has the same
		// work, up to one part.
		for p := e.number; p < all; p += e.processes(all) {
			list = append(list, p)
		}
		if e.number >= all && e.array {
			return nil, shell.Usagef("%s is %d and there are %d parts, 0 to %d", e.name, e.number, all, all-1)
		}
		a.Note("part: %s", e.describe(list))
		return list, nil
	}

	p, err := strconv.Atoi(part)
	if err != nil || p < 0 || p >= all {
		return nil, shell.Usagef("--part is %q; it must be a number from 0 to %d, or env", part, all-1)
	}
	return []int{p}, nil
}
