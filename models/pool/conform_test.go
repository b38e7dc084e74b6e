package pool_test

import (
	"testing"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/pool"
	"github.com/bigfit/bigfit/models/propagation"
)

// three members are one of each kind: on the graph, on a smaller graph, and on points.
func three() pool.Learner {
	return pool.Learner{Name: "three", Help: "three models", Members: []pool.Member{
		{Learner: propagation.Learner{Method: propagation.LGC}, Settings: []models.Values{{"tolerance": "1e-12"}}, Prior: 2},
		{Learner: propagation.Learner{Method: propagation.LGC}, Neighbors: 4, Settings: []models.Values{{"alpha": "0.9", "tolerance": "1e-12"}}},
		{Learner: kernelmachine.Learner{Method: kernelmachine.RLS}, Times: map[string][]float64{"sigma": {0.5, 1}},
			Settings: []models.Values{{"gamma-a": "0.01", "sigma": "median", "approximation": "exact"}, {"gamma-a": "0.0001", "kernel": "linear", "approximation": "exact"}}},
	}}
}

func TestConform(t *testing.T) {
	folds := "points are dealt into folds by their order"
	modeltest.Conform(t, three(), modeltest.Suite{Except: map[string]string{
		"permuted":    folds,
		"graph-alone": "members that need points are left out where there are none",
	}})
}

func TestCosts(t *testing.T) { modeltest.Costs(t, three(), nil, 500, 4000) }
