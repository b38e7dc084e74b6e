package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/sparse"
)

func (a *app) graphCommand() *cobra.Command {
	var o graphOptions
	var out string
	cmd := &cobra.Command{
		Use:   "graph X -o graph.npz",
		Short: "Build the neighbour graph of a set of points",
		Long: `Build the weighted graph of nearest neighbours of the points in X and save its
weight matrix in the form of scipy.sparse.save_npz.

X is .npy, .npz (array "X", or file.npz:key), SciPy's sparse .npz, idx, svmlight
or csv; idx and text may be gzipped.`,
		Args: oneArgument("the file of the points"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput(args, out); err != nil {
				return err
			}
			x, err := a.readPoints(args[0], data.ReadOptions{})
			if err != nil {
				return err
			}
			g, err := a.graph(cmd.Context(), x, o)
			if err != nil {
				return err
			}
			m, err := manifest.New(manifest.Graph, g.options, map[string]string{hashPoints: data.HashPoints(x)})
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
			return a.print(s, fmt.Sprintf("%s: %s", out, s))
		},
	}
	o.flags(cmd.Flags())
	cmd.Flags().StringVarP(&out, "output", "o", "graph.npz", "`file` to write")
	return cmd
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
	return fmt.Sprintf("%d points, %d edges, degrees %.4g to %.4g with mean %.4g, %d components, the largest of %d points, %d isolated points",
		s.Points, s.Edges, s.MinDegree, s.MaxDegree, s.MeanDegree, s.Components, s.Largest, s.Isolated)
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
