package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/internal/progress"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// readPoints reads the points at path as a stage.
func (a *app) readPoints(path string, opt data.ReadOptions) (data.Points, error) {
	st := a.progress.Stage("read")
	opt.Limit = int64(a.memory)
	x, err := data.ReadPoints(path, opt)
	if err != nil {
		return nil, err
	}
	st.Done(describePoints(path, x))
	return x, nil
}

func describePoints(path string, x data.Points) string {
	n, d := x.Dims()
	switch x := x.(type) {
	case *data.Dense[uint8]:
		return fmt.Sprintf("%s: %d points × %d, uint8", path, n, d)
	case *data.Dense[float32]:
		return fmt.Sprintf("%s: %d points × %d, float32", path, n, d)
	case *sparse.CSR:
		return fmt.Sprintf("%s: %d points × %d, sparse, %d entries", path, n, d, x.NNZ())
	}
	return fmt.Sprintf("%s: %d points × %d, float64", path, n, d)
}

// graphOptions are the settings of a graph as the command line has them, and as
// the manifests of graphs and what is made from them keep them.
type graphOptions struct {
	PCA    int               `json:"pca,omitempty"`
	Metric knn.Metric        `json:"metric"`
	Graph  knn.GraphSettings `json:"graph"`
	Method knn.Method        `json:"method"`
	Recall float64           `json:"recall,omitempty"` // asked for
	// Found is the recall of an approximate search; nil in settings.
	Found *knn.Recall `json:"recall_found,omitempty"`
}

// flags adds the flags of a graph; their defaults are the values that o has.
func (o *graphOptions) flags(f *pflag.FlagSet) {
	f.IntVar(&o.PCA, "pca", o.PCA, "project the points on this many principal components first")
	nameFlag(f, &o.Metric, "distance", "distance: euclidean, angle, manhattan, chebyshev")
	f.IntVarP(&o.Graph.K, "neighbors", "k", o.Graph.K, "nearest neighbours of every point (default 8)")
	f.Float64Var(&o.Graph.Radius, "radius", o.Graph.Radius, "join all points at most this far apart, in place of nearest neighbours")
	nameFlag(f, &o.Graph.Symmetry, "symmetry", "join neighbours if one names the other or only if each does: either, both")
	nameFlag(f, &o.Graph.Weights, "weights", "weights: one, heat, self-tuning")
	nameFlag(f, &o.Method, "method", "search: auto, brute, kd-tree, ball-tree (all exact), nn-descent (approximate)")
	f.Float64Var(&o.Recall, "recall", o.Recall, "raise the effort of nn-descent until its estimated recall reaches this share")
	f.Float64Var(&o.Graph.T, "t", o.Graph.T, "t of the heat weights exp(-d²/4t) (default: chosen from the data)")
}

// graphed is a graph with the points it was built on.
type graphed struct {
	w          *sparse.CSR
	components *sparse.Components
	options    graphOptions
	points     data.Points // after PCA
	pca        *data.PCA   // nil without
	index      *knn.State  // of the index it was built with; nil without
}

// project applies the principal components of o to x, as a stage.
func (a *app) project(x data.Points, o graphOptions) (data.Points, *data.PCA, error) {
	if o.PCA == 0 {
		return x, nil, nil
	}
	n, d := x.Dims()
	if err := a.need("pca", 8*int64(d)*(3*int64(d)+int64(min(n, 4096)))+4*int64(n)*int64(max(o.PCA, 0)), 0, "leave --pca out or give points of fewer columns"); err != nil {
		return nil, nil, err
	}
	st := a.progress.Stage("pca")
	p, err := data.NewPCA(x, o.PCA)
	if err != nil {
		return nil, nil, err
	}
	z, err := p.Apply(x)
	if err != nil {
		return nil, nil, err
	}
	var kept float64
	for _, v := range p.Variance {
		kept += v
	}
	st.Done(fmt.Sprintf("%d components, %.1f %% of the variance", o.PCA, 100*kept/p.Total))
	return z, p, nil
}

// defaultNeighbors is the paper's number of neighbours.
const defaultNeighbors = 8

// graph projects x and builds its graph, as stages. With knn.ErrRecall comes the
// graph that was reached.
func (a *app) graph(ctx context.Context, x data.Points, o graphOptions) (*graphed, error) {
	g, ix, st, err := a.search(x, o, "graph")
	if err != nil {
		return nil, err
	}
	if g.w, g.options.Graph, err = knn.NewGraph(ctx, ix, g.options.Graph); g.w == nil {
		return nil, err
	}
	g.components = g.w.Components()
	st.Done(papers.DescribeGraph(g.w, g.components) + g.found(ix))
	return g, err
}

// search projects x and prepares the search for neighbours, the stage of which
// has begun. What it returns has no graph yet.
func (a *app) search(x data.Points, o graphOptions, stage string) (*graphed, knn.Index, *progress.Stage, error) {
	if o.Graph.K == 0 && o.Graph.Radius == 0 {
		o.Graph.K = defaultNeighbors
	}
	if n, _ := x.Dims(); o.Graph.K >= n {
		return nil, nil, nil, fmt.Errorf("--neighbors is %d and there are %d points; a point has at most %d neighbours", o.Graph.K, n, n-1)
	}
	z, pca, err := a.project(x, o)
	if err != nil {
		return nil, nil, nil, err
	}
	a.chooseMethod(z, &o)
	var operations float64
	if o.Method == knn.Brute {
		operations = knn.BruteOperations(z)
	}
	err = a.need("neighbours", knn.IndexBytes(z, o.Method, o.Metric, o.Graph.K), operations, "project the points on fewer dimensions with --pca")
	if err != nil {
		return nil, nil, nil, err
	}
	st := a.progress.Stage(stage)
	ix, err := knn.NewIndex(z, o.Method, &knn.DescentSettings{
		Settings: knn.Settings{Metric: o.Metric, MaxPairs: max(1, int64(a.memory)/48), OnProgress: func(done, total int) { st.Update(float64(done), float64(total), "") }},
		Recall:   o.Recall, Seed: a.seed,
	})
	if err != nil {
		return nil, nil, nil, err
	}
	return &graphed{options: o, points: z, pca: pca}, ix, st, nil
}

// found keeps what is costly to find of the index that was searched, and the
// recall of an approximate one, which it returns as text.
func (g *graphed) found(ix knn.Index) string {
	g.index = knn.StateOf(ix)
	d, ok := ix.(*knn.Descent)
	if !ok {
		return ""
	}
	recall := d.Stats().Recall
	g.options.Found = &recall
	return fmt.Sprintf(", recall %s", recall)
}

// chooseMethod puts a method in place of auto and says which and why. A radius
// graph is always exact.
func (a *app) chooseMethod(x data.Points, o *graphOptions) {
	if o.Method != knn.Auto {
		return
	}
	method, why := knn.Choose(x, o.Metric, o.Graph.K)
	if o.Recall > 0 && o.Graph.Radius == 0 {
		method, why = knn.NNDescent, "a recall was asked for"
	}
	if o.Graph.Radius > 0 && !method.Exact() {
		method, why = knn.Brute, "a radius needs an exact search"
	}
	o.Method = method
	a.note("neighbours: by %s, because %s", method, why)
}

const defaultTolerance = 1e-8

// eigsOptions are the settings of eigenpairs; see graphOptions.
type eigsOptions struct {
	Laplacian sparse.Kind  `json:"laplacian"`
	Largest   bool         `json:"largest,omitempty"`
	Power     int          `json:"power,omitempty"`
	K         int          `json:"k"`
	Tolerance float64      `json:"tolerance"`
	Seed      uint64       `json:"seed"`
	Graph     graphOptions `json:"graph"` // what the graph was made with, if known
	// Certificate of the pairs; nil in settings.
	Certificate *eigsSummary `json:"certificate,omitempty"`
}

// flags adds the flags of eigenpairs; their defaults are the values that o has.
func (o *eigsOptions) flags(f *pflag.FlagSet) {
	nameFlag(f, &o.Laplacian, "laplacian", "Laplacian: combinatorial (D−W), normalized, random-walk")
	f.Float64Var(&o.Tolerance, "tolerance", o.Tolerance, "largest residual ‖Lv−λv‖ of a pair, relative to ‖L‖")
}

// eigenpairs computes eigenpairs of a graph, as a stage. more, if not nil, may
// add to the settings.
func (a *app) eigenpairs(ctx context.Context, w *sparse.CSR, c *sparse.Components, o eigsOptions, more func(*lanczos.Settings)) (*lanczos.Result, *sparse.Laplacian, error) {
	l, err := sparse.NewLaplacian(w, o.Laplacian)
	if err != nil {
		return nil, nil, err
	}
	settings := &lanczos.Settings{K: o.K, Largest: o.Largest, Tolerance: o.Tolerance, Seed: a.seed, MemoryLimit: int64(a.memory)}
	if more != nil {
		more(settings)
	}
	if err := a.needEigenpairs(w.Rows, w.NNZ(), *settings, "ask for fewer eigenpairs"); err != nil {
		return nil, nil, err
	}
	st := a.progress.Stage("eigenpairs")
	settings.OnRestart = func(s lanczos.State) error {
		st.Update(float64(s.Basis), float64(s.BasisMax), s.String())
		return nil
	}
	r, err := lanczos.Laplacian(ctx, l.With(max(o.Power, 1), 0), c, settings)
	if r != nil {
		st.Done(r.String())
	}
	return r, l, err
}

// needEigenpairs announces what eigenpairs take. Where the memory allowed is
// short, the basis is made smaller before anything is refused.
func (a *app) needEigenpairs(n, nnz int, s lanczos.Settings, remedy string) error {
	bytes, err := lanczos.Bytes(n, &s)
	if err != nil && s.MemoryLimit > 0 {
		s.MemoryLimit, s.Basis = 0, 1
		bytes, err = lanczos.Bytes(n, &s)
	}
	if err != nil {
		return err
	}
	return a.need("eigenpairs", bytes, lanczos.Operations(n, nnz, &s), remedy)
}

// observer shows an experiment's stages.
type observer struct {
	sink  *progress.Sink
	stage *progress.Stage
}

func (o *observer) Begin(stage string) { o.stage = o.sink.Stage(stage) }

func (o *observer) Update(done, total float64, note string) { o.stage.Update(done, total, note) }

func (o *observer) End(note string) { o.stage.Done(note) }

// hash keys of manifests.
const (
	hashPoints = "points"
	hashGraph  = "graph"
	hashLabels = "labels"
	// hashOutputs is that of the graph of a model's outputs.
	hashOutputs = "outputs"
)

// sameHash returns an error if two artifacts both name the content they belong
// to and it is not the same: file was made from the content of other, which is
// called key in its manifest.
func sameHash(m *manifest.Manifest, key, hash, file, other string) error {
	if m == nil || m.Hashes[key] == "" || hash == "" || m.Hashes[key] == hash {
		return nil
	}
	return fmt.Errorf("%s was not made from the %s in %s: its manifest says %s %.12s…, the file holds %.12s…; make it again", file, key, other, key, m.Hashes[key], hash)
}
