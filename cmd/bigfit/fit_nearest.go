package main

import (
	"context"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/nearest"
)

// nearestFlags are those of the vote of the nearest labeled points.
var nearestFlags = []string{"vote", "distance", "method"}

// trainNearest chooses a method of search for the labeled points and fits the
// vote.
func (a *app) trainNearest(ctx context.Context, o *fitOptions, s *nearest.Settings, src *sources, t *fitTargets) (models.Model, error) {
	labeled := data.Select(src.x, t.y.Labeled())
	g := o.graph
	a.chooseMethod(labeled, &g)
	s.Metric, s.Method = g.Metric, g.Method
	k := max(s.Vote, nearest.MostVotes)
	var operations float64
	if s.Method == knn.Brute && s.Vote == 0 {
		operations = knn.BruteOperations(labeled)
	}
	if err := a.need("fit", knn.IndexBytes(labeled, s.Method, s.Metric, k), operations, "use fewer --labels"); err != nil {
		return nil, err
	}
	st := a.progress.Stage("fit")
	m, err := nearest.Fit(ctx, src.x, t.y, s)
	if err != nil {
		return nil, err
	}
	st.Done(summarizeModel(m).detail)
	return m, nil
}
