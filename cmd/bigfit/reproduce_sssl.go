package main

import (
	"context"

	"github.com/bigfit/bigfit/bench/papers"
)

// sssl runs the experiments of Ji et al. 2012.
func (a *app) sssl(ctx context.Context, o papers.Options) error {
	for _, flag := range []string{"labels", "splits", "recipe", "baselines"} {
		if a.given[flag] {
			return usagef("--%s is not for sssl, whose draws, rows and methods are fixed; leave it out", flag)
		}
	}
	t, err := papers.SSSL(ctx, o, &observer{sink: a.progress})
	if err != nil {
		return err
	}
	return a.print(t, t.Markdown()+"\n"+stageList(a))
}
