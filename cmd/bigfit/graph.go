package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/shards"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/lists"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

func (a *app) graphCommand() *cobra.Command {
	var source graphSource
	var out, from string
	var kind lists.Kind
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
arrays indices and distances (or sq_distances, squared, or similarities, inner
products), n×k each, as FAISS and scikit-learn give them, or from two .npy files:
--lists I.npy,D.npy. Distances that descend along the rows are read as inner
products; what FAISS gives for L2 is squared, which only --lists-kind squared can
say; how the values were read is on stderr. The points themselves in their lists are
left out, and a list may end early with indices −1. Inner products s of unit vectors
become distances √(2−2s); of other vectors they only order the neighbours, which is
enough for the weights one and jaccard.

--method auto takes all pairs or a tree, which are exact. Only where that would take
longer than --patience and nn-descent less does it take nn-descent, which may miss
neighbours: a line on stderr says so, and method and recall are in the result. How long a
search takes depends on the machine; --method brute is exact on all. nn-descent makes
one pass, whatever recall that reaches, unless --recall asks for a share.

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
			if from == "" {
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
			inputs := grow.x.Inputs(append(strings.Split(from, ","), grow.from)...)
			if err := errors.Join(c.check(), grow.check(args, from), checkOutput(shards.Names(args).Inputs(inputs...), out)); err != nil {
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
				g, hashes, err = a.graphOf(cmd.Context(), x, &settings, from, kind)
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
	cmd.Flags().StringVar(&from, "lists", "", "`file` of ready neighbour lists, in place of points")
	nameFlag(cmd.Flags(), &kind, "lists-kind", "values in --lists: auto goes by their names and order, distances, squared, inner-product")
	cmd.Flags().StringVar(&grow.from, "append", "", "graph `file` that the points join; needs -X")
	cmd.Flags().VarP(&grow.x, "points", "X", "`file` of the points of the graph that others are appended to; may be repeated")
	cmd.Flags().StringVarP(&out, "output", "o", "graph.npz", "`file` to write")
	return cmd
}

// graphOf builds the graph of points, or of lists in the file from. With
// knn.ErrRecall comes the graph that was reached.
func (a *app) graphOf(ctx context.Context, points shards.Names, s *pipeline.GraphSettings, from string, kind lists.Kind) (*pipeline.Graph, pipeline.Hashes, error) {
	if from == "" {
		x, err := a.readPoints(points, data.ReadOptions{})
		if err != nil {
			return nil, nil, err
		}
		g, err := a.pipeline().Graph(ctx, x, s)
		return g, pipeline.Hashes{pipeline.HashPoints: data.HashPoints(x)}, err
	}
	a.reads("lists", from)
	return a.pipeline().GraphOfLists(from, kind, s)
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
