package knn_test

import (
	"testing"

	"github.com/bigfit/bigfit/knn"
)

func TestExhaustive(t *testing.T) {
	testIndex(t, knn.NewBrute, withMetrics(knn.Manhattan, knn.Chebyshev), withTypes(float64s, float32s, bytes))
}
