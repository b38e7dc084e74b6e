package knn_test

import (
	"testing"

	"github.com/bigfit/bigfit/knn"
)

func TestKDTree(t *testing.T) {
	testIndex(t, knn.NewKDTree, withMetrics(knn.Euclidean, knn.Manhattan, knn.Chebyshev), withTypes(float64s, float32s, bytes))
}
