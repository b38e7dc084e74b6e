package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/sparse"
)

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE",
		Short: "Say what is in a file",
		Long: `Print format, arrays and manifest of any file that bigfit reads or writes, and
the degrees and components of a graph.`,
		Args: oneArgument("a file"),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := data.Inspect(args[0], data.ReadOptions{Limit: int64(a.memory)})
			if err != nil {
				return err
			}
			info := fileInfo{FileInfo: f, Manifest: f.Manifest}
			if len(f.Manifest) > 0 && !json.Valid(f.Manifest) { // another program's
				if info.Manifest, err = json.Marshal(string(f.Manifest)); err != nil {
					return err
				}
			}
			if f.Format == data.FormatSciPy {
				w, err := sparse.ReadNPZ(f.Path, int64(a.memory))
				if err != nil {
					return err
				}
				// Any sparse matrix can be asked about; only some are graphs.
				if w.CheckGraph() == nil && w.Rows > 0 {
					s := summarizeGraph(w, w.Components())
					info.Graph = &s
				}
			}
			return a.print(info, info.String())
		},
	}
}

type fileInfo struct {
	*data.FileInfo
	Manifest json.RawMessage `json:"manifest,omitempty"`
	Graph    *graphSummary   `json:"graph,omitempty"`
}

func (f fileInfo) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s", f.Path, f.Format, memorySize(f.Size))
	if f.Gzip {
		b.WriteString(", gzipped")
	}
	b.WriteString("\n")
	for _, x := range f.Arrays {
		shape := make([]string, len(x.Shape))
		for i, s := range x.Shape {
			shape[i] = fmt.Sprint(s)
		}
		fmt.Fprintf(&b, "  %-16s %-8s %s\n", x.Name, x.DType, strings.Join(shape, " × "))
	}
	if f.Graph != nil {
		fmt.Fprintf(&b, "  graph: %s\n", f.Graph)
	}
	if len(f.Manifest) > 0 {
		fmt.Fprintf(&b, "  manifest: %s\n", f.Manifest)
	}
	return b.String()
}
