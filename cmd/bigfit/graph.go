package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/data"
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
	cmd := &cobra.Command{
		Use:   "graph X -o graph.npz",
		Short: "Build the neighbour graph of a set of points",
		Long: `Build the weighted graph of nearest neighbours of the points in X and save its
weight matrix in the form of scipy.sparse.save_npz.

X is .npy, .npz (array "X", or file.npz:key), SciPy's sparse .npz, idx, svmlight
or csv; idx and text may be gzipped.

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

--checkpoint DIR keeps the state of a long search there every ten seconds: the
rounds of nn-descent, or the parts of the points whose neighbours are known, which
costs an exact search by blocks up to twice the time. After an interruption the same
command with --resume goes on and ends with the same bits.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if from == "" {
				return oneArgument("the file of the points")(cmd, args)
			}
			if len(args) > 0 {
				return fmt.Errorf("--lists takes the place of the points")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(c.check(), checkOutput(append(args, strings.Split(from, ",")...), out)); err != nil {
				return err
			}
			settings, err := decode(a, source.params, pipeline.GraphParams)
			if err != nil {
				return err
			}
			if err := a.openCheckpoint(cmd.Context(), &c); err != nil {
				return err
			}
			g, hashes, err := a.graphOf(cmd.Context(), args, &settings, from, kind)
			if g == nil {
				return err
			}
			notReached := err // knn.ErrRecall
			if err := a.write(cmd.Context(), func() error { return pipeline.SaveGraph(out, g, hashes) }); err != nil {
				return err
			}
			a.checkpoint.Clear()
			s := summarizeGraph(g.W, g.Components)
			s.Method, s.Recall = g.Settings.Method, g.Settings.Found
			return errors.Join(notReached, a.print(s, fmt.Sprintf("%s: %s", out, s)))
		},
	}
	source.flags(cmd.Flags())
	c.flags(cmd.Flags())
	cmd.Flags().StringVar(&from, "lists", "", "`file` of ready neighbour lists, in place of points")
	nameFlag(cmd.Flags(), &kind, "lists-kind", "values in --lists: auto goes by their names and order, distances, squared, inner-product")
	cmd.Flags().StringVarP(&out, "output", "o", "graph.npz", "`file` to write")
	return cmd
}

// graphOf builds the graph of the points in the file args[0], or of lists in the file from. With
// knn.ErrRecall comes the graph that was reached.
func (a *app) graphOf(ctx context.Context, args []string, s *pipeline.GraphSettings, from string, kind lists.Kind) (*pipeline.Graph, pipeline.Hashes, error) {
	if from == "" {
		x, err := a.readPoints(args[0], data.ReadOptions{})
		if err != nil {
			return nil, nil, err
		}
		g, err := a.pipeline().Graph(ctx, x, s)
		return g, pipeline.Hashes{pipeline.HashPoints: data.HashPoints(x)}, err
	}
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
