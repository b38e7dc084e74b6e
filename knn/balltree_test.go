package knn_test

import (
	"testing"

	"github.com/bigfit/bigfit/knn"
)

func TestBallTree(t *testing.T) {
	testIndex(t, knn.NewBallTree, withMetrics(knn.Euclidean, knn.Angle, knn.Manhattan, knn.Chebyshev), withTypes(float64s, float32s, bytes))
}
