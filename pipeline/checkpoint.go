package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// Checkpoint is a folder that keeps the work of an unfinished run. It holds finished graphs,
// neighbours, eigenpairs and fits of a cross-validation. Every ten seconds it saves the state
// of unfinished work: a search for neighbours, the basis of eigenpairs, some of the fits. A
// single fit is done anew. On one instruction set (BIGFIT_SIMD) a resumed run ends with the
// bits of a run without interruption.
//
// The stages hold these arrays, for n points with k neighbours each, nnz stored edges and p
// eigenpairs; package internal/file/checkpoint describes the rest of the files:
//
//	graph.npz        ptr                 int64    n+1  W in compressed rows
//	                 col                 int32    nnz
//	                 val                 float64  nnz  absent if all weights are 1
//	                 index_…                           the index: see knn.State
//	                 neighbor_indices    int32    n×k  lists that the edges were made of
//	                 neighbor_distances  float64  n×k
//	neighbours.npz   index_…, neighbor_…               as above
//	search.npz       candidates          uint32        lists of an unfinished NN-descent
//	                 distances           float32       their distances
//	    or           index               int32    m·k  lists of the first m points
//	                 distance            float64  m·k  their distances
//	eigenpairs.npz   values              float64  p    eigenvalues
//	                 vectors             float64  n×p  eigenvectors
//	                 residuals           float64  p    their residuals
//	                 numbers             float64  3    norm, orthogonality, next eigenvalue
//	choice.npz, fits.npz                               no arrays: all is in the manifest
type Checkpoint struct{ folder *checkpoint.Folder }

// OpenCheckpoint opens the folder dir for a run, and makes and marks it if necessary. A folder that
// holds other files and no mark is an error, and so is a file there that has the name of a stage and
// is none. With resume the run goes on from the stages in the folder; without it the stages of an
// earlier run are removed. A positive memory bounds the bytes of an array that is read. write, if
// not nil, is called to write files, such as a function that keeps interrupts away.
func OpenCheckpoint(dir string, resume bool, memory int64,
	write func(func() error) error) (*Checkpoint, error) {
	f, err := checkpoint.Open(dir, "a checkpoint", resume, memory, write)
	if err != nil {
		return nil, err
	}
	return &Checkpoint{f}, nil
}

// MadeFrom records the hashes of the inputs of the run. A stage that was made from other
// inputs is not taken up.
func (c *Checkpoint) MadeFrom(inputs Hashes) { c.folder.Inputs = inputs }

// Any reports whether the folder holds a stage.
func (c *Checkpoint) Any() bool { return c.folder.Any() }

// Unfinished reports whether the folder holds the basis of eigenpairs that are not finished.
func (c *Checkpoint) Unfinished() bool {
	if c == nil {
		return false
	}
	_, err := os.Stat(c.folder.Path(checkpoint.Snapshot))
	return err == nil
}

// Clear removes the stages, once the results of the run are written. The folder stays.
func (c *Checkpoint) Clear() {
	if c != nil {
		c.folder.Clear()
	}
}

// kept returns the folder of the run, nil without one.
func (p *Pipeline) kept() *checkpoint.Folder {
	if p.Checkpoint == nil {
		return nil
	}
	return p.Checkpoint.folder
}

// graphKey returns the key of a stage of a graph of the points x.
func (p *Pipeline) graphKey(x data.Points, s GraphSettings) (checkpoint.Key, error) {
	key, err := p.kept().Key(s)
	if err != nil {
		return nil, err
	}
	key["hash of the points"] = data.HashPoints(x)
	key["seed"] = fmt.Sprint(p.Seed)
	return key, nil
}

// graphState holds the parts of a graph or of neighbours that are not arrays.
type graphState struct {
	Settings GraphSettings `json:"settings"`
	Index    *knn.State    `json:"index,omitempty"`
	Cols     int           `json:"k,omitempty"` // number of neighbours of each point
}

// restore gives g its settings, its lists and the state of its index.
func (st *graphState) restore(g *Graph, a checkpoint.Arrays) {
	g.Settings = st.Settings
	if st.Cols > 0 {
		g.Lists = &knn.Neighbors{K: st.Cols, Index: checkpoint.Elements[int32](a, knn.ListIndices),
			Distance: checkpoint.Elements[float64](a, knn.ListDistances)}
	}
	// Boxes and copies of points are computed from the points when the index is first asked.
	if g.Index = st.Index; g.Index != nil {
		g.Index.Order = checkpoint.Elements[int32](a, "index_order")
		g.Index.Neighbors = checkpoint.Elements[int32](a, "index_neighbors")
		g.Index.Splits = checkpoint.Elements[int32](a, "index_splits")
		g.Index.Thresholds = checkpoint.Elements[float32](a, "index_thresholds")
	}
}

// saveGraph keeps a finished graph.
func (p *Pipeline) saveGraph(g *Graph, key checkpoint.Key) error {
	if p.Checkpoint == nil {
		return nil
	}
	entries := append(g.Index.Entries(), archive.Array{Name: "ptr", Data: g.W.Ptr},
		archive.Array{Name: "col", Data: g.W.Col})
	entries = append(entries, g.Lists.Entries()...)
	st := graphState{Settings: g.Settings, Index: g.Index}
	if g.Lists != nil {
		st.Cols = g.Lists.K
	}
	if g.W.Val != nil {
		entries = append(entries, archive.Array{Name: "val", Data: g.W.Val})
	}
	// The unfinished search is of no use beside its result.
	err := p.kept().Save(checkpoint.Graph, key, st, entries...)
	if err == nil {
		p.kept().Remove(checkpoint.Search)
	}
	return err
}

// loadGraph completes g with a finished graph and reports whether there is one.
func (p *Pipeline) loadGraph(g *Graph, key checkpoint.Key) (bool, error) {
	var st graphState
	a, err := p.kept().Load(checkpoint.Graph, key, &st)
	if a == nil || err != nil {
		return false, err
	}
	n, _ := g.Points.Dims()
	w := &sparse.CSR{Rows: n, Cols: n, Ptr: checkpoint.Elements[int64](a, "ptr"),
		Col: checkpoint.Elements[int32](a, "col"), Val: checkpoint.Elements[float64](a, "val")}
	if err := w.CheckGraph(); err != nil {
		return false, fmt.Errorf("%s: %w; %s", p.kept().Path(checkpoint.Graph), err, checkpoint.BeginAnew)
	}

	st.restore(g, a)
	g.set(w, st.Settings.Graph)
	p.Observed().Note("graph: from the checkpoint, " + g.Describe())
	return true, nil
}

// saveNeighbors keeps finished neighbours.
func (p *Pipeline) saveNeighbors(g *Graph, nb *knn.Neighbors, key checkpoint.Key) error {
	if p.Checkpoint == nil {
		return nil
	}
	entries := append(g.Index.Entries(), nb.Entries()...)
	err := p.kept().Save(checkpoint.Neighbors, key, graphState{g.Settings, g.Index, nb.K}, entries...)
	if err == nil {
		p.kept().Remove(checkpoint.Search)
	}
	return err
}

// loadNeighbors completes g and returns finished neighbours, nil if there are none.
func (p *Pipeline) loadNeighbors(g *Graph, key checkpoint.Key) (*knn.Neighbors, error) {
	var st graphState
	a, err := p.kept().Load(checkpoint.Neighbors, key, &st)
	if a == nil || err != nil {
		return nil, err
	}
	n, _ := g.Points.Dims()
	st.restore(g, a)
	nb := g.Lists
	g.Lists = nil // graphs of several sizes are cut from them
	if nb == nil || len(nb.Index) != n*nb.K || len(nb.Distance) != n*nb.K {
		return nil, fmt.Errorf("%s: neighbours of %d points are not all there; %s",
			p.kept().Path(checkpoint.Neighbors), n, checkpoint.BeginAnew)
	}

	p.Observed().Note(fmt.Sprintf("neighbours: from the checkpoint, %d of each of %d points", nb.K, n))
	return nb, nil
}

// descentHooks let NN-descent save its rounds and go on from one.
func (p *Pipeline) descentHooks(s *knn.DescentSettings, key checkpoint.Key) error {
	c := p.kept()
	if c == nil {
		return nil
	}
	var r knn.DescentRound
	a, err := c.Load(checkpoint.Search, key, &r)
	if err != nil {
		return err
	}

	if a != nil {
		r.Index = checkpoint.Elements[uint32](a, "candidates")
		r.Dist = checkpoint.Elements[float32](a, "distances")
		s.Resume = &r
		p.Observed().Note(fmt.Sprintf("neighbours: the search goes on after %d trees and %d exchanges",
			r.Trees, r.Exchanges))
	}

	// Due keeps saving to a tenth of the time.
	s.Save = func(r knn.DescentRound) error {
		if !c.Due() {
			return nil
		}
		return c.Save(checkpoint.Search, key, r, archive.Array{Name: "candidates", Data: r.Index},
			archive.Array{Name: "distances", Data: r.Dist})
	}
	return nil
}

// atOnce is the longest time in seconds of an exact search that is made at once. A longer
// search with a checkpoint is made in parts of about a quarter of this time, so that a kill
// loses little. Tests shorten it.
var atOnce = 20.0

// self returns the k nearest other points of every point. With a checkpoint a long exact
// search is made in parts: each part finds the neighbours of some of the points. Parts compare
// every pair twice, a search at once compares it once; the neighbours are the same.
func (p *Pipeline) self(ctx context.Context, ix knn.Index, g *Graph,
	key checkpoint.Key) (*knn.Neighbors, error) {
	k := g.Settings.Graph.K
	n, _ := ix.Dims()
	c := p.kept()
	if !g.Settings.Method.Exact() {
		nb, err := ix.Self(ctx, k)
		if nb != nil && g.aimed && errors.Is(err, knn.ErrRecall) {
			p.Observed().Note(fmt.Sprintf("neighbours: %v; %s or %s %s asks for more", err,
				param.Name("recall"), param.Name("method"), knn.Brute))
			err = nil
		}
		return nb, err
	}

	if c == nil || k < 1 || k >= n {
		return ix.Self(ctx, k)
	}

	// Half of the pairs are saved at once, so a search in parts takes twice the time.
	seconds := 2 * knn.BruteOperations(g.Points) / machine.OperationRate()
	if seconds < 2*atOnce && !c.Has(checkpoint.Search) {
		return ix.Self(ctx, k)
	}
	nb := &knn.Neighbors{K: k}
	var state struct {
		Points int `json:"points"` // number of points with known neighbours
	}
	a, err := c.Load(checkpoint.Search, key, &state)
	if err != nil {
		return nil, err
	}

	if a != nil {
		nb.Index = checkpoint.Elements[int32](a, "index")
		nb.Distance = checkpoint.Elements[float64](a, "distance")
		if len(nb.Index) != state.Points*k || len(nb.Distance) != state.Points*k || state.Points > n {
			return nil, fmt.Errorf("%s: %d neighbours of %d points; %s", c.Path(checkpoint.Search),
				len(nb.Index), state.Points, checkpoint.BeginAnew)
		}
		p.Observed().Note(fmt.Sprintf("neighbours: the search goes on after %d of %d points",
			state.Points, n))
	}

	part := max(32, min(n, int(float64(n)*atOnce/4/seconds)))
	for lo := state.Points; lo < n; {
		hi := min(n, lo+part)
		if err := p.appendPart(ctx, ix, g, nb, lo, hi); err != nil {
			return nil, err
		}
		lo = hi
		if lo < n && c.Due() {
			state.Points = lo
			if err := c.Save(checkpoint.Search, key, state, archive.Array{Name: "index", Data: nb.Index},
				archive.Array{Name: "distance", Data: nb.Distance}); err != nil {
				return nil, err
			}
		}
	}

	return nb, nil
}

// appendPart appends to nb the neighbours of the points lo to hi.
func (p *Pipeline) appendPart(ctx context.Context, ix knn.Index, g *Graph, nb *knn.Neighbors,
	lo, hi int) error {
	n, _ := ix.Dims()
	told := knn.WithProgress(ix, func(done, _ int) { p.Observed().Update(float64(lo+done), float64(n), "") })
	found, err := told.Query(ctx, data.Select(g.Points, data.Range(lo, hi)), nb.K+1)
	if err != nil {
		return err
	}

	// A query finds the point itself too, which a list must not name.
	for i := lo; i < hi; i++ {
		index, dist := found.Row(i - lo)
		self := slices.Index(index, int32(i))
		if self < 0 { // crowded out by duplicates with smaller numbers
			self = nb.K
		}
		nb.Index = append(append(nb.Index, index[:self]...), index[self+1:]...)
		nb.Distance = append(append(nb.Distance, dist[:self]...), dist[self+1:]...)
	}

	return nil
}

// eigsName names the operator of eigenpairs in their snapshot.
func eigsName(g *models.Graph, s *EigsSettings) string {
	return fmt.Sprintf("%s of graph %s to the power %d", s.Laplacian, data.HashPoints(g.W), max(s.Power, 1))
}

// snapshots lets the computation of eigenpairs save its state and go on from one.
func (p *Pipeline) snapshots(g *models.Graph, s *EigsSettings, settings *lanczos.Settings) error {
	c := p.kept()
	if c == nil {
		return nil
	}
	operator := eigsName(g, s)
	if c.Has(checkpoint.Snapshot) {
		snap, err := lanczos.LoadSnapshot(c.Path(checkpoint.Snapshot), operator, p.Memory)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w; %s", err, checkpoint.BeginAnew)
		}
		settings.Resume = snap
	}

	// A basis that was just examined is saved even if the last saving was recent, as far as that
	// is affordable: going on from it costs no new examination.
	settings.OnCheckpoint = func(snap *lanczos.Snapshot) error {
		if !c.Due() && !(snap.Looked() && c.Affordable()) {
			return nil
		}
		return c.Store(checkpoint.Snapshot, func(path string) error { return snap.Save(path, operator) })
	}
	return nil
}

// pairsState holds the parts of finished eigenpairs that are not arrays.
type pairsState struct {
	Exact    bool `json:"exact"`
	Missed   bool `json:"missed"`
	Counted  bool `json:"counted,omitempty"`
	Nullity  int  `json:"nullity"`
	Degree   int  `json:"degree"`
	Products int  `json:"products"`
	Restarts int  `json:"restarts"`
}

// keptEigenpairs is [Pipeline.Eigenpairs] for a fit. It keeps the eigenpairs in the
// checkpoint, because the fit may take long after them. Without a checkpoint the search begins
// with the columns of start, if there are any.
func (p *Pipeline) keptEigenpairs(ctx context.Context, g *models.Graph, s *EigsSettings,
	start *mat.Dense) (*lanczos.Result, error) {
	c := p.kept()
	if c == nil {
		return p.Eigenpairs(ctx, g, s, func(s *lanczos.Settings) { s.Known = start })
	}
	key, err := c.Key(s)
	if err != nil {
		return nil, err
	}
	key["operator"] = eigsName(g, s)
	key["seed"] = fmt.Sprint(p.Seed)
	var st pairsState
	a, err := c.Load(checkpoint.Eigenpairs, key, &st)
	if err != nil {
		return nil, err
	}

	if a != nil {
		r := &lanczos.Result{Values: checkpoint.Elements[float64](a, "values"),
			Residuals: checkpoint.Elements[float64](a, "residuals"),
			Nullity:   st.Nullity, Degree: st.Degree, Products: st.Products, Restarts: st.Restarts,
			Certificate: lanczos.Certificate{Exact: st.Exact, Missed: st.Missed, Counted: st.Counted}}
		vectors := checkpoint.Elements[float64](a, "vectors")
		numbers := checkpoint.Elements[float64](a, "numbers")
		if n, k := g.W.Rows, len(r.Values); k == 0 || len(vectors) != n*k || len(numbers) != 3 {
			return nil, fmt.Errorf("%s: %d values and %d elements of vectors of %d points; %s",
				c.Path(checkpoint.Eigenpairs), k, len(vectors), n, checkpoint.BeginAnew)
		}
		r.Vectors = mat.NewDense(g.W.Rows, len(r.Values), vectors)
		r.Norm = numbers[0]
		r.Orthogonality = numbers[1]
		r.Certificate.Next = numbers[2]
		p.Observed().Note("eigenpairs: from the checkpoint, " + r.String())
		return r, nil
	}

	r, err := p.Eigenpairs(ctx, g, s, nil)
	if err != nil {
		return r, err
	}
	t := r.Certificate
	err = c.Save(checkpoint.Eigenpairs, key, pairsState{t.Exact, t.Missed, t.Counted, r.Nullity, r.Degree, r.Products,
		r.Restarts},
		archive.Array{Name: "values", Data: r.Values}, models.MatrixEntry("vectors", r.Vectors),
		archive.Array{Name: "residuals", Data: r.Residuals},
		archive.Array{Name: "numbers", Data: []float64{r.Norm, r.Orthogonality, t.Next}})
	if err != nil {
		return nil, err
	}

	// The basis is of no use beside the result.
	c.Remove(checkpoint.Snapshot)
	return r, nil
}
