package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/shards"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

func (a *app) graphCommand() *cobra.Command {
	var source graphSource
	var out, lists string
	var c checkpointFlags
	var grow appendOptions
	cmd := &cobra.Command{
		Use:   "graph X… -o graph.npz",
		Short: "Build the neighbour graph of a set of points",
		Long: `Build the weighted graph of nearest neighbours of the points in X and save its
weight matrix in the form of scipy.sparse.save_npz.

X is .npy, .npz (array "X", or file.npz:key), SciPy's sparse .npz, idx, svmlight,
csv, JSON Lines or parquet; all but .npz and parquet may be compressed with gzip or
zstd. Several files, a pattern in quotes ('emb/*.npy'), a folder, or a .txt or .list
with the name of a file on each line are one set of points, in the order of the
numbers in the names. Files of .npy are mapped into memory and may be larger than it.

With --lists the neighbours are not searched but read from a .npz file with the
arrays indices and distances (or sq_distances), n×k each, as FAISS and scikit-learn
give them; the points themselves in their lists are left out.

With --append OLD.npz the points join those of a graph that bigfit made, which -X
gives: their neighbours are searched among all points and the lists of old points
that they enter are mended. An exact method gives the graph of all points made anew,
with its t and principal components those of OLD; after nn-descent the recall is
printed. To append to the result, give the points of both files as one with -X.

The file holds, beside the matrix, the lists of neighbours, the state of the index
and the principal components, which SciPy ignores: fit --graph and predictions use
them.

--checkpoint DIR keeps the state of a long search there every ten seconds: the
rounds of nn-descent, or the parts of the points whose neighbours are known, which
costs an exact search by blocks up to twice the time. After an interruption the same
command with --resume goes on and ends with the same bits.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if lists == "" {
				if len(args) == 0 {
					return oneArgument("the file of the points")(cmd, args)
				}
				return nil
			}
			if len(args) > 0 {
				return fmt.Errorf("--lists takes the place of the points")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(c.check(), grow.check(args, lists), checkOutput(shards.Names(args).Inputs(grow.x.Inputs(lists, grow.from)...), out)); err != nil {
				return err
			}
			settings, err := decode(a, source.params, pipeline.GraphParams)
			if err != nil {
				return err
			}
			if err := a.openCheckpoint(cmd.Context(), &c); err != nil {
				return err
			}
			var x shards.Names
			if note := x.Take(args, nil, false); note != "" {
				a.note("%s", note)
			}
			var g *pipeline.Graph
			var hashes pipeline.Hashes
			if grow.from != "" {
				g, hashes, err = a.appendGraph(cmd.Context(), &grow, x, source.params)
			} else {
				g, hashes, err = a.graphOf(cmd.Context(), x, lists, &settings)
			}
			if g == nil {
				return err
			}
			notReached := err // knn.ErrRecall
			if err := a.write(cmd.Context(), func() error { return pipeline.SaveGraph(out, g, hashes, a.files) }); err != nil {
				return err
			}
			a.checkpoint.Clear()
			s := summarizeGraph(g.W, g.Components)
			s.Method, s.Recall = g.Settings.Method, g.Settings.Found
			return errors.Join(notReached, a.print(s, fmt.Sprintf("%s: %s", out, s)))
		},
	}
	source.flags(a, cmd.Flags())
	c.flags(cmd.Flags())
	cmd.Flags().StringVar(&lists, "lists", "", "`file` of ready neighbour lists, in place of points")
	cmd.Flags().StringVar(&grow.from, "append", "", "graph `file` that the points join; needs -X")
	cmd.Flags().VarP(&grow.x, "points", "X", "`file` of the points of the graph that others are appended to; may be repeated")
	cmd.Flags().StringVarP(&out, "output", "o", "graph.npz", "`file` to write")
	return cmd
}

// graphOf builds the graph of points, or of lists. With
// knn.ErrRecall comes the graph that was reached.
func (a *app) graphOf(ctx context.Context, points shards.Names, lists string, s *pipeline.GraphSettings) (*pipeline.Graph, pipeline.Hashes, error) {
	if lists == "" {
		x, err := a.readPoints(points, data.ReadOptions{})
		if err != nil {
			return nil, nil, err
		}
		g, err := a.pipeline().Graph(ctx, x, s)
		return g, pipeline.Hashes{pipeline.HashPoints: data.HashPoints(x)}, err
	}
	a.reads("lists", lists)
	nb, err := knn.ReadLists(lists, int64(a.memory))
	if err != nil {
		return nil, nil, err
	}
	k := s.Graph.K
	if k == 0 && s.Graph.Radius == 0 {
		k = min(pipeline.DefaultNeighbors, nb.K)
	}
	g := &pipeline.Graph{Settings: *s}
	if err := g.Cut(nb, k); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", lists, err)
	}
	return g, pipeline.Hashes{}, nil
}

// graphSummary describes a graph.
type graphSummary struct {
	Points     int     `json:"points"`
	Edges      int     `json:"edges"`
	Components int     `json:"components"`
	Largest    int     `json:"largest_component"`
	Isolated   int     `json:"isolated_points"`
	MinDegree  float64 `json:"min_degree"`
	MeanDegree float64 `json:"mean_degree"`
	MaxDegree  float64 `json:"max_degree"`
	// Method of the search, Auto where none was made here, and the recall of an
	// approximate one.
	Method knn.Method  `json:"method"`
	Recall *knn.Recall `json:"recall,omitempty"`
}

func summarizeGraph(w *sparse.CSR, c *sparse.Components) graphSummary {
	s := graphSummary{Points: w.Rows, Edges: w.NNZ() / 2, Components: c.Count(), Isolated: c.Isolated()}
	for _, size := range c.Sizes {
		s.Largest = max(s.Largest, size)
	}
	d := w.Degrees()
	s.MinDegree = d[0]
	for _, v := range d {
		s.MinDegree, s.MaxDegree = min(s.MinDegree, v), max(s.MaxDegree, v)
		s.MeanDegree += v / float64(len(d))
	}
	return s
}

func (s graphSummary) String() string {
	text := fmt.Sprintf("%d points, %d edges, degrees %.4g to %.4g with mean %.4g, %d components, the largest of %d points, %d isolated points",
		s.Points, s.Edges, s.MinDegree, s.MaxDegree, s.MeanDegree, s.Components, s.Largest, s.Isolated)
	if s.Recall != nil {
		text += fmt.Sprintf("; approximate, recall %s", s.Recall)
	}
	return text
}
