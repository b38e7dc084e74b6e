package main

import (
	"strings"
	"testing"
)

// TestShortLine: fit prints the model, the labels and the expected error; all else is on stderr, in the
// report and in info, once.
func TestShortLine(t *testing.T) {
	intoBlobs(t)
	o := bigfit(t, "fit", "X.npy", "y.npy", "--labels", "30", "-o", "m.npz", "--report", "r.html")
	line := strings.TrimSuffix(o.out, "\n")
	const want = "m.npz: auto, 30 of 90 points labeled, 3 classes, estimated error "
	if o.code != 0 || !strings.HasPrefix(line, want) || strings.Contains(line, "\n") || len(line) > 140 {
		t.Errorf("exit code %d, line %q, want %q…", o.code, line, want)
	}
	page := string(readFile(t, "r.html"))
	if n := strings.Count(o.stderr, "estimated error"); n != 1 || strings.Contains(o.out, " lgc ") {
		t.Errorf("%d lines of the choice:\n%s%s", n, o.stderr, o.out)
	}
	for _, text := range []string{"isolated points", "component"} {
		if strings.Contains(o.out, text) || !strings.Contains(page, text) {
			t.Errorf("%q belongs into the report and not into the line %q", text, o.out)
		}
	}
	info := succeed(t, "info", "m.npz")
	for _, text := range []string{"  model: auto, 30 points labeled, 3 classes, ", "  settings: class-shares points, ", "of JSON, printed by --json"} {
		if !strings.Contains(info, text) {
			t.Errorf("info has no %q:\n%s", text, info)
		}
	}
	if again := bigfit(t, "predict", "m.npz", "X.npy", "-o", "p.npy"); !strings.Contains(again.stderr, "m.npz: auto, 30 points labeled, 3 classes, estimated error") {
		t.Errorf("predict:\n%s", again.stderr)
	}
}

// TestTuneAuto: tune measures the automatic model on a graph with the weights that its fit uses.
func TestTuneAuto(t *testing.T) {
	intoBlobs(t)
	succeed(t, "tune", "--model", "auto", "X.npy", "y.npy", "--neighbors", "5,10", "-o", "t.json", "--best", "tune.npz", "-q")
	if out := succeed(t, "info", "tune.npz", "--json"); !strings.Contains(out, `"weights":"self-tuning"`) {
		t.Errorf("the graph has no self-tuning weights: %s", out)
	}
}

// TestDryRun: a dry run of a fit announces its stages and writes nothing.
func TestDryRun(t *testing.T) {
	intoBlobs(t)
	before := listing(t, ".")
	for _, model := range []string{"auto", "lgc", "eigenmap", "laprls", "knn"} {
		o := bigfit(t, "fit", "X.npy", "y.npy", "--model", model, "--dry-run", "-o", "m.npz", "--predictions", "p.csv")
		if o.code != 0 || !strings.HasPrefix(o.out, "dry run: "+model+", ") || !strings.Contains(o.out, "nothing was written") ||
			!strings.Contains(o.stderr, "fit: needs ") {
			t.Errorf("%+v", o)
		}
		if strings.Contains(o.stderr, "fit   ") || strings.Contains(o.stderr, "at the peak") {
			t.Errorf("a stage was run:\n%s", o.stderr)
		}
	}
	if o := bigfit(t, "fit", "X.npy", "y.npy", "--dry-run", "--json", "-q"); o.code != 0 || !strings.Contains(o.out, `"model":"auto","points":90,"labeled":90,"bytes":`) {
		t.Errorf("%+v", o)
	}
	fail(t, 2, []string{" needs ", "--memory-limit"}, "fit", "X.npy", "y.npy", "--dry-run", "--memory-limit", "100KiB", "-q")
	if after := listing(t, "."); after != before {
		t.Errorf("files before:\n%s\nand after:\n%s", before, after)
	}
}
