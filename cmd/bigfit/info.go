package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/sparse"
)

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info FILE",
		Short: "Say what is in a file",
		Long: `Print format, arrays and manifest of any file that bigfit reads or writes, and
the degrees and components of a graph, and what a model is.`,
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
			if manifestFormat(f.Manifest) == manifest.Model {
				m, _, err := all.Load(f.Path, int64(a.memory))
				if err != nil {
					return err
				}
				s := summarize(m)
				info.Model = &s
			}
			return a.print(info, info.String())
		},
	}
}

type fileInfo struct {
	*data.FileInfo
	Manifest json.RawMessage `json:"manifest,omitempty"`
	Graph    *graphSummary   `json:"graph,omitempty"`
	Model    *modelSummary   `json:"model,omitempty"`
}

// manifestFormat returns the format that a manifest names.
func manifestFormat(text []byte) string {
	var m manifest.Manifest
	if json.Unmarshal(text, &m) != nil {
		return ""
	}
	return m.Format
}

func (f fileInfo) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s", f.Path, f.Format, machine.Size(f.Size))
	if f.Gzip {
		b.WriteString(", gzipped")
	}
	if f.Zstd {
		b.WriteString(", zstd")
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
	if f.Model != nil {
		fmt.Fprintf(&b, "  model: %s\n", f.Model)
	}
	if len(f.Manifest) > 0 {
		fmt.Fprintf(&b, "  manifest: %s\n", f.Manifest)
	}
	return b.String()
}
