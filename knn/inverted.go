package knn

import (
	"context"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn/internal/prepared"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/knn/internal/trees"
	"github.com/bigfit/bigfit/sparse"
)

// invertedIndex answers queries on sparse points by the transposed matrix: the inner products of a
// query with all points are summed over the query's columns in float64. Where distances are sums
// over coordinates, the points that may be among the nearest are measured again in the order of the
// columns, as dense points are, so that ties are ties in both.
type invertedIndex struct {
	*sparseSet
	columns *sparse.CSR
	used    []int32   // the columns of x that columns has as rows; nil if it has all
	inverse []float64 // 1/‖x‖, or 0 for zero points
	whole   bool      // all values are whole numbers: distances between the points are exact
}

// newInverted returns the engine for sparse points.
func newInverted(x *sparse.CSR, m Metric) *invertedIndex {
	ix := &invertedIndex{sparseSet: newSparseSet(x, m), inverse: make([]float64, x.Rows)}
	narrow := ix.x
	// Of very many columns only the columns in use are transposed.
	if prepared.Wide(x) {
		narrow, ix.used = ix.x.Narrow()
	}
	ix.columns = narrow.T()

	// Sums of squares of whole numbers below 2⁵³ are exact.
	fraction := func(v float64) bool { return v != math.Trunc(v) }
	ix.whole = m.Space() == Vectors && !slices.ContainsFunc(x.Val, fraction)
	for i, v := range ix.sq {
		ix.inverse[i] = inverseRoot(v)
		ix.whole = ix.whole && v < 1<<50
	}

	return ix
}

// sparseQuery scores one query against all points. It serves one goroutine.
type sparseQuery struct {
	ix   *invertedIndex
	dots []float64 // inner products
	near []float64 // squared distances, or distances for metrics that are no sums
}

// score fills dots with the inner products of row i of x and all points.
func (q *sparseQuery) score(x *sparse.CSR, i int) {
	clear(q.dots)
	col, val := x.Row(i)
	for p, c := range col {
		v := 1.0
		if val != nil {
			v = val[p]
		}

		row := int(c)
		known := true
		if q.ix.used != nil {
			row, known = slices.BinarySearch(q.ix.used, c)
		}
		if !known {
			continue
		}

		// Every point with an entry in this column takes its share.
		at, w := q.ix.columns.Row(row)
		if w == nil {
			for _, r := range at {
				q.dots[r] += v
			}
			continue
		}
		for s, r := range at {
			q.dots[r] += v * w[s]
		}
	}
}

// compare sets near, for all points and a query of squared norm sq, to the squared distances (of unit
// vectors for angles) up to the error bound, or for other metrics to the distances.
func (q *sparseQuery) compare(sq float64) {
	near := q.near[:len(q.dots)]
	norms := q.ix.sq[:len(q.dots)]
	inverse := q.ix.inverse[:len(q.dots)]
	own := 2 * inverseRoot(sq)

	switch m := q.ix.metric; {
	case m.Space() == Vectors:
		for j, dot := range q.dots {
			near[j] = sq + norms[j] - 2*dot
		}
	case m.angular():
		for j, dot := range q.dots {
			near[j] = 2 - dot*inverse[j]*own
		}
	default:
		for j, dot := range q.dots {
			near[j] = q.ix.product(sq, j, dot)
		}
	}
}

// distance returns the distance of point j from row i of x, after compare for that row.
func (q *sparseQuery) distance(x *sparse.CSR, i int, sq float64, j int) float64 {
	switch ix := q.ix; {
	case !ix.metric.sums():
		return q.near[j]
	case ix.whole && x == ix.x:
		return math.Sqrt(q.near[j])
	default:
		return ix.sum(x, i, sq, j)
	}
}

// bound returns an upper bound of the rounding errors of compare and distance, for a query of
// squared norm sq and count entries, and for points no farther from it than a point for which
// compare gives d.
func (q *sparseQuery) bound(sq float64, count int, d float64) float64 {
	scale := 4.0
	switch {
	case q.ix.metric.Space() == Vectors:
		r := math.Sqrt(sq) + math.Sqrt(d)
		scale = sq + r*r
	case !q.ix.metric.angular():
		return 0 // compare gives the distances, which are not measured again
	}
	return 0x1p-51 * float64(count+q.ix.longest+8) * scale
}

func (ix *invertedIndex) query(ctx context.Context, x data.Points, k int, p progress) (*Neighbors, error) {
	q, ok := x.(*sparse.CSR)
	if !ok {
		q = data.ToSparse(x)
	}
	return ix.search(ctx, ix.metric.entries(q), k, false, p)
}

func (ix *invertedIndex) self(ctx context.Context, k int, p progress) (*Neighbors, error) {
	return ix.search(ctx, ix.x, k, true, p)
}

func (ix *invertedIndex) search(ctx context.Context, x *sparse.CSR, k int, self bool, p progress) (*Neighbors, error) {
	out := newNeighbors(x.Rows, k)
	err := ix.each(ctx, x, p, func(q *sparseQuery, i int, sq float64) {
		// The k-th smallest value of compare.
		set := topk.New(k)
		// A point is not its own neighbour.
		if self {
			q.near[i] = math.Inf(1)
		}
		kth := math.Inf(1)
		for j, v := range q.near {
			if v < kth {
				if set.Add(topk.Pair{Dist: v, Index: int32(j)}); set.Full() {
					kth = set.Heap[0].Dist
				}
			}
		}

		// Points that rounding may have put behind the k-th place are measured again.
		if q.ix.metric.Space() != Products {
			kth = max(0, kth)
		}
		limit := kth + 2*q.bound(sq, int(x.Ptr[i+1]-x.Ptr[i]), kth)
		set.Heap = set.Heap[:0]
		for j, v := range q.near {
			if !(v > limit) && !(self && j == i) {
				set.Add(topk.Pair{Dist: q.distance(x, i, sq, j), Index: int32(j)})
			}
		}
		out.set(i, set.Take())
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// each scores every row of x and hands it to visit, in parallel.
func (ix *invertedIndex) each(ctx context.Context, x *sparse.CSR, p progress,
	visit func(q *sparseQuery, i int, sq float64)) error {
	return inStripes(ctx, x.Rows, 32, p, func() func(lo, hi int) {
		q := &sparseQuery{ix: ix, dots: make([]float64, ix.x.Rows), near: make([]float64, ix.x.Rows)}
		return func(lo, hi int) {
			for i := lo; i < hi; i++ {
				sq := x.SquaredNorm(i)
				q.score(x, i)
				q.compare(sq)
				visit(q, i, sq)
			}
		}
	})
}

func (ix *invertedIndex) within(ctx context.Context, radius float64, budget *pairBudget, p progress) (
	*sparse.CSR, error) {
	// Squares with the same root as the radius's are let through; the distance decides.
	rows := make([][]topk.Pair, ix.x.Rows)
	squared := ix.metric.square(radius)
	top := squared * (1 + trees.RootTie)
	if ix.metric == Angle {
		top = ix.metric.widen(squared)
	}

	err := ix.each(ctx, ix.x, p, func(q *sparseQuery, i int, sq float64) {
		limit := top + 2*q.bound(sq, int(ix.x.Ptr[i+1]-ix.x.Ptr[i]), squared)
		for j, v := range q.near {
			if v > limit || j == i {
				continue
			}
			if d := q.distance(ix.x, i, sq, j); d <= radius && budget.take(1) {
				rows[i] = append(rows[i], topk.Pair{Dist: d, Index: int32(j)})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return fromRows(rows), nil
}
