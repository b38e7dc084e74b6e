package nearest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// GeodesicName is the name of [GeodesicLearner] and its models.
const GeodesicName = "geodesic"

// GeodesicSettings of a [GeodesicLearner].
type GeodesicSettings struct {
	// Vote is the number k of labeled points that vote; fewer where fewer are in reach.
	// Default 1.
	Vote int
}

var geodesicParams = models.Table[GeodesicSettings]{
	{Param: models.Param{Name: "vote", Doc: "number of labeled points, nearest along the graph, that vote",
		Default: "1", Range: models.AtLeast(1), Axis: true, Grid: []string{"1", "3", "5", "9", "15"}},
		At: func(s *GeodesicSettings) any { return &s.Vote }},
}

// GeodesicLearner fits geodesic nearest neighbours (Belkin & Niyogi 2004, sections 3 and
// 6.4): the distance of two points is the length of the shortest path between them in the
// graph. The length of an edge is the distance of its two points; weights do not count.
type GeodesicLearner struct{}

// Info describes the learner.
func (GeodesicLearner) Info() models.Info {
	return models.Info{Name: GeodesicName,
		Help:    "vote of the labeled points nearest along paths of the graph (Belkin & Niyogi 2004)",
		Formula: "as knn, with the distance d(i, j) = length of the shortest path from i to j in the graph",
		Source:  "Belkin & Niyogi 2004, sections 3 and 6.4; paths: Tenenbaum, de Silva & Langford 2000",
		Scores:  "share of the votes for the class, 0 out of reach of labels",
		Learns:  models.LearnsClasses, Needs: models.NeedsPoints | models.NeedsGraph, Keeps: true}
}

// Params lists the parameters.
func (GeodesicLearner) Params() []models.Param { return geodesicParams.Params() }

// geodesicSettings decodes the values and fills in the defaults.
func geodesicSettings(v models.Values) (GeodesicSettings, error) {
	s, err := geodesicParams.Decode(v)
	if s.Vote == 0 {
		s.Vote = 1
	}
	return s, err
}

// Cost returns the cost of the lengths of the edges, the queue of Dijkstra's algorithm and the
// paths it finds.
func (GeodesicLearner) Cost(in *models.Input) (stage.Cost, error) {
	s, err := geodesicSettings(in.Values)
	if err != nil {
		return stage.Cost{}, err
	}
	n := int64(in.Len())
	edges := int64(in.EdgeCount())
	k := int64(min(s.Vote, len(in.Targets.Labeled)))
	const queue = 40 // bytes an edge while the slice of visits grows
	inUse := 8*edges + queue*edges*k/2 + n*(12*k+8+8*int64(len(in.Targets.Classes))) +
		heldOutBytes(len(in.Targets.Labeled), len(in.Targets.Classes))
	switch x := in.Points.(type) { // made ready to be measured
	case nil:
	case *sparse.CSR:
		inUse += 8*n + 4*int64(x.NNZ())
	default:
		_, d := x.Dims()
		inUse += n * int64(d) / 8
	}

	// Every edge may be visited once for each vote.
	const step = 3000 // operations in the time of a visit, some 50 ns
	return stage.Cost{Bytes: stage.HeapBytes(inUse) + stage.RuntimeBytes,
		Operations: step * float64(edges) * float64(k),
		Remedy: fmt.Sprintf("let fewer %s, or make a graph of fewer %s", param.Name("vote"),
			param.Name("neighbors"))}, nil
}

// Fit finds the labeled points nearest to every point along paths. It costs the
// distances along the edges and O(k·nnz·log n).
func (l GeodesicLearner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	s, err := geodesicSettings(in.Values)
	if err != nil {
		return nil, err
	}
	info := l.Info()
	if err := info.Check(in); err != nil {
		return nil, err
	}
	y := in.Targets.ClassLabels()
	if y == nil {
		return nil, errors.New("nearest: the targets are not classes")
	}

	// Edges need lengths; the graph holds weights.
	g := in.Graph
	if err := g.W.CheckGraph(); err != nil {
		return nil, err
	}
	points := g.Points
	if points == nil { // a graph of another program
		points = in.Points
	}
	lengths, err := knn.EdgeLengths(ctx, g.W, points, g.Metric)
	if err != nil {
		return nil, err
	}

	// Dijkstra's algorithm settles a vertex for good, which needs lengths that are not negative.
	for i := range lengths.Rows {
		if _, length := lengths.Row(i); slices.ContainsFunc(length, func(v float64) bool { return v < 0 }) {
			return nil, fmt.Errorf("nearest: %v distances are negative at point %d, and paths have "+
				"no shortest length; make the graph with another %s", g.Metric, i, param.Name("distance"))
		}
	}

	// Dijkstra's algorithm from all labeled points at once settles k paths a vertex.
	total := float64(len(lengths.Col) * min(s.Vote, len(in.Targets.Labeled)))
	found, err := shortest(ctx, lengths, in.Targets.Labeled, s.Vote,
		func(settled int) { in.Report(min(float64(settled), total), max(total, 1), "") })
	if err != nil {
		return nil, err
	}
	// Labeled points keep their labels, the others get the vote of their paths.
	m := &Geodesic{Settings: s, Classes: y.Classes, Fallback: models.Majority(y),
		Labeled: len(in.Targets.Labeled), Neighborhood: g.Keep(),
		Given: models.GivenOf(in.Targets), paths: found, Labels: slices.Clone(y.Index),
		held: heldOutPaths(y, in.Targets.Labeled, found, lengths)}
	for i, c := range y.Index {
		if c != data.Unlabeled {
			continue
		}
		from, _ := found.at(i)
		m.Labels[i] = m.vote(from, y.Index)
		if len(from) == 0 {
			m.Unreached++
		}
	}

	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m, nil
}

// Geodesic is a classifier by geodesic nearest neighbours. It is immutable.
type Geodesic struct {
	Settings GeodesicSettings
	Classes  []int64
	// Labels are the classes of all points, positions in Classes: the given class where there is
	// one, Fallback in components without a label, else the class of the vote.
	Labels    []int32
	Fallback  int32 // the most frequent class among the labels
	Labeled   int   // number of labeled points
	Unreached int   // number of points in components without a label
	models.Neighborhood
	Given *models.Given // the labeled points

	paths *paths
	held  *models.HeldOut
}

// HeldOut returns the votes for the labeled points without their own labels, along the same edges; nil for
// a model from a file.
func (m *Geodesic) HeldOut() *models.HeldOut { return m.held }

// vote returns the class for which the given labeled points vote.
func (m *Geodesic) vote(from, labels []int32) int32 {
	if len(from) == 0 {
		return m.Fallback
	}
	classes := make([]int32, len(from))
	for p, i := range from {
		classes[p] = labels[i]
	}
	return Vote(classes)
}

// share sets dst to the shares of the votes.
func (m *Geodesic) share(dst []float64, from []int32) {
	for _, i := range from {
		dst[m.Labels[i]] += 1 / float64(len(from))
	}
}

// Kept has the graph and the labels; a fit anew begins with nothing.
func (m *Geodesic) Kept() *models.Kept {
	return &models.Kept{Neighborhood: &m.Neighborhood, Targets: m.Given.Targets(len(m.Labels), m.Classes,
		m.Labels)}
}

// Name is [GeodesicName].
func (m *Geodesic) Name() string { return GeodesicName }

// Output is the class of each point; the scores are shares of the vote.
func (m *Geodesic) Output() models.Output {
	o := models.OutputOf(m.Classes, len(m.Classes))
	o.Searches = true
	return o
}

// Training returns Labels, with the shares of the votes as scores. A labeled point votes
// for itself, and with k > 1 others do as well.
func (m *Geodesic) Training(scores bool) *models.Prediction {
	p := &models.Prediction{Classes: m.Labels}
	if scores {
		p.Scores = mat.NewDense(len(m.Labels), len(m.Classes), nil)
		for i := range m.Labels {
			from, _ := m.paths.at(i)
			m.share(p.Scores.RawRowView(i), from)
		}
	}
	return p
}

// QueryCost returns the cost of the search and the scores.
func (m *Geodesic) QueryCost(n int, s *models.PredictSettings) stage.Cost {
	k, _ := m.Joined(s) // Predict returns the error
	c := m.Neighborhood.QueryCost(n, k)
	c.Bytes += 8 * int64(n) * int64(len(m.Classes))
	return c
}

// Predict joins every new point x to its nearest training points z, s.Neighbors of them
// or the k of the graph; its distance from a labeled point i is
//
//	d(x, i) = min_z ‖x − z‖ + d(z, i)
//
// with d(z, i) the length of the path in the graph. The nearest labeled points vote. Of
// equal distances the point of smaller number is nearer; the most frequent class of the
// labels is the answer where no neighbour is in reach of a label. After NN-descent the
// neighbours are approximate.
func (m *Geodesic) Predict(ctx context.Context, x data.Points,
	s *models.PredictSettings) (*models.Prediction, error) {
	if m.Points == nil {
		return nil, models.ErrNoPoints
	}
	k, err := m.Joined(s)
	if err != nil {
		return nil, err
	}
	nb, recall, err := m.Nearest(ctx, x, k, s)
	if err != nil {
		return nil, err
	}

	// A new point is joined to its neighbours, and their paths are its paths.
	out := &models.Prediction{Classes: make([]int32, nb.Len()),
		Scores: mat.NewDense(nb.Len(), len(m.Classes), nil), Recall: recall}
	par.For(nb.Len(), 256, func(lo, hi int) {
		var visits []visit
		for i := lo; i < hi; i++ {
			index, distance := nb.Row(i)
			var from []int32
			from, visits = m.meet(visits[:0], index, distance)
			out.Classes[i] = m.vote(from, m.Labels)
			m.share(out.Scores.RawRowView(i), from)
		}
	})

	return out, nil
}

// meet returns the labeled points nearest to a point at the given distances from training
// points. It uses visits as scratch.
func (m *Geodesic) meet(visits []visit, index []int32, distance []float64) ([]int32, []visit) {
	for p, z := range index {
		// d(x, z) + d(z, i) for every path that ends in the neighbour z.
		from, length := m.paths.at(int(z))
		for q, i := range from {
			visits = append(visits, visit{distance[p] + length[q], 0, i})
		}
	}

	// The nearest labeled points in all, each counted once.
	slices.SortFunc(visits, func(a, b visit) int {
		return cmp.Or(cmp.Compare(a.length, b.length),
			cmp.Compare(a.from, b.from))
	})
	var out []int32
	for _, v := range visits {
		if len(out) == m.paths.k {
			break
		}
		if !slices.Contains(out, v.from) {
			out = append(out, v.from)
		}
	}

	return out, visits
}

// Summary names the number of votes and the longest path.
func (m *Geodesic) Summary() models.Summary {
	s := models.Summary{Labeled: m.Labeled, Values: geodesicParams.Encode(&m.Settings),
		Unreached: m.Unreached, Fallback: &m.Classes[m.Fallback]}

	// The first path of a vertex is its shortest one.
	var longest float64
	for i := range m.Labels {
		if _, length := m.paths.at(i); len(length) > 0 {
			longest = max(longest, length[0])
		}
	}

	s.Text = fmt.Sprintf("%d nearest along paths vote, at most %.3g from the nearest",
		m.Settings.Vote, longest)
	s.Facts = []models.Fact{{Key: "longest_path", Value: longest}}
	s.Warnings = models.OneSided(len(m.Classes), m.Labels, m.Given)
	return s
}
