package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFaultsOfFlags(t *testing.T) {
	err := (&options{points: 10, kills: -1, works: "manifold,moons"}).check()
	for _, want := range []string{"-points is 10", "-kills is -1", `"moons"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

// Small works in one piece and in parts.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	o := options{points: 3000, parts: 3, overlap: 2, k: 5, whole: true, works: "manifold,sheets", work: filepath.Join(dir, "work"), out: filepath.Join(dir, "out")}
	if err := run(context.Background(), &o); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(o.out, "parts.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| manifold | in one piece |", "| sheets | in parts |", "× (", "1.0000"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
