package shell

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/pipeline"
)

// CheckpointFlags name the folder of a checkpoint.
type CheckpointFlags struct {
	Checkpoint string
	resume     bool
}

// Flags adds the flags.
func (c *CheckpointFlags) Flags(f *pflag.FlagSet) {
	f.StringVar(&c.Checkpoint, "checkpoint", "", "`folder` to keep the state of the run in")
	f.BoolVar(&c.resume, "resume", false, "continue from the checkpoint")
}

// CheckFiles refuses inputs and outputs in the folder of the checkpoint, as [CheckFolder] does.
func (c *CheckpointFlags) CheckFiles(inputs []string, outputs ...string) error {
	return CheckFolder("checkpoint", c.Checkpoint, inputs, outputs...)
}

// Check refuses flags that do not go together.
func (c *CheckpointFlags) Check() error {
	if c.resume && c.Checkpoint == "" {
		return Usagef("--resume needs the folder with --checkpoint")
	}
	return nil
}

// OpenCheckpoint opens the folder that the flags name, if they do.
func (a *App) OpenCheckpoint(ctx context.Context, c *CheckpointFlags) (err error) {
	if err := c.Check(); err != nil || c.Checkpoint == "" {
		return err
	}
	// The state is written through Write, so that an interrupt never cuts it.
	a.Checkpoint, err = pipeline.OpenCheckpoint(c.Checkpoint, c.resume, int64(a.Memory),
		func(fn func() error) error { return a.Write(ctx, fn) })
	if err == nil && c.resume && !a.Checkpoint.Any() {
		a.Note("%s: no checkpoint yet; beginning anew", c.Checkpoint)
	}
	return err
}
