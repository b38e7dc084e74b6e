package pipeline

import (
	"fmt"
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

// GraphParamsOf returns the parameters of the graph that a learner needs, with the defaults that hold for
// this learner: [AutoGraph] chooses some where it leaves the graph open. It returns nil for a learner
// without a graph.
func GraphParamsOf(info *models.Info) []models.Param {
	if !info.Needs.Has(models.NeedsGraph) {
		return nil
	}
	params := GraphParams.Params()
	if !info.OpenGraph {
		return params
	}

	defaults := models.Values{
		"neighbors": strconv.Itoa(autoNeighbors),
		"weights":   fmt.Sprintf("%s, %s where the distance is no length", knn.SelfTuning, knn.One),
		"standardize": fmt.Sprintf("true where few columns hold %.0f %% of the variance, each with a standard deviation of "+
			"more than %d times the median one, else false", 100*data.DominatedShare, int(data.Dominating)),
		"pca":      fmt.Sprintf("%d where X has more than %d columns, else 0", autoComponents, autoColumns),
		"distance": fmt.Sprintf("%s, %s where X is sparse", knn.Euclidean, knn.Angle),
	}
	for i := range params {
		if text, ok := defaults[params[i].Name]; ok {
			params[i].Default = text
		}
	}
	return params
}

// AutoGraph completes the given values of [GraphParams] for a learner that leaves the graph to
// rules: ten neighbours with self-tuning weights. Sparse points are compared by angle. Dense
// points of more than 100 columns are projected on 50 principal components. Where few columns of dense points decide
// all distances by their units ([data.Scale.Units]), each is divided by its standard deviation. Values that are given stay.
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
		if s := data.ScaleOf(x); s != nil && s.Units {
			set("standardize", "true", "distance", "radius")
		}
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
