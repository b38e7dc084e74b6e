package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// commit is the commit of a build that does not look at the checkout, as -buildvcs=false:
// go build -ldflags "-X main.commit=$(git rev-parse HEAD)".
var commit string

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which build this is",
		Long: `Print the version, the commit and its time, whether the source was changed after it,
and by which Go and for which machine the program was built. A build without a
checkout, as by go install, has the version of the module in place of the commit.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo()
			b := buildOf(info)
			return a.Print(b, b.String())
		},
	}
}

// build describes how the program was built.
type build struct {
	Version  string `json:"version"`
	Module   string `json:"module,omitempty"` // version of the module, where it has one
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"` // of the commit
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	System   string `json:"system"`
	Kernels  string `json:"kernels"` // instruction set of the inner loops
}

// buildOf reads the information of the build, which may be nil.
func buildOf(info *debug.BuildInfo) build {
	b := build{Version: archive.Release, Commit: commit, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH,
		Kernels: fmt.Sprint(simd.Path())}
	if info == nil {
		return b
	}
	if info.Main.Version != "(devel)" {
		b.Module = info.Main.Version
	}

	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// String is a line about the source, and one about the machine.
func (b build) String() string {
	text := "bigfit " + b.Version
	switch {
	case b.Commit != "":
		text += ", commit " + b.Commit
		if b.Time != "" {
			text += " of " + b.Time
		}
		if b.Modified {
			text += ", with changes"
		}
	case b.Module != "":
		text += ", module " + b.Module
	default:
		text += ", commit not known"
	}
	return fmt.Sprintf("%s\n%s, %s, inner loops %s", text, b.Go, b.System, b.Kernels)
}
