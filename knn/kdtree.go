package knn

import (
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn/internal/trees"
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
// in the norm of the metric. This bound is computed in the same order of operations as distances.
// As rounding is monotone, it holds in floating point too: no slack is needed, and ties are
// decided by index exactly.
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
	return newTreeIndex(x, s, st, trees.Boxes)
}
