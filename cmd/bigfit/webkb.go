package main

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/bench/papers"
)

// webkb runs the experiments on the course pages.
func (a *app) webkb(ctx context.Context, _ string, o papers.Options) (*reproduction, error) {
	st := a.progress.Stage("data")
	e, err := papers.NewWebKB(o)
	if err != nil {
		return nil, err
	}
	n := float64(e.Page.Rows)
	st.Done(fmt.Sprintf("WebKB: %d pages", e.Page.Rows))
	if err := a.need("warped kernels", int64(10*8*n*n), 6*6*5*n*n*n, "use less data"); err != nil {
		return nil, err
	}
	table, err := e.Run(ctx, &observer{app: a})
	if err != nil {
		return nil, err
	}
	return &reproduction{table: table}, nil
}
