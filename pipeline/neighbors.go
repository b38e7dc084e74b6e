package pipeline

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/lists"
	"github.com/bigfit/bigfit/sparse"
)

// NeighborParams are the parameters of [GraphSettings] that matter to a search for neighbours.
var NeighborParams = GraphParams.Without("symmetry", "weights", "t", "class-weights", "class-graphs")

// NeighborSettings are the settings of lists of neighbours in the manifests of their files.
type NeighborSettings struct {
	// Standardize says that each column was divided by its standard deviation first.
	Standardize bool `json:"standardize,omitempty"`

	PCA    int         `json:"pca,omitempty"`
	Metric knn.Metric  `json:"metric"`
	K      int         `json:"k"` // other points in a list
	Method knn.Method  `json:"method"`
	Recall float64     `json:"recall,omitempty"` // recall that was asked for
	Found  *knn.Recall `json:"recall_found,omitempty"`
	// WithSelf says that every list begins with its own point.
	WithSelf bool `json:"with_self,omitempty"`
	// Query says that the lists belong to other points than the neighbours.
	Query bool `json:"query,omitempty"`
}

// QueryNeighbors finds the s.Graph.K nearest points of x for every point of q. Both are
// projected alike.
func (p *Pipeline) QueryNeighbors(ctx context.Context, x, q data.Points, s *GraphSettings) (*Graph,
	*knn.Neighbors, error) {
	_, d := x.Dims()
	if _, have := q.Dims(); have != d {
		return nil, nil, fmt.Errorf("the points to find neighbours of have %d columns and those to be "+
			"found %d", have, d)
	}
	n, _ := q.Dims()
	g, key, err := p.prepare(ctx, x, s, n)
	if err != nil {
		return nil, nil, err
	}

	if g.PCA != nil {
		if q, err = g.PCA.Apply(q); err != nil {
			return nil, nil, err
		}
	}

	ix, err := p.search(g, key, "neighbours")
	if err != nil {
		return nil, nil, err
	}
	nb, err := ix.Query(ctx, q, g.Settings.Graph.K)
	if err != nil {
		return nil, nil, err
	}
	p.Observed().End(fmt.Sprintf("%d of each of %d points", nb.K, nb.Len()) + g.keep(ix))
	return g, nb, nil
}

// Within finds all pairs of points of x that are at most s.Graph.Radius apart, and returns their
// distances as a symmetric n×n matrix without its diagonal; distances of 0 are stored.
func (p *Pipeline) Within(ctx context.Context, x data.Points, s *GraphSettings) (*Graph, *sparse.CSR, error) {
	g, key, err := p.prepare(ctx, x, s, 0)
	if err != nil {
		return nil, nil, err
	}
	ix, err := p.search(g, key, "neighbours")
	if err != nil {
		return nil, nil, err
	}
	w, err := ix.Within(ctx, g.Settings.Graph.Radius)
	if err != nil {
		return nil, nil, err
	}
	p.Observed().End(fmt.Sprintf("%d pairs of %d points", w.NNZ()/2, w.Rows))
	return g, w, nil
}

// NeighborsFile holds lists of neighbours to be written.
type NeighborsFile struct {
	*knn.Neighbors
	Settings NeighborSettings
	Columns  int  // number of points that may be neighbours
	CSR      bool // write a sparse matrix of distances
	Hashes   Hashes
	Files    archive.Files // names of the inputs
}

// neighbors returns the settings of the search for neighbours.
func (s *GraphSettings) neighbors() NeighborSettings {
	return NeighborSettings{Standardize: s.Standardize, PCA: s.PCA, Metric: s.Metric, K: s.Graph.K, Method: s.Method, Recall: s.Recall,
		Found: s.Found}
}

// NewNeighborsFile returns the file of neighbours that were found for g. With self every list
// begins with its own point.
func NewNeighborsFile(g *Graph, nb *knn.Neighbors, self bool, hashes Hashes) *NeighborsFile {
	n, _ := g.Points.Dims()
	f := &NeighborsFile{Neighbors: nb, Settings: g.Settings.neighbors(), Columns: n, Hashes: hashes}
	if f.Settings.WithSelf = self; self {
		f.Neighbors = lists.WithSelf(nb)
	}
	return f
}

// Save writes the file.
func (f *NeighborsFile) Save(path string) error {
	m, err := archive.New(archive.Neighbors, f.Settings, f.Hashes, f.Files)
	if err != nil {
		return err
	}
	text, err := m.Bytes()
	if err != nil {
		return err
	}
	if f.CSR {
		return lists.WriteCSR(path, f.Neighbors, f.Columns, text)
	}
	return lists.Write(path, f.Neighbors, text)
}

// Table returns the lists as a table with a row for each neighbour of each point: row, rank from 1 on
// (from 0 on if the lists begin with their own points), neighbor and distance. ids, if not nil, names the
// points that may be neighbours; the points of a query have numbers only.
func (f *NeighborsFile) Table(ids *data.IDs) Answers {
	n := f.Len()
	rows := make([]int64, 0, n*f.K)
	ranks := make([]int32, 0, n*f.K)
	numbers := make([]int64, 0, n*f.K)
	distances := make([]float64, 0, n*f.K)
	first := int32(1)
	if f.Settings.WithSelf {
		first = 0
	}
	for i := range n {
		index, distance := f.Row(i)
		for r, j := range index {
			rows = append(rows, int64(i))
			ranks = append(ranks, first+int32(r))
			numbers = append(numbers, int64(j))
			distances = append(distances, distance[r])
		}
	}

	a := Answers{Settings: AnswerSettings{Answers: "neighbors"}, Hashes: f.Hashes, Files: f.Files}
	neighbor := Column{Name: "neighbor", Values: numbers}
	if ids != nil {
		named := func(rows []int64) []string {
			out := make([]string, len(rows))
			for k, i := range rows {
				out[k] = ids.Values[i]
			}
			return out
		}
		neighbor.Values = named(numbers)
		if !f.Settings.Query {
			a.IDs = &data.IDs{Values: named(rows)}
		}
	}
	a.Columns = []Column{{Name: "row", Values: rows}, {Name: "rank", Values: ranks}, neighbor,
		{Name: "distance", Values: distances}}
	return a
}

// GraphOfLists makes the graph that s asks for from the lists in a file. The number of
// neighbours defaults to DefaultNeighbors, or to the length of the lists if they are shorter.
// If the file says how its lists were found, the graph has these settings and the hash of the
// points.
func (p *Pipeline) GraphOfLists(path string, kind lists.Kind, s *GraphSettings) (*Graph, Hashes, error) {
	f, err := lists.Read(path, kind, p.Memory)
	if err != nil {
		return nil, nil, err
	}
	p.Observed().Note(f.String())
	g := &Graph{Settings: *s}
	hashes := Hashes{}
	if f.Manifest != nil {
		var made NeighborSettings
		if err := archive.Unmarshal(f.Manifest.Settings, &made); err != nil {
			return nil, nil, fmt.Errorf("%s: the settings in the manifest: %w", path, err)
		}
		g.Settings.Standardize = made.Standardize
		g.Settings.PCA = made.PCA
		g.Settings.Metric = made.Metric
		g.Settings.Method = made.Method
		g.Settings.Recall = made.Recall
		g.Settings.Found = made.Found
		hashes = f.Manifest.Hashes
	}

	// Lists of another program may be shorter than the default.
	k := s.Graph.K
	if k == 0 && s.Graph.Radius == 0 {
		k = min(DefaultNeighbors, f.K)
	}
	if err := g.Cut(f.Neighbors, k); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return g, hashes, nil
}

// NeighborsSummary describes lists of neighbours as JSON and as text.
type NeighborsSummary struct {
	Points int `json:"points"` // number of points with lists
	NeighborSettings
	Entries int     `json:"entries"`
	Zero    int     `json:"zero_distances"` // distances of 0 to other points
	Largest float64 `json:"largest_distance"`
}

// Summary counts the entries of the lists and their zeros.
func (f *NeighborsFile) Summary() NeighborsSummary {
	s := NeighborsSummary{Points: f.Len(), NeighborSettings: f.Settings, Entries: len(f.Index)}
	for _, d := range f.Distance {
		if d == 0 {
			s.Zero++
		}
		s.Largest = max(s.Largest, d)
	}

	if f.Settings.WithSelf {
		s.Zero -= f.Len()
	}
	return s
}

// String describes the lists in a line.
func (s NeighborsSummary) String() string {
	text := fmt.Sprintf("%d neighbours of %d points by %s, up to %.6g apart", s.K, s.Points, s.Method,
		s.Largest)
	if s.WithSelf {
		text += ", each list with its own point first"
	}
	if s.Zero > 0 {
		text += fmt.Sprintf(", %d at no distance", s.Zero)
	}
	if s.Found != nil {
		text += fmt.Sprintf("; approximate, recall %s", s.Found)
	}
	return text
}
