package propagation

import (
	"context"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// Problem is a graph prepared for [Problem.Fit] with any labels. It is
// safe for concurrent use.
type Problem struct {
	// Vertices are in the order of [sparse.CSR.ProductOrder], or component by component for a
	// few products only: place[i] is where vertex i is. All that follows is in that order.
	place      []int32
	plain      *sparse.Laplacian
	normalized func() *sparse.Laplacian
	steps      func() *stepMatrix // of plain
	components *sparse.Components
}

// NewProblem prepares the graph with weights w and components c, which may
// be nil to have them found. It checks the graph and copies it, in O(nnz).
func NewProblem(w *sparse.CSR, c *sparse.Components) (*Problem, error) {
	return newProblem(w, c, func(*sparse.Components) []int32 { return w.ProductOrder() })
}

// newProblem is NewProblem with the order that order makes of the components.
func newProblem(w *sparse.CSR, c *sparse.Components, order func(*sparse.Components) []int32) (*Problem, error) {
	plain, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		return nil, err
	}
	if w.Rows == 0 {
		return nil, fmt.Errorf("propagation: the graph has no points")
	}
	if c == nil {
		c = w.Components()
	}
	if len(c.Of) != w.Rows {
		return nil, fmt.Errorf("propagation: components of %d points for a graph of %d", len(c.Of), w.Rows)
	}

	places := order(c)
	p := &Problem{place: make([]int32, w.Rows),
		components: &sparse.Components{Of: make([]int32, w.Rows), Sizes: c.Sizes}}
	for at, i := range places {
		p.place[i] = int32(at)
		p.components.Of[at] = c.Of[i]
	}

	p.setGraph(plain.Permute(places))
	return p, nil
}

// together returns the vertices component by component, each in the order of the vertices.
func together(c *sparse.Components) []int32 {
	next := make([]int32, c.Count()+1)
	for _, k := range c.Of {
		next[k+1]++
	}
	for k := range c.Count() {
		next[k+1] += next[k]
	}

	order := make([]int32, len(c.Of))
	for i, k := range c.Of {
		order[next[k]] = int32(i)
		next[k]++
	}
	return order
}

func (p *Problem) setGraph(l *sparse.Laplacian) {
	p.plain = l
	p.normalized = sync.OnceValue(func() *sparse.Laplacian { return l.As(sparse.Normalized) })
	p.steps = sync.OnceValue(func() *stepMatrix { return newStepMatrix(l) })
}

// Len returns the number of points.
func (p *Problem) Len() int { return len(p.place) }

// laplacian returns the Laplacian of the given kind.
func (p *Problem) laplacian(kind sparse.Kind) *sparse.Laplacian {
	if kind == sparse.Combinatorial {
		return p.plain
	}
	return p.normalized()
}

// back returns the rows of x in the order of the vertices.
func (p *Problem) back(x *mat.Dense) *mat.Dense {
	return p.move(x, func(to, from *mat.Dense, i int) {
		copy(to.RawRowView(i), from.RawRowView(int(p.place[i])))
	})
}

// there is the inverse of back.
func (p *Problem) there(x *mat.Dense) *mat.Dense {
	return p.move(x, func(to, from *mat.Dense, i int) {
		copy(to.RawRowView(int(p.place[i])), from.RawRowView(i))
	})
}

func (p *Problem) move(x *mat.Dense, row func(to, from *mat.Dense, i int)) *mat.Dense {
	n, m := x.Dims()
	out := dense.New(n, m)
	par.For(n, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row(out, x, i)
		}
	})
	return out
}

// Solver is another program that solves the linear systems of this package.
type Solver interface {
	// Solve returns X, n×c, and the iterations it took.
	Solve(ctx context.Context, s *System) (x *mat.Dense, iterations int, err error)
}

// System is A X = B with a symmetric, positive definite matrix. Where Null is not nil, A has
// these null vectors, B has nothing along them, and what X has does not matter.
type System struct {
	A          *sparse.CSR
	Null       *Null
	B          *mat.Dense
	Tolerance  float64 // of relative residuals
	Iterations int     // at most
	Report     func(cg.State)
}

// Null are the null vectors of a matrix: for each component the Weights in it, up to a factor.
type Null struct {
	*sparse.Components
	Weights []float64
}

// outside makes s have the solver of the settings, if there is one, for the matrix that form
// makes, with those null vectors if they are not nil.
func (d *draw) outside(s *cg.Settings, null *Null, form func() *sparse.CSR) {
	solver := d.settings.Solver
	if solver == nil {
		return
	}

	s.External = func(ctx context.Context, b *mat.Dense) (*mat.Dense, int, error) {
		return solver.Solve(ctx, &System{form(), null, b, s.Tolerance, s.MaxIterations, func(st cg.State) {
			if s.OnIteration != nil {
				_ = s.OnIteration(st) // of a model's progress, which has no error
			}
		}})
	}
}
