package pipeline

import (
	"context"
	"errors"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pca"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// DefaultNeighbors is the number of neighbours of a point, as in Belkin & Niyogi (2004).
const DefaultNeighbors = 8

// DefaultPatience is the time in seconds that an exact search may take before the method auto
// prefers an approximate one.
const DefaultPatience = 60

// GraphSettings are the settings of a graph of points. The manifests of graphs, and of artifacts
// made from graphs, keep them.
type GraphSettings struct {
	// Standardize divides each column of the points by its standard deviation first: [pca.Standardize].
	Standardize bool `json:"standardize,omitempty"`
	// PCA is the number of principal components that the points are projected on then; 0
	// leaves the points as they are.
	PCA    int               `json:"pca,omitempty"`
	Metric knn.Metric        `json:"metric"`
	Graph  knn.GraphSettings `json:"graph"` // K defaults to DefaultNeighbors
	Method knn.Method        `json:"method"`
	// Recall, if positive, makes NN-descent search until its estimated recall reaches it.
	// If Auto chooses NN-descent, the default is [AutoRecall].
	Recall float64 `json:"recall,omitempty"`
	// Patience is the time in seconds that an exact search may take before Auto
	// prefers NN-descent; 0 is [DefaultPatience].
	Patience float64 `json:"patience,omitempty"`
	// ClassWeights has a weight for each class: only edges within a class are kept, and
	// multiplied by its weight (see [ClassGraph]). All points must have a label.
	ClassWeights []float64 `json:"class_weights,omitempty"`
	// ClassGraphs, with ClassWeights, searches the neighbours of a point within its class, so that
	// every class has a graph of its own as in Belkin, Niyogi & Sindhwani (2006), section 6.2,
	// in place of the edges within classes of the graph of all points.
	ClassGraphs bool `json:"class_graphs,omitempty"`
	// Found is the recall of an approximate search; nil in settings.
	Found *knn.Recall `json:"recall_found,omitempty"`
}

// GraphParams are the parameters of [GraphSettings].
var GraphParams = models.Table[GraphSettings]{
	graphParam("standardize", "divide each column of dense points by its standard deviation first", "false", nil,
		func(s *GraphSettings) any { return &s.Standardize }),
	graphParam("pca", "project the points on this many principal components first", "0", models.AtLeast(0),
		func(s *GraphSettings) any { return &s.PCA }),
	graphParam("distance", "distance between points", "euclidean", nil,
		func(s *GraphSettings) any { return &s.Metric }, enum.All[knn.Metric]()...),
	{Param: models.Param{Name: "neighbors", Doc: "nearest neighbours of every point", Default: "8",
		Range: models.AtLeast(1), Axis: true, Smaller: true},
		At: func(s *GraphSettings) any { return &s.Graph.K }},
	graphParam("radius", "join all points at most this far apart, in place of nearest neighbours", "",
		models.Positive(), func(s *GraphSettings) any { return &s.Graph.Radius }),
	graphParam("symmetry", "join neighbours if one names the other, or only if each does; sum is either with "+
		"the weights of both directions added, W + Wᵀ, so that an edge that both name counts twice", "either", nil,
		func(s *GraphSettings) any { return &s.Graph.Symmetry }, enum.All[sparse.Symmetry]()...),
	graphParam("weights", "weights of the edges; umap and gauss are those of umap-learn and scanpy "+
		"with n_neighbors one larger than here, jaccard those of PhenoGraph", "one", nil,
		func(s *GraphSettings) any { return &s.Graph.Weights }, enum.All[knn.Weighting]()...),
	graphParam("method", "search for neighbours: auto chooses, all but nn-descent are exact", "auto", nil,
		func(s *GraphSettings) any { return &s.Method }, enum.All[knn.Method]()...),
	graphParam("patience", "seconds that an exact search may take before the method auto prefers nn-descent",
		"60", models.Positive(), func(s *GraphSettings) any { return &s.Patience }),
	graphParam("recall", "raise the effort of nn-descent until its estimated recall reaches this "+
		"share; where auto chooses it, 0.95", "", models.Within(0, 1),
		func(s *GraphSettings) any { return &s.Recall }),
	graphParam("t", "t of the heat weights exp(-d²/4t)", "from the distances", models.Positive(),
		func(s *GraphSettings) any { return &s.Graph.T }),
	graphParam("class-weights", "of the graph of all points keep only edges within a class, times the "+
		"weight of the class; all points must be labeled", "", models.NotNegative(),
		func(s *GraphSettings) any { return &s.ClassWeights }),
	graphParam("class-graphs", "with class weights, find the neighbours of a point within its class, so that "+
		"each class has a graph of its own (2006, section 6.2)", "false", nil,
		func(s *GraphSettings) any { return &s.ClassGraphs }),
}

// graphParam returns a parameter of graphs that is no axis of a grid.
func graphParam(name, doc, value string, r *models.Range, at func(*GraphSettings) any,
	choices ...string) models.Field[GraphSettings] {
	return models.Field[GraphSettings]{Param: models.Param{Name: name, Doc: doc, Default: value, Range: r,
		Choices: choices}, At: at}
}

// filled returns a copy with the default number of neighbours; nil means all defaults.
func (s *GraphSettings) filled() *GraphSettings {
	var out GraphSettings
	if s != nil {
		out = *s
	}
	if out.Graph.K == 0 && out.Graph.Radius == 0 {
		out.Graph.K = DefaultNeighbors
	}
	return &out
}

// Graph is a graph of points with the settings that it was made with.
type Graph struct {
	models.Graph
	Settings GraphSettings

	seconds float64 // expected time of the search; 0 if it is not known
	aimed   bool    // no recall was asked for, so a missed recall is no error
}

// projected is the number of columns of the points that are searched, where they are other points than those given,
// of d columns; else 0.
func (s *GraphSettings) projected(d int) int {
	if s.PCA == 0 && s.Standardize {
		return d
	}
	return s.PCA
}

// Project standardizes the columns of x and applies the principal components, as s asks for; if it asks for neither,
// Project returns x and nil.
func (p *Pipeline) Project(ctx context.Context, x data.Points, s *GraphSettings) (data.Points,
	*pca.Projection, error) {
	if s == nil || !s.Standardize {
		return p.components(ctx, x, s)
	}
	if _, is := x.(*sparse.CSR); is {
		return nil, nil, fmt.Errorf("the points are sparse, and %s would not leave their zeros; leave it out",
			param.Name("standardize"))
	}

	n, d := x.Dims()
	if err := p.announceStandardize(n, d); err != nil {
		return nil, nil, err
	}
	p.Observed().Begin("standardize")
	scaled, err := pca.Standardize(ctx, x)
	if err != nil {
		return nil, nil, err
	}
	z, err := scaled.Apply(x)
	if err != nil {
		return nil, nil, err
	}
	p.Observed().End(fmt.Sprintf("each of %d columns is divided by its standard deviation", d))

	y, c, err := p.components(ctx, z, s)
	if err != nil || c == nil {
		return z, scaled, err
	}
	return y, c.Standardized(scaled), nil
}

// components applies the principal components that s asks for to x; without any it
// returns x and nil.
func (p *Pipeline) components(ctx context.Context, x data.Points, s *GraphSettings) (data.Points,
	*pca.Projection, error) {
	if s == nil || s.PCA == 0 {
		return x, nil, nil
	}
	n, d := x.Dims()
	if err := p.announceProjection(n, d, s.PCA); err != nil {
		return nil, nil, err
	}
	p.Observed().Begin("pca")
	c, err := pca.New(ctx, x, s.PCA)
	if err != nil {
		return nil, nil, err
	}

	z, err := c.Apply(x)
	if err != nil {
		return nil, nil, err
	}
	// The share of the variance tells whether enough components were asked for.
	var kept float64
	for _, v := range c.Variance {
		kept += v
	}
	p.Observed().End(fmt.Sprintf("%d components, %.1f %% of the variance", s.PCA, 100*kept/c.Total))
	return z, c, nil
}

// Graph projects x and builds its graph; a nil s means the defaults. The error knn.ErrRecall
// comes with a graph of the neighbours that were found.
func (p *Pipeline) Graph(ctx context.Context, x data.Points, s *GraphSettings) (*Graph, error) {
	g, key, err := p.prepare(ctx, x, s, 0)
	if err != nil {
		return nil, err
	}
	known, err := p.loadGraph(g, key)
	if err != nil {
		return nil, err // g is not complete
	}
	if known {
		return g, nil
	}
	ix, err := p.search(g, key, "graph")
	if err != nil {
		return nil, err
	}

	// Edges within a radius come from a pass of their own; neighbours are searched for once and
	// cut.
	var short error
	var kept string
	if g.Settings.Graph.Radius > 0 {
		w, edges, err := knn.NewGraph(ctx, ix, g.Settings.Graph)
		if err != nil {
			return nil, err
		}
		g.set(w, edges)
		kept = g.keep(ix)
	} else {
		var nb *knn.Neighbors
		if nb, short = p.self(ctx, ix, g, key); nb == nil {
			return nil, short
		}
		kept = g.keep(ix)
		ix = nil // frees its memory for the graph
		if err := g.Cut(nb, g.Settings.Graph.K); err != nil {
			return nil, err
		}
	}

	// A graph that missed its recall is usable but not kept: another run may reach it.
	p.Observed().End(g.Describe() + kept)
	if short == nil {
		err = p.saveGraph(g, key)
	}
	return g, errors.Join(short, err)
}

// Neighbors projects x and finds the nearest neighbours of all points. Graphs with fewer
// neighbours can be cut from them; the graph that it returns has no edges yet. The error
// knn.ErrRecall comes with the neighbours that were found.
func (p *Pipeline) Neighbors(ctx context.Context, x data.Points, s *GraphSettings) (*Graph,
	*knn.Neighbors, error) {
	g, key, err := p.prepare(ctx, x, s, 0)
	if err != nil {
		return nil, nil, err
	}
	if nb, err := p.loadNeighbors(g, key); nb != nil || err != nil {
		return g, nb, err
	}
	ix, err := p.search(g, key, "neighbours")
	if err != nil {
		return nil, nil, err
	}

	nb, short := p.self(ctx, ix, g, key)
	if nb == nil {
		return nil, nil, short
	}
	p.Observed().End(fmt.Sprintf("%d of each of %d points", nb.K, nb.Len()) + g.keep(ix))
	if short == nil {
		err = p.saveNeighbors(g, nb, key)
	}
	return g, nb, errors.Join(short, err)
}

// Cut gives g the edges of the first k of the neighbours, and these lists if all have k
// entries with distances.
func (g *Graph) Cut(nb *knn.Neighbors, k int) error {
	s := g.Settings.Graph
	s.K = k
	w, edges, err := knn.FromNeighbors(nb, s)
	if err != nil {
		return err
	}
	g.set(w, edges)
	g.Lists = nb.Trim(k)
	return nil
}

// set gives g its edges.
func (g *Graph) set(w *sparse.CSR, edges knn.GraphSettings) {
	g.SetWeights(w)
	g.Edges = edges
	g.Settings.Graph = edges
}

// prepare projects x and chooses the method of the search. queries is the number of points to
// find neighbours for; 0 means all points of x. key is the key of the graph's stages in the
// checkpoint, nil without a checkpoint.
func (p *Pipeline) prepare(ctx context.Context, x data.Points, given *GraphSettings,
	queries int) (*Graph, checkpoint.Key, error) {
	s := *given.filled()
	if n, _ := x.Dims(); s.Graph.K >= n {
		return nil, nil, fmt.Errorf("%s is %d and there are %d points; a point has at most "+
			"%d neighbours", param.Name("neighbors"), s.Graph.K, n, n-1)
	}
	if err := s.Metric.CheckEdges(&s.Graph); err != nil {
		return nil, nil, err
	}
	z, projection, err := p.Project(ctx, x, &s)
	if err != nil {
		return nil, nil, err
	}

	// The method is chosen on the projected points, which are the points that are searched.
	e := p.estimator(ctx, choice.Work{X: z, Metric: s.Metric, K: s.Graph.K, Queries: queries},
		s.Graph.Radius > 0)
	if err := p.chooseMethod(e, x, &s); err != nil {
		return nil, nil, err
	}
	if err := s.Method.Supports(s.Metric, z); err != nil {
		return nil, nil, err
	}
	g := &Graph{Settings: s, aimed: given == nil || given.Recall == 0}
	if g.seconds, err = e.seconds(s.Method); err != nil {
		return nil, nil, err
	}

	g.Neighborhood = models.Neighborhood{Points: z, PCA: projection, Metric: s.Metric, Method: s.Method,
		Edges: s.Graph, Seed: p.Seed}
	if p.Checkpoint == nil {
		return g, nil, nil
	}
	key, err := p.graphKey(x, s)
	return g, key, err
}

// searchRemedy says what to do where a search takes too much memory.
var searchRemedy = fmt.Sprintf("project the points on fewer dimensions with %s", param.Name("pca"))

// announceStandardize announces the standardized columns of n points of d columns.
func (p *Pipeline) announceStandardize(n, d int) error {
	return p.Observed().Announce("standardize", stage.Cost{Bytes: 8*int64(d)*int64(d) + 4*int64(n)*int64(d),
		Remedy: fmt.Sprintf("leave %s out or give points of fewer columns", param.Name("standardize"))})
}

// announceProjection announces the principal components of n points of d columns.
func (p *Pipeline) announceProjection(n, d, components int) error {
	// The covariance and its eigenvectors take 3d² numbers, the projected points 4 bytes a
	// component.
	bytes := 8*int64(d)*(3*int64(d)+int64(min(n, 4096))) + 4*int64(n)*int64(max(components, 0))
	return p.Observed().Announce("pca", stage.Cost{Bytes: bytes,
		Remedy: fmt.Sprintf("leave %s out or give points of fewer columns", param.Name("pca"))})
}

// search prepares the search for neighbours; its stage, called name, has begun.
func (p *Pipeline) search(g *Graph, key checkpoint.Key, name string) (knn.Index, error) {
	z := g.Points
	s := &g.Settings
	if err := p.Observed().Announce("neighbours", searchCost(z, s, g.seconds)); err != nil {
		return nil, err
	}

	p.Observed().Begin(name)
	settings := knn.Settings{Metric: s.Metric, Note: p.Observed().Note,
		OnProgress: func(done, total int) { p.Observed().Update(float64(done), float64(total), "") }}
	// 48 bytes a pair: index, distance, and the memory in which a graph of the radius is made.
	if p.Memory > 0 {
		settings.MaxPairs = max(1, p.Memory/48)
	}
	descent := &knn.DescentSettings{Settings: settings, Recall: s.Recall, Seed: p.Seed}
	if !s.Method.Exact() {
		if err := p.descentHooks(descent, key); err != nil {
			return nil, err
		}
	}
	return knn.NewIndex(z, s.Method, descent)
}

// graphBytes returns the memory for making a graph of n points with k neighbours each, with
// the lists: the matrix of the weights, its transpose, and up to three quarters more edges in
// the symmetric matrix.
func graphBytes(n int, s *knn.GraphSettings) int64 {
	const offsets, list, place, weight = 40, 12, 4, 8 // bytes of a point in three matrices, and of an entry
	const symmetric = 1.75                            // entries of the symmetric matrix for each neighbour
	bytes := (2 + symmetric) * place
	switch {
	case s.Weights != knn.One:
		bytes += (2 + symmetric) * weight
	case s.Symmetry == sparse.Sum:
		// Lists of weights one hold no numbers, their sum does.
		bytes += symmetric * weight
	}
	return stage.HeapBytes(int64(n) * (offsets + list*int64(s.K) + int64(bytes*float64(s.K))))
}

// keep keeps the costly parts of the index that was searched. If the index is approximate, keep
// also stores its recall and returns it as text.
func (g *Graph) keep(ix knn.Index) string {
	g.Index = knn.StateOf(ix)
	d, ok := ix.(*knn.Descent)
	if !ok {
		return ""
	}
	// Only an approximate search has a recall to tell.
	recall := d.Stats().Recall
	g.Settings.Found = &recall
	return fmt.Sprintf(", recall %s", recall)
}
