package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/layout"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

const (
	// planeTolerance is the tolerance of eigenvectors that a layout starts from, finer than a pixel.
	planeTolerance = 1e-4
	// ownVectors is the number of points from which a component starts from eigenvectors of its own;
	// a smaller one is unfolded from any places in a few epochs.
	ownVectors = 50
)

// Layout gives the points of a graph places in dim dimensions, by package layout: neighbours are near
// each other, and other points keep apart. The graph may have several components.
//
// Each component of 50 points and more starts from its own first eigenvectors, those of the
// normalized Laplacian divided by the root of the degree; pairs, if not nil, are eigenpairs of that
// kind of Laplacian that are known. Smaller components start from random places. Components start
// side by side, the largest in the middle.
//
// A layout of n points and e edges takes 6,000,000/n epochs, from 150 to 500, of about 15(2e + 5n)
// operations each, beside the eigenvectors.
func (p *Pipeline) Layout(ctx context.Context, g *models.Graph, dim int, pairs *lanczos.Result,
	kind sparse.Kind) (*mat.Dense, error) {
	n := g.W.Rows
	if dim < 1 {
		return nil, fmt.Errorf("pipeline: a layout in %d dimensions", dim)
	}
	if err := p.announceLayout(g, dim); err != nil {
		return nil, err
	}

	p.Observed().Begin("layout")
	first := &firstPlaces{Pipeline: p, graph: g, dim: dim, pairs: pairs, kind: kind, local: make([]int32, n)}
	start, err := first.all(ctx)
	if err != nil {
		return nil, err
	}
	y, err := layout.Points(ctx, g.W, &layout.Settings{Start: start, Seed: p.Seed,
		OnEpoch: func(done, of int) { p.Observed().Update(float64(done), float64(of), "") }})
	if err != nil {
		return nil, err
	}
	p.Observed().End(fmt.Sprintf("%d points in %d dimensions, %d epochs", n, dim, layout.Epochs(n)))
	return y, nil
}

// announceLayout announces the memory and the operations of a layout and of its first places.
func (p *Pipeline) announceLayout(g *models.Graph, dim int) error {
	n := g.W.Rows
	settings := &lanczos.Settings{K: g.Components.Count() + dim, Tolerance: planeTolerance}
	bytes, operations, err := lanczos.LaplacianBytes(n, g.Components, lanczos.EdgesOf(g.W, sparse.Normalized, settings), settings)
	if err != nil {
		return err
	}
	// Components are copied one at a time.
	bytes += 12*int64(g.W.NNZ()) + 8*int64(n)
	own := layout.Bytes(n, dim) + 8*int64(dim)*int64(n)
	return p.Observed().Announce("layout", stage.Cost{Bytes: max(bytes, own),
		Operations: operations + layout.Operations(n, g.W.NNZ()), Remedy: "take fewer points"})
}

// firstPlaces makes the first places of a layout.
type firstPlaces struct {
	*Pipeline
	graph *models.Graph
	dim   int
	pairs *lanczos.Result // of the Laplacian of a kind; nil for none
	kind  sparse.Kind
	local []int32 // scratch space: the number of each point within its component
}

// all returns the first places of all points.
func (p *firstPlaces) all(ctx context.Context) (*mat.Dense, error) {
	g := p.graph
	n := g.W.Rows
	members := make([][]int32, g.Components.Count())
	for i, c := range g.Components.Of {
		members[c] = append(members[c], int32(i))
	}
	// The largest component comes first; of equal ones the one with the first point.
	slices.SortStableFunc(members, func(a, b []int32) int { return len(b) - len(a) })

	out := mat.NewDense(n, p.dim, nil)
	before := 0
	for rank, list := range members {
		own, err := p.component(ctx, list)
		if err != nil {
			return nil, err
		}
		// Areas are proportional to the numbers of points, and centres lie on a spiral of the golden
		// angle, outside the components before.
		radius := math.Sqrt(float64(len(list)) / float64(n))
		away := 0.0
		if rank > 0 {
			away = math.Sqrt(float64(before)/float64(n)) + radius
		}
		angle := float64(rank) * math.Pi * (3 - math.Sqrt(5))
		centre := []float64{away * math.Cos(angle), away * math.Sin(angle)}

		for at, i := range list {
			for c := range p.dim {
				x := radius * own.At(at, c)
				if c < len(centre) {
					x += centre[c]
				}
				out.Set(int(i), c, x)
			}
		}
		before += len(list)
	}
	return out, nil
}

// component returns places of the points of a component with coordinates from −1 to 1.
func (p *firstPlaces) component(ctx context.Context, list []int32) (*mat.Dense, error) {
	g := p.graph
	dim := p.dim
	pairs := p.pairs
	kind := p.kind
	n := len(list)
	out := mat.NewDense(n, dim, nil)
	if n < ownVectors || n < dim+2 {
		// Irrational steps fill the square evenly, with no two points in one place.
		for at := range n {
			for c := range dim {
				_, part := math.Modf(float64(at+1) * math.Sqrt(float64(2+3*c)))
				out.Set(at, c, 2*part-1)
			}
		}
		return out, nil
	}

	w := g.W
	components := g.Components
	if n < w.Rows {
		for at, i := range list {
			p.local[i] = int32(at)
		}
		// Edges stay within a component, so each of them has a place.
		w = sparse.Induced(g.W, list, func(v int32) int32 { return p.local[v] })
		components = w.Components()
	}
	if n < g.W.Rows || pairs == nil || len(pairs.Values) < dim+1 || pairs.Nullity > 1 {
		kind = sparse.Normalized
		l, err := sparse.NewLaplacian(w, kind)
		if err != nil {
			return nil, err
		}
		pairs, err = lanczos.Laplacian(ctx, l.With(1, 0), components, &lanczos.Settings{K: dim + 1,
			Tolerance: planeTolerance, Seed: p.Seed, MemoryLimit: p.Memory})
		if !models.Usable(err) {
			return nil, err
		}
	}

	// D^-½u of the normalized Laplacian is an eigenvector of the random walk: smooth on the graph
	// whatever the degrees.
	for c := range dim {
		f := mat.Col(nil, c+1, pairs.Vectors)
		if kind == sparse.Normalized {
			for i := range f {
				if degree := w.Degree(i); degree > 0 {
					f[i] /= math.Sqrt(degree)
				}
			}
		}
		dense.Orient(f)
		largest := 0.0
		for _, v := range f {
			largest = max(largest, math.Abs(v))
		}
		for i, v := range f {
			out.Set(i, c, v/largest)
		}
	}
	return out, nil
}
