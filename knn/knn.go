// Package knn finds nearest neighbours and turns them into weighted graphs.
//
// Exact neighbours of bytes come from exact integers. For other dense points, candidates come from
// float32 products of blocks of centred points and are measured again in float64, on the points as
// given. A rounding bound decides for every query whether a point outside the candidates could
// still be nearer; where it could, that query is answered in float64 alone. Ties go to the smaller
// index, and a point is never its own neighbour.
//
// Squared distances, also of unit vectors, are summed over the columns in their order, of sparse
// points too. So dense and sparse copies of the same points have the same lists to the last bit.
//
// An [Index] is a thin front that checks arguments and counts pairs. Behind it stands an engine that
// only answers: blocks of floats or bytes, pruned coordinates, inverted lists, trees, NN-descent.
package knn

import (
	"context"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/sparse"
)

// Index answers nearest-neighbour queries on a fixed set of points. It is safe for concurrent use.
type Index interface {
	// Dims returns the number of indexed points and their dimension.
	Dims() (n, d int)
	// Metric returns the distance in use.
	Metric() Metric
	// Query returns the k nearest indexed points of every row of x.
	Query(ctx context.Context, x data.Points, k int) (*Neighbors, error)
	// Self returns the k nearest indexed points of every indexed point. A
	// point is not its own neighbour, but its duplicates are.
	Self(ctx context.Context, k int) (*Neighbors, error)
	// Within returns, as an n×n matrix of distances with explicit zeros, all
	// pairs of different indexed points at most radius apart.
	Within(ctx context.Context, radius float64) (*sparse.CSR, error)
}

// Settings are the settings of an index. The zero value is ready for use.
type Settings struct {
	// Metric defaults to Euclidean.
	Metric Metric
	// MaxPairs, if positive, is the number of pairs at which Within gives up, so
	// that a radius that is too large does not fill the memory. A pair takes up
	// to 48 bytes on the way to a graph.
	MaxPairs int64
	// OnProgress, if not nil, is called with the number of queries answered so far.
	// Calls come from several goroutines, one after the other; the number grows.
	OnProgress func(done, total int)
	// Note, if not nil, is told whether a search of all pairs prunes, and why not.
	Note func(text string)
}
