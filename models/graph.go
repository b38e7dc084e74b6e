package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/pca"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// A transductive model keeps one [Neighborhood] of its graph, by which new points join: the
// points after principal components, the settings of the edges, and the state of the index
// that was searched, which prediction restores.

// Graph is a graph on n training points with what new points need to join it.
type Graph struct {
	W          *sparse.CSR        // symmetric weights; nil if only Degrees are known
	Components *sparse.Components // connected components of W
	// Foreign tells that the weights are not known to be made of the points: links, or a matrix of another program.
	Foreign bool
	Neighborhood

	hard func() bool // [Graph.Hard], found out once; nil for a graph that was not made by the functions below
}

// NewGraph returns a graph without points: new ones cannot join it.
func NewGraph(w *sparse.CSR) *Graph { return GraphOf(w, w.Components()) }

// GraphOf is [NewGraph] for a w with known components c.
func GraphOf(w *sparse.CSR, c *sparse.Components) *Graph {
	g := &Graph{}
	g.set(w, c)
	return g
}

// SetWeights gives g other weights, with their components and degrees.
func (g *Graph) SetWeights(w *sparse.CSR) { g.set(w, w.Components()) }

func (g *Graph) set(w *sparse.CSR, c *sparse.Components) {
	g.W = w
	g.Components = c
	g.Degrees = w.Degrees()
	g.hard = sync.OnceValue(func() bool { return cg.Hard(w, sparse.Normalized) })
}

// Hard reports whether the normalized Laplacian of W is ill-conditioned ([cg.Hard]). Every learner that announces its
// memory asks; the passes over the edges that it takes are made once.
func (g *Graph) Hard() bool {
	if g.hard == nil {
		return cg.Hard(g.W, sparse.Normalized)
	}
	return g.hard()
}

// Len returns the number of points.
func (g *Graph) Len() int { return len(g.Degrees) }

// Describe counts edges, components and isolated points.
func (g *Graph) Describe() string { return g.Components.Describe(g.W.NNZ()) }

// Neighborhood joins new points to n training points as the graph joined the training points.
type Neighborhood struct {
	Degrees []float64 // degrees of the training points in the graph; nil if there is none
	// Points are the training points as the graph was built on them, after PCA;
	// nil if the graph came without points.
	Points data.Points
	PCA    *pca.Projection // applied to new points first; may be nil

	Metric knn.Metric
	// Method searches for the neighbours of new points; Auto compares all pairs.
	Method knn.Method
	// Index is the state of the index that the graph was built with; without it
	// the first search builds an index by Method.
	Index *knn.State
	Edges knn.GraphSettings // the edges of the graph
	Seed  uint64            // seed of an index that is built
	// Lists holds the neighbours that the edges were made of, Edges.K for each point. It is
	// nil if they are not known, and then no points can be appended. It is nil too where a file left
	// them out: see [Neighborhood.WithLists].
	Lists *knn.Neighbors

	// listed holds K and, if the file has them, the indices of lists that WithLists measures; nil
	// without any.
	listed *knn.Neighbors

	lazy *lazyIndex
}

// lazyIndex is an index that the first search makes, and what was found out about the lists.
type lazyIndex struct {
	sync.Mutex
	ix knn.Index

	of      *knn.Neighbors // the lists that follows is about; nil before
	follows knn.Follow
}

// WithLists returns a copy that shares the arrays and the index, with Lists if any are kept. Lists that
// a file left out are measured from the points, in O(n·K·d): they have the bits of those that were
// saved, on the same instruction set.
func (h *Neighborhood) WithLists() (Neighborhood, error) {
	out := *h
	if h.listed == nil {
		return out, nil
	}
	n, _ := h.Points.Dims()
	var nb *knn.Neighbors
	var err error
	if h.listed.Index != nil {
		nb, err = knn.Relist(h.Points, h.Metric, h.listed.K, h.listed.Index)
	} else {
		nb, err = h.Index.Lists(h.Points, h.Metric, h.listed.K)
	}

	if err == nil {
		err = nb.CheckLists(n, h.Metric)
	}
	if err != nil {
		return out, fmt.Errorf("the neighbours in the model do not belong to its points, the file is damaged: %w", err)
	}
	out.Lists = nb
	out.listed = nil
	return out, nil
}

// follow says what of Lists follows from the points and the index. Neighbourhoods that share an index
// find it out once.
func (h *Neighborhood) follow() (knn.Follow, error) {
	if h.Points == nil {
		return knn.FollowsNothing, nil
	}
	lazy := h.lazy
	if lazy == nil { // not kept by anyone
		lazy = &lazyIndex{}
	}
	lazy.Lock()
	defer lazy.Unlock()
	if lazy.of == h.Lists {
		return lazy.follows, nil
	}

	follows, err := knn.Follows(h.Lists, h.Points, h.Metric, h.Index)
	if err != nil {
		return follows, fmt.Errorf("models: %w", err)
	}
	lazy.of = h.Lists
	lazy.follows = follows
	return follows, nil
}

// Keep returns a copy that shares the arrays and has its own index.
func (h *Neighborhood) Keep() Neighborhood {
	out := *h
	out.lazy = &lazyIndex{}
	return out
}

// Adopt makes h share the points and the index of other. Both must be equal to h's own.
func (h *Neighborhood) Adopt(other *Neighborhood) {
	h.Points = other.Points
	h.PCA = other.PCA
	h.Index = other.Index
	h.lazy = other.lazy
}

// Dim returns the number of columns of new points; 0 without training points.
func (h *Neighborhood) Dim() int {
	switch {
	case h.Points == nil:
		return 0
	case h.PCA != nil:
		return len(h.PCA.Mean)
	}
	_, d := h.Points.Dims()
	return d
}

// QueryCost estimates a search for the k nearest training points of n new ones.
func (h *Neighborhood) QueryCost(n, k int) stage.Cost {
	if h.Points == nil {
		return stage.Cost{}
	}
	return stage.Cost{Bytes: knn.IndexBytes(h.Points, h.Method, h.Metric, 0) + 16*int64(n)*int64(k)}
}

// index returns the index of the training points.
func (h *Neighborhood) index() (knn.Index, error) {
	lazy := h.lazy
	if lazy == nil { // not kept by anyone
		lazy = &lazyIndex{}
	}
	lazy.Lock()
	defer lazy.Unlock()
	if lazy.ix != nil {
		return lazy.ix, nil
	}

	// A kept index gives the answers of the index that the graph was built with.
	s := &knn.DescentSettings{Settings: knn.Settings{Metric: h.Metric}, Seed: h.Seed}
	var err error
	if h.Index != nil {
		lazy.ix, err = knn.Restore(h.Points, h.Index, s)
	} else {
		method := h.Method
		if method == knn.Auto {
			method = knn.Brute
		}
		lazy.ix, err = knn.NewIndex(h.Points, method, s)
	}

	return lazy.ix, err
}

// ErrNoQuery is returned by Predict for no points.
var ErrNoQuery = errors.New("models: no points to answer for")

// ErrNoPoints is returned by models that were fitted on a graph alone.
var ErrNoPoints = errors.New("models: the model was fitted on a graph without points and cannot " +
	"answer for new ones; fit it with the points")

// Joined returns the number of training points that a new point is joined to: the number in
// s, or the k of the graph. A graph by a radius has no such number, which is an error.
func (h *Neighborhood) Joined(s *PredictSettings) (int, error) {
	k := h.Edges.K
	if s != nil && s.Neighbors != 0 {
		k = s.Neighbors
	}
	switch {
	case k < 0:
		return 0, fmt.Errorf("models: %d neighbours; the number must be positive", k)
	case k == 0:
		return 0, fmt.Errorf("models: this model's graph joins points within %g and has no number of "+
			"neighbours; say how many of a new point to use", h.Edges.Radius)
	}

	return k, nil
}

// Nearest finds the k nearest training points of every point of x, or takes them from
// s.Found. The first search restores or builds the index. The recall has the meaning of
// [Prediction.Recall].
func (h *Neighborhood) Nearest(ctx context.Context, x data.Points, k int, s *PredictSettings) (*knn.Neighbors,
	*knn.Recall, error) {
	if err := CheckQuery(x, h.Dim()); err != nil {
		return nil, nil, err
	}

	// Members of a pool search on the same points: the pool searches once for all.
	var onProgress func(done, total int)
	if s != nil {
		if m, _ := x.Dims(); s.Found != nil && s.Found.Len() == m && s.Found.K >= k {
			if nb := s.Found.Trim(k); nb != nil {
				return nb, nil, nil
			}
		}
		onProgress = s.OnProgress
	}

	ix, err := h.index()
	if err != nil {
		return nil, nil, err
	}

	// New points go through the projection that the training points went through.
	if h.PCA != nil {
		if x, err = h.PCA.Apply(x); err != nil {
			return nil, nil, err
		}
	}

	n, _ := h.Points.Dims()
	nb, err := knn.WithProgress(ix, onProgress).Query(ctx, x, min(k, n))
	if err != nil {
		return nil, nil, err
	}

	// Only NN-descent is approximate; without a sample its recall is not known.
	if d, ok := ix.(*knn.Descent); ok {
		if r := d.Stats().Recall; r.Sample > 0 {
			return nb, &r, nil
		}
	}
	return nb, nil, nil
}

// PrepareIndex makes the graph of NN-descent that a search follows, unless the model holds
// it. Other indexes are ready at once. If there is work, begin is called first; progress is
// counted in training points.
func (h *Neighborhood) PrepareIndex(ctx context.Context, begin func(),
	onProgress func(done, total int)) error {
	if h.Points == nil || h.lazy == nil {
		return nil
	}
	ix, err := h.index()
	if err != nil {
		return err
	}
	// K is 0 until the graph of NN-descent is made.
	d, ok := knn.WithProgress(ix, onProgress).(*knn.Descent)
	if !ok || d.Stats().K > 0 {
		return nil
	}

	begin()
	return d.Prepare(ctx)
}

// Weights returns the weights of the edges from new points to the training points that
// Nearest found, in the order of nb.Index: see [knn.GraphSettings.EdgeWeights]. A new point is in no
// list of a training point. In a graph W + Wᵀ ([sparse.Sum]) its edges count twice, as if each neighbour
// named it too, so that its degree is near the mean of the graph's degrees.
//
// Weights of [knn.Shared] are shares of common neighbours and need the lists of the training
// points in nb. Weights searches for these lists, by up to n·nb.K further queries.
func (h *Neighborhood) Weights(ctx context.Context, nb *knn.Neighbors) ([]float64, error) {
	w := make([]float64, len(nb.Index))
	lists := map[int32][]int32{}
	if h.Edges.Weights == knn.Shared {
		var err error
		if lists, err = h.lists(ctx, nb.Index); err != nil {
			return nil, err
		}
	}

	par.For(nb.Len(), 256, func(lo, hi int) {
		others := make([][]int32, nb.K)
		for i := lo; i < hi; i++ {
			index, dist := nb.Row(i)
			if h.Edges.Weights != knn.Shared {
				copy(w[i*nb.K:], h.Edges.EdgeWeights(dist))
				continue
			}
			for p, j := range index {
				others[p] = lists[j]
			}
			copy(w[i*nb.K:], knn.SharedWeights(index, others))
		}
	})

	if h.Edges.K > 0 && h.Edges.Symmetry == sparse.Sum {
		for p := range w {
			w[p] *= 2
		}
	}
	return w, nil
}

// lists returns the nearest other training points of the training points in index.
func (h *Neighborhood) lists(ctx context.Context, index []int32) (map[int32][]int32, error) {
	ix, err := h.index()
	if err != nil {
		return nil, err
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(index)))
	rows := make([]int, len(distinct))
	for p, j := range distinct {
		rows[p] = int(j)
	}

	// A training point finds itself, so one neighbour more is asked for.
	n, _ := ix.Dims()
	nb, err := knn.WithProgress(ix, nil).Query(ctx, data.Select(h.Points, rows), min(h.Edges.K+1, n))
	if err != nil {
		return nil, err
	}

	lists := make(map[int32][]int32, len(distinct))
	for p, j := range distinct {
		list, _ := nb.Row(p)
		self := slices.Index(list, j)
		if self < 0 { // crowded out by duplicates of it, which are as good
			self = len(list) - 1
		}
		lists[j] = slices.Concat(list[:self], list[self+1:])
	}

	return lists, nil
}

// neighborhoodState is the part of a neighbourhood in the manifest of a model.
type neighborhoodState struct {
	Metric knn.Metric        `json:"metric"`
	Method knn.Method        `json:"method"`
	Edges  knn.GraphSettings `json:"edges"`
	Seed   uint64            `json:"seed"`
	Index  *knn.State        `json:"index,omitempty"`
	Lists  int               `json:"lists,omitempty"` // neighbours of each point that are kept
	// LeftOut says which arrays of the lists are not there, as they follow from the others.
	LeftOut leftOut `json:"left_out,omitempty"`
}

// leftOut names the arrays of lists of neighbours that a file is without.
type leftOut string

const (
	leftDistances leftOut = "distances" // measured from the points: see [knn.Relist]
	leftLists     leftOut = "lists"     // and from the state of the index: see [knn.State.Lists]
)

// Encode returns the arrays of a neighbourhood, and the rest of it for the manifest. Each
// part may be missing:
//
//	degrees             float64  n        degrees of the training points in the graph
//	points, pca_…                         see [PointEntries]
//	index_order         int32    n        order of the points in a tree, or in NN-descent
//	index_neighbors     int32    n×width  lists of NN-descent, −1 behind the end of a list
//	index_splits        int32    nodes×3  entry tree of NN-descent: see [knn.State]
//	index_thresholds    float32  nodes    thresholds of its inner nodes
//	neighbor_indices    int32    n×k      neighbours that the edges were made of
//	neighbor_distances  float64  n×k      their distances, ascending in a row
//
// The lists of neighbours are left out where they follow from the index of NN-descent and the points,
// and their distances where these follow from the points: [Neighborhood.WithLists] measures them.
// Beside points, numbers of points are deflated: the high bytes are mostly equal.
func (h *Neighborhood) Encode() (RawState, []archive.Array, error) {
	state := neighborhoodState{Metric: h.Metric, Method: h.Method, Edges: h.Edges, Seed: h.Seed, Index: h.Index}
	lists, err := h.encodeLists(&state)
	if err != nil {
		return nil, nil, err
	}
	raw, err := json.Marshal(state)
	if err != nil {
		return nil, nil, fmt.Errorf("models: %w", err)
	}
	entries := PointEntries(h.Points, h.PCA)
	if h.Degrees != nil {
		entries = append(entries, archive.Array{Name: "degrees", Data: h.Degrees})
	}

	index := h.Index.Entries()
	for i := range index {
		index[i].Compress = h.Points != nil
	}
	return raw, slices.Concat(entries, index, lists), nil
}

// encodeLists returns the arrays of the lists of neighbours that do not follow from others, and notes
// in state what they are.
func (h *Neighborhood) encodeLists(state *neighborhoodState) ([]archive.Array, error) {
	lists := h.Lists
	follows := knn.FollowsNothing
	switch {
	case lists != nil:
		var err error
		if follows, err = h.follow(); err != nil {
			return nil, err
		}
	case h.listed == nil:
		return nil, nil
	default:
		lists = h.listed
		follows = knn.FollowDistances
		if lists.Index == nil {
			follows = knn.FollowLists
		}
	}

	state.Lists = lists.K
	switch follows {
	case knn.FollowLists:
		state.LeftOut = leftLists
		return nil, nil
	case knn.FollowDistances:
		state.LeftOut = leftDistances
		indices := lists.Entries()[0]
		indices.Compress = true
		return []archive.Array{indices}, nil
	}
	return lists.Entries(), nil
}

// Neighborhood reads and checks a neighbourhood of n training points that Encode wrote.
// degrees tells whether it must have degrees.
func (r *Reader) Neighborhood(raw RawState, n int, degrees bool) (Neighborhood, error) {
	h, err := r.neighborhood(raw, degrees)
	if err != nil {
		return h, err
	}
	// A model inside another shares the points and the index of the outer model, if they are
	// equal.
	if o := r.outer; o != nil && h.Points != nil && h.Points == o.Points && h.Method == o.Method &&
		h.Metric == o.Metric && h.Seed == o.Seed && h.Index.Same(o.Index) {
		h.Adopt(o)
	}
	return h, h.check(n, degrees)
}

// ReadNeighborhood reads a neighbourhood without points and degrees from the file of a graph
// of n points, and makes the checks that need neither. arrays is the result of
// [DescribeArrays] for its arrays. A positive memory bounds the bytes of an array.
func ReadNeighborhood(path string, memory int64, raw RawState, arrays map[string]string,
	n int) (Neighborhood, error) {
	a, err := npy.OpenArchive(path, memory)
	if err != nil {
		return Neighborhood{}, err
	}
	defer a.Close()
	h, err := neighborhoodOf(a, raw, arrays, n)
	if err != nil {
		return Neighborhood{}, fmt.Errorf("%s: %w; make the graph again", path, err)
	}
	return h, nil
}

// neighborhoodOf is [ReadNeighborhood] of an open archive.
func neighborhoodOf(a *npy.Archive, raw RawState, arrays map[string]string, n int) (Neighborhood, error) {
	// The other arrays of the file belong to the graph, which is read apart.
	for _, name := range a.Names() {
		if family, _, _ := strings.Cut(name, "_"); family != "index" && family != "neighbor" &&
			family != "pca" {
			continue
		}
		if _, err := checkHeader(a, name, arrays); err != nil {
			return Neighborhood{}, err
		}
	}

	r := newReader(a, 0)
	h, err := r.neighborhood(raw, false)
	if err != nil {
		return h, err
	}
	var faults []error
	if h.Lists != nil {
		faults = append(faults, h.Lists.CheckLists(n, h.Metric))
	}
	if h.PCA != nil {
		faults = append(faults, checkPCA(h.PCA, h.PCA.Components.RawMatrix().Rows))
	}
	if h.Index != nil {
		faults = append(faults, h.Index.Check(n))
	}
	return h, errors.Join(faults...)
}

// neighborhood reads a neighbourhood without checks.
func (r *Reader) neighborhood(raw RawState, degrees bool) (Neighborhood, error) {
	var s neighborhoodState
	if err := archive.Unmarshal(raw, &s); err != nil {
		return Neighborhood{}, fmt.Errorf("the neighbourhood in the manifest: %w", err)
	}
	h := Neighborhood{Points: r.Points(), PCA: r.PCA(), Metric: s.Metric, Method: s.Method, Edges: s.Edges,
		Seed: s.Seed, Index: s.Index, lazy: &lazyIndex{}}
	if degrees {
		h.Degrees = Numbers[float64](r, "degrees")
	}
	// A tree keeps its order only; NN-descent keeps its lists and the tree that finds entries.
	if h.Index != nil {
		h.Index.Order = Numbers[int32](r, "index_order")
		if h.Index.Stats != nil {
			h.Index.Neighbors = Elements[int32](r, "index_neighbors", h.Index.Stats.Width)
			h.Index.Splits = Elements[int32](r, "index_splits", 3)
			h.Index.Thresholds = Numbers[float32](r, "index_thresholds")
		}
	}

	return h, r.lists(&h, s.Lists, s.LeftOut)
}

// lists reads the lists of k neighbours, or what is there of them; none for k = 0.
func (r *Reader) lists(h *Neighborhood, k int, out leftOut) error {
	if k <= 0 {
		return r.Err
	}
	switch out {
	case "":
		h.Lists = &knn.Neighbors{K: k, Index: Elements[int32](r, knn.ListIndices, k),
			Distance: Elements[float64](r, knn.ListDistances, k)}
	case leftDistances:
		h.listed = &knn.Neighbors{K: k, Index: Elements[int32](r, knn.ListIndices, k)}
	case leftLists:
		h.listed = &knn.Neighbors{K: k}
	default:
		return fmt.Errorf("the neighbourhood in the manifest leaves out %q; it may be of a later version of bigfit", out)
	}
	return r.Err
}

// check returns all faults at once.
func (h *Neighborhood) check(n int, degrees bool) error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("models: "+format,
			args...))
	}
	if degrees && len(h.Degrees) != n {
		fault("%d degrees for %d points", len(h.Degrees), n)
	}
	if i := slices.IndexFunc(h.Degrees, func(d float64) bool { return d < 0 }); i >= 0 {
		fault("degree %v of point %d", h.Degrees[i], i)
	}
	if h.Index != nil && h.Points == nil {
		fault("an index without points")
	}
	if h.Index != nil && h.Index.Method != h.Method {
		fault("the index is a %v, the method %v", h.Index.Method, h.Method)
	}

	if h.Lists != nil {
		if err := h.Lists.CheckLists(n, h.Metric); err != nil {
			faults = append(faults, err)
		}
	}
	if err := h.checkListed(n); err != nil {
		faults = append(faults, err)
	}

	// The rest looks at points, which must fit to all of the above.
	if h.Points == nil || len(faults) > 0 {
		return errors.Join(faults...)
	}
	rows, d := h.Points.Dims()
	if rows != n {
		fault("%d points for %d rows", rows, n)
	}
	if h.Edges.Weights == knn.Heat && !(h.Edges.T > 0) {
		fault("heat weights with t = %v", h.Edges.T)
	}
	if h.Edges.K <= 0 && !(h.Edges.Radius > 0) {
		fault("a graph of neither neighbours nor a radius")
	}
	if err := checkPCA(h.PCA, d); err != nil {
		faults = append(faults, err)
	}

	// Restoring an index checks it against the points; a damaged one is found at loading.
	if len(faults) == 0 && h.Index != nil {
		if _, err := h.index(); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// checkListed returns an error unless the lists that are to be measured can be those of n points.
// WithLists checks the rest, when it has the distances.
func (h *Neighborhood) checkListed(n int) error {
	nb := h.listed
	switch {
	case nb == nil:
		return nil
	case h.Points == nil:
		return errors.New("models: lists of neighbours without distances, and no points to measure them")
	case nb.Index != nil:
		return nb.CheckIndices(n)
	case h.Index == nil || h.Index.Stats == nil:
		return errors.New("models: no lists of neighbours, and no index of NN-descent that holds them")
	case nb.K > h.Index.Stats.K:
		return fmt.Errorf("models: lists of %d neighbours of an index of %d", nb.K, h.Index.Stats.K)
	}
	return nil
}

// RawState is JSON that only this package reads.
type RawState = json.RawMessage
