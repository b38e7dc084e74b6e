package pruned

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/knn/internal/blocks"
	"github.com/bigfit/bigfit/knn/internal/topk"
)

const (
	firstBlocks = 4 // blocks in which points look for neighbours first
	spare       = 1 // points beyond k that are measured there; a point finds itself
)

// A search is the nearest points so far of some queries.
type search struct {
	*Index
	k           int
	number      []int32    // of the query at a position
	self        bool       // queries are the points, at the same positions
	sets        []topk.Set // by position
	within      []float64  // bounds of the squared distances of the k-th neighbours
	short, long []int32    // the limits of codes that follow
	eShort      float64    // errors of the codes of a query and a point together
	eLong       float64
	codes       *codes
	sq          []int32 // ‖code‖² of the queries
}

func (ix *Index) newSearch(n, k int) *search {
	s := &search{Index: ix, k: k, sets: make([]topk.Set, n), within: make([]float64, n)}
	s.short = make([]int32, n)
	s.long = make([]int32, n)
	for i := range s.sets {
		s.within[i] = math.Inf(1)
		s.short[i] = math.MaxInt32
		s.long[i] = math.MaxInt32
	}
	return s
}

// makeRoom makes the sets, once the limits are known.
func (s *search) makeRoom() {
	pairs := make([]topk.Pair, len(s.sets)*s.k)
	for i := range s.sets {
		s.sets[i] = topk.Set{Limit: s.k, Heap: pairs[i*s.k : i*s.k : (i+1)*s.k]}
	}
}

// of returns the number of the query at position i.
func (s *search) of(i int) int { return int(s.number[i]) }

// expect lowers the limits of query i to those of a squared distance.
func (s *search) expect(i int, d float64) {
	if d < s.within[i] {
		s.within[i] = d
		s.short[i] = s.limit(d, 1, s.eShort)
		s.long[i] = s.limit(d, fine, s.eLong)
	}
}

// offer adds a point to those of query i if it is nearer than one of them.
func (s *search) offer(i int, p topk.Pair) {
	set := &s.sets[i]
	if set.Full() && !p.Less(set.Heap[0]) {
		return
	}
	set.Add(p)
	if set.Full() {
		s.expect(i, s.space.Square(set.Heap[0].Dist))
	}
}

// worker is the memory of one goroutine.
type worker struct {
	*search
	meter  Meter
	ws     *blocks.Workspace[int32]
	mutual bool // points are queries too and look for neighbours
	near   dense.Near
	bits   []uint8
	hits   []int32 // positions of points that the bytes leave, query by query
	ends   []int32 // of the hits of a query
	queue  queue
	idx    []int32
	limits []float64
	prods  []int32
	dist   []float64
}

// queue is pairs that are to be measured: positions of a query and of a point, and the
// point's number. What is measured is asked of the memory when it joins.
type queue struct{ query, point, number []int32 }

// queued is the number of pairs that are measured together.
const queued = 64

func (ix *Index) newWorker(s *search, m Meter, c *comparison) *worker {
	w := &worker{search: s, meter: m, ws: c.NewWorkspace(), bits: make([]uint8, c.Stripe*c.bitRow())}
	w.near = dense.Near{Shift: make([]int32, c.Stripe), Limit: make([]int32, c.Stripe),
		Col: make([]int32, c.Block), Own: make([]int32, c.Block)}
	return w
}

// Self calls set with the k nearest other points of every point, nearest first and by
// number where distances are equal. report is given the share of the work that is done.
func (ix *Index) Self(ctx context.Context, k int, newExact func() Exact, report func(share float64),
	set func(i int, list []topk.Pair)) error {
	s := ix.newSearch(ix.codes.n, k)
	s.number = ix.order
	s.self = true
	s.codes = ix.codes
	s.sq = ix.long
	s.eShort = 2 * ix.codes.err[ix.cut]
	s.eLong = 2 * ix.codes.fine
	b := ix.compare(ix.left, ix.short)
	teams, newMeter := len(ix.boxes), ix.meters(ix.space.X, newExact)
	workers := make([]*worker, par.Workers(teams, 1))
	get := func(i int) *worker {
		if workers[i] == nil {
			workers[i] = ix.newWorker(s, newMeter(), b)
		}
		return workers[i]
	}

	par.ForWorker(teams, 1, func(i, p, _ int) {
		if ctx.Err() == nil {
			get(i).begin(b, p)
		}
	})

	if ctx.Err() == nil && s.loose() {
		found, err := b.Self(ctx, min(k+spare, ix.codes.n-1), func(share float64) { report(share / 2) })
		if err != nil {
			return err
		}
		par.ForWorker(teams, 1, func(i, p, _ int) {
			lo := p * b.Block
			get(i).bound(lo, min(lo+b.Block, ix.codes.n), found.Of)
		})
		rest := report
		report = func(share float64) { rest((1 + share) / 2) }
	}

	s.makeRoom()
	err := blocks.Rounds(ctx, teams, report, func(i, p, q int) { get(i).meet(b, p, q) })
	if err != nil {
		return err
	}

	par.For(len(s.sets), 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			set(s.of(i), s.sets[i].Take())
		}
	})
	return nil
}

// begin bounds the distances of the k-th neighbours of the points of a block by those of
// points in blocks near to it.
func (w *worker) begin(b *comparison, p int) {
	near := nearest(w.boxes, w.boxes[p], firstBlocks)
	n := w.Index.codes.n
	for lo := p * b.Block; lo < min((p+1)*b.Block, n); lo += b.Stripe {
		queries := blocks.Span{Lo: lo, Hi: min(lo+b.Stripe, (p+1)*b.Block, n)}
		found := b.SearchIn(w.ws, queries, w.k+spare, near)
		w.bound(queries.Lo, queries.Hi, func(i int) []blocks.Hit { return found.Of(i - queries.Lo) })
	}
}

// bound measures the points found for queries lo to hi and lowers their limits.
func (w *worker) bound(lo, hi int, found func(i int) []blocks.Hit) {
	for i := lo; i < hi; i++ {
		w.idx = w.idx[:0]
		for _, h := range found(i) {
			if h != blocks.NoHit && !(w.self && h.Index() == i) {
				w.idx = append(w.idx, w.order[h.Index()])
			}
		}
		w.expect(i, w.kth(w.meter, w.of(i), w.idx, w.k))
	}
}

// loose reports whether the limits of points leave so many pairs that it takes less time to
// compare all pairs once more, for better ones. Limits become lower while pairs are
// measured: two fifths of what they leave at first is about what will be left.
func (s *search) loose() bool {
	sample := sampled{}
	for i := range s.Index.codes.sample() {
		sample.rows = append(sample.rows, i)
		sample.limits = append(sample.limits, s.within[i])
	}
	c := costs()
	const sides, later = 2, 0.4
	return sides*later*s.share(sample, s.cut)*c.left > float64(s.frame.cuts[s.cut]+1)+c.scan
}

// meet offers the points of blocks p ≤ q to each other.
func (w *worker) meet(b *comparison, p, q int) {
	n := w.Index.codes.n
	pLo := p * b.Block
	pHi := min((p+1)*b.Block, n)
	qLo := q * b.Block
	qHi := min((q+1)*b.Block, n)
	var own []int32
	if w.mutual = p < q; w.mutual {
		own = w.search.short[qLo:qHi]
		gap := w.boxes[p].gap(w.boxes[q])
		if gap >= largest(w.search.short[pLo:pHi]) && gap >= largest(own) {
			return
		}
	}

	w.setPoints(b, blocks.Span{Lo: qLo, Hi: qHi}, own)
	for i := pLo; i < pHi; i += b.Stripe {
		end := min(i+b.Stripe, pHi)
		w.visit(b, blocks.Span{Lo: i, Hi: end}, blocks.Span{Lo: qLo, Hi: qHi}, w.search.short[i:end])
	}
	w.measure()
}

func largest(list []int32) int32 {
	most := list[0]
	for _, v := range list {
		most = max(most, v)
	}
	return most
}

// setPoints prepares comparisons with a block of points, of which each has a limit of its
// own unless own is nil. A pair is near if the squared distance of its codes
//
//	row + col − 2·product < max(limit, own),
//
// or product > min((col + row − limit)/2, (col − own + row)/2). Halves are rounded down before
// they are added, so that some pairs more are near.
func (w *worker) setPoints(b *comparison, points blocks.Span, own []int32) {
	const never = 1 << 29 // above products, and no sum with it overflows
	for j, col := range b.Col[points.Lo:points.Hi] {
		w.near.Col[j] = col >> 1
		w.near.Own[j] = never
		if own != nil {
			w.near.Own[j] = (col - own[j]) >> 1
		}
	}
}

// visit looks at what queries and points of two ranges are not too far from each other by
// their bytes, the points being those of setPoints.
func (w *worker) visit(b *comparison, queries, points blocks.Span, limits []int32) {
	for r, row := range b.Row[queries.Lo:queries.Hi] {
		half := (row - limits[r]) >> 1
		w.near.Shift[r] = -half
		w.near.Limit[r] = row>>1 - half
	}

	width := b.bitRow()
	dense.NearU8(b.left, queries.Lo, queries.Hi, b.right, points.Lo, points.Hi, w.near, w.bits, width)
	w.hits = w.hits[:0]
	w.ends = w.ends[:0]
	for i := queries.Lo; i < queries.Hi; i++ {
		row := w.bits[(i-queries.Lo)*width:][:width]
		for at := 0; at < width; at += 8 {
			for set := binary.LittleEndian.Uint64(row[at:]); set != 0; set &= set - 1 {
				if j := points.Lo + 8*at + bits.TrailingZeros64(set); i != j || !w.self {
					w.hits = append(w.hits, int32(j))
				}
			}
		}
		w.ends = append(w.ends, int32(len(w.hits)))
	}

	const ahead = 12 // hits for whose codes the memory is asked
	codes := w.Index.codes
	from, asked := 0, 0
	for r, end := range w.ends {
		to := int(end)
		if from == to {
			continue
		}
		if next := min(to+ahead, len(w.hits)); next > asked {
			simd.PrefetchRows(codes.data, codes.ld, w.hits[asked:next], codes.ld)
			asked = next
		}
		w.refine(queries.Lo+r, w.hits[from:to])
		from = to
	}
}

// refine compares query i with points at some positions by all coordinates that are kept.
func (w *worker) refine(i int, hits []int32) {
	points := w.Index.codes
	q := &w.queue
	w.prods = grow(w.prods, len(hits))
	simd.WordProducts(w.prods, w.search.codes.row(i), points.data, points.ld, hits)
	limit := w.search.long[i]
	sq := w.sq[i]
	first := len(q.query)
	for p, j := range hits {
		most := limit
		if w.mutual {
			most = max(most, w.search.long[j])
		}
		if sq+w.Index.long[j]-2*w.prods[p] < most {
			q.query, q.point, q.number = append(q.query, int32(i)), append(q.point, j),
				append(q.number, w.order[j])
		}
	}

	w.meter.Ask(q.number[first:])
	if len(q.query) >= queued {
		w.measure()
	}
}

// measure measures the pairs of the queue and offers them to each other.
func (w *worker) measure() {
	q := &w.queue
	for from, to := 0, 0; from < len(q.query); from = to {
		i := int(q.query[from])
		w.limits = w.limits[:0]
		for ; to < len(q.query) && q.query[to] == int32(i); to++ {
			within := w.within[i]
			if w.mutual {
				within = max(within, w.within[q.point[to]])
			}
			w.limits = append(w.limits, within)
		}

		w.dist = grow(w.dist, to-from)
		w.meter.Measure(w.dist, w.of(i), q.number[from:to], w.limits)
		for p, d := range w.dist {
			if math.IsInf(d, 1) {
				continue
			}
			w.offer(i, topk.Pair{Dist: d, Index: q.number[from+p]})
			if w.mutual {
				w.offer(int(q.point[from+p]), topk.Pair{Dist: d, Index: int32(w.of(i))})
			}
		}
	}

	q.query = q.query[:0]
	q.point = q.point[:0]
	q.number = q.number[:0]
}

func grow[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n, 2*n)
	}
	return list[:n]
}

// Query calls set with the k nearest points of every row of x, as [Index.Self] does.
// newExact makes what measures rows of x from points; of points that are bytes, x is bytes.
func (ix *Index) Query(ctx context.Context, x data.Points, k int, newExact func() Exact,
	report func(done int), set func(i int, list []topk.Pair)) error {
	c, err := ix.frame.encode(ctx, ix.space, x)
	if err != nil {
		return err
	}
	stripe, newMeter := ix.compare(ix.left, ix.short).Stripe, ix.meters(x, newExact)
	order := c.order(stripe)
	c.arrange(order)
	workers := make([]*worker, par.Workers(c.n, stripe))
	par.ForWorker(c.n, stripe, func(i, lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		if workers[i] == nil {
			workers[i] = ix.newWorker(nil, newMeter(), ix.compare(ix.left, ix.short))
		}
		workers[i].search = ix.stripe(c, order, lo, hi, k)
		workers[i].answer(set)
		report(hi - lo)
	})

	return ctx.Err()
}

// stripe returns the search for the queries at positions lo to hi of c.
func (ix *Index) stripe(c *codes, order []int32, lo, hi, k int) *search {
	s := ix.newSearch(hi-lo, k)
	cuts := len(c.err)
	s.number = order[lo:hi]
	s.codes = &codes{n: hi - lo, m: c.m, ld: c.ld, data: c.data[lo*c.ld : hi*c.ld],
		rest: c.rest[lo*cuts : hi*cuts], err: c.err}
	s.sq = s.codes.squares(nil)
	s.eShort = ix.codes.err[ix.cut] + c.err[ix.cut]
	s.eLong = ix.codes.fine + c.fine
	return s
}

// answer finds the neighbours of a stripe of queries near to each other: first those in blocks
// near to them, to have limits, then all within these.
func (w *worker) answer(set func(i int, list []topk.Pair)) {
	n := w.search.codes.n
	width := w.frame.cuts[w.cut] + 1
	flat := w.search.codes.columns(w.frame.cuts, w.cut, nil)
	b := w.compare(dense.PackAU8(dense.NoTrans, flat, n, width, width), squares(flat, n, width))
	points := w.Index.codes.n
	queries := blocks.Span{Lo: 0, Hi: n}
	const enough = 4 // times as many points as limits are made of
	count := max(2*firstBlocks, par.Chunks(enough*(w.k+spare), b.Block))
	near := nearest(w.boxes, boxes(flat, width, n)[0], count)
	w.bound(0, n, b.SearchIn(w.ws, queries, min(w.k+spare, points), near).Of)
	w.makeRoom()

	for j := 0; j < points; j += b.Block {
		block := blocks.Span{Lo: j, Hi: min(j+b.Block, points)}
		w.setPoints(b, block, nil)
		w.visit(b, queries, block, w.search.short)
	}

	w.measure()
	for i := range n {
		set(w.of(i), w.sets[i].Take())
	}
}
