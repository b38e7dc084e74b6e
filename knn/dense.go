package knn

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/knn/internal/blocks"
	"github.com/bigfit/bigfit/knn/internal/prepared"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/knn/internal/trees"
	"github.com/bigfit/bigfit/sparse"
)

// slack is the number of candidates kept beyond k where distances are inexact. With few of them,
// more queries would have to be answered again in float64.
const slack = 8

// denseIndex compares blocks of queries with blocks of points through
// ‖q−y‖² = ‖q‖² + ‖y‖² − 2qᵀy in float32. The points are prepared: their mean is subtracted, or
// for Angle and Cosine they are scaled to norm one. Candidates are then measured in float64 on the
// points as given. For InnerProduct points are compared as they are, with the norm of the longest
// point in place of every ‖y‖: it stands for the coordinate that Bachrach et al. append (see
// [InnerProduct]).
type denseIndex struct {
	metric  Metric
	x       data.Points
	n, d    int
	mean    []float64 // only for Euclidean
	own     *side     // the points as queries
	right   *dense.Packed32
	largest float64 // the largest ‖y‖ of the prepared points

	// For angles between bytes, bytes takes the place of right: their inner products are exact.
	// Queries that are not bytes go to the index that floats returns.
	bytes  *dense.PackedU8
	floats func() *denseIndex
}

// side holds query points, prepared for comparisons.
type side struct {
	x     data.Points
	first int       // the number in x of the first query
	self  bool      // the queries are the indexed points, which do not find themselves
	sq    []float32 // ‖q‖² of the prepared points
	left  *dense.Packed32
	bytes *dense.PackedU8 // in place of left: the points as they are
	scale []float32       // with bytes, 1/‖q‖, or 0 for zero points
}

// newDense prepares the points x.
func newDense(x data.Points, m Metric) *denseIndex {
	n, d := x.Dims()
	ix := &denseIndex{metric: m, x: x, n: n, d: d}
	if m.Space() == Vectors {
		ix.mean = data.Mean(x)
	}
	ix.right = dense.NewPackedB32(n, d)
	ix.own = &side{x: x, self: true, sq: make([]float32, n), left: dense.NewPackedA32(n, d)}
	// Blocks of points are prepared once and packed for both sides of the product.
	par.For(n, ix.compare(ix.own).Block, func(lo, hi int) {
		flat := ix.prepare(ix.own.sq[lo:hi], x, lo, hi)
		ix.right.Set(lo, hi, flat, d)
		ix.own.left.Set(lo, hi, flat, d)
	})

	longest := slices.Max(ix.own.sq)
	ix.largest = math.Sqrt(float64(longest))
	if m.Space() == Products {
		for i := range ix.own.sq {
			ix.own.sq[i] = longest
		}
	}

	return ix
}

// newByteAngles returns an index for Angle or Cosine that compares bytes by exact products.
func newByteAngles(x *data.Dense[uint8], m Metric) *denseIndex {
	ix := &denseIndex{metric: m, x: x, n: x.Rows, d: x.Cols, largest: 1}
	ix.bytes = dense.PackBU8(dense.NoTrans, x.Data, ix.n, ix.d, ix.d)
	ix.own = ix.prepareBytes(x, 0, ix.n)
	ix.own.self = true
	ix.floats = sync.OnceValue(func() *denseIndex { return newDense(x, m) })
	return ix
}

// prepare returns points lo to hi of x as float32, minus the mean or, for angles, scaled to norm
// one, and sets sq to their squared norms. For angles a zero point stays zero but has the squared
// norm 1 in sq, so that it is at a right angle to all points.
func (ix *denseIndex) prepare(sq []float32, x data.Points, lo, hi int) []float32 {
	flat := make([]float32, (hi-lo)*ix.d)
	row := make([]float64, ix.d)
	for i := range hi - lo {
		data.RowTo(row, x, lo+i)
		if ix.metric.angular() {
			prepared.ToUnit(row)
		}
		// Only Euclidean distance has a mean.
		for j, m := range ix.mean {
			row[j] -= m
		}

		var s float64
		for j, v := range row {
			f := float32(v)
			flat[i*ix.d+j] = f
			s += float64(f) * float64(f)
		}
		if s == 0 && ix.metric.angular() {
			s = 1
		}
		sq[i] = float32(s)
	}

	return flat
}

// prepareBytes is prepare for angles between bytes: the inner products of the bytes will be scaled.
func (ix *denseIndex) prepareBytes(x *data.Dense[uint8], lo, hi int) *side {
	q := &side{x: x, first: lo, sq: make([]float32, hi-lo), scale: make([]float32, hi-lo)}
	q.bytes = dense.PackAU8(dense.NoTrans, x.Data[lo*ix.d:hi*ix.d], hi-lo, ix.d, ix.d)

	// A scaled point has norm 1, so its squared distance is 2 − 2qᵀy; zero vectors keep the scale
	// 0.
	for i, s := range byteNorms(x, lo, hi) {
		q.sq[i] = 1
		if s > 0 {
			q.scale[i] = float32(1 / math.Sqrt(float64(s)))
		}
	}
	return q
}

// prepareSide prepares points lo to hi of x.
func (ix *denseIndex) prepareSide(x data.Points, lo, hi int) *side {
	if b, ok := x.(*data.Dense[uint8]); ok && ix.bytes != nil {
		return ix.prepareBytes(b, lo, hi)
	}
	q := &side{x: x, first: lo, sq: make([]float32, hi-lo), left: dense.NewPackedA32(hi-lo, ix.d)}
	q.left.Set(0, hi-lo, ix.prepare(q.sq, x, lo, hi), ix.d)
	return q
}

// panel returns the number of queries in a packed panel. Queries can be cut at its multiples.
func (q *side) panel() int {
	if q.bytes != nil {
		return q.bytes.Panel()
	}
	return q.left.Panel()
}

// compare returns the comparison of some queries with all points.
func (ix *denseIndex) compare(q *side) *blocks.Blocks[float32] {
	if q.bytes != nil {
		// Exact products of bytes, scaled by both norms.
		b := blocks.NewFloats(q.bytes.Panel(), ix.bytes.Panel())
		b.Row = q.sq
		b.Col = ix.own.sq
		b.Multiply = func(w *blocks.Workspace[float32], i0, i1, j0, j1 int) {
			if w.Ints == nil {
				w.Ints = make([]int32, len(w.C))
			}
			dense.MulU8(q.bytes, i0, i1, ix.bytes, j0, j1, w.Ints, b.Block)
			for i := i0; i < i1; i++ {
				at := (i - i0) * b.Block
				simd.ScaleInts(w.C[at:][:j1-j0], w.Ints[at:][:j1-j0], q.scale[i], ix.own.scale[j0:j1])
			}
		}
		return b
	}

	b := blocks.NewFloats(q.left.Panel(), ix.right.Panel())
	b.Row = q.sq
	b.Col = ix.own.sq
	b.Multiply = func(w *blocks.Workspace[float32], i0, i1, j0, j1 int) {
		dense.Mul32(q.left, i0, i1, ix.right, j0, j1, w.C, b.Block, &w.Scratch)
	}

	return b
}

func (ix *denseIndex) query(ctx context.Context, x data.Points, k int, p progress) (*Neighbors, error) {
	if _, ok := x.(*data.Dense[uint8]); !ok && ix.bytes != nil {
		return ix.floats().query(ctx, x, k, p)
	}
	return ix.search(ctx, x, k, nil, p)
}

// search finds the neighbours of the points of x. join, if not nil, returns the pairs to report for
// the stripe that begins at query lo and is compared by c.
func (ix *denseIndex) search(ctx context.Context, x data.Points, k int,
	join func(c *comparison, lo int) *blocks.Reverse[float32], p progress) (*Neighbors, error) {
	n, _ := x.Dims()

	// slack candidates more than asked for: rounding to float32 may have put a true neighbour
	// behind them.
	kept := min(k+slack, ix.n)
	out := newNeighbors(n, k)
	err := ix.compareStripes(ctx, x, p, func(c *comparison, lo, hi int) {
		var reverse *blocks.Reverse[float32]
		if join != nil {
			reverse = join(c, lo)
		}
		c.confirm(0, hi-lo, c.Search(c.Workspace, 0, hi-lo, kept, reverse), out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// compareStripes calls use with a comparison of the rows lo to hi of x, a stripe of them at a time.
func (ix *denseIndex) compareStripes(ctx context.Context, x data.Points, p progress, use func(c *comparison, lo, hi int)) error {
	n, _ := x.Dims()
	return inStripes(ctx, n, ix.compare(ix.own).Stripe, p, func() func(lo, hi int) {
		c := &comparison{denseIndex: ix, measurer: newMeasurer(ix.x, ix.metric)}
		return func(lo, hi int) {
			c.queries = ix.prepareSide(x, lo, hi)
			c.Blocks = ix.compare(c.queries)
			if c.Workspace == nil {
				c.Workspace = c.NewWorkspace()
			}
			use(c, lo, hi)
		}
	})
}

func (ix *denseIndex) self(ctx context.Context, k int, p progress) (*Neighbors, error) {
	// Each pair is compared once, for both ends, and all lists are confirmed afterwards.
	b := ix.compare(ix.own)
	found, err := b.Self(ctx, min(k+slack, ix.n-1), p.shareOf(ix.n))
	if err != nil {
		return nil, err
	}

	out := newNeighbors(ix.n, k)
	err = inStripes(ctx, ix.n, b.Stripe, nil, func() func(lo, hi int) {
		c := ix.compareOwn(b)
		return func(lo, hi int) { c.confirm(lo, hi, found, out) }
	})
	if err != nil {
		return nil, err
	}
	p.report(ix.n, ix.n)
	return out, nil
}

// bound returns twice the largest difference between ‖y‖² − 2qᵀy + ‖q‖² in float32 and its true
// value, for points with ‖y‖ ≤ r. It adds the rounding of the inputs, of a sum of d products in any
// order (Higham 2002, section 3.1), and of the last sums: each by u times the value or, where that
// underflows, by the smallest float32.
func (ix *denseIndex) bound(normQ, r float64) float64 {
	const u, tiny = 1.0 / (1 << 24), 0x1p-149
	return 4 * (u*(float64(ix.d+8)*normQ*r+4*r*r) + tiny*float64(ix.d+8))
}

// reach is a norm up to which no float32 of a comparison overflows: 4·reach² is below 3.4e38.
const reach = 1e18

// limit returns a limit above the float32 distances of all points at a squared distance of at most
// d from a query, or with the same root as d. It is infinite if float32 is too coarse.
func (ix *denseIndex) limit(sq float32, d float64) float32 {
	normQ := math.Sqrt(float64(sq))
	if ix.metric.Space() == Products { // d is −⟨q, y⟩
		d = max(0, float64(sq)+ix.largest*ix.largest+2*d)
	}

	// No such point is farther from the mean than ‖q‖ + √d.
	r := max(normQ, min(ix.largest, normQ+math.Sqrt(d)))
	if !(r < reach) {
		return float32(math.Inf(1))
	}
	return math.Nextafter32(float32(d*(1+trees.RootTie)+ix.bound(normQ, r)), float32(math.Inf(1)))
}

// comparison is the memory of one goroutine that compares queries with all points.
type comparison struct {
	*denseIndex
	*measurer
	*blocks.Workspace[float32]
	*blocks.Blocks[float32]
	queries *side
}

// compareOwn returns the comparison of the indexed points with each other.
func (ix *denseIndex) compareOwn(b *blocks.Blocks[float32]) *comparison {
	return &comparison{ix, newMeasurer(ix.x, ix.metric), b.NewWorkspace(), b, ix.own}
}

// confirm measures the candidates of queries lo to hi in float64 and writes the nearest out.K of
// them to out. The D of any other point is at least the D of all candidates. If the k-th distance
// does not rule such points out, the query is open, and all points that may be as near are
// measured.
func (c *comparison) confirm(lo, hi int, found *blocks.Candidates[float32], out *Neighbors) {
	q := c.queries
	m := c.measurer
	k := out.K
	available := c.n
	if q.self {
		available--
	}
	limits := make([]float32, hi-lo)
	open := make([]*topk.Set, hi-lo)

	for i := lo; i < hi; i++ {
		keys := found.Of(i)
		m.loadOnce(q, i)
		m.best = m.best[:0]
		for _, key := range keys {
			if key != blocks.NoHit {
				m.best = append(m.best, topk.Pair{Dist: m.square(key.Index()), Index: int32(key.Index())})
			}
		}

		// Complete lists have all points, or candidates with a D above the limit.
		limits[i-lo] = float32(math.Inf(1))
		complete := len(m.best) == available
		if !complete && keys[0] != blocks.NoHit {
			limits[i-lo] = c.limit(q.sq[i], kth(m.best, k))
			complete = blocks.DistanceOf[float32](keys[0]) >= limits[i-lo]
		}
		// Open queries search all points within the limit, and the others none.
		if !complete {
			open[i-lo] = topk.New(k)
			continue
		}

		limits[i-lo] = blocks.Nothing[float32]()
		for p, e := range m.best {
			m.best[p].Dist = m.metric.distance(e.Dist)
		}
		topk.Sort(m.best)
		out.set(q.first+i, m.best[:k])
	}

	// Open queries are answered a panel at a time.
	panel := q.panel()
	for p := lo; p < hi; p += panel {
		end := min(p+panel, hi)
		if !slices.ContainsFunc(open[p-lo:end-lo], func(s *topk.Set) bool { return s != nil }) {
			continue
		}
		c.nearby(p, end, limits[p-lo:end-lo], func(i, j int, d float64) {
			open[i-lo].Add(topk.Pair{Dist: d, Index: int32(j)})
		})
		for i := p; i < end; i++ {
			if open[i-lo] != nil {
				out.set(q.first+i, open[i-lo].Take())
			}
		}
	}
}

// kth returns the k-th smallest distance of list, which it sorts.
func kth(list []topk.Pair, k int) float64 {
	topk.Sort(list)
	return list[k-1].Dist
}

// nearby calls visit with the distances between queries lo to hi and all points with D below the
// query's limit, or all points if the limit is infinite. Points come in the order of their indices.
// lo is a multiple of the panel.
func (c *comparison) nearby(lo, hi int, limits []float32, visit func(i, j int, distance float64)) {
	// Where the limit is infinite, the blocks report nothing and all points are measured below.
	infinite := float32(math.Inf(1))
	scanned := make([]float32, len(limits))
	for i, l := range limits {
		if scanned[i] = l; l == infinite {
			scanned[i] = blocks.Nothing[float32]()
		}
	}

	near := func(i, j int) {
		if !c.queries.self || i != j {
			c.loadOnce(c.queries, i)
			visit(i, j, c.distance(j))
		}
	}

	for j := 0; j < c.n; j += c.Block {
		end := min(j+c.Block, c.n)
		c.Visit(c.Workspace, blocks.Span{Lo: lo, Hi: hi}, blocks.Span{Lo: j, Hi: end}, scanned, nil,
			func(i, j int, _ float32) { near(i, j) })
	}

	for i := lo; i < hi; i++ {
		if limits[i-lo] == infinite {
			for j := range c.n {
				near(i, j)
			}
		}
	}
}

func (ix *denseIndex) within(ctx context.Context, radius float64, budget *pairBudget, p progress) (*sparse.CSR, error) {
	squared := ix.metric.square(radius)
	rows := make([][]topk.Pair, ix.n)
	b := ix.compare(ix.own)
	err := inStripes(ctx, ix.n, b.Stripe, p, func() func(lo, hi int) {
		c := ix.compareOwn(b)
		return func(lo, hi int) {
			// The limit lets every pair within the radius through, and float64 decides.
			limits := make([]float32, hi-lo)
			for i := range limits {
				limits[i] = ix.limit(ix.own.sq[lo+i], squared)
			}
			c.nearby(lo, hi, limits, func(i, j int, d float64) {
				if d <= radius && budget.take(1) {
					rows[i] = append(rows[i], topk.Pair{Dist: d, Index: int32(j)})
				}
			})
		}
	})
	if err != nil {
		return nil, err
	}
	return fromRows(rows), nil
}
