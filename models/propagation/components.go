package propagation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// leastPart is the number of points from which components are solved apart, smaller ones
// together with their neighbours in the order: then blocks stay in the cache.
const leastPart = 5000

// span is a range of points, in the order of the problem, that no edge leaves.
type span struct{ from, to int }

// spans cuts the points between components, as the order goes through one after the other. It is
// one span if the given components are not the components of the graph.
func (p *Problem) spans() []span {
	of := p.components.Of
	runs := 0
	cuts := []int{0}
	for i := range of {
		if i+1 < len(of) && of[i+1] == of[i] {
			continue
		}
		if runs++; i+1-cuts[len(cuts)-1] >= leastPart {
			cuts = append(cuts, i+1)
		}
	}

	// Vertices of a component must lie together; otherwise the given components are not those of
	// this graph.
	if runs != p.components.Count() || len(cuts) < 2 {
		return []span{{0, len(of)}}
	}
	cuts[len(cuts)-1] = len(of) // the rest joins the last one
	out := make([]span, len(cuts)-1)
	for i := range out {
		out[i] = span{cuts[i], cuts[i+1]}
	}
	return out
}

// part returns the problem of a span. An edge that leaves it has weight zero.
func (p *Problem) part(s span) *Problem {
	vertices := make([]int32, s.to-s.from)
	for i := range vertices {
		vertices[i] = int32(s.from + i)
	}
	g := sparse.Induced(p.plain.Graph(), vertices, func(j int32) int32 {
		if int(j) < s.from || int(j) >= s.to {
			return -1
		}
		return j - int32(s.from)
	})

	// The part is a problem like the whole, with its own numbers of components.
	l, err := sparse.NewLaplacian(g, sparse.Combinatorial)
	if err != nil {
		panic(err) // the whole graph was checked
	}
	out := &Problem{}
	out.setGraph(l)
	out.place = make([]int32, g.Rows)
	out.components = &sparse.Components{Of: make([]int32, g.Rows)}
	first := map[int32]int32{}
	for i, id := range p.components.Of[s.from:s.to] {
		local, ok := first[id]
		if !ok {
			local = int32(len(first))
			first[id] = local
			out.components.Sizes = append(out.components.Sizes, p.components.Sizes[id])
		}
		out.components.Of[i] = local
		out.place[i] = int32(i)
	}

	return out
}

// part returns the draw of a span, with one column for each that differs there, and the
// one that stands for each of d.
func (d *draw) part(s span) (*draw, []int) {
	var rows []int
	out := &draw{settings: d.settings, classes: d.classes, soft: d.soft, intrinsic: d.intrinsic, labels: d.labels}
	for q, i := range d.at {
		if s.from <= int(i) && int(i) < s.to {
			rows = append(rows, q)
			out.at = append(out.at, i-int32(s.from))
			if d.weights != nil {
				out.weights = append(out.weights, d.weights[q])
			}
		}
	}

	if len(rows) == 0 {
		return nil, nil
	}
	_, c := d.y.Dims()
	var kept []int
	column := make([]int, c)
	for j := range c {
		column[j] = slices.IndexFunc(kept, func(k int) bool {
			return !slices.ContainsFunc(rows, func(q int) bool { return d.y.At(q, j) != d.y.At(q, k) })
		})
		if column[j] < 0 {
			column[j] = len(kept)
			kept = append(kept, j)
		}
	}

	out.y = mat.NewDense(len(rows), len(kept), nil)
	for to, q := range rows {
		for k, j := range kept {
			out.y.Set(to, k, d.y.At(q, j))
		}
	}

	out.problem = d.problem.part(s)
	out.reached = make([]bool, out.problem.components.Count())
	for _, i := range out.at {
		out.reached[out.problem.components.Of[i]] = true
	}
	if d.start != nil {
		out.start = mat.NewDense(s.to-s.from, len(kept), nil)
		for i := range s.to - s.from {
			for k, j := range kept {
				out.start.Set(i, k, d.start.At(s.from+i, j))
			}
		}
	}

	return out, column
}

// byComponent solves the equations of the method, which are some of their own in each
// component: with the columns that differ in it, in blocks that stay in the cache, several
// parts at once. Where there is no label the solution is zero. Residuals are the largest
// of any part.
func (d *draw) byComponent(ctx context.Context) (*cg.Result, error) {
	spans := d.problem.spans()
	if len(spans) == 1 || d.settings.Solver != nil {
		return d.equations(ctx)
	}
	_, c := d.y.Dims()
	out := &cg.Result{X: mat.NewDense(d.problem.Len(), c, nil), Residuals: make([]float64, c),
		Iterations: make([]int, c)}
	results := make([]*cg.Result, len(spans))
	columns := make([][]int, len(spans))
	failures := make([]error, len(spans))

	var one sync.Mutex // hooks are called one after the other
	par.For(len(spans), 1, func(at, _ int) {
		part, column := d.part(spans[at])
		if part == nil {
			return
		}

		// The state of a part is told as a share of all columns of all parts.
		if hook := d.settings.OnIteration; hook != nil {
			part.settings.OnIteration = func(st cg.State) error {
				one.Lock()
				defer one.Unlock()
				return hook(among(st, at, len(spans)))
			}
		}

		columns[at] = column
		if results[at], failures[at] = part.equations(ctx); results[at] != nil {
			spread(out.X, spans[at].from, results[at].X, column)
			results[at].X = nil
		}
	})

	// Parts that did not converge are counted and do not spoil the others.
	short := 0
	for at, r := range results {
		if err := failures[at]; errors.Is(err, cg.ErrNotConverged) {
			short++
		} else if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		for j, k := range columns[at] {
			out.Residuals[j] = max(out.Residuals[j], r.Residuals[k])
			out.Iterations[j] = max(out.Iterations[j], r.Iterations[k])
		}
		out.Products += r.Products
	}

	if short > 0 {
		return out, fmt.Errorf("%w: in %d of %d parts of the graph, relative residuals up to %.3g "+
			"after %d iterations, tolerance %g",
			cg.ErrNotConverged, short, len(spans), out.MaxResidual(), out.MaxIterations(),
			d.settings.Tolerance)
	}
	return out, nil
}

// spread copies column[j] of x to column j of dst, from row at on.
func spread(dst *mat.Dense, at int, x *mat.Dense, column []int) {
	n, _ := x.Dims()
	for i := range n {
		to := dst.RawRowView(at + i)
		from := x.RawRowView(i)
		for j, k := range column {
			to[j] = from[k]
		}
	}
}

// among counts the columns of all parts in the state of one.
func among(s cg.State, part, parts int) cg.State {
	before := part * s.Columns
	s.From += before
	s.To += before
	s.Converged += before
	s.Columns *= parts
	return s
}

// grounded returns the preconditioner of L + diag(g), with the points that are pinned; a nil l has the
// diagonal alone.
func (d *draw) grounded(l *sparse.Laplacian, g, diagonal []float64,
	pinned []bool) (cg.Preconditioner, error) {
	if d.method() == cg.Auto && l != nil && l.Power() == 1 && d.settings.Solver == nil {
		if method, m := cg.Grounded(l, g, pinned, 0); method != cg.Jacobi {
			return m, nil
		}
	}
	return cg.NewJacobi(diagonal)
}
