package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/artifact"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/sparse"
)

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE",
		Short: "Print what a file or folder holds",
		Long: `Print format, arrays or columns and the manifest of any file that bigfit reads or
writes: by which version it was written, when, and the names and hashes of what it
was made from. A long manifest is printed with --json only. Of a graph the degrees and
components are printed too, of a model what it is with its settings, of a folder
(--checkpoint, demo) its files.`,
		Args: shell.OneArgument("a file or folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := artifact.Inspect(args[0], int64(a.Memory))
			if err != nil {
				return err
			}
			info := fileInfo{Info: f}
			if f.Format == data.FormatSciPy || sparse.IsFolder(f.Path) {
				w, err := sparse.Read(f.Path, int64(a.Memory))
				if err != nil {
					return err
				}
				// Any sparse matrix can be asked about; only some are graphs.
				if w.CheckGraph() == nil && w.Rows > 0 {
					s := summary.OfGraph(w, w.Components())
					info.Graph = &s
				}
			}

			if f.Kind == archive.Model {
				m, _, err := all.Load(f.Path, int64(a.Memory))
				if err != nil {
					return err
				}
				s := summary.Of(m)
				info.Model = &s
			}

			return a.Print(info, info.String())
		},
	}
}

// longManifest is the number of bytes above which a manifest is no line to be read.
const longManifest = 1000

type fileInfo struct {
	*artifact.Info
	Graph *summary.Graph `json:"graph,omitempty"`
	Model *summary.Model `json:"model,omitempty"`
}

func (f fileInfo) String() string {
	var b strings.Builder
	b.WriteString(f.Info.String())
	if f.Graph != nil {
		fmt.Fprintf(&b, "  graph: %s\n", f.Graph)
	}
	if f.Model != nil {
		fmt.Fprintf(&b, "  model: %s\n", f.Model.Long())
		fmt.Fprintf(&b, "  settings: %s\n", f.Model.Values)
	}
	b.WriteString(f.Origin())
	switch n := len(f.Manifest); {
	case n > longManifest:
		fmt.Fprintf(&b, "  manifest: %s of JSON, printed by --json\n", machine.Size(n))
	case n > 0:
		fmt.Fprintf(&b, "  manifest: %s\n", f.Manifest)
	}
	return b.String()
}
