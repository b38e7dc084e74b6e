package selection

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// shared keeps the graphs that all searches and fits of a comparison have in common, and the
// eigenpairs of the Laplacians of these graphs or of their components. After Prepare it is
// only read, so that fits may run at the same time.
type shared struct {
	graphs map[int]*models.Graph // by number of neighbours; 0 for one that is given
	hashes map[*sparse.CSR]string
	pairs  map[pairing]*eigenpairs
}

// pairing identifies eigenpairs that are equal except for their number.
type pairing struct {
	graph     string // hash
	laplacian sparse.Kind
	tolerance float64
}

// eigenpairs are the computed pairs of a pairing, with the usable error of their computation.
type eigenpairs struct {
	*lanczos.Result
	unconverged error
}

// Eigensolver computes the k smallest eigenpairs of a Laplacian of a graph. An error that
// is [models.Usable] comes with a result.
type Eigensolver func(ctx context.Context, g *models.Graph, kind sparse.Kind, k int,
	tolerance float64) (*lanczos.Result, error)

// graph makes the graph of the given number of neighbours, once.
func (s *shared) graph(d *Data, neighbors int) (*models.Graph, error) {
	if g := s.graphs[neighbors]; g != nil {
		return g, nil
	}
	g := d.Graph
	if g == nil {
		var err error
		if g, err = d.cut(neighbors); err != nil {
			return nil, err
		}
	}

	s.graphs[neighbors] = g
	s.hashes[g.W] = data.HashPoints(g.W)
	return g, nil
}

// key returns the pairing of a Laplacian.
func (s *shared) key(l *sparse.Laplacian, tolerance float64) pairing {
	hash, ok := s.hashes[l.Graph()]
	if !ok { // the graph of a component
		hash = data.HashPoints(l.Graph())
	}
	return pairing{hash, l.Kind(), tolerance}
}

// solve returns the first pairs of the eigenpairs that are known, with the usable error of
// their computation. Where too few are known, it computes them.
func (s *shared) solve(ctx context.Context, l *sparse.Laplacian, c *sparse.Components,
	settings *lanczos.Settings) (*lanczos.Result, error) {
	e := s.pairs[s.key(l, settings.Tolerance)]
	k := settings.K
	if e == nil || len(e.Values) < k {
		return lanczos.Laplacian(ctx, l, c, settings)
	}
	if len(e.Values) == k {
		return e.Result, e.unconverged
	}
	// Pairs ascend, so the smallest k of more pairs are the first k columns.
	r := *e.Result
	n, _ := r.Vectors.Dims()
	r.Values = r.Values[:k]
	r.Residuals = r.Residuals[:k]
	r.Nullity = min(r.Nullity, k)
	r.Vectors = r.Vectors.Slice(0, n, 0, k).(*mat.Dense)
	return &r, e.unconverged
}

// pair sets in.Pairs to the eigenpairs that the learner needs. The error may be usable. A nil
// s leaves in as it is.
func (s *shared) pair(ctx context.Context, l models.Learner, in *models.Input) error {
	paired, ok := l.(models.Paired)
	if s == nil || !ok || in.Graph == nil {
		return nil
	}
	w, err := wantedPairs(paired, in)
	if err != nil {
		return err
	}
	settings := lanczos.Settings{K: w.k, Tolerance: w.tolerance, Seed: in.Seed, MemoryLimit: in.Memory}
	in.Laplacian = w.laplacian.Kind()
	if w.quotas == nil {
		in.Pairs, err = s.solve(ctx, w.laplacian, in.Graph.Components, &settings)
		return err
	}

	in.Pairs, err = lanczos.Parts(ctx, w.laplacian, in.Graph.Components, w.quotas,
		func(p *lanczos.Part) (*lanczos.Result, error) {
			one := settings
			one.K = p.K
			return s.solve(ctx, p.Laplacian, p.Components, &one)
		})
	return err
}

// wanted describes the eigenpairs that a fit takes: the k smallest of a Laplacian or, where
// quotas are given, the smallest of the components that these name.
type wanted struct {
	laplacian *sparse.Laplacian
	k         int
	tolerance float64
	quotas    []int32
}

// wantedPairs returns the eigenpairs that a learner takes with the graph of in.
func wantedPairs(l models.Paired, in *models.Input) (w wanted, err error) {
	var kind sparse.Kind
	if w.k, kind, w.tolerance, err = l.Pairs(in); err != nil {
		return w, err
	}
	if w.laplacian, err = in.LaplacianOf(kind); err != nil {
		return w, err
	}
	if parts, ok := l.(models.PartPaired); ok {
		w.quotas, err = parts.Quotas(in)
	}
	return w, err
}

// pairDemand collects how many eigenpairs of one Laplacian any of the fits takes: the largest
// number for the whole graph, and the largest for each component.
type pairDemand struct {
	graph     *models.Graph
	laplacian *sparse.Laplacian
	tolerance float64
	whole     int
	parts     []int // by component
}

// add raises the numbers to the needs of w.
func (m *pairDemand) add(w wanted) {
	if w.quotas == nil {
		m.whole = max(m.whole, w.k)
		return
	}
	counts := make([]int, m.graph.Components.Count())
	for _, id := range w.quotas {
		counts[id]++
	}
	if m.parts == nil {
		m.parts = make([]int, len(counts))
	}
	for id, n := range counts {
		m.parts[id] = max(m.parts[id], n)
	}
}

// solve computes the eigenpairs into s.
func (m *pairDemand) solve(ctx context.Context, s *shared, solve Eigensolver) error {
	// Pairs that did not converge are kept with their error, and the fits report it.
	keep := func(g *models.Graph, l *sparse.Laplacian, k int) (*lanczos.Result, error) {
		r, err := solve(ctx, g, l.Kind(), k, m.tolerance)
		if models.Usable(err) {
			s.pairs[s.key(l, m.tolerance)] = &eigenpairs{r, err}
		}
		return r, err
	}
	if m.whole > 0 {
		if _, err := keep(m.graph, m.laplacian, m.whole); !models.Usable(err) {
			return err
		}
	}

	// The largest number of each component is a quota: its first pairs serve smaller numbers
	// too.
	var of []int32
	for id, n := range m.parts {
		for range n {
			of = append(of, int32(id))
		}
	}

	if of == nil {
		return nil
	}
	_, err := lanczos.Parts(ctx, m.laplacian, m.graph.Components, of,
		func(p *lanczos.Part) (*lanczos.Result, error) {
			return keep(&models.Graph{W: p.Laplacian.Graph(), Components: p.Components}, p.Laplacian, p.K)
		})
	if models.Usable(err) {
		return nil // the fits say so
	}
	return err
}
