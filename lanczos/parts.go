package lanczos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// Part is one component of a graph and the number of eigenpairs that are wanted of it.
type Part struct {
	Laplacian  *sparse.Laplacian // of the component alone, m×m
	Components *sparse.Components
	Vertices   []int // of the whole graph, ascending: row i of the part is Vertices[i]
	K          int   // smallest eigenpairs that are wanted, at most m
}

// Parts returns eigenpairs of the components of the graph of l apart, by a quota for each
// component: pair j belongs to component of[j] and is its smallest pair that no earlier j took. Its
// vector is zero elsewhere. The p smallest pairs of the whole graph begin with a null vector for
// each component; quotas spend p pairs where they are of use. A component may be named at most as
// often as it has vertices.
//
// solve finds the pairs of a part with a quota above one, as [Laplacian] does; parts come in
// descending order of their vertices. The null vector of every other part is known. Nullity of the
// result is the number of pairs up to the first that is the second of its component. Residuals,
// Norm, Products and the certificate combine the parts. An error of solve that comes with a result
// is passed on with the whole result. It holds n·len(of) values.
func Parts(ctx context.Context, l *sparse.Laplacian, c *sparse.Components, of []int32,
	solve func(*Part) (*Result, error)) (*Result, error) {
	counts := make([]int, c.Count())
	out := &Result{Certificate: Certificate{Exact: true, Next: math.Inf(1)}}
	for _, id := range of {
		if counts[id]++; counts[id] > c.Sizes[id] {
			return nil, fmt.Errorf("lanczos: more eigenpairs of component %d than its %d vertices", id,
				c.Sizes[id])
		}
	}

	// Solve each component, the largest first.
	parts, err := split(l, c, counts)
	if err != nil {
		return nil, err
	}
	results := make([]*Result, c.Count())
	var short error
	for _, id := range byNumber(c, counts) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r := nullPair(parts[id])
		if counts[id] > 1 {
			if r, err = solve(parts[id]); r == nil {
				return nil, err
			}
			short = errors.Join(short, err)
		}
		results[id] = r
		out.join(r)
	}

	// Take the pairs in the order that the caller asks for.
	n := l.Dim()
	out.Vectors = mat.NewDense(n, len(of), nil)
	next := make([]int, c.Count())
	for j, id := range of {
		r := results[id]
		at := next[id]
		if at >= len(r.Values) {
			return nil, errors.Join(short,
				fmt.Errorf("lanczos: %d eigenpairs of a component for %d that were asked for", len(r.Values),
					counts[id]))
		}
		next[id]++
		if at == 0 && out.Nullity == j {
			out.Nullity++
		}
		out.Values = append(out.Values, r.Values[at])
		out.Residuals = append(out.Residuals, r.Residuals[at])
		for i, v := range parts[id].Vertices {
			out.Vectors.Set(v, j, r.Vectors.At(i, at))
		}
	}

	return out, short
}

// join adds the norms, counts and certificate of one part to r.
func (r *Result) join(part *Result) {
	r.Orthogonality = math.Max(r.Orthogonality, part.Orthogonality)
	r.Norm = math.Max(r.Norm, part.Norm)
	r.Degree = max(r.Degree, part.Degree)
	r.Products += part.Products
	r.Restarts += part.Restarts
	r.Rough = r.Rough || part.Rough
	t := &r.Certificate
	t.Exact = t.Exact && part.Certificate.Exact
	t.Missed = t.Missed || part.Certificate.Missed
	t.Next = math.Min(t.Next, part.Certificate.Next)
}

// byNumber returns the components with a positive count, by descending number of vertices.
func byNumber(c *sparse.Components, counts []int) []int {
	var out []int
	for id, count := range counts {
		if count > 0 {
			out = append(out, id)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(c.Sizes[b], c.Sizes[a]) })
	return out
}

// split returns the components with a positive count as graphs of their own, and nil for the
// others.
func split(l *sparse.Laplacian, c *sparse.Components, counts []int) ([]*Part, error) {
	w := l.Graph()
	parts := make([]*Part, c.Count())
	local := make([]int32, w.Rows)
	for i, id := range c.Of {
		if counts[id] == 0 {
			continue
		}
		p := parts[id]
		if p == nil {
			p = &Part{K: counts[id], Vertices: make([]int, 0, c.Sizes[id])}
			p.Components = &sparse.Components{Of: make([]int32, c.Sizes[id]), Sizes: []int{c.Sizes[id]}}
			parts[id] = p
		}
		local[i] = int32(len(p.Vertices))
		p.Vertices = append(p.Vertices, i)
	}

	// The component of a part alone has the degrees of the whole graph, because no edge leaves it.
	for id, p := range parts {
		if p == nil {
			continue
		}
		g := sparse.Induced(w, p.Vertices, func(j int32) int32 {
			if int(c.Of[j]) != id { // an edge of weight zero
				return -1
			}
			return local[j]
		})
		part, err := sparse.NewLaplacian(g, l.Kind())
		if err != nil {
			return nil, err
		}
		p.Laplacian = part.With(l.Power(), 0)
	}

	return parts, nil
}

// nullPair returns the null vector of a part with the scaling of [Laplacian].
func nullPair(p *Part) *Result {
	v := p.Laplacian.NullVectors(p.Components, 1)
	product := mat.NewDense(len(p.Vertices), 1, nil)
	p.Laplacian.MulTo(product, v)
	r := &Result{Values: []float64{0}, Vectors: v, Residuals: []float64{mat.Norm(product, 2)}, Nullity: 1,
		Certificate: Certificate{Next: math.Inf(1)}}
	if p.Laplacian.Kind() == sparse.RandomWalk {
		scaleRows(v, p.Laplacian.Degrees(), func(d float64) float64 { return 1 / math.Sqrt(d) })
	}
	return r
}
