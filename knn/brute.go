package knn

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/sparse"
)

const (
	queryBlock = 96   // queries in one product
	pointBlock = 1536 // points in one product; its results stay in the L2 cache
	slack      = 8    // candidates kept beyond k
)

// denseIndex compares blocks of queries with blocks of points through
// ‖q−y‖² = ‖q‖² + ‖y‖² − 2qᵀy in float32, on points from which their mean has
// been taken (or which have been scaled to norm one, for Angle), then measures
// the candidates directly in float64 on the points as given.
type denseIndex struct {
	Settings
	x       data.Points
	n, d    int
	mean    []float64 // nil for Angle
	packed  *dense.Packed32
	flat    []float32 // the prepared points, n×d
	sq      []float32 // ‖y‖² of the prepared points
	largest float64   // the largest ‖y‖ of the prepared points
}

func newDense(x data.Points, s Settings) *denseIndex {
	n, d := x.Dims()
	ix := &denseIndex{Settings: s, x: x, n: n, d: d}
	if s.Metric == Euclidean {
		ix.mean = data.Mean(x)
	}
	ix.flat, ix.sq = prepare(x, ix.mean)
	for _, s := range ix.sq {
		ix.largest = max(ix.largest, math.Sqrt(float64(s)))
	}
	ix.packed = dense.PackB32(ix.flat, n, d, d)
	return ix
}

func (ix *denseIndex) Dims() (n, d int) { return ix.n, ix.d }

func (ix *denseIndex) Metric() Metric { return ix.Settings.Metric }

// prepare returns the points minus mean, or scaled to norm one if mean is nil,
// as float32, and their squared norms. Zero points stay zero.
func prepare(x data.Points, mean []float64) (flat, sq []float32) {
	n, d := x.Dims()
	flat, sq = make([]float32, n*d), make([]float32, n)
	par.For(n, 1024, func(lo, hi int) {
		row := make([]float64, d)
		for i := lo; i < hi; i++ {
			data.RowTo(row, x, i)
			if mean == nil {
				scaleToUnit(row)
			} else {
				for j, m := range mean {
					row[j] -= m
				}
			}
			var s float64
			for j, v := range row {
				f := float32(v)
				flat[i*d+j] = f
				s += float64(f) * float64(f)
			}
			sq[i] = float32(s)
		}
	})
	return flat, sq
}

// scaleToUnit divides x by its norm, unless that is zero.
func scaleToUnit(x []float64) {
	var s float64
	for _, v := range x {
		s += v * v
	}
	if s == 0 {
		return
	}
	s = math.Sqrt(s)
	for j := range x {
		x[j] /= s
	}
}

// measure returns the distance of point i from q in the form candidates are
// compared in: squared, of the unit vectors for Angle. q is prepared by
// scaleToUnit for Angle; row is scratch.
func (ix *denseIndex) measure(q []float64, i int, row []float64) float64 {
	var s float64
	if ix.Settings.Metric == Euclidean {
		switch x := ix.x.(type) {
		case *data.Dense[uint8]:
			return squaredDistance(q, x.Row(i))
		case *data.Dense[float32]:
			return squaredDistance(q, x.Row(i))
		case *data.Dense[float64]:
			return squaredDistance(q, x.Row(i))
		}
	}
	data.RowTo(row, ix.x, i)
	scaleToUnit(row)
	var nonzeroQ, nonzeroRow bool
	for j, v := range row {
		d := q[j] - v
		s += d * d
		nonzeroQ = nonzeroQ || q[j] != 0
		nonzeroRow = nonzeroRow || v != 0
	}
	if !nonzeroQ || !nonzeroRow {
		return 2
	}
	return s
}

func squaredDistance[T data.Element](q []float64, x []T) float64 {
	var s float64
	for j, v := range x {
		d := q[j] - float64(v)
		s += d * d
	}
	return s
}

// distance turns what measure returns into the metric's distance.
func (m Metric) distance(d float64) float64 {
	if m == Euclidean {
		return math.Sqrt(d)
	}
	if d == 2 {
		return math.Pi / 2
	}
	return 2 * math.Asin(min(1, math.Sqrt(d)/2))
}

func (ix *denseIndex) Query(ctx context.Context, x data.Points, k int) (*Neighbors, error) {
	if err := checkQuery(x, ix.d); err != nil {
		return nil, err
	}
	if err := checkK(k, ix.n); err != nil {
		return nil, err
	}
	flat, sq := prepare(x, ix.mean)
	return ix.search(ctx, queries{x, flat, sq, false}, k)
}

func (ix *denseIndex) Self(ctx context.Context, k int) (*Neighbors, error) {
	if err := checkK(k, ix.n-1); err != nil {
		return nil, err
	}
	return ix.search(ctx, queries{ix.x, ix.flat, ix.sq, true}, k)
}

// queries are query points with their prepared form. self means that query i
// is indexed point i, which it must not find.
type queries struct {
	x        data.Points
	flat, sq []float32
	self     bool
}

// bound returns twice the largest difference between the float32 value of
// ‖y‖² − 2qᵀy and its true value for points with ‖y‖ ≤ r: rounding of the
// inputs, of a sum of d products in any order, and of the last subtraction, by
// u of the value or, where that underflows, by the smallest float32.
func (ix *denseIndex) bound(normQ, r float64) float64 {
	const u, tiny = 1.0 / (1 << 24), 0x1p-149
	return 4 * (u*(float64(ix.d+8)*normQ*r+4*r*r) + tiny*float64(ix.d+8))
}

// reach is the norm up to which no float32 of a comparison overflows.
const reach = 1e18

func (ix *denseIndex) search(ctx context.Context, q queries, k int) (*Neighbors, error) {
	n, _ := q.x.Dims()
	available := ix.n
	if q.self {
		available--
	}
	out := &Neighbors{K: k, Index: make([]int32, n*k), Distance: make([]float64, n*k)}
	var done atomic.Int64
	par.For(n, queryBlock, func(lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		sets := make([]*nearest, hi-lo)
		limits := make([]float32, hi-lo)
		for r := range sets {
			sets[r] = newNearest(min(k+slack, available))
			limits[r] = float32(math.Inf(1))
		}
		ix.scan(q, lo, hi, limits, func(r int, v float32, i int32) {
			sets[r].add(pair{float64(v), i})
			if sets[r].full() {
				limits[r] = float32(sets[r].heap[0].dist)
			}
		})
		w := ix.newMeasurer()
		for r, set := range sets {
			w.load(q.x, lo+r)
			best := w.confirm(set, q, lo+r, k, available)
			index, distance := out.Row(lo + r)
			for p, b := range best {
				index[p], distance[p] = b.index, b.dist
			}
		}
		if ix.OnProgress != nil {
			ix.OnProgress(int(done.Add(int64(hi-lo))), n)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

// scan computes v = ‖y_i‖² − 2qᵀy_i in float32 for queries lo to hi and every
// indexed point and calls visit for those with v ≤ limits[query − lo], which
// visit may lower. A query that is an indexed point does not meet itself.
func (ix *denseIndex) scan(q queries, lo, hi int, limits []float32, visit func(r int, v float32, i int32)) {
	m := hi - lo
	width := pointBlock / ix.packed.Panel() * ix.packed.Panel()
	product := make([]float32, m*width)
	var scratch dense.Scratch
	for from := 0; from < ix.n; from += width {
		to := min(from+width, ix.n)
		ix.packed.MulRange(q.flat[lo*ix.d:hi*ix.d], m, ix.d, from, to, product, width, &scratch)
		sq := ix.sq[from:to]
		for r := range m {
			row := product[r*width:][:len(sq)]
			if self := lo + r - from; q.self && self >= 0 && self < len(row) {
				row[self] = float32(math.Inf(-1))
			}
			limit := limits[r]
			for j, s := range sq {
				if v := s - 2*row[j]; v <= limit {
					if !math.IsInf(float64(v), 1) {
						visit(r, v, int32(from+j))
					}
					limit = limits[r]
				}
			}
		}
	}
}

// measurer holds one query in float64 and measures points against it.
type measurer struct {
	ix     *denseIndex
	q, row []float64
	best   []pair
}

func (ix *denseIndex) newMeasurer() *measurer {
	return &measurer{ix: ix, q: make([]float64, ix.d), row: make([]float64, ix.d)}
}

func (w *measurer) load(x data.Points, i int) {
	data.RowTo(w.q, x, i)
	if w.ix.Settings.Metric == Angle {
		scaleToUnit(w.q)
	}
}

// confirm measures the candidates of query i and returns the k nearest points
// with their distances. A point outside the candidates has v ≥ the largest
// candidate's v; unless that exceeds the k-th distance by more than the rounding
// bound, all points are measured.
func (w *measurer) confirm(candidates *nearest, q queries, i, k, available int) []pair {
	full := candidates.full()
	var worst float64
	if full {
		worst = candidates.heap[0].dist
	}
	for p, c := range candidates.heap {
		candidates.heap[p].dist = w.ix.measure(w.q, int(c.index), w.row)
	}
	// If it is not full, all points are in it or some comparisons were not finite.
	if len(candidates.heap) < available && !(full && w.covered(candidates.heap, worst, float64(q.sq[i]), k)) {
		all := newNearest(k)
		for j := range w.ix.n {
			if !q.self || j != i {
				all.add(pair{w.distance(j), int32(j)})
			}
		}
		return all.take()
	}
	// Roots may tie where their squares do not.
	for p, c := range candidates.heap {
		candidates.heap[p].dist = w.ix.Settings.Metric.distance(c.dist)
	}
	return candidates.take()[:k]
}

// covered reports whether the measured candidates of a query of squared norm sq
// hold its k nearest points, given that all other points have v ≥ worst.
func (w *measurer) covered(measured []pair, worst, sq float64, k int) bool {
	best := nearest{limit: k, heap: w.best[:0]}
	for _, c := range measured {
		best.add(c)
	}
	w.best = best.heap
	kth := best.heap[0].dist
	normQ := math.Sqrt(sq)
	// A point farther from the mean than ‖q‖ + √kth cannot be among the nearest.
	r := max(normQ, min(w.ix.largest, normQ+math.Sqrt(kth)))
	return r < reach && worst+sq-w.ix.bound(normQ, r) > kth*(1+rootTie)
}

// rootTie is the relative difference below which squares may have equal roots.
const rootTie = 0x1p-50

// distance returns the distance of point j from the query.
func (w *measurer) distance(j int) float64 {
	return w.ix.Settings.Metric.distance(w.ix.measure(w.q, j, w.row))
}

func (ix *denseIndex) Within(ctx context.Context, radius float64) (*sparse.CSR, error) {
	limit := radius * radius
	if ix.Settings.Metric == Angle {
		limit = 4 * math.Pow(math.Sin(min(radius, math.Pi)/2), 2)
	}
	rows := make([][]pair, ix.n)
	q := queries{ix.x, ix.flat, ix.sq, true}
	var done atomic.Int64
	par.For(ix.n, queryBlock, func(lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		limits := make([]float32, hi-lo)
		for r := range limits {
			normQ := math.Sqrt(float64(q.sq[lo+r]))
			farthest := max(normQ, min(ix.largest, normQ+math.Sqrt(limit)))
			if !(farthest < reach) {
				limits[r] = float32(math.NaN()) // admits no candidate; all points are measured
				continue
			}
			slackened := limit*(1+rootTie) - float64(q.sq[lo+r]) + ix.bound(normQ, farthest)
			limits[r] = math.Nextafter32(float32(slackened), float32(math.Inf(1)))
		}
		ix.scan(q, lo, hi, limits, func(r int, v float32, i int32) {
			rows[lo+r] = append(rows[lo+r], pair{0, i})
		})
		w := ix.newMeasurer()
		for i := lo; i < hi; i++ {
			w.load(ix.x, i)
			if math.IsNaN(float64(limits[i-lo])) {
				for j := range ix.n {
					if j != i {
						rows[i] = append(rows[i], pair{0, int32(j)})
					}
				}
			}
			kept := rows[i][:0]
			for _, c := range rows[i] {
				if dist := w.distance(int(c.index)); dist <= radius {
					kept = append(kept, pair{dist, c.index})
				}
			}
			rows[i] = kept
		}
		if ix.OnProgress != nil {
			ix.OnProgress(int(done.Add(int64(hi-lo))), ix.n)
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return fromRows(rows), nil
}

// fromRows assembles rows of (distance, index) pairs, ascending by index, into
// a square matrix.
func fromRows(rows [][]pair) *sparse.CSR {
	m := &sparse.CSR{Rows: len(rows), Cols: len(rows), Ptr: make([]int64, len(rows)+1)}
	for i, row := range rows {
		m.Ptr[i+1] = m.Ptr[i] + int64(len(row))
	}
	m.Col, m.Val = make([]int32, 0, m.Ptr[len(rows)]), make([]float64, 0, m.Ptr[len(rows)])
	for _, row := range rows {
		for _, p := range row {
			m.Col, m.Val = append(m.Col, p.index), append(m.Val, p.dist)
		}
	}
	return m
}
