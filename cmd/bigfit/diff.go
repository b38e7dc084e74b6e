package main

import (
	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/artifact"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
)

func (a *app) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Print how two files differ",
		Long: `Print what differs between two models, graphs, files of eigenpairs or files of
answers: in settings, in the hashes of the inputs, and in what they hold. Of models
the classes, the arrays and the share of training points with other answers; of
graphs the edges that one has alone and the largest difference of weights; of
eigenpairs the values and the angle between the spaces of the vectors; of answers,
in any formats, the rows that differ, joined by their ids where both files have them.

Exit code 0 if the files are equal, 1 if they differ, 2 if they cannot be compared.
Versions, dates and the names of equal inputs are printed and do not count.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return shell.Usagef("diff takes two files, not %d", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := artifact.Compare(args[0], args[1], int64(a.Memory))
			if err != nil {
				return err
			}
			// A difference is an exit code, not a fault: the printed list is the answer.
			if err := a.Print(d, d.String()); err != nil || d.Equal {
				return err
			}
			return shell.ErrDiffer
		},
	}
}
