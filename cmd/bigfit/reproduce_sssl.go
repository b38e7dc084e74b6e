package main

import (
	"context"

	"github.com/bigfit/bigfit/bench/papers"
)

// sssl runs the experiments of Ji et al. 2012.
func (a *app) sssl(ctx context.Context, _ string, o papers.Options) (*reproduction, error) {
	table, err := papers.SSSL(ctx, o, &observer{app: a})
	if err != nil {
		return nil, err
	}
	return &reproduction{table: table}, nil
}
