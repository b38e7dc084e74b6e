package summary

import (
	"fmt"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

// Graph describes a graph.
type Graph struct {
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

// OfGraph describes a graph with its components.
func OfGraph(w *sparse.CSR, c *sparse.Components) Graph {
	s := Graph{Points: w.Rows, Edges: w.NNZ() / 2, Components: c.Count(), Isolated: c.Isolated()}
	for _, size := range c.Sizes {
		s.Largest = max(s.Largest, size)
	}
	d := w.Degrees()
	s.MinDegree = d[0]

	// The mean is divided term by term, so that a sum of large degrees cannot overflow.
	for _, v := range d {
		s.MinDegree = min(s.MinDegree, v)
		s.MaxDegree = max(s.MaxDegree, v)
		s.MeanDegree += v / float64(len(d))
	}
	return s
}

// String is a line about the graph.
func (s Graph) String() string {
	text := fmt.Sprintf("%s, %s, degrees %.4g to %.4g with mean %.4g, %s, the largest of %s, %s",
		enum.Count(s.Points, "point"), enum.Count(s.Edges, "edge"), s.MinDegree, s.MaxDegree, s.MeanDegree,
		enum.Count(s.Components, "component"), enum.Count(s.Largest, "point"),
		enum.Count(s.Isolated, "isolated point"))
	if s.Recall != nil {
		text += fmt.Sprintf("; approximate, recall %s", s.Recall)
	}
	return text
}
