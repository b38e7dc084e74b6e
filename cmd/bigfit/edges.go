package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// edgesOptions are the flags of bigfit edges.
type edgesOptions struct {
	read data.EdgeOptions
	out  string
}

func (a *app) edgesCommand() *cobra.Command {
	var o edgesOptions
	cmd := &cobra.Command{
		Use:   "edges EDGES.csv -o graph.npz",
		Short: "Make a graph of a table of its edges",
		Long: `Make a graph of a table with a row for each edge, as networkx, SNAP and databases write
it: csv with any separator, JSON Lines or parquet. The commands that take a graph take the
result: fit --graph, eigs, solve, cluster, embed, features.

The ends of the edges are in columns with the usual names (source and target, from and to,
src and dst, …), in the only two columns, or in those that --from and --to name. They are
texts or integers. Weights are in a column weight, or in the one that --weight names; they
say how close two vertices are. Other columns are not read.

Edges have no direction. If each is there both ways, with one weight, it counts once. If
not, weights of rows with the same ends add up. How many did is on stderr.

The vertices are the ends of the edges, in the order of the table. Their ids are written to
graph.ids.csv beside graph.npz, where fit --graph without points finds them:

  bigfit edges roads.csv -o roads.npz
  bigfit fit --model harmonic --graph roads.npz labels.csv -o model.npz

--ids gives the ids of all vertices, in their order: those of the points in X for fit X
--graph. Vertices without an edge are in the graph then, too.`,
		Args: shell.OneArgument("the table of the edges"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.edges(cmd.Context(), args[0], &o)
		},
	}

	f := cmd.Flags()
	f.StringVar(&o.read.From, "from", "", "`column` of the one end of each edge (default: by its name)")
	f.StringVar(&o.read.To, "to", "", "`column` of the other end (default: by its name)")
	f.StringVar(&o.read.Weight, "weight", "", "`column` of the weights, or none for weights one (default: by its name)")
	f.BoolVar(&o.read.NoHeader, "no-header", false, "the first line of a csv file is an edge")
	a.Points.IDFlag(f)
	f.StringVarP(&o.out, "output", "o", "graph.npz", "`file` to write; a name that ends with / is a "+
		"folder of .npy files, which are mapped and not read")
	return cmd
}

// edges makes a graph of the edges in a table.
func (a *app) edges(ctx context.Context, path string, o *edgesOptions) error {
	if err := shell.CheckGraph([]string{path}, o.out); err != nil {
		return err
	}
	given, err := a.Points.Identify(a.App)
	if err != nil {
		return err
	}
	names := pipeline.VertexFile(o.out)
	if err := shell.CheckAnswers([]string{path}, []string{names}); err != nil {
		return err
	}

	a.Reads("edges", path)
	o.read.Vertices = given
	o.read.Limit = a.Left()
	e, err := data.ReadEdges(path, o.read)
	if err != nil {
		return err
	}
	for _, text := range e.Notes {
		if warning, ok := strings.CutPrefix(text, "warning: "); ok {
			a.Warn(warning)
			continue
		}
		a.Note("%s: %s", path, text)
	}

	a.Points.Names = e.IDs
	counts := make([]int64, e.W.Rows)
	for i := range counts {
		counts[i] = e.W.Ptr[i+1] - e.W.Ptr[i]
	}
	answers := pipeline.Answers{Columns: []pipeline.Column{{Name: "edges", Values: counts}}}
	if err := a.WriteAnswers(names, answers, nil); err != nil {
		return err
	}
	if err := a.Write(ctx, func() error {
		if pipeline.IsFolderName(o.out) {
			return sparse.WriteFolder(o.out, e.W, nil)
		}
		return sparse.WriteNPZ(o.out, e.W, nil)
	}); err != nil {
		return err
	}
	s := summary.OfGraph(e.W, e.W.Components())
	return a.Print(s, fmt.Sprintf("%s: %s; the ids of its points are in %s", o.out, s, names))
}
