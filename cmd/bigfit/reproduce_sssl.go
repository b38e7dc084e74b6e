package main

import (
	"context"

	"github.com/bigfit/bigfit/bench/papers"
)

// sssl runs the experiments of Ji et al. 2012.
func (a *app) sssl(ctx context.Context, _ string, o papers.Options) (*reproduction, error) {
	t, err := papers.SSSL(ctx, o, &observer{sink: a.progress})
	if err != nil {
		return nil, err
	}
	return &reproduction{results: t, tables: t.Markdown(), figures: ssslCurves(t.Results)}, nil
}
