package knn

import (
	"math"

	"github.com/bigfit/bigfit/data"
)

// NewKDTree returns a kd-tree on dense points for Euclidean, Manhattan and
// Chebyshev distance. It is the index for few dimensions: up to about ten, or
// more if the points lie near a surface of few dimensions.
//
// Each node keeps the smallest box around its points; no point of it is nearer
// to q than the box, at
//
//	‖g‖ with g_j = max(lo_j − q_j, q_j − hi_j, 0)
//
// in the norm of the metric. Computed in the order in which distances are, this
// bound holds in floating point too, as rounding is monotone: no slack is
// needed, and ties are decided by index exactly.
//
// Building costs O(nd log n), a query O(d log n) in fixed low dimension. [IndexBytes]
// gives the memory; x is not kept. Coordinates that are not finite
// are an error.
//
// Friedman, Bentley & Finkel, ACM Trans. Math. Software 3 (1977), 209–226.
func NewKDTree(x data.Points, s *Settings) (Index, error) {
	if s == nil {
		s = &Settings{}
	}
	return newKDTree(x, s, nil)
}

// newKDTree builds a kd-tree or restores the state of one.
func newKDTree(x data.Points, s *Settings, st *State) (Index, error) {
	if err := KDTree.Supports(s.Metric, x); err != nil {
		return nil, err
	}
	return newTreeIndex(x, s, st,
		func(d, nodes int) bounds[float32] { return newBoxes[float32](s.Metric, d, nodes) },
		func(d, nodes int) bounds[float64] { return newBoxes[float64](s.Metric, d, nodes) })
}

// kdTreeBytes returns the largest amount of memory that building a kd-tree on x
// and finding the k nearest neighbours of all its points take, beside x.
func kdTreeBytes(x data.Points, k int) int64 {
	_, d := x.Dims()
	return treeBytes(x, Euclidean, k, 2*int64(d)*elementBytes(x, Euclidean))
}

// boxes are bounding boxes: of node i, lo is boxes[2id:(2i+1)d], hi follows.
type boxes[T real] struct {
	metric Metric
	d      int
	boxes  []T
}

func newBoxes[T real](m Metric, d, nodes int) *boxes[T] {
	return &boxes[T]{m, d, make([]T, 2*d*nodes)}
}

func (b *boxes[T]) enclose(node int, _, lo, hi []T) {
	box := b.boxes[2*b.d*node:]
	copy(box[:b.d], lo)
	copy(box[b.d:2*b.d], hi)
}

func (b *boxes[T]) bound(q []float64, node int) float64 {
	d := len(q)
	box := b.boxes[2*d*node:][:2*d]
	lo, hi := box[:d], box[d:]
	var s float64
	switch b.metric {
	case Manhattan:
		for j, v := range q {
			s += math.Abs(gap(v, lo[j], hi[j]))
		}
	case Chebyshev:
		for j, v := range q {
			s = max(s, math.Abs(gap(v, lo[j], hi[j])))
		}
	default:
		for j, v := range q {
			g := gap(v, lo[j], hi[j])
			s += g * g
		}
	}
	return s
}

// gap returns the difference of v from the nearest value in [lo, hi].
func gap[T real](v float64, lo, hi T) float64 {
	return v - min(max(v, float64(lo)), float64(hi))
}
