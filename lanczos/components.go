package lanczos

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// byComponent is whether the pairs of a graph of several components are found in each of
// them alone: the Laplacian is a block for each, so that its eigenpairs are theirs. The
// basis is then as long as the largest component and as wide as its own pairs.
func byComponent(c *sparse.Components, s *Settings) bool {
	return s != nil && !s.Largest && s.Known == nil && c.Count() > 1 && min(s.K, len(c.Of)) > c.Count() && len(c.Of) > denseLimit
}

// shares returns how many pairs of each component are looked for first, null vectors
// among them: its share of those behind the null vectors and a quarter more, as
// components are not alike. It is 0 for a single vertex, whose pair is known.
func shares(c *sparse.Components, pairs int) []int {
	n, behind := float64(len(c.Of)), pairs-c.Count()
	out := make([]int, c.Count())
	for id, size := range c.Sizes {
		if size > 1 {
			share := int(math.Ceil(1.25*float64(behind)*float64(size)/n)) + 2
			out[id] = 1 + min(size-1, behind, share)
		}
	}
	return out
}

// componentSearch is the state of [searchComponents].
type componentSearch struct {
	c       *sparse.Components
	s       Settings // of a part, but for K
	parts   []*Part
	results []*Result // nil for a single vertex
	pairs   int
	limit   int64 // of memory; 0 is none
	held    int64 // bytes of the pairs found
	done    State // of the parts before the one that is solved now
	short   error // of parts that did not converge
}

// searchComponents finds the s.K smallest pairs of l in each component alone. The last
// of them, λ, is known when the pairs of every component reach beyond the K smallest of
// all: a component whose pairs all belong to these is searched for twice as many, from
// those that it has. With m_i vertices and k_i pairs of component i it holds
// Σ m_i k_i + nK values and the basis of one component ([LaplacianBytes]).
//
// Hooks of checkpoints are those of the largest component, which comes first.
func searchComponents(ctx context.Context, l *sparse.Laplacian, c *sparse.Components, s *Settings) (*Result, error) {
	whole := *s
	whole.MemoryLimit = 0
	p, err := newPlan(l.Dim(), &whole)
	if err != nil {
		return nil, err
	}
	counts := shares(c, p.K)
	f := &componentSearch{c: c, s: *s, pairs: p.K, results: make([]*Result, c.Count())}
	if f.limit = s.MemoryLimit; f.limit > 0 {
		f.limit = max(1, f.limit-8*int64(l.Dim())*int64(p.K))
	}
	if s.OnRestart != nil {
		f.s.OnRestart = func(st State) error {
			st.Products, st.Converged = st.Products+f.done.Products, st.Converged+f.done.Converged
			return s.OnRestart(st)
		}
	}
	if f.parts, err = split(l, c, counts); err != nil {
		return nil, err
	}
	for {
		for _, id := range byNumber(c, counts) {
			if err := f.solve(ctx, id, counts[id]); err != nil {
				return nil, err
			}
		}
		if counts = f.more(); counts == nil {
			return f.join(l.Dim()), f.short
		}
	}
}

// solve finds k pairs of a component, from those that it has.
func (f *componentSearch) solve(ctx context.Context, id, k int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, s := f.parts[id], f.s
	s.K = k
	before := 0
	if r := f.results[id]; r != nil {
		s.Known, before = r.Vectors, len(r.Values)
	}
	if f.limit > 0 {
		s.MemoryLimit = max(1, f.limit-f.held)
	}
	r, err := ordered(ctx, p.Laplacian, p.Components, &s)
	if r == nil {
		return err
	}
	f.held += 8 * int64(f.c.Sizes[id]) * int64(len(r.Values)-before)
	f.results[id] = r
	f.short = errors.Join(f.short, err)
	f.s.Resume, f.s.OnCheckpoint = nil, nil
	f.done.Products += r.Products
	f.done.Converged += len(r.Values) - before
	return nil
}

// place is the pair number at of component id.
type place struct{ id, at int }

// order returns the pairs behind the null vectors in ascending order, those of equal
// value by component.
func (f *componentSearch) order() []place {
	var out []place
	for id, r := range f.results {
		if r != nil {
			for at := 1; at < len(r.Values); at++ {
				out = append(out, place{id, at})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b place) int {
		return cmp.Compare(f.results[a.id].Values[a.at], f.results[b.id].Values[b.at])
	})
	return out
}

// more returns how many pairs to look for in components that may have further ones among
// the wanted, 0 for the others; nil if there are none.
func (f *componentSearch) more() []int {
	order, behind := f.order(), f.pairs-f.c.Count()
	last := math.Inf(1)
	if len(order) >= behind {
		v := order[behind-1]
		last = f.results[v.id].Values[v.at]
	}
	var out []int
	for id, r := range f.results {
		if r == nil || f.short != nil {
			continue
		}
		k := len(r.Values)
		most := 1 + min(f.c.Sizes[id]-1, behind)
		if k == most || r.Values[k-1] >= last || r.Certificate.Exact && r.Certificate.Next >= last {
			continue
		}
		if out == nil {
			out = make([]int, f.c.Count())
		}
		out[id] = min(most, 2*k)
	}
	return out
}

// join makes the result of the whole graph.
func (f *componentSearch) join(n int) *Result {
	out := &Result{Nullity: f.c.Count(), Certificate: Certificate{Exact: true, Next: math.Inf(1)}}
	order := f.order()
	behind := min(len(order), f.pairs-f.c.Count())
	k := out.Nullity + behind
	out.Vectors = mat.NewDense(n, k, nil)
	out.Values, out.Residuals = make([]float64, k), make([]float64, k)
	columns := make([][]place, f.c.Count()) // of each component: its pair, the column
	for j, v := range order[:behind] {
		r := f.results[v.id]
		columns[v.id] = append(columns[v.id], place{v.at, out.Nullity + j})
		out.Values[out.Nullity+j], out.Residuals[out.Nullity+j] = r.Values[v.at], r.Residuals[v.at]
	}
	for _, v := range order[behind:] {
		out.Certificate.Next = math.Min(out.Certificate.Next, f.results[v.id].Values[v.at])
	}
	for i, id := range f.c.Of {
		if f.results[id] == nil {
			out.Vectors.Set(i, int(id), 1)
		}
	}
	for id, r := range f.results {
		if r == nil {
			continue
		}
		out.join(r)
		out.Residuals[id] = r.Residuals[0]
		for i, v := range f.parts[id].Vertices {
			to, from := out.Vectors.RawRowView(v), r.Vectors.RawRowView(i)
			to[id] = from[0]
			for _, c := range columns[id] {
				to[c.at] = from[c.id]
			}
		}
		f.results[id], f.parts[id] = nil, nil
	}
	return out
}

// componentVectors is the memory of the pairs of all components and of the whole.
func componentVectors(c *sparse.Components, pairs int) int64 {
	bytes := 8 * int64(len(c.Of)) * int64(pairs)
	for id, k := range shares(c, pairs) {
		bytes += 8 * int64(c.Sizes[id]) * int64(k)
	}
	return bytes
}

// LaplacianBytes returns the memory that [Laplacian] with these settings needs beside a
// graph of n vertices and its Laplacian, and a rough number of operations, nnz being the
// stored edges: [Bytes] and [Operations], or where each component is searched alone,
// those of the parts. c are the components, nil if they are not known yet.
func LaplacianBytes(n int, c *sparse.Components, nnz int, s *Settings) (int64, float64, error) {
	if c == nil || !byComponent(c, s) {
		bytes, err := Bytes(n, s)
		return bytes, Operations(n, nnz, s), err
	}
	whole := *s
	whole.MemoryLimit = 0
	p, err := newPlan(n, &whole)
	if err != nil {
		return 0, 0, err
	}
	vectors := componentVectors(c, p.K)
	var most int64
	var operations float64
	for id, k := range shares(c, p.K) {
		if k == 0 {
			continue
		}
		part := *s
		part.K = k
		if s.MemoryLimit > 0 {
			part.MemoryLimit = max(1, s.MemoryLimit-vectors)
		}
		bytes, err := Bytes(c.Sizes[id], &part)
		if err != nil {
			return 0, 0, err
		}
		most = max(most, bytes)
		operations += Operations(c.Sizes[id], int(float64(nnz)*float64(c.Sizes[id])/float64(n)), &part)
	}
	return vectors + most + 24*int64(nnz), operations, nil
}
