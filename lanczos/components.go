package lanczos

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// The Laplacian of a graph with several components is block diagonal, so pairs are found in each
// component alone and merged. The basis is then only as long as the largest component. If all pairs
// found in a component are among the wanted ones, the component is searched for twice as many,
// until the pairs of each reach beyond the last wanted value.
//
// Several components are searched at a time, each in the cache of a processor. A component may take
// half of the memory whatever the number of threads, so that the bits do not depend on it.
// Announced bytes count the components that run at a time.

// byComponent reports whether the pairs of a graph are found in each component alone. The basis is
// then as long as the largest component and as wide as its own pairs.
func byComponent(c *sparse.Components, s *Settings) bool {
	return s != nil && !s.Largest && s.Known == nil && c.Count() > 1 && min(s.K, len(c.Of)) > c.Count() &&
		len(c.Of) > denseLimit
}

// shares returns how many pairs of each component are looked for first, its null vector among them:
// a quota in proportion to its vertices of the pairs behind the null vectors, and a quarter and two
// more, as components are not alike. The quota of a single vertex is 0, because its pair is known.
func shares(c *sparse.Components, pairs int) []int {
	n := float64(len(c.Of))
	behind := pairs - c.Count()
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
	turn    int // parts that are searched at a time
	one     sync.Mutex
	done    State // of the parts that are done; under one
	short   error // of parts that did not converge
}

// searchComponents finds the s.K smallest pairs of l in each component alone. The last of them, λ,
// is known when the pairs of every component reach beyond the K smallest of all: a component that
// gives all its pairs to these is searched for twice as many, from the pairs that it has. With m_i
// vertices and k_i pairs of component i it holds Σ m_i k_i + nK values and the bases of some
// components at a time ([LaplacianBytes]).
//
// The largest component comes first, and only its search calls the hooks of checkpoints.
func searchComponents(ctx context.Context, l *sparse.Laplacian, c *sparse.Components,
	s *Settings) (*Result, error) {
	whole := *s
	whole.MemoryLimit = 0
	p, err := newPlan(l.Dim(), &whole)
	if err != nil {
		return nil, err
	}
	counts := shares(c, p.K)

	f := &componentSearch{c: c, s: *s, pairs: p.K, results: make([]*Result, c.Count())}
	budget := newBudget(c, EdgesOf(l.Graph(), l.Kind(), s), p.K, s)
	f.s.MemoryLimit = budget.limit
	f.turn = budget.turn

	// Hooks are called by one search at a time; progress adds the components that are done.
	if s.OnRestart != nil {
		f.s.OnRestart = func(st State) error {
			f.one.Lock()
			defer f.one.Unlock()
			st.Products += f.done.Products
			st.Converged += f.done.Converged
			return s.OnRestart(st)
		}
	}

	if s.OnCheckpoint != nil {
		f.s.OnCheckpoint = func(snapshot *Snapshot) error {
			f.one.Lock()
			defer f.one.Unlock()
			return s.OnCheckpoint(snapshot)
		}
	}

	if f.parts, err = split(l, c, counts); err != nil {
		return nil, err
	}

	// Raise the quotas until no component may have further pairs among the wanted.
	for {
		if err := f.solveAll(ctx, counts); err != nil {
			return nil, err
		}
		if counts = f.more(); counts == nil {
			return f.join(l.Dim()), f.short
		}
	}
}

// solveAll finds the given numbers of pairs of components, several at a time.
func (f *componentSearch) solveAll(ctx context.Context, counts []int) error {
	ids := byNumber(f.c, counts)
	failures := make([]error, len(ids))
	short := make([]error, len(ids))
	inner, cancel := context.WithCancel(ctx)
	defer cancel()

	// A fault in one component stops the others of its turn. Only the largest component resumes and
	// saves snapshots, and only the first time.
	for from := 0; from < len(ids); from += f.turn {
		par.For(min(f.turn, len(ids)-from), 1, func(i, _ int) {
			at := from + i
			s := f.s
			if at > 0 || f.results[ids[at]] != nil {
				s.Resume = nil
				s.OnCheckpoint = nil
			}
			if short[at], failures[at] = f.solve(inner, ids[at], counts[ids[at]], &s); failures[at] != nil {
				cancel()
			}
		})
	}

	f.short = errors.Join(append(short, f.short)...)
	f.s.Resume = nil
	f.s.OnCheckpoint = nil
	if err := ctx.Err(); err != nil {
		return err
	}

	// The fault that stopped the others says more than their cancellation.
	first := func(wanted func(error) bool) error {
		if at := slices.IndexFunc(failures, wanted); at >= 0 {
			return failures[at]
		}
		return nil
	}

	if err := first(func(err error) bool {
		return err != nil &&
			!errors.Is(err, context.Canceled)
	}); err != nil {
		return err // the others were stopped by it
	}
	return first(func(err error) bool { return err != nil })
}

// solve finds k pairs of a component, starting from its pairs of an earlier call. An error that
// comes with a result is returned as short.
func (f *componentSearch) solve(ctx context.Context, id, k int, s *Settings) (short, failure error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := f.parts[id]
	before := 0
	s.K = k
	if r := f.results[id]; r != nil {
		if !s.Single { // which takes none: the search begins anew
			s.Known = r.Vectors
		}
		before = len(r.Values)
	}

	// A second search begins with the pairs of the first one.
	r, err := ordered(ctx, p.Laplacian, p.Components, s)
	if r == nil {
		return nil, err
	}
	f.results[id] = r
	f.one.Lock()
	defer f.one.Unlock()
	f.done.Products += r.Products
	f.done.Converged += len(r.Values) - before
	return err, nil
}

// A place is the pair with number at of component id.
type place struct{ id, at int }

// order returns the pairs behind the null vectors in ascending order, and pairs of equal value in
// the order of their components.
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

// more returns the next quotas: twice the pairs of every component that may have further ones among
// the wanted, 0 for the others; nil if there are none.
func (f *componentSearch) more() []int {
	order := f.order()
	behind := f.pairs - f.c.Count()
	last := math.Inf(1)
	if len(order) >= behind {
		v := order[behind-1]
		last = f.results[v.id].Values[v.at]
	}

	// A component is exhausted when it has no further pair, or reaches the last wanted value.
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
	to := newVectors(n, k, f.s.Single)
	out.setVectors(to)
	out.Values = make([]float64, k)
	out.Residuals = make([]float64, k)
	// Choose the smallest pairs of all, and note for each component which column of the result
	// takes which pair.
	columns := make([][]place, f.c.Count()) // of each component: its pair, the column
	for j, v := range order[:behind] {
		r := f.results[v.id]
		columns[v.id] = append(columns[v.id], place{v.at, out.Nullity + j})
		out.Values[out.Nullity+j] = r.Values[v.at]
		out.Residuals[out.Nullity+j] = r.Residuals[v.at]
	}

	// The null vector of a single vertex is a unit vector. The first pair left over, or the
	// certificate of a component, bounds the next eigenvalue.
	for _, v := range order[behind:] {
		out.Certificate.Next = math.Min(out.Certificate.Next, f.results[v.id].Values[v.at])
	}
	for i, id := range f.c.Of {
		if f.results[id] == nil {
			to.set(i, int(id), 1)
		}
	}

	// Scatter the vectors of each component to its rows, and give its memory back.
	for id, r := range f.results {
		if r == nil {
			continue
		}
		out.join(r)
		out.Residuals[id] = r.Residuals[0]
		from := r.vectors()
		for i, v := range f.parts[id].Vertices {
			to.set(v, id, from.at(i, 0))
			for _, c := range columns[id] {
				to.set(v, c.at, from.at(i, c.id))
			}
		}

		f.results[id] = nil
		f.parts[id] = nil
	}

	return out
}

// componentVectors returns the memory of the pairs of the whole graph and of all components,
// counting twice the first quota of each.
func componentVectors(c *sparse.Components, pairs int, single bool) int64 {
	size := int64(8)
	if single {
		size = 4
	}
	bytes := size * int64(len(c.Of)) * int64(pairs)
	for id, k := range shares(c, pairs) {
		bytes += size * int64(c.Sizes[id]) * int64(min(2*k, c.Sizes[id]))
	}
	return bytes
}

// A budget limits the search of components.
type budget struct {
	limit int64 // memory of one part, the same whatever the number of threads; 0 is none
	turn  int   // parts that are searched at a time
	bytes int64 // memory of the parts of a turn
	err   error // set if there is too little memory for one part
}

// newBudget gives each part half of the memory that s allows beside the pairs of all, if that is
// enough for the largest, and all of it otherwise. A turn has as many parts as there are threads
// and memory for.
func newBudget(c *sparse.Components, e Edges, pairs int, s *Settings) budget {
	counts := shares(c, pairs)
	ids := byNumber(c, counts)
	n := c.Sizes[ids[0]]
	part := Settings{K: counts[ids[0]], Basis: s.Basis, Single: s.Single}
	free := s.MemoryLimit - componentVectors(c, pairs, s.Single)
	if s.MemoryLimit > 0 {
		part.MemoryLimit = max(1, free/2)
	}

	// The largest part decides; it may take everything if half is too little.
	p, err := newPlan(n, &part)
	if err != nil && s.MemoryLimit > 0 {
		part.MemoryLimit = max(1, free)
		p, err = newPlan(n, &part)
	}

	if err != nil {
		return budget{limit: part.MemoryLimit, turn: 1, err: err}
	}
	out := budget{limit: part.MemoryLimit, turn: par.Workers(len(ids), 1)}

	// All parts of a turn may be as large as the largest.
	most := p.bytesWithFactor(int(float64(e.Count)*float64(n)/float64(len(c.Of))), e.Hard)
	if s.MemoryLimit > 0 {
		out.turn = max(1, min(out.turn, int(free/most)))
	}
	out.bytes = most * int64(out.turn)
	if out.turn == par.Workers(len(ids), 1) {
		out.turn = len(ids) // no thread waits for the end of a turn
	}
	return out
}

// Edges describes the stored edges of a graph, as the cost of its eigenpairs depends on them.
type Edges struct {
	Count    int
	Weighted bool // the weights are not all one
	// Hard says that the graph is ill-conditioned ([cg.Hard]): then a factor is counted.
	Hard bool
}

// EdgesOf describes the edges of a graph for a search with settings s, of which rough ones take no factor.
func EdgesOf(w *sparse.CSR, kind sparse.Kind, s *Settings) Edges {
	return Edges{w.NNZ(), w.Val != nil, !s.Rough && cg.Hard(w, kind)}
}

// copyBytes returns the memory of the copy of a graph of n vertices in the order for products: its
// columns, and its weights in the form of the Laplacian.
func (e Edges) copyBytes(n int) int64 {
	if n < reorderFrom {
		return 0
	}
	each := int64(4)
	if e.Weighted {
		each = 12
	}
	return each*int64(e.Count) + 44*int64(n)
}

// LaplacianBytes returns the memory that [Laplacian] with these settings needs beside a graph of n
// vertices, and a rough number of operations. c are the components, nil if they are not known yet. Where
// components are searched alone, the bytes are the pairs of all and the searches of one turn, and the
// operations a sum over the components; otherwise both are as [Bytes] and [Operations] say, beside
// a copy of the graph.
func LaplacianBytes(n int, c *sparse.Components, e Edges, s *Settings) (int64, float64, error) {
	nnz := e.Count
	if c == nil || !byComponent(c, s) {
		p, err := newPlan(n, s)
		if err != nil {
			return 0, Operations(n, nnz, s), err
		}
		return p.bytesWithFactor(nnz, e.Hard) + e.copyBytes(n), Operations(n, nnz, s), nil
	}

	whole := *s
	whole.MemoryLimit = 0
	p, err := newPlan(n, &whole)
	if err != nil {
		return 0, 0, err
	}
	budget := newBudget(c, e, p.K, s)
	if budget.err != nil {
		return 0, 0, budget.err
	}

	var operations float64
	for id, k := range shares(c, p.K) {
		if k > 0 {
			operations += Operations(c.Sizes[id], int(float64(nnz)*float64(c.Sizes[id])/float64(n)),
				&Settings{K: k})
		}
	}
	return componentVectors(c, p.K, s.Single) + budget.bytes + 24*int64(nnz), operations, nil
}
