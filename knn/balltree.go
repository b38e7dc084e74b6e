package knn

import (
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn/internal/trees"
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
	return newTreeIndex(x, s, st, trees.Balls)
}
