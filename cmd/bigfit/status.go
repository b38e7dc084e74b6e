package main

import (
	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/work"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status WORK",
		Short: "Print how far the run in a work folder or a checkpoint is",
		Long: `Print how far a run is, from the folder of --work or --checkpoint alone: which parts are
made and which are missing, when the last one was written, how long the rest takes at the
pace so far, and the command that comes next. Nothing in the folder is changed, and no
points are read, so that it can be asked while jobs run.

  bigfit status W`,
		Args: shell.OneArgument("the folder of --work or --checkpoint"),
		RunE: func(_ *cobra.Command, args []string) error { return work.Status(a.App, args[0]) },
	}
}
