package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/work"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/knn/lists"
	"github.com/bigfit/bigfit/pipeline"
)

const graphHelp = `Build the weighted graph of the nearest neighbours of the points in X, and save its
weight matrix in the form of scipy.sparse.save_npz. X is a file, several files, a pattern
in quotes ('emb/*.npy') or a folder; bigfit help data lists the formats.

--lists reads the neighbours instead of searching for them. The .npz file has n×k arrays:
indices, and distances, sq_distances (squared) or similarities (inner products), as FAISS
and scikit-learn give them. Two .npy files are given as --lists I.npy,D.npy. Distances
that descend along the rows are read as inner products. FAISS gives squared distances for
L2, which only --lists-kind squared can say. How the values were read is on stderr. A
point in its own list is left out, and −1 ends a list early. Inner products s of unit
vectors become distances √(2−2s). Of other vectors they only order the neighbours, which
is enough for the weights one and jaccard.

--method auto takes all pairs or a tree, which are exact. It takes nn-descent, which may
miss neighbours, only if that is faster and an exact search would take longer than
--patience. A line on stderr says so, and the result has the method and the recall.
Which search is faster depends on the machine; --method brute is exact everywhere.
nn-descent makes one pass, whatever its recall, unless --recall asks for a share.

--append OLD.npz adds the points to a graph that bigfit made; -X gives the points of that
graph. The new points are searched for their neighbours among all points, and the lists
of old points that they enter are mended. With an exact method the graph equals that of
all points made anew, with the t and the principal components of OLD. After nn-descent the
recall is printed. To append to the result, give the points of both files as one with -X.

The file also holds the lists of neighbours, the state of the index and the principal
components. SciPy ignores them; fit --graph and predictions use them.

--checkpoint DIR keeps the state of a long search every ten seconds: the rounds of
nn-descent, or the parts of the points whose neighbours are known. The latter makes an
exact search take up to twice the time. After an interruption the same command with
--resume goes on and ends with the same bits.

--parts N --work DIR searches in parts, in little memory or as jobs: bigfit help parts.`

// graphOptions are the flags of bigfit graph.
type graphOptions struct {
	source     shell.GraphSource
	checkpoint shell.CheckpointFlags
	lists, out string
	kind       lists.Kind // of the values in lists
	grow       appendOptions
	parts      work.Options
}

func (a *app) graphCommand() *cobra.Command {
	var o graphOptions
	cmd := &cobra.Command{
		Use:   "graph X… -o graph.npz",
		Short: "Build the neighbour graph of a set of points",
		Long:  graphHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.take(cmd, &args); err != nil {
				return err
			}
			return a.graph(cmd.Context(), args, &o)
		},
	}

	f := cmd.Flags()
	o.source.Flags(a.App, f)
	o.checkpoint.Flags(f)
	o.parts.Flags(f)
	f.StringVar(&o.lists, "lists", "", "`file` of ready neighbour lists, in place of points")
	shell.NameFlag(f, &o.kind, "lists-kind",
		"values in --lists; auto goes by their names and order")
	f.StringVar(&o.grow.from, "append", "", "graph `file` that the points join; needs -X")
	f.VarP(&o.grow.x, "points", "X", shell.PointsHelp+"; with --append those of the graph that is given")
	f.StringVarP(&o.out, "output", "o", "graph.npz", "`file` to write; a name that ends with / is a "+
		"folder of .npy files, which are mapped and not read")
	return cmd
}

// take takes the arguments; -X stands for them but with --append.
func (o *graphOptions) take(cmd *cobra.Command, args *[]string) error {
	// Without --append both ways of naming points mean the same.
	if o.grow.from == "" {
		if len(*args) > 0 && len(o.grow.x) > 0 {
			return shell.Usagef("-X and %s both give points; give all in one way, or add the "+
				"arguments to the graph of -X with --append", strings.Join(*args, ", "))
		}
		*args = append(*args, o.grow.x...)
		o.grow.x = nil
	}

	switch {
	case o.parts.Asked() && !o.parts.NeedsPoints() && len(*args) == 0:
		return nil
	case o.lists == "" && len(*args) == 0:
		return shell.OneArgument("the file of the points")(cmd, *args)
	case o.lists != "" && len(*args) > 0:
		return shell.Usagef("--lists takes the place of the points")
	}

	return nil
}

func (a *app) graph(ctx context.Context, args []string, o *graphOptions) error {
	inputs := o.grow.x.Inputs(append(strings.Split(o.lists, ","), o.grow.from)...)
	if err := errors.Join(o.parts.Check(a.Given, "lists", "append", "checkpoint", "resume"),
		o.checkpoint.Check(), o.grow.check(args, o.lists)); err != nil {
		return err
	}
	inputs = shards.Names(args).Inputs(inputs...)
	if o.parts.Script != "" {
		inputs = shell.Present(inputs)
	}
	if err := errors.Join(o.checkpoint.CheckFiles(inputs, o.out),
		shell.CheckFolder("work", o.parts.Work, inputs, o.out)); err != nil {
		return err
	}
	if err := shell.CheckGraph(inputs, o.out); err != nil {
		return err
	}
	settings, err := shell.Decode(a.App, o.source.Params, pipeline.GraphParams)
	if err != nil {
		return err
	}
	if err := a.OpenCheckpoint(ctx, &o.checkpoint); err != nil {
		return err
	}

	var x shards.Names
	a.TakePoints(&x, args)
	// A graph below the recall that was asked for is written, and the exit code says so.
	g, hashes, notReached := a.graphOf(ctx, x, &settings, o)
	if g == nil {
		return notReached
	}
	if err := a.Write(ctx, func() error {
		return pipeline.SaveGraph(o.out, g, hashes,
			a.Files)
	}); err != nil {
		return err
	}

	a.Checkpoint.Clear()
	s := summary.OfGraph(g.W, g.Components)
	s.Method = g.Settings.Method
	s.Recall = g.Settings.Found
	return errors.Join(notReached, a.Print(s, fmt.Sprintf("%s: %s", o.out, s)))
}

// graphOf builds the graph of points, of lists or of points that join another. With
// knn.ErrRecall comes the graph that was reached.
func (a *app) graphOf(ctx context.Context, points shards.Names, s *pipeline.GraphSettings,
	o *graphOptions) (*pipeline.Graph, pipeline.Hashes, error) {
	switch {
	case o.parts.Asked():
		return work.Graph(ctx, a.App, &o.parts, points, s, o.out)
	case o.grow.from != "":
		return a.appendGraph(ctx, &o.grow, points, o.source.Params)
	case o.lists != "":
		a.Reads("lists", o.lists)
		return a.Pipeline().GraphOfLists(o.lists, o.kind, s)
	}

	x, err := a.ReadPoints(points, data.ReadOptions{})
	if err != nil {
		return nil, nil, err
	}
	g, err := a.Pipeline().Graph(ctx, x, s)
	return g, pipeline.Hashes{pipeline.HashPoints: data.HashPoints(x)}, err
}

// appendGraph makes a graph of the points that the graph in the file o.from joins, which
// are in the files o.x, and of those in the files x.
func (a *app) appendGraph(ctx context.Context, o *appendOptions, x shards.Names,
	p shell.ParamFlags) (*pipeline.Graph, pipeline.Hashes, error) {
	// Settings of an appended graph are the old graph's; a flag that contradicts them is refused.
	var none pipeline.GraphSettings
	f, err := a.GivenGraph(o.from, p, &none)
	if err != nil {
		return nil, nil, err
	}
	if err := f.ReadKept(int64(a.Memory)); err != nil {
		return nil, nil, err
	}
	old, err := a.ReadPoints(o.x, data.ReadOptions{})
	if err != nil {
		return nil, nil, err
	}

	// The new points must have the columns of the old ones.
	_, d := old.Dims()
	fresh, err := a.ReadMore("new points", x, data.ReadOptions{Columns: d})
	if err != nil {
		return nil, nil, err
	}
	return a.Pipeline().AppendTo(ctx, f, old, o.x.String(), fresh)
}

// appendOptions say what points are appended to.
type appendOptions struct {
	from string
	x    shards.Names
}

func (o *appendOptions) check(args []string, lists string) error {
	switch {
	case o.from == "":
		return nil
	case len(o.x) == 0:
		return shell.Usagef("--append %s needs the points of that graph too (-X); the file has their "+
			"neighbours alone", o.from)
	case lists != "" || len(args) == 0:
		return shell.Usagef("--append needs the file of the new points, and no --lists")
	}
	return nil
}
