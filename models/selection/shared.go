package selection

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// shared keeps what all searches and fits of a comparison have in common: the graphs,
// and eigenpairs of their Laplacians. After it is made it is only read.
type shared struct {
	graphs map[*models.Graph]int // the number of neighbours of each
	byK    map[int]*models.Graph
	pairs  map[pairing]*eigenpairs
}

// pairing says which eigenpairs are the same but for their number.
type pairing struct {
	neighbors int // of the graph; 0 for a graph that is given
	laplacian sparse.Kind
	tolerance float64
}

// eigenpairs are those of a pairing, with the usable error that they came with.
type eigenpairs struct {
	*lanczos.Result
	short error
}

// Eigensolver computes the k smallest eigenpairs of a Laplacian of a graph. An error that
// is [models.Usable] comes with a result.
type Eigensolver func(ctx context.Context, g *models.Graph, kind sparse.Kind, k int, tolerance float64) (*lanczos.Result, error)

// graph returns the graph of so many neighbours.
func (s *shared) graph(d *Data, neighbors int) (*models.Graph, error) {
	if g := s.byK[neighbors]; g != nil {
		return g, nil
	}
	g := d.Graph
	if g == nil {
		var err error
		if g, err = d.cut(neighbors); err != nil {
			return nil, err
		}
	}
	s.byK[neighbors], s.graphs[g] = g, neighbors
	return g, nil
}

// first returns the k smallest eigenpairs where they are known, nil where not, and the
// error that they came with.
func (s *shared) first(p pairing, k int) (*lanczos.Result, error) {
	e := s.pairs[p]
	if e == nil || len(e.Values) < k {
		return nil, nil
	}
	if len(e.Values) == k {
		return e.Result, e.short
	}
	r := *e.Result
	n, _ := r.Vectors.Dims()
	r.Values, r.Residuals, r.Nullity = r.Values[:k], r.Residuals[:k], min(r.Nullity, k)
	r.Vectors = r.Vectors.Slice(0, n, 0, k).(*mat.Dense)
	return &r, e.short
}

// pair gives in the eigenpairs that its learner needs, where they are known. The error
// may be usable. A nil s knows none.
func (s *shared) pair(l models.Learner, in *models.Input) error {
	paired, ok := l.(models.Paired)
	if s == nil || !ok || in.Graph == nil {
		return nil
	}
	k, kind, tolerance, err := paired.Pairs(in)
	if err != nil {
		return err
	}
	in.Laplacian = kind
	in.Pairs, err = s.first(pairing{s.graphs[in.Graph], kind, tolerance}, k)
	return err
}
