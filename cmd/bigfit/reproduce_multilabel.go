package main

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/kernel"
)

// multiLabelExperiments are those of Minh & Sindhwani (2011).
var multiLabelExperiments = map[string]func(papers.Options) (*papers.MultiLabel, error){
	"scene": papers.Scene,
	"rcv1":  papers.RCV1,
}

// multiLabel runs one of them.
func (a *app) multiLabel(ctx context.Context, name string, o papers.Options) (*reproduction, error) {
	st := a.progress.Stage("data")
	e, err := multiLabelExperiments[name](o)
	if err != nil {
		return nil, err
	}
	if a.given["splits"] {
		e.Draws = o.Splits
	}
	n, d := e.Points.Dims()
	_, labels := e.Labels.Dims()
	st.Done(fmt.Sprintf("%s: %d points × %d, %d labels", e.Name, n, d, labels))
	if err := a.need("kernel", 6*kernel.GramBytes(n), 10*float64(n)*float64(n)*float64(n), "use less data"); err != nil {
		return nil, err
	}
	table, err := e.Run(ctx, &observer{app: a})
	if err != nil {
		return nil, err
	}
	return &reproduction{table: table}, nil
}
