package pruned

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/knn/internal/blocks"
	"github.com/bigfit/bigfit/knn/internal/topk"
)

// A pair passes two filters by lower bounds and is then verified:
//
//	filter      bytes of the first coordinates     all pairs of two blocks
//	filterFine  fine codes of all kept coordinates pairs that filter leaves
//	verify      Meter                              pairs that filterFine leaves

// worker is the memory of one goroutine.
type worker struct {
	*search
	meter  Meter
	ws     *blocks.Workspace[int32]
	mutual bool // the points of a block are queries too and look for neighbours

	// What filter leaves: a bit for each pair, then the positions of points, one query after
	// the other. The candidates of query r of a stripe end at ends[r].
	near       dense.Near
	bits       []uint8
	candidates []int32
	ends       []int32

	pending pending

	// Scratch memory of filterFine, verify and lowerAll.
	products []int32
	limits   []float64
	dist     []float64
	idx      []int32
}

// pending lists the pairs that are to be verified: the positions of a query and of a point, and
// the point's number. The rows of points are prefetched when they join.
type pending struct{ query, point, number []int32 }

// verifiedTogether is the number of pending pairs at which they are verified. Their rows are
// prefetched by then, and still in the cache.
const verifiedTogether = 64

func (ix *Index) newWorker(s *search, m Meter, c *comparison) *worker {
	w := &worker{search: s, meter: m, ws: c.NewWorkspace(), bits: make([]uint8, c.Stripe*c.bitRow())}
	w.near = dense.Near{
		Shift: make([]int32, c.Stripe),
		Limit: make([]int32, c.Stripe),
		Col:   make([]int32, c.Block),
		Own:   make([]int32, c.Block),
	}
	return w
}

// firstThresholds sets the thresholds of the points of block p by the points that the bytes
// find nearest in the blocks near to it.
func (w *worker) firstThresholds(b *comparison, p int) {
	near := nearest(w.boxes, w.boxes[p], firstBlocks)
	n := w.codes.n
	for lo := p * b.Block; lo < min((p+1)*b.Block, n); lo += b.Stripe {
		queries := blocks.Span{Lo: lo, Hi: min(lo+b.Stripe, (p+1)*b.Block, n)}
		found := b.SearchIn(w.ws, queries, w.k+spare, near)
		w.lowerAll(queries.Lo, queries.Hi, func(i int) []blocks.Hit { return found.Of(i - queries.Lo) })
	}
}

// lowerAll measures the candidates found for queries lo to hi and lowers their thresholds.
func (w *worker) lowerAll(lo, hi int, found func(i int) []blocks.Hit) {
	for i := lo; i < hi; i++ {
		w.idx = w.idx[:0]
		for _, h := range found(i) {
			if h != blocks.NoHit && !(w.self && h.Index() == i) {
				w.idx = append(w.idx, w.order[h.Index()])
			}
		}
		w.lower(i, w.kth(w.meter, w.query(i), w.idx, w.k))
	}
}

// compareBlocks filters and verifies the pairs of blocks p ≤ q, for both ends of each pair.
func (w *worker) compareBlocks(b *comparison, p, q int) {
	n := w.codes.n
	pLo := p * b.Block
	pHi := min((p+1)*b.Block, n)
	qLo := q * b.Block
	qHi := min((q+1)*b.Block, n)

	// Two blocks have no candidates if their boxes are farther apart than all limits.
	var pointLimits []int32
	if w.mutual = p < q; w.mutual {
		pointLimits = w.byteLimits[qLo:qHi]
		gap := w.boxes[p].gap(w.boxes[q])
		if gap >= largest(w.byteLimits[pLo:pHi]) && gap >= largest(pointLimits) {
			return
		}
	}

	w.setPoints(b, blocks.Span{Lo: qLo, Hi: qHi}, pointLimits)
	for i := pLo; i < pHi; i += b.Stripe {
		end := min(i+b.Stripe, pHi)
		w.filter(b, blocks.Span{Lo: i, Hi: end}, blocks.Span{Lo: qLo, Hi: qHi}, w.byteLimits[i:end])
	}
	w.verify()
}

func largest(list []int32) int32 {
	most := list[0]
	for _, v := range list {
		most = max(most, v)
	}
	return most
}

// setPoints prepares filter for a block of points. If pointLimits is not nil, it holds the limit
// of each of them as a query. A pair is a candidate if the squared distance of its bytes
//
//	row + col − 2·product < max(limit, pointLimit),
//
// which is product > min((col + row − limit)/2, (col − pointLimit + row)/2). Halves are rounded
// down before they are added, so that the right side is never too large: a few pairs more pass,
// and none is missed.
func (w *worker) setPoints(b *comparison, points blocks.Span, pointLimits []int32) {
	const never = 1 << 29 // above products, and no sum with it overflows
	for j, col := range b.Col[points.Lo:points.Hi] {
		w.near.Col[j] = col >> 1
		w.near.Own[j] = never
		if pointLimits != nil {
			w.near.Own[j] = (col - pointLimits[j]) >> 1
		}
	}
}

// filter compares queries with the points of setPoints by their bytes and passes the
// candidates, pairs with a lower bound under a limit, to filterFine.
func (w *worker) filter(b *comparison, queries, points blocks.Span, limits []int32) {
	for r, row := range b.Row[queries.Lo:queries.Hi] {
		half := (row - limits[r]) >> 1
		w.near.Shift[r] = -half
		w.near.Limit[r] = row>>1 - half
	}
	width := b.bitRow()
	dense.NearU8(b.left, queries.Lo, queries.Hi, b.right, points.Lo, points.Hi, w.near, w.bits, width)

	// The set bits become lists of positions, 64 pairs a word.
	w.candidates = w.candidates[:0]
	w.ends = w.ends[:0]
	for i := queries.Lo; i < queries.Hi; i++ {
		row := w.bits[(i-queries.Lo)*width:][:width]
		for at := 0; at < width; at += 8 {
			for set := binary.LittleEndian.Uint64(row[at:]); set != 0; set &= set - 1 {
				if j := points.Lo + 8*at + bits.TrailingZeros64(set); i != j || !w.self {
					w.candidates = append(w.candidates, int32(j))
				}
			}
		}
		w.ends = append(w.ends, int32(len(w.candidates)))
	}

	// Fine codes lie anywhere in memory: the codes of the next candidates are
	// prefetched while the present ones are compared.
	const ahead = 12
	codes := w.codes
	from, prefetched := 0, 0
	for r, end := range w.ends {
		to := int(end)
		if from == to {
			continue
		}
		if next := min(to+ahead, len(w.candidates)); next > prefetched {
			simd.PrefetchRows(codes.data, codes.ld, w.candidates[prefetched:next], codes.ld)
			prefetched = next
		}
		w.filterFine(queries.Lo+r, w.candidates[from:to])
		from = to
	}
}

// filterFine compares query i with candidates by their fine codes in all coordinates that are
// kept. The pairs that pass wait to be verified.
func (w *worker) filterFine(i int, candidates []int32) {
	points := w.codes
	q := &w.pending
	w.products = grow(w.products, len(candidates))
	simd.WordProducts(w.products, w.queryCodes.row(i), points.data, points.ld, candidates)
	limit := w.fineLimits[i]
	norm := w.queryNorms[i]
	first := len(q.query)
	for p, j := range candidates {
		most := limit
		if w.mutual {
			most = max(most, w.fineLimits[j])
		}
		if norm+w.fineNorms[j]-2*w.products[p] < most {
			q.query = append(q.query, int32(i))
			q.point = append(q.point, j)
			q.number = append(q.number, w.order[j])
		}
	}
	w.meter.Prefetch(q.number[first:])
	if len(q.query) >= verifiedTogether {
		w.verify()
	}
}

// verify measures the pending pairs and offers the point of each to the query, and the query to
// the point if that looks for neighbours too.
func (w *worker) verify() {
	q := &w.pending
	for from, to := 0, 0; from < len(q.query); from = to {
		// The pairs of one query stand together and are measured at once.
		i := int(q.query[from])
		w.limits = w.limits[:0]
		for ; to < len(q.query) && q.query[to] == int32(i); to++ {
			threshold := w.thresholds[i]
			if w.mutual {
				threshold = max(threshold, w.thresholds[q.point[to]])
			}
			w.limits = append(w.limits, threshold)
		}
		w.dist = grow(w.dist, to-from)
		w.meter.Measure(w.dist, w.query(i), q.number[from:to], w.limits)

		for p, d := range w.dist {
			if math.IsInf(d, 1) {
				continue
			}
			w.offer(i, topk.Pair{Dist: d, Index: q.number[from+p]})
			if w.mutual {
				w.offer(int(q.point[from+p]), topk.Pair{Dist: d, Index: int32(w.query(i))})
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
