package main

import (
	"context"
	"errors"

	"github.com/bigfit/bigfit/bench/papers"
)

// machineExperiments are the experiments on kernel machines. Their draws, rows
// and methods are those of the papers.
var machineExperiments = map[string]func(context.Context, papers.Options, papers.Observer) ([]papers.MachineResult, error){
	"point-cloud": papers.PointCloud,
	"usps":        papers.DigitPairs,
	"isolet":      papers.Isolet,
	"moons":       papers.Moons,
	"ssl-book":    papers.SSLBook,
}

// machines runs one of them.
func (a *app) machines(ctx context.Context, name string, o papers.Options) error {
	for _, flag := range []string{"labels", "splits", "recipe", "baselines"} {
		if a.given[flag] {
			return usagef("--%s is not for %s, whose draws, rows and methods are fixed; leave it out", flag, name)
		}
	}
	results, err := machineExperiments[name](ctx, o, &observer{sink: a.progress})
	if results == nil {
		return err
	}
	return errors.Join(err, a.print(results, papers.MachineMarkdown(results)+"\n"+stageList(a)))
}
