package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/pipeline"
)

// checkpointFlags name the folder of a checkpoint.
type checkpointFlags struct {
	checkpoint string
	resume     bool
}

func (c *checkpointFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.checkpoint, "checkpoint", "", "`folder` to keep the state of the run in")
	f.BoolVar(&c.resume, "resume", false, "go on from the checkpoint")
}

func (c *checkpointFlags) check() error {
	if c.resume && c.checkpoint == "" {
		return usagef("--resume needs the folder with --checkpoint")
	}
	return nil
}

// openCheckpoint opens the folder that the flags name, if they do.
func (a *app) openCheckpoint(ctx context.Context, c *checkpointFlags) (err error) {
	if err := c.check(); err != nil || c.checkpoint == "" {
		return err
	}
	a.checkpoint, err = pipeline.OpenCheckpoint(c.checkpoint, c.resume, int64(a.memory), func(fn func() error) error { return a.write(ctx, fn) })
	if err == nil && c.resume && !a.checkpoint.Any() {
		a.note("%s: no checkpoint yet; beginning anew", c.checkpoint)
	}
	return err
}
