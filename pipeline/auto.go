package pipeline

import (
	"strconv"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// The graph that AutoGraph chooses. docs/auto.md compares graphs on the data sets at hand.
const (
	autoNeighbors  = 10
	autoComponents = 50
	// autoColumns is the number of columns above which dense points are projected.
	autoColumns = 100
)

// AutoGraph completes the given values of [GraphParams] for a learner that leaves the graph to
// rules: ten neighbours with self-tuning weights. Sparse points are compared by angle. Dense
// points of more than 100 columns are projected on 50 principal components. Values that are
// given stay.
func AutoGraph(x data.Points, given models.Values) (*GraphSettings, error) {
	v := given.With(nil)
	// A default gives way to its own name and to the names that exclude it.
	set := func(name, value string, also ...string) {
		for _, other := range append(also, name) {
			if _, ok := given[other]; ok {
				return
			}
		}
		v[name] = value
	}

	if x != nil {
		n, d := x.Dims()
		_, isSparse := x.(*sparse.CSR)
		set("neighbors", strconv.Itoa(max(1, min(autoNeighbors, n-1))), "radius")
		switch {
		case isSparse:
			set("distance", knn.Angle.String(), "pca")
		case d > autoColumns:
			set("pca", strconv.Itoa(min(autoComponents, n)), "distance")
		}

		// Self-tuning weights need distances that are lengths.
		if given["radius"] == "" {
			metric := knn.Euclidean
			if text, ok := v["distance"]; ok {
				if err := metric.UnmarshalText([]byte(text)); err != nil {
					metric = knn.Euclidean // an error below
				}
			}
			edges := knn.GraphSettings{K: autoNeighbors, Weights: knn.SelfTuning}
			if metric.CheckEdges(&edges) == nil {
				set("weights", knn.SelfTuning.String(), "t")
			}
		}
	}

	s, err := GraphParams.Decode(v)
	if err != nil {
		return nil, err
	}
	return &s, nil
}
