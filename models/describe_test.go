package models_test

import (
	"testing"

	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

func TestDescribe(t *testing.T) {
	nb := &knn.Neighbors{K: 1, Index: []int32{1, 0, 0}, Distance: []float64{1, 1, 2}}
	for _, c := range []struct {
		s    sparse.Symmetry
		want string
	}{{sparse.Either, "2 edges, 1 component"}, {sparse.Both, "1 edge, 2 components, 1 isolated point"}} {
		w, _, err := knn.FromNeighbors(nb, knn.GraphSettings{K: 1, Symmetry: c.s})
		if err != nil {
			t.Fatal(err)
		}
		if got := models.NewGraph(w).Describe(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
