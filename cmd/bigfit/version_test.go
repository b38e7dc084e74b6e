package main

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
)

func TestVersion(t *testing.T) {
	out := succeed(t, "version")
	if !strings.HasPrefix(out, "bigfit "+shell.Version+", ") || !strings.Contains(out, runtime.Version()) {
		t.Errorf("%q", out)
	}
	var b build
	if err := json.Unmarshal([]byte(succeed(t, "version", "--json")), &b); err != nil || b.Version != shell.Version || b.Kernels == "" {
		t.Errorf("%+v, %v", b, err)
	}
	fail(t, 2, []string{"see bigfit version --help"}, "version", "now")
}

func TestBuildOf(t *testing.T) {
	const commit = "0123456789012345678901234567890123456789"
	checkout := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: commit}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"}}}
	for want, info := range map[string]*debug.BuildInfo{
		"commit " + commit + " of 2026-01-02T03:04:05Z, with changes\n": checkout,
		"module v0.2.0\n":    {Main: debug.Module{Version: "v0.2.0"}},
		"commit not known\n": nil,
	} {
		if got := buildOf(info).String(); !strings.HasPrefix(got, "bigfit "+shell.Version+", "+want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
