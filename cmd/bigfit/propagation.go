package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/knn"
)

// propagation runs the experiment on graph regularization.
func (a *app) propagation(ctx context.Context, o papers.Options) error {
	for _, flag := range []string{"labels", "recipe", "baselines"} {
		if a.given[flag] {
			return usagef("--%s is not for propagation, whose rows and methods are fixed; leave it out", flag)
		}
	}
	st := a.progress.Stage("data")
	e, err := papers.NewPropagation(o)
	if err != nil {
		return err
	}
	n, d := e.X.Dims()
	st.Done(fmt.Sprintf("MNIST: %d points × %d", n, d))
	if err := a.need("neighbours", knn.BruteBytes(e.X, e.Graph.K), knn.BruteOperations(e.X), "use less data"); err != nil {
		return err
	}
	results, notConverged := e.Run(ctx, &observer{sink: a.progress})
	if results == nil {
		return notConverged
	}
	return errors.Join(notConverged, a.print(results, papers.PropagationMarkdown(results)+"\n"+stageList(a)))
}
