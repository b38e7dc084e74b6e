package main

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/knn"
)

// propagation runs the experiment on graph regularization.
func (a *app) propagation(ctx context.Context, _ string, o papers.Options) (*reproduction, error) {
	st := a.progress.Stage("data")
	e, err := papers.NewPropagation(o)
	if err != nil {
		return nil, err
	}
	n, d := e.X.Dims()
	st.Done(fmt.Sprintf("MNIST: %d points × %d", n, d))
	if err := a.need("neighbours", knn.BruteBytes(e.X, e.Graph.K), knn.BruteOperations(e.X), "use less data"); err != nil {
		return nil, err
	}
	table, notConverged := e.Run(ctx, &observer{app: a})
	if table == nil {
		return nil, notConverged
	}
	return &reproduction{table: table}, notConverged
}
