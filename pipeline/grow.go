package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/stage"
)

// Join returns a copy of g, a graph of the points x, with these points, so that new points can
// join it. The points are projected as they were when g was made.
func (p *Pipeline) Join(ctx context.Context, g *models.Graph, x data.Points,
	s *GraphSettings) (*models.Graph, error) {
	out := *g
	var err error
	if g.PCA == nil {
		out.Points, out.PCA, err = p.Project(ctx, x, s)
	} else {
		out.Points, err = g.PCA.Apply(x)
	}

	if err != nil {
		return nil, err
	}
	return &out, nil
}

// Append returns the graph of the points of g and of the new points x, which are not projected
// yet. g must have its points and the lists of their neighbours, which grow by [knn.Append].
// The principal components, the method and the t of heat weights stay. With an exact method
// the result has the bits of a new graph of all points with the same settings. The error
// knn.ErrRecall comes with a graph of the neighbours that were found.
func (p *Pipeline) Append(ctx context.Context, g *Graph, x data.Points) (*Graph, error) {
	switch {
	case g.Settings.Graph.Radius > 0:
		return nil, fmt.Errorf("the graph joins points within %v and has no lists of neighbours to "+
			"append to; make it anew from all points", g.Settings.Graph.Radius)
	case g.Lists == nil:
		return nil, fmt.Errorf("the lists of neighbours of its points are not kept, so that no "+
			"points can be appended; make the graph anew with this version of bigfit and without %s",
			param.Name("parts"))
	case g.Points == nil:
		return nil, errors.New("the graph is without its points, so that no others can be appended")
	}

	// New points go through the projection of the old ones.
	if _, d := x.Dims(); d != g.Dim() {
		return nil, fmt.Errorf("the new points have %d columns, those of before %d", d, g.Dim())
	}
	out := &Graph{Settings: g.Settings}
	out.Neighborhood = g.Neighborhood.Keep()
	var err error
	if g.PCA != nil {
		if x, err = g.PCA.Apply(x); err != nil {
			return nil, err
		}
	}

	if out.Points, err = data.Join(g.Points, x); err != nil {
		return nil, err
	}
	return out, p.append(ctx, g, out)
}

// AppendTo is [Pipeline.Append] to the graph of a file. old are the points of the graph, and
// oldPath names them in errors. It returns the hashes for the manifest of the result.
func (p *Pipeline) AppendTo(ctx context.Context, f *GraphFile, old data.Points, oldPath string,
	x data.Points) (*Graph, Hashes, error) {
	if n, _ := old.Dims(); n != f.W.Rows {
		return nil, nil, fmt.Errorf("%s has %d points but the graph %s has %d", oldPath, n, f.path, f.W.Rows)
	}
	hash := data.HashPoints(old)
	if err := f.Made.Agree(HashPoints, hash, f.path, oldPath); err != nil {
		return nil, nil, err
	}
	if data.HashPoints(x) == hash {
		p.Observed().Note(fmt.Sprintf("warning: the new points are those of %s; they will count twice",
			oldPath))
	}
	whole, err := data.Join(old, x)
	if err != nil {
		return nil, nil, err
	}

	// A graph file has no points: give it the old ones first.
	joined, err := p.Join(ctx, &f.Graph.Graph, old, &f.Settings)
	if err != nil {
		return nil, nil, err
	}
	g, err := p.Append(ctx, &Graph{Graph: *joined, Settings: f.Settings}, x)
	if g == nil || g.W == nil || !models.Usable(err) {
		return nil, nil, fmt.Errorf("%s: %w", f.path, err)
	}
	return g, Hashes{HashPoints: data.HashPoints(whole)}, err
}

// append grows the lists of g to all points in out, and gives out its lists, index and edges.
// An error that is not usable leaves out without edges.
func (p *Pipeline) append(ctx context.Context, g, out *Graph) error {
	s := &out.Settings
	k := g.Lists.K
	old := g.Lists.Len()
	more := out.Points
	n, _ := more.Dims()
	cost := stage.Cost{Bytes: knn.AppendBytes(more, old, k, s.Method, s.Metric) + 32*int64(n)*int64(k),
		Operations: knn.AppendOperations(more, old, s.Method), Remedy: "append fewer points at a time"}
	if err := p.Observed().Announce("neighbours", cost); err != nil {
		return err
	}

	p.Observed().Begin("append")
	settings := &knn.DescentSettings{Settings: knn.Settings{Metric: s.Metric,
		OnProgress: func(done, total int) { p.Observed().Update(float64(done), float64(total), "") }},
		Recall: s.Recall, Seed: g.Seed}
	nb, ix, short := knn.Append(ctx, more, g.Lists, s.Method, g.Index, settings)
	if nb == nil || !models.Usable(short) {
		return short
	}
	if err := out.Cut(nb, k); err != nil {
		return err
	}

	p.Observed().End(fmt.Sprintf("%d points to %d, %s", n-old, old, out.Describe()) + out.keep(ix))
	if twins := twins(nb, old); twins > 0 && s.Metric != knn.InnerProduct {
		p.Observed().Note(fmt.Sprintf("append: %d of the %d new points are at distance 0 from points "+
			"of before; if they were there already, they now count twice", twins, n-old))
	}
	return short
}

// twins counts the new points, from number old on, at distance 0 from an old point.
func twins(nb *knn.Neighbors, old int) int {
	count := 0
	for i := old; i < nb.Len(); i++ {
		index, dist := nb.Row(i)

		// Lists ascend, so the first positive distance ends the search.
		for q, j := range index {
			if dist[q] > 0 {
				break
			}
			if int(j) < old {
				count++
				break
			}
		}
	}

	return count
}

// KeptGraph returns the graph of the points that a model was fitted to, made of the lists of
// neighbours in the model, and the other parts that it keeps. For a model without lists the
// error says what to give.
func KeptGraph(m models.Model) (*Graph, *models.Kept, error) {
	m = models.Unnamed(m)
	u, ok := m.(models.Updater)
	if !ok {
		return nil, nil, fmt.Errorf("%s models do not keep the graph of their points; give them with "+
			"%s, their labels with %s and, if there is one, the graph with %s",
			m.Name(), param.Name("X"), param.Name("y"), param.Name("graph"))
	}
	kept := u.Kept()
	g := &Graph{Settings: GraphSettings{Metric: kept.Metric, Method: kept.Method, Graph: kept.Edges}}
	own := kept.Neighborhood.Keep()
	var err error
	if g.Neighborhood, err = own.WithLists(); err != nil {
		return nil, kept, err
	}
	switch {
	case kept.Degrees == nil:
		return nil, kept, fmt.Errorf("a %s model keeps no graph but its labeled points; give all "+
			"points with %s and their labels with %s", m.Name(), param.Name("X"), param.Name("y"))
	case g.Lists == nil:
		return nil, kept, fmt.Errorf("this %s model does not hold the lists of neighbours of its "+
			"graph; give the graph with %s, or the points with %s", m.Name(), param.Name("graph"),
			param.Name("X"))
	}

	return g, kept, g.Cut(g.Lists, g.Lists.K)
}

// KeptTargets returns the targets that a model was fitted to, with the names of its classes;
// nil if the model does not keep them. The result is the caller's own.
func KeptTargets(m models.Model) *models.Targets {
	u, ok := models.Unnamed(m).(models.Updater)
	if !ok || u.Kept().Targets == nil {
		return nil
	}
	t := *u.Kept().Targets
	names := m.Output().Names
	switch {
	case t.Classes == nil:
		t.Names = names
	case names != nil:
		t.Names = make([]string, len(t.Classes))
		for c, value := range t.Classes {
			t.Names[c] = names[value]
		}
	}
	return &t
}
