package knn_test

import (
	"testing"

	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn"
)

func TestBallTree(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "the threads check of the suite has the goroutines")
	testIndex(t, knn.NewBallTree, withMetrics(knn.Euclidean, knn.Angle, knn.Manhattan, knn.Chebyshev), withTypes(float64s, float32s, bytes))
}
