package knn

import (
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/knn/internal/trees"
)

// Method is a way to find neighbours.
type Method int

const (
	// Auto lets a caller choose: [NewIndex] does not take it, and package choice picks a method.
	Auto Method = iota
	// Brute compares all pairs: [NewBrute]. Exact.
	Brute
	// KDTree is [NewKDTree]. Exact.
	KDTree
	// BallTree is [NewBallTree]. Exact.
	BallTree
	// NNDescent is [NewDescent]. Approximate.
	NNDescent
)

var methods = enum.New[Method]("method", "auto", "brute", "kd-tree", "ball-tree", "nn-descent")

// String returns the name used on the command line and in manifests.
func (m Method) String() string { return methods.String(m) }

// MarshalText returns the name.
func (m Method) MarshalText() ([]byte, error) { return methods.Marshal(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *Method) UnmarshalText(text []byte) error { return methods.Unmarshal(m, text) }

// Exact reports whether the method finds the true neighbours.
func (m Method) Exact() bool { return m != NNDescent }

// NewIndex returns an index of the given method, which must not be Auto.
func NewIndex(x data.Points, m Method, s *DescentSettings) (Index, error) {
	if s == nil {
		s = &DescentSettings{}
	}
	switch m {
	case Brute:
		return NewBrute(x, &s.Settings)
	case KDTree:
		return NewKDTree(x, &s.Settings)
	case BallTree:
		return NewBallTree(x, &s.Settings)
	case NNDescent:
		return NewDescent(x, s)
	}

	return nil, fmt.Errorf("knn: no index for method %s; choose one first", m)
}

// IndexBytes returns the memory that an index and the k nearest neighbours of all its points take,
// beside x.
func IndexBytes(x data.Points, m Method, metric Metric, k int) int64 {
	switch m {
	case KDTree:
		return treeBytes(x, trees.Boxes, metric, k)
	case BallTree:
		return treeBytes(x, trees.Balls, metric, k)
	case NNDescent:
		return descentBytes(x, metric, k)
	}
	return BruteBytes(x, k)
}
