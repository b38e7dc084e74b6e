package knn

import (
	"math"

	"github.com/bigfit/bigfit/data"
)

// NewBallTree returns a ball tree on dense points for Euclidean, Manhattan and
// Chebyshev distance, and for Angle and Cosine (as the Euclidean distance of unit
// vectors, which increases with the angle; zero vectors are kept apart).
//
// Each node keeps the mean c of its points and their largest distance r from
// it. By the triangle inequality no point of the node is nearer to q than
//
//	dist(q, c) − r
//
// which is computed with slack for rounding. Points are split as in a kd-tree,
// at the median of the coordinate of widest spread. In few dimensions a kd-tree
// is faster, its boxes being tighter; in more, balls suffer less.
//
// Building costs O(nd log n). [IndexBytes] gives the memory; x is not
// kept. Coordinates that are not finite are an error.
//
// Omohundro, Five balltree construction algorithms, ICSI TR-89-063 (1989), the
// first of the five.
func NewBallTree(x data.Points, s *Settings) (Index, error) {
	if s == nil {
		s = &Settings{}
	}
	return newBallTree(x, s, nil)
}

// newBallTree builds a ball tree or restores the state of one.
func newBallTree(x data.Points, s *Settings, st *State) (Index, error) {
	if err := BallTree.Supports(s.Metric, x); err != nil {
		return nil, err
	}
	return newTreeIndex(x, s, st,
		func(d, nodes int) bounds[float32] { return newBalls[float32](s.Metric, d, nodes) },
		func(d, nodes int) bounds[float64] { return newBalls[float64](s.Metric, d, nodes) })
}

// ballTreeBytes returns the largest amount of memory that building a ball tree
// on x and finding the k nearest neighbours of all its points take, beside x.
func ballTreeBytes(x data.Points, m Metric, k int) int64 {
	_, d := x.Dims()
	return treeBytes(x, m, k, int64(d)*elementBytes(x, m)+8)
}

// balls are bounding balls; the center of node i is centers[id:(i+1)d].
type balls[T real] struct {
	metric  Metric
	d       int
	shrink  float64 // one minus more than the relative error of a distance
	centers []T
	radii   []float64
}

func newBalls[T real](m Metric, d, nodes int) *balls[T] {
	return &balls[T]{m, d, 1 - float64(d+16)*0x1p-52, make([]T, d*nodes), make([]float64, nodes)}
}

// tiny is a distance above those whose squares underflow.
const tiny = 0x1p-500

func (b *balls[T]) enclose(node int, rows, lo, hi []T) {
	d := b.d
	center := b.centers[d*node:][:d]
	equal := true
	for c := range lo {
		equal = equal && lo[c] == hi[c]
	}
	if equal {
		copy(center, lo)
		b.radii[node] = 0
		return
	}
	mean := make([]float64, d)
	for r := rows; len(r) > 0; r = r[d:] {
		for c, v := range r[:len(mean)] {
			mean[c] += float64(v)
		}
	}
	for c := range mean {
		center[c] = T(mean[c] / float64(len(rows)/d))
		mean[c] = float64(center[c])
	}
	var r float64
	for ; len(rows) > 0; rows = rows[d:] {
		r = max(r, measure(b.metric, mean, rows[:d]))
	}
	if b.squares() {
		r = math.Sqrt(r)
	}
	b.radii[node] = r/b.shrink + tiny
}

// squares reports whether distances are compared by their squares.
func (b *balls[T]) squares() bool { return b.metric == Euclidean || b.metric.angular() }

// bound is negative where q lies in the ball, least in its center, so that the
// search turns to the nearer of two balls around q. A ball of radius 0 holds
// equal points and is bounded without slack.
func (b *balls[T]) bound(q []float64, node int) float64 {
	d := measure(b.metric, q, b.centers[len(q)*node:][:len(q)])
	r := b.radii[node]
	switch {
	case r == 0:
		return d
	case !b.squares():
		return d*b.shrink - r
	}
	d = math.Sqrt(d)*b.shrink - r
	return d * math.Abs(d) * (1 - math.Copysign(0x1p-50, d))
}
