package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

func (a *app) graphCommand() *cobra.Command {
	var o graphOptions
	var out, lists string
	cmd := &cobra.Command{
		Use:   "graph X -o graph.npz",
		Short: "Build the neighbour graph of a set of points",
		Long: `Build the weighted graph of nearest neighbours of the points in X and save its
weight matrix in the form of scipy.sparse.save_npz.

X is .npy, .npz (array "X", or file.npz:key), SciPy's sparse .npz, idx, svmlight
or csv; idx and text may be gzipped.

With --lists the neighbours are not searched but read from a .npz file with the
arrays indices and distances (or sq_distances), n×k each, as FAISS and scikit-learn
give them; the points themselves in their lists are left out.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if lists == "" {
				return oneArgument("the file of the points")(cmd, args)
			}
			if len(args) > 0 {
				return fmt.Errorf("--lists takes the place of the points")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(append(args, lists), out); err != nil {
				return err
			}
			g, hashes, err := a.graphOf(cmd.Context(), args, lists, o)
			if g == nil {
				return err
			}
			notReached := err // knn.ErrRecall
			m, err := manifest.New(manifest.Graph, g.options, hashes)
			if err != nil {
				return err
			}
			text, err := m.Bytes()
			if err != nil {
				return err
			}
			if err := a.write(cmd.Context(), func() error { return sparse.WriteNPZ(out, g.w, text) }); err != nil {
				return err
			}
			s := summarizeGraph(g.w, g.components)
			s.Method, s.Recall = g.options.Method, g.options.Found
			return errors.Join(notReached, a.print(s, fmt.Sprintf("%s: %s", out, s)))
		},
	}
	o.flags(cmd.Flags())
	cmd.Flags().StringVar(&lists, "lists", "", "`file` of ready neighbour lists, in place of points")
	cmd.Flags().StringVarP(&out, "output", "o", "graph.npz", "`file` to write")
	return cmd
}

// graphOf builds the graph of the points in the file args[0], or of lists. With
// knn.ErrRecall comes the graph that was reached.
func (a *app) graphOf(ctx context.Context, args []string, lists string, o graphOptions) (*graphed, map[string]string, error) {
	if lists == "" {
		x, err := a.readPoints(args[0], data.ReadOptions{})
		if err != nil {
			return nil, nil, err
		}
		g, err := a.graph(ctx, x, o)
		return g, map[string]string{hashPoints: data.HashPoints(x)}, err
	}
	nb, err := knn.ReadLists(lists, int64(a.memory))
	if err != nil {
		return nil, nil, err
	}
	if o.Graph.K == 0 && o.Graph.Radius == 0 {
		o.Graph.K = min(defaultNeighbors, nb.K)
	}
	g := &graphed{options: o}
	if g.w, g.options.Graph, err = knn.FromNeighbors(nb, o.Graph); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", lists, err)
	}
	g.components = g.w.Components()
	return g, map[string]string{}, nil
}

// graphSummary is what there is to say about a graph.
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

// loadGraph reads and checks a graph and its manifest, nil if another program
// wrote it.
func (a *app) loadGraph(path string) (*sparse.CSR, *manifest.Manifest, error) {
	w, err := sparse.ReadNPZ(path, int64(a.memory))
	if err != nil {
		return nil, nil, err
	}
	if err := w.CheckGraph(); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := sparse.ReadManifest(path)
	if err != nil || text == nil {
		return w, nil, err
	}
	m, err := manifest.Parse(text, manifest.Graph, path)
	return w, m, err
}

// givenGraph reads the graph in a file, and its manifest, nil if another program
// wrote it. Flags must agree with the settings of the manifest; without one they
// are o.
func (a *app) givenGraph(path string, o graphOptions, flags *pflag.FlagSet) (*graphed, *manifest.Manifest, error) {
	w, m, err := a.loadGraph(path)
	if err != nil {
		return nil, nil, err
	}
	if w.Rows == 0 {
		return nil, nil, fmt.Errorf("%s: a graph of 0 points; there is nothing to label", path)
	}
	g := &graphed{w: w, components: w.Components(), options: o}
	if m == nil {
		return g, nil, nil
	}
	g.options = graphOptions{} // the manifest leaves out zeros
	if err := json.Unmarshal(m.Settings, &g.options); err != nil {
		return nil, nil, fmt.Errorf("%s: the settings in the manifest: %w", path, err)
	}
	return g, m, a.sameFlags(flags, &g.options, path)
}
